package vertex_test

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/internal/testkit/outcome"
	"github.com/b650d4bf/gateway/providers"
	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

// counted is the platform's answer to countTokens.
const counted = `{"totalTokens":31,"totalBillableCharacters":96,"promptTokensDetails":[{"modality":"TEXT","tokenCount":20},` +
	`{"modality":"IMAGE","tokenCount":10},{"modality":"TEXT","tokenCount":1}]}`

func TestCountTokens(t *testing.T) {
	rt := plays([]byte(counted))
	got, err := newProvider(t, rt).CountTokens(t.Context(), target("gemini-2.5-flash"), hello(t, "gemini-2.5-flash"))
	if err != nil {
		t.Fatal(err)
	}
	want := &providers.TokenCount{TotalTokens: 31, BillableCharacters: 96, ByModality: map[string]int64{"text": 21, "image": 10}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	const url = "https://aiplatform.googleapis.com/v1/projects/p/locations/global/publishers/google/models/gemini-2.5-flash:countTokens"
	if rt.url != url || rt.method != "POST" || rt.head.Get("Authorization") != "Bearer token" {
		t.Errorf("%s %s with %v", rt.method, rt.url, rt.head)
	}
	if err := vertextest.Check("CountTokensResponse", []byte(counted)); err != nil {
		t.Errorf("the answer is not the platform's: %v", err)
	}
}

func TestCountTokensOfATunedModel(t *testing.T) {
	rt := plays([]byte(`{"totalTokens":1}`))
	model := "projects/other/locations/europe-west4/endpoints/42"
	got, err := newProvider(t, rt).CountTokens(t.Context(), target(model), hello(t, model))
	if err != nil {
		t.Fatal(err)
	}
	if want := "https://europe-west4-aiplatform.googleapis.com/v1/" + model + ":countTokens"; rt.url != want {
		t.Errorf("%s, want %s", rt.url, want)
	}
	if len(got.Meta.Warnings) != 1 || got.Meta.Warnings[0].Code != providers.WarnUnknownModel || got.ByModality != nil {
		t.Errorf("%+v", got)
	}
}

// TestCountedBodiesAreThoseOfChat holds, for each scenario, what is counted
// against what is sent for an answer.
func TestCountedBodiesAreThoseOfChat(t *testing.T) {
	for name, s := range geminiScenarios(t) {
		t.Run(name, func(t *testing.T) {
			chat, warnings, chatErr := encoded(t, s.request)
			rt := plays([]byte(`{"totalTokens":1}`))
			got, err := newProvider(t, rt).CountTokens(t.Context(), target(s.request.Model), s.request)
			if rt.calls == 0 {
				if diff := cmp.Diff(outcome.Describe(chatErr), outcome.Describe(err)); diff != "" {
					t.Errorf("not counted (-chat +count)\n%s", diff)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if err := vertextest.Check("CountTokensRequest", rt.sent); err != nil {
				t.Errorf("the body does not fit the schema: %v", err)
			}
			for _, w := range warnings {
				if !slices.Contains(got.Meta.Warnings, w) {
					t.Errorf("without the warning %v", w)
				}
			}
			if chatErr == nil {
				wantMembers(t, chat, rt.sent, "contents", "systemInstruction", "tools", "generationConfig")
			} else if name != "prefill_refused" && name != "labels_refused" {
				t.Errorf("counted what is refused: %v", chatErr)
			}
		})
	}
}

// wantMembers checks that a body has those of the named members that another
// one has, byte for byte, and beside them the model at most.
func wantMembers(t *testing.T, other, body []byte, names ...string) {
	t.Helper()
	var want, got map[string]json.RawMessage
	if err := errors.Join(json.Unmarshal(other, &want), json.Unmarshal(body, &got)); err != nil {
		t.Fatal(err)
	}
	delete(got, "model")
	maps.DeleteFunc(want, func(name string, _ json.RawMessage) bool { return !slices.Contains(names, name) })
	for _, name := range slices.Concat(slices.Collect(maps.Keys(want)), slices.Collect(maps.Keys(got))) {
		if diff := cmp.Diff(string(want[name]), string(got[name])); diff != "" {
			t.Errorf("%s (-chat +got)\n%s", name, diff)
		}
	}
}

func TestWhatIsNotCountedIsSaid(t *testing.T) {
	const model = "gemini-2.5-flash"
	for _, tt := range []struct{ name, member, want string }{
		{"a cached content", `"cached_content":"c"`, "unsupported_parameter | cached_content | left out: the tokens of the cached content are not counted\n"},
		{"a cached content, in camel case", `"cachedContent":"c"`, "unsupported_parameter | cachedContent | left out: the tokens of the cached content are not counted\n"},
		{"a continued answer", `"continuation_token":"c"`, "unsupported_parameter | continuation_token | left out: the tokens of the answer that goes on are not counted\n"},
		{"what has no tokens", `"safety_settings":[],"labels":{"a":"b"}`, ""},
		{"an unknown member", `"telepathy":true`, "unknown_parameter | telepathy | left out: the platform does not know it\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := newProvider(t, plays([]byte(counted))).CountTokens(t.Context(), target(model), hello(t, model, tt.member))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, outcome.WarningLines(got.Meta.Warnings)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestACountOfAConversationThatWillGoOn(t *testing.T) {
	const model = "gemini-3.6-flash" // which continues no assistant message
	q := hello(t, model)
	q.Messages = append(q.Messages, providers.AssistantMessage("Hello!"))
	if _, _, err := encoded(t, q); code(err) != providers.ErrInvalidRequest {
		t.Fatalf("an answer: %v", err)
	}
	if _, err := newProvider(t, plays([]byte(counted))).CountTokens(t.Context(), target(model), q); err != nil {
		t.Error(err)
	}
}

func TestCountTokensFails(t *testing.T) {
	const model = "gemini-2.5-flash"
	for _, tt := range []struct {
		name   string
		model  string
		change func(*providers.Target)
		status int
		body   string
		want   providers.Code
		param  string
		calls  int
	}{
		{name: "no project", model: model, change: func(g *providers.Target) { g.ProjectID = "" }, want: providers.ErrInvalidConfig, param: "project_id"},
		{name: "a bad base URL", model: model, change: func(g *providers.Target) { g.BaseURL = "x" }, want: providers.ErrInvalidConfig, param: "base_url"},
		{name: "a publisher that is not spoken", model: "meta.llama", want: providers.ErrInvalidRequest, param: "model"},
		{name: "an unknown model", model: model, status: 404, body: rpcError(404, "NOT_FOUND", "Publisher Model was not found"), want: providers.ErrModelNotFound, calls: 1},
		{name: "no permission", model: model, status: 403, body: rpcError(403, "PERMISSION_DENIED", "no"), want: providers.ErrPermission, calls: 1},
		{name: "an error in a good answer", model: model, body: rpcError(503, "UNAVAILABLE", "overloaded"), want: providers.ErrUnavailable, calls: 1},
		{name: "no total", model: model, body: `{"totalBillableCharacters":1}`, want: providers.ErrBadResponse, calls: 1},
		{name: "an answer of another kind", model: model, body: `{"totalTokens":{}}`, want: providers.ErrBadResponse, calls: 1},
		{name: "a cut answer", model: model, body: `{"totalTokens":1`, want: providers.ErrBadResponse, calls: 1},
		{name: "a list", model: model, body: `[1]`, want: providers.ErrBadResponse, calls: 1},
		{name: "HTML", model: model, body: `<html>`, want: providers.ErrBadResponse, calls: 1},
		{name: "nothing", model: model, want: providers.ErrBadResponse, calls: 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			rt := plays([]byte(tt.body))
			rt.status = tt.status
			g := target(tt.model)
			if tt.change != nil {
				tt.change(g)
			}
			_, err := newProvider(t, rt).CountTokens(t.Context(), g, hello(t, tt.model))
			e, _ := errors.AsType[*providers.Error](err)
			if e == nil || e.Code != tt.want || e.Param != tt.param || rt.calls != tt.calls {
				t.Errorf("%v after %d calls, want %s about %q after %d", err, rt.calls, tt.want, tt.param, tt.calls)
			}
		})
	}
}

func TestAnAnswerToACountIsLimited(t *testing.T) {
	_, err := limited(10, []byte(counted)).CountTokens(t.Context(), target("gemini-2.5-flash"), hello(t, "gemini-2.5-flash"))
	if code(err) != providers.ErrBadResponse {
		t.Error(err)
	}
}
