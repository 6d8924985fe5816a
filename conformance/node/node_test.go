// Package node_test runs the official clients of OpenAI and Anthropic for Node.js
// against the sidecar, a process of its own, behind which stands the emulator of
// the platform. The tests themselves are the files *.test.mjs.
//
// They need Node.js and the packages that "npm ci" brings. Without those the test
// is skipped, unless GATEWAY_TEST_NODE is set.
package node_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

const (
	apiKey        = "gateway-key"
	platformToken = "platform-token"

	limit = 3 * time.Minute // of all tests in Node.js
)

func TestNode(t *testing.T) {
	node := findNode(t)
	platform := vertextest.New(vertextest.WithToken(platformToken))
	t.Cleanup(platform.Close)
	platformURL, err := platform.Start()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	files, err := filepath.Glob("*.test.mjs")
	if err != nil || len(files) == 0 {
		t.Fatalf("there are no tests: %v", err)
	}
	run := exec.CommandContext(ctx, node, append([]string{"--test", "--test-reporter=tap"}, files...)...)
	run.Env = append(os.Environ(), "GATEWAY_URL="+startSidecar(ctx, t, platformURL), "GATEWAY_KEY="+apiKey)
	out, err := run.CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Error(err)
	}
}

// findNode returns the program, or skips the test where it or the clients lack.
func findNode(t *testing.T) string {
	t.Helper()
	node, err := exec.LookPath("node")
	if err == nil {
		_, err = os.Stat(filepath.FromSlash("node_modules/openai"))
	}
	switch {
	case err == nil:
		return node
	case os.Getenv("GATEWAY_TEST_NODE") != "":
		t.Fatal(err)
	}
	t.Skipf("Node.js with the clients is not here, run npm ci: %v", err)
	return ""
}

// startSidecar builds and runs the sidecar, and returns its address.
func startSidecar(ctx context.Context, t *testing.T, platformURL string) string {
	t.Helper()
	dir := t.TempDir()
	program := filepath.Join(dir, "sidecar")
	build := exec.CommandContext(ctx, "go", "build", "-buildvcs=false", "-o", program, ".")
	build.Dir = filepath.FromSlash("../../examples/sidecar")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	side := exec.CommandContext(ctx, program, "-listen", "127.0.0.1:0",
		"-catalog", writeFile(t, dir, "catalog.json", catalogOf(platformURL)),
		"-keys-file", writeFile(t, dir, "keys.txt", apiKey+"\n"))
	stderr, err := side.StderrPipe()
	if err == nil {
		err = side.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = side.Process.Kill()
		_ = side.Wait()
	})
	log := bufio.NewScanner(stderr)
	for address := regexp.MustCompile(`listening address=(\S+)`); log.Scan(); {
		if found := address.FindStringSubmatch(log.Text()); found != nil {
			go func() { _, _ = io.Copy(io.Discard, stderr) }() // ends with the process
			return "http://" + found[1]
		}
	}
	t.Fatal("the sidecar does not listen")
	return ""
}

// catalogOf has the entry "vx" for what is global, and "vr" for what is in regions.
func catalogOf(baseURL string) string {
	entry := fmt.Sprintf(`"provider":"vertex-ai","project_id":"p","access_token":%q,"base_url":%q,"storage_url":%[2]q,"bucket":"gs://bucket/prefix"`,
		platformToken, baseURL)
	return `{"providers":{"vx":{"region":"global",` + entry + `},"vr":{"region":"us-central1",` + entry + `}}}`
}

func writeFile(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
