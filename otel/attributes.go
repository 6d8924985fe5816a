package gatewayotel

import "go.opentelemetry.io/otel/attribute"

// The pages that rows are from.
const (
	genaiPages     = "https://github.com/open-telemetry/semantic-conventions-genai/blob/main/docs/"
	inferencePage  = genaiPages + "gen-ai/client-inference.md#span-gen_aiclientinference"
	embeddingsPage = genaiPages + "gen-ai/gen-ai-spans.md#embeddings"
	registryPage   = genaiPages + "registry/attributes/gen-ai.md"
	tokensPage     = genaiPages + "gen-ai/gen-ai-token-metrics.md"
	migrationPage  = genaiPages + "gen-ai/non-normative/migration.md"
	formerPage     = "https://github.com/open-telemetry/semantic-conventions/blob/v1.41.0/docs/gen-ai/gen-ai-metrics.md"
	serverPage     = "https://github.com/open-telemetry/semantic-conventions/blob/v1.44.0/docs/registry/attributes/server.md"
	errorPage      = "https://github.com/open-telemetry/semantic-conventions/blob/v1.44.0/docs/registry/attributes/error.md"
	httpPage       = "https://github.com/open-telemetry/semantic-conventions/blob/v1.44.0/docs/registry/attributes/http.md"
	ownPage        = "" // a name of this module's own
)

// place is where an attribute is set.
type place uint8

// The places of attributes.
const (
	onCall place = 1 << iota
	onAttempt
	onEvent
	onMetric
)

// row is what an attribute is.
type row struct {
	key  attribute.Key
	kind attribute.Type
	on   place
	when string // for people
	page string
}

const (
	call    = onCall
	all     = onCall | onAttempt | onMetric
	integer = attribute.INT64
	double  = attribute.FLOAT64
	text    = attribute.STRING
	texts   = attribute.STRINGSLICE
	truth   = attribute.BOOL
)

