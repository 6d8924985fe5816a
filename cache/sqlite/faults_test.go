package sqlite_test

import (
	"bufio"
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/cache"
	"github.com/b650d4bf/gateway/cache/sqlite"
)

// childVariable makes the test binary write entries until it is killed.
const childVariable = "GATEWAY_TEST_SQLITE_CHILD"

// TestChild is not a test: the others start it as a process of its own.
func TestChild(t *testing.T) {
	path := os.Getenv(childVariable)
	if path == "" {
		t.Skip("this is run by other tests, in a process of its own")
	}
	s, err := sqlite.Open(path, sqlite.WithTimeout(20*time.Second))
	must(t, err)
	fmt.Println("ready")
	for i := 0; ; i++ {
		e := entry(i % 200)
		if err := s.Set(context.Background(), e); err != nil {
			fmt.Println("failed", err)
			return
		}
		fmt.Println("set", i%200)
		if i%7 == 0 {
			must(t, s.Delete(context.Background(), entry((i+100)%200).Key))
		}
	}
}

// entry returns one whose members all follow from n but for its time.
func entry(n int) *cache.Entry {
	r := rand.New(rand.NewPCG(uint64(n), 1))
	body := make([]byte, 200+r.IntN(6000))
	for i := range body {
		body[i] = byte(n + i)
	}
	now := time.UnixMilli(time.Now().UnixMilli())
	e := &cache.Entry{
		Key: cache.Key{byte(n), byte(n >> 8), 31: 1}, Body: body, Created: now, Expires: now.Add(time.Hour),
		Namespace: "n", Operation: "chat", Model: "m", Group: cache.Key{1}, Vector: make([]float32, 16), Text: "text",
	}
	e.Vector[n%16] = 1
	return e
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// child starts a process that writes and returns it once it does, with what ends
// when its output does: the number it wrote last.
func child(t *testing.T, path string) (*exec.Cmd, <-chan string) {
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
	last := make(chan string, 1)
	go func() {
		line := ""
		for lines.Scan() {
			line = lines.Text()
		}
		last <- line
	}()
	return cmd, last
}

// checkAll reads all entries, which must be as they were written or not there, and
// returns how many there are.
func checkAll(t *testing.T, s *sqlite.Store) int {
	t.Helper()
	n := 0
	for i := range 200 {
		got, ok, err := s.Get(t.Context(), entry(i).Key)
		if err != nil {
			t.Fatalf("entry %d: %v", i, err)
		}
		if !ok {
			continue
		}
		n++
		want := entry(i)
		if left := time.Until(got.Expires); left > time.Hour || left < 50*time.Minute || !got.Expires.Equal(got.Created.Add(time.Hour)) {
			t.Errorf("entry %d lives for %v", i, left)
		}
		want.Created, want.Expires = got.Created, got.Expires
		if bytes.Equal(want.Body, got.Body) {
			want.Body = got.Body[:0:0] // cmp takes long for many bytes
			got.Body = want.Body
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("entry %d differs (-want +got):\n%s", i, diff)
		}
	}
	found, err := s.Search(t.Context(), &cache.Query{Group: cache.Key{1}, Vector: entry(0).Vector, Threshold: 0.9})
	must(t, err)
	for _, m := range found {
		if m.Entry.Vector[0] != 1 {
			t.Error("the search finds another vector")
		}
	}
	return n
}

func TestProcessesThatAreKilled(t *testing.T) {
	path := filepath.Join(t.TempDir(), "answers.db")
	kills, there := 60, 0
	if testing.Short() {
		kills = 5
	}
	for kill := range kills {
		cmd, last := child(t, path)
		time.Sleep(time.Duration(rand.IntN(60)) * time.Millisecond)
		must(t, cmd.Process.Kill())
		_ = cmd.Wait()
		line := <-last
		s, err := sqlite.Open(path, sqlite.WithTimeout(20*time.Second))
		must(t, err)
		n := -1
		if _, err := fmt.Sscanf(line, "set %d", &n); err == nil && n >= 0 {
			if _, ok, err := s.Get(t.Context(), entry(n).Key); !ok || err != nil {
				t.Errorf("kill %d: what was set last is not there: %v", kill, err)
			}
		}
		there += checkAll(t, s)
		if got := s.Stats(); got.Corrupt != 0 || got.Failed != 0 {
			t.Fatalf("kill %d: %+v", kill, got)
		}
		must(t, s.Close())
	}
	if there == 0 {
		t.Error("nothing was ever there")
	}
}

func TestTwoProcessesAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "answers.db")
	s := open(t, path, sqlite.WithTimeout(20*time.Second), sqlite.WithPoll(10*time.Millisecond))
	var heard sync.Map
	must(t, s.Watch(t.Context(), func(k cache.Key) { heard.Store(k, true) }, func() {}))
	cmd, last := child(t, path)
	for i := range 300 {
		e := entry(1000 + i%50)
		must(t, s.Set(t.Context(), e))
		if got, ok, err := s.Get(t.Context(), e.Key); !ok || err != nil || string(got.Body) != string(e.Body) {
			t.Fatalf("round %d: %v, %v", i, ok, err)
		}
	}
	others := func() (n int) {
		heard.Range(func(k, _ any) bool {
			if k.(cache.Key)[1] == 0 {
				n++
			}
			return true
		})
		return n
	}
	for deadline := time.Now().Add(20 * time.Second); others() == 0 && time.Now().Before(deadline); {
		time.Sleep(10 * time.Millisecond)
	}
	checkAll(t, s)
	must(t, cmd.Process.Kill())
	_ = cmd.Wait()
	if line := <-last; strings.HasPrefix(line, "failed") {
		t.Error(line)
	}
	if others() == 0 {
		t.Error("nothing is heard of the other process")
	}
}

