package gateway_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/b650d4bf/gateway"
	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

// cacheKit is a client with a cache, before the emulator.
type cacheKit struct {
	t      *testing.T
	client *gateway.Client
	srv    *vertextest.Server
	embeds *atomic.Int64 // texts that were embedded
	broken *atomic.Bool  // no text can be
}

// newCacheKit makes a client whose texts are embedded by [topic].
func newCacheKit(t *testing.T, opts ...gateway.ClientOption) *cacheKit {
	t.Helper()
	k := &cacheKit{t: t, srv: vertextest.New(), embeds: new(atomic.Int64), broken: new(atomic.Bool)}
	t.Cleanup(k.srv.Close)
	base := []gateway.ClientOption{
		gateway.WithProjectID("p"), gateway.WithRegion("global"), gateway.WithAccessToken("t"),
		gateway.WithHTTPClient(&http.Client{Transport: k.srv.Transport()}),
		gateway.WithCacheEmbedding(gateway.CacheEmbedding{Model: "topics", Func: func(_ context.Context, text string) ([]float32, error) {
			k.embeds.Add(1)
			if k.broken.Load() {
				return nil, errors.New("the embedder is down")
			}
			return topic(text), nil
		}}),
	}
	client, err := gateway.New(append(base, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	k.client = client
	return k
}

// topic is a vector by what a text is about: texts with the same first word in
// brackets, "[pets] …", mean the same; one that ends in a space is a little beside it,
// and in two far beside.
func topic(text string) []float32 {
	v := make([]float32, 32)
	word, rest, _ := strings.Cut(strings.TrimPrefix(text, "["), "]")
	for i := range len(word) {
		v[(int(word[i])+7*i)%30]++
	}
	norm := 0.0
	for _, f := range v {
		norm += float64(f) * float64(f)
	}
	angle := 0.0
	switch {
	case strings.HasSuffix(rest, "  "):
		angle = math.Acos(0.90)
	case strings.HasSuffix(rest, " "):
		angle = math.Acos(0.97)
	}
	for i := range v {
		v[i] = float32(float64(v[i]) / math.Sqrt(norm) * math.Cos(angle))
	}
	v[31] = float32(math.Sin(angle))
	return v
}

var simple, semantic = gateway.WithCache(gateway.Cache{Mode: gateway.CacheSimple}), gateway.WithCache(gateway.Cache{Mode: gateway.CacheSemantic})

// says is a request with a system message and a question.
func says(question string) *gateway.ChatCompletionRequest {
	return &gateway.ChatCompletionRequest{Model: first, Messages: []gateway.Message{
		gateway.SystemMessage("Be brief."), gateway.UserMessage(question),
	}}
}

// ask asks, and expects the status.
func (k *cacheKit) ask(want gateway.CacheStatus, req *gateway.ChatCompletionRequest, opts ...gateway.RequestOption) *gateway.ChatCompletion {
	k.t.Helper()
	return k.askOf(k.client, want, req, opts...)
}

func (k *cacheKit) askOf(c *gateway.Client, want gateway.CacheStatus, req *gateway.ChatCompletionRequest, opts ...gateway.RequestOption) *gateway.ChatCompletion {
	k.t.Helper()
	out, err := c.Chat.Completions.Create(k.t.Context(), req, opts...)
	if err != nil {
		k.t.Fatal(err)
	}
	if out.Meta.CacheStatus != want {
		k.t.Errorf("status %q, want %q; %+v", out.Meta.CacheStatus, want, out.Meta.Cache)
	}
	if hit := out.Meta.CacheStatus.IsHit(); hit && len(out.Meta.Attempts) > 0 {
		k.t.Errorf("a hit has attempts: %+v", out.Meta.Attempts)
	}
	return out
}

// stream asks for a stream, and expects the status.
func (k *cacheKit) stream(want gateway.CacheStatus, req *gateway.ChatCompletionRequest) *gateway.ChatCompletion {
	k.t.Helper()
	s, err := k.client.Chat.Completions.CreateStream(k.t.Context(), req)
	if err != nil {
		k.t.Fatal(err)
	}
	if got := s.Meta().CacheStatus; got != want {
		k.t.Errorf("status %q at the beginning of the stream, want %q", got, want)
	}
	out, err := s.Collect()
	if err != nil {
		k.t.Fatal(err)
	}
	if got := s.Meta().CacheStatus; got != want {
		k.t.Errorf("status %q at the end of the stream, want %q", got, want)
	}
	return out
}

// asked expects the number of requests that reached the platform.
func (k *cacheKit) asked(want int) {
	k.t.Helper()
	if got := len(k.srv.Requests()); got != want {
		k.t.Errorf("the platform was asked %d times, want %d", got, want)
	}
}

// postJSON asks over HTTP, and returns the cache status and the body.
func postJSON(t *testing.T, h http.Handler, body any, header ...string) (status, answer string) {
	t.Helper()
	data, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/v1/chat/completions", strings.NewReader(string(data)))
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	if w.Code != http.StatusOK {
		t.Fatalf("status %d: %s", w.Code, w.Body)
	}
	return w.Header().Get("X-Gateway-Cache-Status"), w.Body.String()
}

// posts asks over HTTP and expects the status.
func (k *cacheKit) posts(want string, req *gateway.ChatCompletionRequest, header ...string) {
	k.t.Helper()
	if got, _ := postJSON(k.t, k.client.Handler(), req, header...); got != want {
		k.t.Errorf("x-gateway-cache-status is %q, want %q", got, want)
	}
}

func configOf(t *testing.T, format string, args ...any) *gateway.Config {
	t.Helper()
	c, err := gateway.ParseConfig(fmt.Appendf(nil, format, args...))
	if err != nil {
		t.Fatal(err)
	}
	return c
}
