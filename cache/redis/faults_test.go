package redis_test

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/redis/rueidis"

	"github.com/b650d4bf/gateway/cache"
	"github.com/b650d4bf/gateway/cache/redis"
	"github.com/b650d4bf/gateway/internal/testkit/faultproxy"
)

const (
	faultTimeout = 300 * time.Millisecond
	// grace is what a busy machine adds to a deadline.
	grace = 2 * time.Second
)

// operations runs each operation of a store and returns their errors. None may
// take longer than its deadline, a list for each of its pages.
func operations(t *testing.T, s *redis.Store) map[string]error {
	t.Helper()
	e := entry(1)
	e.Namespace, e.Group, e.Vector = "n", cache.Key{7}, []float32{0.6, 0.8}
	errs := map[string]error{}
	for name, run := range map[string]func() error{
		"get": func() error { _, _, err := s.Get(t.Context(), entry(1).Key); return err },
		"set": func() error { return s.Set(t.Context(), e) },
		"search": func() error {
			_, err := s.Search(t.Context(), &cache.Query{Group: e.Group, Vector: e.Vector, Threshold: 0.9})
			return err
		},
		"delete": func() error { return s.Delete(t.Context(), entry(2).Key) },
		"lock":   func() error { unlock, _, err := s.Lock(t.Context(), e.Key, time.Second); _ = unlock; return err },
		"list": func() error {
			for _, err := range s.List(t.Context(), cache.Filter{}) {
				if err != nil {
					return err
				}
			}
			return nil
		},
		"delete all": func() error {
			n := "other"
			_, err := s.DeleteAll(t.Context(), cache.Filter{Namespace: &n})
			return err
		},
	} {
		start := time.Now()
		errs[name] = run()
		if took := time.Since(start); took > faultTimeout+grace {
			t.Errorf("%s took %v", name, took)
		}
	}
	return errs
}

func allFail(t *testing.T, s *redis.Store) {
	t.Helper()
	for name, err := range operations(t, s) {
		if err == nil {
			t.Errorf("%s has no error", name)
		} else if !strings.HasPrefix(err.Error(), "redis: ") {
			t.Errorf("%s: the error says not whose it is: %v", name, err)
		}
	}
}

func recovers(t *testing.T, s *redis.Store) {
	t.Helper()
	eventually(t, "all operations succeed again", func() bool {
		for _, err := range operations(t, s) {
			if err != nil {
				return false
			}
		}
		return true
	})
}

// kept stores an entry, however often it takes: a limit that is short for the sake of
// faults may be met on a busy machine before there are any.
func kept(t *testing.T, s *redis.Store, e *cache.Entry) {
	t.Helper()
	eventually(t, "the entry is kept", func() bool { return s.Set(t.Context(), e) == nil })
}

// noGoroutinesLeft fails the test when there are more at its end than now.
func noGoroutinesLeft(t *testing.T) {
	t.Helper()
	before := runtime.NumGoroutine()
	t.Cleanup(func() {
		for deadline := time.Now().Add(15 * time.Second); runtime.NumGoroutine() > before; time.Sleep(20 * time.Millisecond) {
			if time.Now().After(deadline) {
				buf := make([]byte, 1<<20)
				t.Fatalf("%d goroutines, %d before:\n%s", runtime.NumGoroutine(), before, buf[:runtime.Stack(buf, true)])
			}
		}
	})
}

func TestBrokenConnections(t *testing.T) {
	eachServer(t, func(t *testing.T, o rueidis.ClientOption) {
		for name, fault := range map[string]faultproxy.Fault{
			"frozen":           {Frozen: true},
			"slow":             {Delay: time.Second},
			"refused":          {Refused: true},
			"cut within reply": {CutAfter: 1},
			"garbled":          {GarbleAfter: 1},
		} {
			t.Run(name, func(t *testing.T) {
				noGoroutinesLeft(t)
				p := faultproxy.New(t, addr(o))
				s := open(t, through(o, p.Addr), redis.WithTimeout(faultTimeout), redis.WithClientCaching(0))
				recovers(t, s)
				p.Set(fault)
				if fault.Refused || fault.CutAfter > 0 {
					p.Cut()
				}
				allFail(t, s)
				if s.Stats().Failed == 0 {
					t.Error("no failure is counted")
				}
				p.Set(faultproxy.Fault{})
				p.Cut()
				recovers(t, s)
			})
		}
	})
}

