package pipeline

import (
	"context"
	"slices"
	"sync"

	"github.com/b650d4bf/gateway/internal/inflight"
	"github.com/b650d4bf/gateway/providers"
)

type sharedWork = inflight.Flight[flightKey, *result]

// got is what a call has of a flight. The request that was made is in the record of
// one call: in that of the one who owes.
type got struct {
	res  *result // with an error too, for its trail; nil for none
	err  error
	owes bool
	left bool // the call has left the flight
}

// wait waits for the result of a flight.
func (p *place) wait(ctx context.Context, f *sharedWork, leads bool) got {
	res, err := f.Wait(ctx)
	if err != nil && ctx.Err() != nil {
		owes, ended := f.Quit(leads)
		if ended { // at the last moment
			res, err = f.Wait(context.WithoutCancel(ctx))
			return got{res: res, err: err, owes: leads || f.Take()}
		}
		if owes && p.rec.planned { // nobody is left, so that the work ends now; its error is this call's leaving
			res, _ = f.Wait(context.WithoutCancel(ctx))
		}
		return got{res: res, err: err, owes: owes, left: true}
	}
	return got{res: res, err: err, owes: leads || f.Take()}
}

// failed notes an error of a flight: whose the request was, and what came of it.
func (p *place) failed(g *got, leads bool) {
	switch {
	case !g.owes: // the request is another call's, and so is its place in a trail
		p.status(p.missed(), &providers.CacheInfo{Shared: true})
	case !leads:
		p.owe(g.res)
	}
}

// owe takes over what became of a request that another call began.
func (p *place) owe(res *result) {
	if res != nil {
		p.owed = res.outcome
	}
}

// carry notes a request that failed for its time, which the call owes for although
// it has another one made now.
func (p *place) carry(g *got) {
	switch {
	case !g.owes:
	case p.rec.planned && g.res != nil:
		p.carried = append(p.carried, g.res.trail...)
	case !p.rec.planned:
		p.rec.attempt(p.rec.known(g.err))
		p.rec.carried = len(p.rec.record.Meta.Attempts)
	}
}

// came notes what became of the request, for the call that owes for it.
func (res *result) came(p *place) {
	res.outcome, res.trail = p.outcome, p.trail
}

// share is one caller's part of a stream that several read.
type share struct {
	flight *sharedWork
	res    *result
	reader *logReader
	owed   bool // as the call began to read
	once   sync.Once
	owes   bool // in the end
}

// leave ends the part. Who has seen all of the stream owes for it if it did or nobody
// does; else those who stay do.
func (s *share) leave() {
	s.once.Do(func() {
		if !s.reader.over.Load() {
			s.owes = s.flight.HandOn(s.owed)
			return
		}
		s.owes = s.owed || s.flight.Take()
		s.flight.Leave()
	})
}

// ended ends a call's part of a stream.
func (r *recorder) ended() {
	s := r.share
	if s == nil {
		return
	}
	r.share = nil
	if s.leave(); s.owes != s.owed && !s.res.status.IsHit() {
		r.owes(s.owes, s.res.trail)
	}
}

// owes notes that the call owes for the request of a stream from now on, or that
// another one does.
func (r *recorder) owes(owes bool, trail []providers.Attempt) {
	m := &r.record.Meta
	m.Cache.Shared, r.spared = !owes, !owes
	list := slices.Clone(m.Attempts) // the first chunk shares them
	switch n := max(len(trail), 1); {
	case !owes && len(list) >= n:
		m.Attempts = list[:len(list)-n]
	case owes && r.planned:
		m.Attempts = append(list, trail...)
	case owes:
		m.Attempts = list
		r.attempt(nil)
	}
}
