package vertex_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/b650d4bf/gateway/internal/testkit"
	"github.com/b650d4bf/gateway/internal/testkit/outcome"
	"github.com/b650d4bf/gateway/providers"
	"github.com/b650d4bf/gateway/providers/vertex"
	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

// serviceFiles are what a scenario of testdata/images, speech and rerank gives;
// request.json and answer.json are written by hand. Without an answer the emulator
// gives it. Files are told by their type and length.
//
//	sent.txt       each request: its method and, indented, its body
//	response.json  the rich answer
//	warnings.txt   code | member | message
//	error.txt      how the call failed
var serviceFiles = []string{"sent.txt", "response.json", "warnings.txt", "error.txt"}

// serviceRuns ask each family, and return the answer as JSON.
var serviceRuns = map[string]func(context.Context, *vertex.Provider, *providers.Target, []byte) ([]byte, *providers.Meta, error){
	"images": func(ctx context.Context, p *vertex.Provider, t *providers.Target, body []byte) ([]byte, *providers.Meta, error) {
		q := new(providers.ImageRequest)
		if err := decoded(q, body); err != nil {
			return nil, nil, err
		}
		t.Model = q.Model
		out, err := p.Images(ctx, t, q)
		if err != nil {
			return nil, nil, err
		}
		out.Created = 0
		for i := range out.Data {
			one := &out.Data[i]
			data, mime, err := one.Bytes()
			if err == nil && one.B64JSON != "" {
				one.B64JSON = mime + ", " + strconv.Itoa(len(data)) + " bytes"
			} else if err == nil {
				one.URL = "data: " + mime + ", " + strconv.Itoa(len(data)) + " bytes"
			}
		}
		text, err := out.MarshalJSON()
		return text, &out.Meta, err
	},
	"speech": func(ctx context.Context, p *vertex.Provider, t *providers.Target, body []byte) ([]byte, *providers.Meta, error) {
		q := new(providers.SpeechRequest)
		if err := decoded(q, body); err != nil {
			return nil, nil, err
		}
		t.Model = q.Model
		out, err := p.Speech(ctx, t, q)
		if err != nil {
			return nil, nil, err
		}
		text, err := json.Marshal(map[string]any{
			"content_type": out.ContentType, "bytes": len(out.Data), "head": strconv.Quote(string(out.Data[:4])), "tokens": out.Usage,
		})
		return text, &out.Meta, err
	},
	"rerank": func(ctx context.Context, p *vertex.Provider, t *providers.Target, body []byte) ([]byte, *providers.Meta, error) {
		q := new(providers.RerankRequest)
		if err := decoded(q, body); err != nil {
			return nil, nil, err
		}
		t.Model = q.Model
		out, err := p.Rerank(ctx, t, q)
		if err != nil {
			return nil, nil, err
		}
		text, err := out.MarshalJSON()
		return text, &out.Meta, err
	},
}

// decoded reads and checks a request.
func decoded(q interface {
	UnmarshalJSON(data []byte) error
	Validate() error
}, body []byte) error {
	if err := q.UnmarshalJSON(body); err != nil {
		return err
	}
	return q.Validate()
}

func TestServiceScenarios(t *testing.T) {
	for family, run := range serviceRuns {
		paths, err := filepath.Glob("testdata/" + family + "/*.txtar")
		if err != nil || len(paths) == 0 {
			t.Fatalf("no scenarios of %s: %v", family, err)
		}
		for _, path := range paths {
			t.Run(family+"/"+strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
				a := testkit.ReadArchive(t, path)
				srv := vertextest.New()
				defer srv.Close()
				rt := &recorded{next: srv.Transport()}
				if answer := a.Get("answer.json"); answer != nil {
					rt.next = playsTo(answer)
				}
				to := target("")
				if region := strings.TrimSpace(string(a.Get("region.txt"))); region != "" {
					to.Region = region
				}
				got := map[string][]byte{}
				text, meta, err := run(t.Context(), newProvider(t, rt), to, a.Get("request.json"))
				if err != nil {
					got["error.txt"] = []byte(outcome.Describe(err))
				} else {
					got["warnings.txt"] = []byte(outcome.WarningLines(meta.Warnings))
					got["response.json"] = outcome.Indent(t, text)
				}
				if len(rt.sent) > 0 {
					got["sent.txt"] = rt.text(t)
				}
				testkit.Golden(t, path, a, serviceFiles, got)
			})
		}
	}
}

// playsTo answers each request with the same body, and the status 400 where that
// is an error.
func playsTo(answer []byte) http.RoundTripper {
	status := http.StatusOK
	if strings.Contains(string(answer), `"error"`) {
		status = http.StatusBadRequest
	}
	return roundTrip(func(q *http.Request) (*http.Response, error) {
		_ = q.Body.Close()
		w := httptest.NewRecorder()
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, err := w.Write(answer)
		return w.Result(), err
	})
}
