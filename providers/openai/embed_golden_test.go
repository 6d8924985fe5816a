package openai_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/b650d4bf/gateway/internal/testkit"
	"github.com/b650d4bf/gateway/internal/testkit/outcome"
	"github.com/b650d4bf/gateway/providers"
	"github.com/b650d4bf/gateway/providers/openai"
	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

// embedFiles are what a scenario of testdata/embeddings gives; request.json and
// answer.json are written by hand, and status.txt where the answer is a refusal.
// Without an answer the emulator gives it, and the vectors are left out. The
// scenarios whose names begin with server are of the provider openai-compatible.
//
//	sent.txt       each request: its path and, indented, its body
//	response.json  the rich answer
//	warnings.txt   code | member | message
//	error.txt      how the call failed
var embedFiles = []string{"sent.txt", "response.json", "warnings.txt", "error.txt"}

// wiretap keeps what goes over a transport, which may be a canned answer.
type wiretap struct {
	next   http.RoundTripper
	status int
	answer []byte

	mu   sync.Mutex
	sent []string
}

func (w *wiretap) RoundTrip(q *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(q.Body)
	if err != nil {
		return nil, err
	}
	_ = q.Body.Close()
	var text bytes.Buffer
	if err := json.Indent(&text, body, "", "  "); err != nil {
		return nil, err
	}
	w.mu.Lock()
	w.sent = append(w.sent, q.URL.Path+"\n"+text.String()+"\n")
	w.mu.Unlock()
	if w.next == nil {
		return &http.Response{
			StatusCode: w.status, Header: http.Header{"Content-Type": {"application/json"}}, Request: q, Body: io.NopCloser(bytes.NewReader(w.answer)),
		}, nil
	}
	q.Body = io.NopCloser(bytes.NewReader(body))
	return w.next.RoundTrip(q)
}

func TestEmbeddingScenarios(t *testing.T) {
	paths, err := filepath.Glob("testdata/embeddings/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no scenarios: %v", err)
	}
	for _, path := range paths {
		name := strings.TrimSuffix(filepath.Base(path), ".txtar")
		t.Run(name, func(t *testing.T) {
			a := testkit.ReadArchive(t, path)
			q := new(providers.EmbeddingRequest)
			if err := json.Unmarshal(a.Get("request.json"), q); err != nil {
				t.Fatal(err)
			}
			srv := vertextest.New()
			defer srv.Close()
			rt := &wiretap{next: srv.Transport()}
			if answer := a.Get("answer.json"); answer != nil {
				rt.next, rt.status, rt.answer = nil, 200, answer
				if status := a.Get("status.txt"); status != nil {
					if err := json.Unmarshal(status, &rt.status); err != nil {
						t.Fatal(err)
					}
				}
			}
			p := openai.New(openai.Config{Compatible: strings.HasPrefix(name, "server"), Transport: rt})
			defer func() { _ = p.Close() }()
			got := map[string][]byte{}
			out, err := p.Embeddings(t.Context(), &providers.Target{Model: q.Model, BaseURL: "https://h.example/v1", Token: key("k")}, q)
			if err != nil {
				got["error.txt"] = []byte(outcome.Describe(err))
			} else {
				got["warnings.txt"] = []byte(outcome.WarningLines(out.Meta.Warnings))
				if a.Get("answer.json") != nil {
					data, err := out.MarshalJSON()
					if err != nil {
						t.Fatal(err)
					}
					got["response.json"] = outcome.Indent(t, data)
				}
			}
			if len(rt.sent) > 0 {
				slices.Sort(rt.sent)
				got["sent.txt"] = []byte(strings.Join(rt.sent, "\n"))
			}
			testkit.Golden(t, path, a, embedFiles, got)
		})
	}
}
