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
// GATEWAY_RECORDED_DIR names the recordings; without it the test is skipped.
func TestCutsOfRecordedStreamsChangeNothing(t *testing.T) {
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
		if x.Kind != "gemini" || !x.Stream || x.Response.SSE == "" || x.Response.Status != 200 {
			continue
		}
		ran++
		t.Run(x.ID, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				checkCuts(t, []byte(x.Response.SSE), func(r io.Reader) string {
					chunks, whole, err := streamed(t, func() io.Reader { return r })
					return outcome(t, chunks, whole, err)
				})
			})
		})
	}
	if t.Logf("%d streams", ran); ran == 0 {
		t.Errorf("no recorded stream in %s", dir)
	}
}
