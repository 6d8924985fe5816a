package pglogs_test

import (
	"context"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/b650d4bf/gateway/cache/postgres/pglogs"
	"github.com/b650d4bf/gateway/internal/testkit/faultproxy"
	"github.com/b650d4bf/gateway/logs"
)

const (
	faultTimeout = 300 * time.Millisecond
	// grace is what a busy machine adds to a deadline.
	grace = 3 * time.Second
)

// operations runs each operation of a store and returns their errors. None may
// take longer than its deadline.
func operations(t *testing.T, s *pglogs.Store) map[string]error {
	t.Helper()
	errs := map[string]error{}
	batch := records(3)
	batch[0].ID = "kept"
	for _, op := range []struct {
		name string
		run  func() error
	}{
		{"write", func() error { return s.Write(t.Context(), batch) }},
		{"get", func() error { _, err := s.Get(t.Context(), "kept"); return err }},
		{"query", func() error { _, err := s.Query(t.Context(), logs.Query{}); return err }},
		{"add feedback", func() error {
			return s.AddFeedback(t.Context(), logs.Feedback{RecordID: "kept", Value: 1})
		}},
		{"prune", func() error { _, err := s.Prune(t.Context()); return err }},
	} {
		start := time.Now()
		errs[op.name] = op.run()
		if took := time.Since(start); took > faultTimeout+grace {
			t.Errorf("%s took %v", op.name, took)
		}
	}
	return errs
}

func allFail(t *testing.T, s *pglogs.Store) {
	t.Helper()
	for name, err := range operations(t, s) {
		if err == nil {
			t.Errorf("%s has no error", name)
		} else if !strings.HasPrefix(err.Error(), "postgres: ") {
			t.Errorf("%s: the error says not whose it is: %v", name, err)
		}
	}
}

func recovers(t *testing.T, s *pglogs.Store) {
	t.Helper()
	var errs map[string]error
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		failed := false
		errs = operations(t, s)
		for _, err := range errs {
			failed = failed || err != nil
		}
		if !failed {
			return
		}
	}
	t.Fatalf("operations fail still: %v", errs)
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
				must(t, first.Migrate(t.Context()))
				c, err := pgxpool.ParseConfig(url)
				must(t, err)
				proxy := faultproxy.New(t, net.JoinHostPort(c.ConnConfig.Host, strconv.Itoa(int(c.ConnConfig.Port))))
				host, port, err := net.SplitHostPort(proxy.Addr)
				must(t, err)
				n, err := strconv.Atoi(port)
				must(t, err)
				p := connect(t, url, func(c *pgxpool.Config) {
					c.ConnConfig.Host, c.ConnConfig.Port, c.ConnConfig.Fallbacks = host, uint16(n), nil
				})
				s, err := pglogs.New(p, pglogs.WithPrefix(name), pglogs.WithTimeout(faultTimeout), pglogs.WithMaxRecords(1000))
				must(t, err)
				recovers(t, s)
				proxy.Set(fault)
				if fault.Refused || fault.CutAfter > 0 {
					proxy.Cut()
				}
				allFail(t, s)
				if s.Stats().Failed == 0 {
					t.Error("no failure is counted")
				}
				proxy.Set(faultproxy.Fault{})
				proxy.Cut()
				recovers(t, s)
			})
		}
	})
}

// TestConnectionsThatTheServerEnds loses no batch to them.
func TestConnectionsThatTheServerEnds(t *testing.T) {
	eachServer(t, func(t *testing.T, url string) {
		_, name := open(t, url)
		mine := func(c *pgxpool.Config) { c.ConnConfig.RuntimeParams["application_name"] = name }
		s, err := pglogs.New(connect(t, url, mine), pglogs.WithPrefix(name), pglogs.WithTimeout(20*time.Second))
		must(t, err)
		must(t, s.Migrate(t.Context()))
		p, ended := connect(t, url), 0
		for i, r := range records(5) {
			n := 0
			must(t, p.QueryRow(t.Context(), `SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE application_name = $1`, name).Scan(&n))
			ended += n
			if err := s.Write(t.Context(), []logs.Record{r}); err != nil {
				t.Errorf("batch %d: %v", i, err)
			}
		}
		if got := all(t, s, logs.Query{}); len(got) != 5 || ended == 0 {
			t.Errorf("%v, and %d connections were ended", got, ended)
		}
	})
}

func TestTablesThatAreGoneAreMadeAgain(t *testing.T) {
	eachServer(t, func(t *testing.T, url string) {
		s, name := open(t, url)
		recovers(t, s)
		drop(t, url, name)
		if err := s.Write(t.Context(), records(1)); err == nil {
			t.Error("no error")
		}
		recovers(t, s)
	})
}

func TestTablesOfALaterVersionAreLeftAlone(t *testing.T) {
	url := serverURL(t, "GATEWAY_TEST_POSTGRES")
	first, name := open(t, url)
	must(t, first.Write(t.Context(), records(3)))
	p := connect(t, url)
	_, err := p.Exec(t.Context(), `INSERT INTO `+name+`schema VALUES (99)`)
	must(t, err)
	s := openAs(t, url, name)
	for _, err := range operations(t, s) {
		if err == nil || !strings.Contains(err.Error(), "version 99") {
			t.Errorf("%v", err)
		}
	}
}

