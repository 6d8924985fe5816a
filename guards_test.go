package gateway_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway"
	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

var errFound = errors.New("found: the secret")

// finds is a guard that takes a second and finds fault with texts that have the
// word.
func finds(name, word string, mode gateway.GuardMode) gateway.Guard {
	judge := func(ctx context.Context, text string) error {
		select {
		case <-time.After(time.Second):
		case <-ctx.Done():
			return ctx.Err()
		}
		if strings.Contains(text, word) {
			return errFound
		}
		return nil
	}
	return gateway.Guard{
		Name: name, Mode: mode,
		Request: func(ctx context.Context, req *gateway.ChatCompletionRequest) (*gateway.ChatCompletionRequest, error) {
			return req, judge(ctx, req.Messages[len(req.Messages)-1].Content.Text())
		},
		Answer: func(ctx context.Context, _ *gateway.ChatCompletionRequest, answer *gateway.ChatCompletion) (*gateway.ChatCompletion, error) {
			return answer, judge(ctx, answer.Text())
		},
	}
}

// rewrites is a guard that replaces a word in requests and answers.
func rewrites(name, word, with string, mode gateway.GuardMode) gateway.Guard {
	return gateway.Guard{
		Name: name, Mode: mode,
		Request: func(_ context.Context, req *gateway.ChatCompletionRequest) (*gateway.ChatCompletionRequest, error) {
			own := *req
			own.Messages = slices.Clone(req.Messages)
			last := &own.Messages[len(own.Messages)-1]
			last.Content = gateway.UserMessage(strings.ReplaceAll(last.Content.Text(), word, with)).Content
			return &own, nil
		},
		Answer: func(_ context.Context, _ *gateway.ChatCompletionRequest, answer *gateway.ChatCompletion) (*gateway.ChatCompletion, error) {
			own := *answer
			own.Choices = slices.Clone(answer.Choices)
			m := &own.Choices[0].Message
			m.Content = gateway.AssistantMessage(strings.ReplaceAll(m.Content.Text(), word, with)).Content
			return &own, nil
		},
	}
}

// requestOnly and answerOnly leave a guard one of its functions.
func requestOnly(g gateway.Guard) gateway.Guard { g.Answer = nil; return g }
func answerOnly(g gateway.Guard) gateway.Guard  { g.Request = nil; return g }

// guarded is a call of a client with guards, and what comes of it.
type guarded struct {
	name   string
	client []gateway.Guard
	call   []gateway.Guard
	named  []gateway.Guard
	config string
	prompt string // "Hello" when empty
	script map[string][]vertextest.Reply

	want     string // text of the answer, or the error
	sent     bool   // of the error
	asked    string // models, and what they were asked
	verdicts string
	warnings []string
	took     time.Duration
}

