package pipeline

import (
	"context"
	"errors"
	"time"

	"github.com/b650d4bf/gateway/cache"
	"github.com/b650d4bf/gateway/providers"
)

// keep keeps the answer of a call that went well. What goes wrong is no matter of
// the call's. Once it has returned the answer is found.
func (p *place) keep(ctx context.Context, res *result) error {
	defer res.release()
	ctx = context.WithoutCancel(ctx)
	var e *cache.Entry
	switch {
	case res.status == providers.CacheSemanticHit:
		e = p.alias(res)
	case res.status == providers.CacheHit || res.reason != "":
		return nil
	default:
		e = p.entry(res)
	}
	var fault error
	if p.overtaken(res) {
		res.reason = "it was deleted or replaced while this answer was made"
		return nil
	}
	p.replaces(res)
	defer p.replaces(res) // of what was found meanwhile
	if p.refresh && res.meaning != nil {
		fault = p.replace(ctx, res.meaning)
	}
	err := p.cache.set(ctx, e)
	if err == nil {
		p.cache.count.Stored.Add(1)
	}
	if p.overtaken(res) { // just now: whichever is there may be the old one
		p.cache.forget(ctx, p.key)
	}
	if fault = errors.Join(fault, err); fault != nil {
		p.cache.count.Faults.Add(1)
	}
	return fault
}

// entry returns what is kept of an answer.
func (p *place) entry(res *result) *cache.Entry {
	now := time.Now().Truncate(time.Millisecond)
	e := &cache.Entry{
		Key: p.key, Body: res.body, Created: now, Expires: now.Add(p.life),
		Namespace: p.scope.Namespace, Operation: p.scope.Operation, Model: p.at.target.Model, Parts: p.parts(),
	}
	if m := res.meaning; m != nil && !m.exactOnly {
		e.Group, e.Vector, e.Text = m.group, m.vector, m.text
	}
	return e
}

// alias returns an entry that answers this very request with the answer of a
// similar one, for as long as that is kept. It is found by its key alone, so that
// answers don't drift from one meaning to the next; its vector is in a group of its
// own, for refreshes.
func (p *place) alias(res *result) *cache.Entry {
	e := p.entry(res)
	e.Created, e.Expires = res.from.Created, res.from.Expires
	e.Group = aliasGroup(e.Group)
	return e
}
