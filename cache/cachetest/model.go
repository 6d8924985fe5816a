package cachetest

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/b650d4bf/gateway/cache"
)

func modelChecks() []check {
	return []check{{"random operations end as in a map", (*subject).likeMap}}
}

// model is a store that is too simple to be wrong.
type model struct {
	*subject

	rand    *rand.Rand
	entries map[cache.Key]*cache.Entry
	version uint64
	trail   []string
	// slack is how much earlier than it is said a store may forget an entry, whose
	// server has a clock of its own.
	slack time.Duration
}

func (s *subject) likeMap() {
	s.Logf("seed %d", s.seed)
	m := &model{subject: s, rand: rand.New(rand.NewPCG(s.seed, 3)), entries: map[cache.Key]*cache.Entry{}, slack: s.life / 8}
	operations := []struct {
		weight int
		run    func()
	}{{40, m.doSet}, {40, m.doGet}, {8, m.doDelete}, {10, m.doSearch}, {1, m.doList}, {1, m.doDeleteAll}}
	defer func() {
		if s.Failed() {
			s.Logf("seed %d, the last of %d operations:\n%s", s.seed, len(m.trail), strings.Join(m.trail[max(0, len(m.trail)-40):], "\n"))
		}
	}()
	for i := range s.operations {
		if i%(s.operations/40+1) == 0 {
			s.sleep(s.life / 20)
		}
		n := m.rand.IntN(100)
		for _, op := range operations {
			if n -= op.weight; n < 0 {
				op.run()
				break
			}
		}
		if s.Failed() {
			return
		}
	}
}

func (m *model) note(format string, args ...any) {
	m.trail = append(m.trail, fmt.Sprintf(format, args...))
}

// state says whether an entry must be there after an operation that began at that
// time, and whether it may.
func (m *model) state(key cache.Key, began time.Time) (e *cache.Entry, must, may bool) {
	e = m.entries[key]
	return e, e != nil && time.Now().Add(m.slack).Before(e.Expires), e != nil && began.Before(e.Expires)
}

// judge compares what the store returned for a key.
func (m *model) judge(key cache.Key, got *cache.Entry, began time.Time) {
	e, must, may := m.state(key, began)
	switch {
	case got == nil && must:
		m.Errorf("the entry of %s is missing", key)
	case got != nil && !may:
		m.Errorf("the entry of %s is there, though it should not be", key)
	case got != nil && difference(e, got) != "":
		m.Errorf("the entry of %s differs: %s", key, difference(e, got))
	}
}

func (m *model) key() cache.Key { return keyOf("model", m.rand.IntN(40)) }

func (m *model) doSet() {
	m.version++
	life := time.Hour
	switch m.rand.IntN(10) {
	case 0, 1, 2:
		life = time.Duration(m.rand.Int64N(int64(m.life)))
	case 3:
		life = -time.Millisecond
	}
	e := marked(m.key(), m.version, m.rand.IntN(3000), life.Truncate(time.Millisecond))
	e.Namespace = [...]string{"", "x", "y"}[m.rand.IntN(3)]
	if m.rand.IntN(2) == 0 {
		e.Group, e.Vector = keyOf("group", m.rand.IntN(3)), direction(float64(m.rand.IntN(60)))
		e.Text = "text"
	}
	m.note("set %s, version %d, %v, group %s", e.Key, m.version, life, e.Group)
	m.set(m.store, e)
	m.entries[e.Key] = e
}

func (m *model) doGet() {
	key, began := m.key(), time.Now()
	m.note("get %s", key)
	m.judge(key, m.get(m.store, key), began)
}

func (m *model) doDelete() {
	key := m.key()
	m.note("delete %s", key)
	m.delete(m.store, key)
	delete(m.entries, key)
}

func (m *model) doSearch() {
	if _, ok := m.store.(cache.Searcher); !ok {
		return
	}
	q := cache.Query{Group: keyOf("group", m.rand.IntN(3)), Vector: direction(float64(m.rand.IntN(60)) + 0.3), Threshold: 0.99}
	m.note("search %s", q.Group)
	began, found := time.Now(), map[cache.Key]*cache.Entry{}
	for _, match := range m.search(q) {
		if found[match.Entry.Key] != nil {
			m.Errorf("%s is found twice", match.Entry.Key)
		}
		found[match.Entry.Key] = match.Entry
		m.judge(match.Entry.Key, match.Entry, began)
	}
	for key, e := range m.entries {
		if e.Group == q.Group && cosine(e.Vector, q.Vector) > q.Threshold+1e-5 && found[key] == nil {
			m.judge(key, nil, began)
		}
	}
}

func (m *model) doList() {
	k, ok := m.store.(cache.Keeper)
	if !ok {
		return
	}
	f := m.filter()
	m.note("list %v", *f.Namespace)
	began, listed := time.Now(), map[cache.Key]bool{}
	for e, err := range k.List(m.Context(), f) {
		if err != nil {
			m.Fatalf("List: %v", err)
		}
		if listed[e.Key] || !f.Takes(e) {
			m.Errorf("%s is listed twice, or of another namespace", e.Key)
		}
		listed[e.Key] = true
		if _, _, may := m.state(e.Key, began); !may {
			m.Errorf("%s is listed, though it should not be there", e.Key)
		}
	}
	for key, e := range m.entries {
		if f.Takes(e) && !listed[key] {
			m.judge(key, nil, began)
		}
	}
}

func (m *model) filter() cache.Filter {
	return cache.Filter{Namespace: &[]string{"", "x", "y"}[m.rand.IntN(3)]}
}

func (m *model) doDeleteAll() {
	k, ok := m.store.(cache.Keeper)
	if !ok {
		return
	}
	f := m.filter()
	m.note("delete all %v", *f.Namespace)
	began := time.Now()
	n, err := k.DeleteAll(m.Context(), f)
	if err != nil {
		m.Fatalf("DeleteAll: %v", err)
	}
	least, most := 0, 0
	for key, e := range m.entries {
		if !f.Takes(e) {
			continue
		}
		if _, must, may := m.state(key, began); must {
			least++
			most++
		} else if may {
			most++
		}
		delete(m.entries, key)
	}
	if n < least || n > most {
		m.Errorf("DeleteAll deleted %d, want %d to %d", n, least, most)
	}
}
