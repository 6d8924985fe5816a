package vertex_test

import (
	"strings"
	"testing"

	"github.com/b650d4bf/gateway/providers"
	"github.com/b650d4bf/gateway/providers/vertex"
)

const signedCall = `{"candidates":[{"content":{"role":"model","parts":[{"functionCall":{"id":"c1","name":"f","args":{}},"thoughtSignature":"c2ln"}]},"finishReason":"STOP"}]}`

// TestASignatureGoesBackToItsIssuerAlone asks twice: the second request has the
// call of the first one's answer, without its signature.
func TestASignatureGoesBackToItsIssuerAlone(t *testing.T) {
	const tuned = "projects/p/locations/us-central1/endpoints/1"
	for _, tt := range []struct {
		name     string
		model    string // of the second request
		change   func(*providers.Target)
		memory   vertex.SignatureMemory
		restored bool
	}{
		{name: "the same", model: "gemini-3-flash", restored: true},
		{name: "another model of the family", model: "gemini-3.8-flash", restored: true},
		{name: "an older model", model: "gemini-2.5-flash", restored: true},
		{name: "another region", model: "gemini-3-flash", change: func(to *providers.Target) { to.Region = "us-central1" }, restored: true},
		{name: "another project", model: "gemini-3-flash", change: func(to *providers.Target) { to.ProjectID = "theirs" }},
		{name: "another host", model: "gemini-3-flash", change: func(to *providers.Target) { to.BaseURL = "https://theirs.example" }},
		{name: "another universe", model: "gemini-3-flash", change: func(to *providers.Target) { to.UniverseDomain = "theirs.example" }},
		{name: "a tuned model", model: tuned},
		{name: "without memory", model: "gemini-3-flash", memory: vertex.SignatureMemory{Off: true}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			rt := &script{answers: []string{signedCall, okAnswer}}
			p := vertex.New(vertex.Config{Transport: rt, Signatures: tt.memory})
			defer func() { _ = p.Close() }()
			if _, err := p.ChatCompletion(t.Context(), target("gemini-3-flash"), hello(t, "gemini-3-flash")); err != nil {
				t.Fatal(err)
			}
			to := target(tt.model)
			if tt.change != nil {
				tt.change(to)
			}
			lost := strings.Replace(calledTool, `,"thought_signature":"c2ln"`, "", 1)
			if _, err := p.ChatCompletion(t.Context(), to, decodeRequest(t, []byte(`{"model":"m",`+lost+`}`))); err != nil {
				t.Fatal(err)
			}
			if got := strings.Contains(rt.sent[1], `"thoughtSignature":"c2ln"`); got != tt.restored {
				t.Errorf("restored: %v, want %v: %s", got, tt.restored, rt.sent[1])
			}
		})
	}
}
