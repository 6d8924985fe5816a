package vertextest_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

func TestMembersCanBeMadeUnknown(t *testing.T) {
	const (
		withIDs = `{"contents":[{"role":"user","parts":[{"text":"a"}]},` +
			`{"role":"model","parts":[{"functionCall":{"id":"1","name":"f","args":{}},"thoughtSignature":"skip_thought_signature_validator"}]},` +
			`{"role":"user","parts":[{"functionResponse":{"id":"1","name":"f","response":{}}}]}],` + `"tools":[{"functionDeclarations":[{"name":"f"}]}]}`
		unknownID = `Invalid JSON payload received. Unknown name "id" at 'contents[1].parts[0].function_call': Cannot find field.`
	)
	level := say("a", config(`"thinkingConfig":{"thinkingLevel":"LOW"}`))
	for _, tc := range []struct {
		name        string
		option      vertextest.Option
		model, body string
		want        string // empty when it is taken
	}{
		{"ids of all models", vertextest.WithoutCallIDs(), "gemini-3.8-flash", withIDs, unknownID},
		{"ids of this model", vertextest.WithoutCallIDs("gemini-3.8-flash"), "gemini-3.8-flash", withIDs, unknownID},
		{"ids of this model's row", vertextest.WithoutCallIDs("gemini-3-flash"), "gemini-3-flash-preview", withIDs, unknownID},
		{"ids of another model", vertextest.WithoutCallIDs("gemini-4-neon"), "gemini-3.8-flash", withIDs, ""},
		{"a member of an object", vertextest.WithRefusedField("generationConfig.thinkingConfig.thinkingLevel"), "gemini-3.8-flash", level,
			`Invalid JSON payload received. Unknown name "thinkingLevel" at 'generation_config.thinking_config': Cannot find field.`},
		{"a member of another model", vertextest.WithRefusedField("generationConfig.thinkingConfig.thinkingLevel", "gemini-4-neon"), "gemini-3.8-flash", level, ""},
		{"a member within arrays", vertextest.WithRefusedField("contents.parts.thoughtSignature"), "gemini-3.8-flash", withIDs,
			`Invalid JSON payload received. Unknown name "thoughtSignature" at 'contents[1].parts[0]': Cannot find field.`},
		{"a member of the root", vertextest.WithRefusedField("tools"), "gemini-3.8-flash", withIDs, `Invalid JSON payload received. Unknown name "tools": Cannot find field.`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := unary(t, vertextest.New(tc.option), tc.model, tc.body)
			if diff := cmp.Diff(tc.want, got.decode(t).Error.Message); diff != "" || (got.status == http.StatusOK) != (tc.want == "") {
				t.Errorf("status %d (-want +got):\n%s", got.status, diff)
			}
		})
	}
}

func TestModelsWithoutIDsGiveNone(t *testing.T) {
	s := vertextest.New(vertextest.WithoutCallIDs())
	for _, p := range unary(t, s, "gemini-3.8-flash", say("weather in Paris", weatherTool)).decode(t).parts() {
		if p.FunctionCall == nil || p.FunctionCall.ID != "" {
			t.Errorf("part %+v", p)
		}
	}
}

func TestTrafficHeaders(t *testing.T) {
	const kind, shared = "X-Vertex-AI-LLM-Request-Type", "X-Vertex-AI-LLM-Shared-Request-Type"
	for _, tc := range []struct {
		name, location string
		header         map[string]string
		want           string // a traffic type, or a part of the refusal
	}{
		{"shared and flex", "global", map[string]string{kind: "shared", shared: "flex"}, "ON_DEMAND_FLEX"},
		{"shared alone", "global", map[string]string{kind: "shared"}, "ON_DEMAND"},
		{"priority in a multi-region", "eu", map[string]string{shared: "priority"}, "ON_DEMAND_PRIORITY"},
		{"priority in a region", "us-central1", map[string]string{shared: "priority"}, "ON_DEMAND"},
		{"an unknown kind", "global", map[string]string{kind: "priority"}, "Expected one of dedicated, shared"},
		{"an unknown class", "global", map[string]string{shared: "cheap"}, "Expected one of priority, flex"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := newPost(t, strings.Replace(place, "global", tc.location, 1)+"publishers/google/models/gemini-2.5-flash:generateContent", say("a"))
			for name, v := range tc.header {
				r.Header.Set(name, v)
			}
			m := do(t, vertextest.New(), r).decode(t)
			if got := m.UsageMetadata.TrafficType + m.Error.Message; !strings.HasSuffix(strings.TrimSuffix(got, "."), tc.want) {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

func TestUnaryAnswersAreCompressedOnRequest(t *testing.T) {
	for _, tc := range []struct {
		name, verb, accept string
		reply              vertextest.Reply
		want               bool
	}{
		{"an answer", "generateContent", "gzip", vertextest.Auto(), true},
		{"one encoding of several", "generateContent", "br;q=1.0, GZIP;q=0.8", vertextest.Auto(), true},
		{"an error", "generateContent", "gzip", vertextest.RateLimited(0), true},
		{"not asked for", "generateContent", "", vertextest.Auto(), false},
		{"excluded", "generateContent", "gzip;q=0", vertextest.Auto(), false},
		{"a stream", "streamGenerateContent?alt=sse", "gzip", vertextest.Auto(), false},
		{"a fixed body", "generateContent", "gzip", vertextest.JSON(200, "{}"), false},
		{"a body that is cut", "generateContent", "gzip", vertextest.Text("a").CutAfter(1 << 20), false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := vertextest.New()
			s.Script(tc.reply)
			r := newPost(t, place+"publishers/google/models/gemini-2.5-flash:"+tc.verb, say("a"))
			r.Header.Set("Accept-Encoding", tc.accept)
			got := do(t, s, r)
			if (got.header.Get("Content-Encoding") == "gzip") != tc.want {
				t.Fatalf("encoding %q", got.header.Get("Content-Encoding"))
			}
			if !tc.want {
				return
			}
			z, err := gzip.NewReader(bytes.NewReader(got.body))
			if err != nil {
				t.Fatal(err)
			}
			if got.body, err = io.ReadAll(z); err != nil {
				t.Fatal(err)
			}
			got.decode(t)
		})
	}
}

func TestSignaturesAreOfAProject(t *testing.T) {
	s := vertextest.New()
	const path = "publishers/google/models/gemini-3.8-flash:generateContent"
	said := unary(t, s, "gemini-3.8-flash", say("weather in Paris", weatherTool)).decode(t).parts()[0]
	body := fmt.Sprintf(`{"contents":[{"role":"user","parts":[{"text":"a"}]},`+
		`{"role":"model","parts":[{"functionCall":{"id":"x","name":"get_weather","args":{"city":"Paris"}},"thoughtSignature":%q}]},`+
		`{"role":"user","parts":[{"functionResponse":{"id":"x","name":"get_weather","response":{}}}]}],`+weatherTool+`}`, said.ThoughtSignature)
	if got := post(t, s, place+path, body); got.status != http.StatusOK {
		t.Errorf("in its project: %d %s", got.status, got.body)
	}
	got := post(t, s, strings.Replace(place, "projects/p/", "projects/q/", 1)+path, body)
	if m := got.decode(t); got.status != http.StatusBadRequest || m.Error.Message != "Invalid thought signature." {
		t.Errorf("in another project: %d %q", got.status, m.Error.Message)
	}
}
