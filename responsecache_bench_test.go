package gateway_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/b650d4bf/gateway"
)

// cachedClient is a client whose answers are in memory, and a cache for them.
func cachedClient(tb testing.TB, answer string, opts ...gateway.ClientOption) *gateway.Client {
	tb.Helper()
	transport := &fixed{ctype: "application/json", body: unaryAnswer(answer)}
	client, err := gateway.New(append([]gateway.ClientOption{
		gateway.WithProjectID("p"), gateway.WithRegion("global"), gateway.WithAccessToken("t"),
		gateway.WithHTTPClient(&http.Client{Transport: transport}),
	}, opts...)...)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = client.Close() })
	return client
}

func mustAnswer(tb testing.TB, c *gateway.Client, req *gateway.ChatCompletionRequest, want gateway.CacheStatus) {
	out, err := c.Chat.Completions.Create(context.Background(), req)
	if err != nil || out.Meta.CacheStatus != want {
		tb.Fatalf("%v, %v", out, err)
	}
}

// BenchmarkCacheHit is from the request's value to the answer's.
func BenchmarkCacheHit(b *testing.B) {
	for name, req := range map[string]*gateway.ChatCompletionRequest{"small": says("hello"), "conv40": conversation()} {
		b.Run(name, func(b *testing.B) {
			client := cachedClient(b, "hello there", simple)
			mustAnswer(b, client, req, gateway.CacheMiss)
			b.ReportAllocs()
			for b.Loop() {
				mustAnswer(b, client, req, gateway.CacheHit)
			}
		})
		b.Run(name+", parallel", func(b *testing.B) {
			client := cachedClient(b, "hello there", simple)
			mustAnswer(b, client, req, gateway.CacheMiss)
			b.ReportAllocs()
			b.RunParallel(func(p *testing.PB) {
				for p.Next() {
					mustAnswer(b, client, req, gateway.CacheHit)
				}
			})
		})
	}
	b.Run("64KB answer", func(b *testing.B) {
		client := cachedClient(b, strings.Repeat("a long answer, ", 4300), simple)
		mustAnswer(b, client, says("hello"), gateway.CacheMiss)
		b.ReportAllocs()
		for b.Loop() {
			mustAnswer(b, client, says("hello"), gateway.CacheHit)
		}
	})
}

// BenchmarkCacheMiss puts a call that misses beside one without a cache: the
// difference is what the cache costs a call that it does not answer.
func BenchmarkCacheMiss(b *testing.B) {
	var n atomic.Int64
	for name, opts := range map[string][]gateway.ClientOption{"off": nil, "on": {simple}} {
		b.Run(name, func(b *testing.B) {
			client := cachedClient(b, "hello there", opts...)
			b.ReportAllocs()
			for b.Loop() {
				want := gateway.CacheDisabled
				if opts != nil {
					want = gateway.CacheMiss
				}
				mustAnswer(b, client, says(fmt.Sprint("hello ", n.Add(1))), want)
			}
		})
	}
}

func TestResponseCacheAllocations(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	for name, tt := range map[string]struct {
		opts []gateway.ClientOption
		most float64
	}{
		"a hit": {[]gateway.ClientOption{simple}, 3}, "without a cache": {nil, 26},
	} {
		client := cachedClient(t, "hello there", tt.opts...)
		req := says("hello")
		got := 1000.0
		for range 5 {
			got = min(got, testing.AllocsPerRun(100, func() {
				if _, err := client.Chat.Completions.Create(t.Context(), req); err != nil {
					t.Error(err)
				}
			}))
		}
		if got > tt.most {
			t.Errorf("%s: %v allocations, at most %v", name, got, tt.most)
		}
	}
}
