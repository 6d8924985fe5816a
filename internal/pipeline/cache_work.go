package pipeline

import (
	"context"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"github.com/b650d4bf/gateway/cache"
	"github.com/b650d4bf/gateway/internal/answers"
	"github.com/b650d4bf/gateway/internal/inflight"
	"github.com/b650d4bf/gateway/providers"
)

// kind says how the answers of an operation are kept.
type kind[Q, T any] struct {
	// write hashes the request, and clone copies it for work that may outlive the
	// call.
	write answers.Writer[Q]
	clone func(Q) Q
	// encode and decode turn an answer into what is kept and back.
	encode func(*answers.Kept, T) ([]byte, error)
	decode func([]byte) (T, answers.Kept, error)
	// meta is the answer's.
	meta func(T) *providers.Meta
	// request and answer say why one is kept out; nil ones never do.
	request func(*answers.Rules, Q) string
	answer  func(*answers.Rules, T) string
}

// chatKind keeps chat completions.
var chatKind = kind[*providers.ChatCompletionRequest, *providers.ChatCompletion]{
	write: answers.WriteChat,
	clone: answers.CloneChat,
	encode: func(k *answers.Kept, c *providers.ChatCompletion) ([]byte, error) {
		return answers.EncodeChat(k, c), nil
	},
	decode:  answers.DecodeChat,
	meta:    func(c *providers.ChatCompletion) *providers.Meta { return &c.Meta },
	request: (*answers.Rules).Request,
	answer:  (*answers.Rules).Answer,
}

// embeddingKind keeps vectors.
var embeddingKind = kind[*providers.EmbeddingRequest, *providers.EmbeddingResponse]{
	write: answers.WriteEmbedding,
	clone: answers.CloneEmbedding,
	encode: func(k *answers.Kept, a *providers.EmbeddingResponse) ([]byte, error) {
		return answers.EncodeEmbedding(k, a), nil
	},
	decode: answers.DecodeEmbedding,
	meta:   func(a *providers.EmbeddingResponse) *providers.Meta { return &a.Meta },
}

// result is what a flight comes to. It does not change once it was given, but for
// the value, which the first caller takes.
type result struct {
	status providers.CacheStatus
	info   providers.CacheInfo
	reason string // why the answer is not kept
	body   []byte // the answer as it is kept
	value  any    // the answer as it came, of a miss
	taken  atomic.Bool
	// meaning is what a miss is found by later, nil for its key alone; from is the
	// entry of a semantic hit, which gets the key of this request too.
	meaning *meaning
	from    *cache.Entry
	// outcome is what became of the request in a plan, and trail what it added to the
	// trail, for the call that owes for it.
	outcome any
	trail   []providers.Attempt
	// unlock gives the lock back that other processes wait for; nil for none.
	unlock   func()
	released sync.Once

	log   *inflight.Log[*providers.ChatCompletionChunk] // of a stream
	large atomic.Bool                                   // the stream is too large to be kept
}

// pending is an answer that waits for the end of its call, to be kept if nobody
// objects.
type pending struct {
	place  *place
	flight *inflight.Flight[flightKey, *result] // nil for work that was not shared
	result *result
	leave  bool // the call's part in the flight ends with it
}

// drop gives up a pending answer.
func (r *recorder) drop() {
	if w := r.waiting; w != nil {
		r.waiting = nil
		w.result.release()
		if w.leave {
			w.flight.Leave()
		}
	}
}

// settle keeps the pending answer. It returns why it is not kept, by the rules or
// for a fault.
func (r *recorder) settle() (reason string, fault error) {
	w := r.waiting
	if w == nil {
		return "", nil
	}
	r.waiting = nil
	keep := func() { fault = w.place.keep(r.ctx, w.result) }
	if w.flight == nil {
		keep()
		return w.result.reason, fault
	}
	if w.flight.Settle(keep); w.leave {
		w.flight.Leave()
	}
	return w.result.reason, fault
}

// settled keeps the pending answer of a call that went well.
func (r *recorder) settled() {
	if r.waiting != nil {
		r.kept(r.settle())
	}
}

// kept notes why an answer is not kept.
func (r *recorder) kept(reason string, fault error) {
	m := &r.record.Meta.Cache
	if reason != "" {
		m.Reason = reason
	}
	if fault != nil {
		m.Err = fault
	}
}