func TestRowsOfOthersAreLeftOut(t *testing.T) {
	url := serverURL(t, "GATEWAY_TEST_POSTGRES")
	s, name := open(t, url)
	must(t, s.Write(t.Context(), records(3)))
	_, err := connect(t, url).Exec(t.Context(), `UPDATE `+name+`records SET record = '[1]' WHERE id = 'r-00001'`)
	must(t, err)
	if got := all(t, s, logs.Query{}); len(got) != 2 || s.Stats().Unreadable != 1 {
		t.Errorf("%v, %+v", got, s.Stats())
	}
	if _, err := s.Get(t.Context(), "r-00001"); err == nil {
		t.Error("no error")
	}
}

// TestRoleThatMayNotCreate has the privileges that the documentation asks for.
func TestRoleThatMayNotCreate(t *testing.T) {
	eachServer(t, func(t *testing.T, url string) {
		owner, name := open(t, url)
		p, ctx := connect(t, url), t.Context()
		role := strings.TrimSuffix(name, "_")
		_, err := p.Exec(ctx, `CREATE ROLE `+role+` LOGIN; REVOKE CREATE ON SCHEMA public FROM PUBLIC`, pgx.QueryExecModeSimpleProtocol)
		must(t, err)
		t.Cleanup(func() {
			if _, err := connect(t, url).Exec(context.Background(), `DROP OWNED BY `+role+`; DROP ROLE `+role, pgx.QueryExecModeSimpleProtocol); err != nil {
				t.Log(err)
			}
		})
		s, err := pglogs.New(connect(t, url, func(c *pgxpool.Config) { c.ConnConfig.User = role }),
			pglogs.WithPrefix(name), pglogs.WithTimeout(20*time.Second), pglogs.WithMaxRecords(100))
		must(t, err)
		if err := s.Write(ctx, records(1)); err == nil {
			t.Fatal("tables were made")
		}
		must(t, owner.Migrate(ctx))
		_, err = p.Exec(ctx, strings.NewReplacer("{p}", name, "{role}", role).Replace(
			`GRANT SELECT ON {p}schema TO {role}; GRANT SELECT, INSERT, UPDATE, DELETE ON {p}records, {p}contents, {p}feedback TO {role}`), pgx.QueryExecModeSimpleProtocol)
		must(t, err)
		for name, err := range operations(t, s) {
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

func TestDatabaseOfAnotherEncoding(t *testing.T) {
	url := serverURL(t, "GATEWAY_TEST_POSTGRES")
	p, name := connect(t, url), strings.TrimSuffix(prefix(), "_")
	_, err := p.Exec(t.Context(), `CREATE DATABASE `+name+` ENCODING 'LATIN1' TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'`)
	must(t, err)
	t.Cleanup(func() {
		if _, err := connect(t, url).Exec(context.Background(), `DROP DATABASE `+name+` WITH (FORCE)`); err != nil {
			t.Log(err)
		}
	})
	s, err := pglogs.New(connect(t, url, func(c *pgxpool.Config) { c.ConnConfig.Database = name }))
	must(t, err)
	if err := s.Write(t.Context(), records(1)); err == nil || !strings.Contains(err.Error(), "has to be in UTF8") {
		t.Errorf("%v", err)
	}
}

// TestServerThatIsKilled kills one while batches are written: what was written without
// an error is there afterwards, as whole batches.
func TestServerThatIsKilled(t *testing.T) {
	program := os.Getenv("GATEWAY_TEST_POSTGRES_SERVER")
	if program == "" {
		t.Skip("GATEWAY_TEST_POSTGRES_SERVER names no program; bash .ci/servers COMMAND runs a command with one")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	port := l.Addr().(*net.TCPAddr).Port
	must(t, l.Close())
	// The server has a user of its own, who may not look into the test's directory.
	dir, err := os.MkdirTemp("/tmp", "postgres") //nolint:usetesting // t.TempDir is below one that is closed to others
	must(t, err)
	must(t, os.Chmod(dir, 0o755))
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	url := "postgres://gateway@127.0.0.1:" + strconv.Itoa(port) + "/postgres?sslmode=disable"
	var cmd *exec.Cmd
	start := func() {
		cmd = exec.Command(program, dir+"/data", strconv.Itoa(port))
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		must(t, cmd.Start())
	}
	kill := func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		_ = cmd.Wait()
	}
	start()
	t.Cleanup(func() { kill() })
	s, err := pglogs.New(connect(t, url), pglogs.WithTimeout(time.Second))
	must(t, err)
	recovers(t, s)
	const size = 20
	var wrote []string
	stop, stopped := time.Now().Add(500*time.Millisecond), make(chan struct{})
	go func() {
		defer close(stopped)
		for n := 0; time.Now().Before(stop.Add(time.Second)); n++ {
			batch := records(size)
			for i := range batch {
				batch[i].ID = "b-" + strconv.Itoa(n) + "-" + strconv.Itoa(i)
			}
			if s.Write(t.Context(), batch) == nil {
				wrote = append(wrote, "b-"+strconv.Itoa(n)+"-")
			}
		}
	}()
	time.Sleep(time.Until(stop))
	kill()
	<-stopped
	start()
	recovers(t, s)
	there := map[string]int{}
	for _, id := range all(t, s, logs.Query{Filters: []logs.Filter{{Field: "id", Op: logs.Prefix, Values: []string{"b-"}}}}) {
		there[id[:strings.LastIndexByte(id, '-')+1]]++
	}
	if len(wrote) == 0 {
		t.Error("nothing was written")
	}
	for _, b := range wrote {
		if there[b] != size {
			t.Errorf("of %s there are %d", b, there[b])
		}
	}
	for b, n := range there {
		if n != size {
			t.Errorf("of %s there are %d", b, n)
		}
	}
}
