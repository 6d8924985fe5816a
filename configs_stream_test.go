package gateway_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway"
	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

// TestConfigStreams has what becomes of streams that break, before their first
// output and after it.
func TestConfigStreams(t *testing.T) {
	pair, two := fallback(to(first), to(second)), script(second, text("two"))
	const long = "one, and much more than that to say"
	rich := []call{{opts: []gateway.RequestOption{gateway.WithStrictCompliance(false)}}}
	list := []scenario{
		{name: "an answer that can't be read", config: pair, script: scripts(script(first, vertextest.JSON(200, `{"candidates":`)), two),
			asked: "first@0s second@0s", saw: "two@0s; [0] stream_interrupted; [1] ok"},
		{name: "a connection that broke", config: pair, script: scripts(script(first, text("one").CutAfter(0)), two),
			asked: "first@0s second@0s", saw: "two@0s; [0] stream_interrupted; [1] ok"},
		{name: "half of the first event", config: pair, script: scripts(script(first, text("one").CutAfter(20)), two),
			asked: "first@0s second@0s", saw: "two@0s; [0] stream_interrupted; [1] ok"},
		{name: "an error in the place of the first event", config: pair, script: scripts(script(first, text(long).FailAfterEvents(0, 503, "UNAVAILABLE", "busy")), two),
			asked: "first@0s second@0s", saw: "two@0s; [0] 503; [1] ok"},
		{name: "an error after the first output", config: pair, script: scripts(script(first, text(long).FailAfterEvents(1, 503, "UNAVAILABLE", "busy")), two),
			asked: "first@0s", saw: `!service_unavailable, sent, partial "one,"@0s; [0] service_unavailable`},
		{name: "a cut after the first output", config: pair, script: scripts(script(first, text(long).CutAfterEvents(2)), two),
			asked: "first@0s", saw: `!stream_interrupted, sent, partial "one, and much more"@0s; [0] stream_interrupted`},
		{name: "a cut after the first output, no retry", config: again(first, 3), script: script(first, text(long).CutAfterEvents(2), text("one")),
			asked: "first@0s", saw: `!stream_interrupted, sent, partial "one, and much more"@0s; - stream_interrupted`},
		{name: "a cut after a thought", config: pair, script: scripts(script(first, vertextest.Thought("hm, well", long).CutAfterEvents(1)), two),
			asked: "first@0s second@0s", saw: "two@0s; [0] stream_interrupted; [1] ok"},
		{name: "a cut after a thought that the caller is shown", config: pair, calls: rich, script: scripts(script(first, vertextest.Thought("hm, well", long).CutAfterEvents(1)), two),
			asked: "first@0s second@0s", saw: "two@0s; [0] stream_interrupted; [1] ok"},
		{name: "a cut before the first output is not retried", config: again(first, 1), script: script(first, text("one").CutAfter(0), text("two")),
			asked: "first@0s", saw: "!stream_interrupted, sent@0s; - stream_interrupted"},
		{name: "an error before the first output is retried", config: again(first, 1), script: script(first, text(long).FailAfterEvents(0, 503, "UNAVAILABLE", "busy"), text("two")),
			asked: "first@0s first@0s", saw: "two@0s; - 503; -#1 ok"},
		{name: "a Claude's role is no output", config: fallback(to(third), to(second)), script: scripts(script(third, text(long).CutAfterEvents(1)), two),
			asked: "third@0s second@0s", saw: "two@0s; [0] stream_interrupted; [1] ok"},
		{name: "a Claude's first word is", config: fallback(to(third), to(second)), script: scripts(script(third, text(long).CutAfterEvents(5)), two),
			asked: "third@0s", saw: `!stream_interrupted, sent, partial "one, and much more"@0s; [0] stream_interrupted`},
		{name: "a stream without anything", config: pair, script: scripts(script(first, vertextest.SSE()), two),
			asked: "first@0s second@0s", saw: "two@0s; [0] stream_interrupted; [1] ok"},
		{name: "a stream of usage alone", config: pair, script: scripts(script(first, vertextest.SSE(`{"usageMetadata":{"promptTokenCount":1,"totalTokenCount":1}}`)), two),
			asked: "first@0s second@0s", saw: "two@0s; [0] stream_interrupted; [1] ok"},
		{name: "a stream with a finish reason alone", config: pair, script: scripts(script(first, vertextest.Finish("STOP", "")), two),
			asked: "first@0s", saw: "@0s; [0] ok"},
		{name: "a blocked prompt", config: pair, script: scripts(script(first, vertextest.Blocked("SAFETY")), two),
			asked: "first@0s", saw: "!content_filter, sent@0s; [0] 400"},
		{name: "a page that is no stream", config: pair, script: scripts(script(first, vertextest.HTML404()), two),
			asked: "first@0s second@0s", saw: "two@0s; [0] 404; [1] ok"},
		{name: "a first event that is late", config: fallback(to(first, `"request_timeout":1000`), to(second)), script: scripts(script(first, text(long).After(2*time.Second)), two),
			asked: "first@0s second@1s", saw: "two@1s; [0] timeout; [1] ok"},
		{name: "a stream that is left", config: pair, script: script(first, text(long).Paced(time.Minute)), calls: []call{{leave: true}},
			asked: "first@0s", saw: "@0s; [0] ok"},
		{name: "a caller who had enough midway", config: pair, script: script(first, text(long).Paced(time.Second)), calls: []call{{cancel: 1500 * time.Millisecond}},
			asked: "first@0s", saw: `!canceled, sent, partial "one, and much more"@1.5s; [0] ok`},
		{name: "a caller who had enough before", config: pair, script: script(first, text(long).After(time.Minute)), calls: []call{{cancel: time.Second}},
			asked: "first@0s", saw: "!canceled, sent@1s; [0] canceled"},
		{name: "no wait beyond the time of the call", config: again(first, 1), script: script(first, vertextest.RateLimited(5*time.Second)), calls: within(2 * time.Second),
			asked: "first@0s", saw: "!rate_limit_exceeded@0s; - 429"},
	}
	for i := range list {
		list[i].stream = true
	}
	runScenarios(t, list)
}

