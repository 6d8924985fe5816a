package main

import (
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
)

// The secrets that no output may have.
const (
	tokenCanary  = "ya29.token-canary-0123456789"
	keyCanary    = "sk-key-canary-0123456789"
	headerCanary = "header-canary-0123456789"
	queryCanary  = "query-canary-0123456789"
	frontCanary  = "front-canary-0123456789"
)

// echo is a platform that gives back what it was sent, in the way that it is told
// to.
func echo(t *testing.T, status int) string {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		said := fmt.Sprintf("%v %v %s", r.Header, r.URL, body)
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Set-Cookie", "session="+r.Header.Get("Authorization"))
		w.Header().Set("X-Debug", said)
		w.WriteHeader(status)
		_, _ = fmt.Fprintf(w, `{"error":{"code":%d,"status":"INVALID_ARGUMENT","message":%q},"candidates":[{"finishReason":"STOP","content":{"role":"model","parts":[{"text":"hello"}]}}],"x":%q}`,
			status, "bad credentials "+r.Header.Get("Authorization")+r.Header.Get("X-Goog-Api-Key")+r.Header.Get("X-Gateway-Api-Key"), said)
	}))
	t.Cleanup(srv.Close)
	return srv.URL
}

// TestNoSecretIsWritten runs commands that have secrets in all the places where
// there can be some, against a platform that repeats them.
func TestNoSecretIsWritten(t *testing.T) {
	for _, status := range []int{200, 401} {
		url := echo(t, status)
		dir := t.TempDir()
		write(t, filepath.Join(dir, "token"), tokenCanary+"\n")
		write(t, filepath.Join(dir, "catalog.json"), fmt.Sprintf(`{"providers":{
			"oa":{"provider":"openai","base_url":"%[1]s","api_key":%[2]q,"headers":{"X-Team-Key":%[3]q}},
			"an":{"provider":"anthropic","base_url":"%[1]s","api_key":%[2]q},
			"go":{"provider":"google","base_url":"%[1]s","api_key":%[2]q},
			"vx":{"provider":"vertex-ai","project_id":"p","region":"global","base_url":"%[1]s","access_token":%[4]q}}}`, url, keyCanary, headerCanary, tokenCanary))
		place := []string{"--base-url", url, "--project", "p", "--header", "X-Proxy-Key=" + headerCanary}
		image := "https://storage.googleapis.com/b/o.png?X-Goog-Signature=" + queryCanary
		chat := []string{"chat", "--image", image, "hi"}
		var lines [][]string
		for _, wire := range [][]string{nil, {"--explain"}, {"--explain=full"}, {"--explain=full", "--stream"}, {"--dry-run"}} {
			lines = append(lines,
				join(chat, wire, place, []string{"--token", tokenCanary}),
				join(chat, wire, place, []string{"--token", "@token"}),
				join([]string{"tokens", "hi"}, drop(wire, "--stream"), place, []string{"--token", tokenCanary}),
				join([]string{"embed", "hi"}, drop(wire, "--stream"), place, []string{"--token", tokenCanary}),
			)
			for _, model := range []string{"@oa/gpt-5", "@an/claude-sonnet-4-5", "@go/gemini-2.5-flash", "@vx/gemini-2.5-flash"} {
				lines = append(lines, join([]string{"chat", "hi", "--catalog", "catalog.json", "-m", model}, wire))
			}
		}
		lines = append(lines,
			join([]string{"explain", "--send", "hi"}, place, []string{"--token", tokenCanary}),
			[]string{"logs", "--url", url, "--key", frontCanary}, []string{"replay", "--url", url, "--key", frontCanary, "r1"},
			[]string{"validate", "catalog.json", "--check-targets"}, []string{"models", "--catalog", "catalog.json", "@oa"},
		)
		for _, args := range lines {
			t.Run(fmt.Sprint(status, " ", strings.Join(args, " ")), func(t *testing.T) {
				t.Parallel()
				got := run(t, command(t, dir, nil, args...), "")
				checkSecrets(t, got)
			})
		}
	}
}

func checkSecrets(t *testing.T, got outcome) {
	t.Helper()
	for _, secret := range []string{tokenCanary, keyCanary, headerCanary, queryCanary, frontCanary} {
		for _, form := range []string{secret, base64.StdEncoding.EncodeToString([]byte(secret))} {
			if strings.Contains(got.out+got.err, form) {
				t.Errorf("%s is written:\n%s\n%s", secret, got.out, got.err)
			}
		}
	}
}

func join(parts ...[]string) []string {
	var out []string
	for _, p := range parts {
		out = append(out, p...)
	}
	return out
}

// drop leaves a word out.
func drop(words []string, word string) []string {
	var out []string
	for _, w := range words {
		if w != word {
			out = append(out, w)
		}
	}
	return out
}

// TestSecretsOfTheEnvironment checks those that no flag names.
func TestSecretsOfTheEnvironment(t *testing.T) {
	url := echo(t, 400)
	env := []string{"GATEWAYCTL_TOKEN=" + tokenCanary, "GATEWAYCTL_KEY=" + frontCanary, "GOOGLE_CLOUD_PROJECT=p"}
	for _, args := range [][]string{{"chat", "--explain=full", "--base-url", url, "hi"}, {"logs", "--url", url}, {"chat", "--help"}} {
		got := run(t, command(t, t.TempDir(), env, args...), "")
		checkSecrets(t, got)
		if args[1] == "--explain=full" && (got.code != 1 || !strings.Contains(got.err, "[redacted]")) {
			t.Errorf("%v: %+v", args, got)
		}
	}
}
