package providers

import (
	"context"
	"time"
)

// Observer is told of every call. Its methods are called on the caller's own
// goroutine and must not block; they are safe for concurrent use. They see no
// prompt and no answer.
type Observer interface {
	// CallStart is told before anything is sent. The context it returns is the
	// call's, so that it can carry a trace.
	CallStart(ctx context.Context, c Call) context.Context
	// CallEnd is told once for each CallStart: for a stream at the stream's
	// end, not at the return of the call.
	CallEnd(ctx context.Context, r Record)
}

// Call is what is known of a call when it starts.
type Call struct {
	// ID is the gateway's own id of the call.
	ID string
	// Operation is "chat", "embeddings", "count_tokens", or "cache." with create,
	// get, list, extend or delete. Each page of a list is a call.
	Operation string
	// Model is the model reference as the caller gave it; empty for operations
	// that name none.
	Model string
	// Prompt and PromptVersion name the stored prompt that made the request; empty
	// for a request without one. Of a prompt that could not be rendered it is the
	// reference as the caller gave it, without a version.
	Prompt, PromptVersion string
	// Surface is where the call came in: one of SurfaceGo and the others.
	Surface string
	// ConfigID names the config of the catalog that says where the call goes; empty
	// without one.
	ConfigID string
	// KeyID is a digest of the gateway's API key that an HTTP client showed; empty
	// without one.
	KeyID string
	// Stream says that the answer is streamed.
	Stream bool
	// Parameters is what the request asked for; nil for operations that have none.
	Parameters *Parameters
	// Metadata is what the caller attached to the call.
	Metadata map[string]string
	// Start is when the call came in.
	Start time.Time
}

// The surfaces of calls.
const (
	SurfaceGo        = "go"        // methods of the client
	SurfaceHTTP      = "http"      // the HTTP front
	SurfaceTransport = "transport" // the HTTP front, in the process
)

// UserKey is the key of metadata that holds the end user's id of a request.
const UserKey = "_user"

// ContentObserver is an [Observer] that can see prompts and answers too.
type ContentObserver interface {
	Observer
	// WantsContent is asked before anything is sent, and not at all for calls that
	// said debug=false.
	WantsContent(ctx context.Context, c Call) bool
	// CallContent is told right before CallEnd, if content was wanted. It may keep the
	// content, which other observers see too: it must not change it.
	CallContent(ctx context.Context, r Record, c CallContent)
}

// CallContent is what was asked and answered, as JSON in the schema of OpenAI:
// answers in their rich form, streams folded into a whole answer, or what there was
// of one when it broke. Response is nil when there was none. Calls in Google's own
// schema have it in that schema, a stream as the list of its events.
type CallContent struct {
	Request, Response []byte
}

// Record is what is known of a call when it has ended.
type Record struct {
	Call
	// Meta says what the gateway did.
	Meta Meta
	// ResponseID and ResponseModel are the platform's.
	ResponseID, ResponseModel string
	// FinishReason is the first choice's.
	FinishReason string
	// FinishReasons are those of all choices, in their order; nil for an answer of
	// one.
	FinishReasons []string
	// Usage is nil when the platform gave none. Of an answer from the response cache,
	// or one that another call had made, it is what that cost then: Meta says which
	// it is.
	Usage *Usage
	// Billed is what is billed beside the tokens.
	Billed Billed
	// FirstChunk is the time to the first chunk of a stream; 0 for a whole
	// answer.
	FirstChunk time.Duration
	// Duration is the time to the end of the answer.
	Duration time.Duration
	// Err is why the call failed, or nil. A stream that the caller closed
	// before its end has [ErrCanceled].
	Err error
}
