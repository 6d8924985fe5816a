package gateway_test

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway"
	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

// moment is one chunk, and when it came.
type moment struct {
	Text  string
	After time.Duration
}

// listen reads a stream and says what came when, counted from begin.
func listen(t *testing.T, s *gateway.ChatStream, begin time.Time) (list []moment) {
	t.Helper()
	for {
		chunk, err := s.Recv()
		if err == io.EOF { // the contract is io.EOF itself
			return list
		}
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, moment{chunk.Choices[0].Delta.Content, time.Since(begin)})
	}
}

func TestGuardsThatDenyHoldStreamsBack(t *testing.T) {
	const text = "one two three four five six seven eight nine ten"
	paced := func(t *testing.T, guards ...gateway.Guard) (list []moment, opened time.Duration, meta gateway.Meta) {
		client, srv := emulated(gateway.WithGuards(guards...))
		defer srv.Close()
		defer client.Close()
		srv.Script(vertextest.Text(text).Paced(time.Second))
		begin := time.Now()
		s, err := client.Chat.Completions.CreateStream(t.Context(), prompted(""))
		if err != nil {
			t.Fatal(err)
		}
		opened = time.Since(begin)
		known := s.Meta().Guards
		list = listen(t, s, begin)
		if meta = s.Meta(); opened > time.Second {
			if d := cmp.Diff(verdicts(meta.Guards), verdicts(known)); d != "" {
				t.Errorf("what was known when it began (-want +got)\n%s", d)
			}
		} else if len(known) != 0 {
			t.Errorf("verdicts before the end: %s", verdicts(known))
		}
		return list, opened, meta
	}
	synctest.Test(t, func(t *testing.T) {
		plain, _, _ := paced(t)
		end := plain[len(plain)-1].After
		if len(plain) < 3 || end < 2*time.Second {
			t.Fatalf("the stream is no test: %v", plain)
		}
		nothing := answerOnly(finds("g", "bad", gateway.GuardObserve))

		observed, opened, meta := paced(t, nothing)
		if d := cmp.Diff(plain, observed); d != "" || opened != 0 {
			t.Errorf("observed, opened after %v (-want +got)\n%s", opened, d)
		}
		if d := cmp.Diff("g answer observe", verdicts(meta.Guards)); d != "" {
			t.Errorf("observed verdicts (-want +got)\n%s", d)
		}

		nothing.Mode = gateway.GuardDeny
		held, opened, meta := paced(t, nothing, requestOnly(finds("other", "bad", "")))
		want := slices.Clone(plain)
		for i := range want {
			want[i].After = end + 2*time.Second // each guard takes one
		}
		if d := cmp.Diff(want, held); d != "" || opened != end+2*time.Second {
			t.Errorf("held back, opened after %v (-want +got)\n%s", opened, d)
		}
		if d := cmp.Diff("other request deny, g answer deny", verdicts(meta.Guards)); d != "" {
			t.Errorf("verdicts (-want +got)\n%s", d)
		}
	})
}

// A guard as users write it: it copies too little, and knows of no blocks.
func naive() gateway.Guard {
	return gateway.Guard{Name: "naive", Answer: func(_ context.Context, _ *gateway.ChatCompletionRequest, answer *gateway.ChatCompletion) (*gateway.ChatCompletion, error) {
		own := *answer
		m := &own.Choices[0].Message
		m.Content = gateway.AssistantMessage(strings.ReplaceAll(m.Content.Text(), "bad", "***")).Content
		return &own, nil
	}}
}

func TestNothingOfARewrittenAnswerIsLeft(t *testing.T) {
	client, srv := emulated(gateway.WithGuards(naive()))
	defer srv.Close()
	defer client.Close()
	const body = `{"model":"gemini-2.5-flash","max_tokens":64,"messages":[{"role":"user","content":"Hello!"}]}`
	for _, tt := range []struct {
		name string
		ask  func() (string, error)
	}{
		{"chat", func() (string, error) { return allOf(answerTo(t, client, prompted(""), false)) }},
		{"chat, streamed", func() (string, error) { return allOf(answerTo(t, client, prompted(""), true)) }},
		{"chat with blocks", func() (string, error) {
			return allOf(answerTo(t, client, prompted(""), false, gateway.WithStrictCompliance(false)))
		}},
		{"chat with blocks, streamed", func() (string, error) {
			return allOf(answerTo(t, client, prompted(""), true, gateway.WithStrictCompliance(false)))
		}},
		{"messages", func() (string, error) {
			answer, err := client.Messages.Create(t.Context(), []byte(body))
			if err != nil {
				return "", err
			}
			return string(answer.Body), nil
		}},
		{"messages, streamed", func() (string, error) {
			s, err := client.Messages.CreateStream(t.Context(), []byte(body))
			if err != nil {
				return "", err
			}
			all := ""
			for e, err := range s.Events() {
				if err != nil {
					return "", err
				}
				all += string(e.Data)
			}
			return all, nil
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			srv.Script(vertextest.Thought("hm", "a bad one, truly bad, and long enough for several chunks"))
			got, err := tt.ask()
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(got, "bad") || strings.Count(got, "a *** one, truly ***, and long enough for several chunks") == 0 {
				t.Errorf("got %s", got)
			}
		})
	}
}