// attributeRows are all attributes that are set, by any conventions.
var attributeRows = []row{
	{keyOperation, text, call | onMetric, "always; see the operations below", inferencePage},
	{keyProvider, text, all, "always; `gateway` for a call that was refused before a provider was found", inferencePage},
	{keyRequestModel, text, all, "the model that was asked, without the slug; in a span's beginning the one that the caller named; metrics leave out one that there is not", inferencePage},
	{keyStream, truth, call, "true for streams, else left out", inferencePage},
	{keyMaxTokens, integer, call, "as the caller gave it", inferencePage},
	{keyTemperature, double, call, "as the caller gave it", inferencePage},
	{keyTopP, double, call, "as the caller gave it", inferencePage},
	{keyTopK, integer, call, "as the caller gave it", inferencePage},
	{keySeed, integer, call, "as the caller gave it", inferencePage},
	{keyStop, texts, call, "as the caller gave them", inferencePage},
	{keyPresence, double, call, "as the caller gave it", inferencePage},
	{keyFrequency, double, call, "as the caller gave it", inferencePage},
	{keyChoices, integer, call, "as the caller gave it, unless 1", inferencePage},
	{keyReasoning, text, call, "reasoning_effort, as the caller gave it", inferencePage},
	{keyEncoding, texts, call, "encoding_format of embeddings", embeddingsPage},
	{keyDimensions, integer, call, "dimensions of embeddings", embeddingsPage},
	{keyOutputType, text, call, "by response_format and modalities; image and speech for those operations", inferencePage},
	{keyConversation, text, call, "the metadata of `Options.ConversationKey`", inferencePage},
	{keyPromptName, text, call, "the stored prompt that made the request", inferencePage},
	{keyPromptVersion, text, call, "its version", inferencePage},
	{keyResponseID, text, call, "the platform's", inferencePage},
	{keyResponseModel, text, call | onMetric, "the platform's", inferencePage},
	{keyFinishReasons, texts, call, "one for each choice; `error` for a choice that broke off", inferencePage},
	{keyFirstChunk, double, call, "of streams, in seconds", inferencePage},
	{keyInputTokens, integer, call, "cached ones included; not for answers of the response cache", inferencePage},
	{keyOutputTokens, integer, call, "reasoning included; not for answers of the response cache", inferencePage},
	{keyCacheRead, integer, call, "from the platform's context cache, when there were any", inferencePage},
	{keyCacheWrite, integer, call, "into the platform's context cache, when there were any", inferencePage},
	{keyCacheCreation, integer, call, "the former name of " + string(keyCacheWrite), migrationPage},
	{keyReasoningOut, integer, call, "when there were any", inferencePage},
	{keyTextInput, integer, call, "where the platform breaks the count down", inferencePage},
	{keyAudioInput, integer, call, "when there were any", inferencePage},
	{keyImageInput, integer, call, "when there were any", inferencePage},
	{keyTextOutput, integer, call, "where the platform breaks the count down", inferencePage},
	{keyAudioOutput, integer, call, "when there were any", inferencePage},
	{keyImageOutput, integer, call, "when there were any", inferencePage},
	{keyInputMessages, text, call, "with `Options.Content`: JSON", inferencePage},
	{keyOutputMessages, text, call, "with `Options.Content`: JSON", inferencePage},
	{keySystem, text, call, "with `Options.Content`: JSON", inferencePage},
	{keyTools, text, call, "with `Options.Content`: JSON", inferencePage},
	{keyModality, text, onMetric, "of the counters of tokens", tokensPage},
	{keyTokenType, text, onMetric, "of the former histogram of tokens", formerPage},
	{keyServer, text, all, "of the request that answered, or the last one", serverPage},
	{keyPort, integer, all, "likewise", serverPage},
	{keyError, text, all | onEvent, "the code of the error; see the errors below", errorPage},
	{keyStatus, integer, onAttempt, "when there was an answer", httpPage},
	{keyResend, integer, onAttempt, "of a retry: how many requests to the target failed before", httpPage},

	{keyRequestID, text, call, "the gateway's id of the call, as in logs and x-gateway-request-id", ownPage},
	{keyAsked, text, call, "the model reference of the caller, where another model was asked", ownPage},
	{keySurface, text, call, "`go`, `http` or `transport`", ownPage},
	{keyConfig, text, call, "the config of the catalog", ownPage},
	{keyKey, text, call, "a digest of the gateway's API key", ownPage},
	{keySlug, text, call | onAttempt, "the catalog's entry", ownPage},
	{keyTarget, text, onAttempt | onEvent, "the target's place in the config", ownPage},
	{keyAttempts, integer, call, "how many requests were sent; 0 for an answer of the response cache", ownPage},
	{keyHedges, integer, call, "how many of them were hedges, when there were any", ownPage},
	{keyNumber, integer, onAttempt, "from 1", ownPage},
	{keyHedged, truth, onAttempt, "true for a hedge, else left out", ownPage},
	{keyWait, double, onAttempt, "seconds that the request waited for its turn", ownPage},
	{keySkipped, text, onEvent, "`cooldown`, `limit`, `retry_budget` or `max_attempts`", ownPage},
	{keyRetries, integer, call, "requests to the target that answered, the first included; -1 when retries failed; left out without any", ownPage},
	{keyFallback, truth, call, "true when the way led through a fallback, else left out", ownPage},
	{keyBalanced, truth, call, "true when the way led through a load balancer, else left out", ownPage},
	{keyCache, text, call | onMetric, "`disabled`, `miss`, `refreshed`, `hit` or `semantic-hit`", ownPage},
	{keyShared, truth, call, "true when another call had the answer made, else left out", ownPage},
	{keyAge, double, call, "of a hit: how old the answer is, in seconds", ownPage},
	{keySimilarity, double, call, "of a semantic hit", ownPage},
	{keySavedInput, integer, call, "of an answer without a request: what it had cost", ownPage},
	{keySavedOutput, integer, call, "likewise", ownPage},
	{keyWarnings, integer, call, "when there were any", ownPage},
	{keyDenied, texts, call, "the guards that found fault", ownPage},
	{keyCut, truth, call, "true when content was left out for its size", ownPage},
}
