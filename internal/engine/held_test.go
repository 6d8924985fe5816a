package engine

import (
	"runtime"
	"testing"
	"weak"

	"github.com/b650d4bf/gateway/internal/sse"
	"github.com/b650d4bf/gateway/providers"
)

// TestStreamsAtTheirEndHoldNoInput reads streams to their end and keeps them, as a
// caller may who looks at them later.
func TestStreamsAtTheirEndHoldNoInput(t *testing.T) {
	p := New(Config{Transport: &played{body: "data: " + event(true, `{"text":"a"}`) + "\n\n"}}, testSite{})
	freed := func(t *testing.T, events weak.Pointer[sse.Decoder], recv func() error) {
		t.Helper()
		if events.Value() == nil {
			t.Fatal("nothing is open")
		}
		for recv() == nil { //nolint:revive // to the end
		}
		runtime.GC()
		if events.Value() != nil {
			t.Error("the input is held")
		}
	}
	t.Run("chunks", func(t *testing.T) {
		s, err := p.ChatCompletionStream(t.Context(), &providers.Target{Model: "m"}, &providers.ChatCompletionRequest{
			Model: "m", Messages: []providers.Message{providers.UserMessage("hi")},
		})
		r, ok := s.(*reader)
		if err != nil || !ok {
			t.Fatalf("%T, %v", s, err)
		}
		freed(t, weak.Make(r.events), func() error { _, err := r.Recv(); return err })
		runtime.KeepAlive(r)
	})
	t.Run("events", func(t *testing.T) {
		s, err := p.NativeStream(t.Context(), &providers.Target{Model: "m"}, &providers.NativeRequest{Model: "m", Method: providers.NativeStream, Body: []byte(`{}`)})
		r, ok := s.(*nativeStream)
		if err != nil || !ok {
			t.Fatalf("%T, %v", s, err)
		}
		freed(t, weak.Make(r.events), func() error { _, err := r.Recv(); return err })
		runtime.KeepAlive(r)
	})
}
