package routing

import "math"

// hashString is FNV-1a, the same in each process and on each machine.
//
// Source: http://www.isthe.com/chongo/tech/comp/fnv/
func hashString(s string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * 1099511628211
	}
	return h
}

// mix spreads each bit over the whole number, which FNV does not do for the last
// bytes.
//
// Source: https://prng.di.unimi.it/splitmix64.c
func mix(x uint64) uint64 {
	x ^= x >> 30
	x *= 0xbf58476d1ce4e5b9
	x ^= x >> 27
	x *= 0x94d049bb133111eb
	return x ^ x>>31
}

// draw picks a child by weight with a random number in [0, 1). Those that open
// does not allow are left out; a nil open allows all.
func (n *node) draw(random float64, open []bool) int {
	total := n.total
	if open != nil {
		total = 0
		for i, w := range n.weights {
			if open[i] {
				total += w
			}
		}
	}
	at, last := random*total, -1
	for i, w := range n.weights {
		if w == 0 || open != nil && !open[i] {
			continue
		}
		if last = i; at < w {
			return i
		}
		at -= w
	}
	return last // rounding ate the end of it
}

// stick picks a child by weight for a key: the one that scores highest for it.
// The score of a child depends on nothing but key, child and weight, so that a
// new child takes from each other one its share alone, and one that is left out
// gives away only what it had.
//
// Source: https://en.wikipedia.org/wiki/Rendezvous_hashing#Weighted_rendezvous_hash
func (n *node) stick(key string, open []bool) int {
	h := hashString(key)
	best, high := -1, 0.0
	for i, w := range n.weights {
		if w == 0 || open != nil && !open[i] {
			continue
		}
		// A number within (0, 1), never 0 or 1.
		u := (float64(mix(h^mix(n.children[i].id))>>11) + 0.5) / (1 << 53)
		if score := w / -math.Log(u); best < 0 || score > high {
			best, high = i, score
		}
	}
	return best
}
