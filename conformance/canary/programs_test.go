package canary_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// programs are the directory with gatewayctl and the sidecar, built once.
var programs = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "canary")
	if err != nil {
		return "", err
	}
	builtIn.Store(&dir)
	for name, from := range map[string][2]string{"gatewayctl": {"../../cmd/gatewayctl", "."}, "sidecar": {"../../examples", "./sidecar"}} {
		out, err := exec.Command("go", "-C", from[0], "build", "-o", filepath.Join(dir, name), from[1]).CombinedOutput()
		if err != nil {
			return "", fmt.Errorf("%s: %w: %s", name, err, out)
		}
	}
	return dir, nil
})

// builtIn is where the programs are, if any test needed them.
var builtIn atomic.Pointer[string]

func removePrograms() {
	if dir := builtIn.Load(); dir != nil {
		_ = os.RemoveAll(*dir)
	}
}

func program(t *testing.T, name string) string {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the signals of the test are not there")
	}
	dir, err := programs()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, name)
}

// vendor is a service of any kind, that notes what it is sent, and says no. When it echoes
// it repeats all of that.
func vendor(t *testing.T, f *flock) (string, *atomic.Bool) {
	t.Helper()
	var echoes atomic.Bool
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		dump, _ := httputil.DumpRequest(q, true)
		f.witness(processes, string(dump))
		said := "No."
		if echoes.Load() {
			said = "you sent " + string(dump)
			w.Header().Set("X-Debug", quote(string(dump)))
			w.Header().Set("Set-Cookie", "a="+q.Header.Get("Authorization"))
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		_, _ = fmt.Fprintf(w, `{"error":{"code":400,"status":"INVALID_ARGUMENT","type":"invalid_request_error","message":%s}}`, quote(said))
	}))
	t.Cleanup(srv.Close)
	return srv.URL, &echoes
}

