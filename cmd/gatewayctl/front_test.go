package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// front stands for a running front's log: GET /v1/logs and /v1/logs/{id}.
type front struct {
	mu      sync.Mutex
	records []string // the newest first
	queries []string
}

const frontKey = "front-key"

func (f *front) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if r.Header.Get("X-Gateway-Api-Key") != frontKey {
		http.Error(w, `{"error":{"message":"a valid API key is required"}}`, http.StatusUnauthorized)
		return
	}
	id, one := strings.CutPrefix(r.URL.Path, "/v1/logs/")
	if !one {
		f.queries = append(f.queries, r.URL.RawQuery)
		_, _ = fmt.Fprintf(w, `{"data":[%s]}`, strings.Join(f.records, ","))
		return
	}
	for _, text := range f.records {
		if strings.Contains(text, `"id":"`+id+`"`) {
			_, _ = w.Write([]byte(text))
			return
		}
	}
	http.Error(w, `{"error":{"message":"no such record"}}`, http.StatusNotFound)
}

func (f *front) add(id string, answer string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	text := fmt.Sprintf(`{"id":%q,"time":"2026-01-02T03:04:0%dZ","operation":"chat","requested_model":"gemini-2.5-flash","duration_ms":5,
		"content":{"request":{"model":"gemini-2.5-flash","messages":[{"role":"user","content":"Tell me"}]},
		"response":{"choices":[{"index":0,"message":{"role":"assistant","content":%q},"finish_reason":"stop"}]}}}`, id, len(f.records), answer)
	f.records = append([]string{text}, f.records...)
}

func startFront(t *testing.T) (*front, string) {
	t.Helper()
	f := &front{}
	srv := httptest.NewServer(f)
	t.Cleanup(srv.Close)
	return f, srv.URL
}

func TestReplayOfAFront(t *testing.T) {
	f, url := startFront(t)
	f.add("r1", `You said: "Tell me".`)
	f.add("r2", "Something else.")
	tests := []struct {
		name string
		args []string
		code int
		want string
	}{
		{"the same", []string{"--url", url, "--key", frontKey, "--exit-code", "r1"}, 0, "the answers are the same"},
		{"another", []string{"--url", url, "--key", frontKey, "--exit-code", "r2"}, 1, "-Something else.\n+You said"},
		{"another model", []string{"--url", url, "--key", frontKey, "--model", "gemini-2.5-pro", "r2"}, 0, "gemini-2.5-pro"},
		{"none", []string{"--url", url, "--key", frontKey, "r3"}, 1, "404: no such record (has the front a log, and the log this record?)"},
		{"a wrong key", []string{"--url", url, "--key", "wrong-key", "r1"}, 1, "401: a valid API key is required (--key)"},
		{"no id", []string{"--url", url, "--key", frontKey}, 2, "name the record"},
		{"no address", []string{"--url", "localhost", "r1"}, 2, "--url is an address"},
		{"nobody there", []string{"--url", "http://127.0.0.1:1", "r1"}, 1, "connection refused"},
		{"two places", []string{"--url", url, "--file", "x", "r1"}, 2, "exclude each other"},
		{"no place", []string{}, 2, "name a record"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := run(t, command(t, t.TempDir(), nil, append([]string{"replay", "--emulator"}, tt.args...)...), "")
			if got.code != tt.code || !strings.Contains(got.out+got.err, tt.want) {
				t.Errorf("exit code %d, want %d with %q:\n%s%s", got.code, tt.code, tt.want, got.out, got.err)
			}
		})
	}
	env := []string{"GATEWAYCTL_URL=" + url, "GATEWAYCTL_KEY=" + frontKey}
	if got := run(t, command(t, t.TempDir(), env, "replay", "--emulator", "r1"), ""); got.code != 0 {
		t.Errorf("by the environment: %+v", got)
	}
}

func TestLogsOfAFront(t *testing.T) {
	f, url := startFront(t)
	f.add("r1", "a")
	f.add("r2", "b")
	got := run(t, command(t, t.TempDir(), nil, "logs", "--url", url, "--key", frontKey, "--json", "failed=true", "duration_ms[gte]=3", "q=x"), "")
	var ids []string
	for line := range strings.Lines(got.out) {
		var r struct{ ID string }
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, r.ID)
	}
	if diff := cmp.Diff([]string{"r1", "r2"}, ids); diff != "" || got.code != 0 {
		t.Errorf("exit code %d, %s (-want +got):\n%s", got.code, got.err, diff)
	}
	if want := "duration_ms%5Bgte%5D=3&failed=true&limit=20&q=x"; f.queries[0] != want {
		t.Errorf("the front was asked for %s, want %s", f.queries[0], want)
	}
}

// TestLogsFollowed has each record once, whatever pages repeat.
func TestLogsFollowed(t *testing.T) {
	f, url := startFront(t)
	f.add("r1", "a")
	cmd := command(t, t.TempDir(), nil, "logs", "--url", url, "--key", frontKey, "--follow")
	out := &lockedBuffer{}
	cmd.Stdout = out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	await := func(text string) {
		t.Helper()
		for deadline := time.Now().Add(30 * time.Second); !strings.Contains(out.String(), text); time.Sleep(10 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("%q is not in %q", text, out.String())
			}
		}
	}
	await("  r1  ")
	f.add("r2", "b")
	await("  r2  ")
	f.add("r3", "c")
	await("  r3  ")
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	for _, id := range []string{"r1", "r2", "r3"} {
		if n := strings.Count(out.String(), "  "+id+"  "); n != 1 {
			t.Errorf("%s is shown %d times:\n%s", id, n, out.String())
		}
	}
}

// TestLogsOfAGrowingFile has the rest of a line come later.
func TestLogsOfAGrowingFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "logs.jsonl")
	write(t, path, `{"id":"r1","operation":"chat"}`+"\n"+`{"id":"r2",`)
	cmd := command(t, dir, nil, "logs", "--file", "logs.jsonl", "--follow", "id[prefix]=r")
	out := &lockedBuffer{}
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	for _, step := range []struct{ shown, adds string }{
		{"  r1  ", `"operation":"chat"}` + "\n"}, {"  r2  ", "no record\n" + `{"id":"x3"}` + "\n" + `{"id":"r4"}` + "\n"}, {"  r4  ", ""},
	} {
		for deadline := time.Now().Add(30 * time.Second); !strings.Contains(out.String(), step.shown); time.Sleep(10 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("%q is not in %q", step.shown, out.String())
			}
		}
		if _, err := f.WriteString(step.adds); err != nil {
			t.Fatal(err)
		}
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	if got := out.String(); strings.Contains(got, "x3") || !strings.Contains(got, "line 3 is no record") || strings.Count(got, "is no record") != 1 {
		t.Errorf("%s", got)
	}
}

type lockedBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}
