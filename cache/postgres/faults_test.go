package postgres_test

import (
	"context"
	"io"
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

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/b650d4bf/gateway/cache"
	"github.com/b650d4bf/gateway/cache/postgres"
	"github.com/b650d4bf/gateway/internal/testkit/faultproxy"
)

const (
	faultTimeout = 300 * time.Millisecond
	// grace is what a busy machine adds to a deadline.
	grace = 2 * time.Second
)

// operations runs each operation of a store and returns their errors. None may
// take longer than its deadline.
func operations(t *testing.T, s *postgres.Store) map[string]error {
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
		"lock":   func() error { _, _, err := s.Lock(t.Context(), e.Key, time.Second); return err },
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
		"sweep": func() error { _, err := s.Sweep(t.Context()); return err },
	} {
		start := time.Now()
		errs[name] = run()
		if took := time.Since(start); took > faultTimeout+grace {
			t.Errorf("%s took %v", name, took)
		}
	}
	return errs
}

func allFail(t *testing.T, s *postgres.Store) {
	t.Helper()
	for name, err := range operations(t, s) {
		if err == nil {
			t.Errorf("%s has no error", name)
		} else if !strings.HasPrefix(err.Error(), "postgres: ") {
			t.Errorf("%s: the error says not whose it is: %v", name, err)
		}
	}
}

