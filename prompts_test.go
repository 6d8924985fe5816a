package gateway_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway"
)

// shelf is a library of one request, which it lends to everyone.
type shelf struct {
	request  *gateway.ChatCompletionRequest
	warnings []gateway.Warning
	err      error
}

func (s *shelf) Render(ctx context.Context, ref string, variables map[string]any) (*gateway.RenderedPrompt, error) {
	id, version, _ := strings.Cut(ref, "@")
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case s.request == nil: // without an error too
		return nil, s.err
	}
	req := *s.request
	req.Messages = []gateway.Message{gateway.UserMessage(fmt.Sprint("Hello, ", variables["name"]))}
	return &gateway.RenderedPrompt{ID: id, Version: version, Request: &req, Warnings: s.warnings}, nil
}

func welcome(opts ...func(*gateway.PromptCompletionRequest)) *gateway.PromptCompletionRequest {
	req := &gateway.PromptCompletionRequest{ID: "welcome@3", Variables: map[string]any{"name": "Ada"}}
	for _, o := range opts {
		o(req)
	}
	return req
}

// watcher keeps what an observer is told.
type watcher struct {
	mu    sync.Mutex
	calls []gateway.Call
	ends  []gateway.Record
}

func (w *watcher) CallStart(ctx context.Context, c gateway.Call) context.Context {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.calls = append(w.calls, c)
	return ctx
}

func (w *watcher) CallEnd(_ context.Context, r gateway.Record) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ends = append(w.ends, r)
}

func TestPrompts_create(t *testing.T) {
	core, logs := observer.New(zap.DebugLevel)
	var seen watcher
	client, platform := newClient(t, gateway.WithObserver(&seen), gateway.WithLogger(zap.New(core)), gateway.WithPrompts(&shelf{
		request:  &gateway.ChatCompletionRequest{Model: "gemini-2.5-flash", Temperature: new(0.5), Extra: gateway.Extra(`{"x_odd":1}`)},
		warnings: []gateway.Warning{{Code: "c", Param: "variables.x"}},
	}))
	answer, err := client.Prompts.Completions.Create(t.Context(), welcome())
	if err != nil {
		t.Fatal(err)
	}
	stream, err := client.Prompts.Completions.CreateStream(t.Context(), welcome())
	if err != nil {
		t.Fatal(err)
	}
	whole, err := stream.Collect()
	if err != nil {
		t.Fatal(err)
	}
	for _, meta := range []gateway.Meta{answer.Meta, whole.Meta, stream.Meta(), seen.ends[0].Meta, seen.ends[1].Meta} {
		warned := make([]string, len(meta.Warnings))
		for i, w := range meta.Warnings {
			warned[i] = w.Param
		}
		if diff := cmp.Diff([]string{"welcome", "3", "variables.x", "x_odd"}, append([]string{meta.Prompt, meta.PromptVersion}, warned...)); diff != "" {
			t.Errorf("meta (-want +got):\n%s", diff)
		}
	}
	for i, c := range seen.calls {
		if c.Prompt != "welcome" || c.PromptVersion != "3" || c.Model != "gemini-2.5-flash" || c.Stream != (i == 1) {
			t.Errorf("call %+v", c)
		}
	}
	for _, e := range logs.All() {
		if m := e.ContextMap(); m["prompt_id"] != "welcome" || m["prompt_version"] != "3" {
			t.Errorf("log entry %v", m)
		}
	}
	for _, r := range platform.Requests() {
		if body := string(r.Body); !strings.Contains(body, `"Hello, Ada"`) || !strings.Contains(body, `"temperature":0.5`) {
			t.Errorf("sent %s", body)
		}
	}
}

func TestPrompts_withoutOneMetaIsEmpty(t *testing.T) {
	client, _ := newClient(t)
	answer, err := client.Chat.Completions.Create(t.Context(), hello("gemini-2.5-flash"))
	if err != nil {
		t.Fatal(err)
	}
	if m := answer.Meta; m.Prompt != "" || m.PromptVersion != "" {
		t.Errorf("prompt %q, version %q", m.Prompt, m.PromptVersion)
	}
}

