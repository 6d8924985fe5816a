package vertex_test

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
	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

// embedFiles are what a scenario of testdata/embeddings gives; request.json and
// answer.json are written by hand. Without an answer the emulator gives it, and
// the vectors are left out.
//
//	sent.txt       each request: its method and, indented, its body
//	response.json  the rich answer
//	warnings.txt   code | member | message
//	error.txt      how the call failed
var embedFiles = []string{"sent.txt", "response.json", "warnings.txt", "error.txt"}

// recorded keeps what goes over a transport.
type recorded struct {
	next http.RoundTripper
	mu   sync.Mutex
	sent []sentRequest
}

type sentRequest struct {
	verb string
	body []byte
}

func (r *recorded) RoundTrip(q *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(q.Body)
	if err != nil {
		return nil, err
	}
	_ = q.Body.Close()
	r.mu.Lock()
	r.sent = append(r.sent, sentRequest{q.URL.Path[strings.LastIndex(q.URL.Path, ":")+1:], body})
	r.mu.Unlock()
	q.Body = io.NopCloser(bytes.NewReader(body))
	return r.next.RoundTrip(q)
}

// text renders the requests, in an order that does not depend on which came
// first.
func (r *recorded) text(t *testing.T) []byte {
	t.Helper()
	var parts []string
	for _, s := range r.sent {
		parts = append(parts, s.verb+"\n"+string(outcome.Indent(t, s.body)))
	}
	slices.Sort(parts)
	return []byte(strings.Join(parts, "\n"))
}

var embedMessages = map[string]string{
	"predict": "PredictRequest", "embedContent": "EmbedContentRequest", "batchEmbedContents": "BatchEmbedContentsRequest",
}

func TestEmbeddingScenarios(t *testing.T) {
	paths, err := filepath.Glob("testdata/embeddings/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no scenarios: %v", err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			a := testkit.ReadArchive(t, path)
			q := new(providers.EmbeddingRequest)
			if err := json.Unmarshal(a.Get("request.json"), q); err != nil {
				t.Fatal(err)
			}
			srv := vertextest.New()
			defer srv.Close()
			rt := &recorded{next: srv.Transport()}
			if answer := a.Get("answer.json"); answer != nil {
				rt.next = plays(answer)
			}
			got := map[string][]byte{}
			out, err := newProvider(t, rt).Embeddings(t.Context(), target(q.Model), q)
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
				got["sent.txt"] = rt.text(t)
			}
			for _, s := range rt.sent {
				if err := vertextest.Check(embedMessages[s.verb], s.body); err != nil {
					t.Errorf("%s: %v", s.verb, err)
				}
			}
			testkit.Golden(t, path, a, embedFiles, got)
		})
	}
}
