// Package stores_test lets two gateways, as two processes have them, share one
// response cache in each kind of store, with a store in memory in front. Servers
// are those that "bash .ci/servers" starts; one that is missing is skipped by name.
package stores_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/redis/rueidis"

	"github.com/b650d4bf/gateway"
	"github.com/b650d4bf/gateway/cache"
	"github.com/b650d4bf/gateway/cache/postgres"
	"github.com/b650d4bf/gateway/cache/redis"
	"github.com/b650d4bf/gateway/cache/sqlite"
	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

const model = "gemini-2.5-flash"

// farStores open one more handle on a store that is shared.
var farStores = map[string]func(t *testing.T) func() (cache.Store, error){
	"sqlite": func(t *testing.T) func() (cache.Store, error) {
		path := filepath.Join(t.TempDir(), "answers.db")
		return func() (cache.Store, error) { return sqlite.Open(path, sqlite.WithPoll(20*time.Millisecond)) }
	},
	"redis 7":                   redisAt("GATEWAY_TEST_REDIS"),
	"redis 8":                   redisAt("GATEWAY_TEST_REDIS8"),
	"valkey":                    redisAt("GATEWAY_TEST_VALKEY"),
	"postgresql with pgvector":  postgresAt("GATEWAY_TEST_POSTGRES"),
	"postgresql, nothing added": postgresAt("GATEWAY_TEST_POSTGRES_PLAIN"),
}

func redisAt(variable string) func(*testing.T) func() (cache.Store, error) {
	return func(t *testing.T) func() (cache.Store, error) {
		options, err := rueidis.ParseURL(addressIn(t, variable))
		if err != nil {
			t.Fatal(err)
		}
		prefix := "shared:" + rand.Text() + ":"
		return func() (cache.Store, error) {
			return redis.Open(options, redis.WithPrefix(prefix), redis.WithClientCaching(0))
		}
	}
}

func postgresAt(variable string) func(*testing.T) func() (cache.Store, error) {
	return func(t *testing.T) func() (cache.Store, error) {
		url := addressIn(t, variable)
		prefix := "s" + rand.Text()[:8] + "_"
		return func() (cache.Store, error) {
			pool, err := pgxpool.New(context.Background(), url)
			if err != nil {
				return nil, err
			}
			t.Cleanup(pool.Close)
			store, err := postgres.New(pool, postgres.WithPrefix(lower(prefix)))
			if err != nil {
				return nil, err
			}
			return store, store.Migrate(t.Context(), 768)
		}
	}
}

func lower(s string) string {
	b := []byte(s)
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}

func addressIn(t *testing.T, variable string) string {
	t.Helper()
	address := os.Getenv(variable)
	if address == "" {
		t.Skip("there is no " + variable)
	}
	return address
}

// process is a gateway with a store of its own in front of the shared one.
type process struct {
	*gateway.Client
	t      *testing.T
	faults *atomic.Int64 // of the cache, which a busy machine has: they are misses
}

