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
	var pictures [][]byte
	for _, name := range []string{"lighthouse-1.png", "night-1.png"} {
		path := filepath.Join(dir, name)
		if !strings.Contains(out.String(), "saved  "+path+"\n") {
			t.Errorf("%s is not in\n%s", path, out.String())
		}
		file, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		size, err := png.DecodeConfig(bytes.NewReader(file))
		if err != nil || size.Width != 256 || size.Height != 144 {
			t.Errorf("%s: %d by %d, error %v", name, size.Width, size.Height, err)
		}
		pictures = append(pictures, file)
	}
	if bytes.Equal(pictures[0], pictures[1]) {
		t.Error("the change changed nothing")
	}
}
