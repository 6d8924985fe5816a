package canary_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/b650d4bf/gateway"
	"github.com/b650d4bf/gateway/cache/sqlite/sqlitelogs"
	"github.com/b650d4bf/gateway/logs"
)

// sinks are all that a log can be written to, with what was written.
type sinks struct {
	log       *logs.Log
	memory    *logs.Memory
	dir       string
	zap, slog bytes.Buffer
	own       bytes.Buffer // of the client's logger
}

func openSinks(t *testing.T, o logs.Options) *sinks {
	t.Helper()
	k := &sinks{memory: logs.NewMemory(0), dir: t.TempDir()}
	file, err := logs.OpenFile(filepath.Join(k.dir, "calls.jsonl"), logs.FileOptions{})
	if err != nil {
		t.Fatal(err)
	}
	base, err := sqlitelogs.Open(filepath.Join(k.dir, "calls.db"))
	if err != nil {
		t.Fatal(err)
	}
	all := &slog.HandlerOptions{Level: slog.LevelDebug}
	o.Store = k.memory
	o.Sinks = []logs.Sink{file, base, logs.ZapSink(k.logger(&k.zap)), logs.SlogSink(slog.New(slog.NewJSONHandler(&k.slog, all)))}
	if k.log, err = logs.New(o); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = k.log.Close(context.Background())
		_, _ = file.Close(), base.Close()
	})
	return k
}

func (k *sinks) logger(w *bytes.Buffer) *zap.Logger {
	return zap.New(zapcore.NewCore(zapcore.NewJSONEncoder(zap.NewDevelopmentEncoderConfig()), zapcore.AddSync(w), zap.DebugLevel))
}

// texts are all that was written, files as they are on the disk, with those beside them.
func (k *sinks) texts(t *testing.T) map[string]string {
	t.Helper()
	if err := k.log.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := k.log.Stats(); n.Failed+n.Dropped+n.Panics > 0 {
		t.Errorf("%+v", n)
	}
	out := map[string]string{"zap": k.zap.String(), "the client's logger": k.own.String(), "slog": k.slog.String(), "stats": printed(struct{ Stats, Own any }{k.log.Stats(), k.own.Len()}), "files": files(t, k.dir)}
	for _, format := range []logs.Format{logs.FormatCSV, logs.FormatJSONL} {
		var b bytes.Buffer
		if err := logs.Export(t.Context(), k.memory, logs.Query{}, format, &b); err != nil {
			t.Fatal(err)
		}
		out["export as "+string(format)] = b.String()
	}
	page, err := k.memory.Query(t.Context(), logs.Query{Limit: logs.MaxLimit})
	if err != nil {
		t.Fatal(err)
	}
	var whole strings.Builder
	for i := range page.Records {
		r, err := k.memory.Get(t.Context(), page.Records[i].ID)
		if err != nil {
			t.Fatal(err)
		}
		b, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&whole, "%s %+v\n", b, r.Content)
		if r.Content != nil {
			whole.Write(r.Content.Request)
			whole.Write(r.Content.Response)
		}
	}
	out["memory"] = whole.String()
	return out
}