// TestPrompts_failures checks that each fault is told in the same way by all
// operations, with nothing sent, and that observers learn of failed calls.
func TestPrompts_failures(t *testing.T) {
	broken := errors.New("the disk is full")
	good := &gateway.ChatCompletionRequest{Model: "gemini-2.5-flash"}
	tests := []struct {
		name     string
		library  gateway.PromptLibrary
		req      *gateway.PromptCompletionRequest
		want     error
		text     string
		observed bool
	}{
		{"no request", &shelf{request: good}, nil, gateway.ErrInvalidRequest, "request: the request is nil", false},
		{"no library", nil, welcome(), gateway.ErrPromptNotFound, "give it one with WithPrompts", true},
		{"no id", &shelf{request: good}, &gateway.PromptCompletionRequest{ID: " "}, gateway.ErrInvalidRequest, "id: the id of a prompt is required", true},
		{"messages", &shelf{request: good}, welcome(func(q *gateway.PromptCompletionRequest) { q.Overrides.Messages = []gateway.Message{} }),
			gateway.ErrInvalidRequest, "messages: the prompt has the messages", true},
		{"an unknown prompt", &shelf{err: &gateway.Error{Code: gateway.ErrPromptNotFound, Message: "m"}}, welcome(), gateway.ErrPromptNotFound, "m", true},
		{"a library that fails", &shelf{err: broken}, welcome(), broken, "server_error: the prompt library failed: the disk is full", true},
		{"a library without an answer", &shelf{}, welcome(), gateway.ErrServer, "the prompt library returned no request", true},
		{"a library out of time", &shelf{err: context.DeadlineExceeded}, welcome(), gateway.ErrTimeout, "", true},
		{"a bad extension", &shelf{request: good}, welcome(func(q *gateway.PromptCompletionRequest) { q.Overrides.Extra = gateway.Extra(`{"x":tru}`) }),
			gateway.ErrInvalidRequest, "extra: the extra members are not", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var seen watcher
			opts := []gateway.ClientOption{gateway.WithObserver(&seen)}
			if tt.library != nil {
				opts = append(opts, gateway.WithPrompts(tt.library))
			}
			client, platform := newClient(t, opts...)
			_, err := client.Prompts.Completions.Create(t.Context(), tt.req)
			_, streamed := client.Prompts.Completions.CreateStream(t.Context(), tt.req)
			_, looked := client.Prompts.Render(t.Context(), tt.req)
			for i, err := range []error{err, streamed, looked} {
				var e *gateway.Error
				if !errors.As(err, &e) || !errors.Is(err, tt.want) || !strings.Contains(err.Error(), tt.text) || e.Sent {
					t.Errorf("operation %d: error %v, want %v, %q", i, err, tt.want, tt.text)
				}
			}
			if n := len(platform.Requests()); n > 0 {
				t.Errorf("%d requests were sent", n)
			}
			if want := map[bool]int{true: 2}[tt.observed]; len(seen.ends) != want || len(seen.calls) != want {
				t.Fatalf("%d calls observed, want %d", len(seen.ends), want)
			}
			for i, r := range seen.ends {
				if r.Prompt != tt.req.ID || r.Err == nil || r.Operation != "chat" || r.Stream != (i == 1) {
					t.Errorf("record %+v", r)
				}
			}
		})
	}
}