// TestRepliesThatAreCut ends connections within replies, at ever more bytes. What
// is read is right or not there.
func TestRepliesThatAreCut(t *testing.T) {
	eachServer(t, func(t *testing.T, o rueidis.ClientOption) {
		noGoroutinesLeft(t)
		p := faultproxy.New(t, addr(o))
		s := open(t, through(o, p.Addr), redis.WithTimeout(80*time.Millisecond), redis.WithClientCaching(0))
		e := entry(1)
		kept(t, s, e)
		hits := 0
		for cut := 1; cut < 6000; cut += 1 + cut/10 {
			p.Set(faultproxy.Fault{CutAfter: cut})
			p.Cut()
			got, ok, err := s.Get(t.Context(), e.Key)
			if ok && (err != nil || string(got.Body) != string(e.Body)) {
				t.Fatalf("cut at %d: another entry, %v", cut, err)
			}
			if ok {
				hits++
			}
		}
		if hits == 0 {
			t.Error("no reply was long enough")
		}
		p.Set(faultproxy.Fault{})
		p.Cut()
		recovers(t, s)
	})
}

func TestWhatIsNotOursIsPassedOver(t *testing.T) {
	eachServer(t, func(t *testing.T, o rueidis.ClientOption) {
		s, client, ctx := open(t, o), connect(t, o), t.Context()
		e := entry(1)
		e.Namespace, e.Group, e.Vector = "n", cache.Key{7}, []float32{0.6, 0.8}
		other, err := entry(2).AppendBinary(nil)
		must(t, err)
		name, group := s.Prefix()+"e:"+e.Key.String(), e.Group.String()+":2"
		b := client.B
		for what, cmds := range map[string]rueidis.Commands{
			"a list":                {b().Rpush().Key(name).Element("x").Build()},
			"text":                  {b().Set().Key(name).Value("text").Build()},
			"nothing":               {b().Set().Key(name).Value("").Build()},
			"the entry of another":  {b().Set().Key(name).Value(string(other)).Build()},
			"indexes of other kind": {b().Set().Key(s.Prefix() + "h:" + group).Value("x").Build(), b().Set().Key(s.Prefix() + "v:" + group).Value("x").Build()},
		} {
			t.Run(what, func(t *testing.T) {
				_, err := s.DeleteAll(ctx, cache.Filter{})
				must(t, err)
				for _, c := range cmds {
					must(t, client.Do(ctx, c).Error())
				}
				before := s.Stats().Corrupt
				if _, ok, err := s.Get(ctx, e.Key); ok || err != nil {
					t.Errorf("get: %v, %v", ok, err)
				}
				query := &cache.Query{Group: e.Group, Vector: e.Vector, Threshold: 0.9}
				if found, err := s.Search(ctx, query); len(found) > 0 || err != nil {
					t.Errorf("search: %v, %v", found, err)
				}
				for e, err := range s.List(ctx, cache.Filter{}) {
					t.Errorf("list: %v, %v", e, err)
				}
				if s.Stats().Corrupt == before {
					t.Error("it is not counted")
				}
				must(t, s.Set(ctx, e))
				if _, ok, err := s.Get(ctx, e.Key); !ok || err != nil {
					t.Errorf("after Set: %v, %v", ok, err)
				}
				if found, err := s.Search(ctx, query); len(found) != 1 || err != nil {
					t.Errorf("search after Set: %v, %v", found, err)
				}
			})
		}
	})
}

func TestMembersThatAreNotOursArePassedOver(t *testing.T) {
	eachServer(t, func(t *testing.T, o rueidis.ClientOption) {
		s, client, ctx, r := open(t, o, redis.WithoutVectorSets()), connect(t, o), t.Context(), rand.New(rand.NewPCG(1, 1))
		e := entry(1)
		e.Group, e.Vector = cache.Key{7}, unit(r, 32)
		must(t, s.Set(ctx, e))
		h := s.Prefix() + "h:" + e.Group.String() + ":32"
		for field, value := range map[string]string{"x": "y", strings.Repeat("k", 32): "short", strings.Repeat("l", 32): strings.Repeat("z", 16+4*32)} {
			must(t, client.Do(ctx, client.B().Hset().Key(h).FieldValue().FieldValue(field, value).Build()).Error())
		}
		for range 2 {
			if found, err := s.Search(ctx, &cache.Query{Group: e.Group, Vector: e.Vector, Threshold: 0.9}); len(found) != 1 || err != nil {
				t.Errorf("%v, %v", found, err)
			}
		}
		if n := members(t, client, s.Prefix(), e.Group, 32); n != 1 {
			t.Errorf("%d members, want 1", n)
		}
	})
}

