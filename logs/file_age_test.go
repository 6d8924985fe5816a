package logs_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/b650d4bf/gateway/logs"
)

// What was put aside goes when its age has come, also where no other file is full.
func TestFilesThatWerePutAsideAgeWhileAnotherIsWritten(t *testing.T) {
	for _, tt := range []struct {
		name          string
		age           time.Duration
		before, after time.Duration // of an append that finds it, too young and too old
	}{
		{"hours", 24 * time.Hour, 24*time.Hour - time.Minute, 24*time.Hour + time.Minute},
		{"seconds", 10 * time.Second, 9 * time.Second, 11 * time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "calls.jsonl")
			old := filepath.Join(dir, "calls-20000101T000000.000000000.jsonl")
			synctest.Test(t, func(t *testing.T) {
				begin := time.Now()
				if err := os.WriteFile(old, []byte(line("r-000", 0, 1)+"\n"), 0o600); err != nil {
					t.Fatal(err)
				}
				if err := os.Chtimes(old, begin, begin); err != nil {
					t.Fatal(err)
				}
				f := openFile(t, path, logs.FileOptions{MaxAge: tt.age})
				at := func(d time.Duration) error {
					t.Helper()
					time.Sleep(time.Until(begin.Add(d)))
					if err := f.Write(t.Context(), []logs.Record{{ID: "a", Time: time.Now()}}); err != nil {
						t.Fatal(err)
					}
					_, err := os.Stat(old)
					return err
				}
				if err := at(tt.before); err != nil {
					t.Errorf("too young: %v", err)
				}
				if err := at(tt.after); !errors.Is(err, fs.ErrNotExist) {
					t.Errorf("too old: %v, want that it is gone", err)
				}
			})
		})
	}
}

// The directory is not looked at with every batch.
func TestTheAgeOfFilesIsLookedAtNowAndThen(t *testing.T) {
	dir := t.TempDir()
	old := filepath.Join(dir, "calls-20000101T000000.000000000.jsonl")
	synctest.Test(t, func(t *testing.T) {
		f := openFile(t, filepath.Join(dir, "calls.jsonl"), logs.FileOptions{MaxAge: time.Hour})
		if err := os.WriteFile(old, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		long := time.Now().Add(-2 * time.Hour)
		if err := os.Chtimes(old, long, long); err != nil {
			t.Fatal(err)
		}
		for _, gone := range []bool{false, true} {
			time.Sleep(30 * time.Second)
			if err := f.Write(t.Context(), []logs.Record{{ID: "a", Time: time.Now()}}); err != nil {
				t.Fatal(err)
			}
			if _, err := os.Stat(old); errors.Is(err, fs.ErrNotExist) != gone {
				t.Errorf("after some more seconds: %v, want that it is gone: %t", err, gone)
			}
		}
	})
}
