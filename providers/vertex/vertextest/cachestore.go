package vertextest

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// firstCacheID is the number of the first cache; the platform's have as many
// digits.
const firstCacheID = 4611686018427387904

// keepCache names a cache and keeps it.
func (s *Server) keepCache(t target, c *cache) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cachesMade++
	t.cache = strconv.FormatUint(firstCacheID+s.cachesMade, 10)
	c.name = t.cacheName()
	s.caches = append(s.liveCaches(), c)
}

// liveCaches returns the caches that haven't ended. The caller holds the lock.
func (s *Server) liveCaches() []*cache {
	now := time.Now()
	return slices.DeleteFunc(slices.Clone(s.caches), func(c *cache) bool { return !now.Before(c.expire) })
}

// madeCaches reports whether any cache was made, ended or not.
func (s *Server) madeCaches() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.cachesMade > 0
}

// findCache returns the cache of that name, or nil.
func (s *Server) findCache(name string) *cache {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.liveCaches() {
		if c.name == name {
			return c
		}
	}
	return nil
}

// cachesIn returns the caches whose names start with prefix, oldest first.
func (s *Server) cachesIn(prefix string) []*cache {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.DeleteFunc(s.liveCaches(), func(c *cache) bool { return !strings.HasPrefix(c.name, prefix) })
}

func (s *Server) dropCache(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.caches = slices.DeleteFunc(s.liveCaches(), func(c *cache) bool { return c.name == name })
}

// replaceCache puts c in the place of the cache of its name. Caches themselves
// don't change, as requests in flight may hold them.
func (s *Server) replaceCache(c *cache) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.caches = s.liveCaches()
	for i := range s.caches {
		if s.caches[i].name == c.name {
			s.caches[i] = c
		}
	}
}
