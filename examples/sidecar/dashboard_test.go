package main

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestDashboard makes a call and finds it on the dashboard, with the key alone.
func TestDashboard(t *testing.T) {
	s := start(t, "key-one")
	if status, text := send(t, http.MethodGet, s.url+"/dashboard", "", ""); status != http.StatusOK || !strings.Contains(text, "<!doctype html>") {
		t.Errorf("the page: %d %s", status, text)
	}
	if status, text := send(t, http.MethodGet, s.url+"/dashboard/api/logs", "", ""); status != http.StatusUnauthorized {
		t.Errorf("without a key: %d %s", status, text)
	}
	if status, text := s.chat(t, "vx", "key-one", `,"user":"ada"`); status != http.StatusOK {
		t.Fatalf("%d %s", status, text)
	}
	text := s.awaitCall(t, "/dashboard/api/logs", "key-one")
	if strings.Contains(text, "Hello") {
		t.Errorf("the prompt is kept: %s", text)
	}
	if !strings.Contains(text, `"cost_usd":`) {
		t.Errorf("the call has no cost: %s", text)
	}
	if status, text := send(t, http.MethodGet, s.url+"/dashboard/api/catalog", "key-one", ""); status != http.StatusOK || !strings.Contains(text, `"slug":"vx"`) {
		t.Errorf("the catalog: %d %s", status, text)
	}
}

// awaitCall reads the log until Ada's call is there.
func (s *sidecar) awaitCall(t *testing.T, path, key string) (text string) {
	t.Helper()
	for end := time.Now().Add(limit); !strings.Contains(text, `"user":"ada"`); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("the call is not there: %s", text)
		}
		_, text = send(t, http.MethodGet, s.url+path, key, "")
	}
	return text
}

// TestLogFileAndAdmins keeps calls in a file, which the next process reads, and shows
// them to those with an admin key alone.
func TestLogFileAndAdmins(t *testing.T) {
	dir := t.TempDir()
	more := []string{"-log-file", filepath.Join(dir, "calls.jsonl"), "-log-content", "-admin-keys-file", writeFile(t, filepath.Join(dir, "admins.txt"), "root-key")}
	s := start(t, "key-one", more...)
	if status, text := s.chat(t, "vx", "key-one", `,"user":"ada"`); status != http.StatusOK {
		t.Fatalf("%d %s", status, text)
	}
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	s = start(t, "key-one", more...)
	s.awaitCall(t, "/v1/logs", "root-key")
	s.awaitCall(t, "/dashboard/api/logs", "root-key")
	for _, path := range []string{"/v1/logs", "/v1/analytics", "/dashboard/api/logs"} {
		if status, text := send(t, http.MethodGet, s.url+path, "key-one", ""); status < 400 || strings.Contains(text, "ada") {
			t.Errorf("%s with a key that is no admin's: %d %s", path, status, text)
		}
	}
	if status, text := s.chat(t, "vx", "root-key", ""); status != http.StatusOK {
		t.Errorf("a chat with an admin's key: %d %s", status, text)
	}
	if err := s.stop(); err != nil {
		t.Error(err)
	}
}
