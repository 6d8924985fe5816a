package vertextest

import (
	"net/http"
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
}

// resource returns the resource name the platform uses in messages.
func (t target) resource() string {
	place := "projects/" + t.project + "/locations/" + t.location
	if t.publisher == "" {
		return place + "/endpoints/" + t.model
	}
	return place + "/publishers/" + t.publisher + "/models/" + t.model
}

// route serves one verb of the models of a publisher, or of tuned endpoints.
type route struct {
	publisher string // empty for endpoints
	verb      string
	method    string // name of the RPC
	stream    bool
	serve     func(*exchange) error // checks a request that has a token
}

// routes is the table of what the emulator serves. Further surfaces add rows.
//
// Source: https://cloud.google.com/vertex-ai/generative-ai/docs/model-reference/inference
func routes() []route {
	return []route{
		{publisher: "google", verb: "generateContent", method: "GenerateContent", serve: checkGenerate},
		{publisher: "google", verb: "streamGenerateContent", method: "StreamGenerateContent", stream: true, serve: checkGenerate},
		{verb: "generateContent", method: "GenerateContent", serve: checkGenerate},
		{verb: "streamGenerateContent", method: "StreamGenerateContent", stream: true, serve: checkGenerate},
	}
}

// parsePath reads a resource path with a verb. It reports false for anything
// that the platform's front ends have no route for.
func parsePath(path string) (target, bool) {
	seg := strings.Split(strings.TrimPrefix(path, "/"), "/")
	if len(seg) < 7 || seg[1] != "projects" || seg[3] != "locations" || (seg[0] != "v1" && seg[0] != "v1beta1") {
		return target{}, false
	}
	t := target{version: seg[0], project: seg[2], location: seg[4]}
	switch {
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
		if r.verb != t.verb {
			continue
		}
		if r.publisher == t.publisher {
			return r, true
		}
		known = known || t.publisher != ""
		found = route{verb: r.verb, method: r.method, stream: r.stream}
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