// TestConfigStreamsSayNothingTwice reads a stream chunk by chunk, each with its
// time.
func TestConfigStreamsSayNothingTwice(t *testing.T) {
	for _, tt := range []struct {
		name   string
		config string
		strict bool
		script map[string][]vertextest.Reply
		want   []string
	}{
		{
			name: "a target that breaks in its thoughts leaves no trace", config: fallback(to(first), to(second)),
			script: scripts(script(first, vertextest.Thought("hm", "one").CutAfterEvents(1)), script(second, text("two"))),
			want:   []string{"0s two"},
		},
		{
			name: "thoughts wait for the first output", config: fallback(to(first), to(second)),
			script: script(first, vertextest.Thought("hm", "one").Paced(time.Second)),
			want:   []string{"1s (hm)", "1s one"},
		},
		{
			name: "thoughts don't wait where there is no second try", config: to(first),
			script: script(first, vertextest.Thought("hm", "one").Paced(time.Second)),
			want:   []string{"0s (hm)", "1s one"},
		},
		{
			name: "what follows the first output comes as it comes", config: fallback(to(first), to(second)), strict: true,
			script: script(first, text("one, and much more than that").Paced(time.Second)),
			want:   []string{"0s one,", "1s  and much more", "2s  than that"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := scenario{config: tt.config, script: tt.script, client: []gateway.ClientOption{gateway.WithStrictCompliance(tt.strict)}}
				client, _ := s.open(t)
				if d := gocmp.Diff(tt.want, pieces(t, client)); d != "" {
					t.Errorf("(-want +got)\n%s", d)
				}
			})
		})
	}
}

// pieces are what a stream gave out: times, thoughts in brackets, and text.
func pieces(t *testing.T, client *gateway.Client) (out []string) {
	t.Helper()
	begin := time.Now()
	stream, err := client.Chat.Completions.CreateStream(t.Context(), &gateway.ChatCompletionRequest{
		Model: first, Messages: []gateway.Message{gateway.UserMessage("Hello")},
	})
	if err != nil {
		t.Fatal(err)
	}
	for {
		chunk, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range chunk.Choices {
			piece := c.Delta.Content
			for _, b := range c.Delta.ContentBlocks {
				if b.Delta.Thinking != "" {
					piece = "(" + b.Delta.Thinking + ")" + piece
				}
			}
			if piece != "" {
				out = append(out, fmt.Sprint(time.Since(begin), " ", piece))
			}
		}
	}
}

// TestConfigPartialAnswers has what an error shows of an answer that broke off: no
// more than the answer would have.
func TestConfigPartialAnswers(t *testing.T) {
	for _, strict := range []bool{true, false} {
		t.Run(fmt.Sprint("strict ", strict), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := scenario{
					config: fallback(to(second), to(first)), client: []gateway.ClientOption{gateway.WithStrictCompliance(strict)},
					script: script(second, vertextest.Thought("hm", "one, and much more than that").CutAfterEvents(2)),
				}
				client, _ := s.open(t)
				stream, err := client.Chat.Completions.CreateStream(t.Context(), &gateway.ChatCompletionRequest{
					Model: first, Messages: []gateway.Message{gateway.UserMessage("Hello")},
				})
				if err != nil {
					t.Fatal(err)
				}
				for err == nil {
					_, err = stream.Recv()
				}
				e, ok := errors.AsType[*gateway.Error](err)
				if !ok || e.Partial == nil || !errors.Is(err, gateway.ErrStreamCut) {
					t.Fatalf("%#v", err)
				}
				m := &e.Partial.Choices[0].Message
				if got := m.ContentBlocks != nil; got == strict || !strings.HasPrefix("one, and much more than that", m.Content.Text()) || m.Content.Text() == "" {
					t.Errorf("%+v", m)
				}
				if e.StatusCode != 0 && e.StatusCode != http.StatusOK {
					t.Errorf("status %d", e.StatusCode)
				}
			})
		})
	}
}