func TestGuards(t *testing.T) {
	const deny, observe = gateway.GuardDeny, gateway.GuardObserve
	say := func(text string) map[string][]vertextest.Reply {
		return map[string][]vertextest.Reply{first: {vertextest.Text(text)}}
	}
	twice := map[string][]vertextest.Reply{first: {vertextest.Text("a bad one")}, second: {vertextest.Text("a good one")}}
	over446 := func(guards string) string {
		return `{"strategy":{"mode":"fallback","on_status_codes":[446]},"targets":[` + to(first, `"guards":[`+guards+`]`) + `,` + to(second) + `]}`
	}
	for _, tt := range []guarded{
		{
			name: "nothing is found", client: []gateway.Guard{finds("g", "bad", "")}, script: say("well"),
			want: "well", asked: first + " Hello", verdicts: "g request deny, g answer deny", took: 2 * time.Second,
		},
		{
			name: "a denied request is not sent", client: []gateway.Guard{finds("g", "bad", deny)}, prompt: "a bad one",
			want: "guard_denied: the guard g denied the request", verdicts: "g request deny denied", took: time.Second,
		},
		{
			name: "a denied answer is not shown", client: []gateway.Guard{finds("g", "bad", "")}, script: say("a bad one"),
			want: "guard_denied: vertex-ai: the guard g denied the answer", sent: true, asked: first + " Hello",
			verdicts: "g request deny, g answer deny denied", took: 2 * time.Second,
		},
		{
			name: "who observes changes nothing", client: []gateway.Guard{finds("g", "bad", observe)}, prompt: "a bad one", script: say("a bad one"),
			want: "a bad one", asked: first + " a bad one", verdicts: "g request observe denied, g answer observe denied", took: 2 * time.Second,
			warnings: []string{"the guard g, which observes, found fault with the request", "the guard g, which observes, found fault with the answer"},
		},
		{
			name: "a guard rewrites", client: []gateway.Guard{rewrites("r", "bad", "good", deny)}, prompt: "a bad one", script: say("a bad answer"),
			want: "a good answer", asked: first + " a good one", verdicts: "r request deny changed, r answer deny changed",
		},
		{
			name: "who observes rewrites nothing", client: []gateway.Guard{rewrites("r", "bad", "good", observe)}, prompt: "a bad one", script: say("a bad answer"),
			want: "a bad answer", asked: first + " a bad one", verdicts: "r request observe changed, r answer observe changed",
		},
		{
			name: "the client's come first", prompt: "a bad one", script: say("well"),
			client: []gateway.Guard{requestOnly(rewrites("r", "bad", "good", ""))}, call: []gateway.Guard{requestOnly(finds("g", "bad", ""))},
			want: "well", asked: first + " a good one", verdicts: "r request deny changed, g request deny", took: time.Second,
		},
		{
			name: "the call's come last", prompt: "a bad one",
			client: []gateway.Guard{requestOnly(finds("g", "bad", ""))}, call: []gateway.Guard{requestOnly(rewrites("r", "bad", "good", ""))},
			want: "guard_denied: the guard g denied the request", verdicts: "g request deny denied", took: time.Second,
		},
		{
			name: "a config's guard", named: []gateway.Guard{finds("g", "bad", "")}, config: to(first, `"guards":[{"name":"g"}]`), script: say("a bad one"),
			want: "guard_denied: vertex-ai: the guard g denied the answer", sent: true, asked: first + " Hello",
			verdicts: "g request deny, g answer deny denied", took: 2 * time.Second,
		},
		{
			name: "a config's guard that observes", named: []gateway.Guard{answerOnly(finds("g", "bad", ""))},
			config: to(first, `"guards":[{"name":"g","mode":"observe"}]`), script: say("a bad one"),
			want: "a bad one", asked: first + " Hello", verdicts: "g answer observe denied", took: time.Second,
			warnings: []string{"the guard g, which observes, found fault with the answer"},
		},
		{
			name: "a request that a config's guard denies", named: []gateway.Guard{finds("g", "bad", "")}, config: to(first, `"guards":[{"name":"g"}]`), prompt: "a bad one",
			want: "guard_denied: the guard g denied the request", verdicts: "g request deny denied", took: time.Second,
		},
		{
			name: "another target, where the config names the status", named: []gateway.Guard{answerOnly(finds("g", "bad", ""))}, script: twice,
			config: over446(`{"name":"g"}`), want: "a good one", asked: first + " Hello, " + second + " Hello",
			verdicts: "g answer deny denied targets[0]", took: time.Second,
		},
		{
			name: "another target after a denied request", named: []gateway.Guard{requestOnly(finds("g", "bad", ""))}, script: twice, prompt: "a bad question",
			config: over446(`{"name":"g"}`), want: "a good one", asked: second + " a bad question",
			verdicts: "g request deny denied targets[0]", took: time.Second,
		},
		{
			name: "no other target, where it does not", named: []gateway.Guard{answerOnly(finds("g", "bad", ""))}, script: twice,
			config: fallback(to(first, `"guards":[{"name":"g"}]`), to(second)), want: "guard_denied: vertex-ai: the guard g denied the answer", sent: true,
			asked: first + " Hello", verdicts: "g answer deny denied targets[0]", took: time.Second,
		},
		{
			name: "no other target after the client's", client: []gateway.Guard{answerOnly(finds("g", "bad", ""))}, script: twice,
			config: `{"strategy":{"mode":"fallback","on_status_codes":[446]},"targets":[` + to(first) + `,` + to(second) + `]}`,
			want:   "guard_denied: vertex-ai: the guard g denied the answer", sent: true, asked: first + " Hello",
			verdicts: "g answer deny denied", took: time.Second,
		},
		{
			name: "a request is judged once for all tries", named: []gateway.Guard{requestOnly(rewrites("r", "bad", "good", ""))}, prompt: "a bad one",
			config: to(first, `"retry":{"attempts":1}`, `"guards":[{"name":"r"}]`),
			script: map[string][]vertextest.Reply{first: {vertextest.Overloaded(), vertextest.Text("well")}},
			want:   "well", asked: first + " a good one, " + first + " a good one", verdicts: "r request deny changed",
		},
		{
			name: "inside and outside", client: []gateway.Guard{answerOnly(rewrites("out", "good", "fine", ""))},
			named: []gateway.Guard{answerOnly(rewrites("in", "bad", "good", ""))}, config: to(first, `"guards":[{"name":"in"}]`), script: say("a bad one"),
			want: "a fine one", asked: first + " Hello", verdicts: "in answer deny changed, out answer deny changed",
		},
	} {
		t.Run(tt.name, func(t *testing.T) { synctest.Test(t, tt.run(false)) })
		t.Run(tt.name+", streamed", func(t *testing.T) { synctest.Test(t, tt.run(true)) })
	}
}

