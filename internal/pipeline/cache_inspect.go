package pipeline

import (
	"context"
	"time"

	"github.com/b650d4bf/gateway/cache"
	"github.com/b650d4bf/gateway/internal/alike"
	"github.com/b650d4bf/gateway/internal/answers"
	"github.com/b650d4bf/gateway/providers"
)

// CacheInspection says what the response cache would do for a request.
type CacheInspection struct {
	// Status is what the answer would have: disabled, miss, refreshed, hit or
	// semantic-hit.
	Status providers.CacheStatus
	// Reason says why the cache is not used, and Semantic why the request is not
	// compared by meaning although the mode asks for that.
	Reason, Semantic string
	// Key is the request's key, empty when the cache is not used.
	Key string
	// Provider, Slug and Model are the target.
	Provider, Slug, Model string
	// MaxAge is how long the answer is kept.
	MaxAge time.Duration
	// Age is that of the answer there is.
	Age time.Duration
	// Similar are the entries that mean about the same, the most similar first, with
	// why each may not answer.
	Similar []SimilarEntry
	// Nearest is the key of the entry that has most in common with the request, and
	// Differs names the parts that differ: of operation, target, model, partition,
	// messages, tools, format and params.
	Nearest string
	Differs []string
}

// SimilarEntry is an entry that means about the same as a request.
type SimilarEntry struct {
	Key        string
	Similarity float64
	// Refused says why it does not answer the request: "below the threshold", or
	// what contradicts in the two texts; empty for one that does.
	Refused string
}

// inspectFloor is how similar entries are that an inspection tells of.
const inspectFloor = 0.5

// CacheInspect says what the cache would do for a chat request.
func (e *Engine) CacheInspect(ctx context.Context, client, call *Settings, req *providers.ChatCompletionRequest) (*CacheInspection, error) {
	rec := newRecorder(client, call, opChat, req.Model, metadataOf(req))
	rec.observers, rec.logger, rec.ctx = [2][]providers.Observer{}, nil, ctx
	plan, err := e.plan(client, call)
	if err == nil {
		err = e.check(req)
	}
	if err != nil {
		return nil, rec.fail(err)
	}
	var out *CacheInspection
	look := func(ctx context.Context, p *place, req *providers.ChatCompletionRequest) {
		out = &CacheInspection{Status: providers.CacheDisabled, Reason: rec.record.Meta.Cache.Reason}
		if p != nil {
			p.inspect(ctx, req, out)
		} else if out.Reason == "" {
			out.Reason = "neither the call, nor a config, nor the client has a cache"
		}
	}
	if plan != nil {
		op := chatRequest[*CacheInspection](req, nil)
		op.free, op.looks = true, true
		op.share = func(ctx context.Context, p *place, req *providers.ChatCompletionRequest, _ asker[*providers.ChatCompletionRequest, *CacheInspection]) (*CacheInspection, bool, error) {
			look(ctx, p, req)
			return out, false, nil
		}
		_, err = planned(ctx, e, rec, client, call, plan, op)
	} else if err = e.prepare(ctx, rec, client, call, req); err == nil {
		look(ctx, e.placeOf(new(place), rec, client, call, cacheOf(client, call, nil), &rec.route, rec.strict), req)
	}
	if err != nil {
		return nil, rec.fail(err)
	}
	t := &rec.route.target
	out.Provider, out.Slug, out.Model = t.Provider, t.Slug, t.Model
	return out, nil
}

// inspect looks for the answer as a call would, and further.
func (p *place) inspect(ctx context.Context, req *providers.ChatCompletionRequest, out *CacheInspection) {
	out.MaxAge = p.life
	if out.Reason = p.rules.Request(req); out.Reason != "" {
		return
	}
	p.chat = req
	p.key = answers.Key(&p.scope, req, chatKind.write)
	out.Key, out.Status = p.key.String(), p.missed()
	e, err := p.cache.get(ctx, p.key)
	if err != nil {
		out.Reason = "the store failed"
	}
	if e != nil && p.recent(e) {
		if out.Age = age(e); !p.refresh {
			out.Status = providers.CacheHit
		}
	}
	if p.semantic() {
		p.inspectMeaning(ctx, out)
	}
	p.inspectParts(ctx, req, out)
}

// inspectMeaning tells of the entries that mean about the same.
func (p *place) inspectMeaning(ctx context.Context, out *CacheInspection) {
	var res result
	m := p.mean(ctx, &res)
	if out.Semantic = res.info.Semantic; m == nil {
		return
	}
	least := p.threshold()
	p.set.Threshold = min(inspectFloor, least)
	list, err := p.search(ctx, m, m.group, maxCandidates)
	p.set.Threshold = least
	if err != nil {
		out.Semantic = "the store failed to search"
	}
	for i := range list {
		if list[i].Entry == nil {
			continue
		}
		s := SimilarEntry{Key: list[i].Entry.Key.String(), Similarity: list[i].Similarity}
		switch reason, conflict := alike.Conflict(m.text, list[i].Entry.Text); {
		case list[i].Similarity < least:
			s.Refused = "below the threshold"
		case conflict:
			s.Refused = string(reason)
		case !p.recent(list[i].Entry):
			s.Refused = "older than max_age"
		case out.Status == providers.CacheMiss:
			out.Status, out.Age = providers.CacheSemanticHit, age(list[i].Entry)
		}
		out.Similar = append(out.Similar, s)
	}
}

// maxInspected bounds how many entries are looked through for the nearest one.
const maxInspected = 10_000

// inspectParts finds the entry that has most in common with the request.
func (p *place) inspectParts(ctx context.Context, req *providers.ChatCompletionRequest, out *CacheInspection) {
	if out.Status == providers.CacheHit {
		return
	}
	store, err := p.cache.open()
	k, ok := store.(cache.Keeper)
	if err != nil || !ok {
		return
	}
	own := answers.Parts(&p.scope, req, chatKind.write)
	best, seen := -1, 0
	for e, err := range k.List(ctx, cache.Filter{Operation: p.scope.Operation}) {
		if seen++; err != nil || seen > maxInspected {
			return
		}
		if e == nil || e.Key == p.key {
			continue
		}
		if differs, same := compare(own, e.Parts); same > best {
			best, out.Nearest, out.Differs = same, e.Key.String(), differs
		}
	}
}

// compare returns the names of the parts that differ, and how many do not.
func compare(own, other []cache.Part) (differs []string, same int) {
	for i, part := range own {
		if i < len(other) && other[i] == part {
			same++
			continue
		}
		differs = append(differs, part.Name)
	}
	return differs, same
}
