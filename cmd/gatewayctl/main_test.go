package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/b650d4bf/gateway/internal/testkit"
	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

// binaryEnv names the program under test to the tests.
const binaryEnv = "GATEWAYCTL_TEST_BINARY"

// TestMain builds the program once, with the race detector where the tests have it.
func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "gatewayctl")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	binary := filepath.Join(dir, "gatewayctl")
	args := []string{"build", "-buildvcs=false", "-o", binary}
	if raceEnabled {
		args = append(args, "-race")
	}
	build := exec.Command("go", append(args, ".")...)
	build.Stderr = os.Stderr
	code := 1
	if err := build.Run(); err == nil {
		_ = os.Setenv(binaryEnv, binary)
		code = m.Run()
	}
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// command is the program with an environment of its own, in a directory.
func command(t *testing.T, dir string, env []string, args ...string) *exec.Cmd {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, os.Getenv(binaryEnv), args...)
	cmd.Dir = dir
	cmd.Env = append([]string{"HOME=" + dir, "PATH=" + os.Getenv("PATH"), "TERM=xterm", "NO_GCE_CHECK=true"}, env...)
	return cmd
}

// outcome is what a program wrote and returned.
type outcome struct {
	out, err string
	code     int
}

// run runs the program over pipes.
func run(t *testing.T, cmd *exec.Cmd, stdin string) outcome {
	t.Helper()
	var out, errs bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &out, &errs
	return outcome{code: exitCode(t, cmd.Run()), out: out.String(), err: errs.String()}
}

func exitCode(t *testing.T, err error) int {
	t.Helper()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	if exit != nil {
		return exit.ExitCode()
	}
	return 0
}

// platform starts an emulator on a socket.
func platform(t *testing.T, opts ...vertextest.Option) (*vertextest.Server, string) {
	t.Helper()
	srv := vertextest.New(opts...)
	t.Cleanup(srv.Close)
	url, err := srv.Start()
	if err != nil {
		t.Fatal(err)
	}
	return srv, url
}

// The parts of outputs that are different each time.
var varying = []struct {
	pattern *regexp.Regexp
	with    string
}{
	{regexp.MustCompile(`\b\d+(\.\d+)?(µs|ms|s)\b`), "TIME"},
	{regexp.MustCompile(`\$0\.0\d+`), "COST"},
	{regexp.MustCompile(`"(createTime)": "[^"]*"`), `"$1": "TIME"`},
	{regexp.MustCompile(`"(responseId|id)": "([\w-]{16,}|chatcmpl-\d+)"`), `"$1": "ID"`},
	{regexp.MustCompile(`"id":"[^"]*"`), `"id":"ID"`},
	{regexp.MustCompile(`"created": ?\d+`), `"created": 0`},
	{regexp.MustCompile(`"(duration_ms|first_chunk_ms)": [0-9.]+`), `"$1": 0`},
	{regexp.MustCompile(`(User-Agent|X-Goog-Api-Client): .*`), "$1: VERSION"},
	{regexp.MustCompile(`(Date): .*`), "$1: TIME"},
	{regexp.MustCompile(`Content-Length: \d+`), "Content-Length: N"},
	{regexp.MustCompile(`(dial tcp) 127\.0\.0\.1:\d+`), "$1 ADDRESS"},
	{regexp.MustCompile(`"(thoughtSignature|signature)": ?"[^"]*"`), `"$1": "SIGNATURE"`},
}

// steady replaces what differs each time, the address of the platform among it.
func steady(text, url, dir string) []byte {
	text = strings.NewReplacer(url, "$URL", dir, "$DIR").Replace(text)
	for _, v := range varying {
		text = v.pattern.ReplaceAllString(text, v.with)
	}
	return []byte(text)
}

// TestGolden runs the command lines of testdata. An archive has the arguments, a
// line each, in args; the standard input in stdin; variables in env; $URL is the
// address of an emulator on a socket. All other files are there for the program.
func TestGolden(t *testing.T) {
	paths, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(paths) < 40 {
		t.Fatalf("%d archives, error %v", len(paths), err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			t.Parallel()
			golden(t, path)
		})
	}
}

// results are the files that say what came out.
var results = []string{"stdout", "stderr", "code"}

func golden(t *testing.T, path string) {
	a := testkit.ReadArchive(t, path)
	_, url := platform(t)
	dir := t.TempDir()
	var args, env []string
	var stdin string
	for _, f := range a.Files {
		text := strings.ReplaceAll(string(f.Data), "$URL", url)
		switch {
		case f.Name == "args":
			args = strings.Split(strings.TrimSuffix(text, "\n"), "\n")
		case f.Name == "env":
			env = strings.Fields(text)
		case f.Name == "stdin":
			stdin = text
		case !slices.Contains(results, f.Name):
			write(t, filepath.Join(dir, f.Name), text)
		}
	}
	got := run(t, command(t, dir, env, args...), stdin)
	testkit.Golden(t, path, a, results, map[string][]byte{
		"stdout": steady(got.out, url, dir), "stderr": steady(got.err, url, dir), "code": fmt.Appendf(nil, "%d\n", got.code),
	})
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
