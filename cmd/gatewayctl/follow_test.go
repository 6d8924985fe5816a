package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
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