// programCatalog is a catalog with canaries, for services at an address.
func programCatalog(t *testing.T, f *flock, at string) string {
	t.Helper()
	doc, err := json.Marshal(map[string]any{
		"providers": map[string]any{
			"oa": map[string]any{"provider": "openai", "base_url": at, "api_key": f.secret("key of a program's catalog"), "headers": map[string]any{"X-Team-Key": f.secret("header of a program's catalog")}},
			"go": map[string]any{"provider": "google", "base_url": at, "api_key": f.secret("key of a program's catalog")},
			"vx": map[string]any{"provider": "vertex-ai", "project_id": "p", "region": "global", "base_url": at, "access_token": f.secret("key of a program's catalog")},
		},
		"configs": map[string]any{"main": map[string]any{"provider": "@vx", "override_params": map[string]any{"stop": f.text("stop of the config")}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return string(doc)
}

func writeFile(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestOutputOfGatewayctl runs the program with canaries in flags, variables and files:
// calls that are shown whole, ones that fail, help, and checks of files that are broken
// next to a canary.
func TestOutputOfGatewayctl(t *testing.T) {
	t.Parallel()
	path, f := program(t, "gatewayctl"), newFlock(t, t.Name())
	at, echoes := vendor(t, f)
	dir := t.TempDir()
	doc := programCatalog(t, f, at)
	catalog := writeFile(t, filepath.Join(dir, "catalog.json"), doc)
	token := "@" + writeFile(t, filepath.Join(dir, "token"), f.secret("token of a program's file")+"\n")
	run := func(want string, args ...string) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		cmd := exec.CommandContext(ctx, path, args...)
		cmd.Env = []string{"HOME=" + dir, "GATEWAYCTL_TOKEN=" + f.secret("token of a program's environment"), "GATEWAYCTL_KEY=" + f.secret("key for another front"), "CLOUDSDK_CONFIG=" + dir}
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if !strings.Contains(string(out), want) {
			t.Errorf("%q: no %q: %v: %s", args, want, err, out)
		}
		f.refuse(t, "gatewayctl "+args[0], string(out), credential)
		if want == "you sent" || want == f.text("prompt") {
			f.want(t, "gatewayctl "+args[0], string(out), "prompt") // as it is asked to show it
		}
	}
	place := []string{"--base-url", at, "--project", "p", "--header", "X-Proxy-Key=" + f.secret("header of a program")}
	for _, echo := range []bool{false, true} {
		echoes.Store(echo)
		said := "No."
		if echo {
			said = "you sent"
		}
		for _, show := range [][]string{nil, {"--explain"}, {"--explain=full"}} {
			chat := append([]string{"chat", f.text("prompt")}, show...)
			run(said, append(append(chat, place...), "--token", f.secret("token of a program"))...)
			run(said, append(append(chat, place...), "--token", token)...)
			run(said, append(chat, place...)...)
			run(said, append(chat, "--catalog", catalog, "-m", "@oa/gpt-5")...)
			run(said, append(chat, "--catalog", catalog, "-m", "@go/gemini-2.5-flash")...)
			run(said, append(chat, "--catalog", catalog, "--config", "main")...)
		}
		run("", "logs", "--url", at)
		run("", "replay", "--url", at, "r1")
		run("", "validate", catalog, "--check-targets")
	}
	run(f.text("prompt"), append([]string{"explain", f.text("prompt")}, place...)...)
	for _, command := range []string{"chat", "explain", "embed", "logs", "validate"} {
		run("Usage:", command, "-h")
		run("", command, "--no-such-flag", "--token", f.secret("token of a program"))
	}
	for i, broken := range brokenAt(doc, f.secret("key of a program's catalog"), 1) {
		file := writeFile(t, filepath.Join(dir, fmt.Sprint("broken", i, ".json")), broken)
		run("", "validate", file)
		run("", "chat", "hi", "--catalog", file, "-m", "@oa/gpt-5")
	}
}

// lockedBuffer is written by a process and read by a test.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// startSidecar runs the sidecar until the end of the test, and returns its address and
// what ends it.
func startSidecar(t *testing.T, out *lockedBuffer, args ...string) (address string, cmd *exec.Cmd) {
	t.Helper()
	cmd = exec.CommandContext(t.Context(), program(t, "sidecar"), append([]string{"-listen", "127.0.0.1:0"}, args...)...)
	read, write := io.Pipe()
	cmd.Stdout, cmd.Stderr = out, io.MultiWriter(out, write)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	found := make(chan string, 1)
	go func() {
		lines := bufio.NewScanner(read)
		for lines.Scan() {
			if _, after, ok := strings.Cut(lines.Text(), "address="); ok && strings.Contains(lines.Text(), "listening") {
				address, _, _ := strings.Cut(after, " ")
				found <- address
				break
			}
		}
		_, _ = io.Copy(io.Discard, read)
	}()
	t.Cleanup(func() { _ = write.Close() })
	select {
	case address = <-found:
		return "http://" + address, cmd
	case <-time.After(20 * time.Second):
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		t.Fatalf("the sidecar does not listen: %s", out)
		return "", nil
	}
}

// TestOutputOfTheSidecar runs the program with a file for its log, has calls fail, and the
// catalog break under it.
func TestOutputOfTheSidecar(t *testing.T) {
	t.Parallel()
	f, dir := newFlock(t, t.Name()), t.TempDir()
	at, echoes := vendor(t, f)
	doc := programCatalog(t, f, at)
	catalog := writeFile(t, filepath.Join(dir, "catalog.json"), doc)
	logDir := t.TempDir()
	var out lockedBuffer
	address, cmd := startSidecar(t, &out, "-catalog", catalog, "-log-file", filepath.Join(logDir, "calls.jsonl"),
		"-keys-file", writeFile(t, filepath.Join(dir, "keys"), "# of teams\n"+f.secret("key of the sidecar")+"\n"),
		"-admin-keys-file", writeFile(t, filepath.Join(dir, "admins"), f.secret("admin key of the sidecar")+"\n"))
	send := func(want int, path, body, key string) string {
		t.Helper()
		method := http.MethodPost
		if body == "" {
			method = http.MethodGet
		}
		q, err := http.NewRequestWithContext(t.Context(), method, address+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		for name, value := range map[string]string{"X-Gateway-Api-Key": key, "Content-Type": "application/json", "Cookie": "a=" + f.secret("cookie"), "X-Gateway-Trace-Id": f.open("request id")} {
			q.Header.Set(name, value)
		}
		res, err := http.DefaultClient.Do(q)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = res.Body.Close() }()
		shown, err := httputil.DumpResponse(res, true)
		if err != nil || res.StatusCode != want {
			t.Errorf("%s: %d %v: %s", path, res.StatusCode, err, shown)
		}
		if res.StatusCode != http.StatusUnauthorized {
			f.witness(frontPlace, key+f.secret("cookie"))
		} else {
			f.witness(refused, key)
		}
		f.refuse(t, "the sidecar's "+path, string(shown), credential)
		return string(shown)
	}
	for _, echo := range []bool{false, true} {
		echoes.Store(echo)
		for _, model := range []string{"@oa/gpt-5", "@go/gemini-2.5-flash", "@vx/gemini-2.5-flash"} {
			for _, more := range []string{"", `"stream":true,`} {
				send(400, "/v1/chat/completions", `{`+more+`"model":"`+model+`","messages":[{"role":"user","content":"`+f.text("prompt")+`"}]}`, f.secret("key of the sidecar"))
			}
		}
		send(401, "/v1/chat/completions", `{"model":"@oa/gpt-5"}`, f.secret("wrong key"))
		logged := send(200, "/v1/logs", "", f.secret("admin key of the sidecar"))
		f.refuse(t, "the sidecar's log", logged, content)
		f.want(t, "the sidecar's log", logged, "request id")
		if !echo { // its lines have the platform's sentence, and so what that repeats
			f.refuse(t, "the sidecar's output", out.String(), content)
			f.want(t, "the sidecar's output", out.String(), "request id")
		}
	}
	for _, broken := range brokenAt(doc, f.secret("key of a program's catalog"), 7) {
		before := strings.Count(out.String(), "reloaded")
		writeFile(t, catalog, broken)
		if err := cmd.Process.Signal(syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
		for end := time.Now().Add(10 * time.Second); strings.Count(out.String(), "reloaded") == before && time.Now().Before(end); {
			time.Sleep(5 * time.Millisecond)
		}
	}
	if !strings.Contains(out.String(), "was not reloaded") {
		t.Errorf("no broken catalog was refused: %s", out.String())
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("%v: %s", err, out.String())
	}
	text := files(t, logDir)
	f.refuse(t, "the sidecar's file", text, credential, content)
	f.want(t, "the sidecar's file", text, "request id")
	f.refuse(t, "the sidecar's output", out.String(), credential)
	f.want(t, "the sidecar's output", out.String(), "request id")
}
