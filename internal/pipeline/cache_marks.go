package pipeline

import (
	"sync/atomic"

	"github.com/b650d4bf/gateway/cache"
)

// marks say that answers were deleted or replaced: what was begun before must not
// be kept over that, nor given to calls that begin after it. Keys share marks,
// which costs an answer that is not kept now and then.
type marks struct {
	all atomic.Uint64
	of  [256]atomic.Uint64
}

// at returns a number that another mark has changed if it is another one later.
func (m *marks) at(key *cache.Key) uint64 { return m.all.Load() + m.of[key[0]].Load() }

func (m *marks) mark(key *cache.Key) { m.of[key[0]].Add(1) }

func (m *marks) markAll() { m.all.Add(1) }

// overtaken reports whether the answer was deleted or replaced since the work on it
// began, or one that means the same was. A refresh is never.
func (p *place) overtaken(res *result) bool {
	if p.refresh {
		return false
	}
	m := &p.cache.marks
	return m.at(&p.key) != p.begun || res.meaning != nil && m.at(&res.meaning.group) != res.meaning.begun
}

// replaces marks what a refresh replaces.
func (p *place) replaces(res *result) {
	if !p.refresh {
		return
	}
	if p.cache.marks.mark(&p.key); res.meaning != nil {
		p.cache.marks.mark(&res.meaning.group)
	}
}
