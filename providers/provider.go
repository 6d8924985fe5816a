// Package providers holds the contract between the gateway and the model
// providers it talks to: the OpenAI chat schema as Go types, the [Provider]
// interface, the one [Error] type and the [Meta] that rides on every answer.
//
// The types live here, below the root package, because both the root and every
// provider need them. Package gateway re-exports them under the same names;
// their fields are documented here once.
//
// # Concurrency
//
// Values of the schema types are plain data: safe to read from many goroutines,
// not to write while another reads. A [Provider] is safe for concurrent use. A
// [ChunkReader] and an [Accumulator] belong to one goroutine at a time.
package providers

import (
	"context"
	"net/http"
	"time"

	"cloud.google.com/go/auth"
)

// Provider translates chat completions to one platform's wire and back. It
// keeps no state of a caller: where to send and as whom arrive in the [Target].
// Further abilities are optional interfaces that a provider may also implement.
type Provider interface {
	// Name is the provider's id as a catalog spells it, such as "vertex-ai".
	Name() string
	// ChatCompletion sends req and returns the whole answer in its rich form,
	// which belongs to the caller from then on. The provider must not keep or
	// change req.
	ChatCompletion(ctx context.Context, t *Target, req *ChatCompletionRequest) (*ChatCompletion, error)
	// ChatCompletionStream sends req and returns once the platform has
	// accepted it: a refusal is an error here, not in the reader.
	ChatCompletionStream(ctx context.Context, t *Target, req *ChatCompletionRequest) (ChunkReader, error)
}

// Keyed is a provider that is asked with an API key, such as a model vendor's
// own service. Where it is and as whom it is asked is for its catalog entry to
// say alone: the project, region, base URL and credentials of a client are about
// another platform, and are not sent to it.
type Keyed interface {
	Provider
	// APIKeyHeader names the header that carries the key.
	APIKeyHeader() string
}

// ChunkReader yields the chunks of one streamed answer in order.
type ChunkReader interface {
	// Recv returns the next chunk, which belongs to the caller from then on. It
	// returns io.EOF only after every choice had its finish reason; an answer
	// that was cut off ends in an [Error] with [ErrStreamCut]. After the first
	// error each further call repeats it.
	Recv() (*ChatCompletionChunk, error)
	// Close ends the stream and releases its connection. It is idempotent and
	// may be called at any time, also while the stream has not ended.
	Close() error
}

// Target says where one request goes and as whom.
type Target struct {
	// Slug is the catalog entry's name, empty for the client's own settings.
	Slug string
	// Provider is the provider id, such as "vertex-ai".
	Provider string
	// Model is the model reference without the slug, as the provider's own
	// grammar spells it.
	Model string
	// Region is the platform location: a region, "global", "us" or "eu".
	Region string
	// ProjectID is the platform project, by id or by number.
	ProjectID string
	// BaseURL replaces scheme and host of the platform; a path of its own is
	// kept before the platform's. Empty means the platform's host for the
	// region.
	BaseURL string
	// Bucket is where files are kept, as gs://bucket/prefix.
	Bucket string
	// StorageURL replaces scheme and host of the platform's object store, as
	// BaseURL does those of its models.
	StorageURL string
	// UniverseDomain replaces "googleapis.com" in platform hosts; empty means
	// the public cloud.
	UniverseDomain string
	// APIVersion is the version that the service is asked for in the query, for
	// those that want one.
	APIVersion string
	// Token mints access tokens, or gives the API key of a [Keyed] provider; nil
	// sends none, for a proxy that injects one.
	// A source that is also a [TokenRenewer] is asked for a new token, once,
	// after the platform refused one with status 401.
	Token auth.TokenProvider
	// Labels are further cost-attribution labels, made from the call's metadata.
	// The provider fits them to what its platform allows; those of the request
	// win.
	Labels map[string]string
	// Header is sent with the request on top of the provider's own headers.
	Header http.Header
	// Timeouts bound the request; zero members mean no limit of that kind.
	Timeouts Timeouts
	// Progress is told how many inputs of a call have their vectors, after each
	// request of several; nil tells nobody. It is called on the call's own
	// goroutine.
	Progress func(done, total int) `json:"-"`
}

// TokenRenewer is a token source that can be told that a token was refused.
type TokenRenewer interface {
	// Refreshable reports whether another token can be had at all.
	Refreshable() bool
	// Invalidate makes the next Token fetch anew, unless the token has changed
	// already.
	Invalidate(token string)
}

// Timeouts bound the phases of a call separately, so that a limit on silence
// never cuts a healthy stream. A zero member leaves that phase unbounded.
type Timeouts struct {
	// Connect bounds DNS, TCP and TLS of a new connection.
	Connect time.Duration
	// FirstByte bounds the wait from the request to the answer's header.
	FirstByte time.Duration
	// Idle bounds the silence between two reads of the answer's body.
	Idle time.Duration
	// Total bounds the whole call: the body of a stream, and pauses between tries,
	// included. Of files and of results of batches that are read after the call, it
	// bounds each request.
	Total time.Duration
}
