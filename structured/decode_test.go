package structured

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway"
	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

type recipe struct {
	Name    string           `json:"name"`
	Steps   []step           `json:"steps"`
	Scale   *unit            `json:"scale,omitempty"`
	Scores  map[string]uint8 `json:"scores,omitempty"`
	At      *time.Time       `json:"at,omitempty"`
	Servers [2]int           `json:"servers,omitzero"`
	Note    any              `json:"note,omitempty"`
}

type step struct {
	Text    string `json:"text"`
	Minutes int64  `json:"minutes"`
}

func TestDecodeText(t *testing.T) {
	scale := unit("celsius")
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	tests := []struct {
		name, text string
		want       recipe
	}{
		{"what is required", `{"name":"a","steps":[]}`, recipe{Name: "a", Steps: []step{}}},
		{"white space around", " \n{\"name\":\"\",\"steps\":[{\"text\":\"\",\"minutes\":9007199254740993}]}\n",
			recipe{Steps: []step{{Minutes: 9007199254740993}}}},
		{"everything", `{"name":"a","steps":[],"scale":"celsius","scores":{"x":255},"at":"2026-01-02T03:04:05Z","servers":[1,2],"note":[null]}`,
			recipe{Name: "a", Steps: []step{}, Scale: &scale, Scores: map[string]uint8{"x": 255}, At: &at, Servers: [2]int{1, 2}, Note: []any{nil}}},
		{"nulls for pointers", `{"name":"a","steps":[],"scale":null,"at":null}`, recipe{Name: "a", Steps: []step{}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := DecodeText[recipe](tt.text)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("value (-want +got):\n%s", diff)
			}
		})
	}
}

// TestMismatches has the word SECRET wherever a model could have put one.
func TestMismatches(t *testing.T) {
	tests := []struct{ name, text, path, problem string }{
		{"no JSON", `Here is SECRET`, "", "is not JSON: see byte 1 of 14"},
		{"a fence", "```json\n{}\n```", "", "is not JSON: see byte 1 of 14"},
		{"two values", `{} {}`, "", "is not JSON: see byte 4 of 5"},
		{"half a value", `{"name":"SECRET`, "", "is not JSON: see byte 15 of 15"},
		{"nothing", ``, "", "is not JSON: see byte 0 of 0"},
		{"a number beyond all", `{"name":"SECRET","steps":[{"text":"","minutes":1e999}]}`, "", "has a number that is too large"},
		{"null", `null`, "", "is null and must be an object"},
		{"another type", `["SECRET"]`, "", "is an array and must be an object"},
		{"a missing member", `{"steps":[]}`, "", `lacks "name"`},
		{"a missing member further in", `{"name":"SECRET","steps":[{"text":"a","minutes":1},{"minutes":1}]}`, "steps[1]", `lacks "text"`},
		{"a member too many", `{"name":"a","steps":[],"SECRET":1}`, "", "has members that the type does not have"},
		{"a name in another case", `{"Name":"SECRET","steps":[]}`, "", `lacks "name"`},
		{"a wrong member", `{"name":7,"steps":[]}`, "name", "is an integer and must be a string"},
		{"the first of two in the struct's order", `{"steps":"SECRET","name":true}`, "name", "is a boolean and must be a string"},
		{"a wrong element", `{"name":"","steps":[{"text":"","minutes":1},{"text":"","minutes":"SECRET"}]}`, "steps[1].minutes", "is a string and must be an integer"},
		{"a fraction", `{"name":"","steps":[{"text":"","minutes":1.5}]}`, "steps[0].minutes", "is a number and must be an integer"},
		{"null for a slice", `{"name":"","steps":null}`, "steps", "is null and must be an array"},
		{"a value outside the enum", `{"name":"","steps":[],"scale":"SECRET"}`, "scale", `is none of ["celsius" "fahrenheit"]`},
		{"another type for an enum", `{"name":"","steps":[],"scale":3}`, "scale", "is an integer and must be a string"},
		{"a value below the range", `{"name":"","steps":[],"scores":{"a":1,"SECRET":-1}}`, "scores.*", "is below 0"},
		{"a value above the range", `{"name":"","steps":[],"scores":{"SECRET":256}}`, "scores.*", "is above 255"},
		{"too few elements", `{"name":"","steps":[],"servers":[1]}`, "servers", "has length 1 and must have length 2"},
		{"another type where null is fine", `{"name":"","steps":[],"at":1}`, "at", "is an integer and must be a string or null"},
		{"a time that is none", `{"name":"","steps":[],"at":"SECRET"}`, "at", "does not fit the Go type time.Time"},
		{"an integer written as a fraction", `{"name":"","steps":[{"text":"SECRET","minutes":1.0}]}`, "steps[0].minutes", "does not fit the Go type int64"},
		{"a number too large for its type", `{"name":"","steps":[{"text":"SECRET","minutes":1e30}]}`, "steps[0].minutes", "does not fit the Go type int64"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := DecodeText[recipe](tt.text)
			var m *MismatchError
			if !errors.As(err, &m) {
				t.Fatalf("error %v, want a mismatch", err)
			}
			if diff := cmp.Diff(MismatchError{tt.path, tt.problem}, *m); diff != "" {
				t.Errorf("mismatch (-want +got):\n%s", diff)
			}
			var e *gateway.Error
			if !errors.As(err, &e) || !errors.Is(err, gateway.ErrBadResponse) || !e.Sent {
				t.Errorf("error %v, want one about an answer", err)
			}
			if strings.Contains(err.Error(), "SECRET") {
				t.Errorf("the answer is in %q", err)
			}
			if diff := cmp.Diff(recipe{}, got); diff != "" {
				t.Errorf("value beside an error (-want +got):\n%s", diff)
			}
		})
	}
}

