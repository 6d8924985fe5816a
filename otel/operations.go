package gatewayotel

import (
	"errors"
	"strings"

	"github.com/b650d4bf/gateway/providers"
)

// family is which metrics an operation is counted by.
type family uint8

// The families of operations.
const (
	other      family = iota // gen_ai.client.operation.duration alone
	inference                // those of inference
	embeddings               // gen_ai.client.operation.duration, and the tokens
)

// operation is how the conventions call what the gateway does. An operation that has
// no row keeps its name: the conventions allow custom ones.
type operation struct {
	own    string // of the gateway: an operation, or a schema
	name   string
	family family
	note   string // for people
}

// operationRows are the operations that the conventions have names for.
//
// Source: https://github.com/open-telemetry/semantic-conventions-genai/blob/main/docs/registry/attributes/gen-ai.md
var operationRows = []operation{
	{"chat", "chat", inference, "chat completions, and messages of Anthropic's schema"},
	{providers.SchemaTextCompletion, "text_completion", inference, "text completions: one call for each prompt"},
	{providers.SchemaGenerateContent, "generate_content", inference, "the Gemini API's own schema"},
	{"images", "generate_content", inference, "images, told by gen_ai.output.type"},
	{"speech", "generate_content", inference, "speech, told by gen_ai.output.type"},
	{"embeddings", "embeddings", embeddings, "vectors"},
}

// operationOf finds the operation of a call.
func operationOf(c *providers.Call) operation {
	own := c.Operation
	if p := c.Parameters; p != nil && p.Schema != "" {
		own = p.Schema
	}
	for _, o := range operationRows {
		if o.own == own {
			return o
		}
	}
	return operation{own: own, name: c.Operation}
}

// providerRows are the names of providers by the gateway's ids.
//
// Source: https://github.com/open-telemetry/semantic-conventions-genai/blob/main/docs/registry/attributes/gen-ai.md
var providerRows = []struct{ own, name string }{
	{"vertex-ai", "gcp.vertex_ai"},
	{"google", "gcp.gemini"},
	{"anthropic", "anthropic"},
	{"openai", "openai"},
}

// noProvider is the provider of calls that the gateway refused by itself.
const noProvider = "gateway"

// provider is the name of a provider. An id that has no row is kept.
func (o *Observer) provider(id, slug string) string {
	if id == "" {
		return noProvider
	}
	if f := o.opts.ProviderName; f != nil {
		if name := f(id, slug); name != "" {
			return name
		}
	}
	for _, p := range providerRows {
		if p.own == id {
			return p.name
		}
	}
	return id
}

// errorTypes are the codes that become an error.type: few, and none of them made of
// what a platform or a user said.
//
// Source: https://github.com/open-telemetry/semantic-conventions/blob/v1.44.0/docs/registry/attributes/error.md
var errorTypes = map[providers.Code]string{
	providers.ErrInvalidRequest:   "the request is wrong",
	providers.ErrInvalidConfig:    "an option, catalog or setting is wrong or missing",
	providers.ErrProviderNotFound: "no such slug in the catalog",
	providers.ErrModelNotFound:    "the platform does not have the model there",
	providers.ErrCacheNotFound:    "no such cached content",
	providers.ErrPromptNotFound:   "no such prompt, version or label",
	providers.ErrFileNotFound:     "no such file",
	providers.ErrBatchNotFound:    "no such batch",
	providers.ErrNotFound:         "no such record in the log",
	providers.ErrTooLarge:         "a body is over its limit",
	providers.ErrContextLength:    "more tokens than the model takes",
	providers.ErrOneToolOnly:      "the model takes one kind of tool at a time",
	providers.ErrContentFilter:    "the prompt was blocked",
	providers.ErrGuardDenied:      "a guard refused it",
	providers.ErrAuthentication:   "no valid credentials",
	providers.ErrPermission:       "valid credentials without the right",
	providers.ErrRateLimited:      "too many requests, or no capacity",
	providers.ErrQuotaExceeded:    "the quota is used up",
	providers.ErrTimeout:          "a limit of time ran out",
	providers.ErrCanceled:         "the caller gave up, or closed a stream before its end",
	providers.ErrUnavailable:      "the platform is overloaded or down",
	providers.ErrServer:           "the platform failed",
	providers.ErrConnection:       "no connection, or it broke before an answer",
	providers.ErrStreamCut:        "the answer ended before it was whole",
	providers.ErrBadResponse:      "the platform's answer can't be understood",
	providers.ErrEmptyResponse:    "the platform answered with nothing",
	providers.ErrClosed:           "the client was closed",
}

// otherError is the type of errors that have none.
const otherError = "_OTHER"

// errorType is the type of a code, which a provider of the user's own may have made
// up.
func errorType(code providers.Code) string {
	if _, ok := errorTypes[code]; ok {
		return string(code)
	}
	return otherError
}

// errorOf is the type of the error that a call ended with, "" for none.
func errorOf(err error) string {
	if err == nil {
		return ""
	}
	if e, ok := errors.AsType[*providers.Error](err); ok {
		return errorType(e.Code)
	}
	return otherError
}

// bare is a model reference without its slug.
func bare(model string) string {
	if strings.HasPrefix(model, "@") {
		if _, name, ok := strings.Cut(model, "/"); ok {
			return name
		}
	}
	return model
}
