package vertextest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// Endpoint is an endpoint of a user, on which a model server is deployed that
// speaks OpenAI's language and takes custom predictions.
type Endpoint struct {
	ID      string
	Model   string // as the server calls it in answers
	Reasons bool   // the model shows its reasoning beside the answer

	// Dimensions is the length of the vectors that the server gives at embeddings,
	// and, in its own form, by predict; 0 for a server that gives none. Inputs is
	// how many texts it takes at a time, 32 when 0. RawOnly says that it has no
	// path embeddings and takes the same body by rawPredict.
	Dimensions, Inputs int
	RawOnly            bool

	// Dedicated endpoints have a host of their own and refuse calls through the
	// shared ones. A socket of the emulator, which has neither name, takes both.
	Dedicated bool
}

// Host returns the name of a dedicated endpoint's own host.
func (e Endpoint) Host(project, location string) string {
	return e.ID + "." + location + "-" + projectNumber(project) + ownHosts
}

// WithDeployed serves an endpoint of a user. It exists in every project and
// location.
func WithDeployed(e Endpoint) Option {
	return func(c *config) { c.served[e.ID] = e }
}

// ownHosts is how the names of the hosts of dedicated endpoints end.
//
// Source: https://cloud.google.com/vertex-ai/docs/predictions/choose-endpoint-type
const ownHosts = ".prediction.vertexai.goog"

// isShared reports whether a host serves all that the platform has.
func isShared(host string) bool {
	return strings.HasSuffix(host, "aiplatform.googleapis.com") || strings.HasSuffix(host, ".rep.googleapis.com") ||
		strings.HasSuffix(host, "aiplatform.mtls.googleapis.com")
}

// findEndpoint finds the endpoint that the path names, at the host it is asked
// at.
func (x *exchange) findEndpoint() (Endpoint, error) {
	host, _, _ := strings.Cut(x.host, ":")
	e, ok := x.cfg.served[x.target.model]
	own := e.Host(x.target.project, x.target.location)
	switch {
	case !ok, strings.HasSuffix(host, ownHosts) && (host != own || !e.Dedicated):
		return Endpoint{}, endpointNotFound(x.target)
	case e.Dedicated && isShared(host):
		return Endpoint{}, &statusError{Code: http.StatusBadRequest, Status: "FAILED_PRECONDITION", Message: fmt.Sprintf(
			"This endpoint is a dedicated endpoint via CloudESF and cannot be accessed through the Vertex AI API. Please access the endpoint using its dedicated dns name '%s'", own)}
	}
	return e, nil
}

func endpointNotFound(t target) error {
	return &statusError{Code: http.StatusNotFound, Status: "NOT_FOUND", Message: "The Endpoint with name \"" + t.resource() + "\" does not exist."}
}

// checkEndpoint checks that an endpoint exists, which the shared hosts know.
func checkEndpoint(x *exchange) error {
	host, _, _ := strings.Cut(x.host, ":")
	_, served := x.cfg.served[x.target.model]
	_, tuned := x.cfg.endpoints[x.target.model]
	if !served && !tuned || strings.HasSuffix(host, ownHosts) {
		return endpointNotFound(x.target)
	}
	return nil
}

// endpointResource is an endpoint as it is told to callers.
type endpointResource struct {
	Name             string           `json:"name"`
	DisplayName      string           `json:"displayName"`
	DeployedModels   []map[string]any `json:"deployedModels"`
	TrafficSplit     map[string]int   `json:"trafficSplit"`
	DedicatedEnabled bool             `json:"dedicatedEndpointEnabled,omitempty"`
	DedicatedDNS     string           `json:"dedicatedEndpointDns,omitempty"`
}

// getEndpoint tells about an endpoint.
//
// Source: https://cloud.google.com/vertex-ai/docs/reference/rest/v1/projects.locations.endpoints
func getEndpoint(x *exchange) (response, error) {
	e, ok := x.cfg.served[x.target.model]
	if !ok {
		e = Endpoint{ID: x.target.model, Model: x.cfg.endpoints[x.target.model]}
	}
	r := endpointResource{
		Name: x.target.numbered() + "/endpoints/" + e.ID, DisplayName: e.ID, TrafficSplit: map[string]int{"1": 100},
		DeployedModels: []map[string]any{{"id": "1", "displayName": e.Model}},
	}
	if e.Dedicated {
		r.DedicatedEnabled, r.DedicatedDNS = true, e.Host(x.target.project, x.target.location)
	}
	return jsonResponse(r)
}