func TestDecodeOfAnswers(t *testing.T) {
	answer := func(finish, text string, calls ...gateway.ToolCall) *gateway.ChatCompletion {
		m := gateway.AssistantMessage(text)
		m.ToolCalls = calls
		return &gateway.ChatCompletion{Provider: "vertex-ai", Choices: []gateway.Choice{{Message: m, FinishReason: finish}},
			Meta: gateway.Meta{RequestID: "req"}}
	}
	const good = `{"id":"1","name":"n"}`
	tests := []struct {
		name   string
		answer *gateway.ChatCompletion
		code   gateway.Code
	}{
		{"a good one", answer("stop", good), ""},
		{"one without a finish reason", answer("", good), ""},
		{"one that does not fit", answer("stop", `{}`), gateway.ErrBadResponse},
		{"one that was cut", answer("length", good), gateway.ErrBadResponse},
		{"one held back", answer("content_filter", good), gateway.ErrContentFilter},
		{"tool calls", answer("tool_calls", "", gateway.ToolCall{}), gateway.ErrBadResponse},
		{"tool calls beside text", answer("tool_calls", good, gateway.ToolCall{}), gateway.ErrBadResponse},
		{"no text", answer("stop", ""), gateway.ErrEmptyResponse},
		{"no choice", &gateway.ChatCompletion{}, gateway.ErrEmptyResponse},
		{"no answer", nil, gateway.ErrInvalidRequest},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Decode[base](tt.answer)
			if tt.code == "" {
				if want := (base{"1", "n"}); err != nil || got != want {
					t.Errorf("%v, %v", got, err)
				}
				return
			}
			var e *gateway.Error
			if !errors.Is(err, tt.code) || !errors.As(err, &e) || e.Sent != (tt.answer != nil) || got != (base{}) {
				t.Fatalf("%v, %v", got, err)
			}
			if tt.answer != nil && (e.Provider != tt.answer.Provider || e.RequestID != tt.answer.Meta.RequestID) {
				t.Errorf("provider %q, request %q", e.Provider, e.RequestID)
			}
		})
	}
}

func TestArguments(t *testing.T) {
	call := func(arguments string) gateway.ToolCall {
		return gateway.ToolCall{Function: gateway.FunctionCall{Name: "f", Arguments: arguments}}
	}
	if got, err := Arguments[base](call(`{"id":"1","name":"n"}`)); err != nil || got != (base{"1", "n"}) {
		t.Errorf("%v, %v", got, err)
	}
	if _, err := Arguments[struct{}](call("")); err != nil {
		t.Errorf("no arguments: %v", err)
	}
	if _, err := Arguments[base](call("")); !errors.Is(err, gateway.ErrBadResponse) {
		t.Errorf("missing arguments: %v", err)
	}
	if got, err := Arguments[*base](call(`{"id":"1","name":"n"}`)); err != nil || *got != (base{"1", "n"}) {
		t.Errorf("into a pointer: %v, %v", got, err)
	}
}

func TestZeroShapeIsAnError(t *testing.T) {
	var s Shape[base]
	_, toolErr := s.Tool("f", "")
	_, textErr := s.DecodeText("{}")
	_, _, createErr := s.Create(t.Context(), nil, nil)
	for _, err := range []error{toolErr, textErr, createErr} {
		if !errors.Is(err, gateway.ErrInvalidRequest) {
			t.Error(err)
		}
	}
}

func FuzzDecodeText(f *testing.F) {
	shape, err := Of[recipe]()
	if err != nil {
		f.Fatal(err)
	}
	for _, s := range []string{`{"name":"a","steps":[{"text":"x","minutes":1}],"scale":null,"scores":{"k":1}}`, `{`, `[1]`, `{"at":"x","steps":[1e99]}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		value, err := shape.DecodeText(text)
		if err != nil {
			if _, ok := errors.AsType[*MismatchError](err); !ok {
				t.Fatalf("%q: %v is no mismatch", text, err)
			}
			return
		}
		raw, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := shape.DecodeText(string(raw)); err != nil {
			t.Errorf("%q came back as %q: %v", text, raw, err)
		}
	})
}

// emulated returns a client of an emulated platform, and the platform.
func emulated(t *testing.T) (*gateway.Client, *vertextest.Server) {
	t.Helper()
	platform := vertextest.New()
	client, err := gateway.New(gateway.WithHTTPClient(&http.Client{Transport: platform.Transport()}),
		gateway.WithProjectID("p"), gateway.WithRegion("global"), gateway.WithAccessToken("t"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return client, platform
}