func TestPrompts_needAClient(t *testing.T) {
	var none gateway.PromptsService
	if _, err := none.Render(t.Context(), welcome()); !errors.Is(err, gateway.ErrInvalidConfig) {
		t.Errorf("error %v", err)
	}
	if _, err := none.Completions.Create(t.Context(), welcome()); !errors.Is(err, gateway.ErrInvalidConfig) {
		t.Errorf("error %v", err)
	}
	if _, err := gateway.New(gateway.WithPrompts(nil)); !errors.Is(err, gateway.ErrInvalidConfig) {
		t.Errorf("error %v", err)
	}
	client, _ := newClient(t, gateway.WithPrompts(&shelf{request: hello("gemini-2.5-flash")}))
	view, err := client.With(gateway.WithRegion("us-central1"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := view.Prompts.Completions.Create(t.Context(), welcome()); err != nil {
		t.Errorf("a view has no library: %v", err)
	}
	stream := welcome(func(q *gateway.PromptCompletionRequest) { q.Overrides.Stream = true })
	if _, err := client.Prompts.Completions.Create(t.Context(), stream); err == nil || !strings.Contains(err.Error(), "use CreateStream") {
		t.Errorf("error %v", err)
	}
}

// TestPrompts_overrides sets each member of a request, first in the prompt and
// then in the call.
func TestPrompts_overrides(t *testing.T) {
	// Two names of one setting stand for each other.
	same := map[string]string{"MaxTokens": "MaxCompletionTokens", "MaxCompletionTokens": "MaxTokens", "Thinking": "ReasoningEffort", "ReasoningEffort": "Thinking"}
	kind := reflect.TypeFor[gateway.ChatCompletionRequest]()
	for i := range kind.NumField() {
		name := kind.Field(i).Name
		if name == "Messages" {
			continue // refused
		}
		t.Run(name, func(t *testing.T) {
			var stored, given gateway.ChatCompletionRequest
			fill(reflect.ValueOf(&stored).Elem().Field(i), "stored")
			if other := same[name]; other != "" {
				fill(reflect.ValueOf(&stored).Elem().FieldByName(other), "stored")
			}
			fill(reflect.ValueOf(&given).Elem().Field(i), "given")
			client, _ := newClient(t, gateway.WithPrompts(&shelf{request: &stored}))
			render := func(over gateway.ChatCompletionRequest) *gateway.ChatCompletionRequest {
				out, err := client.Prompts.Render(t.Context(), welcome(func(q *gateway.PromptCompletionRequest) { q.Overrides = over }))
				if err != nil {
					t.Fatal(err)
				}
				out.Request.Messages = nil
				return out.Request
			}
			want := given
			if name == "Extra" {
				want.Extra = gateway.Extra(`{"stored":1,"both":"given","given":1}`)
			}
			if diff := cmp.Diff(asJSON(t, want), asJSON(t, *render(given))); diff != "" {
				t.Errorf("given (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(asJSON(t, stored), asJSON(t, *render(gateway.ChatCompletionRequest{}))); diff != "" {
				t.Errorf("not given (-want +got):\n%s", diff)
			}
		})
	}
	t.Run("empty lists take stored ones away", func(t *testing.T) {
		client, _ := newClient(t, gateway.WithPrompts(&shelf{request: &gateway.ChatCompletionRequest{
			Model: "m", Stop: gateway.Stop{"a"}, Modalities: []string{"text"}, Tools: []gateway.Tool{weather()},
		}}))
		out, err := client.Prompts.Render(t.Context(), welcome(func(q *gateway.PromptCompletionRequest) {
			q.Overrides = gateway.ChatCompletionRequest{Stop: gateway.Stop{}, Modalities: []string{}, Tools: []gateway.Tool{}}
		}))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(`{"model":"m","messages":[{"role":"user","content":"Hello, Ada"}]}`, asJSON(t, *out.Request)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

func asJSON(t *testing.T, req gateway.ChatCompletionRequest) string {
	t.Helper()
	body, err := json.Marshal(req)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

// fill sets a member to a value that tells who set it.
func fill(v reflect.Value, by string) {
	n := int64(len(by))
	switch v.Interface().(type) {
	case gateway.Extra:
		v.SetBytes([]byte(`{"both":"` + by + `","` + by + `":1}`))
		if by == "stored" {
			v.SetBytes([]byte(`{"stored":1,"both":"stored"}`))
		}
		return
	case *gateway.ToolChoice:
		v.Set(reflect.ValueOf(gateway.ChooseFunction(by)))
		return
	case []gateway.Tool:
		v.Set(reflect.ValueOf([]gateway.Tool{gateway.FunctionTool(by, "", nil)}))
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), by)
	case reflect.Struct:
		fill(v.Field(0), by)
	case reflect.String:
		v.SetString(by)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0), by)
	case reflect.Map:
		v.Set(reflect.ValueOf(map[string]string{by: "1"}))
	case reflect.Bool:
		v.SetBool(by == "given")
	case reflect.Int, reflect.Int64:
		v.SetInt(n)
	case reflect.Float64:
		v.SetFloat(float64(n))
	}
}
