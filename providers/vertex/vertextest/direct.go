package vertextest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// keyHeader is the header that the Gemini API takes a key in.
//
// Source: https://ai.google.dev/gemini-api/docs/api-key
const keyHeader = "X-Goog-Api-Key"

// parseDirect reads a path of the Gemini API, such as
// /v1beta/models/NAME:generateContent. Its models are those of google, in one
// place.
//
// Source: https://ai.google.dev/api
func parseDirect(path string) (target, bool) {
	rest, ok := strings.CutPrefix(path, "/v1beta/")
	if !ok {
		return target{}, false
	}
	kind, last, _ := strings.Cut(rest, "/")
	name, verb, ok := strings.Cut(last, ":")
	t := target{version: "v1beta", location: "global", model: name, verb: verb, direct: true}
	switch kind {
	case "models":
		t.publisher = "google"
	case "tunedModels":
	default:
		return target{}, false
	}
	known := slices.Contains([]string{"generateContent", "streamGenerateContent", "countTokens", "embedContent", "batchEmbedContents"}, verb)
	return t, ok && known && name != "" && !strings.Contains(name, "/")
}

// directName returns the name that the Gemini API has for the model.
func (t target) directName() string {
	if t.publisher == "" {
		return "tunedModels/" + t.model
	}
	return "models/" + t.model
}

// checkKey wants an API key.
func (x *exchange) checkKey() error {
	key := cmp.Or(x.header.Get(keyHeader), x.query.Get("key"))
	switch {
	case x.cfg.withoutAuth:
		return nil
	case key == "":
		return &statusError{
			Code: http.StatusForbidden, Status: "PERMISSION_DENIED",
			Message: "Method doesn't allow unregistered callers (callers without established identity). Please use API Key or other form of API consumer identity to call this API.",
		}
	case len(x.cfg.tokens) > 0 && !slices.Contains(x.cfg.tokens, key):
		const text = "API key not valid. Please pass a valid API key."
		return &statusError{
			Code: http.StatusBadRequest, Status: "INVALID_ARGUMENT", Message: text,
			Details: []any{
				detail("ErrorInfo", map[string]any{
					"reason": "API_KEY_INVALID", "domain": "googleapis.com",
					"metadata": map[string]string{"service": "generativelanguage.googleapis.com"},
				}),
				detail("LocalizedMessage", map[string]any{"locale": "en-US", "message": text}),
			},
		}
	}
	return nil
}

// directNotFound returns the 404 for a model that the Gemini API doesn't have.
func directNotFound(t target) error {
	return &statusError{Code: http.StatusNotFound, Status: "NOT_FOUND", Message: fmt.Sprintf(
		"%s is not found for API version %s, or is not supported for %s. Call ModelService.ListModels to see the list of available models and their supported methods.",
		t.directName(), t.version, t.verb)}
}

// adapt turns the body of a call to the Gemini API into what Vertex AI's is for
// the same, after refusing what only Vertex AI takes.
func (x *exchange) adapt(v any) (decoded any, body []byte, err error) {
	top, ok := v.(map[string]any)
	if !x.target.direct || !ok {
		return v, x.body, nil
	}
	switch x.target.verb {
	case "embedContent":
		err = x.adaptEmbed(top, "")
	case "batchEmbedContents":
		for i, one := range listOf(top["requests"]) {
			if q, ok := one.(map[string]any); ok && err == nil {
				err = x.adaptEmbed(q, fmt.Sprintf("requests[%d]", i))
			}
		}
	case "countTokens":
		if top, err = x.unwrapCount(top); err == nil {
			err = x.adaptGenerate(top)
		}
	default:
		err = x.adaptGenerate(top)
	}
	if err != nil {
		return nil, x.body, err
	}
	body, err = json.Marshal(top)
	return top, body, err
}

// unwrapCount returns the request within one to countTokens.
//
// Source: https://ai.google.dev/api/tokens
func (x *exchange) unwrapCount(body map[string]any) (map[string]any, error) {
	inner, ok := body["generateContentRequest"].(map[string]any)
	for name := range body {
		if name != "generateContentRequest" && name != "contents" && !x.cfg.withoutChecks {
			return nil, unknownName(name, "")
		}
	}
	switch {
	case !ok:
		return body, nil
	case body["contents"] != nil:
		return nil, invalid("contents and generate_content_request are mutually exclusive.")
	case inner["model"] != x.target.directName():
		return nil, invalid("The model of generate_content_request must be %s.", x.target.directName())
	}
	delete(inner, "model")
	return inner, nil
}

// adaptEmbed puts the settings of a request for a vector where Vertex AI has
// them.
//
// Source: https://ai.google.dev/api/embeddings
func (x *exchange) adaptEmbed(q map[string]any, path string) error {
	model, given := q["model"]
	if given && model != x.target.directName() || !given && path != "" {
		return invalid("The model of each request must be %s.", x.target.directName())
	}
	delete(q, "model")
	config := map[string]any{}
	for name, value := range q {
		switch name {
		case "content":
		case "taskType", "title", "outputDimensionality":
			config[name] = value
			delete(q, name)
		default:
			return unknownName(name, path)
		}
	}
	if len(config) > 0 {
		q["embedContentConfig"] = config
	}
	return nil
}

// directEmbedder returns the facts of a model at the Gemini API, where all that
// embed have the same method.
func directEmbedder(f embedFacts) embedFacts {
	f.verb, f.instances, f.requestTokens = "embedContent", 100, 0
	return f
}

// directDenied returns the 403 for a key whose project may not use a resource.
func directDenied(t target) error {
	return &statusError{
		Code: http.StatusForbidden, Status: "PERMISSION_DENIED",
		Message: "You do not have permission to access " + t.directName() + " or it may not exist.",
	}
}

// listOf returns a decoded array, or nothing.
func listOf(v any) []any {
	list, _ := v.([]any)
	return list
}
