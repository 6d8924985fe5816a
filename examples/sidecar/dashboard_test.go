package main

import (
	"net/http"
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
	var text string
	for end := time.Now().Add(limit); !strings.Contains(text, `"user":"ada"`); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("the call is not there: %s", text)
		}
		_, text = send(t, http.MethodGet, s.url+"/dashboard/api/logs", "key-one", "")
	}
	if strings.Contains(text, "Hello") {
		t.Errorf("the prompt is kept: %s", text)
	}
	if status, text := send(t, http.MethodGet, s.url+"/dashboard/api/catalog", "key-one", ""); status != http.StatusOK || !strings.Contains(text, `"slug":"vx"`) {
		t.Errorf("the catalog: %d %s", status, text)
	}
}