// allOf is all that an answer holds.
func allOf(a *gateway.ChatCompletion, err error) (string, error) {
	if err != nil {
		return "", err
	}
	b, err := a.MarshalJSON()
	return string(b), err
}

func TestAStreamThatBreaksWhileItIsHeldBack(t *testing.T) {
	cut := vertextest.Text("one two three four five six seven eight nine ten").CutAfterEvents(2)
	guard := answerOnly(finds("g", "bad", ""))
	t.Run("is asked for elsewhere", func(t *testing.T) {
		c, err := gateway.ParseConfig([]byte(`{"guards":[{"name":"g"}],"strategy":{"mode":"fallback"},"targets":[` + to(first) + `,` + to(second) + `]}`))
		if err != nil {
			t.Fatal(err)
		}
		client, srv := emulated(gateway.WithNamedGuards(guard), gateway.WithConfig(c))
		defer srv.Close()
		defer client.Close()
		srv.ScriptFor(first, cut)
		srv.ScriptFor(second, vertextest.Text("whole"))
		answer, err := answerTo(t, client, prompted(""), true)
		if err != nil || answer.Text() != "whole" {
			t.Fatalf("%v, %v", answer, err)
		}
		if d := cmp.Diff("g answer deny targets[1]", verdicts(answer.Meta.Guards)); d != "" {
			t.Errorf("verdicts (-want +got)\n%s", d)
		}
	})
	for _, config := range []string{"", to(first, `"retry":{"attempts":0}`), fallback(to(first), to(second))} {
		t.Run("shows nothing of it "+config, func(t *testing.T) {
			opts := []gateway.ClientOption{gateway.WithGuards(guard)}
			if config != "" {
				c, err := gateway.ParseConfig([]byte(config))
				if err != nil {
					t.Fatal(err)
				}
				opts = append(opts, gateway.WithConfig(c))
			}
			client, srv := emulated(opts...)
			defer srv.Close()
			defer client.Close()
			srv.ScriptFor(first, cut)
			_, err := client.Chat.Completions.CreateStream(t.Context(), prompted(""))
			var e *gateway.Error
			if !errors.As(err, &e) || e.Code != gateway.ErrStreamCut || e.Partial != nil {
				t.Fatalf("error %v", err)
			}
			if n := len(e.Attempts); n != 1 || e.Attempts[0].Code != gateway.ErrStreamCut {
				t.Errorf("attempts %+v", e.Attempts)
			}
		})
	}
}

func TestAStreamThatBreaksIsNotJudged(t *testing.T) {
	var ended gateway.Record
	client, srv := emulated(gateway.WithGuards(answerOnly(finds("g", "one", gateway.GuardObserve))), gateway.WithObserver(&watch{end: func(r gateway.Record) { ended = r }}))
	defer srv.Close()
	defer client.Close()
	srv.Script(vertextest.Text("one two three four five six seven eight nine ten").CutAfterEvents(2))
	_, err := answerTo(t, client, prompted(""), true)
	if !errors.Is(err, gateway.ErrStreamCut) || len(ended.Meta.Guards) != 0 {
		t.Errorf("error %v, verdicts %s", err, verdicts(ended.Meta.Guards))
	}
}

// A guard that observes is not asked of a stream that was closed early.
func TestAStreamThatIsClosedIsNotJudged(t *testing.T) {
	client, srv := emulated(gateway.WithGuards(answerOnly(finds("g", "bad", gateway.GuardObserve))))
	defer srv.Close()
	defer client.Close()
	s, err := client.Chat.Completions.CreateStream(t.Context(), prompted(""))
	if err != nil {
		t.Fatal(err)
	}
	_ = s.Close()
	if got := verdicts(s.Meta().Guards); got != "" {
		t.Errorf("verdicts %s", got)
	}
}
