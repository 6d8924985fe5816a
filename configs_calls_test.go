package gateway_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway"
	"github.com/b650d4bf/gateway/catalog"
	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

func parsed(t *testing.T, text string) *gateway.Config {
	t.Helper()
	c, err := gateway.ParseConfig([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestConfigOfACall has which config counts: the call's, else the client's.
func TestConfigOfACall(t *testing.T) {
	own := vendorsWith(`,"configs":{"one":` + to(first) + `,"two":` + to(second) + `}`)
	by := func(opts ...gateway.RequestOption) []call { return []call{{opts: opts}} }
	three := parsed(t, to(third))
	runScenarios(t, []scenario{
		{name: "the client's by id", catalog: own, client: []gateway.ClientOption{gateway.WithConfigID("two")},
			asked: "second@0s", saw: "hello@0s; - ok"},
		{name: "the call's by id", catalog: own, calls: by(gateway.WithConfigID("two")),
			asked: "second@0s", saw: "hello@0s; - ok"},
		{name: "the call's by id over the client's", catalog: own, client: []gateway.ClientOption{gateway.WithConfigID("one")}, calls: by(gateway.WithConfigID("two")),
			asked: "second@0s", saw: "hello@0s; - ok"},
		{name: "the call's own over the client's by id", catalog: own, client: []gateway.ClientOption{gateway.WithConfigID("one")}, calls: by(gateway.WithConfig(three)),
			asked: "third@0s", saw: "hello@0s; - ok"},
		{name: "the call's by id over the client's own", catalog: own, config: to(first), calls: by(gateway.WithConfigID("two")),
			asked: "second@0s", saw: "hello@0s; - ok"},
		{name: "the last of two options", catalog: own, calls: by(gateway.WithConfigID("one"), gateway.WithConfig(three)),
			asked: "third@0s", saw: "hello@0s; - ok"},
		{name: "an id that nobody has", catalog: own, calls: by(gateway.WithConfigID("three")),
			asked: "", saw: "!invalid_config@0s"},
		{name: "an id without a catalog", calls: by(gateway.WithConfigID("one")),
			asked: "", saw: "!invalid_config@0s"},
		{name: "a config without members", config: `{}`,
			asked: "first@0s", saw: "hello@0s; - ok"},
	})
}

// TestConfigsAreReadAgain swaps the catalog below a client.
func TestConfigsAreReadAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "catalog.json")
	write := func(model string) {
		if err := os.WriteFile(path, []byte(vendorsWith(`,"configs":{"main":`+to(model)+`}`)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(first)
	list, err := catalog.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	s := scenario{client: []gateway.ClientOption{gateway.WithCatalog(list), gateway.WithConfigID("main")}}
	client, srv := s.open(t)
	for _, model := range []string{first, second, first} {
		write(model)
		if err := list.Reload(); err != nil {
			t.Fatal(err)
		}
		if r := new(call).run(t, client, false); r.err != nil {
			t.Fatal(r.err)
		}
		all := srv.Requests()
		if got := all[len(all)-1].Model; got != model {
			t.Errorf("%s was asked, want %s", got, model)
		}
	}
}

// TestConfigStatuses has the words for retries, fallbacks and load balancing, in
// the answer, for observers and in the log.
func TestConfigStatuses(t *testing.T) {
	busy := vertextest.Overloaded()
	for _, tt := range []struct {
		name, config string
		script       map[string][]vertextest.Reply
		want         []string // retry, fallback, load balancing
	}{
		{"no config", "", nil, []string{"Not Triggered", "Disabled", "Disabled"}},
		{"one target", to(first), nil, []string{"Not Triggered", "Disabled", "Disabled"}},
		{"retries that were not needed", again(first, 2), nil, []string{"Not Triggered", "Disabled", "Disabled"}},
		{"retries that helped", again(first, 2), script(first, busy, busy), []string{"Success on 3 tries", "Disabled", "Disabled"}},
		{"retries that did not help", again(first, 1), script(first, busy, busy), []string{"Failed", "Disabled", "Disabled"}},
		{"a fallback that was not needed", fallback(to(first), to(second)), nil, []string{"Not Triggered", "Active", "Disabled"}},
		{"a fallback of one", fallback(to(first)), nil, []string{"Not Triggered", "Disabled", "Disabled"}},
		{"retries that did not help, and a fallback that did", fallback(again(first, 1), to(second)), script(first, busy, busy), []string{"Failed", "Active", "Disabled"}},
		{"retries of the second target", fallback(to(first), again(second, 1)), scripts(script(first, busy), script(second, busy)), []string{"Success on 2 tries", "Active", "Disabled"}},
		{"a load balancer", balance("", to(first), to(second)), nil, []string{"Not Triggered", "Disabled", "Active"}},
		{"a load balancer within a fallback", fallback(balance("", to(first), to(second)), to(third)), nil, []string{"Not Triggered", "Active", "Active"}},
		{"a fallback that the way did not lead through", conditional(when(`{"metadata.x":"y"}`, "b"), "a", to(first, `"name":"a"`),
			`{"name":"b","strategy":{"mode":"fallback"},"targets":[`+to(second)+`,`+to(third)+`]}`), nil, []string{"Not Triggered", "Disabled", "Disabled"}},
	} {
		for _, stream := range []bool{false, true} {
			t.Run(tt.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					core, logs := observer.New(zap.InfoLevel)
					var seen watcher
					s := scenario{config: tt.config, script: tt.script, client: []gateway.ClientOption{gateway.WithLogger(zap.New(core)), gateway.WithObserver(&seen)}}
					client, _ := s.open(t)
					r := new(call).run(t, client, stream)
					if m := &seen.ends[0].Meta; r.err == nil {
						if d := gocmp.Diff(r.answer.Meta, *m); d != "" {
							t.Errorf("the answer's, and the observers'\n%s", d)
						}
					}
					m := &seen.ends[0].Meta
					if d := gocmp.Diff(tt.want, []string{m.Retry.String(), m.Fallback.String(), m.LoadBalance.String()}); d != "" {
						t.Errorf("(-want +got)\n%s", d)
					}
					fields := logs.All()[0].ContextMap()
					if d := gocmp.Diff(tt.want, []string{
						fields["retry_status"].(string), fields["fallback_status"].(string), fields["loadbalance_status"].(string),
					}); d != "" {
						t.Errorf("in the log (-want +got)\n%s", d)
					}
				})
			})
		}
	}
}

// TestConfigOtherCalls has the calls beside chat completions that take the way of
// a config.
func TestConfigOtherCalls(t *testing.T) {
	pair := fallback(to("gemini-embedding-0"), to("gemini-embedding-001"))
	texts := fallback(to("gemini-9-none"), to(second))
	hello := []gateway.Message{gateway.UserMessage("Hello")}
	shelf := &shelf{request: &gateway.ChatCompletionRequest{Model: first}}
	for _, tt := range []struct {
		name, config string
		do           func(*gateway.Client) (gateway.Meta, error)
		want         []string // models of the requests
	}{
		{"embeddings", pair, func(c *gateway.Client) (gateway.Meta, error) {
			r, err := c.Embeddings.Create(t.Context(), &gateway.EmbeddingRequest{Model: "x", Input: gateway.EmbeddingText("Hello")})
			if err != nil {
				return gateway.Meta{}, err
			}
			return r.Meta, nil
		}, []string{"gemini-embedding-0", "gemini-embedding-001"}},
		{"a count of tokens", texts, func(c *gateway.Client) (gateway.Meta, error) {
			r, err := c.Chat.Completions.CountTokens(t.Context(), &gateway.ChatCompletionRequest{Model: first, Messages: hello})
			if err != nil {
				return gateway.Meta{}, err
			}
			return r.Meta, nil
		}, []string{"gemini-9-none", second}},
		{"a stored prompt", texts, func(c *gateway.Client) (gateway.Meta, error) {
			r, err := c.Prompts.Completions.Create(t.Context(), welcome())
			if err != nil {
				return gateway.Meta{}, err
			}
			if r.Meta.Prompt != "welcome" {
				t.Errorf("the prompt is %q", r.Meta.Prompt)
			}
			return r.Meta, nil
		}, []string{"gemini-9-none", second}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var seen watcher
			s := scenario{config: `{"cache":{"mode":"simple"},` + tt.config[1:], client: []gateway.ClientOption{gateway.WithPrompts(shelf), gateway.WithObserver(&seen)}}
			client, srv := s.open(t)
			meta, err := tt.do(client)
			if err != nil {
				t.Fatal(err)
			}
			var asked []string
			for _, r := range srv.Requests() {
				asked = append(asked, r.Model)
			}
			if d := gocmp.Diff(tt.want, asked); d != "" {
				t.Errorf("asked (-want +got)\n%s", d)
			}
			if len(meta.Attempts) != 2 || meta.Model != tt.want[1] || !bool(meta.Fallback) {
				t.Errorf("%+v", meta)
			}
			if want := map[bool]gateway.CacheStatus{true: gateway.CacheDisabled, false: gateway.CacheMiss}[tt.name == "a count of tokens"]; meta.CacheStatus != want {
				t.Errorf("the cache status is %s", meta.CacheStatus)
			}
			if d := gocmp.Diff(meta, seen.ends[0].Meta); d != "" {
				t.Errorf("the answer's, and the observers'\n%s", d)
			}
		})
	}
}

// TestConfigErrorsKeepTheirTrail sees to it that an error of a count tells of all
// targets, and of none that was not asked.
func TestConfigErrorsKeepTheirTrail(t *testing.T) {
	s := scenario{config: fallback(to("gemini-8-none"), to("gemini-9-none"))}
	client, _ := s.open(t)
	_, err := client.Chat.Completions.CountTokens(t.Context(), &gateway.ChatCompletionRequest{Model: first, Messages: []gateway.Message{gateway.UserMessage("Hello")}})
	e, ok := errors.AsType[*gateway.Error](err)
	if !ok || len(e.Attempts) != 2 || e.Attempts[1].Model != "gemini-9-none" || !errors.Is(err, gateway.ErrModelNotFound) {
		t.Errorf("%#v", err)
	}
}
