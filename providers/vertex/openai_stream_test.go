package vertex_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/b650d4bf/gateway/internal/testkit/outcome"
	"github.com/b650d4bf/gateway/providers"
)

// pipes is a transport whose answers are written by the test, and stay open.
type pipes struct{ body *io.PipeReader }

func (p pipes) RoundTrip(r *http.Request) (*http.Response, error) {
	if _, err := io.Copy(io.Discard, r.Body); err != nil {
		return nil, err
	}
	return &http.Response{StatusCode: http.StatusOK, Body: p.body, Request: r, ContentLength: -1}, r.Body.Close()
}

const openModel = "qwen.qwen3-coder-480b-a35b-instruct-maas"

// TestAWholeStreamDoesNotWaitForItsConnection reads a stream whose server says
// that it is whole and keeps the connection.
func TestAWholeStreamDoesNotWaitForItsConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, out := io.Pipe()
		defer func() { _ = out.Close() }()
		r, err := newProvider(t, pipes{in}).ChatCompletionStream(t.Context(), target(openModel), hello(t, openModel))
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			_, _ = io.WriteString(out, `data: {"choices":[{"delta":{"content":"hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":1}}`+"\n\ndata: [DONE]\n\n")
		}()
		began := time.Now()
		for i, want := range []string{"hi", "", ""} { // the text, the finish reason and the usage
			c, err := r.Recv()
			if err != nil || len(c.Choices) > 0 && c.Choices[0].Delta.Content != want {
				t.Fatalf("%d: %+v %v", i, c, err)
			}
		}
		if since := time.Since(began); since != 0 {
			t.Errorf("the chunks waited %s", since)
		}
		if _, err := r.Recv(); !errors.Is(err, io.EOF) || errors.Is(err, providers.ErrStreamCut) {
			t.Errorf("%v, want the end", err)
		}
		if since := time.Since(began); since > 2*time.Second {
			t.Errorf("the end waited %s", since)
		}
	})
}

// TestABrokenConnectionAfterTheEndIsNoFault also reads what no connection should
// carry after its end.
func TestABrokenConnectionAfterTheEndIsNoFault(t *testing.T) {
	const whole = `data: {"choices":[{"delta":{"content":"hi"},"finish_reason":"stop"}]}` + "\n\ndata: [DONE]\n\n"
	for name, rest := range map[string]io.Reader{
		"a reset":       errReader{},
		"more of it":    strings.NewReader("data: {\"choices\":[{\"index\":1}]}\n\n"),
		"another error": strings.NewReader("data: {\"error\":{\"code\":500}}\n\n"),
	} {
		t.Run(name, func(t *testing.T) {
			rt := &player{body: func() io.Reader { return io.MultiReader(strings.NewReader(whole), rest) }}
			r, err := newProvider(t, rt).ChatCompletionStream(t.Context(), target(openModel), hello(t, openModel))
			if err != nil {
				t.Fatal(err)
			}
			if _, answer, err := outcome.Read(r); err != nil || answer.Text() != "hi" {
				t.Errorf("%+v %v", answer, err)
			}
		})
	}
}

type errReader struct{}

func (errReader) Read([]byte) (int, error) { return 0, errors.New("connection reset") }

// TestSeveralChoicesTakeSeveralRequests asks for more choices than these models
// give in one answer.
func TestSeveralChoicesTakeSeveralRequests(t *testing.T) {
	c := new(cloud)
	p := newProvider(t, c)
	answer, err := p.ChatCompletion(t.Context(), target(openModel), hello(t, openModel, `"n":3`))
	if err != nil || len(answer.Choices) != 3 || answer.Choices[2].Index != 2 || len(c.take()) != 3 {
		t.Errorf("%+v %v", answer, err)
	}
}

// TestOpenModelsCountNoTokens names what they do not have.
func TestOpenModelsCountNoTokens(t *testing.T) {
	p := newProvider(t, plays(nil))
	for _, ref := range []string{openModel, "mistralai.codestral-2", "endpoints.1"} {
		if _, err := p.CountTokens(t.Context(), target(ref), hello(t, ref)); !errors.Is(err, providers.ErrInvalidRequest) {
			t.Errorf("%s: %v, want %s", ref, err, providers.ErrInvalidRequest)
		}
	}
}
