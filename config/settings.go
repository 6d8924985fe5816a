package config

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/b650d4bf/gateway/internal/jsonx"
)

// Settings say how a request to a target is made. A zero value is not set: a
// node that doesn't set one has that of the node above, see [Settings.Under].
type Settings struct {
	// Provider is "@slug", an entry of the catalog, or the id of a provider, such
	// as "vertex-ai". A slug within the request's model wins.
	Provider string
	// Region is the location to call, such as "europe-west4" or "global".
	Region string
	// ProjectID is the platform's project, by id or number.
	ProjectID string
	// CustomHost replaces the provider's address: an absolute URL without user
	// info, query or fragment, https unless its host is this machine. Credentials
	// go there, so a config from outside must not be trusted with it.
	CustomHost string

	// DefaultParams is a JSON object of request members, for those that the
	// request lacks. See [Apply].
	DefaultParams json.RawMessage
	// DropParams names request members to take out: one of the top level, or one
	// of an object within by its path, such as "response_format.json_schema".
	DropParams []string
	// OverrideParams is a JSON object of request members that replace those of
	// the request, the model included.
	OverrideParams json.RawMessage

	// Cache switches the response cache on.
	Cache *Cache
	// Retry tries a failed request again at the same target. Nil never does.
	Retry *Retry
	// RequestTimeout bounds one try, in whole milliseconds, up to 24 hours.
	RequestTimeout time.Duration
	// ForwardHeaders names headers of the incoming request to send on. A set but
	// empty list sends none of those named above.
	ForwardHeaders []string
	// StrictCompliance false adds what the common schema has no place for, such
	// as thinking. A call's own setting wins.
	StrictCompliance *bool
	// Limits bound the use of the target.
	Limits *Limits
	// Cooldown leaves a failing target alone for a while.
	Cooldown *Cooldown
	// Hedge asks a second time when the first answer is late.
	Hedge *Hedge
	// Guards are checks that the client registered, by name.
	Guards []GuardRef
}

// CacheMode says when a stored answer fits a request.
type CacheMode string

// The modes of a cache.
const (
	CacheSimple   CacheMode = "simple"   // the same request
	CacheSemantic CacheMode = "semantic" // the same, or one that means the same
)

// Cache is the setting of the response cache. A refresh is asked for by request,
// never in a config.
type Cache struct {
	// Mode is required.
	Mode CacheMode
	// MaxAge is how long an answer is kept, in whole seconds, [MinMaxAge] to
	// [MaxMaxAge]. Zero leaves it to the cache, which has [DefaultMaxAge].
	MaxAge time.Duration
	// Threshold is the least cosine similarity of a semantic hit, above 0 and at
	// most 1. Zero leaves it to the cache, which has [DefaultThreshold].
	Threshold float64
}

// Defaults and limits of a cache.
const (
	MinMaxAge        = time.Minute
	MaxMaxAge        = 90 * 24 * time.Hour
	DefaultMaxAge    = 7 * 24 * time.Hour
	DefaultThreshold = 0.95
)

// MaxAttempts bounds the tries after the first, so that retries times targets
// stay bearable.
const MaxAttempts = 5

// Retry says when and how often a target is tried again.
type Retry struct {
	// Attempts is the number of tries after the first, 0 to [MaxAttempts].
	// Zero means that there is one try.
	Attempts int
	// OnStatusCodes replaces the statuses that are tried again, see [Retry.On].
	OnStatusCodes []int
	// UseRetryAfterHeader false waits by the backoff alone, whatever the platform
	// asks for. Nil means true.
	UseRetryAfterHeader *bool
	// Backoff is how long is waited. Nil has the defaults of [Backoff].
	Backoff *Backoff
}

// On reports whether an answer of that status is tried again: one of
// OnStatusCodes or, when that is nil, one of 408, 409, 429, 500, 502, 503, 504
// and 529. A failure without an answer has no status and does not go by the list:
// it is tried again where nothing was sent and another try may help.
func (r *Retry) On(status int) bool {
	if r.OnStatusCodes != nil {
		return slices.Contains(r.OnStatusCodes, status)
	}
	switch status {
	case 408, 409, 429, 500, 502, 503, 504, 529:
		return true
	}
	return false
}

// HonorsRetryAfter returns UseRetryAfterHeader with its default.
func (r *Retry) HonorsRetryAfter() bool {
	return r.UseRetryAfterHeader == nil || *r.UseRetryAfterHeader
}

// Backoff is the wait before a retry, doubled each time and jittered. Both are
// whole milliseconds, up to 10 minutes.
type Backoff struct {
	// Base is the longest wait before the first retry. Zero is 1 s.
	Base time.Duration
	// Max is the longest wait before any. Zero is 30 s.
	Max time.Duration
}

