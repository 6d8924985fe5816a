package vertex_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/internal/testkit/outcome"
	"github.com/b650d4bf/gateway/providers"
	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

// counts lists the candidateCount of each request the emulator got.
func counts(srv *vertextest.Server) string {
	var list []string
	for _, r := range srv.Requests() {
		n := "1"
		if _, rest, ok := strings.Cut(string(r.Body), `"candidateCount":`); ok {
			n = rest[:1]
		}
		list = append(list, n)
	}
	return strings.Join(list, " ")
}

func TestChoicesBeyondOneRequestAreSharedOut(t *testing.T) {
	for _, tt := range []struct {
		model    string
		n        int
		requests int
	}{
		{"gemini-2.5-flash", 3, 1},
		{"gemini-2.5-flash", 10, 2},
		{"gemini-3-flash", 3, 3},
		{"gemini-3.8-flash", 2, 2},
		{"gemini-4-argon", 16, 16},
	} {
		for _, stream := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/%d/stream=%v", tt.model, tt.n, stream), func(t *testing.T) {
				srv := vertextest.New()
				defer srv.Close()
				p := newProvider(t, srv.Transport())
				q := hello(t, tt.model, fmt.Sprintf(`"n":%d`, tt.n))
				one, err := p.ChatCompletion(t.Context(), target(tt.model), hello(t, tt.model))
				if err != nil {
					t.Fatal(err)
				}
				answer, err := answerTo(t, p, q, stream)
				if err != nil {
					t.Fatal(err)
				}
				if got := len(srv.Requests()) - 1; got != tt.requests {
					t.Errorf("%d requests (%s), want %d", got, counts(srv), tt.requests)
				}
				var want, got []string
				for i := range tt.n {
					want = append(want, fmt.Sprint(i, one.Text(), "stop"))
				}
				for _, c := range answer.Choices {
					got = append(got, fmt.Sprint(c.Index, c.Message.Content.Text(), c.FinishReason))
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("choices (-want +got)\n%s", diff)
				}
				u := answer.Usage
				if u.TotalTokens != u.PromptTokens+u.CompletionTokens || u.PromptTokens != int64(tt.requests)*one.Usage.PromptTokens {
					t.Errorf("usage %+v for %d requests of %+v", u, tt.requests, one.Usage)
				}
			})
		}
	}
}

// answerTo returns the whole answer, or the fold of the stream, whose chunks
// must share one id.
func answerTo(t *testing.T, p providers.Provider, q *providers.ChatCompletionRequest, stream bool) (*providers.ChatCompletion, error) {
	t.Helper()
	if !stream {
		return p.ChatCompletion(t.Context(), target(q.Model), q)
	}
	r, err := p.ChatCompletionStream(t.Context(), target(q.Model), q)
	if err != nil {
		return nil, err
	}
	chunks, whole, err := outcome.Read(r)
	for i, c := range chunks {
		if c.ID != chunks[0].ID || c.Meta != nil && i > 0 || c.Usage != nil && i < len(chunks)-1 {
			t.Errorf("chunk %d of %d: %+v", i, len(chunks), c)
		}
	}
	return whole, err
}

func TestOneFailureFailsAllChoices(t *testing.T) {
	for _, stream := range []bool{false, true} {
		t.Run(fmt.Sprintf("stream=%v", stream), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv := vertextest.New()
				defer srv.Close()
				srv.Script(vertextest.Auto(), vertextest.Error(429, "RESOURCE_EXHAUSTED", "no more"))
				_, err := answerTo(t, newProvider(t, srv.Transport()), hello(t, "gemini-3-flash", `"n":3`), stream)
				if !errors.Is(err, providers.ErrRateLimited) {
					t.Errorf("%v, want %s", err, providers.ErrRateLimited)
				}
			})
		})
	}
}

func TestASharedStreamCanBeClosedFromElsewhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := vertextest.New()
		defer srv.Close()
		srv.Script(vertextest.Auto().Paced(time.Minute), vertextest.Auto().Paced(time.Minute))
		p := newProvider(t, srv.Transport())
		r, err := p.ChatCompletionStream(t.Context(), target("gemini-3-flash"), hello(t, "gemini-3-flash", `"n":2`))
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			time.Sleep(time.Second)
			_ = r.Close()
		}()
		for err == nil {
			_, err = r.Recv()
		}
		if errors.Is(err, io.EOF) && !errors.Is(err, providers.ErrCanceled) {
			t.Errorf("%v, want %s", err, providers.ErrCanceled)
		}
	})
}
