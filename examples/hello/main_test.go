package main

import (
	"bytes"
	"net/http"
	"testing"

	"github.com/b650d4bf/gateway"
	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

func TestHello(t *testing.T) {
	platform := vertextest.New()
	defer platform.Close()
	platform.Script(vertextest.Text("Hello."))
	var out bytes.Buffer
	err := run(t.Context(), &out, func(string) string { return "p" },
		gateway.WithAccessToken("token"), gateway.WithHTTPClient(&http.Client{Transport: platform.Transport()}))
	if err != nil || out.String() != "Hello.\n" {
		t.Errorf("printed %q, %v", out.String(), err)
	}
}

func TestHelloSaysWhatIsMissing(t *testing.T) {
	if err := run(t.Context(), new(bytes.Buffer), func(string) string { return "" }); err == nil {
		t.Error("no error without a project")
	}
}
