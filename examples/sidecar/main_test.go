package main

import (
	"context"
	"errors"
	"flag"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

const limit = 10 * time.Second

// sidecar is one that runs, over an emulated platform.
type sidecar struct {
	url, catalog, platform string
	stop                   func() error
}

// start runs a sidecar with the catalog entry "vx", the keys if any, and further
// arguments.
func start(t *testing.T, keys string, more ...string) sidecar {
	t.Helper()
	platform := vertextest.New(vertextest.WithoutAuth())
	t.Cleanup(platform.Close)
	base, err := platform.Start()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	s := sidecar{catalog: filepath.Join(dir, "catalog.json"), platform: base}
	s.writeCatalog(t, "vx")
	args := append([]string{"-listen", "127.0.0.1:0", "-catalog", s.catalog}, more...)
	if keys != "" {
		args = append(args, "-keys-file", writeFile(t, filepath.Join(dir, "keys.txt"), keys))
	}
	ctx, cancel := context.WithCancel(t.Context())
	addr, ended := make(chan net.Addr, 1), make(chan error, 1)
	go func() { ended <- run(ctx, args, func(a net.Addr) { addr <- a }) }()
	select {
	case a := <-addr:
		s.url = "http://" + a.String()
	case err := <-ended:
		t.Fatal(err)
	}
	s.stop = func() error {
		cancel()
		return <-ended
	}
	t.Cleanup(cancel)
	return s
}

func (s *sidecar) writeCatalog(t *testing.T, slug string) {
	t.Helper()
	writeFile(t, s.catalog, `{"providers":{"`+slug+`":{"provider":"vertex-ai","project_id":"p","region":"global","auth":"none","base_url":"`+s.platform+`",
		"bucket":"gs://bucket/team","storage_url":"`+s.platform+`"}},
		"configs":{"main":{"provider":"@`+slug+`","strategy":{"mode":"fallback"},"targets":[{"override_params":{"model":"gemini-9-none"}},{}]}},
		"prompts":{"greet":{"versions":{"1":{"request":{"model":"@`+slug+`/gemini-2.5-flash","messages":[{"role":"user","content":"Greet {{name}}."}]}}}}}}`)
}

func writeFile(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// chat asks for a greeting through the slug.
func (s *sidecar) chat(t *testing.T, slug, key, more string) (int, string) {
	t.Helper()
	body := `{"model":"@` + slug + `/gemini-2.5-flash","messages":[{"role":"user","content":"Hello"}]` + more + `}`
	return send(t, "POST", s.url+"/v1/chat/completions", key, body)
}

// greet asks with the catalog's prompt.
func (s *sidecar) greet(t *testing.T, key, body string) (int, string) {
	t.Helper()
	return send(t, "POST", s.url+"/v1/prompts/greet@latest/completions", key, body)
}

// planned asks where a config says, which is the catalog's by id, or one as JSON.
func (s *sidecar) planned(t *testing.T, config string) (int, string) {
	t.Helper()
	return send(t, "POST", s.url+"/v1/chat/completions", "key-one", `{"model":"gemini-2.5-flash","messages":[{"role":"user","content":"Hello"}]}`, "x-gateway-config", config)
}

func send(t *testing.T, method, url, key, body string, header ...string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(b)
}

func TestSidecar(t *testing.T) {
	s := start(t, "# the keys\n\nkey-one\n  key-two\n")
	tests := []struct {
		name   string
		send   func() (int, string)
		status int
		want   string
	}{
		{"health needs no key", func() (int, string) { return send(t, "GET", s.url+"/healthz", "", "") }, 200, `{"status":"ok"}`},
		{"chat", func() (int, string) { return s.chat(t, "vx", "key-one", "") }, 200, `"object":"chat.completion"`},
		{"stream", func() (int, string) { return s.chat(t, "vx", "key-two", `,"stream":true`) }, 200, "data: [DONE]\n\n"},
		{"prompt", func() (int, string) { return s.greet(t, "key-one", `{"variables":{"name":"Ada"}}`) }, 200, `"object":"chat.completion"`},
		{"prompt without its variable", func() (int, string) { return s.greet(t, "key-one", `{}`) }, 400, `\"name\" is missing`},
		{"prompt without key", func() (int, string) { return s.greet(t, "", `{}`) }, 401, "authentication_failed"},
		{"chat without key", func() (int, string) { return s.chat(t, "vx", "", "") }, 401, "authentication_failed"},
		{"config of the catalog", func() (int, string) { return s.planned(t, "main") }, 200, `"model":"gemini-2.5-flash"`},
		{"config along with the call", func() (int, string) { return s.planned(t, `{"provider":"@vx"}`) }, 200, `"object":"chat.completion"`},
		{"unknown config", func() (int, string) { return s.planned(t, "man") }, 400, `did you mean \"main\"?`},
		{"unknown slug", func() (int, string) { return s.chat(t, "vy", "key-one", "") }, 404, "provider_not_found"},
		{"unknown path", func() (int, string) { return send(t, "GET", s.url+"/v2", "key-one", "") }, 404, `"error"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if status, body := tt.send(); status != tt.status || !strings.Contains(body, tt.want) {
				t.Errorf("status %d, body %s, want %d, %s", status, body, tt.status, tt.want)
			}
		})
	}
	if err := s.stop(); err != nil {
		t.Errorf("shutdown: %v", err)
	}
}

func TestWithoutKeys(t *testing.T) {
	s := start(t, "")
	if status, body := s.chat(t, "vx", "", ""); status != 200 {
		t.Errorf("status %d, body %s", status, body)
	}
	if err := s.stop(); err != nil {
		t.Errorf("shutdown: %v", err)
	}
}

func TestReload(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no SIGHUP")
	}
	s := start(t, "key-one")
	s.writeCatalog(t, "renamed")
	hangUp(t)
	s.await(t, "renamed")
	if status, body := s.planned(t, "main"); status != 200 {
		t.Errorf("the new catalog's config: status %d, body %s", status, body)
	}
	writeFile(t, s.catalog, "{")
	hangUp(t)
	if status, body := s.chat(t, "renamed", "key-one", ""); status != 200 {
		t.Errorf("after a faulty catalog: status %d, body %s", status, body)
	}
	s.writeCatalog(t, "again")
	hangUp(t)
	s.await(t, "again")
	if err := s.stop(); err != nil {
		t.Errorf("shutdown: %v", err)
	}
}

func hangUp(t *testing.T) {
	t.Helper()
	p, err := os.FindProcess(os.Getpid())
	if err == nil {
		err = p.Signal(syscall.SIGHUP)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// await asks until the slug is known.
func (s *sidecar) await(t *testing.T, slug string) {
	t.Helper()
	for end := time.Now().Add(limit); time.Now().Before(end); {
		status, _ := s.chat(t, slug, "key-one", "")
		prompted, _ := s.greet(t, "key-one", `{"variables":{"name":"Ada"}}`)
		if status == 200 && prompted == 200 {
			return
		}
	}
	t.Fatalf("the catalog with %q was not loaded", slug)
}

func TestCommandLine(t *testing.T) {
	dir := t.TempDir()
	empty := writeFile(t, filepath.Join(dir, "keys.txt"), "# none\n\n")
	faulty := writeFile(t, filepath.Join(dir, "catalog.json"), "{")
	good := writeFile(t, filepath.Join(dir, "good.json"), `{"providers":{}}`)
	tests := []struct {
		name string
		args []string
		want string
	}{
		{"no catalog", nil, "-catalog is required"},
		{"a catalog and an emulator", []string{"-emulator", "-catalog", good}, "one of them"},
		{"an argument too many", []string{"-catalog", good, "x"}, "unexpected argument"},
		{"a catalog that is not there", []string{"-catalog", filepath.Join(dir, "no.json")}, "no.json"},
		{"a faulty catalog", []string{"-catalog", faulty}, "catalog.json"},
		{"a keys file without keys", []string{"-catalog", good, "-keys-file", empty}, "no keys"},
		{"an admin keys file without keys", []string{"-catalog", good, "-admin-keys-file", empty}, "no keys"},
		{"a log file in no directory", []string{"-catalog", good, "-log-file", filepath.Join(dir, "none", "calls.jsonl")}, "-log-file"},
		{"an address that is none", []string{"-catalog", good, "-listen", "127.0.0.1:x"}, "listen"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := run(t.Context(), tt.args, func(net.Addr) { t.Error("ready") })
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %q in it", err, tt.want)
			}
		})
	}
	t.Run("help", func(t *testing.T) {
		if err := run(t.Context(), []string{"-h"}, nil); !errors.Is(err, flag.ErrHelp) {
			t.Errorf("error %v", err)
		}
	})
}
