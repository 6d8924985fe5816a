package logs_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/logs"
	"github.com/b650d4bf/gateway/logs/logstest"
)

func openFile(t *testing.T, path string, o logs.FileOptions) *logs.File {
	t.Helper()
	f, err := logs.OpenFile(path, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

func TestFileIsAStore(t *testing.T) {
	logstest.Store(t, func(t *testing.T) logs.Store {
		return openFile(t, filepath.Join(t.TempDir(), "calls.jsonl"), logs.FileOptions{})
	})
}

func TestManyFilesAreAStore(t *testing.T) {
	logstest.Store(t, func(t *testing.T) logs.Store {
		return openFile(t, filepath.Join(t.TempDir(), "calls.jsonl"), logs.FileOptions{MaxBytes: 500, MaxFiles: -1, Fsync: true})
	})
}

var fileStart = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// fill writes records of a second each.
func fill(t *testing.T, s logs.Store, from, to int) {
	t.Helper()
	for i := from; i < to; i++ {
		r := logs.Record{ID: fmt.Sprintf("r-%03d", i), Time: fileStart.Add(time.Duration(i) * time.Second), Duration: logs.Milliseconds(time.Second)}
		if err := s.Write(t.Context(), []logs.Record{r}); err != nil {
			t.Fatal(err)
		}
	}
}

func kept(t *testing.T, s logs.Store) (ids []string) {
	t.Helper()
	for q := (logs.Query{Limit: 7}); ; {
		p, err := s.Query(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		for i := range p.Records {
			ids = append(ids, p.Records[i].ID)
		}
		if q.Cursor = p.Next; q.Cursor == "" {
			return ids
		}
	}
}

func names(from, to int) (ids []string) {
	for i := to - 1; i >= from; i-- {
		ids = append(ids, fmt.Sprintf("r-%03d", i))
	}
	return ids
}

func TestFilesArePutAside(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "calls.jsonl")
	f := openFile(t, path, logs.FileOptions{MaxBytes: 1000, MaxFiles: 3})
	fill(t, f, 0, 50)
	list, err := filepath.Glob(filepath.Join(dir, "calls-*.jsonl"))
	if err != nil || len(list) != 3 {
		t.Fatalf("%v, %v", list, err)
	}
	for _, name := range append(list, path) {
		info, err := os.Stat(name)
		if err != nil || info.Size() > 1000 || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
	ids := kept(t, f)
	if len(ids) < 10 || len(ids) > 30 {
		t.Errorf("%d records are left", len(ids))
	}
	if diff := cmp.Diff(names(50-len(ids), 50), ids); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if err := os.WriteFile(filepath.Join(dir, "calls-mine.jsonl"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(list[2], old, old); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	again := openFile(t, path, logs.FileOptions{MaxAge: time.Minute})
	if got := len(kept(t, again)); got >= len(ids) {
		t.Errorf("what is old is still there: %d of %d", got, len(ids))
	}
	if _, err := os.Stat(filepath.Join(dir, "calls-mine.jsonl")); err != nil {
		t.Error("the file of somebody else is gone")
	}
}

func TestALineThatWasCutOffIsPassedOver(t *testing.T) {
	path := filepath.Join(t.TempDir(), "calls.jsonl")
	f := openFile(t, path, logs.FileOptions{})
	fill(t, f, 0, 3)
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	whole := bytes.LastIndexByte(data[:len(data)-1], '\n') + 1
	for cut := whole; cut < len(data); cut += 7 {
		if err := os.WriteFile(path, data[:cut], 0o600); err != nil {
			t.Fatal(err)
		}
		f := openFile(t, path, logs.FileOptions{})
		if diff := cmp.Diff(names(0, 2), kept(t, f)); diff != "" {
			t.Fatalf("cut at %d (-want +got)\n%s", cut, diff)
		}
		fill(t, f, 3, 5)
		if diff := cmp.Diff(append(names(3, 5), names(0, 2)...), kept(t, f)); diff != "" {
			t.Fatalf("cut at %d, then (-want +got)\n%s", cut, diff)
		}
		if cut > whole && f.Skipped() == 0 {
			t.Error("nobody counts what was passed over")
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestOneProcessWritesAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "calls.jsonl")
	if at := os.Getenv("LOGS_TEST_FILE"); at != "" { // the other process
		f, err := logs.OpenFile(at, logs.FileOptions{})
		if !errors.Is(err, logs.ErrLocked) {
			t.Fatalf("%v, %v", f, err)
		}
		return
	}
	f := openFile(t, path, logs.FileOptions{})
	if _, err := logs.OpenFile(path, logs.FileOptions{}); !errors.Is(err, logs.ErrLocked) {
		t.Errorf("in the same process: %v", err)
	}
	other := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestOneProcessWritesAFile$", "-test.count=1")
	other.Env = append(os.Environ(), "LOGS_TEST_FILE="+path)
	if out, err := other.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	openFile(t, path, logs.FileOptions{})
}

func TestWhatIsNoFileIsRefused(t *testing.T) {
	dir := t.TempDir()
	for _, path := range []string{"", dir, filepath.Join(dir, "nowhere", "calls.jsonl")} {
		if f, err := logs.OpenFile(path, logs.FileOptions{}); err == nil {
			t.Errorf("OpenFile(%q) = %v", path, f)
		}
	}
	f := openFile(t, filepath.Join(dir, "calls.jsonl"), logs.FileOptions{})
	if err := errors.Join(f.Close(), f.Close()); err != nil {
		t.Error(err)
	}
	if err := f.Write(t.Context(), []logs.Record{{ID: "i"}}); err == nil {
		t.Error("a closed file is written")
	}
	if _, err := f.Query(t.Context(), logs.Query{}); err == nil {
		t.Error("a closed file is read")
	}
}

func TestAFileIsReadWhileItIsWritten(t *testing.T) {
	f := openFile(t, filepath.Join(t.TempDir(), "calls.jsonl"), logs.FileOptions{MaxBytes: 2000, MaxFiles: 2})
	var all sync.WaitGroup
	ctx, cancel := context.WithCancel(t.Context())
	for range 2 {
		all.Go(func() {
			for ctx.Err() == nil {
				p, err := f.Query(t.Context(), logs.Query{Limit: 5})
				if err != nil {
					t.Error(err)
					return
				}
				for i := range p.Records {
					if !strings.HasPrefix(p.Records[i].ID, "r-") {
						t.Errorf("read %+v", p.Records[i])
					}
				}
			}
		})
	}
	fill(t, f, 0, 300)
	cancel()
	all.Wait()
	if f.Skipped() != 0 {
		t.Errorf("%d lines were no records", f.Skipped())
	}
}

// FuzzFile reads what may stand in a file.
func FuzzFile(f *testing.F) {
	f.Add([]byte(`{"id":"a","time":"2026-01-01T00:00:00Z"}`+"\n"+`{"record_id":"a","value":1}`+"\n"), uint8(3))
	f.Add([]byte("\n\n{\n}\nnull\n[]\n\"\"\n"), uint8(1))
	f.Add([]byte(`{"id":"a","metadata":{"a":"b"},"attempts":[{}],"cost_usd":1e9,"duration_ms":1e300}`), uint8(0))
	f.Fuzz(func(t *testing.T, data []byte, limit uint8) {
		path := filepath.Join(t.TempDir(), "f")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := logs.OpenFile(path, logs.FileOptions{})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = s.Close() }()
		if err := s.Write(t.Context(), []logs.Record{{ID: "mine", Time: fileStart}}); err != nil {
			t.Fatal(err)
		}
		seen := 0
		for q := (logs.Query{Limit: int(limit) + 1}); ; {
			p, err := s.Query(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			seen += len(p.Records)
			if seen > len(data)+1 || p.Next != "" && p.Next == q.Cursor {
				t.Fatal("the pages don't end")
			}
			if q.Cursor = p.Next; q.Cursor == "" {
				break
			}
		}
		if r, err := s.Get(t.Context(), "mine"); err != nil || r.ID != "mine" {
			t.Fatal(r, err)
		}
	})
}

func TestTheDirectoryOfAFileMustBeThere(t *testing.T) {
	_, err := logs.OpenFile(filepath.Join(t.TempDir(), "none", "calls.jsonl"), logs.FileOptions{})
	if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "make it first") {
		t.Errorf("error %v", err)
	}
}
