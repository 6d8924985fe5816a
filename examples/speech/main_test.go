package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestRun checks what a newcomer sees, and that the file is whole.
func TestRun(t *testing.T) {
	var out bytes.Buffer
	path := filepath.Join(t.TempDir(), "hello.wav")
	if err := run(t.Context(), &out, func(string) string { return "" }, []string{"-file", path}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "saved  "+path+"\n           · 28844 bytes, 0.6 seconds\n") {
		t.Errorf("the file is not in\n%s", out.String())
	}
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if len(file) != 28844 || string(file[:4]) != "RIFF" || string(file[8:16]) != "WAVEfmt " {
		t.Errorf("%d bytes that begin with %q", len(file), file[:16])
	}
}
