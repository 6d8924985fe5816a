package providers

import "time"

// CacheStatus is the part that the response cache had in an answer.
type CacheStatus string

// The cache statuses.
const (
	CacheDisabled    CacheStatus = "disabled"     // the cache was not used
	CacheMiss        CacheStatus = "miss"         // a model answered, and the next one may get a hit
	CacheRefreshed   CacheStatus = "refreshed"    // a model answered since that was asked for, in place of what was kept
	CacheHit         CacheStatus = "hit"          // the same request was answered before
	CacheSemanticHit CacheStatus = "semantic-hit" // one that means the same was answered before
)

// String returns the words for logs.
func (s CacheStatus) String() string {
	switch s {
	case CacheMiss:
		return "Cache Miss"
	case CacheRefreshed:
		return "Cache Refreshed"
	case CacheHit:
		return "Cache Hit"
	case CacheSemanticHit:
		return "Cache Semantic Hit"
	}
	return "Cache Disabled"
}

// IsHit reports whether the answer came from the cache.
func (s CacheStatus) IsHit() bool { return s == CacheHit || s == CacheSemanticHit }

// CacheInfo says more of the part that the response cache had in an answer. Its
// zero value is that of a call without a cache.
type CacheInfo struct {
	// Key is the key of the request in hexadecimal, by which the answer is kept;
	// empty when the cache was not asked.
	Key string
	// Age is how old the answer of a hit is, and Saved how long it took when it
	// was made.
	Age, Saved time.Duration
	// Similarity is the cosine similarity of a semantic hit, above 0 and at most 1.
	Similarity float64
	// Shared says that another call, which asked for the same at the same time, had
	// the answer made, or failed to. No request was sent for this one. It is set too
	// for a call that began a request and left others to wait for it, one of which has
	// that request in its record.
	Shared bool
	// Semantic says why the request was not compared by meaning although the mode asks
	// for that; empty when it was.
	Semantic string
	// Reason says why a configured cache was not asked, or why the answer is not
	// kept; empty when there is nothing to say.
	Reason string
	// Err is a fault of the cache, which the call did without; nil when there was
	// none.
	Err error
}
