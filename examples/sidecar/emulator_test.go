package main

import (
	"context"
	"net"
	"net/http"
	"strings"
	"testing"
)

// TestEmulator looks around with no catalog and no credentials.
func TestEmulator(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ready, ended := make(chan string, 1), make(chan error, 1)
	go func() {
		ended <- run(ctx, []string{"-emulator", "-listen", "127.0.0.1:0"}, func(a net.Addr) { ready <- "http://" + a.String() })
	}()
	var s sidecar
	select {
	case s.url = <-ready:
	case err := <-ended:
		t.Fatal(err)
	}
	status, text := send(t, http.MethodPost, s.url+"/v1/chat/completions", "", `{"model":"gemini-2.5-flash","user":"ada","messages":[{"role":"user","content":"Say hello."}]}`)
	if status != http.StatusOK || !strings.Contains(text, "hello") {
		t.Errorf("a chat: %d %s", status, text)
	}
	if text := s.awaitCall(t, "/dashboard/api/logs", ""); !strings.Contains(text, `"cost_usd":`) {
		t.Errorf("the call has no cost: %s", text)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Errorf("shutdown: %v", err)
	}
}
