package main

import (
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/b650d4bf/gateway"
	"github.com/b650d4bf/gateway/catalog"
	"github.com/b650d4bf/gateway/logs"
)

// follow starts the program, and returns what it writes and a function that waits until
// a text is in it.
func follow(t *testing.T, dir string, args ...string) (out *lockedBuffer, await func(string)) {
	t.Helper()
	cmd := command(t, dir, nil, append([]string{"logs", "--follow"}, args...)...)
	out = &lockedBuffer{}
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return out, func(text string) {
		t.Helper()
		for deadline := time.Now().Add(20 * time.Second); !strings.Contains(out.String(), text); time.Sleep(10 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("%q is not in %q", text, out.String())
			}
		}
	}
}

// TestLogsOfAFileThatIsPutAside has a file become another while it is followed.
func TestLogsOfAFileThatIsPutAside(t *testing.T) {
	const r1, r2, r3 = `{"id":"r1","operation":"chat"}` + "\n", `{"id":"r2","operation":"chat"}` + "\n", `{"id":"r3","operation":"chat"}` + "\n"
	tests := []struct {
		name   string
		change func(t *testing.T, path string, await func(string))
		shown  []string
		remark string
	}{
		{"renamed", func(t *testing.T, path string, _ func(string)) {
			add(t, path, r2)
			rename(t, path)
			add(t, path, r3)
		}, []string{"r1", "r2", "r3"}, ""},
		{"renamed twice", func(t *testing.T, path string, await func(string)) {
			rename(t, path)
			add(t, path, r2)
			await("  r2  ")
			rename(t, path)
			add(t, path, r3)
		}, []string{"r1", "r2", "r3"}, ""},
		{"not there for a while", func(t *testing.T, path string, _ func(string)) {
			rename(t, path)
			time.Sleep(1200 * time.Millisecond)
			add(t, path, r3)
		}, []string{"r1", "r3"}, ""},
		{"renamed within a line", func(t *testing.T, path string, await func(string)) {
			add(t, path, strings.TrimSuffix(r2, "}\n"))
			rename(t, path)
			add(t, path, r3)
			await("  r3  ")
			add(t, path, "none\n")
			await("line 2 is no record: invalid")
		}, []string{"r1", "r3"}, "line 2 is no record: unexpected end"},
		{"emptied", func(t *testing.T, path string, _ func(string)) {
			truncate(t, path, 0)
			add(t, path, r3[:len(r3)-2])
			time.Sleep(1200 * time.Millisecond)
			add(t, path, r3[len(r3)-2:])
		}, []string{"r1", "r3"}, ""},
		{"emptied and filled again", func(t *testing.T, path string, await func(string)) {
			add(t, path, r2)
			await("  r2  ")
			truncate(t, path, 0)
			add(t, path, r3)
		}, []string{"r1", "r2", "r3"}, ""},
		{"without what was written of a batch", func(t *testing.T, path string, await func(string)) {
			add(t, path, r2+`{"id":"x4","operation":"ch`)
			await("  r2  ")
			time.Sleep(1200 * time.Millisecond)
			truncate(t, path, int64(len(r1+r2)))
			time.Sleep(1200 * time.Millisecond)
			add(t, path, r3)
		}, []string{"r1", "r2", "r3"}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			path := filepath.Join(dir, "logs.jsonl")
			write(t, path, r1)
			out, await := follow(t, dir, "--file", "logs.jsonl")
			await("  r1  ")
			tt.change(t, path, await)
			for _, id := range tt.shown {
				await("  " + id + "  ")
			}
			time.Sleep(700 * time.Millisecond)
			for _, id := range tt.shown {
				if n := strings.Count(out.String(), "  "+id+"  "); n != 1 {
					t.Errorf("%s is shown %d times:\n%s", id, n, out.String())
				}
			}
			if !strings.Contains(out.String(), tt.remark) {
				t.Errorf("%q is not in:\n%s", tt.remark, out.String())
			}
		})
	}
}