func recovers(t *testing.T, s *postgres.Store) {
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
func kept(t *testing.T, s *postgres.Store, e *cache.Entry) {
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

// through returns a store whose connections go to another address.
func through(t *testing.T, url, name, addr string, opts ...postgres.Option) *postgres.Store {
	t.Helper()
	host, port, err := net.SplitHostPort(addr)
	must(t, err)
	n, err := strconv.Atoi(port)
	must(t, err)
	p := connect(t, url, func(c *pgxpool.Config) {
		c.ConnConfig.Host, c.ConnConfig.Port = host, uint16(n)
		c.ConnConfig.Fallbacks = nil
	})
	s, err := postgres.New(p, append([]postgres.Option{postgres.WithPrefix(name), postgres.WithTimeout(faultTimeout)}, opts...)...)
	must(t, err)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func address(t *testing.T, url string) string {
	t.Helper()
	c, err := pgxpool.ParseConfig(url)
	must(t, err)
	return net.JoinHostPort(c.ConnConfig.Host, strconv.Itoa(int(c.ConnConfig.Port)))
}

func TestBrokenConnections(t *testing.T) {
	eachServer(t, func(t *testing.T, url string) {
		for what, fault := range map[string]faultproxy.Fault{
			"frozen":           {Frozen: true},
			"slow":             {Delay: time.Second},
			"refused":          {Refused: true},
			"cut within reply": {CutAfter: 3},
			"garbled":          {GarbleAfter: 1},
		} {
			t.Run(what, func(t *testing.T) {
				noGoroutinesLeft(t)
				first, name := open(t, url)
				must(t, first.Migrate(t.Context(), 2))
				p := faultproxy.New(t, address(t, url))
				s := through(t, url, name, p.Addr)
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

func TestRepliesThatAreCut(t *testing.T) {
	url := serverURL(t, "GATEWAY_TEST_POSTGRES")
	noGoroutinesLeft(t)
	first, name := open(t, url)
	e := entry(1)
	must(t, first.Set(t.Context(), e))
	p := faultproxy.New(t, address(t, url))
	s := through(t, url, name, p.Addr)
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
}

func TestWhatIsNotOursIsPassedOver(t *testing.T) {
	eachServer(t, func(t *testing.T, url string) {
		s, name := open(t, url)
		p, ctx := connect(t, url), t.Context()
		other, err := entry(2).AppendBinary(nil)
		must(t, err)
		for what, data := range map[string][]byte{"text": []byte("text"), "nothing": {}, "the entry of another": other} {
			t.Run(what, func(t *testing.T) {
				e := entry(1)
				e.Group, e.Vector = cache.Key{7}, []float32{0.6, 0.8}
				must(t, s.Set(ctx, e))
				_, err := p.Exec(ctx, `UPDATE `+name+`entries SET data = $1`, data)
				must(t, err)
				before := s.Stats().Corrupt
				if _, ok, err := s.Get(ctx, e.Key); ok || err != nil {
					t.Errorf("get: %v, %v", ok, err)
				}
				if found, err := s.Search(ctx, &cache.Query{Group: e.Group, Vector: e.Vector, Threshold: 0.9}); len(found) > 0 || err != nil {
					t.Errorf("search: %v, %v", found, err)
				}
				for e, err := range s.List(ctx, cache.Filter{}) {
					t.Errorf("list: %v, %v", e, err)
				}
				if got := s.Stats().Corrupt - before; got != 3 {
					t.Errorf("%d are counted", got)
				}
				must(t, s.Set(ctx, e))
				if _, ok, err := s.Get(ctx, e.Key); !ok || err != nil {
					t.Errorf("after Set: %v, %v", ok, err)
				}
			})
		}
	})
}

func TestTablesThatAreGoneAreMadeAgain(t *testing.T) {
	eachServer(t, func(t *testing.T, url string) {
		s, name := open(t, url)
		recovers(t, s)
		drop(t, url, name)
		if _, ok, err := s.Get(t.Context(), entry(1).Key); ok || err == nil {
			t.Errorf("%v, %v", ok, err)
		}
		recovers(t, s)
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
	program := os.Getenv("GATEWAY_TEST_POSTGRES_SERVER")
	if program == "" {
		t.Skip("GATEWAY_TEST_POSTGRES_SERVER names no program; bash .ci/servers COMMAND runs a command with one")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	// The server has a user of its own, who may not look into the test's directory.
	dir, err := os.MkdirTemp("/tmp", "postgres") //nolint:usetesting // t.TempDir is below one that is closed to others
	must(t, err)
	must(t, os.Chmod(dir, 0o755))
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	s := &server{t: t, dir: dir + "/data", port: l.Addr().(*net.TCPAddr).Port}
	must(t, l.Close())
	s.start()
	t.Cleanup(s.kill)
	return s
}

func (s *server) url() string {
	return "postgres://gateway@127.0.0.1:" + strconv.Itoa(s.port) + "/postgres?sslmode=disable"
}

func (s *server) start() {
	s.t.Helper()
	s.cmd = exec.Command(os.Getenv("GATEWAY_TEST_POSTGRES_SERVER"), s.dir, strconv.Itoa(s.port))
	s.cmd.Stdout, s.cmd.Stderr = io.Discard, io.Discard
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	must(s.t, s.cmd.Start())
	p := connect(s.t, s.url())
	defer p.Close()
	eventually(s.t, "the server answers", func() bool {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		return p.Ping(ctx) == nil
	})
}

// signal reaches the server and, but for those that it starts in sessions of their
// own, its processes.
func (s *server) signal(sig syscall.Signal) { must(s.t, syscall.Kill(-s.cmd.Process.Pid, sig)) }

func (s *server) kill() {
	_ = syscall.Kill(-s.cmd.Process.Pid, syscall.SIGKILL)
	_ = s.cmd.Wait()
}

func TestServerThatIsKilledAndStartsAgain(t *testing.T) {
	noGoroutinesLeft(t)
	server := startServer(t)
	withExtension(t, server.url())
	p := connect(t, server.url())
	s, err := postgres.New(p, postgres.WithTimeout(faultTimeout))
	must(t, err)
	t.Cleanup(func() { _ = s.Close() })
	must(t, s.Migrate(t.Context(), 2))
	var resets atomic.Int32
	var heard sync.Map
	must(t, s.Watch(t.Context(), func(k cache.Key) { heard.Store(k, true) }, func() { resets.Add(1) }))
	e := entry(5)
	kept(t, s, e)
	server.kill()
	allFail(t, s)
	server.start()
	recovers(t, s)
	eventually(t, "those who watch are told to forget", func() bool { return resets.Load() > 0 })
	eventually(t, "changes are heard again", func() bool {
		_ = s.Set(t.Context(), e)
		_ = s.Delete(t.Context(), e.Key)
		_, ok := heard.Load(e.Key)
		return ok
	})
	// And once more, with nothing in it.
	server.kill()
	must(t, os.RemoveAll(server.dir))
	server.start()
	recovers(t, s)
}

func TestServerWhoseProcessesStop(t *testing.T) {
	noGoroutinesLeft(t)
	server := startServer(t)
	p := connect(t, server.url(), func(c *pgxpool.Config) { c.MaxConns = 1 })
	s, err := postgres.New(p, postgres.WithTimeout(faultTimeout))
	must(t, err)
	t.Cleanup(func() { _ = s.Close() })
	must(t, s.Migrate(t.Context()))
	pid := 0
	must(t, p.QueryRow(t.Context(), `SELECT pg_backend_pid()`).Scan(&pid))
	must(t, syscall.Kill(pid, syscall.SIGSTOP))
	server.signal(syscall.SIGSTOP)
	allFail(t, s)
	server.signal(syscall.SIGCONT)
	must(t, syscall.Kill(pid, syscall.SIGCONT))
	recovers(t, s)
}