// Limits bound the use of a target by this process. What is zero has no limit.
// The tokens are those that answers tell. Until then a request counts with one for
// four bytes of its JSON, and each image, video, audio or file that is sent along
// with 258.
type Limits struct {
	RequestsPerMinute int
	TokensPerMinute   int
	// Concurrency is the number of requests under way at once.
	Concurrency int
	// QueueTimeout is how long a request over a limit waits for its turn, in
	// whole milliseconds, up to 10 minutes. Zero refuses it at once.
	QueueTimeout time.Duration
}

// Cooldown is a circuit breaker: after so many failures in a row a target is
// left out, until the time is over and one request may try it again.
type Cooldown struct {
	// Failures is how many in a row open the circuit, at least 1.
	Failures int
	// Duration is how long the target is left out, in whole milliseconds, up to
	// 24 hours. Each further time without a success in between is twice as long, and
	// a platform that asks for a longer wait gets it, both up to 5 minutes, or
	// Duration where it is longer.
	Duration time.Duration
}

// Hedge sends a request a second time while the first has no answer. Both may be
// charged. A target with guards makes no second request, and says so in a warning:
// each would be judged, and a slow guard would be taken for a slow model.
type Hedge struct {
	// After is how long the first is waited for, in whole milliseconds, up to 10
	// minutes.
	After time.Duration
}

// GuardMode says what becomes of a request or answer that fails a guard.
type GuardMode string

// The modes of a guard.
const (
	GuardDeny    GuardMode = "deny"    // it is refused
	GuardObserve GuardMode = "observe" // it goes on, and the verdict is recorded
)

// GuardRef names a guard that the client registered. Whether it looks at
// requests or at answers is the guard's own.
type GuardRef struct {
	// Name is letters, digits, '-', '_' and '.', at most 128 bytes.
	Name string
	// Mode is deny when it is empty.
	Mode GuardMode
}

// Denies reports whether the guard refuses what fails it.
func (g GuardRef) Denies() bool { return g.Mode != GuardObserve }

// Under returns the settings of a node below a parent with the given effective
// settings. Of most settings the node's own one replaces the parent's as a
// whole. DefaultParams and OverrideParams are merged by top-level member, the
// node's winning over those of the same setting, see [Apply]; DropParams are put
// together; so are Guards, where the mode that the node gives wins. The result
// shares memory with both.
func (s Settings) Under(parent Settings) Settings {
	s.Provider = either(s.Provider, parent.Provider)
	s.Region = either(s.Region, parent.Region)
	s.ProjectID = either(s.ProjectID, parent.ProjectID)
	s.CustomHost = either(s.CustomHost, parent.CustomHost)
	s.DefaultParams = merge(parent.DefaultParams, s.DefaultParams)
	s.OverrideParams = merge(parent.OverrideParams, s.OverrideParams)
	s.DropParams = union(parent.DropParams, s.DropParams)
	s.Cache = either(s.Cache, parent.Cache)
	s.Retry = either(s.Retry, parent.Retry)
	s.RequestTimeout = either(s.RequestTimeout, parent.RequestTimeout)
	if s.ForwardHeaders == nil {
		s.ForwardHeaders = parent.ForwardHeaders
	}
	s.StrictCompliance = either(s.StrictCompliance, parent.StrictCompliance)
	s.Limits = either(s.Limits, parent.Limits)
	s.Cooldown = either(s.Cooldown, parent.Cooldown)
	s.Hedge = either(s.Hedge, parent.Hedge)
	s.Guards = guardsUnder(parent.Guards, s.Guards)
	return s
}

// either returns own, or the parent's when own is not set.
func either[T comparable](own, parent T) T {
	var unset T
	if own == unset {
		return parent
	}
	return own
}

// union returns the parent's names and then those that only the child has.
func union(parent, child []string) []string {
	switch {
	case len(parent) == 0:
		return child
	case len(child) == 0:
		return parent
	}
	out := slices.Clip(parent)
	for _, name := range child {
		if !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// guardsUnder is union by name.
func guardsUnder(parent, child []GuardRef) []GuardRef {
	switch {
	case len(parent) == 0:
		return child
	case len(child) == 0:
		return parent
	}
	out := slices.Clone(parent)
	for _, g := range child {
		if i := slices.IndexFunc(out, func(o GuardRef) bool { return o.Name == g.Name }); i >= 0 {
			out[i] = g
		} else {
			out = append(out, g)
		}
	}
	return out
}

// merge returns the members of parent with those of child in their places, and
// then what only child has.
func merge(parent, child json.RawMessage) json.RawMessage {
	switch {
	case len(child) == 0:
		return parent
	case len(parent) == 0:
		return child
	}
	out, err := edit(parent, &edits{overrides: child})
	if err != nil || !jsonx.Valid(child) {
		return child // neither is from a valid config
	}
	return out
}
