package front

import (
	"net/http"
	"slices"
	"strings"

	"github.com/b650d4bf/gateway/providers"
)

// nativePath is what a path of Google's own schema names.
type nativePath struct {
	// model is the model reference, "" for the list of models; method is what is asked
	// of it, "" for what is known of it.
	model, method string
	// project and region are those that the path names the model within.
	project, region string
	// beta says that the path is of a beta version, vertex that it is one of Vertex
	// AI, and not of the Gemini API.
	beta, vertex bool
}

// nativeVersions are the versions that paths begin with, and whether they are beta.
//
// Source: https://pkg.go.dev/google.golang.org/genai#HTTPOptions
var nativeVersions = map[string]bool{"v1": false, "v1beta": true, "v1beta1": true}

// nativePrefixes are the paths that what is in Google's own schema is below. So is
// /v1/models/ by POST, in the table of routes: GET is in the schema of OpenAI there.
var nativePrefixes = []string{
	"/v1beta1/", "/v1beta/", "/v1/projects/", "/v1/publishers/", "/v1/tunedModels/",
	"/upload/v1beta/", "/ws/google.",
}

// google reports whether the route is in Google's own schema.
func (rt *route) google() bool {
	return slices.Contains(nativePrefixes, rt.path) || rt.path == "/v1/models/" && rt.method == http.MethodPost
}

// nativeRoutes are the rows for what is in Google's own schema.
func nativeRoutes() []route {
	var rows []route
	for _, prefix := range nativePrefixes {
		for _, method := range [...]string{http.MethodGet, http.MethodPost, http.MethodPatch, http.MethodDelete} {
			rows = append(rows, route{prefix, method, (*call).native, false})
		}
	}
	return rows
}

// nativeMethods are the methods that go through.
var nativeMethods = []string{
	providers.NativeGenerate, providers.NativeStream, providers.NativeCount, providers.NativeCompute,
	providers.NativeEmbed, providers.NativeBatchEmbed, providers.NativePredict,
}

// unserved says of what Google's schema has beside models what does it here.
//
// Source: https://ai.google.dev/api and
// https://cloud.google.com/vertex-ai/generative-ai/docs/reference/rest
var unserved = map[string]string{
	"cachedContents":      "use /v1/cached_contents; a cachedContent that is named in a request goes through",
	"files":               "use /v1/files, or name a file in a bucket as fileData",
	"files:register":      "use /v1/files, or name a file in a bucket as fileData",
	"upload":              "use /v1/files, or name a file in a bucket as fileData",
	"ws":                  "live sessions are not served: connect to the platform itself",
	"auth_tokens":         "live sessions are not served: connect to the platform itself",
	"batches":             "use /v1/batches",
	"batchPredictionJobs": "use /v1/batches",
	"tuningJobs":          "tune at the platform itself; what was tuned is asked here by its endpoint",
	"operations":          "operations that go on at the platform are not followed",
	"fileSearchStores":    "file search stores are not served",
}

// parseNative reads a path of Google's own schema, unescaped. What it can't mean is
// an error that says so.
func parseNative(path string) (nativePath, error) {
	seg := strings.Split(strings.TrimPrefix(path, "/"), "/")
	for _, s := range seg {
		if s == "" || s == "." || s == ".." {
			return nativePath{}, badPath("the path has an empty segment, or one of dots")
		}
	}
	beta, ok := nativeVersions[seg[0]]
	if !ok {
		return nativePath{}, errUnserved(seg[0])
	}
	p := nativePath{beta: beta, vertex: seg[0] == "v1beta1"}
	seg = seg[1:]
	if len(seg) > 0 && seg[0] == "projects" {
		if len(seg) < 5 || seg[2] != "locations" || !isWord(seg[1], ".:-") || !isWord(seg[3], "-") {
			return nativePath{}, badPath("a path within a project is projects/PROJECT/locations/LOCATION/… of letters, digits and hyphens")
		}
		p.project, p.region, p.vertex = seg[1], seg[3], true
		seg = seg[4:]
	}
	if len(seg) == 0 {
		return nativePath{}, errUnserved("")
	}
	return p, p.resource(seg)
}

// resource reads what is behind version and place.
func (p *nativePath) resource(seg []string) error {
	within := ""
	if p.project != "" {
		within = "projects/" + p.project + "/locations/" + p.region + "/"
	}
	switch kind := seg[0]; {
	case kind == "publishers" && len(seg) >= 3 && seg[2] == "models":
		p.vertex = true
		if len(seg) == 3 {
			return nil
		}
		before := seg[1] + "/"
		if seg[1] == "google" { // as the bare name, which is the same model
			before = ""
		}
		return p.named(before, seg[3:])
	case kind == "models" && within == "":
		if len(seg) == 1 {
			return nil
		}
		return p.named("", seg[1:])
	case kind == "models" && len(seg) == 1:
		return errUnserved("models of a project")
	case kind == "tunedModels" && len(seg) == 2 && within == "",
		(kind == "endpoints" || kind == "models") && len(seg) == 2 && within != "":
		p.project, p.region = "", "" // the name has them
		return p.named(within+kind+"/", seg[1:])
	}
	return errUnserved(seg[0])
}

// named reads the name of a model with what is asked of it.
func (p *nativePath) named(before string, seg []string) error {
	last := seg[len(seg)-1]
	name, method, asked := strings.Cut(last, ":")
	if !asked {
		name = last
	}
	names := append(slices.Clip(seg[:len(seg)-1]), name)
	for i, s := range names {
		if s == "." || s == ".." || !isWord(s, "._-@") || strings.LastIndexByte(s, '@') == 0 && (i > 0 || len(names) == 1) {
			return badPath("the name of a model has letters, digits and . _ - @ only, and one colon before the method, such as models/gemini-2.5-flash:generateContent")
		}
	}
	if before != "" && strings.HasSuffix(before, "/") && !isReference(before) {
		return badPath("the name of a publisher has letters, digits and . _ - only; @slug in its place names a catalog entry")
	}
	p.model, p.method = before+strings.Join(names, "/"), method
	if !asked {
		return nil
	}
	if !slices.Contains(nativeMethods, method) {
		return invalid(http.StatusNotImplemented, "", "the gateway does not pass this method on: it passes "+strings.Join(nativeMethods, ", "))
	}
	return nil
}

// isReference reports whether what stands before a model's name is safe: segments
// of a resource name, or a slug.
func isReference(before string) bool {
	rest, letters := strings.TrimPrefix(strings.TrimSuffix(before, "/"), "@"), "._-"
	if strings.HasPrefix(before, "projects/") {
		letters += ":"
	}
	for s := range strings.SplitSeq(rest, "/") {
		if !isWord(s, letters) {
			return false
		}
	}
	return true
}

func badPath(message string) error { return invalid(http.StatusBadRequest, "", message) }

// errUnserved says that something of Google's schema is not served, and what is.
func errUnserved(kind string) error {
	message := "the gateway does not serve this path of Google's API"
	if hint := unserved[kind]; hint != "" {
		message += ": " + hint
	} else {
		message += ": it serves models/MODEL:METHOD, publishers/PUBLISHER/models/MODEL:METHOD, endpoints/ID:METHOD and tunedModels/ID:METHOD, " +
			"and GET models and publishers/google/models"
	}
	return invalid(http.StatusNotImplemented, "", message)
}