func (g *guarded) run(stream bool) func(*testing.T) {
	return func(t *testing.T) {
		var ended gateway.Record
		opts := []gateway.ClientOption{gateway.WithGuards(g.client...), gateway.WithNamedGuards(g.named...), gateway.WithObserver(&watch{end: func(r gateway.Record) { ended = r }})}
		if g.config != "" {
			c, err := gateway.ParseConfig([]byte(g.config))
			if err != nil {
				t.Fatal(err)
			}
			opts = append(opts, gateway.WithConfig(c))
		}
		client, srv := emulated(opts...)
		defer srv.Close()
		defer func() { _ = client.Close() }()
		for model, replies := range g.script {
			srv.ScriptFor(model, replies...)
		}
		begin := time.Now()
		answer, err := answerTo(t, client, prompted(g.prompt), stream, gateway.WithGuards(g.call...))
		checkGuarded(t, g, answer, err)
		var asked []string
		for _, r := range srv.Requests() {
			asked = append(asked, r.Model+" "+askedFor(t, r.Body))
		}
		if d := cmp.Diff(g.asked, strings.Join(asked, ", ")); d != "" {
			t.Errorf("asked (-want +got)\n%s", d)
		}
		if d := cmp.Diff(g.verdicts, verdicts(ended.Meta.Guards)); d != "" {
			t.Errorf("verdicts that observers see (-want +got)\n%s", d)
		}
		if took := time.Since(begin); took < g.took || took > g.took+time.Second {
			t.Errorf("it took %v, want %v", took, g.took)
		}
	}
}

func checkGuarded(t *testing.T, g *guarded, answer *gateway.ChatCompletion, err error) {
	t.Helper()
	if err != nil {
		var e *gateway.Error
		if !errors.As(err, &e) || !errors.Is(err, errFound) || !errors.Is(err, gateway.ErrGuardDenied) {
			t.Fatalf("error %v", err)
		}
		if e.Error() != g.want || e.Sent != g.sent {
			t.Errorf("error %q, sent %v, want %q, %v", e, e.Sent, g.want, g.sent)
		}
		return
	}
	if answer.Text() != g.want {
		t.Errorf("%q, want %q", answer.Text(), g.want)
	}
	if d := cmp.Diff(g.verdicts, verdicts(answer.Meta.Guards)); d != "" {
		t.Errorf("verdicts (-want +got)\n%s", d)
	}
	var found []string
	for _, w := range answer.Meta.Warnings {
		if w.Code == gateway.WarnGuard {
			found = append(found, w.Message)
		}
	}
	if d := cmp.Diff(g.warnings, found); d != "" {
		t.Errorf("warnings (-want +got)\n%s", d)
	}
}

// verdicts writes verdicts down in short.
func verdicts(list []gateway.GuardVerdict) string {
	out := make([]string, 0, len(list))
	for _, v := range list {
		words := []string{v.Name, string(v.Stage), string(v.Mode)}
		if v.Denied {
			words = append(words, "denied")
		}
		if v.Changed {
			words = append(words, "changed")
		}
		if v.Target != "" {
			words = append(words, v.Target)
		}
		if v.Denied != errors.Is(v.Err, errFound) {
			words = append(words, fmt.Sprint("with the error ", v.Err))
		}
		out = append(out, strings.Join(words, " "))
	}
	return strings.Join(out, ", ")
}

// watch is an observer of ends.
type watch struct{ end func(gateway.Record) }

func (*watch) CallStart(ctx context.Context, _ gateway.Call) context.Context { return ctx }
func (w *watch) CallEnd(_ context.Context, r gateway.Record)                 { w.end(r) }

func prompted(prompt string) *gateway.ChatCompletionRequest {
	if prompt == "" {
		prompt = "Hello"
	}
	return &gateway.ChatCompletionRequest{Model: first, Temperature: new(0.9), Messages: []gateway.Message{gateway.UserMessage(prompt)}}
}

// askedFor is the last text of a request to the platform.
func askedFor(t *testing.T, body []byte) string {
	t.Helper()
	_, rest, ok := strings.Cut(string(body), `"text":"`)
	if !ok {
		t.Fatalf("no text in %s", body)
	}
	text, _, _ := strings.Cut(rest, `"`)
	return text
}