// filled returns the bytes of a file with entries.
func filled(t *testing.T) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "answers.db")
	s, err := sqlite.Open(path)
	must(t, err)
	for i := range 40 {
		must(t, s.Set(t.Context(), entry(i)))
	}
	must(t, s.Close())
	data, err := os.ReadFile(path)
	must(t, err)
	return data
}

// usable opens a file that may be damaged. Whatever is in it, the store has to work
// and to return nothing that was not written.
func usable(t *testing.T, path, what string) cache.Stats {
	t.Helper()
	s, err := sqlite.Open(path, sqlite.WithTimeout(10*time.Second))
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	defer func() { _ = s.Close() }()
	checkAll(t, s)
	for _, err := range s.List(t.Context(), cache.Filter{}) {
		if err != nil {
			t.Fatalf("%s: list: %v", what, err)
		}
	}
	e := entry(3)
	if err := s.Set(t.Context(), e); err != nil {
		t.Fatalf("%s: set: %v", what, err)
	}
	if _, ok, err := s.Get(t.Context(), e.Key); !ok || err != nil {
		t.Fatalf("%s: after Set: %v, %v", what, ok, err)
	}
	if _, err := s.DeleteAll(t.Context(), cache.Filter{}); err != nil {
		t.Fatalf("%s: delete all: %v", what, err)
	}
	return s.Stats()
}

func TestFilesThatAreCutOff(t *testing.T) {
	data, dir := filled(t), t.TempDir()
	counted, aside := 0, 0
	for size := 0; size < len(data); size += 1 + rand.IntN(len(data)/20) {
		path := filepath.Join(dir, fmt.Sprint(size))
		must(t, os.WriteFile(path, data[:size], 0o600))
		got := usable(t, path, fmt.Sprintf("%d of %d bytes", size, len(data)))
		if got.Corrupt > 0 {
			counted++
		}
		if _, err := os.Stat(path + ".damaged"); err == nil {
			aside++
		}
	}
	if counted == 0 || aside == 0 || aside > counted {
		t.Errorf("%d were counted and %d put aside", counted, aside)
	}
}

func TestFilesWithChangedBytes(t *testing.T) {
	data, dir := filled(t), t.TempDir()
	counted := 0
	for round := range 120 {
		changed := append([]byte(nil), data...)
		at := round // the whole header first
		if round >= 100 {
			at = rand.IntN(len(data))
		}
		changed[at] ^= byte(1 + rand.IntN(255))
		path := filepath.Join(dir, fmt.Sprint(round))
		must(t, os.WriteFile(path, changed, 0o600))
		if got := usable(t, path, fmt.Sprintf("byte %d changed to %#x", at, changed[at])); got.Corrupt > 0 {
			counted++
		}
	}
	if counted == 0 {
		t.Error("no damage was counted")
	}
}

