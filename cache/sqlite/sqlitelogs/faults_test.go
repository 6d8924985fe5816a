package sqlitelogs_test

import (
	"bufio"
	"bytes"
	"context"
	"database/sql"
	"encoding/binary"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/b650d4bf/gateway/cache/sqlite/sqlitelogs"
	"github.com/b650d4bf/gateway/logs"
)

// childVariable makes the test binary write batches until it is killed.
const childVariable = "GATEWAY_TEST_SQLITELOGS_CHILD"

// batchSize is how many records the child writes at once.
const batchSize = 20

// batch returns records of which the ids tell the batch.
func batch(name string) []logs.Record {
	out := records(batchSize)
	for i := range out {
		out[i].ID = name + "-" + strconv.Itoa(i)
	}
	return out
}

// TestChild is not a test: the others start it as a process of its own.
func TestChild(t *testing.T) {
	path := os.Getenv(childVariable)
	if path == "" {
		t.Skip("this is run by other tests, in a process of its own")
	}
	s, err := sqlitelogs.Open(path, sqlitelogs.WithTimeout(20*time.Second), sqlitelogs.WithMaxRecords(100_000))
	must(t, err)
	fmt.Println("ready")
	for n := 0; ; n++ {
		name := fmt.Sprintf("b%d.%d", os.Getpid(), n)
		if err := s.Write(context.Background(), batch(name)); err != nil {
			fmt.Println("failed", err)
			return
		}
		fmt.Println("wrote", name)
	}
}

// child starts a process that writes and returns it once it does, with what it said
// when it ends.
func child(t *testing.T, path string) (*exec.Cmd, <-chan []string) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestChild$", "-test.timeout=5m")
	cmd.Env = append(os.Environ(), childVariable+"="+path)
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	lines := bufio.NewScanner(out)
	if !lines.Scan() || lines.Text() != "ready" {
		t.Fatalf("the child says %q", lines.Text())
	}
	said := make(chan []string, 1)
	go func() {
		var all []string
		for lines.Scan() {
			all = append(all, lines.Text())
		}
		said <- all
	}()
	return cmd, said
}

// checkBatches holds what is there against what a child said: whole batches, and all
// that it wrote.
func checkBatches(t *testing.T, s *sqlitelogs.Store, said []string) {
	t.Helper()
	there := map[string]int{}
	for _, id := range all(t, s, logs.Query{Filters: []logs.Filter{{Field: "id", Op: logs.Prefix, Values: []string{"b"}}}}) {
		there[id[:strings.LastIndexByte(id, '-')]]++
	}
	for name, n := range there {
		if n != batchSize {
			t.Errorf("of %s there are %d", name, n)
		}
	}
	for _, line := range said {
		name, ok := strings.CutPrefix(line, "wrote ")
		if !ok {
			t.Error(line)
		} else if there[name] != batchSize {
			t.Errorf("of %s, which was written, there are %d", name, there[name])
		}
	}
}

func TestProcessesThatAreKilled(t *testing.T) {
	path := filepath.Join(t.TempDir(), "calls.db")
	kills := 25
	if testing.Short() {
		kills = 5
	}
	for kill := range kills {
		cmd, said := child(t, path)
		time.Sleep(time.Duration(rand.IntN(60)) * time.Millisecond)
		must(t, cmd.Process.Kill())
		_ = cmd.Wait()
		s, err := sqlitelogs.Open(path, sqlitelogs.WithTimeout(20*time.Second))
		must(t, err)
		checkBatches(t, s, <-said)
		if got := s.Stats(); got.Damaged != 0 || got.Failed != 0 {
			t.Fatalf("kill %d: %+v", kill, got)
		}
		must(t, s.Close())
	}
}

func TestTwoProcessesAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "calls.db")
	s := open(t, path, sqlitelogs.WithTimeout(20*time.Second))
	cmd, said := child(t, path)
	for i := range 40 {
		must(t, s.Write(t.Context(), batch("b-own"+strconv.Itoa(i))))
		if _, err := s.Get(t.Context(), "b-own"+strconv.Itoa(i)+"-0"); err != nil {
			t.Fatal(err)
		}
	}
	first := fmt.Sprintf("b%d.0-0", cmd.Process.Pid)
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if _, err := s.Get(t.Context(), first); err == nil {
			break
		}
	}
	time.Sleep(50 * time.Millisecond) // for the word that it was written
	must(t, cmd.Process.Kill())
	_ = cmd.Wait()
	lines := <-said
	if len(lines) == 0 {
		t.Error("the other process wrote nothing")
	}
	checkBatches(t, s, lines)
	if got := s.Stats(); got.Written != 40*batchSize || got.Failed != 0 {
		t.Errorf("%+v", got)
	}
}

