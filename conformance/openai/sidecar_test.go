package openai_test

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

// sidecar is a process that serves the gateway.
type sidecar struct {
	url     string
	process *exec.Cmd
	log     *bufio.Scanner
}

// startSidecar builds the sidecar and runs it on a port of its choice.
func startSidecar(t *testing.T, platformURL string) *sidecar {
	t.Helper()
	dir := t.TempDir()
	program := filepath.Join(dir, "sidecar")
	build := exec.CommandContext(t.Context(), "go", "build", "-buildvcs=false", "-o", program, ".")
	build.Dir = filepath.FromSlash("../../examples/sidecar")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	ctx, cancel := context.WithTimeout(t.Context(), limit) // which ends the log, too
	s := &sidecar{process: exec.CommandContext(ctx, program, "-listen", "127.0.0.1:0",
		"-catalog", writeFile(t, dir, "catalog.json", catalogOf(platformURL)),
		"-keys-file", writeFile(t, dir, "keys.txt", []byte(apiKey+"\n")))}
	stderr, err := s.process.StderrPipe()
	if err == nil {
		err = s.process.Start()
	}
	if err != nil {
		cancel()
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		_ = s.process.Wait()
	})
	s.log = bufio.NewScanner(stderr)
	s.url = "http://" + s.await(t, `listening address=(\S+)`)
	return s
}

func writeFile(t *testing.T, dir, name string, text []byte) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// await reads the log up to the line that fits the pattern, and returns what the
// pattern's group found.
func (s *sidecar) await(t *testing.T, pattern string) string {
	t.Helper()
	wanted := regexp.MustCompile(pattern)
	var log string
	for s.log.Scan() {
		if found := wanted.FindStringSubmatch(s.log.Text()); found != nil {
			return found[len(found)-1]
		}
		log += s.log.Text() + "\n"
	}
	t.Fatalf("no line of the log has %s:\n%s", pattern, log)
	return ""
}

func (s *sidecar) health(t *testing.T) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url+"/healthz", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	if body, err := io.ReadAll(res.Body); err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("health: %s %s, %v", res.Status, body, err)
	}
}

func TestSidecar(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no SIGTERM")
	}
	platform := vertextest.New(vertextest.WithToken(platformToken))
	t.Cleanup(platform.Close)
	platformURL, err := platform.Start()
	if err != nil {
		t.Fatal(err)
	}
	side := startSidecar(t, platformURL)
	side.health(t)
	s := &stage{clientOf(side.url), platform}

	const hello = "Hello! How can I help you today?"
	if got := s.complete(t, ask(flash25, "Hello!")).Choices[0].Message.Content; got != hello {
		t.Errorf("answer %q, want %q", got, hello)
	}
	if got, _ := s.stream(t, ask(flash25, "Hello!")); got.Choices[0].Message.Content != hello {
		t.Errorf("stream %q, want %q", got.Choices[0].Message.Content, hello)
	}
	if _, err := s.Models.Get(t.Context(), flash25); err != nil {
		t.Error(explain(err))
	}
	side.stopUnderWay(t, s)
}

// stopUnderWay stops the sidecar while it streams: the stream comes to its end,
// and the process exits well.
func (s *sidecar) stopUnderWay(t *testing.T, client *stage) {
	t.Helper()
	const sentence = "This sentence is heard to its end, whatever happens."
	client.platform.Script(vertextest.Text(sentence).Paced(100 * time.Millisecond))
	stream := client.Chat.Completions.NewStreaming(t.Context(), ask(flash25, "Tell me."))
	if !stream.Next() {
		t.Fatalf("no first chunk: %v", stream.Err())
	}
	begun := stream.Current().Choices[0].Delta.Content
	if err := s.process.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	s.await(t, "shutting down")
	rest, _, err := accumulate(stream)
	if err != nil {
		t.Fatal(err)
	}
	if got := begun + rest.Choices[0].Message.Content; got != sentence {
		t.Errorf("stream %q, want %q", got, sentence)
	}
	for s.log.Scan() { // to its end first: Wait closes the pipe
		t.Log(s.log.Text())
	}
	if err := s.process.Wait(); err != nil {
		t.Errorf("exit: %v", err)
	}
}
