package main

import (
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
)

// TestARecordIsOneLine checks that a caller who chose a model's name, or a platform
// that words an error, can't put lines of their own into the list of calls.
func TestARecordIsOneLine(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "logs.jsonl"), `{"id":"r1","time":"2026-01-02T03:04:05Z","operation":"chat","requested_model":"m\n2026-01-02T03:04:06.000Z  r2  chat",`+
		`"error":{"code":"x","message":"a\r\u001b[2Jb\tc\u2028d"}}`+"\n")
	got := run(t, command(t, dir, nil, "logs", "--file", "logs.jsonl"), "")
	if got.code != 0 || strings.Count(got.out, "\n") != 1 || strings.ContainsAny(got.out, "\x1b\r\t\u2028") || !strings.Contains(got.out, "r1") {
		t.Errorf("%d %q %q", got.code, got.out, got.err)
	}
}

// TestAPasswordOfTheFrontIsHidden checks the address of a front that a proxy with a
// password stands before.
func TestAPasswordOfTheFrontIsHidden(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) }))
	defer srv.Close()
	url := strings.Replace(srv.URL, "http://", "http://me:"+frontCanary+"@", 1)
	for _, args := range [][]string{{"logs", "--url", url}, {"replay", "--url", url, "r1"}, {"logs", "--url", "http://me:" + frontCanary + "@127.0.0.1:1"}} {
		got := run(t, command(t, t.TempDir(), nil, args...), "")
		checkSecrets(t, got)
		if got.code == 0 || got.err == "" {
			t.Errorf("%v: %+v", args, got)
		}
	}
}
