package providers

import (
	"strconv"
	"time"
)

// Meta says what the gateway did for one answer. It rides beside the answer and
// is no part of its JSON. A stream's Meta is complete at the stream's end.
type Meta struct {
	// RequestID is the gateway's own id of the call, as in its logs.
	RequestID string
	// Provider and Slug name the target that answered.
	Provider, Slug string
	// Model is the model reference that was resolved, without the slug.
	Model string
	// Prompt and PromptVersion name the stored prompt that made the request; empty
	// for a request without one.
	Prompt, PromptVersion string
	// Warnings lists what was changed or left out on the way to the model.
	Warnings []Warning
	// CacheStatus says what part the response cache had.
	CacheStatus CacheStatus
	// Cache says more of that part.
	Cache CacheInfo
	// Attempts is the trail of this answer, in order: requests, and targets that
	// were passed over.
	Attempts []Attempt
	// Guards are the verdicts of the guards that were asked, in order, those on
	// targets that failed included.
	Guards []GuardVerdict
	// Retry says what became of the retries.
	Retry RetryStatus
	// Fallback and LoadBalance say whether the way of the call led through such a
	// choice among several targets of its config, of which it may have needed one.
	Fallback, LoadBalance FeatureStatus
}

// RetryStatus is the part that retries had in an answer. A positive one counts
// the requests to the target that answered, the first one included.
type RetryStatus int

// The retry statuses without a success.
const (
	RetryNotTriggered RetryStatus = 0
	RetryFailed       RetryStatus = -1 // the target that was asked again did not answer
)

// String returns the word for logs.
func (s RetryStatus) String() string {
	switch {
	case s == RetryNotTriggered:
		return "Not Triggered"
	case s < 0:
		return "Failed"
	}
	return "Success on " + strconv.Itoa(int(s)) + " tries"
}

// FeatureStatus says whether a call made use of a feature.
type FeatureStatus bool

// The feature statuses.
const (
	FeatureDisabled FeatureStatus = false
	FeatureActive   FeatureStatus = true
)

// String returns the word for logs.
func (s FeatureStatus) String() string {
	if s {
		return "Active"
	}
	return "Disabled"
}

// Attempt is one request to one target, or why there was none.
type Attempt struct {
	// Target is the target's place in the config, such as "targets[0]"; empty
	// without a config.
	Target string
	// Provider and Slug name the target; Model is what was asked of it.
	Provider, Slug, Model string
	// StatusCode is the HTTP status of the answer, 0 when none came.
	StatusCode int
	// Start is when the request was sent, after any Wait, or the target passed over.
	Start time.Time
	// Duration is the time until the answer, or its first chunk, was there.
	Duration time.Duration
	// Code says why the attempt failed; empty for a success.
	Code Code
	// Retry counts the requests to the target that failed before this one.
	Retry int
	// Wait is how long the request waited for its turn: the pause before a
	// retry, and the queue of a limit.
	Wait time.Duration
	// Hedged says that the request was sent beside one that had no answer yet.
	Hedged bool
	// Server is the host and port that the request was sent to, as "host:port"; empty
	// when it is not known, and for calls that no observer is told of.
	Server string
	// Skipped says why nothing was sent; empty for a request.
	Skipped SkipReason
}

// SkipReason is why a target was not asked.
type SkipReason string

// The reasons why a target is not asked.
const (
	SkipCooldown    SkipReason = "cooldown"     // it failed too often and is left alone for a while
	SkipLimit       SkipReason = "limit"        // a limit of ours can't be met in time
	SkipRetryBudget SkipReason = "retry_budget" // too much of the traffic is retries already
	SkipMaxAttempts SkipReason = "max_attempts" // the call has made as many requests as it may
)

// Warning reports one thing of the request that could not go to the model as it
// was given. The answer is valid, but not for exactly what was asked.
type Warning struct {
	// Code is a stable word for programs, such as "unsupported_parameter".
	Code string `json:"code"`
	// Param is the path of the member it is about, such as "thinking".
	Param string `json:"param,omitempty"`
	// Message says what was done, for people.
	Message string `json:"message"`
}

// The codes of warnings.
const (
	WarnUnsupported   = "unsupported_parameter" // left out: the model does not take it
	WarnAdjusted      = "adjusted_parameter"    // sent with another value
	WarnUnknown       = "unknown_parameter"     // left out: the platform does not know it
	WarnConflict      = "conflicting_parameter" // left out: another one wins
	WarnUnknownModel  = "unknown_model"         // facts of a related model are used
	WarnSignature     = "signature_missing"     // a lost thought signature was stood in for
	WarnDroppedBlock  = "dropped_content"       // content the model must not see again
	WarnSchemaChanged = "schema_changed"        // a JSON Schema keyword was rewritten
)
