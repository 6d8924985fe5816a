// Package vertextest emulates the chat surfaces of the Vertex AI platform: Gemini,
// Claude, the models that speak OpenAI's language, and endpoints of users. It also
// answers for the Gemini API, which has Gemini in Google's own service.
//
// It is to this platform what [net/http/httptest] is to HTTP: tests, examples
// and newcomers run against it with no credentials and no network. A [Server]
// is an [http.Handler]. It can be reached in memory through [Server.Transport],
// which also works inside a testing/synctest bubble, or over a loopback socket
// through [Server.Start].
//
//	srv := vertextest.New()
//	defer srv.Close()
//	client := &http.Client{Transport: srv.Transport()}
//
// # Checks
//
// A request is refused where the platform would refuse it, with an error body
// of the platform's own shape: missing or wrong bearer token, malformed JSON,
// members the published schema doesn't know, broken turn order, unpaired
// function calls, missing or altered thought signatures, thinking settings of
// the wrong generation, parameters a generation no longer takes, tools, media
// types and forms of schemas a model doesn't take, references that lead nowhere,
// and more. See [Check] and [CheckMessages] for the shape of a body alone.
// [WithoutChecks] switches the body checks off; [WithRefusedField],
// [WithoutCallIDs] and [WithoutPermission] add refusals, to test how a client
// learns from one.
//
// # Wires
//
//   - publishers/google and tuned endpoints: Gemini.
//   - publishers/anthropic, rawPredict and streamRawPredict: the Messages API, and
//     its counting of tokens at the model count-tokens.
//   - /v1/messages and /v1/messages/count_tokens, without a project: Anthropic's own
//     API, with an API key in x-api-key, for which the options about tokens count.
//   - endpoints/openapi/chat/completions: the open models that the platform
//     serves, by publisher and name in the body.
//   - publishers/mistralai, rawPredict and streamRawPredict: Mistral, which refuses
//     members that it doesn't know, with a 422.
//   - endpoints/ID/chat/completions, endpoints/ID:predict and :streamRawPredict,
//     whose events are {"text":…} with a finish_reason at last: a model server of a
//     user, which [WithDeployed] adds. A dedicated endpoint is refused at the
//     shared hosts, and GET of the endpoint tells its own.
//   - /v1/chat/completions: OpenAI's own API, with the token as API key. It has
//     every model but those whose names begin with no-such-model.
//   - /v1beta/models and /v1beta/tunedModels: the Gemini API, Google's own service,
//     with a key in x-goog-api-key: answers, streams, counts and vectors. It has
//     no explicit caches here.
//
// Faults that a model finds come in the model's envelope; those of the platform,
// such as a missing token, an unknown model or a quota, in Google's.
//
// # Answers
//
// Without a script the emulator answers by itself, the same way for the same
// request:
//
//   - A text is echoed (You said: "…".), a greeting is greeted.
//   - With function declarations and a user text as last content, every
//     function is called whose name or description shares a word with the text,
//     once per declared function, or once per place when the text joins several
//     places with "and" ("in Paris and Rome") and the function requires a place.
//     Mode ANY always calls, NONE never does, allowedFunctionNames is honoured.
//     Arguments are made up from the declared schema and the user's words.
//   - After function responses the answer quotes the results.
//   - A JSON response type gives JSON that fits the response schema.
//   - Image models draw a picture of 256 pixels at its longer edge, as PNG or
//     JPEG. It depends on the text and on the images of the conversation.
//   - Speaking models give a beep per word, as PCM.
//   - Tools that search ground the answer in two made-up sources. The offsets
//     are bytes, and the answer has characters of several bytes. A greeting
//     needs no search, and its grounding is empty.
//   - urlContext reads the addresses of the text; those below .invalid fail.
//   - codeExecution adds up the numbers of the text.
//   - computerUse goes to the address of the text, or opens a browser.
//   - With streamFunctionCallArguments the arguments of calls come in pieces.
//   - The chain of thought of gemini-2.0-flash-thinking always comes first.
//   - Thoughts, thought signatures, usage, maxOutputTokens, stopSequences and
//     candidateCount follow the facts of the model's generation.
//   - A Claude cites two made-up pages with its web search tool, reads and writes
//     the cache of prefixes marked by cache_control, and keeps its thoughts to
//     itself where the model does. The documented magic strings make it think in
//     secret, or refuse.
//   - Reasoning models on OpenAI's wire show reasoning_content.
//
// [Server.Script] queues replies that are given instead, one per request:
//
//	srv.Script(
//		vertextest.RateLimited(2*time.Second),
//		vertextest.Text("Hello there.").Paced(50*time.Millisecond),
//		vertextest.Text("This one breaks off.").CutAfterEvents(2),
//	)
//
// # Other calls
//
// predict, embedContent and batchEmbedContents give vectors of the models that
// embed. Texts that share words have vectors that are close, and the same input
// has the same vector each time. [WithMaxInstances] sets how many inputs one
// request may have; [Server.ScriptVerb] scripts replies.
//
// predict of Imagen's models draws as image models do, in the shape asked for; an
// edit has the shape of its image. With storageUri the images are only named. No
// image is filtered out but by a script. rankingConfigs/default_ranking_config:rank,
// of the ranking service, orders records by the words that they share with the
// query.
//
// countTokens counts as the usage of an answer does. Explicit caches can be
// created, read, listed, changed and deleted; they end in time, and a request
// that names one has its contents and tools. As long as none was created, a
// request may name any cache, which counts as 2048 tokens.
//
// # Caveats
//
//   - The emulator takes canonical JSON only: lowerCamelCase names, enum values
//     in upper case, arrays where arrays belong. The platform is more lenient.
//   - A token is one character in four, and text is cut at that measure. Count
//     relations, not numbers. Thinking is billed against maxOutputTokens, so a
//     small limit on a thinking model may leave no room for an answer, as on
//     the platform.
//   - Models are a table of names; any other name is a 404. Add your own with
//     [WithModel]. Newer models exist in global, us and eu only.
//   - A Claude's stream flag has to agree with the verb. Whether Vertex takes other
//     roles than user and assistant with some beta isn't known: they are refused.
//   - Thoughts of a Claude are bound to their text, not to model or project.
//   - A socket of the emulator stands for shared and dedicated hosts alike.
//   - Gemini, embeddings and images on endpoints/openapi aren't served.
//   - Budgets on Gemini 3 fail on the platform some of the time; here always.
//     A mismatch of function responses on Gemini 3.0 to 3.5 isn't an error but
//     an empty answer, as documented.
//   - A signature is bound to model family and project, that of a function call
//     also to name and arguments. It is checked from 3.6 on, in the current turn
//     only; older models ignore a wrong one.
//   - A pattern in a response schema is not honoured by made-up values.
//   - Empty arrays and objects have no place in streamed arguments.
//   - imageSize is checked and has no effect. Quality isn't looked at.
//   - A unary answer is compressed when gzip is accepted, unless a script gives
//     its bytes or cuts them.
//   - Where the wording of an error isn't published, the emulator's is its own;
//     depend on code and status.
package vertextest
