package vertextest

import (
	"cmp"
	"hash/fnv"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// target is what a request path names.
type target struct {
	version   string // v1 or v1beta1
	project   string
	location  string
	publisher string // empty for an endpoint
	model     string // or the endpoint's id
	named     string // the model in the body, on the endpoint that all share
	verb      string

	direct bool   // the path is of the Gemini API, not of Vertex AI
	caches bool   // the path is of explicit caches
	cache  string // the id of one
	own    bool   // the path is of Anthropic's own API
}

// called is the model that requests and scripts know the target by.
func (t target) called() string { return cmp.Or(t.named, t.model) }

// place returns the resource name of the location.
func (t target) place() string { return "projects/" + t.project + "/locations/" + t.location }

// numbered returns the resource name of the location with the project's number,
// as the platform names what it keeps.
func (t target) numbered() string {
	return "projects/" + projectNumber(t.project) + "/locations/" + t.location
}

// cacheName returns the resource name of the cache.
func (t target) cacheName() string { return t.numbered() + "/cachedContents/" + t.cache }

// projectNumber returns the number of a project, twelve digits made up from its
// id. A number is its own.
func projectNumber(project string) string {
	if _, err := strconv.ParseUint(project, 10, 64); err == nil {
		return project
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(project))
	return strconv.FormatUint(100_000_000_000+h.Sum64()%900_000_000_000, 10)
}

// resource returns the resource name the platform uses in messages.
func (t target) resource() string {
	if t.direct {
		return t.directName()
	}
	if t.publisher == "" {
		return t.place() + "/endpoints/" + t.model
	}
	return t.place() + "/publishers/" + t.publisher + "/models/" + t.model
}

// wire is the language of a route's bodies.
type wire int

const (
	wireGemini  wire = iota
	wireClaude       // the Messages API
	wireMaaS         // OpenAI's, of the models that the platform serves
	wireServed       // OpenAI's, of a server on an endpoint
	wireMistral      // OpenAI's, with Mistral's own members and refusals
	wirePredict      // instances and predictions
	wireOpenAI       // OpenAI's, of its own API
)

// route serves one verb of the models of a publisher, of tuned endpoints or of
// explicit caches.
type route struct {
	publisher string // empty for endpoints and caches
	model     string // of a row for one model, empty for all
	caches    bool
	own       bool // of Anthropic's own API
	wire      wire
	speaks    bool // answers as a model in another language than Gemini's
	verb      string
	http      string // method
	rpc       string // service and method, as messages name them
	stream    bool
	serve     func(*exchange) error             // checks a request that has a token
	answer    func(*exchange) (response, error) // the emulator's own
}

// generates reports whether the route answers as a model.
func (r route) generates() bool { return r.speaks || strings.HasSuffix(r.rpc, "GenerateContent") }

// routes is the table of what the emulator serves. Further surfaces add rows.
//
// Sources: https://cloud.google.com/vertex-ai/generative-ai/docs/model-reference/inference,
// https://cloud.google.com/vertex-ai/generative-ai/docs/model-reference/count-tokens,
// https://cloud.google.com/vertex-ai/generative-ai/docs/context-cache/context-cache-create,
// https://cloud.google.com/vertex-ai/generative-ai/docs/partner-models/claude/use-claude,
// https://cloud.google.com/vertex-ai/generative-ai/docs/partner-models/claude/count-tokens,
// https://cloud.google.com/vertex-ai/generative-ai/docs/partner-models/mistral,
// https://cloud.google.com/vertex-ai/generative-ai/docs/maas/call-open-model-apis,
// https://cloud.google.com/generative-ai-app-builder/docs/ranking and
// https://cloud.google.com/vertex-ai/docs/reference/rest/v1/projects.locations.endpoints
func routes() []route {
	const (
		predict = "PredictionService.GenerateContent"
		stream  = "PredictionService.StreamGenerateContent"
		count   = "LlmUtilityService.CountTokens"
		caches  = "GenAiCacheService."
		raw     = "PredictionService.RawPredict"
		rawSSE  = "PredictionService.StreamRawPredict"
		chat    = "PredictionService.ChatCompletions"
		post    = http.MethodPost
	)
	embed := func(publisher, verb, method string, answer func(*exchange) (response, error)) route {
		return route{publisher: publisher, verb: verb, http: post, rpc: "PredictionService." + method, serve: checkEmbed, answer: answer}
	}
	return []route{
		{publisher: "google", verb: "predict", http: post, rpc: "PredictionService.Predict", serve: checkGooglePredict, answer: answerGooglePredict},
		{model: rankConfig, verb: "rank", http: post, rpc: "RankService.Rank", serve: checkRank, answer: answerRank},
		embed("google", "embedContent", "EmbedContent", answerEmbed),
		embed("google", "batchEmbedContents", "BatchEmbedContents", answerEmbed),
		embed("intfloat", "embedContent", "EmbedContent", answerEmbed),
		embed("intfloat", "batchEmbedContents", "BatchEmbedContents", answerEmbed),
		{publisher: "google", verb: "generateContent", http: post, rpc: predict, serve: checkGenerate, answer: ownAnswer},
		{publisher: "google", verb: "streamGenerateContent", http: post, rpc: stream, stream: true, serve: checkGenerate, answer: ownAnswer},
		{publisher: "google", verb: "countTokens", http: post, rpc: count, serve: checkCount, answer: countTokens},
		{verb: "generateContent", http: post, rpc: predict, serve: checkGenerate, answer: ownAnswer},
		{verb: "streamGenerateContent", http: post, rpc: stream, stream: true, serve: checkGenerate, answer: ownAnswer},
		{verb: "countTokens", http: post, rpc: count, serve: checkCount, answer: countTokens},
		{publisher: "anthropic", model: countModel, verb: "rawPredict", http: post, rpc: raw, wire: wireClaude, serve: checkClaudeCount, answer: countClaude},
		{publisher: "anthropic", verb: "rawPredict", http: post, rpc: raw, wire: wireClaude, speaks: true, serve: checkClaude, answer: ownAnswer},
		{publisher: "anthropic", verb: "streamRawPredict", http: post, rpc: rawSSE, stream: true, wire: wireClaude, speaks: true, serve: checkClaude, answer: ownAnswer},
		{publisher: "anthropic", verb: messagesVerb, own: true, http: post, wire: wireClaude, speaks: true, serve: checkOwnClaude, answer: ownAnswer},
		{publisher: "anthropic", verb: countVerb, own: true, http: post, wire: wireClaude, serve: checkOwnCount, answer: countClaude},
		{publisher: "mistralai", verb: "rawPredict", http: post, rpc: raw, wire: wireMistral, speaks: true, serve: checkChat, answer: ownAnswer},
		{publisher: "mistralai", verb: "streamRawPredict", http: post, rpc: rawSSE, stream: true, wire: wireMistral, speaks: true, serve: checkChat, answer: ownAnswer},
		{model: sharedEndpoint, verb: chatVerb, http: post, rpc: chat, wire: wireMaaS, speaks: true, serve: checkChat, answer: ownAnswer},
		{model: openaiServer, verb: chatVerb, http: post, rpc: chat, wire: wireOpenAI, speaks: true, serve: checkChat, answer: ownAnswer},
		{verb: chatVerb, http: post, rpc: chat, wire: wireServed, speaks: true, serve: checkChat, answer: ownAnswer},
		{verb: "predict", http: post, rpc: "PredictionService.Predict", wire: wirePredict, speaks: true, serve: checkPredict, answer: answerPredict},
		{verb: "streamRawPredict", http: post, rpc: rawSSE, stream: true, wire: wirePredict, speaks: true, serve: checkPredict, answer: answerPredict},
		{verb: "getEndpoint", http: http.MethodGet, rpc: "EndpointService.GetEndpoint", serve: checkEndpoint, answer: getEndpoint},
		{caches: true, verb: "createCachedContent", http: post, rpc: caches + "CreateCachedContent", serve: checkCreateCache, answer: createCache},
		{caches: true, verb: "listCachedContents", http: http.MethodGet, rpc: caches + "ListCachedContents", serve: checkNothing, answer: listCaches},
		{caches: true, verb: "getCachedContent", http: http.MethodGet, rpc: caches + "GetCachedContent", serve: checkFindCache, answer: getCache},
		{caches: true, verb: "updateCachedContent", http: http.MethodPatch, rpc: caches + "UpdateCachedContent", serve: checkUpdateCache, answer: updateCache},
		{caches: true, verb: "deleteCachedContent", http: http.MethodDelete, rpc: caches + "DeleteCachedContent", serve: checkFindCache, answer: deleteCache},
	}
}

// checkNothing takes a request that has no body.
func checkNothing(*exchange) error { return nil }

// cacheVerb returns the verb that a method stands for on the collection of
// caches, or on one of them.
func cacheVerb(method string, one bool) string {
	switch {
	case method == http.MethodPost && !one:
		return "createCachedContent"
	case method == http.MethodGet && !one:
		return "listCachedContents"
	case method == http.MethodGet:
		return "getCachedContent"
	case method == http.MethodPatch && one:
		return "updateCachedContent"
	case method == http.MethodDelete && one:
		return "deleteCachedContent"
	}
	return ""
}

// endpointVerb returns what a method stands for on an endpoint, or on a path of
// the server behind it.
func endpointVerb(method string, path []string) string {
	switch {
	case len(path) == 0 && method == http.MethodGet:
		return "getEndpoint"
	case strings.Join(path, "/") == chatVerb:
		return chatVerb
	}
	return ""
}

// parseOwnPath reads a path of a vendor's own service.
func parseOwnPath(path string) (target, bool) {
	if path == openaiPath {
		return target{version: "v1", model: openaiServer, verb: chatVerb}, true
	}
	if t, ok := parseClaudePath(path); ok {
		return t, true
	}
	return parseDirect(path)
}

// parsePath reads a resource path with a verb, or that of a cache, whose verb is
// in the method. It reports false for anything that the platform's front ends
// have no route for.
func parsePath(method, path string) (target, bool) {
	seg := strings.Split(strings.TrimPrefix(path, "/"), "/")
	if len(seg) < 6 || seg[1] != "projects" || seg[3] != "locations" || !slices.Contains([]string{"v1", "v1beta1"}, seg[0]) {
		return target{}, false
	}
	t := target{version: seg[0], project: seg[2], location: seg[4]}
	if t.project == "" || t.location == "" {
		return target{}, false
	}
	switch {
	case len(seg) <= 7 && seg[5] == "cachedContents":
		t.caches, t.cache = true, strings.Join(seg[6:], "/")
		t.verb = cacheVerb(method, len(seg) == 7)
		return t, t.verb != "" && (len(seg) == 6) == (t.cache == "")
	case seg[5] == "endpoints" && (len(seg) > 7 || len(seg) == 7 && method == http.MethodGet):
		t.model, t.verb = seg[6], endpointVerb(method, seg[7:])
		return t, t.model != "" && t.verb != "" && !strings.Contains(t.model, ":")
	case len(seg) == 7 && (seg[5] == "endpoints" || seg[5] == "rankingConfigs" && seg[6] == rankConfig+":rank"):
	case len(seg) == 9 && seg[5] == "publishers" && seg[7] == "models":
		t.publisher = seg[6]
	default:
		return target{}, false
	}
	last := seg[len(seg)-1]
	at := strings.LastIndexByte(last, ':')
	if at < 0 {
		return target{}, false
	}
	t.model, t.verb = last[:at], last[at+1:]
	return t, t.model != "" && t.verb != "" && (len(seg) == 7 || t.publisher != "")
}

// findRoute returns the route of a target. A verb that is served for some
// publisher but not for this one is known, though nobody serves it.
func findRoute(t target) (found route, known bool) {
	for _, r := range routes() {
		if r.verb != t.verb || r.caches != t.caches || r.own != t.own {
			continue
		}
		if r.publisher == t.publisher && (r.model == "" || r.model == t.model) {
			return r, true
		}
		known = known || t.publisher != ""
		found = route{verb: r.verb, http: r.http, rpc: r.rpc, stream: r.stream}
	}
	return found, known
}

// bearer returns the token of an Authorization header.
func bearer(h http.Header) string {
	scheme, token, ok := strings.Cut(h.Get("Authorization"), " ")
	if !ok || !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(token)
}