// through answers a request from the cache, or asks and has the answer kept at the
// end of the call. ran says that ask was called for this very call, and has
// returned.
func through[Q, T any](ctx context.Context, p *place, k *kind[Q, T], req Q, ask asker[Q, T]) (out T, ran bool, err error) {
	if p.excluded(why(k.request, p.rules, req)) {
		out, err = ask(ctx, p, req)
		return out, true, err
	}
	p.key = answers.Key(&p.scope, req, k.write)
	p.begun = p.cache.marks.at(&p.key)
	epoch := p.cache.flights.Epoch()
	if !p.refresh {
		if out, ok := exact(ctx, p, k); ok {
			return out, false, nil
		}
	}
	p.status(p.missed(), &providers.CacheInfo{})
	own := outlive(p, k, req)
	if p.inline {
		res, err := work(ctx, p, k, own, false, ask)
		if err != nil {
			return out, true, err
		}
		return claimed(p, k, nil, &got{res: res, owes: true}, true)
	}
	for again := 0; ; again++ {
		f, leads := p.join(ctx, epoch, again, func(fresh bool) inflight.Work[flightKey, *result] {
			return func(ctx context.Context, _ *inflight.Flight[flightKey, *result]) (*result, error) {
				return work(ctx, p, k, own, fresh, ask)
			}
		})
		wait, cancel := p.bounded(ctx, leads)
		g := p.wait(wait, f, leads)
		over := wait.Err() != nil
		if cancel(); g.err == nil {
			return claimed(p, k, f, &g, leads)
		}
		if !g.left {
			f.Leave()
		}
		if !leads && again < maxJoins && !over && isAnothers(g.err) {
			p.carry(&g)
			continue // the time of the one who led was over, and not this call's
		}
		p.failed(&g, leads)
		return out, leads && g.owes, g.err
	}
}

// claimed returns the answer of a result, which waits for the end of the call.
func claimed[Q, T any](p *place, k *kind[Q, T], f *sharedWork, g *got, leads bool) (T, bool, error) {
	res := g.res
	p.rec.waiting = &pending{place: p, flight: f, result: res, leave: f != nil}
	out, took, err := claim(k, res)
	if err != nil {
		p.rec.drop()
		return out, leads, err
	}
	if p.told(res, g.owes, took); g.owes && !leads {
		p.owe(res)
	}
	return out, leads, nil
}

// asker asks a model.
type asker[Q, T any] = func(context.Context, *place, Q) (T, error)

// outlive returns a request that work can go on with when the call has ended, and
// readies the place for that.
func outlive[Q, T any](p *place, k *kind[Q, T], req Q) Q {
	own := k.clone(req)
	p.scope.Metadata = maps.Clone(p.scope.Metadata)
	p.parts = func() []cache.Part { return answers.Parts(&p.scope, own, k.write) }
	p.chat, _ = any(own).(*providers.ChatCompletionRequest)
	return own
}

// why asks a rule.
func why[V any](rule func(*answers.Rules, V) string, rules *answers.Rules, v V) string {
	if rule == nil {
		return ""
	}
	return rule(rules, v)
}

// excluded notes that a request is kept out of the cache, if it is.
func (p *place) excluded(reason string) bool {
	if reason != "" {
		p.rec.record.Meta.Cache.Reason = reason
	}
	return reason != ""
}

// missed is the status of a call that a model answers.
func (p *place) missed() providers.CacheStatus {
	if p.refresh {
		return providers.CacheRefreshed
	}
	return providers.CacheMiss
}

// exact returns the answer that is kept by the key.
func exact[Q, T any](ctx context.Context, p *place, k *kind[Q, T]) (out T, ok bool) {
	e, err := p.cache.get(ctx, p.key)
	if err != nil {
		p.fault(err)
	}
	if e == nil {
		return out, false
	}
	old := age(e)
	if old >= p.life {
		return out, false
	}
	out, kept, err := k.decode(e.Body)
	if err != nil {
		p.cache.count.Corrupt.Add(1)
		p.cache.forget(ctx, p.key)
		return out, false
	}
	k.meta(out).Warnings = kept.Warnings
	p.cache.count.Hits.Add(1)
	p.status(providers.CacheHit, &providers.CacheInfo{Age: old, Saved: kept.Took})
	p.rec.alone = p == &p.rec.spot // no plan has it, and no work was begun
	return out, true
}

// recent reports whether an entry is as young as the call wants it: its max_age
// may be less than that of the one who had the answer kept.
func (p *place) recent(e *cache.Entry) bool { return age(e) < p.life }

func age(e *cache.Entry) time.Duration { return max(time.Since(e.Created), 0) }