// files are the bytes of all files below a directory.
func files(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		fmt.Fprintf(&b, "%s\n%s\n", path, data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// withContent are the sinks that keep content where it is asked for.
var withContent = []string{"memory", "files"}

// TestLogsOfEveryFailure writes every call to every sink, with and without content, by a
// platform that answers and by ones that fail.
func TestLogsOfEveryFailure(t *testing.T) {
	fails := failures()
	for _, name := range []string{"answers", "echo of 401", "escaped echo of 401", "echo in text of 500", "connection refused", "garbage in JSON", "cut stream", "error in a stream"} {
		for _, keep := range []bool{false, true} {
			t.Run(fmt.Sprint(name, ", content ", keep), func(t *testing.T) {
				t.Parallel()
				f := newFlock(t, t.Name())
				k := openSinks(t, logs.Options{Content: keep, MaxContent: 1 << 20, ErrorMessages: keep})
				s := sceneOf(t, f, gateway.WithLog(k.log), gateway.WithLogger(k.logger(&k.own)))
				if s.platform.mode = fails[name]; name == "answers" {
					s.script()
				}
				_, errs := s.ask(t.Context(), t)
				if err := failed(errs); err != nil && name == "answers" {
					t.Fatal(err)
				}
				s.sendAll(t)
				for where, text := range k.texts(t) {
					s.refuse(t, where, text, credential)
					asked := keep && (slices.Contains(withContent, where) || isEcho(name) && where != "the client's logger")
					if !asked {
						s.refuse(t, where, text, content)
					} else if slices.Contains(withContent, where) {
						s.want(t, where, text, "prompt", "system text", "image", "tool argument", "tool result", "embedding input", "Anthropic prompt", "prompt variable")
						if name == "answers" {
							s.want(t, where, text, "answer", "thought", "thought signature", "argument in the answer")
						}
					}
					if where != "stats" {
						s.want(t, where, text, "request id") // by which a leak would be found too
					}
					if slices.Contains(withContent, where) || where == "export as csv" {
						s.want(t, where, text, "user", "metadata", "metadata of the request", "metadata of a header")
					}
				}
			})
		}
	}
}

// TestWhatTheFrontShows reads the log, its sums, the dashboard and the models, with each
// key and with none.
func TestWhatTheFrontShows(t *testing.T) {
	for _, keep := range []bool{false, true} {
		t.Run(fmt.Sprint("content ", keep), func(t *testing.T) {
			k := openSinks(t, logs.Options{Content: keep, MaxContent: 1 << 20})
			s := newScene(t, gateway.WithLog(k.log))
			s.script()
			s.sendAll(t)
			if err := k.log.Flush(t.Context()); err != nil {
				t.Fatal(err)
			}
			id := s.open("request id")
			ask := func(where, path string, page bool, key string) *httptest.ResponseRecorder {
				h := s.handler
				if page {
					h = s.page
				}
				w := s.send(t.Context(), h, call{path: path}, key)
				hidden := []kind{credential, content}
				if keep && strings.Contains(path, id) || strings.HasSuffix(path, "/api/prompts") {
					hidden = hidden[:1]
				}
				s.refuse(t, where+path, shownByFront(w), hidden...)
				return w
			}
			from := "from=" + time.Now().Add(-time.Hour).UTC().Format(time.RFC3339)
			for path, wants := range map[string][]string{
				"/v1/logs": {"user", "metadata"}, "/v1/logs?limit=3&" + from: {"metadata"}, "/v1/logs?q=" + s.text("prompt"): nil, "/v1/logs/" + id: {"request id"},
				"/v1/logs/export?format=csv&" + from: nil, "/v1/logs/export?format=jsonl&" + from: nil, "/v1/logs/none": nil, "/v1/analytics?" + from: nil,
				"/v1/analytics?group_by=metadata.team&" + from: nil, "/v1/models": nil, "/v1/nothing": nil, "/v1/logs?model=" + s.secret("query of a client"): nil, "/v1/logs?cost_usd[gte]=" + s.secret("query of a client"): nil,
			} {
				w := ask("admin ", path, false, s.secret("admin key"))
				if len(wants) > 0 {
					s.want(t, path, shownByFront(w), wants...)
				}
				for who, key := range map[string]string{"client ": s.secret("API key of the front"), "wrong key ": s.secret("wrong key")} {
					if w := ask(who, path, false, key); strings.HasPrefix(who, "wrong") && w.Code != 401 {
						t.Errorf("%s%s: %d", who, path, w.Code)
					}
				}
			}
			for path, wants := range map[string][]string{
				"/": nil, "/api/about": nil, "/api/logs": {"user", "metadata"}, "/api/logs/" + id: {"request id"}, "/api/analytics?" + from: nil, "/api/catalog": nil,
				"/api/prompts": nil, "/api/models": nil, "/api/nothing": nil,
			} {
				w := ask("page ", path, true, s.secret("admin key"))
				if len(wants) > 0 {
					s.want(t, path, shownByFront(w), wants...)
				}
				ask("page, wrong key ", path, true, s.secret("wrong key"))
			}
			if w := ask("page ", "/api/catalog", true, s.secret("admin key")); !strings.Contains(w.Body.String(), `"server"`) {
				t.Errorf("the catalog is not there: %s", w.Body)
			}
			if w := ask("admin ", "/v1/logs/"+id, false, s.secret("admin key")); keep != strings.Contains(w.Body.String(), `"content"`) {
				t.Errorf("the content: %s", w.Body)
			}
		})
	}
}
