package canary_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"expvar"
	"fmt"
	"log"
	"net/http"
	"os"
	"os/exec"
	"runtime/pprof"
	"runtime/trace"
	"strings"
	"testing"
	"time"

	"github.com/b650d4bf/gateway"
)

// childOf names the variable that has the work of a child process, childSeed that of its
// canaries.
const (
	childOf   = "GATEWAY_CANARY_CHILD"
	childSeed = "GATEWAY_CANARY_SEED"
)

// TestChild is the child process; it does nothing in any other.
func TestChild(t *testing.T) {
	work := os.Getenv(childOf)
	if work == "" {
		t.Skip("this is not a child process")
	}
	f := newFlock(t, os.Getenv(childSeed))
	fmt.Println("stdout", f.open("line on stdout"))
	log.Println("log", f.open("line of the log"))
	if work == "quiet" {
		s := sceneOf(t, f)
		s.ask(t.Context(), t)
		s.sendAll(t)
		for _, fail := range failures() {
			ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
			s.platform.mode = fail
			s.ask(ctx, t)
			cancel()
		}
		return
	}
	inside := make(chan struct{}, 100)
	guard := gateway.Guard{Name: "panics", Answer: func(context.Context, *gateway.ChatCompletionRequest, *gateway.ChatCompletion) (*gateway.ChatCompletion, error) {
		<-inside
		panic("the hook says " + f.open("value of the panic"))
	}}
	s := sceneOf(t, f, gateway.WithGuards(guard), gateway.WithTimeouts(gateway.Timeouts{FirstByte: time.Minute}))
	waiting := sceneOf(t, f)
	waiting.platform.mode = func(q *http.Request, sent string) (*http.Response, error) {
		inside <- struct{}{}
		return failures()["time-out"](q, sent)
	}
	// Calls under way are in the dump too; the test's own context ends before there is one.
	go waiting.ask(context.WithoutCancel(t.Context()), t)
	s.ask(t.Context(), t)
}

// runChild runs the work in a process of its own, and returns what it printed.
func runChild(t *testing.T, f *flock, work, traceback string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0], "-test.run=^TestChild$", "-test.v")
	cmd.Env = append(os.Environ(), childOf+"="+work, childSeed+"="+f.seed, "GOTRACEBACK="+traceback, "GOOGLE_SDK_GO_LOGGING_LEVEL=debug")
	out, err := cmd.CombinedOutput()
	if (err == nil) != (work == "quiet") {
		t.Fatalf("%v: %s", err, out)
	}
	return string(out)
}

// flockOf has the canaries of a scene planted, which another process has too.
func flockOf(t *testing.T) *flock {
	t.Helper()
	f := newFlock(t, rand.Text())
	sceneOf(t, f).calls()
	f.text("plain prompt")
	for _, name := range []string{"Authorization header", "cookie", "x-api-key header", "x-goog-api-key header", "Proxy-Authorization header", "forwarded header", "header that is not forwarded"} {
		f.secret(name)
	}
	for _, name := range []string{"line on stdout", "line of the log", "value of the panic"} {
		f.open(name)
	}
	return f
}

// TestProcessPrintsNothing reads standard output and error of a process that made calls
// of every kind, and had them fail in every way.
func TestProcessPrintsNothing(t *testing.T) {
	f := flockOf(t)
	out := runChild(t, f, "quiet", "all")
	f.refuse(t, "the output", out, credential, content)
	f.want(t, "the output", out, "line on stdout", "line of the log")
}

// TestCrashDumps reads what Go prints when a caller's function panics while other calls
// are under way.
func TestCrashDumps(t *testing.T) {
	for _, traceback := range []string{"all", "system"} {
		f := flockOf(t)
		out := runChild(t, f, "panic", traceback)
		f.refuse(t, "the dump", out, credential, content)
		f.want(t, "the dump", out, "value of the panic")
		if n := strings.Count(out, "\ngoroutine "); n < 3 || !strings.Contains(out, "pipeline.(*Engine)") {
			t.Errorf("the dump has %d goroutines: %s", n, out)
		}
	}
}

// TestProfiles reads the profiles of this process while calls are under way, its
// variables, and a trace of its execution.
func TestProfiles(t *testing.T) {
	s := newScene(t)
	expvar.NewString(s.open("name of a variable")).Set(s.open("variable"))
	var traced bytes.Buffer
	if err := trace.Start(&traced); err != nil {
		t.Fatal(err)
	}
	trace.Log(t.Context(), "own", s.open("log of a trace"))
	s.ask(t.Context(), t)
	s.sendAll(t)
	s.platform.mode = failures()["time-out"]
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go pprof.Do(ctx, pprof.Labels("own", s.open("label")), func(ctx context.Context) {
		defer close(done)
		s.ask(ctx, t)
	})
	time.Sleep(100 * time.Millisecond)
	var profiles bytes.Buffer
	for _, p := range pprof.Profiles() {
		for debug := range 3 {
			if err := p.WriteTo(&profiles, debug); err != nil {
				t.Error(err)
			}
		}
	}
	cancel()
	<-done
	trace.Stop()
	expvar.Do(func(v expvar.KeyValue) { fmt.Fprintln(&profiles, v.Key, v.Value) })
	s.refuse(t, "profiles", profiles.String(), credential, content)
	s.refuse(t, "the trace", traced.String(), credential, content)
	s.want(t, "profiles", profiles.String(), "label", "variable")
	s.want(t, "the trace", traced.String(), "log of a trace")
	if !strings.Contains(profiles.String(), "TestProfiles") {
		t.Error("the profiles do not have this test")
	}
}
