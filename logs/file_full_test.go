package logs

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// full is a disk with room for some bytes.
type full struct {
	appended
	room       int
	noTruncate bool
}

var errFull = errors.New("no space left on device")

func (d *full) Write(p []byte) (int, error) {
	n, err := d.appended.Write(p[:min(len(p), d.room)])
	if d.room -= n; err == nil && n < len(p) {
		err = errFull
	}
	return n, err
}

func (d *full) Truncate(size int64) error {
	if d.noTruncate {
		return errFull
	}
	return d.appended.Truncate(size)
}

func TestADiskThatIsFull(t *testing.T) {
	for _, noTruncate := range []bool{false, true} {
		path := filepath.Join(t.TempDir(), "calls.jsonl")
		f, err := OpenFile(path, FileOptions{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = f.Close() })
		write := func(id string) error { return f.Write(t.Context(), []Record{{ID: id, Time: time.Unix(1, 0)}}) }
		if err := write("before"); err != nil {
			t.Fatal(err)
		}
		disk := &full{appended: f.file, room: 50, noTruncate: noTruncate}
		f.file = disk
		for range 3 {
			if err := write("lost"); !errors.Is(err, errFull) {
				t.Fatalf("on a full disk: %v", err)
			}
		}
		disk.room = 1 << 20
		if err := write("after"); err != nil {
			t.Fatal(err)
		}
		p, err := f.Query(t.Context(), Query{})
		if err != nil || len(p.Records) != 2 {
			t.Fatalf("%+v, %v", p, err)
		}
		data, err := os.ReadFile(path)
		if err != nil || strings.Contains(string(data), "lost") != noTruncate {
			t.Errorf("the file is %q, %v", data, err)
		}
	}
}

// Lines come back whatever their length and that of the blocks.
func TestLinesAreReadBackwards(t *testing.T) {
	for _, n := range []int{0, 1, readBlock - 1, readBlock, readBlock + 1, 5 * readBlock} {
		for _, end := range []string{"", "torn"} {
			want := []string{"last", strings.Repeat("x", n), "", "first"}
			var text strings.Builder
			for _, w := range slices.Backward(want) {
				text.WriteString(w + "\n")
			}
			text.WriteString(end)
			r := newReverse(strings.NewReader(text.String()), int64(text.Len()))
			for _, w := range want {
				if line, err := r.next(); err != nil || string(line) != w {
					t.Fatalf("%d bytes: got %d bytes, %v, want %d", n, len(line), err, len(w))
				}
			}
			if line, err := r.next(); err == nil {
				t.Errorf("before the first there is %q", line)
			}
		}
	}
}

func TestALineThatIsTooLongIsPassedOver(t *testing.T) {
	const most = 3 * readBlock
	text := "first\n" + strings.Repeat("x", most+readBlock) + "\nlast\n"
	r := newReverse(strings.NewReader(text), int64(len(text)))
	r.most = most
	for _, want := range []string{"last", "first"} {
		if line, err := r.next(); err != nil || string(line) != want {
			t.Fatalf("got %d bytes, %v, want %q", len(line), err, want)
		}
	}
	torn := text[:len(text)-len("\nlast\n")] // the long line is the torn one
	r = newReverse(strings.NewReader(torn), int64(len(torn)))
	r.most = most
	if line, err := r.next(); err != nil || string(line) != "first" {
		t.Errorf("got %d bytes, %v", len(line), err)
	}
}

// A line that a process left half stays apart from what comes when the disk has room.
func TestATornFileOnADiskThatIsFull(t *testing.T) {
	path := filepath.Join(t.TempDir(), "calls.jsonl")
	if err := os.WriteFile(path, []byte(`{"id":"torn`), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := OpenFile(path, FileOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	disk := &full{appended: f.file, room: 5}
	f.file = disk
	if err := f.Write(t.Context(), []Record{{ID: "lost", Time: time.Unix(1, 0)}}); !errors.Is(err, errFull) {
		t.Fatalf("on a full disk: %v", err)
	}
	disk.room = 1 << 20
	if err := f.Write(t.Context(), []Record{{ID: "after", Time: time.Unix(1, 0)}}); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Get(t.Context(), "after"); err != nil {
		data, _ := os.ReadFile(path)
		t.Errorf("%v: the file is %q", err, data)
	}
}
