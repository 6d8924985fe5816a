package bench_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/b650d4bf/gateway/bench/internal/plan"
)

// serverVariable makes the test binary the service, until its input ends.
const serverVariable = "GATEWAY_BENCH_SERVER"

func TestMain(m *testing.M) {
	if os.Getenv(serverVariable) != "" {
		if err := serve(os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	ballast := make([]byte, heap)
	code := m.Run()
	runtime.KeepAlive(ballast)
	os.Exit(code)
}

// heap is what a service has on its heap besides, in bytes. Without it the collector would
// run every few thousand calls, and each time go through the variables of all the
// libraries that are linked here.
const heap = 64 << 20

// serve is the service: it says its address, and answers until in ends. The first
// part of a path is the workload, the second the schema.
func serve(in io.Reader, out io.Writer) error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	answers := http.NewServeMux()
	for _, w := range works() {
		for name, body := range map[string][]byte{"vertex": w.vertex, "openai": w.openai} {
			answers.Handle("/"+w.name+"/"+name+"/", handler(w, body))
		}
	}
	server := &http.Server{Handler: answers, ReadHeaderTimeout: time.Minute}
	go func() {
		_, _ = io.Copy(io.Discard, in)
		_ = server.Close()
	}()
	if _, err := fmt.Fprintln(out, "http://"+listener.Addr().String()); err != nil {
		return err
	}
	if err := server.Serve(listener); err != http.ErrServerClosed {
		return err
	}
	return nil
}

// handler answers with the body: a stream event by event, without a length.
func handler(w *work, body []byte) http.HandlerFunc {
	pieces := [][]byte{body}
	if w.streams() {
		pieces = bytes.SplitAfter(body, []byte("\ndata: "))
	}
	return func(res http.ResponseWriter, req *http.Request) {
		if _, err := io.Copy(io.Discard, req.Body); err != nil {
			return
		}
		res.Header().Set("Content-Type", w.ctype())
		for _, piece := range pieces {
			if _, err := res.Write(piece); err != nil {
				return
			}
		}
	}
}

// startServer runs the service in a process of its own and returns its address.
func startServer(tb testing.TB) string {
	tb.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), serverVariable+"=1")
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		tb.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		tb.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		tb.Fatal(err)
	}
	return strings.TrimSpace(line)
}

// openServed makes the call of a library that the service answers, after it was
// checked that it says what the service said.
func openServed(tb testing.TB, server, lib string, w *work) call {
	tb.Helper()
	l := peer(tb, lib)
	schema := "vertex"
	if bytes.Equal(l.schema(w), w.openai) {
		schema = "openai"
	}
	ask := l.open(tb, w, place{url: server + "/" + w.name + "/" + schema})
	verify(tb, l, w, ask)
	return ask
}

func TestEveryCallIsServed(t *testing.T) {
	server := startServer(t)
	group := plan.Find("loopback")
	for _, row := range group.Rows {
		for _, lib := range row.Libs {
			t.Run(row.Name+"/"+lib, func(t *testing.T) { openServed(t, server, lib, find(row.Name)) })
		}
	}
}

// BenchmarkLoopback asks a server in another process, over HTTP/1.1 connections that
// are kept. Each library has the transport that it makes itself, or the stock one.
// cpu-ns/op is the time of all threads of this process, in the kernel too.
func BenchmarkLoopback(b *testing.B) {
	group := plan.Find("loopback")
	for _, row := range group.Rows {
		b.Run(group.Key+"="+row.Name, func(b *testing.B) {
			for _, lib := range row.Libs {
				b.Run("lib="+lib, func(b *testing.B) {
					ask := openServed(b, startServer(b), lib, find(row.Name))
					before := cpuTime()
					loop(b, ask)
					b.ReportMetric(float64(cpuTime()-before)/float64(b.N), "cpu-ns/op")
				})
			}
		})
	}
}
