// Package sdks_test drives clients and frameworks for Go that speak OpenAI's schema
// through the gateway in the process: each is given gateway.Client.RoundTripper as
// its transport, and is used as its users use it.
package sdks_test

import (
	"context"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/b650d4bf/gateway"
	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

// The models, by what matters to a client.
const (
	plain   = "gemini-2.5-flash"
	signing = "gemini-3.8-flash" // refuses a tool call whose signature was changed
	claude  = "anthropic.claude-sonnet-5"
)

// sdk is one client of the schema. Each of its functions runs one call of the
// client's own API.
type sdk struct {
	name string
	// chat returns the answer's text.
	chat func(ctx context.Context, t *testing.T, h *http.Client, model, prompt string) (string, error)
	// stream returns the pieces of a streamed answer.
	stream func(ctx context.Context, t *testing.T, h *http.Client, model, prompt string) ([]string, error)
	// tool returns the last answer after the tool get_weather was run by it, which
	// is told of the city.
	tool func(ctx context.Context, t *testing.T, h *http.Client, model, prompt string, run func(city string) string) (string, error)
}

var sdks = []sdk{openaiGo, goOpenAI, langchain, einoOpenAI, genkitOpenAI}

// inProcess is the one line that a user adds, with an emulator for a platform.
func inProcess(t *testing.T) *http.Client {
	t.Helper()
	platform := vertextest.New()
	t.Cleanup(platform.Close)
	client, err := gateway.New(
		gateway.WithProjectID("p"), gateway.WithRegion("global"), gateway.WithAccessToken("token"),
		gateway.WithHTTPClient(&http.Client{Transport: platform.Transport()}),
	)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return &http.Client{Transport: client.RoundTripper()}
}

// each runs a test of every client with every model.
func each(t *testing.T, test func(ctx context.Context, t *testing.T, s *sdk, h *http.Client, model string)) {
	for i := range sdks {
		for _, model := range []string{plain, signing, claude} {
			t.Run(sdks[i].name+" "+model, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
				defer cancel()
				test(ctx, t, &sdks[i], inProcess(t), model)
			})
		}
	}
}

const repeat = "Please repeat these words after me: one two three four five six."

func TestChat(t *testing.T) {
	each(t, func(ctx context.Context, t *testing.T, s *sdk, h *http.Client, model string) {
		got, err := s.chat(ctx, t, h, model, repeat)
		if err != nil || !strings.Contains(got, "one two three four five six") {
			t.Errorf("answer %q, %v", got, err)
		}
	})
}

func TestStream(t *testing.T) {
	each(t, func(ctx context.Context, t *testing.T, s *sdk, h *http.Client, model string) {
		pieces, err := s.stream(ctx, t, h, model, repeat)
		if err != nil || len(pieces) < 2 || !strings.Contains(strings.Join(pieces, ""), "one two three four five six") {
			t.Errorf("pieces %q, %v", pieces, err)
		}
	})
}

// TestToolLoop has the signature of the call go back, kept by the client or, where
// the client loses it, by the gateway.
func TestToolLoop(t *testing.T) {
	each(t, func(ctx context.Context, t *testing.T, s *sdk, h *http.Client, model string) {
		var cities []string
		got, err := s.tool(ctx, t, h, model, "What is the weather in Paris?", func(city string) string {
			cities = append(cities, city)
			return "clear skies"
		})
		if err != nil || !strings.Contains(got, "clear skies") || len(cities) != 1 || cities[0] != "Paris" {
			t.Errorf("answer %q, cities %q, %v", got, cities, err)
		}
	})
}

func TestErrorsReachTheCaller(t *testing.T) {
	each(t, func(ctx context.Context, t *testing.T, s *sdk, h *http.Client, _ string) {
		if got, err := s.chat(ctx, t, h, "no-such-model", "Hello"); err == nil {
			t.Errorf("an unknown model answered %q", got)
		}
	})
}

// TestNoGoroutineStays runs streams through all clients, and looks for goroutines
// of the gateway; frameworks have some of their own.
func TestNoGoroutineStays(t *testing.T) {
	h := inProcess(t)
	for i := range sdks {
		if _, err := sdks[i].stream(t.Context(), t, h, plain, repeat); err != nil {
			t.Fatal(sdks[i].name, err)
		}
	}
	var left []string
	for range 100 {
		if left = ours(); len(left) == 0 {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("these stay:\n%s", strings.Join(left, "\n\n"))
}

// ours returns the stacks of the goroutines that run code of the gateway, or were
// started by it.
func ours() (stacks []string) {
	buf := make([]byte, 1<<20)
	for stack := range strings.SplitSeq(string(buf[:runtime.Stack(buf, true)]), "\n\n") {
		if strings.Contains(stack, "b650d4bf/gateway/internal") || strings.Contains(stack, "b650d4bf/gateway.") {
			stacks = append(stacks, stack)
		}
	}
	return stacks
}
