package gateway_test

import (
	"encoding/json"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/b650d4bf/gateway"
	"github.com/b650d4bf/gateway/internal/testkit"
)

// goldenTransport answers with what a golden file has.
type goldenTransport struct{ unary, stream []byte }

func (g goldenTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	if strings.Contains(r.URL.String(), "stream") {
		return (&fixed{ctype: "text/event-stream", body: g.stream}).RoundTrip(r)
	}
	return (&fixed{ctype: "application/json", body: g.unary}).RoundTrip(r)
}

// TestResponseCacheReplaysTheGoldenAnswers puts the answers of all golden files
// into the cache, whole and streamed, and compares each with its hits.
func TestResponseCacheReplaysTheGoldenAnswers(t *testing.T) {
	files, err := filepath.Glob("providers/vertex/testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal(err)
	}
	compared := 0
	for _, file := range files {
		a := testkit.ReadArchive(t, file)
		g := goldenTransport{a.Get("unary.json"), a.Get("stream.sse")}
		for _, strict := range []bool{true, false} {
			for _, stream := range []bool{false, true} {
				if stream && len(g.stream) == 0 || !stream && len(g.unary) == 0 {
					continue
				}
				t.Run(filepath.Base(file), func(t *testing.T) {
					if compareHits(t, a.Get("request.json"), g, strict, stream) {
						compared++
					}
				})
			}
		}
	}
	if compared < 150 {
		t.Errorf("only %d answers were compared", compared)
	}
}

// compareHits reports whether there was an answer to compare.
func compareHits(t *testing.T, request []byte, g goldenTransport, strict, stream bool) bool {
	t.Helper()
	req := new(gateway.ChatCompletionRequest)
	if json.Unmarshal(request, req) != nil || req.Model == "" || slices.ContainsFunc([]string{"@", "projects/"}, func(p string) bool { return strings.HasPrefix(req.Model, p) }) {
		return false
	}
	req.Stream = false
	client, err := gateway.New(gateway.WithProjectID("p"), gateway.WithRegion("us-east5"), gateway.WithAccessToken("t"), simple,
		gateway.WithHTTPClient(&http.Client{Transport: g}), gateway.WithStrictCompliance(strict),
		gateway.WithCacheRules(gateway.CacheRules{PlatformTools: true, Stateful: true, Truncated: true}))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = client.Close() }()
	want, err := answerTo(t, client, req, stream)
	if err != nil || want.Meta.Cache.Reason != "" {
		return false
	}
	for _, again := range []bool{false, true} {
		got, err := answerTo(t, client, req, again)
		if err != nil {
			t.Fatal(err)
		}
		if got.Meta.CacheStatus != gateway.CacheHit {
			t.Errorf("status %s, %+v", got.Meta.CacheStatus, got.Meta.Cache)
		}
		if len(got.Meta.Warnings) != len(want.Meta.Warnings) {
			t.Errorf("warnings %v, want %v", got.Meta.Warnings, want.Meta.Warnings)
		}
		sameAnswer(t, want, got)
	}
	return true
}
