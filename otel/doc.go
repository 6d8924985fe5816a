// Package gatewayotel makes OpenTelemetry spans and metrics of the calls of a
// gateway client, by the semantic conventions for generative AI. It is named after
// the module so that it stands beside go.opentelemetry.io/otel without an alias.
//
//	observer, err := gatewayotel.New(gatewayotel.Options{})
//	if err != nil { … }
//	client, err := gateway.New(gateway.WithObserver(observer), …)
//
// Each call is one CLIENT span, over all retries and fallbacks and, for a stream, to
// its end. Below it is one span for each request that was sent, and an event for
// each target that was passed over. A span of the caller's context is the parent, so
// that a call over HTTP continues the trace of its request where the gateway's
// handler is wrapped by otelhttp.
//
// Prompts and answers are left out unless [Options.Content] asks for them, and
// errors are told by their codes alone.
//
// # Names
//
// All names are in docs/telemetry.md, each with its page. The conventions are in
// development: a name of theirs may change with a version of this module. What they
// have no name for is below gateway. of our own.
//
// # Caveats
//
// The provider, the server and the model that answered are known when a call has
// ended: samplers do not see them. Speech and whole answers have no chunks.
package gatewayotel