// filled returns the bytes of a file with records.
func filled(t *testing.T) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "calls.db")
	s, err := sqlitelogs.Open(path)
	must(t, err)
	for i := range 5 {
		must(t, s.Write(t.Context(), batch("b"+strconv.Itoa(i))))
	}
	must(t, s.AddFeedback(t.Context(), logs.Feedback{RecordID: "b1-1", Value: 1}))
	must(t, s.Close())
	data, err := os.ReadFile(path)
	must(t, err)
	return data
}

// usable opens a file that may be damaged. Unless Open says that it cannot be had, the
// store has to work, within one error for each operation.
func usable(t *testing.T, path, what string) (st sqlitelogs.Stats, opened bool) {
	t.Helper()
	s, err := sqlitelogs.Open(path, sqlitelogs.WithTimeout(10*time.Second))
	if err != nil {
		return st, false
	}
	defer func() { _ = s.Close() }()
	ctx := t.Context()
	for op, run := range map[string]func() error{
		"write": func() error { return s.Write(ctx, batch("new")) },
		"query": func() error { _, err := s.Query(ctx, logs.Query{Limit: 1000, Search: "b"}); return err },
		"get":   func() error { _, err := s.Get(ctx, "new-3"); return err },
	} {
		if op == "get" {
			_ = s.Write(ctx, batch("new"))
		}
		if err := run(); err != nil {
			if err = run(); err != nil && op == "get" {
				err = s.Write(ctx, batch("new"))
			}
			if err != nil {
				t.Errorf("%s: %s: %v", what, op, err)
			}
		}
	}
	return s.Stats(), true
}

func TestFilesThatAreCutOff(t *testing.T) {
	data, dir := filled(t), t.TempDir()
	damaged, aside := 0, 0
	for size := 0; size < len(data); size += 1 + rand.IntN(len(data)/12) {
		path := filepath.Join(dir, strconv.Itoa(size))
		must(t, os.WriteFile(path, data[:size], 0o600))
		st, opened := usable(t, path, fmt.Sprintf("%d of %d bytes", size, len(data)))
		if !opened {
			t.Errorf("with %d of %d bytes it is not opened", size, len(data))
		}
		if st.Damaged > 0 {
			damaged++
		}
		if _, err := os.Stat(path + ".damaged"); err == nil {
			aside++
		}
	}
	if damaged == 0 || aside != damaged {
		t.Errorf("%d were damaged and %d put aside", damaged, aside)
	}
}

func TestFilesWithChangedBytes(t *testing.T) {
	data, dir := filled(t), t.TempDir()
	damaged, refused := 0, 0
	for round := range 130 {
		changed := append([]byte(nil), data...)
		at := round // the whole header first
		if round >= 100 {
			at = rand.IntN(len(data))
		}
		changed[at] ^= byte(1 + rand.IntN(255))
		path := filepath.Join(dir, strconv.Itoa(round))
		must(t, os.WriteFile(path, changed, 0o600))
		st, opened := usable(t, path, fmt.Sprintf("byte %d changed to %#x", at, changed[at]))
		if !opened {
			refused++
			left, err := os.ReadFile(path)
			must(t, err)
			if len(left) != len(changed) {
				t.Errorf("byte %d: what was refused is another file", at)
			}
		}
		if st.Damaged > 0 {
			damaged++
		}
	}
	// Those are another's application and later versions, which are in the header, and what
	// this SQLite does not know.
	if damaged == 0 || refused == 0 || refused > 20 {
		t.Errorf("%d were damaged and %d refused", damaged, refused)
	}
}