// server is one of the test's own, which it may stop and kill.
type server struct {
	t    *testing.T
	dir  string
	port int
	cmd  *exec.Cmd
}

func startServer(t *testing.T) *server {
	t.Helper()
	program := os.Getenv("GATEWAY_TEST_REDIS_SERVER")
	if program == "" {
		t.Skip("GATEWAY_TEST_REDIS_SERVER names no program; bash .ci/servers COMMAND runs a command with one")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	s := &server{t: t, dir: t.TempDir(), port: l.Addr().(*net.TCPAddr).Port}
	must(t, l.Close())
	s.start()
	t.Cleanup(s.kill)
	return s
}

func (s *server) start() {
	s.t.Helper()
	s.cmd = exec.Command(os.Getenv("GATEWAY_TEST_REDIS_SERVER"), s.dir, strconv.Itoa(s.port))
	s.cmd.Stdout, s.cmd.Stderr = io.Discard, io.Discard
	must(s.t, s.cmd.Start())
	eventually(s.t, "the server listens", func() bool {
		c, err := net.Dial("tcp", "127.0.0.1:"+strconv.Itoa(s.port))
		if err == nil {
			_ = c.Close()
		}
		return err == nil
	})
}

func (s *server) signal(sig syscall.Signal) { must(s.t, s.cmd.Process.Signal(sig)) }

func (s *server) kill() {
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait()
}

func (s *server) option() rueidis.ClientOption {
	return through(rueidis.ClientOption{}, "127.0.0.1:"+strconv.Itoa(s.port))
}

func TestServerThatStopsForAWhile(t *testing.T) {
	noGoroutinesLeft(t)
	server := startServer(t)
	s := open(t, server.option(), redis.WithTimeout(faultTimeout), redis.WithClientCaching(0))
	recovers(t, s)
	server.signal(syscall.SIGSTOP)
	allFail(t, s)
	server.signal(syscall.SIGCONT)
	recovers(t, s)
}

func TestServerThatIsKilledAndStartsEmpty(t *testing.T) {
	noGoroutinesLeft(t)
	server := startServer(t)
	s := open(t, server.option(), redis.WithTimeout(faultTimeout))
	var resets atomic.Int32
	var heard sync.Map
	must(t, s.Watch(t.Context(), func(k cache.Key) { heard.Store(k, true) }, func() { resets.Add(1) }))
	e := entry(5)
	e.Group, e.Vector = cache.Key{9}, []float32{1, 0}
	kept(t, s, e)
	server.kill()
	eventually(t, "nothing is found", func() bool { _, ok, err := s.Get(t.Context(), e.Key); return !ok && err != nil })
	allFail(t, s)
	server.start()
	recovers(t, s)
	eventually(t, "get finds nothing", func() bool {
		_, ok, err := s.Get(t.Context(), e.Key)
		if ok {
			t.Fatal("get finds what the server lost")
		}
		return err == nil
	})
	eventually(t, "search finds nothing", func() bool {
		found, err := s.Search(t.Context(), &cache.Query{Group: e.Group, Vector: e.Vector, Threshold: 0.9})
		if len(found) > 0 {
			t.Fatalf("search finds %v", found)
		}
		return err == nil
	})
	eventually(t, "those who watch are told to forget", func() bool { return resets.Load() > 0 })
	eventually(t, "changes are heard again", func() bool {
		kept(t, s, e)
		kept(t, s, e)
		_, ok := heard.Load(e.Key)
		return ok
	})
}

func TestServerThatIsNotThere(t *testing.T) {
	o := through(rueidis.ClientOption{}, "127.0.0.1:1")
	if _, err := redis.Open(o); err == nil || !strings.Contains(err.Error(), "redis: connecting") {
		t.Errorf("%v", err)
	}
}

func TestWatchOfAServerThatDoesNotAnswer(t *testing.T) {
	noGoroutinesLeft(t)
	server := startServer(t)
	s := open(t, server.option(), redis.WithTimeout(faultTimeout))
	server.signal(syscall.SIGSTOP)
	defer server.signal(syscall.SIGCONT)
	start := time.Now()
	if err := s.Watch(t.Context(), func(cache.Key) {}, func() {}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
	if took := time.Since(start); took > faultTimeout+grace {
		t.Errorf("it took %v", took)
	}
}
