package google_test

import (
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/b650d4bf/gateway/internal/testkit"
	"github.com/b650d4bf/gateway/internal/testkit/outcome"
	"github.com/b650d4bf/gateway/providers"
	"github.com/b650d4bf/gateway/providers/google"
	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

// goldenFiles are what a scenario comes to. request.json is written by hand, and
// unary.json, stream.sse or refusal.json, with the status in the comment, is what
// the service answers; without any it is the least there is.
var goldenFiles = []string{"url.txt", "body.json", "warnings.txt", "completion.json", "chunks.jsonl", "error.txt"}

func TestScenarios(t *testing.T) {
	paths, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no scenarios: %v", err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { // time stands still, so created does
				a := testkit.ReadArchive(t, path)
				got := play(t, a)
				testkit.Golden(t, path, a, goldenFiles, got)
				if body := got["body.json"]; body != nil {
					fits(t, a, body)
				}
			})
		})
	}
}

// says returns what stands behind a word and a colon in the comment.
func says(a *testkit.Archive, word string) string {
	for line := range strings.SplitSeq(string(a.Comment), "\n") {
		if rest, ok := strings.CutPrefix(line, word+":"); ok {
			return strings.TrimSpace(rest)
		}
	}
	return ""
}

// play runs the scenario and returns what came out, by file.
func play(t *testing.T, a *testkit.Archive) map[string][]byte {
	t.Helper()
	q := decodeRequest(t, a.Get("request.json"))
	rt := plays(okAnswer)
	for _, name := range []string{"unary.json", "stream.sse", "refusal.json"} {
		if data := a.Get(name); data != nil {
			rt = plays(string(data))
		}
	}
	if a.Get("refusal.json") != nil {
		rt.status, _ = strconv.Atoi(says(a, "status"))
	}
	got := map[string][]byte{}
	p := newProvider(t, rt)
	var whole *providers.ChatCompletion
	var err error
	if a.Get("stream.sse") != nil {
		var r providers.ChunkReader
		if r, err = p.ChatCompletionStream(t.Context(), target(q.Model), q); err == nil {
			var chunks []*providers.ChatCompletionChunk
			chunks, whole, err = outcome.Read(r)
			got["chunks.jsonl"] = []byte(strings.ReplaceAll(strings.Trim(outcome.Stable(t, chunks), "[]"), `},{"id":`, "}\n{\"id\":"))
		}
	} else {
		whole, err = p.ChatCompletion(t.Context(), target(q.Model), q)
	}
	if whole != nil {
		got["warnings.txt"] = []byte(outcome.WarningLines(whole.Meta.Warnings))
	}
	if err != nil {
		got["error.txt"] = []byte(outcome.Describe(err))
	}
	if whole != nil && (a.Get("unary.json") != nil || a.Get("stream.sse") != nil) {
		got["completion.json"] = outcome.Indent(t, []byte(outcome.Stable(t, whole)))
	}
	if len(rt.sent) > 0 {
		got["url.txt"] = []byte(strings.Join(rt.urls, "\n") + "\n")
		got["body.json"] = outcome.Indent(t, rt.sent[0])
	}
	return got
}

// fits has the emulator take the body, unless the comment says that it does not.
func fits(t *testing.T, a *testkit.Archive, body []byte) {
	t.Helper()
	srv := vertextest.New()
	defer srv.Close()
	q := decodeRequest(t, a.Get("request.json"))
	p := google.New(google.Config{Transport: srv.Transport()})
	defer func() { _ = p.Close() }()
	_, err := p.ChatCompletion(t.Context(), target(q.Model), q)
	if refused := err != nil; refused != (says(a, "emulator") != "") {
		t.Errorf("the emulator says %v of %s", err, body)
	}
	for _, r := range srv.Requests() {
		if r.Header.Get("Authorization") != "" || r.Header.Get("X-Goog-Api-Key") != "key" || r.Method != http.MethodPost {
			t.Errorf("%s with %v", r.Method, r.Header)
		}
	}
}