// join joins the flight of the key, or begins one: alone for a refresh, which must
// not get what was asked for before it, and for calls that share with nobody.
func (p *place) join(ctx context.Context, epoch uint64, again int, work func(fresh bool) inflight.Work[flightKey, *result]) (*inflight.Flight[flightKey, *result], bool) {
	key := flightKey{p.key, p.stream, p.begun}
	if p.refresh || again == maxJoins || !either(p.call.Coalesce, p.client.Coalesce, true) {
		return p.cache.flights.Alone(ctx, key, work(false)), true
	}
	return p.cache.flights.Join(ctx, key, epoch, work)
}

// work makes the answer: from the cache if it is there by now or means the same,
// else from the model.
func work[Q, T any](ctx context.Context, p *place, k *kind[Q, T], req Q, fresh bool, ask asker[Q, T]) (*result, error) {
	res := &result{status: p.missed()}
	if p.foundInTime(ctx, res, fresh) {
		if _, _, err := k.decode(res.body); err == nil {
			return res, nil
		}
		p.cache.count.Corrupt.Add(1)
		p.cache.forget(ctx, res.from.Key)
		res = &result{status: p.missed(), meaning: res.meaning, unlock: res.unlock}
	}
	if err := p.shrink(); err != nil {
		res.release()
		return nil, err
	}
	begin := time.Now()
	out, err := ask(ctx, p, req)
	if err == nil {
		err = ready(p, k, res, out, time.Since(begin))
	}
	if res.came(p); err != nil {
		res.release()
		return res, err
	}
	if res.value = out; ctx.Err() != nil { // nobody is left
		res.release()
	}
	return res, nil
}

// ready readies an answer for being kept, or says why it is not.
func ready[Q, T any](p *place, k *kind[Q, T], res *result, out T, took time.Duration) error {
	res.reason = why(k.answer, p.rules, out)
	kept := answers.Kept{Took: took, Warnings: k.meta(out).Warnings}
	var err error
	if res.body, err = k.encode(&kept, out); err != nil {
		return err
	}
	if res.reason == "" && !p.rules.Fits(res.body) {
		res.reason = "the answer is larger than the rules allow"
	}
	if c, ok := any(out).(*providers.ChatCompletion); ok && res.meaning != nil {
		res.meaning.exactOnly = answers.Calls(c)
	}
	return nil
}

// release gives the lock back.
func (res *result) release() {
	if res.unlock != nil {
		res.released.Do(res.unlock)
	}
}

// found looks for the answer where it may be by now: by the key, by its meaning,
// and in the hands of another process.
func (p *place) found(ctx context.Context, res *result, fresh bool) bool {
	if fresh && !p.refresh && p.again(ctx, res) {
		return true
	}
	if p.chat != nil && p.semantic() {
		res.meaning = p.mean(ctx, res)
		if res.meaning != nil && !p.refresh && p.similar(ctx, res) {
			return true
		}
	}
	return !p.refresh && !p.stream && p.locked(ctx, res)
}

// again looks the key up once more.
func (p *place) again(ctx context.Context, res *result) bool {
	e, err := p.cache.get(ctx, p.key)
	if err != nil || e == nil || !p.recent(e) {
		return false
	}
	res.hit(e, providers.CacheHit)
	p.cache.count.Hits.Add(1)
	return true
}

// hit makes an entry the result.
func (res *result) hit(e *cache.Entry, status providers.CacheStatus) {
	res.status, res.body, res.from = status, e.Body, e
	res.info.Age = age(e)
}

// told notes what part the cache had in the result of a flight.
func (p *place) told(res *result, owes bool, took time.Duration) {
	info := res.info
	if res.status.IsHit() {
		info.Saved = took
	}
	info.Shared = !owes && !res.status.IsHit()
	p.status(res.status, &info)
	switch {
	case info.Shared:
		p.cache.count.Shared.Add(1)
	case res.status == providers.CacheMiss:
		p.cache.count.Misses.Add(1)
	case res.status == providers.CacheRefreshed:
		p.cache.count.Refreshes.Add(1)
	}
}

// claim returns the value of a result: the one that came, for the first who asks,
// and for all others one made of what is kept.
func claim[Q, T any](k *kind[Q, T], res *result) (T, time.Duration, error) {
	if v, ok := res.value.(T); ok && res.taken.CompareAndSwap(false, true) {
		return v, 0, nil
	}
	out, kept, err := k.decode(res.body)
	if err != nil {
		return out, 0, &providers.Error{Code: providers.ErrServer, Message: "a shared answer could not be read", Err: err, Sent: true}
	}
	k.meta(out).Warnings = kept.Warnings
	return out, kept.Took, nil
}
