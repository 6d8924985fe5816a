// Package logs keeps one [Record] of each call: written by a [Log] in the
// background, kept by a [Store], found again by a [Query]. Records have no prompt
// and no answer unless [Options] ask for them.
package logs

import (
	"encoding/json"
	"time"

	"github.com/b650d4bf/gateway/prices"
	"github.com/b650d4bf/gateway/providers"
)

// Record is one call, as it is kept. Its JSON is the form of files, exports and
// the HTTP surface.
type Record struct {
	// ID is the gateway's own id of the call, the x-gateway-request-id. Callers may choose
	// it, so that it may come twice.
	ID string `json:"id"`
	// Time is when the call came in, in UTC and microseconds.
	Time time.Time `json:"time"`
	// Surface is where it came in: [SurfaceGo], [SurfaceHTTP] or [SurfaceTransport].
	Surface string `json:"surface"`
	// Operation is that of [providers.Call].
	Operation string `json:"operation"`
	Stream    bool   `json:"stream,omitempty"`
	// RequestedModel is the model reference of the caller; Provider, Slug and Model are
	// the target that answered or was asked last; ResponseModel and ResponseID are the
	// platform's.
	RequestedModel string `json:"requested_model,omitempty"`
	Provider       string `json:"provider,omitempty"`
	Slug           string `json:"slug,omitempty"`
	Model          string `json:"model,omitempty"`
	ResponseModel  string `json:"response_model,omitempty"`
	ResponseID     string `json:"response_id,omitempty"`
	// ConfigID names the config of the catalog that said where to go.
	ConfigID      string `json:"config_id,omitempty"`
	PromptID      string `json:"prompt_id,omitempty"`
	PromptVersion string `json:"prompt_version,omitempty"`
	// KeyID is a digest of the gateway's API key that an HTTP client showed.
	KeyID string `json:"key_id,omitempty"`
	// User is the end user's id that the request named.
	User     string            `json:"user,omitempty"`
	Metadata map[string]string `json:"metadata,omitempty"`
	// CacheStatus is "Cache Disabled", "Cache Miss", "Cache Refreshed", "Cache Hit" or
	// "Cache Semantic Hit".
	CacheStatus string `json:"cache_status"`
	// Similarity is the cosine similarity of a semantic hit.
	Similarity float64 `json:"similarity,omitempty"`
	// RetryStatus, FallbackStatus and LoadBalanceStatus are the words of
	// [providers.Meta].
	RetryStatus       string `json:"retry_status"`
	FallbackStatus    string `json:"fallback_status"`
	LoadBalanceStatus string `json:"loadbalance_status"`
	// Tokens are nil when the platform counted none. Of a cache hit they are those of
	// the answer when it was made.
	Tokens *Tokens `json:"tokens,omitempty"`
	// Cost is what the call cost, and Saved what an answer would have cost that came from
	// the cache, or that another call had made; nil when that is not known, 0 when it is
	// nothing.
	Cost  *prices.Amount `json:"cost_usd,omitempty"`
	Saved *prices.Amount `json:"saved_usd,omitempty"`
	// FirstChunk is the time to the first chunk of a stream, 0 without one; Duration is
	// that to the end. TimeSaved is what a cache hit was faster than the call that made
	// its answer.
	FirstChunk   Milliseconds        `json:"first_chunk_ms,omitempty"`
	Duration     Milliseconds        `json:"duration_ms"`
	TimeSaved    Milliseconds        `json:"time_saved_ms,omitempty"`
	FinishReason string              `json:"finish_reason,omitempty"`
	Warnings     []providers.Warning `json:"warnings,omitempty"`
	Attempts     []Attempt           `json:"attempts,omitempty"`
	// Denied names the guards that said no.
	Denied []string `json:"guards_denied,omitempty"`
	// Error is nil when the call went well.
	Error *Error `json:"error,omitempty"`
	// Feedback is what was said of the answer later, oldest first.
	Feedback []Feedback `json:"feedback,omitempty"`
	// Content is nil unless it was asked for.
	Content *Content `json:"content,omitempty"`
}

// The surfaces.
const (
	SurfaceGo        = providers.SurfaceGo
	SurfaceHTTP      = providers.SurfaceHTTP
	SurfaceTransport = providers.SurfaceTransport
)

// Tokens counts by kind. Prompt includes Cached, CacheWrite and AudioIn;
// Completion includes Reasoning and AudioOut.
type Tokens struct {
	Prompt     int64 `json:"prompt"`
	Completion int64 `json:"completion"`
	Total      int64 `json:"total"`
	Cached     int64 `json:"cached,omitempty"`
	CacheWrite int64 `json:"cache_write,omitempty"`
	Reasoning  int64 `json:"reasoning,omitempty"`
	AudioIn    int64 `json:"audio_in,omitempty"`
	AudioOut   int64 `json:"audio_out,omitempty"`
}

// Attempt is one request to one target, or why there was none; see
// [providers.Attempt].
type Attempt struct {
	Target     string       `json:"target,omitempty"`
	Provider   string       `json:"provider"`
	Slug       string       `json:"slug,omitempty"`
	Model      string       `json:"model"`
	StatusCode int          `json:"status,omitempty"`
	Start      time.Time    `json:"start,omitzero"`
	Duration   Milliseconds `json:"duration_ms"`
	Wait       Milliseconds `json:"wait_ms,omitempty"`
	Code       string       `json:"code,omitempty"`
	Retry      int          `json:"retry,omitempty"`
	Hedged     bool         `json:"hedged,omitempty"`
	Skipped    string       `json:"skipped,omitempty"`
}

// Error is why a call failed. Its message quotes no prompt and no answer.
type Error struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Param   string `json:"param,omitempty"`
	// Status is the HTTP status of the platform, 0 without one.
	Status int `json:"status,omitempty"`
	// Sent says that the request may have reached a model.
	Sent bool `json:"sent,omitempty"`
}

// Content is what was asked and answered, in the schema of OpenAI.
type Content struct {
	Request  json.RawMessage `json:"request,omitempty"`
	Response json.RawMessage `json:"response,omitempty"`
	// Truncated says that a part was larger than the bound; it is then a JSON string
	// with the beginning.
	Truncated bool `json:"truncated,omitempty"`
}

// Feedback is what somebody said of an answer.
type Feedback struct {
	// RecordID names the call.
	RecordID string    `json:"record_id"`
	Time     time.Time `json:"time"`
	// Value is between -10 and 10, and Weight, how much it counts, between 0 and 1;
	// a Weight of 0 means 1.
	Value    int               `json:"value"`
	Weight   float64           `json:"weight,omitempty"`
	Comment  string            `json:"comment,omitempty"`
	Metadata map[string]string `json:"metadata,omitempty"`
}
