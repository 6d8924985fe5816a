package cache

import (
	"fmt"
	"time"
)

// Invariants waits until nothing is on its way, while nobody else uses the store,
// and returns what is wrong with how its parts fit together.
func (m *Memory) Invariants() error {
	m.main.Wait()
	for i := range m.shards {
		m.shards[i].mu.RLock()
	}
	defer func() {
		for i := range m.shards {
			m.shards[i].mu.RUnlock()
		}
	}()
	m.window.mu.Lock()
	defer m.window.mu.Unlock()
	m.groups.mu.RLock()
	defer m.groups.mu.RUnlock()
	main, nodes, vectors := map[*node]bool{}, 0, int64(0)
	m.main.IterValues(func(n *node) bool {
		main[n] = true
		return false
	})
	var bytes, windowed int64
	for i := range m.shards {
		for hash, n := range m.shards[i].nodes {
			nodes++
			bytes += n.cost
			if hash != n.hash || m.hash(&n.entry.Key) != hash || m.shard(hash) != &m.shards[i] {
				return fmt.Errorf("node %s is in the wrong place", n.entry.Key)
			}
			if n.windowed == n.main || n.main != main[n] {
				return fmt.Errorf("node %s: in the window %v, in the main region %v, which has it %v", n.entry.Key, n.windowed, n.main, main[n])
			}
			delete(main, n)
			if n.group != nil {
				vectors++
				if m.groups.byKey[n.group.key] != n.group || !n.group.has(n) {
					return fmt.Errorf("node %s is not in its group", n.entry.Key)
				}
			}
		}
	}
	if len(main) > 0 {
		return fmt.Errorf("the main region has %d nodes that were let go of", len(main))
	}
	count := 0
	for n := m.window.head; n != nil; n = n.next {
		count++
		windowed += n.cost
		if !n.windowed || m.shard(n.hash).nodes[n.hash] != n {
			return fmt.Errorf("the window has node %s, which was let go of", n.entry.Key)
		}
	}
	if bytes != m.bytes.Load() || windowed != m.window.bytes {
		return fmt.Errorf("%d bytes are counted of %d, and %d of %d in the window", m.bytes.Load(), bytes, m.window.bytes, windowed)
	}
	if used := m.main.MaxCost() - m.main.RemainingCost(); bytes-windowed != used {
		return fmt.Errorf("the main region has %d bytes, and counts %d", bytes-windowed, used)
	}
	inGroups := 0
	for _, g := range m.groups.byKey {
		inGroups += g.used
		if g.used == 0 || g.len() != g.used {
			return fmt.Errorf("a group of %d has %d", g.used, g.len())
		}
	}
	if vectors != m.groups.vectors.Load() || int64(inGroups) != vectors {
		return fmt.Errorf("%d vectors are counted, %d are in groups, of %d", m.groups.vectors.Load(), inGroups, vectors)
	}
	return nil
}

func (in *group) len() int { return in.index.Len() }

func (in *group) has(n *node) bool {
	in.mu.RLock()
	defer in.mu.RUnlock()
	return n.row >= 0 && n.row < len(in.rows) && in.rows[n.row] == n
}

// Collide lets a key have the hash of another one, whose entry it leads to then.
func (m *Memory) Collide(key, other Key) {
	n := m.shard(m.hash(&other)).put(m.hash(&other), nil)
	n.hash = m.hash(&key)
	m.shard(n.hash).put(n.hash, n)
}

// MostRows returns how many rows the index of a group was made for.
func (m *Memory) MostRows(group Key, dim int) int { return m.groups.byKey[groupKey{group, dim}].most }

// Groups returns how many groups there are.
func (m *Memory) Groups() int {
	m.groups.mu.RLock()
	defer m.groups.mu.RUnlock()
	return len(m.groups.byKey)
}

// SearchAround lets change run in the midst of a search.
func (m *Memory) SearchAround(q *Query, change func()) []Match {
	in := m.groups.byKey[groupKey{q.Group, len(q.Vector)}]
	hits, freed := in.hits(q)
	change()
	return in.matches(q, hits, freed, time.Now())
}
