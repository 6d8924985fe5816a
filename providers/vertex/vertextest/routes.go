package vertextest

import (
	"hash/fnv"
	"net/http"
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
	verb      string

	caches bool   // the path is of explicit caches
	cache  string // the id of one
}

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
	if t.publisher == "" {
		return t.place() + "/endpoints/" + t.model
	}
	return t.place() + "/publishers/" + t.publisher + "/models/" + t.model
}

// route serves one verb of the models of a publisher, of tuned endpoints or of
// explicit caches.
type route struct {
	publisher string // empty for endpoints and caches
	caches    bool
	verb      string
	http      string // method
	rpc       string // service and method, as messages name them
	stream    bool
	serve     func(*exchange) error             // checks a request that has a token
	answer    func(*exchange) (response, error) // the emulator's own
}

// generates reports whether the route answers as a model.
func (r route) generates() bool { return strings.HasSuffix(r.rpc, "GenerateContent") }

// routes is the table of what the emulator serves. Further surfaces add rows.
//
// Sources: https://cloud.google.com/vertex-ai/generative-ai/docs/model-reference/inference,
// https://cloud.google.com/vertex-ai/generative-ai/docs/model-reference/count-tokens and
// https://cloud.google.com/vertex-ai/generative-ai/docs/context-cache/context-cache-create
func routes() []route {
	const (
		predict = "PredictionService.GenerateContent"
		stream  = "PredictionService.StreamGenerateContent"
		count   = "LlmUtilityService.CountTokens"
		caches  = "GenAiCacheService."
		post    = http.MethodPost
	)
	embed := func(publisher, verb, method string, answer func(*exchange) (response, error)) route {
		return route{publisher: publisher, verb: verb, http: post, rpc: "PredictionService." + method, serve: checkEmbed, answer: answer}
	}
	return []route{
		embed("google", "predict", "Predict", answerPredict),
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

// parsePath reads a resource path with a verb, or that of a cache, whose verb is
// in the method. It reports false for anything that the platform's front ends
// have no route for.
func parsePath(method, path string) (target, bool) {
	seg := strings.Split(strings.TrimPrefix(path, "/"), "/")
	if len(seg) < 6 || seg[1] != "projects" || seg[3] != "locations" || (seg[0] != "v1" && seg[0] != "v1beta1") {
		return target{}, false
	}
	t := target{version: seg[0], project: seg[2], location: seg[4]}
	switch {
	case len(seg) <= 7 && seg[5] == "cachedContents":
		t.caches, t.cache = true, strings.Join(seg[6:], "/")
		t.verb = cacheVerb(method, len(seg) == 7)
		return t, t.project != "" && t.location != "" && t.verb != "" && (len(seg) == 6) == (t.cache == "")
	case len(seg) == 7 && seg[5] == "endpoints":
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
	whole := t.project != "" && t.location != "" && t.model != "" && t.verb != ""
	return t, whole && (len(seg) == 7 || t.publisher != "")
}

// findRoute returns the route of a target. A verb that is served for some
// publisher but not for this one is known, though nobody serves it.
func findRoute(t target) (found route, known bool) {
	for _, r := range routes() {
		if r.verb != t.verb || r.caches != t.caches {
			continue
		}
		if r.publisher == t.publisher {
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