// predictCall is the body of a custom prediction.
type predictCall struct {
	Instances  []json.RawMessage `json:"instances"`
	Parameters json.RawMessage   `json:"parameters"`
}

// checkPredict checks a custom prediction. What instances hold is between the
// caller and the model server, but for the chat completion that the platform's
// own servers take in one.
//
// Source: https://cloud.google.com/vertex-ai/docs/predictions/get-online-predictions
func checkPredict(x *exchange) error {
	if _, err := decodeBody(x.body); err != nil {
		return err
	}
	e, err := x.findEndpoint()
	if err != nil {
		return err
	}
	var call predictCall
	if json.Unmarshal(x.body, &call) != nil || len(call.Instances) == 0 {
		return invalid("The request is missing instances, which have to be a list with at least one element.")
	}
	x.chat.served = e.Model
	if json.Unmarshal(call.Instances[0], &x.chat) == nil && len(x.chat.Messages) > 0 {
		x.chat.Stream = false
		x.req = x.chat.asGemini()
		return nil
	}
	x.chat = chatCall{served: e.Model}
	for _, raw := range call.Instances {
		var instance struct{ Prompt string }
		if json.Unmarshal(raw, &instance) != nil || instance.Prompt == "" {
			instance.Prompt = canonical(raw)
		}
		x.req.Contents = append(x.req.Contents, content{Role: "user", Parts: []part{{Text: &instance.Prompt}}})
	}
	return nil
}

// predictedPieces streams a text in the language of a server of the user's: the
// events {"text":…}, the last one with "finish_reason":"stop".
//
// Source: https://cloud.google.com/vertex-ai/docs/reference/rest/v1/projects.locations.endpoints/streamRawPredict
func (x *exchange) predictedPieces(text string) (response, error) {
	type event struct {
		Text   string `json:"text"`
		Finish string `json:"finish_reason,omitempty"`
	}
	res := response{status: http.StatusOK, header: x.streamHeader()}
	list := pieces(text)
	for i, piece := range list {
		e := event{Text: piece}
		if i == len(list)-1 {
			e.Finish = "stop"
		}
		data, err := json.Marshal(e)
		if err != nil {
			return response{}, err
		}
		res.events = append(res.events, x.frame(data))
	}
	return res, nil
}

// answerPredict answers each instance for itself, or the chat completion in one.
func answerPredict(x *exchange) (response, error) {
	if e := x.cfg.served[x.target.model]; e.Dimensions > 0 && !x.streams() {
		return x.predictVectors(e)
	}
	if x.streams() {
		return x.predictedPieces(x.sayPlain())
	}
	if len(x.chat.Messages) > 0 {
		a, err := x.think()
		if err != nil {
			return response{}, err
		}
		return x.predicted(a.completion(x))
	}
	var said []string
	for _, c := range x.req.Contents {
		x.req.Contents = []content{c}
		prompt := c.Parts[0].text()
		said = append(said, "Prompt:\n"+prompt+"\nOutput:\n"+x.sayPlain())
	}
	return x.predicted(said)
}

// renderPredictions turns a scripted answer into a prediction.
func (a answer) renderPredictions(x *exchange) (response, error) {
	if x.streams() {
		return x.predictedPieces(a.text())
	}
	if len(x.chat.Messages) > 0 {
		return x.predicted(a.completion(x))
	}
	return x.predicted([]string{a.text()})
}

// predicted renders predictions with what the platform says of their origin.
func (x *exchange) predicted(predictions any) (response, error) {
	return jsonResponse(struct {
		Predictions      any    `json:"predictions"`
		DeployedModelID  string `json:"deployedModelId"`
		Model            string `json:"model"`
		ModelDisplayName string `json:"modelDisplayName"`
		ModelVersionID   string `json:"modelVersionId"`
	}{predictions, "1", x.target.numbered() + "/models/1", x.chat.served, "1"})
}
