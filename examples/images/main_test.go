package main

import (
	"bytes"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestRun checks what a newcomer sees, and that the files are pictures of the
// wanted shape.
func TestRun(t *testing.T) {
	var out bytes.Buffer
	dir := t.TempDir()
	if err := run(t.Context(), &out, func(string) string { return "" }, []string{"-dir", dir}); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, name := range []string{"kite-1.png", "kite-2.png", "kites-1.png"} {
		path := filepath.Join(dir, name)
		if !strings.Contains(out.String(), "saved  "+path+"\n") {
			t.Errorf("%s is not in\n%s", path, out.String())
		}
		file, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if c, err := png.DecodeConfig(bytes.NewReader(file)); err != nil || c.Width != 256 || c.Height != 144 {
			t.Errorf("%s: %d by %d, error %v", name, c.Width, c.Height, err)
		}
		seen[string(file)] = true
	}
	if len(seen) != 3 {
		t.Errorf("%d different pictures, want 3", len(seen))
	}
	for _, line := range []string{"warning  size: there is no 1792x1024", "Two kites, and the sea below\n"} {
		if !strings.Contains(out.String(), line) {
			t.Errorf("%q is not in\n%s", line, out.String())
		}
	}
	if strings.Contains(out.String(), "harbour") {
		t.Errorf("the least fitting caption is in\n%s", out.String())
	}
}
