package console

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// files opens files in place of the streams.
func streams(t *testing.T) (in, out, errs *os.File) {
	t.Helper()
	var list []*os.File
	for _, name := range []string{"in", "out", "err"} {
		f, err := os.Create(filepath.Join(t.TempDir(), name))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = f.Close() })
		list = append(list, f)
	}
	return list[0], list[1], list[2]
}

func read(t *testing.T, f *os.File) string {
	t.Helper()
	data, err := os.ReadFile(f.Name())
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestFilesArePlain(t *testing.T) {
	in, out, errs := streams(t)
	c := New(in, out, errs, func(string) string { return "" })
	c.Hide("hidden-secret")
	c.Hide("abc") // too short
	stop := c.Spin("asking")
	if err := c.Out("an answer\x1b[1m\n"); err != nil {
		t.Error(err)
	}
	if err := c.OutStyled(Red, "a line of hidden-secret\n"); err != nil {
		t.Error(err)
	}
	c.Say(Dim, "%s and %s\n", "abc", "hidden-secret")
	stop()
	stop()
	if diff := cmp.Diff("an answer\x1b[1m\na line of [redacted]\n", read(t, out)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff("abc and [redacted]\n", read(t, errs)); diff != "" {
		t.Error(diff)
	}
}

// TestTerminalsAreSafe pretends that the streams are terminals.
func TestTerminalsAreSafe(t *testing.T) {
	in, out, errs := streams(t)
	c := New(in, out, errs, func(string) string { return "" })
	c.OutTerminal, c.ErrTerminal = true, true
	if err := c.Out("a\x1b[2J\u202eb\tc\n"); err != nil {
		t.Error(err)
	}
	if err := c.OutStyled(Green, "ok\r\n\r\r\n"); err != nil {
		t.Error(err)
	}
	c.Say(Red, "e\x9b\n")
	if diff := cmp.Diff("a\ufffd[2J\ufffdb\tc\n\x1b[32mok\n\ufffd\x1b[0m\n", read(t, out)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff("\x1b[31me\ufffd\x1b[0m\n", read(t, errs)); diff != "" {
		t.Error(diff)
	}
}

// TestSpinnerLeavesNothing checks that what is said while it turns has its own
// line, and that its last picture is gone.
func TestSpinnerLeavesNothing(t *testing.T) {
	in, out, errs := streams(t)
	c := New(in, out, errs, func(string) string { return "" })
	c.ErrTerminal, c.moving = true, true
	stop := c.Spin("asking\x1b[2J")
	for !strings.Contains(read(t, errs), "asking") {
		time.Sleep(time.Millisecond)
	}
	c.Say(Plain, "a remark\n")
	stop()
	got := read(t, errs)
	if strings.Contains(got, "\x1b[2J") || !strings.Contains(got, eraseLine+"a remark\n") || !strings.HasSuffix(got, eraseLine) {
		t.Errorf("%q", got)
	}
}
