package logs

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"slices"
	"sort"
	"sync"
)

// The bounds of a [Memory] that sets none.
const (
	DefaultMemoryRecords = 10_000
	DefaultMemoryBytes   = 64 << 20
)

// Memory is a [Store] in this process, for tests, small services and a look at the
// last records. It keeps the newest ones. Make one with [NewMemory].
type Memory struct {
	most, mostBytes int

	mu sync.RWMutex
	// list is in the order of time and, for equal times, of writing. What is before
	// head was forgotten.
	list  []kept
	head  int
	bytes int
	next  uint64
	byID  map[string]*Record // the newest of each id
}

// kept is a record and its place in the order.
type kept struct {
	record *Record // never changed: feedback makes another
	seq    uint64
	size   int
}

var _ Store = (*Memory)(nil)

// NewMemory returns a store of that many records, 0 or less for
// [DefaultMemoryRecords], and of [DefaultMemoryBytes] at most.
func NewMemory(capacity int) *Memory { return NewMemoryBytes(capacity, 0) }

// NewMemoryBytes returns a store that is bounded in bytes too, 0 or less for
// [DefaultMemoryBytes]. A record that is larger than that is not kept.
func NewMemoryBytes(capacity, size int) *Memory {
	if capacity <= 0 {
		capacity = DefaultMemoryRecords
	}
	if size <= 0 {
		size = DefaultMemoryBytes
	}
	return &Memory{most: capacity, mostBytes: size, byID: map[string]*Record{}}
}

// Write keeps copies of the records.
func (m *Memory) Write(_ context.Context, records []Record) error {
	own := make([]*Record, len(records))
	for i := range records {
		own[i] = records[i].Clone()
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, r := range own {
		m.add(r)
	}
	return nil
}

func (m *Memory) add(r *Record) {
	k := kept{record: r, seq: m.next, size: r.size()}
	m.next++
	if k.size > m.mostBytes {
		return
	}
	at := len(m.list)
	for at > m.head && m.list[at-1].record.Time.After(r.Time) { // most calls end about in the order they began
		at--
	}
	m.list = append(m.list, kept{})
	copy(m.list[at+1:], m.list[at:])
	m.list[at] = k
	m.bytes += k.size
	if old := m.byID[r.ID]; old == nil || !r.Time.Before(old.Time) {
		m.byID[r.ID] = r
	}
	for len(m.list)-m.head > m.most || m.bytes > m.mostBytes {
		m.forget()
	}
}

// forget gives up the oldest record.
func (m *Memory) forget() {
	old := &m.list[m.head]
	m.bytes -= old.size
	if m.byID[old.record.ID] == old.record {
		delete(m.byID, old.record.ID)
	}
	*old = kept{}
	if m.head++; m.head > len(m.list)/2 {
		m.list = slices.Delete(m.list, 0, m.head)
		m.head = 0
	}
}

// Get returns one record; of several with the id the newest.
func (m *Memory) Get(_ context.Context, id string) (*Record, error) {
	m.mu.RLock()
	r := m.byID[id]
	m.mu.RUnlock()
	if r == nil {
		return nil, ErrNotFound
	}
	return r.Clone(), nil
}

// Query returns a page.
func (m *Memory) Query(ctx context.Context, q Query) (*Page, error) {
	match, err := Compile(q)
	if err != nil {
		return nil, err
	}
	before, err := parsePlace(q.Cursor)
	if err != nil {
		return nil, err
	}
	found, more, err := m.find(ctx, match, before, q.PageSize())
	if err != nil {
		return nil, err
	}
	page := &Page{Records: make([]Record, len(found))}
	for i, k := range found {
		own := *k.record
		own.Content = nil
		page.Records[i] = *own.Clone()
	}
	if more {
		page.Next = found[len(found)-1].place().String()
	}
	return page, nil
}

// find returns what is meant and lies before a place, the newest first.
func (m *Memory) find(ctx context.Context, match *Matcher, before *place, limit int) (found []kept, more bool, err error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	list := m.list[m.head:]
	end := len(list)
	if before != nil {
		end = sort.Search(len(list), func(i int) bool { return !list[i].place().less(before) })
	}
	if !match.to.IsZero() {
		end = min(end, sort.Search(len(list), func(i int) bool { return !list[i].record.Time.Before(match.to) }))
	}
	for i := end - 1; i >= 0; i-- {
		if i%1024 == 0 && ctx.Err() != nil {
			return nil, false, ctx.Err()
		}
		r := list[i].record
		if !match.from.IsZero() && r.Time.Before(match.from) {
			break
		}
		if !match.Match(r) {
			continue
		}
		if len(found) == limit {
			return found, true, nil
		}
		found = append(found, list[i])
	}
	return found, false, nil
}

// AddFeedback adds to a record.
func (m *Memory) AddFeedback(_ context.Context, f Feedback) error {
	if err := f.Validate(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	old := m.byID[f.RecordID]
	if old == nil {
		return ErrNotFound
	}
	if err := RoomForFeedback(len(old.Feedback)); err != nil {
		return err
	}
	list := m.list[m.head:]
	for i := len(list) - 1; i >= 0; i-- {
		if k := &list[i]; k.record == old {
			own := *old
			own.Feedback = append(old.Clone().Feedback, (&Record{Feedback: []Feedback{f}}).Clone().Feedback...)
			k.record, k.size = &own, k.size+f.size()
			m.bytes += f.size()
			m.byID[f.RecordID] = &own
			break
		}
	}
	for m.bytes > m.mostBytes && len(m.list)-m.head > 1 {
		m.forget()
	}
	return nil
}

// Len returns the number of records.
func (m *Memory) Len() int {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return len(m.list) - m.head
}

// place is where a record stands in the order of a store: by time, and for equal
// times by a number of the store's own.
type place struct {
	time int64 // in Unix nanoseconds
	seq  uint64
}

func (k *kept) place() *place { return &place{k.record.Time.UnixNano(), k.seq} }

func (p *place) less(q *place) bool { return p.time < q.time || p.time == q.time && p.seq < q.seq }

// String is the place as a cursor.
func (p *place) String() string {
	b := binary.BigEndian.AppendUint64(nil, uint64(p.time))
	return base64.RawURLEncoding.EncodeToString(binary.BigEndian.AppendUint64(b, p.seq))
}

// parsePlace reads a cursor; nil for none.
func parsePlace(cursor string) (*place, error) {
	if cursor == "" {
		return nil, nil //nolint:nilnil // no cursor is the beginning
	}
	b, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil || len(b) != 16 {
		return nil, badCursor()
	}
	return &place{int64(binary.BigEndian.Uint64(b)), binary.BigEndian.Uint64(b[8:])}, nil
}
