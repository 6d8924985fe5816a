package vertex_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/providers"
	"github.com/b650d4bf/gateway/providers/vertex"
	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

const (
	requestType = "X-Vertex-Ai-Llm-Request-Type"
	sharedType  = "X-Vertex-Ai-Llm-Shared-Request-Type"
)

func TestServiceTiersAreHeaders(t *testing.T) {
	for tier, want := range map[string][2]string{
		"auto": {}, "default": {}, "standard": {},
		"priority": {"", "priority"}, "flex": {"", "flex"},
		"dedicated": {"dedicated", ""}, "shared": {"shared", ""},
	} {
		for _, region := range []string{"global", "us-central1"} {
			t.Run(tier+" in "+region, func(t *testing.T) {
				rt := plays([]byte(okAnswer))
				g := target("gemini-2.5-flash")
				g.Region = region
				answer, err := newProvider(t, rt).ChatCompletion(t.Context(), g, hello(t, g.Model, `"service_tier":"`+tier+`"`))
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(want, [2]string{rt.head.Get(requestType), rt.head.Get(sharedType)}); diff != "" {
					t.Errorf("headers (-want +got)\n%s", diff)
				}
				if ignored := tier == "priority" && region != "global"; ignored != (len(answer.Meta.Warnings) == 1) {
					t.Errorf("warnings %v", answer.Meta.Warnings)
				}
			})
		}
	}
	t.Run("a header of the target's own stays", func(t *testing.T) {
		rt := plays([]byte(okAnswer))
		g := target("gemini-2.5-flash")
		g.Header = http.Header{requestType: {"dedicated"}}
		if _, err := newProvider(t, rt).ChatCompletion(t.Context(), g, hello(t, g.Model)); err != nil || rt.head.Get(requestType) != "dedicated" {
			t.Errorf("%v %v", err, rt.head)
		}
	})
}

func TestLabelsMadeFromMetadata(t *testing.T) {
	many := map[string]string{}
	for i := range 70 {
		many[fmt.Sprintf("k%02d", i)] = "v"
	}
	for _, tt := range []struct {
		name     string
		hints    map[string]string
		own      string
		want     string
		warnings int
	}{
		{"fitted", map[string]string{"app_Team": "Search & Ads", "app__user": "Zoë@example.com"}, `{}`,
			`"labels":{"app__user":"zo__example_com","app_team":"search___ads"}`, 0},
		{"the request's own win", map[string]string{"team": "b", "env": "x"}, `{"team":"a"}`, `"labels":{"team":"a","env":"x"}`, 0},
		{"nothing of empty values and bad beginnings", map[string]string{"a": "", "_b": "x", "1": "x"}, `{}`, "", 0},
		{"long ones are cut", map[string]string{"a" + strings.Repeat("b", 80): strings.Repeat("c", 80)}, `{}`,
			`"labels":{"a` + strings.Repeat("b", 62) + `":"` + strings.Repeat("c", 63) + `"}`, 0},
		{"as many as there is room for", many, `{"own":"x"}`, `"k62":"v"}`, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			rt := plays([]byte(okAnswer))
			g := target("gemini-2.5-flash")
			g.Labels = tt.hints
			answer, err := newProvider(t, rt).ChatCompletion(t.Context(), g, hello(t, g.Model, `"labels":`+tt.own))
			if err != nil {
				t.Fatal(err)
			}
			if err := vertextest.Check("GenerateContentRequest", rt.sent); err != nil {
				t.Error(err)
			}
			if body := string(rt.sent); tt.want == "" && strings.Contains(body, "labels") || !strings.Contains(body, tt.want) {
				t.Errorf("%s\nwant %s", body, tt.want)
			}
			if len(answer.Meta.Warnings) != tt.warnings {
				t.Errorf("warnings %v", answer.Meta.Warnings)
			}
		})
	}
}

func TestToolsThatDoNotGoTogetherAreFoundLocally(t *testing.T) {
	const function, search, code = `{"type":"function","function":{"name":"f"}}`, `{"type":"web_search"}`, `{"type":"code_execution"}`
	for _, tt := range []struct {
		model, tools string
		clash        bool
	}{
		{"gemini-2.5-flash", function + "," + search, true},
		{"gemini-2.5-flash", search + "," + code, true},
		{"gemini-2.5-flash", search + `,{"type":"url_context"}`, false},
		{"gemini-2.5-flash", function + "," + function, false},
		{"gemini-2.5-flash", search, false},
		{"gemini-3.5-flash", function + "," + search, false},
	} {
		t.Run(tt.model+tt.tools, func(t *testing.T) {
			rt := plays([]byte(okAnswer))
			p := vertex.New(vertex.Config{Transport: rt, CheckTools: true})
			defer func() { _ = p.Close() }()
			_, err := p.ChatCompletion(t.Context(), target(tt.model), hello(t, tt.model, `"tools":[`+tt.tools+`]`))
			if errors.Is(err, providers.ErrOneToolOnly) != tt.clash || (rt.calls == 0) != tt.clash {
				t.Errorf("%v after %d requests, want a clash: %v", err, rt.calls, tt.clash)
			}
			if _, err := newProvider(t, rt).ChatCompletion(t.Context(), target(tt.model), hello(t, tt.model, `"tools":[`+tt.tools+`]`)); err != nil {
				t.Errorf("without the check: %v", err)
			}
		})
	}
}
