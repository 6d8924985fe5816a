package transport_test

import (
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"
	"weak"

	"github.com/b650d4bf/gateway/internal/transport"
	"github.com/b650d4bf/gateway/providers"
)

// held is a body; that of a real connection has its buffers.
type held struct{ strings.Reader }

func (*held) Close() error { return nil }

// TestEndedCallsHoldNoBody ends few of many calls, so that the runtime keeps the
// timers of those which ended among the others.
func TestEndedCallsHoldNoBody(t *testing.T) {
	const calls, ended = 64, 8
	for name, limits := range map[string]providers.Timeouts{
		"no limits":  {},
		"first byte": {FirstByte: time.Hour},
		"idle":       {Idle: time.Hour},
		"total":      {Total: time.Hour},
		"all":        {FirstByte: time.Hour, Idle: time.Hour, Total: time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			var bodies []weak.Pointer[held]
			client := transport.New(roundTrip(func(r *http.Request) (*http.Response, error) {
				b := new(held)
				bodies = append(bodies, weak.Make(b))
				return &http.Response{StatusCode: 200, Header: http.Header{}, Body: b, Request: r}, r.Body.Close()
			}), 0)
			var open []*transport.Response
			for range calls {
				res, err := client.Do(t.Context(), request(t, "https://h", "body", limits))
				if err != nil {
					t.Fatal(err)
				}
				open = append(open, res)
			}
			for i, res := range open[:ended] {
				if _, err := io.Copy(io.Discard, res); err != nil {
					t.Error(err)
				}
				_ = res.Close()
				open[i] = nil
			}
			runtime.GC()
			for i, b := range bodies {
				if alive := b.Value() != nil; alive != (i >= ended) {
					t.Errorf("body %d is held: %t", i, alive)
				}
			}
			for _, res := range open[ended:] {
				_ = res.Close()
			}
		})
	}
}
