package catalog

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/b650d4bf/gateway/config"
)

// Memory is a catalog held in memory. Its zero value is an empty catalog; it is
// safe for concurrent use and must not be copied.
type Memory struct {
	swap sync.Mutex // serializes writers, so that versions and contents agree
	snap atomic.Pointer[snapshot]
}

// snapshot is one immutable state of a catalog.
type snapshot struct {
	entries  map[string]Entry
	slugs    []string
	configs  map[string]*config.Config
	prompts  map[string]json.RawMessage
	partials map[string]string
	version  uint64
}

var _ Catalog = (*Memory)(nil)

// New returns a catalog of entries, or every mistake in them.
func New(entries ...Entry) (*Memory, error) {
	m := new(Memory)
	if err := m.Replace(entries...); err != nil {
		return nil, err
	}
	return m, nil
}

// Parse returns the catalog written in data, or every mistake in it. A relative
// service_account_file stays relative, to the working directory of the process.
func Parse(data []byte) (*Memory, error) {
	c, err := decode(data)
	if err != nil {
		return nil, err
	}
	m := new(Memory)
	m.store(c)
	return m, nil
}

// Lookup returns the entry named slug, with or without one leading '@'. The
// caller owns the entry and its headers.
func (m *Memory) Lookup(slug string) (Entry, error) {
	slug = strings.TrimPrefix(slug, "@")
	snap := m.load()
	e, ok := snap.entries[slug]
	if !ok {
		return Entry{}, &NotFoundError{Slug: slug, Near: Near(slug, snap.slugs)}
	}
	e.Headers = maps.Clone(e.Headers)
	return e, nil
}

// Slugs returns every slug in ascending order. The caller owns the slice.
func (m *Memory) Slugs() []string { return slices.Clone(m.load().slugs) }

// Config returns the config of that id, which must not be changed. It is the same
// one until the catalog is swapped.
func (m *Memory) Config(id string) (*config.Config, error) {
	snap := m.load()
	c, ok := snap.configs[id]
	if !ok {
		return nil, &NotFoundError{Slug: id, kind: "config", Near: Near(id, slices.Sorted(maps.Keys(snap.configs)))}
	}
	return c, nil
}

// Configs returns the ids of all configs in ascending order. The caller owns the
// slice.
func (m *Memory) Configs() []string { return slices.Sorted(maps.Keys(m.load().configs)) }

// Prompts returns the stored prompts as they are written, by their ids. They are
// read by the module github.com/b650d4bf/gateway/prompts. The caller owns the map
// and must not change the bytes.
func (m *Memory) Prompts() map[string]json.RawMessage { return maps.Clone(m.load().prompts) }

// Partials returns the texts that the templates of stored prompts share, by their
// names. The caller owns the map.
func (m *Memory) Partials() map[string]string { return maps.Clone(m.load().partials) }

// Version counts the swaps so far. Whatever was built from an entry, such as a
// cached token, may be stale once the version it was built at has passed; calls
// under way can finish with what they have.
func (m *Memory) Version() uint64 { return m.load().version }

// Replace swaps all entries in one step; configs and stored prompts stay. If any entry is
// invalid it changes nothing and returns every mistake.
func (m *Memory) Replace(entries ...Entry) error {
	var p problems
	if p.entries(entries); len(p.errs) > 0 {
		return p.err()
	}
	m.swap.Lock()
	defer m.swap.Unlock()
	old := m.load()
	m.store(content{entries, old.configs, old.prompts, old.partials})
	return nil
}

// load returns the current state, never nil.
func (m *Memory) load() *snapshot {
	if s := m.snap.Load(); s != nil {
		return s
	}
	return &snapshot{}
}

// store installs valid content as the next version. The caller holds m.swap.
func (m *Memory) store(c content) {
	next := &snapshot{
		entries: make(map[string]Entry, len(c.entries)), configs: c.configs, prompts: c.prompts, partials: c.partials,
		version: m.load().version + 1,
	}
	for _, e := range c.entries {
		e.Headers = maps.Clone(e.Headers)
		next.entries[e.Slug] = e
	}
	next.slugs = slices.Sorted(maps.Keys(next.entries))
	m.snap.Store(next)
}
