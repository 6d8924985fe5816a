package redis_test

import (
	"context"
	crand "crypto/rand"
	"math"
	"math/rand/v2"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/redis/rueidis"

	"github.com/b650d4bf/gateway/cache"
	"github.com/b650d4bf/gateway/cache/redis"
)

// servers are the variables with the URLs of servers; .ci/servers sets them.
var servers = []string{"GATEWAY_TEST_REDIS", "GATEWAY_TEST_REDIS8", "GATEWAY_TEST_VALKEY"}

// eachServer runs a test with each server that there is.
func eachServer(t *testing.T, test func(t *testing.T, o rueidis.ClientOption)) {
	for _, name := range servers {
		t.Run(name, func(t *testing.T) { test(t, option(t, name)) })
	}
}

func option(t testing.TB, variable string) rueidis.ClientOption {
	t.Helper()
	url := os.Getenv(variable)
	if url == "" {
		t.Skipf("%s names no server; bash .ci/servers COMMAND runs a command with all of them", variable)
	}
	o, err := rueidis.ParseURL(url)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// connect returns a client that ends with the test.
func connect(t testing.TB, o rueidis.ClientOption) rueidis.Client {
	t.Helper()
	c, err := rueidis.NewClient(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// prefix returns one of the test's own.
func prefix() string { return "test:" + crand.Text() + ":" }

// open returns a store with entries of its own.
func open(t testing.TB, o rueidis.ClientOption, opts ...redis.Option) *redis.Store {
	t.Helper()
	s, err := redis.New(connect(t, o), append([]redis.Option{redis.WithPrefix(prefix())}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := s.DeleteAll(context.Background(), cache.Filter{}); err != nil {
			t.Logf("cleaning up: %v", err)
		}
		_ = s.Close()
	})
	return s
}

func entry(n int) *cache.Entry {
	now := time.UnixMilli(time.Now().UnixMilli())
	return &cache.Entry{
		Key: cache.Key{byte(n), byte(n >> 8), 31: 1}, Body: []byte(strings.Repeat("body", 100)), Created: now, Expires: now.Add(time.Hour),
		Operation: "chat", Model: "gemini-2.5-flash", Parts: []cache.Part{{Name: "model", Sum: 7}}, Text: "text",
	}
}

// unit returns a vector of length 1.
func unit(r *rand.Rand, dim int) []float32 {
	v := make([]float32, dim)
	for i := range v {
		v[i] = float32(r.NormFloat64())
	}
	return normal(v)
}

func normal(v []float32) []float32 {
	sum := 0.0
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	for i := range v {
		v[i] = float32(float64(v[i]) / math.Sqrt(sum))
	}
	return v
}

// near returns a vector of length 1 at that similarity of v.
func near(r *rand.Rand, v []float32, similarity float64) []float32 {
	other := unit(r, len(v))
	along := 0.0
	for i := range v {
		along += float64(v[i]) * float64(other[i])
	}
	for i := range other {
		other[i] -= float32(along) * v[i]
	}
	normal(other)
	out := make([]float32, len(v))
	for i := range out {
		out[i] = float32(similarity)*v[i] + float32(math.Sqrt(1-similarity*similarity))*other[i]
	}
	return normal(out)
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// eventually waits for what is true a little later.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("never: %s", what)
		}
	}
}

func addr(o rueidis.ClientOption) string { return o.InitAddress[0] }

// through returns the options with another address.
func through(o rueidis.ClientOption, addr string) rueidis.ClientOption {
	o.InitAddress = []string{addr}
	o.ForceSingleClient = true
	o.Dialer = net.Dialer{Timeout: time.Second, KeepAlive: 200 * time.Millisecond}
	o.ConnWriteTimeout = time.Second
	return o
}