func newProcess(t *testing.T, platform *vertextest.Server, open func() (cache.Store, error), faults *atomic.Int64) process {
	t.Helper()
	far, err := open()
	if err != nil {
		t.Fatal(err)
	}
	near, err := cache.NewMemory(cache.MemoryConfig{})
	if err != nil {
		t.Fatal(err)
	}
	store, err := cache.NewTiered(near, far, cache.TieredConfig{Failed: func(error) { faults.Add(1) }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	client, err := gateway.New(
		gateway.WithProjectID("p"), gateway.WithRegion("global"), gateway.WithAccessToken("token"),
		gateway.WithHTTPClient(&http.Client{Transport: platform.Transport()}),
		gateway.WithCacheStore(store), gateway.WithCache(gateway.Cache{Mode: gateway.CacheSemantic}),
	)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return process{client, t, faults}
}

func request(question string) *gateway.ChatCompletionRequest {
	return &gateway.ChatCompletionRequest{Model: model, Messages: []gateway.Message{
		gateway.SystemMessage("Be brief."), gateway.UserMessage(question),
	}}
}

// ask returns the status and the text of an answer.
func (p process) ask(question string, opts ...gateway.RequestOption) answer {
	p.t.Helper()
	out, err := p.Chat.Completions.Create(p.t.Context(), request(question), opts...)
	if err != nil {
		p.t.Fatal(err)
	}
	if out.Meta.Cache.Err != nil {
		p.faults.Add(1)
	}
	return answer{out.Meta.CacheStatus, out.Text()}
}

type answer struct {
	status gateway.CacheStatus
	text   string
}

// expect asks once, and soon asks until the answer is there, since what another
// process did is told in time.
func (p process) expect(want answer, question string, opts ...gateway.RequestOption) error {
	if got := p.ask(question, opts...); got != want {
		return fmt.Errorf("%q: got %v, want %v", question, got, want)
	}
	return nil
}

func (p process) soon(want answer, question string) (err error) {
	for deadline := time.Now().Add(5 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if err = p.expect(want, question); err == nil {
			break
		}
	}
	return err
}

// each runs a scenario on every kind of store. One in which the cache had faults
// is tried again: they are misses, and the scenario wants hits.
func each(t *testing.T, scenario func(t *testing.T, platform *vertextest.Server, a, b process) error) {
	for name, shared := range farStores {
		t.Run(name, func(t *testing.T) {
			for tries := 1; ; tries++ {
				open, faults := shared(t), new(atomic.Int64)
				platform := vertextest.New()
				t.Cleanup(platform.Close)
				err := scenario(t, platform, newProcess(t, platform, open, faults), newProcess(t, platform, open, faults))
				if err == nil {
					return
				}
				if faults.Load() == 0 || tries == 5 {
					t.Fatalf("%v, with %d faults of the cache", err, faults.Load())
				}
			}
		})
	}
}

const question = "How do I feed my cat?"

func TestAnotherProcessHits(t *testing.T) {
	each(t, func(t *testing.T, platform *vertextest.Server, a, b process) error {
		platform.ScriptFor(model, vertextest.Text("Twice a day."))
		err := errors.Join(
			a.expect(answer{gateway.CacheMiss, "Twice a day."}, question),
			b.expect(answer{gateway.CacheHit, "Twice a day."}, question),
			b.expect(answer{gateway.CacheSemanticHit, "Twice a day."}, "Please, how do I feed my cat?"),
		)
		stream, wrong := b.Chat.Completions.CreateStream(t.Context(), request(question))
		if wrong != nil {
			t.Fatal(wrong)
		}
		out, wrong := stream.Collect()
		if wrong != nil {
			t.Fatal(wrong)
		}
		if got, want := (answer{out.Meta.CacheStatus, out.Text()}), (answer{gateway.CacheHit, "Twice a day."}); got != want {
			err = errors.Join(err, fmt.Errorf("the stream is %v", got))
		}
		return err
	})
}

func TestARefreshReachesTheOtherProcess(t *testing.T) {
	each(t, func(t *testing.T, platform *vertextest.Server, a, b process) error {
		platform.ScriptFor(model, vertextest.Text("Old."), vertextest.Text("New."))
		err := errors.Join(
			a.expect(answer{gateway.CacheMiss, "Old."}, question),
			b.expect(answer{gateway.CacheHit, "Old."}, question), // which has a near copy now
			a.expect(answer{gateway.CacheRefreshed, "New."}, question, gateway.WithCacheForceRefresh()),
			b.soon(answer{gateway.CacheHit, "New."}, question),
		)
		if _, wrong := a.ResponseCache.DeleteNamespace(t.Context(), ""); wrong != nil {
			return errors.Join(err, wrong)
		}
		platform.ScriptFor(model, vertextest.Text("Newest."))
		return errors.Join(err, b.soon(answer{gateway.CacheHit, "Newest."}, question)) // after a miss
	})
}

// TestProcessesAskOnce has both ask at once, many times each.
func TestProcessesAskOnce(t *testing.T) {
	each(t, func(t *testing.T, platform *vertextest.Server, a, b process) error {
		platform.ScriptFor(model, vertextest.Text("Once.").After(300*time.Millisecond))
		var all sync.WaitGroup
		for i := range 40 {
			p := a
			if i%2 == 1 {
				p = b
			}
			all.Go(func() {
				if _, err := p.Chat.Completions.Create(t.Context(), request(question)); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		asked := 0
		for _, r := range platform.Requests() {
			if r.Verb == "generateContent" {
				asked++
			}
		}
		if asked != 1 {
			a.faults.Add(a.ResponseCache.Stats().Faults + b.ResponseCache.Stats().Faults)
			return fmt.Errorf("the model was asked %d times", asked)
		}
		return nil
	})
}

// TestAStoreThatWentAwayIsAMiss closes what the processes share.
func TestAStoreThatWentAwayIsAMiss(t *testing.T) {
	platform := vertextest.New()
	t.Cleanup(platform.Close)
	far, err := sqlite.Open(filepath.Join(t.TempDir(), "answers.db"))
	if err != nil {
		t.Fatal(err)
	}
	p := newProcess(t, platform, func() (cache.Store, error) { return far, nil }, new(atomic.Int64))
	if err := far.Close(); err != nil {
		t.Fatal(err)
	}
	if got := p.ask("Hello!"); got.status != gateway.CacheMiss || got.text == "" {
		t.Errorf("got %v", got)
	}
}