// TestSchemaWithAChangedWord changes words of the schema's text in the file, which
// leaves a database in which SQLite finds nothing wrong.
func TestSchemaWithAChangedWord(t *testing.T) {
	data := filled(t)
	for good, bad := range map[string]string{
		"cache_write_tokens REAL": "cache_wrote_tokens REAL", "UNIQUE (id, at)": "UNIQUE (at, id)",
		"SET records = records + 1": "SET records = records + 7", "WHERE seq = old.seq": "WHERE seq < old.seq",
	} {
		if !bytes.Contains(data, []byte(good)) {
			t.Fatalf("the schema has no %q", good)
		}
		path := filepath.Join(t.TempDir(), "calls.db")
		must(t, os.WriteFile(path, bytes.Replace(data, []byte(good), []byte(bad), 1), 0o600))
		if st, opened := usable(t, path, bad); !opened || st.Damaged != 1 {
			t.Errorf("%s: opened: %t, %d were damaged", bad, opened, st.Damaged)
		}
	}
}

// TestIndexOfAnother is one that whoever keeps the file has added.
func TestIndexOfAnother(t *testing.T) {
	path := filepath.Join(t.TempDir(), "calls.db")
	must(t, os.WriteFile(path, filled(t), 0o600))
	db, err := sql.Open("sqlite", path)
	must(t, err)
	_, err = db.ExecContext(t.Context(), `CREATE INDEX theirs ON records (slug)`)
	must(t, err)
	must(t, db.Close())
	if st, opened := usable(t, path, "an index more"); !opened || st.Damaged != 0 {
		t.Errorf("opened: %t, %d were damaged", opened, st.Damaged)
	}
}

func TestFilesThatAreNoDatabase(t *testing.T) {
	for name, data := range map[string]string{"text": strings.Repeat("this is no database\n", 1000), "zeros": strings.Repeat("\x00", 8192), "nothing": ""} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "calls.db")
			must(t, os.WriteFile(path, []byte(data), 0o600))
			if _, opened := usable(t, path, name); !opened {
				t.Error("it is not opened")
			}
		})
	}
}

func TestFileOfALaterVersionIsLeftAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "calls.db")
	data := filled(t)
	binary.BigEndian.PutUint32(data[60:], 99) // user_version, https://sqlite.org/fileformat.html#the_database_header
	must(t, os.WriteFile(path, data, 0o600))
	if _, err := sqlitelogs.Open(path); err == nil || !strings.Contains(err.Error(), "version 99") {
		t.Errorf("%v", err)
	}
	if _, err := os.Stat(path + ".damaged"); err == nil {
		t.Error("it is put aside")
	}
}

// overwrite makes the whole file junk.
func overwrite(t *testing.T, path string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	must(t, err)
	info, err := f.Stat()
	must(t, err)
	junk := make([]byte, info.Size())
	for i := range junk {
		junk[i] = byte(rand.Uint32())
	}
	_, err = f.WriteAt(junk, 0)
	must(t, err)
	must(t, f.Close())
	must(t, os.Truncate(path+"-wal", 0))
}

// TestFileThatIsDamagedWhileOpen overwrites pages under two stores. Both go on, and
// on the same new file; what was damaged is kept.
func TestFileThatIsDamagedWhileOpen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "calls.db")
	a, b := open(t, path), open(t, path)
	for round := range 3 {
		must(t, a.Write(t.Context(), batch("b"+strconv.Itoa(round))))
		overwrite(t, path)
		_, err := a.Query(t.Context(), logs.Query{Limit: 1000})
		if err == nil || !strings.Contains(err.Error(), "put aside") {
			t.Errorf("round %d: %v", round, err)
		}
		must(t, a.Write(t.Context(), batch("new"+strconv.Itoa(round))))
		must(t, b.Write(t.Context(), batch("other"+strconv.Itoa(round))))
		for _, id := range []string{"new", "other"} {
			for _, s := range []*sqlitelogs.Store{a, b} {
				if _, err := s.Get(t.Context(), id+strconv.Itoa(round)+"-0"); err != nil {
					t.Errorf("round %d: %v", round, err)
				}
			}
		}
	}
	if got := a.Stats().Damaged + b.Stats().Damaged; got < 3 {
		t.Errorf("%d damages are counted", got)
	}
	found, err := fs.Glob(os.DirFS(filepath.Dir(path)), "calls.db.damaged*")
	must(t, err)
	kept := 0
	for _, name := range found {
		if !strings.HasSuffix(name, "-wal") && !strings.HasSuffix(name, "-shm") {
			kept++
		}
	}
	if kept != 3 {
		t.Errorf("kept are %v", found)
	}
}