func TestFilesThatAreNoDatabase(t *testing.T) {
	for name, data := range map[string]string{"text": strings.Repeat("this is no database\n", 1000), "zeros": strings.Repeat("\x00", 8192), "nothing": ""} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "answers.db")
			must(t, os.WriteFile(path, []byte(data), 0o600))
			must(t, os.WriteFile(path+"-wal", []byte(data), 0o600))
			usable(t, path, name)
		})
	}
}

// TestFileThatIsDamagedWhileOpen overwrites pages under two stores. Both go on, and
// on the same new file.
func TestFileThatIsDamagedWhileOpen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "answers.db")
	a, b := open(t, path), open(t, path)
	for i := range 200 {
		must(t, a.Set(t.Context(), entry(i)))
	}
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
	for _, s := range []*sqlite.Store{a, b, a, b} {
		checkAll(t, s)
		must(t, s.Set(t.Context(), entry(7)))
	}
	if a.Stats().Corrupt+b.Stats().Corrupt == 0 {
		t.Error("no damage was counted")
	}
	must(t, a.Set(t.Context(), entry(8)))
	if _, ok, err := b.Get(t.Context(), entry(8).Key); !ok || err != nil {
		t.Errorf("the stores are apart: %v, %v", ok, err)
	}
}

func TestFileOfAnotherVersionIsEmptied(t *testing.T) {
	path := filepath.Join(t.TempDir(), "answers.db")
	data := filled(t)
	data[63] = 99 // user_version, https://sqlite.org/fileformat.html#the_database_header
	must(t, os.WriteFile(path, data, 0o600))
	s := open(t, path)
	if got := s.Stats(); got.Entries != 0 || got.Corrupt != 0 {
		t.Errorf("%+v", got)
	}
	must(t, s.Set(t.Context(), entry(1)))
}

func TestFilesThatCannotBeOpened(t *testing.T) {
	dir := t.TempDir()
	for _, path := range []string{filepath.Join(dir, "none", "answers.db"), dir} {
		if s, err := sqlite.Open(path); err == nil {
			_ = s.Close()
			t.Errorf("%s: no error", path)
		}
	}
	for _, o := range []sqlite.Option{sqlite.WithTimeout(0), sqlite.WithPoll(0), sqlite.WithSweep(0), sqlite.WithMaxBytes(0), sqlite.WithMaxEntryBytes(-1), sqlite.WithVectorBytes(0)} {
		if _, err := sqlite.Open(filepath.Join(dir, "a.db"), o); err == nil {
			t.Error("a mistake is not refused")
		}
	}
}

// TestATableThatNamesOtherColumnsIsDamage changes one letter of a trigger's text, which
// SQLite takes for a mistake in the statement.
func TestATableThatNamesOtherColumnsIsDamage(t *testing.T) {
	data := filled(t)
	const good, bad = "SET entries = entries", "SET ensries = entries"
	if !bytes.Contains(data, []byte(good)) {
		t.Fatalf("the schema has no %q", good)
	}
	path := filepath.Join(t.TempDir(), "answers.db")
	must(t, os.WriteFile(path, bytes.Replace(data, []byte(good), []byte(bad), 1), 0o600))
	if got := usable(t, path, "a letter of a trigger"); got.Corrupt != 1 {
		t.Errorf("%d were counted, want 1", got.Corrupt)
	}
}

// TestACounterAtItsEndIsDamage has one of which SQLite says that the disk is full.
func TestACounterAtItsEndIsDamage(t *testing.T) {
	path := filepath.Join(t.TempDir(), "answers.db")
	must(t, os.WriteFile(path, filled(t), 0o600))
	db, err := sql.Open("sqlite", path)
	must(t, err)
	_, err = db.ExecContext(t.Context(), `UPDATE sqlite_sequence SET seq = 9223372036854775807`)
	must(t, err)
	must(t, db.Close())
	if got := usable(t, path, "a counter at its end"); got.Corrupt != 1 {
		t.Errorf("%d were counted, want 1", got.Corrupt)
	}
}
