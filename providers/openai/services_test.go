package openai_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/providers"
	"github.com/b650d4bf/gateway/providers/openai"
)

// playing is a server that answers with a body and keeps what it was asked.
type playing struct {
	status           int
	kind, answer     string
	method, url, got string
}

func (s *playing) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	_ = r.Body.Close()
	s.method, s.url, s.got = r.Method, r.URL.String(), string(body)
	return &http.Response{
		StatusCode: s.status, Header: http.Header{"Content-Type": {s.kind}}, Body: io.NopCloser(strings.NewReader(s.answer)), ContentLength: -1, Request: r,
	}, nil
}

func serving(t *testing.T, s *playing) (*openai.Provider, *providers.Target) {
	t.Helper()
	p := openai.New(openai.Config{Transport: s})
	t.Cleanup(func() { _ = p.Close() })
	return p, &providers.Target{Provider: openai.Name, Model: "m-1", Token: key("the-key")}
}

func TestServicesArePassedOn(t *testing.T) {
	labels := map[string]string{"a": "b"}
	s := &playing{status: 200, kind: "application/json", answer: `{"created":7,"data":[{"url":"https://x/a.png","y":1}],"usage":{"input_tokens":1,"output_tokens":2,"total_tokens":3}}`}
	p, to := serving(t, s)
	drawn, err := p.Images(t.Context(), to, &providers.ImageRequest{
		Model: "@oai/m-1", Prompt: "p", N: new(2), Quality: "high", Labels: labels, Extra: providers.Extra(`{"zeta":1.50}`),
	})
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"model":"m-1","prompt":"p","n":2,"quality":"high","zeta":1.50}`; s.got != want || s.url != openai.DefaultBaseURL+"/images/generations" || s.method != "POST" {
		t.Errorf("%s %s %s", s.method, s.url, s.got)
	}
	if drawn.Data[0].URL != "https://x/a.png" || drawn.Usage.TotalTokens != 3 || drawn.Provider != openai.Name || len(drawn.Meta.Warnings) != 1 {
		t.Errorf("%+v", drawn)
	}
	s.answer = `{"results":[{"index":1,"relevance_score":0.5}],"meta":{"billed_units":{"search_units":1}}}`
	ranked, err := p.Rerank(t.Context(), to, &providers.RerankRequest{Model: "@oai/m-1", Query: "q", Documents: []providers.RerankDocument{{Text: "a"}, {Text: "b"}}})
	if err != nil {
		t.Fatal(err)
	}
	want := &providers.RerankResponse{
		Model: "@oai/m-1", Results: []providers.RerankResult{{Index: 1, RelevanceScore: 0.5}}, Provider: openai.Name,
		Extra: providers.Extra(`{"meta":{"billed_units":{"search_units":1}}}`),
	}
	if diff := cmp.Diff(want, ranked); diff != "" || !strings.HasSuffix(s.url, "/v1/rerank") {
		t.Errorf("%s (-want +got)\n%s", s.url, diff)
	}
	s.kind, s.answer = "audio/mpeg", "ID3…"
	speech := &providers.SpeechRequest{Model: "@oai/m-1", Input: "i", Voice: "alloy", ResponseFormat: "mp3"}
	spoken, err := p.Speech(t.Context(), to, speech)
	if err != nil || string(spoken.Data) != s.answer || spoken.ContentType != s.kind || s.got != `{"voice":"alloy","model":"m-1","input":"i","response_format":"mp3"}` {
		t.Errorf("%+v, %v, %s", spoken, err, s.got)
	}
	stream, err := p.SpeechStream(t.Context(), to, speech)
	if err != nil {
		t.Fatal(err)
	}
	chunk, err := stream.Recv()
	if err != nil || string(chunk.Data) != s.answer || chunk.ContentType != s.kind {
		t.Errorf("%+v, %v", chunk, err)
	}
	for range 2 {
		if _, err := stream.Recv(); !errors.Is(err, io.EOF) {
			t.Errorf("%v at the end", err)
		}
	}
	if err := stream.Close(); err != nil {
		t.Error(err)
	}
}

func TestServicesThatFail(t *testing.T) {
	image := &providers.ImageRequest{Model: "m-1", Prompt: "p"}
	rank := &providers.RerankRequest{Model: "m-1", Query: "q", Documents: []providers.RerankDocument{{Text: "a"}}}
	speech := &providers.SpeechRequest{Model: "m-1", Input: "i", Voice: "v"}
	type call func(*openai.Provider, *providers.Target) error
	draw := func(p *openai.Provider, to *providers.Target) error {
		_, err := p.Images(t.Context(), to, image)
		return err
	}
	order := func(p *openai.Provider, to *providers.Target) error {
		_, err := p.Rerank(t.Context(), to, rank)
		return err
	}
	speak := func(p *openai.Provider, to *providers.Target) error {
		_, err := p.Speech(t.Context(), to, speech)
		return err
	}
	for name, tt := range map[string]struct {
		status int
		answer string
		call   call
		want   providers.Code
	}{
		"a refusal":              {400, `{"error":{"message":"m","type":"invalid_request_error","param":"size","code":null}}`, draw, providers.ErrInvalidRequest},
		"a filter":               {400, `{"error":{"message":"m","code":"content_policy_violation"}}`, draw, providers.ErrContentFilter},
		"no such path":           {404, `not found`, order, providers.ErrModelNotFound},
		"no JSON":                {200, `<html>`, draw, providers.ErrBadResponse},
		"another shape":          {200, `{"data":{}}`, draw, providers.ErrBadResponse},
		"an error in the answer": {200, `{"error":{"message":"m","code":429}}`, order, providers.ErrRateLimited},
		"a document too many":    {200, `{"results":[{"index":1}]}`, order, providers.ErrBadResponse},
		"silence":                {200, ``, speak, providers.ErrEmptyResponse},
		"no right to speak":      {401, `{"error":{"message":"m"}}`, speak, providers.ErrAuthentication},
	} {
		p, to := serving(t, &playing{status: tt.status, kind: "application/json", answer: tt.answer})
		if err := tt.call(p, to); !errors.Is(err, tt.want) {
			t.Errorf("%s: %v, want %s", name, err, tt.want)
		}
	}
	p, to := serving(t, new(playing))
	if _, err := p.Images(t.Context(), to, &providers.ImageRequest{Model: "m-1", Prompt: "p", Images: []providers.ImageInput{{URL: "u"}}}); !errors.Is(err, providers.ErrInvalidRequest) {
		t.Errorf("%v for an edit", err)
	}
	events := *speech
	events.StreamFormat = "sse"
	if _, err := p.SpeechStream(t.Context(), to, &events); !errors.Is(err, providers.ErrInvalidRequest) {
		t.Errorf("%v for events", err)
	}
}
