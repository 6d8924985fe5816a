package google_test

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/internal/testkit/outcome"
	"github.com/b650d4bf/gateway/providers"
	"github.com/b650d4bf/gateway/providers/vertex"
)

// recording is an exchange with the service, recorded elsewhere.
type recording struct {
	ID, Kind string
	Stream   bool
	Request  struct {
		URL  string
		Body json.RawMessage
	}
	Response struct {
		Status int
		SSE    string
		Body   json.RawMessage
	}
}

// recordings reads the exchanges with the service of a kind. GATEWAY_RECORDED_DIR
// names them; without it the test is skipped.
func recordings(t *testing.T, kind string) []*recording {
	t.Helper()
	dir := os.Getenv("GATEWAY_RECORDED_DIR")
	if dir == "" {
		t.Skip("GATEWAY_RECORDED_DIR is not set")
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	var list []*recording
	for _, file := range files {
		data, err := os.ReadFile(file) // the directory is the caller's
		if err != nil {
			t.Fatal(err)
		}
		x := new(recording)
		if err := json.Unmarshal(data, x); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if x.Kind == kind && strings.HasPrefix(x.Request.URL, "https://generativelanguage.googleapis.com/") {
			list = append(list, x)
		}
	}
	if t.Logf("replayed %d exchanges with the service", len(list)); len(list) == 0 {
		t.Errorf("no recording of kind %s in %s", kind, dir)
	}
	return list
}

var modelInURL = regexp.MustCompile(`models/([^:/?]+)`)

// model is the one that was asked.
func (x *recording) model() string {
	if m := modelInURL.FindStringSubmatch(x.Request.URL); m != nil {
		return m[1]
	}
	return "gemini-2.5-flash"
}

// player answers as the service did.
func (x *recording) player() *player {
	p := plays(x.Response.SSE)
	if x.Response.SSE == "" {
		text := string(x.Response.Body)
		_ = json.Unmarshal(x.Response.Body, &text) // a body that is not JSON is kept as text
		p = plays(text)
	}
	p.status = x.Response.Status
	return p
}

// TestReplayOfTheService answers with real traffic. What it comes to must be what
// the provider of Vertex AI makes of the same bytes, which are held against what
// the exchange says elsewhere, but for the class of service and the remedies.
func TestReplayOfTheService(t *testing.T) {
	for _, x := range recordings(t, "gemini") {
		t.Run(x.ID, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				theirs := vertex.New(vertex.Config{Transport: x.player()})
				defer func() { _ = theirs.Close() }()
				to := target(x.model())
				to.Region, to.ProjectID = "global", "p"
				want, wantErr := x.ask(t, theirs, to)
				ours := newProvider(t, x.player())
				got, gotErr := x.ask(t, ours, to)
				if (wantErr == nil) != (gotErr == nil) {
					t.Fatalf("%v, want %v", gotErr, wantErr)
				}
				if gotErr != nil {
					checkRefusal(t, x, gotErr)
					return
				}
				if diff := cmp.Diff(strings.Replace(outcome.Stable(t, want), `"provider":"vertex-ai"`, `"provider":"google"`, 1), outcome.Stable(t, got)); diff != "" {
					t.Errorf("(-Vertex AI +the service)\n%s", diff)
				}
			})
		})
	}
}

// ask sends a plain request.
func (x *recording) ask(t *testing.T, p providers.Provider, to *providers.Target) (*providers.ChatCompletion, error) {
	t.Helper()
	if !x.Stream {
		return p.ChatCompletion(t.Context(), to, hello(t, to.Model))
	}
	r, err := p.ChatCompletionStream(t.Context(), to, hello(t, to.Model))
	if err != nil {
		return nil, err
	}
	_, whole, err := outcome.Read(r)
	return whole, err
}

// checkRefusal looks at how a recorded refusal is told.
func checkRefusal(t *testing.T, x *recording, err error) {
	t.Helper()
	text := outcome.Describe(err)
	if strings.Contains(text, "aiplatform") || strings.Contains(text, "region") {
		t.Errorf("a remedy for Vertex AI: %s", text)
	}
	for status, word := range map[int]string{
		http.StatusBadRequest: "code: authentication_failed", http.StatusTooManyRequests: "retry after: ", http.StatusForbidden: "code: permission_denied",
	} {
		if x.Response.Status == status && !strings.Contains(text, word) {
			t.Errorf("no %q in %s", word, text)
		}
	}
}

// TestReplayOfVectors answers with recorded vectors; what was asked for several
// must be what is sent.
func TestReplayOfVectors(t *testing.T) {
	for _, x := range recordings(t, "embedding") {
		t.Run(x.ID, func(t *testing.T) {
			var body struct {
				Requests []struct {
					Content              struct{ Parts []struct{ Text string } }
					TaskType, Title      string
					OutputDimensionality *int
				}
			}
			if err := json.Unmarshal(x.Request.Body, &body); err != nil || len(body.Requests) == 0 {
				t.Fatalf("%v in %s", err, x.Request.Body)
			}
			q := &providers.EmbeddingRequest{Model: x.model(), TaskType: body.Requests[0].TaskType, Title: body.Requests[0].Title, Dimensions: body.Requests[0].OutputDimensionality}
			for _, r := range body.Requests {
				q.Input.Items = append(q.Input.Items, providers.EmbeddingItem{Text: r.Content.Parts[0].Text})
			}
			rt := x.player()
			out, err := newProvider(t, rt).Embeddings(t.Context(), target(q.Model), q)
			if err != nil {
				t.Fatal(err)
			}
			var answer struct{ Embeddings []struct{ Values []float64 } }
			if err := json.Unmarshal(x.Response.Body, &answer); err != nil {
				t.Fatal(err)
			}
			if len(out.Data) != len(answer.Embeddings) {
				t.Fatalf("%d vectors, want %d", len(out.Data), len(answer.Embeddings))
			}
			for i := range out.Data {
				if want := answer.Embeddings[i].Values; q.Dimensions == nil && cmp.Diff(want, out.Data[i].Embedding) != "" || len(want) != len(out.Data[i].Embedding) {
					t.Errorf("vector %d differs", i)
				}
			}
			if len(body.Requests) < 2 || q.TaskType != "" {
				return // one input has a method of its own here, and a task may be an instruction
			}
			var sent, recorded any
			if err := json.Unmarshal(rt.sent[0], &sent); err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(x.Request.Body, &recorded); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(recorded, sent); diff != "" {
				t.Errorf("what is sent (-recorded +ours)\n%s", diff)
			}
		})
	}
}
