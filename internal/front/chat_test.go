package front

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/providers"
)

func TestChat(t *testing.T) {
	b := &fake{answer: &providers.ChatCompletion{
		ID: "a", Model: "m-1", Created: 7,
		Choices: []providers.Choice{{FinishReason: "stop", Message: providers.Message{Role: "assistant", Content: providers.TextContent("Hi ☺")}}},
		Meta: providers.Meta{
			RequestID: "r-1", Provider: "vertex-ai", Slug: "vx", Model: "m", CacheStatus: providers.CacheMiss,
			Attempts: []providers.Attempt{{Provider: "vertex-ai", Code: providers.ErrServer}, {Code: providers.ErrInvalidConfig}, {Skipped: providers.SkipCooldown}, {}}, Warnings: []providers.Warning{{Code: "c", Param: "p", Message: "mess"}},
		},
	}}
	res := ask(t, Config{}, b, "POST", chatPath, hello)
	want := `{"id":"a","object":"chat.completion","created":7,"model":"m-1","choices":[{"index":0,` +
		`"message":{"role":"assistant","content":"Hi ☺"},"logprobs":null,"finish_reason":"stop"}]}`
	if diff := cmp.Diff(want, readBody(t, res)); diff != "" {
		t.Errorf("body (-want +got):\n%s", diff)
	}
	header := map[string]string{}
	for name := range res.Header {
		header[name] = strings.Join(res.Header[name], "|")
	}
	wantHeader := map[string]string{
		"Content-Type": "application/json", "Content-Length": strconv.Itoa(len(want)),
		"X-Gateway-Cache-Status": "miss", "X-Gateway-Provider": "vx", "X-Gateway-Model": "m", "X-Gateway-Target": "@vx/m",
		"X-Gateway-Attempts": "2", "X-Gateway-Request-Id": "r-1",
		"X-Gateway-Warnings": `[{"code":"c","param":"p","message":"mess"}]`,
	}
	if diff := cmp.Diff(wantHeader, header); diff != "" {
		t.Errorf("header (-want +got):\n%s", diff)
	}
	if b.request.Model != "m" || b.request.Messages[0].Content.Text() != "Hello" {
		t.Errorf("request = %+v", b.request)
	}
}

func TestAnswerThatCannotBeWritten(t *testing.T) {
	nan := &providers.Logprobs{Content: []providers.TokenLogprob{{Logprob: math.NaN()}}}
	b := &fake{answer: &providers.ChatCompletion{Choices: []providers.Choice{{Logprobs: nan}}}}
	res := ask(t, Config{}, b, "POST", chatPath, hello)
	if e := readEnvelope(t, res); res.StatusCode != 500 || e.Error.Code != "server_error" {
		t.Errorf("status %d, %+v", res.StatusCode, e)
	}
	if got := res.Header.Get("x-gateway-cache-status"); got != "" {
		t.Errorf("an error has the headers of an answer: %q", got)
	}
}

func TestRequestOutlivesItsBuffer(t *testing.T) {
	b := &fake{}
	ask(t, Config{}, b, "POST", chatPath, hello)
	first := b.request
	ask(t, Config{}, b, "POST", chatPath, strings.ReplaceAll(hello, "Hello", "XXXXX"))
	if got := first.Messages[0].Content.Text(); got != "Hello" {
		t.Errorf("the first request's text became %q", got)
	}
}
