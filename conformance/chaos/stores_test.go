package chaos_test

import (
	"context"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/redis/rueidis"

	"github.com/b650d4bf/gateway"
	"github.com/b650d4bf/gateway/cache"
	"github.com/b650d4bf/gateway/cache/redis"
	"github.com/b650d4bf/gateway/cache/sqlite"
	"github.com/b650d4bf/gateway/cache/sqlite/sqlitelogs"
	"github.com/b650d4bf/gateway/logs"
)

// newRedis starts a server that says enough of Redis's language for a client to
// connect, misses everything, and can be broken.
func newRedis(t *testing.T) (address string, broken *atomic.Int64) {
	t.Helper()
	p := newPlatform(t)
	broken = new(atomic.Int64)
	p.onConn(func(w *wire) {
		for {
			words := w.command()
			if words == nil {
				return
			}
			switch {
			case broken.Load() == redisHangs:
				w.hold()
				return
			case broken.Load() == redisGone:
				w.reset()
				return
			case broken.Load() == redisNonsense:
				w.say([]byte("?nonsense\r\n"))
			case words[0] == "HELLO":
				w.say([]byte("%2\r\n$6\r\nserver\r\n$5\r\nredis\r\n$5\r\nproto\r\n:3\r\n"))
			case words[0] == "GET":
				w.say([]byte("_\r\n"))
			case words[0] == "PING":
				w.say([]byte("+PONG\r\n"))
			default:
				w.say([]byte("+OK\r\n"))
			}
		}
	})
	return strings.TrimPrefix(p.url, "http://"), broken
}

// What a server does to commands.
const (
	redisWorks int64 = iota
	redisHangs
	redisGone
	redisNonsense
)

// command reads an array of bulk strings; nil at the end of the connection.
func (w *wire) command() []string {
	line := func() string { s, _ := w.reader.ReadString('\n'); return strings.TrimSpace(s) }
	head := line()
	if !strings.HasPrefix(head, "*") {
		return nil
	}
	n := 0
	for _, c := range head[1:] {
		n = n*10 + int(c-'0')
	}
	words := make([]string, n)
	for i := range words {
		line()
		words[i] = line()
	}
	if n == 0 {
		return nil
	}
	return words
}

// TestStoresThatFail cost a call nothing but the look into the cache.
func TestStoresThatFail(t *testing.T) {
	for name, fault := range map[string]int64{"hangs": redisHangs, "gone": redisGone, "nonsense": redisNonsense} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			address, broken := newRedis(t)
			store, err := redis.Open(rueidis.ClientOption{InitAddress: []string{address}, ForceSingleClient: true, DisableCache: true, DisableRetry: true},
				redis.WithClientCaching(0), redis.WithoutVectorSets())
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = store.Close() })
			p := newPlatform(t)
			k := newKit(t, p.url, gateway.WithCacheStore(store), gateway.WithCache(gateway.Cache{Mode: gateway.CacheSimple}))
			p.always(answer(geminiUnary))
			k.call(of(t, "store/redis"), surfaces[0], newMark())
			broken.Store(fault)
			each(8, func(int) { k.call(of(t, "store/redis"), surfaces[0], newMark()) })
			k.settle(p.count)
			p.left(k)
		})
	}
}

// movedStore keeps entries as a machine would that was years ahead.
type movedStore struct{ cache.Store }

func (s movedStore) Set(ctx context.Context, e *cache.Entry) error {
	moved := *e
	moved.Created, moved.Expires = e.Created.AddDate(5, 0, 0), e.Expires.AddDate(5, 0, 0)
	return s.Store.Set(ctx, &moved)
}

func TestCachedAnswersOfTheFuture(t *testing.T) {
	t.Parallel()
	memory, err := cache.NewMemory(cache.MemoryConfig{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = memory.Close() })
	p := newPlatform(t)
	k := newKit(t, p.url, gateway.WithCacheStore(movedStore{memory}), gateway.WithCache(gateway.Cache{Mode: gateway.CacheSimple}))
	p.always(answer(geminiUnary))
	for range 3 {
		k.call(of(t, "store/future"), surfaces[0], newMark())
	}
	k.settle(p.count)
}

const diskChild = "CHAOS_DISK"

// TestFullDisks runs a child whose files can't grow.
func TestFullDisks(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*patience)
	defer cancel()
	child := exec.CommandContext(ctx, self, "-test.run=^TestOnAFullDisk$", "-test.count=1")
	child.Env = append(os.Environ(), diskChild+"="+t.TempDir())
	out, err := child.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "PASS") {
		t.Errorf("%v\n%s", err, out)
	}
	used.Store("store/disk", true)
}

// TestOnAFullDisk is what the child does; in the parent it has nothing to do.
func TestOnAFullDisk(t *testing.T) {
	dir := os.Getenv(diskChild)
	if dir == "" {
		return
	}
	file, err := logs.OpenFile(filepath.Join(dir, "calls.jsonl"), logs.FileOptions{})
	if err != nil {
		t.Fatal(err)
	}
	records, err := sqlitelogs.Open(filepath.Join(dir, "calls.db"))
	if err != nil {
		t.Fatal(err)
	}
	answers, err := sqlite.Open(filepath.Join(dir, "answers.db"))
	if err != nil {
		t.Fatal(err)
	}
	onDisk, err := logs.New(logs.Options{Store: records, Sinks: []logs.Sink{file}, BatchSize: 4})
	if err != nil {
		t.Fatal(err)
	}
	p := newPlatform(t)
	k := newKit(t, p.url, gateway.WithObserver(onDisk), gateway.WithCacheStore(answers), gateway.WithCache(gateway.Cache{Mode: gateway.CacheSimple}))
	p.always(answer(geminiUnary))
	ask := func() { k.call(of(t, "store/disk"), surfaces[0], newMark(), gateway.WithCacheNamespace(newMark())) }
	for range 20 {
		ask()
	}
	signal.Ignore(syscall.SIGXFSZ)
	const room = 16 << 10 // below what the databases have already
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: room, Max: room}); err != nil {
		t.Fatal(err)
	}
	for range 200 {
		ask()
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := onDisk.Flush(ctx); err != nil {
		t.Error(err)
	}
	s := onDisk.Stats()
	if s.Written+s.Failed+s.Dropped != 2*220 || s.Failed == 0 || s.Sinks[0].Written < 1 || s.Sinks[0].Failed == 0 || s.Sinks[1].Failed == 0 {
		t.Errorf("%+v", s)
	}
	k.settle(nil)
	_ = onDisk.Close(ctx)
	_ = records.Close()
	_ = answers.Close()
	_ = file.Close()
}