func add(t *testing.T, path, text string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(text); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

func rename(t *testing.T, path string) {
	t.Helper()
	if err := os.Rename(path, path+time.Now().Format("-150405.000000000")); err != nil {
		t.Fatal(err)
	}
}

func truncate(t *testing.T, path string, size int64) {
	t.Helper()
	if err := os.Truncate(path, size); err != nil {
		t.Fatal(err)
	}
}

// TestLogsOfAFrontFollowed has calls come into the log when they end, however long ago
// they began.
func TestLogsOfAFrontFollowed(t *testing.T) {
	now := time.Now().UTC().Truncate(time.Microsecond)
	record := func(id string, ago, took time.Duration) logs.Record {
		return logs.Record{ID: id, Time: now.Add(-ago), Operation: "chat", Duration: logs.Milliseconds(took)}
	}
	many := make([]logs.Record, 0, 2500)
	for i := range cap(many) {
		many = append(many, record(fmt.Sprintf("many%04d", i), 5*time.Second-time.Duration(i)*time.Millisecond, 0))
	}
	there := []logs.Record{
		record("a", 50*time.Minute, 2*time.Minute), record("b", 30*time.Second, 0), record("c", 20*time.Second, 0), record("d", 10*time.Second, 0),
	}
	tests := []struct {
		name  string
		args  []string
		there []logs.Record
		steps [][]logs.Record
		shown map[string]int
	}{
		{"long ones", []string{"-n", "2"}, there, [][]logs.Record{
			{record("minutes", 20*time.Minute, 20*time.Minute), record("seconds", 55*time.Second, 55*time.Second)}, {record("hour", 59*time.Minute, 59*time.Minute)},
		}, map[string]int{"a": 0, "b": 0, "c": 1, "d": 1, "minutes": 1, "seconds": 1, "hour": 1}},
		{"of an id that was there", []string{"-n", "2"}, there, [][]logs.Record{
			{record("d", 5*time.Second, 0), record("b", 4*time.Second, 0)}, {record("d", 3*time.Second, 0)},
		}, map[string]int{"a": 0, "b": 1, "c": 1, "d": 3}},
		{"more than a page has", nil, there, [][]logs.Record{many}, map[string]int{"a": 1, "many0000": 1, "many1300": 1, "many2499": 1}},
		{"none at first", nil, nil, [][]logs.Record{{record("a", time.Minute, 0)}, {record("b", 10*time.Minute, 9*time.Minute)}}, map[string]int{"a": 1, "b": 1}},
		{"conditions", []string{"from=" + now.Add(-15*time.Second).Format(time.RFC3339Nano), "duration_ms[lt]=60000", "duration_ms[gte]=0"}, there, [][]logs.Record{
			{record("before", 16*time.Second, 0), record("long", time.Second, time.Minute), record("fits", 14*time.Second, 40*time.Second)},
		}, map[string]int{"a": 0, "b": 0, "c": 0, "d": 1, "before": 0, "long": 0, "fits": 1}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			store, url := startLog(t)
			keep(t, store, tt.there)
			out, await := follow(t, t.TempDir(), append([]string{"--url", url, "--key", frontKey}, tt.args...)...)
			if len(tt.there) > 0 {
				await("  d  ")
			} else {
				time.Sleep(time.Second)
			}
			for _, step := range tt.steps {
				keep(t, store, step)
				time.Sleep(3 * time.Second)
			}
			for id, n := range tt.shown {
				if n > 0 {
					await("  " + id + "  ")
				}
			}
			for id, n := range tt.shown {
				if got := strings.Count(out.String(), "  "+id+"  "); got != n {
					t.Errorf("%s is shown %d times, want %d", id, got, n)
				}
			}
		})
	}
}

// startLog starts a front with a log.
func startLog(t *testing.T) (store *logs.Memory, url string) {
	t.Helper()
	store = logs.NewMemory(0)
	log, err := logs.New(logs.Options{Store: store})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = log.Close(t.Context()) })
	cat, err := catalog.Parse([]byte(`{}`))
	if err != nil {
		t.Fatal(err)
	}
	client, err := gateway.New(gateway.WithLog(log), gateway.WithCatalog(cat))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	srv := httptest.NewServer(client.Handler(gateway.WithAPIKeys(frontKey), gateway.WithAdminKeys(frontKey)))
	t.Cleanup(srv.Close)
	return store, srv.URL
}

func keep(t *testing.T, store *logs.Memory, records []logs.Record) {
	t.Helper()
	if err := store.Write(t.Context(), records); err != nil {
		t.Fatal(err)
	}
}
