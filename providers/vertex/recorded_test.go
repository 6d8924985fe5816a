package vertex_test

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
)

// TestCutsOfRecordedStreamsChangeNothing cuts real traffic, recorded elsewhere.
func TestCutsOfRecordedStreamsChangeNothing(t *testing.T) {
	cutRecorded(t, "gemini", func(t *testing.T, r io.Reader) string {
		chunks, whole, err := streamed(t, func() io.Reader { return r })
		return seenAs(t, chunks, whole, err)
	})
}

// cutRecorded cuts every recorded stream of a kind, and gives the pieces to
// read. GATEWAY_RECORDED_DIR names the recordings; without it the test is
// skipped.
func cutRecorded(t *testing.T, kind string, read func(*testing.T, io.Reader) string) {
	t.Helper()
	dir := os.Getenv("GATEWAY_RECORDED_DIR")
	if dir == "" {
		t.Skip("GATEWAY_RECORDED_DIR is not set")
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	ran := 0
	for _, file := range files {
		data, err := os.ReadFile(file) // the directory is the caller's
		if err != nil {
			t.Fatal(err)
		}
		var x struct {
			ID, Kind string
			Stream   bool
			Response struct {
				Status int
				SSE    string
			}
		}
		if err := json.Unmarshal(data, &x); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if x.Kind != kind || !x.Stream || x.Response.SSE == "" || x.Response.Status != 200 {
			continue
		}
		ran++
		t.Run(x.ID, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				checkCuts(t, []byte(x.Response.SSE), func(r io.Reader) string { return read(t, r) })
			})
		})
	}
	if t.Logf("%d streams", ran); ran == 0 {
		t.Errorf("no recorded stream of kind %s in %s", kind, dir)
	}
}
