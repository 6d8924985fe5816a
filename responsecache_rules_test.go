package gateway_test

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/b650d4bf/gateway"
	"github.com/b650d4bf/gateway/catalog"
	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

// The tests of this file are named by the rules of the response cache, which
// docs/cache.md lists.

func TestCacheRule_3_1_DisabledWhereItIsNotUsed(t *testing.T) {
	k := newCacheKit(t)
	k.ask(gateway.CacheDisabled, says("hello"))
	k.ask(gateway.CacheDisabled, says("hello"))
	k.stream(gateway.CacheDisabled, says("hello"))
	k.asked(3)
}

func TestCacheRule_3_2_TheSameRequestIsAnsweredWithoutTheModel(t *testing.T) {
	k := newCacheKit(t, simple)
	one := k.ask(gateway.CacheMiss, says("hello"))
	two := k.ask(gateway.CacheHit, says("hello"))
	if one.Text() == "" || one.Text() != two.Text() || one.ID != two.ID {
		t.Errorf("%q and %q", one.Text(), two.Text())
	}
	k.ask(gateway.CacheMiss, says("Hello"))
	k.asked(2)
}

func TestCacheRule_3_3_SemanticModeAnswersWhatMeansTheSame(t *testing.T) {
	k := newCacheKit(t, semantic)
	one := k.ask(gateway.CacheMiss, says("[pets] How do I feed my cat?"))
	two := k.ask(gateway.CacheSemanticHit, says("[pets] How can I feed my cat?"))
	if one.Text() != two.Text() {
		t.Errorf("%q and %q", one.Text(), two.Text())
	}
	k.ask(gateway.CacheSemanticHit, says("[pets] How do I feed the cat? "))
	k.ask(gateway.CacheMiss, says("[pets] How could I feed my cat?  "))
	k.ask(gateway.CacheMiss, says("[cars] How do I feed my cat?"))
	t.Run("but not what only sounds the same", func(t *testing.T) {
		k := newCacheKit(t, semantic)
		k.ask(gateway.CacheMiss, says("[pets] How do I feed my cat?"))
		for _, question := range []string{"[pets] How do I feed my dog?", "[pets] How do I not feed my cat?", "[pets] How do I feed my 2 cats?"} {
			k.ask(gateway.CacheMiss, says(question))
		}
	})
	t.Run("and yields plain exact hits, without an embedding", func(t *testing.T) {
		before := k.embeds.Load()
		k.ask(gateway.CacheHit, says("[pets] How do I feed my cat?"))
		k.ask(gateway.CacheHit, says("[pets] How can I feed my cat?"))
		if n := k.embeds.Load() - before; n != 0 {
			t.Errorf("%d texts were embedded", n)
		}
	})
	k.asked(3)
}

func TestCacheRule_3_4_RefreshAppliesToAllSemanticMatches(t *testing.T) {
	k := newCacheKit(t, semantic)
	k.srv.Script(vertextest.Text("old"), vertextest.Text("new"))
	k.ask(gateway.CacheMiss, says("[pets] How do I feed my cat?"))
	k.ask(gateway.CacheSemanticHit, says("[pets] How can I feed my cat?"))
	if got := k.ask(gateway.CacheRefreshed, says("[pets] Please, how do I feed my cat?"), gateway.WithCacheForceRefresh()).Text(); got != "new" {
		t.Errorf("the refresh has %q", got)
	}
	for _, question := range []string{"[pets] How do I feed my cat?", "[pets] How can I feed my cat?"} {
		if got := k.ask(gateway.CacheSemanticHit, says(question)).Text(); got != "new" {
			t.Errorf("after the refresh %q has %q", question, got)
		}
	}
	if got := k.ask(gateway.CacheHit, says("[pets] Please, how do I feed my cat?")).Text(); got != "new" {
		t.Errorf("after the refresh: %q", got)
	}
}

func TestCacheRule_7_3_RefreshWithoutACacheHasNoEffect(t *testing.T) {
	k := newCacheKit(t)
	k.ask(gateway.CacheDisabled, says("hello"), gateway.WithCacheForceRefresh())
	k.posts("disabled", says("hello"), "x-gateway-cache-force-refresh", "true")
}

func TestCacheRule_8_1_Lifetime(t *testing.T) {
	for name, tt := range map[string]struct {
		maxAge, keeps time.Duration
	}{
		"the default is 7 days":    {0, 604800 * time.Second},
		"the least is 60 seconds":  {60 * time.Second, 60 * time.Second},
		"the most is 90 days":      {7776000 * time.Second, 7776000 * time.Second},
		"and what is between them": {time.Hour, time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				k := newCacheKit(t, gateway.WithCache(gateway.Cache{Mode: gateway.CacheSimple, MaxAge: tt.maxAge}))
				k.ask(gateway.CacheMiss, says("hello"))
				time.Sleep(tt.keeps - time.Second)
				k.ask(gateway.CacheHit, says("hello"))
				time.Sleep(time.Second)
				k.ask(gateway.CacheMiss, says("hello"))
			})
		})
	}
	t.Run("others are errors when the config is loaded", func(t *testing.T) {
		for _, age := range []string{"59", "7776001", "0", "-1", "60.5"} {
			_, err := gateway.ParseConfig([]byte(`{"cache":{"mode":"simple","max_age":` + age + `}}`))
			if err == nil || !strings.Contains(err.Error(), "max_age") {
				t.Errorf("max_age %s: %v", age, err)
			}
		}
		for _, age := range []time.Duration{59 * time.Second, 7776001 * time.Second, 61500 * time.Millisecond, -1} {
			if _, err := gateway.New(gateway.WithCache(gateway.Cache{Mode: gateway.CacheSimple, MaxAge: age})); err == nil {
				t.Errorf("a max age of %v was taken", age)
			}
		}
	})
	t.Run("a caller with less patience gets no older answer", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			k := newCacheKit(t, simple)
			k.ask(gateway.CacheMiss, says("hello"))
			time.Sleep(2 * time.Minute)
			k.ask(gateway.CacheMiss, says("hello"), gateway.WithCache(gateway.Cache{Mode: gateway.CacheSimple, MaxAge: time.Minute}))
		})
	})
}

func TestCacheRule_8_2_OrganizationTTL(t *testing.T) {
	for name, tt := range map[string]struct {
		organization, maxAge, keeps time.Duration
	}{
		"8.2.3 is used where no max_age is given": {time.Hour, 0, time.Hour},
		"8.2.4 bounds a greater max_age":          {time.Hour, 2 * time.Hour, time.Hour},
		"8.2.5 lets a smaller max_age be":         {time.Hour, time.Minute, time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				k := newCacheKit(t, gateway.WithOrganizationTTL(tt.organization), gateway.WithCache(gateway.Cache{Mode: gateway.CacheSimple, MaxAge: tt.maxAge}))
				k.ask(gateway.CacheMiss, says("hello"))
				time.Sleep(tt.keeps - time.Second)
				k.ask(gateway.CacheHit, says("hello"))
				time.Sleep(time.Second)
				k.ask(gateway.CacheMiss, says("hello"))
			})
		})
	}
	t.Run("8.2.1 is at most 25923000 seconds", func(t *testing.T) {
		for _, ttl := range []time.Duration{0, -time.Second, 25923001 * time.Second, 1500 * time.Millisecond} {
			if _, err := gateway.New(gateway.WithOrganizationTTL(ttl)); err == nil {
				t.Errorf("%v was taken", ttl)
			}
		}
		if _, err := gateway.New(gateway.WithOrganizationTTL(25923000 * time.Second)); err != nil {
			t.Error(err)
		}
	})
}

func TestCacheRule_8_3_1_FewerThan8191Tokens(t *testing.T) {
	k := newCacheKit(t, semantic)
	long := "[pets] " + strings.Repeat("cats and dogs and mice ", 2000)
	k.ask(gateway.CacheMiss, says(long))
	out := k.ask(gateway.CacheMiss, says(long+"?"))
	if out.Meta.Cache.Semantic == "" || k.embeds.Load() != 0 {
		t.Errorf("%+v, %d embeddings", out.Meta.Cache, k.embeds.Load())
	}
	k.ask(gateway.CacheHit, says(long))
}

func TestCacheRule_8_3_2_AtMostFourMessages(t *testing.T) {
	turns := func(n int, last string) *gateway.ChatCompletionRequest {
		req := &gateway.ChatCompletionRequest{Model: first, Messages: []gateway.Message{gateway.SystemMessage("Be brief.")}}
		for i := 1; i < n-1; i++ {
			if i%2 == 1 {
				req.Messages = append(req.Messages, gateway.UserMessage("[pets] a question"))
			} else {
				req.Messages = append(req.Messages, gateway.AssistantMessage("an answer"))
			}
		}
		req.Messages = append(req.Messages, gateway.UserMessage(last))
		return req
	}
	for n, want := range map[int]gateway.CacheStatus{2: gateway.CacheSemanticHit, 3: gateway.CacheSemanticHit, 4: gateway.CacheSemanticHit, 5: gateway.CacheMiss, 6: gateway.CacheMiss} {
		k := newCacheKit(t, semantic)
		k.ask(gateway.CacheMiss, turns(n, "[pets] How do I feed my cat?"))
		k.ask(want, turns(n, "[pets] How can I feed my cat?"))
		k.ask(gateway.CacheHit, turns(n, "[pets] How do I feed my cat?"))
	}
}

func TestCacheRule_8_3_3_AtLeastTwoMessagesOfWhichTheFirstDoesNotCount(t *testing.T) {
	k := newCacheKit(t, semantic)
	alone := func(question string) *gateway.ChatCompletionRequest {
		return &gateway.ChatCompletionRequest{Model: first, Messages: []gateway.Message{gateway.UserMessage(question)}}
	}
	k.ask(gateway.CacheMiss, alone("[pets] How do I feed my cat?"))
	k.ask(gateway.CacheMiss, alone("[pets] How can I feed my cat?"))
	k.ask(gateway.CacheHit, alone("[pets] How do I feed my cat?"))

	k.ask(gateway.CacheMiss, says("[pets] How do I feed my cat?"))
	other := says("[pets] How do I feed my cat?")
	other.Messages[0] = gateway.SystemMessage("Answer at length.")
	k.ask(gateway.CacheSemanticHit, other)
	t.Run("unless a client wants it", func(t *testing.T) {
		k := newCacheKit(t, semantic, gateway.WithStrictContext(true))
		k.ask(gateway.CacheMiss, says("[pets] How do I feed my cat?"))
		k.ask(gateway.CacheMiss, other)
		k.ask(gateway.CacheSemanticHit, says("[pets] How can I feed my cat?"))
	})
}

func TestCacheRule_8_4_1_BothModesAreAvailable(t *testing.T) {
	for _, mode := range []string{"simple", "semantic"} {
		k := newCacheKit(t, gateway.WithConfig(configOf(t, `{"cache":{"mode":%q}}`, mode)))
		k.ask(gateway.CacheMiss, says("hello"))
		k.ask(gateway.CacheHit, says("hello"))
	}
}

func TestCacheRule_8_4_2_SimpleModeMatchesVerbatimOnAllModels(t *testing.T) {
	for _, model := range []string{first, second, third, "meta/llama-4-maverick-17b-128e-instruct-maas"} {
		t.Run(model, func(t *testing.T) {
			k := newCacheKit(t, simple)
			req := says("hello")
			req.Model = model
			k.ask(gateway.CacheMiss, req)
			k.ask(gateway.CacheHit, req)
			k.stream(gateway.CacheHit, req)
			k.asked(1)
		})
	}
	t.Run("image generation", func(t *testing.T) {
		k := newCacheKit(t, simple, gateway.WithStrictCompliance(false))
		req := says("draw a cat")
		req.Model, req.Modalities = "gemini-2.5-flash-image", []string{"text", "image"}
		one, two := k.ask(gateway.CacheMiss, req), k.ask(gateway.CacheHit, req)
		sameAnswer(t, one, two)
		sameAnswer(t, one, k.stream(gateway.CacheHit, req))
	})
	t.Run("the images service", func(t *testing.T) {
		k := newCacheKit(t, simple)
		for _, want := range []gateway.CacheStatus{gateway.CacheMiss, gateway.CacheHit} {
			drawn, err := k.client.Images.Generate(t.Context(), &gateway.ImageRequest{Model: "imagen-4.0-generate-001", Prompt: "a red kite"}, gateway.WithRegion("us-central1"))
			if err != nil {
				t.Fatal(err)
			}
			if drawn.Meta.CacheStatus != want || len(drawn.Data) != 1 || drawn.Data[0].B64JSON == "" {
				t.Errorf("%s, %d images", drawn.Meta.CacheStatus, len(drawn.Data))
			}
		}
		k.asked(1)
	})
	t.Run("embeddings, in both modes", func(t *testing.T) {
		for _, cache := range []gateway.Option{simple, semantic} {
			k := newCacheKit(t, cache)
			for _, want := range []gateway.CacheStatus{gateway.CacheMiss, gateway.CacheHit} {
				out, err := k.client.Embeddings.Create(t.Context(), &gateway.EmbeddingRequest{Model: "text-embedding-005", Input: gateway.EmbeddingText("hello")})
				if err != nil {
					t.Fatal(err)
				}
				if out.Meta.CacheStatus != want || len(out.Data) != 1 || len(out.Data[0].Embedding) == 0 {
					t.Errorf("%s, %d vectors", out.Meta.CacheStatus, len(out.Data))
				}
			}
			k.asked(1)
		}
	})
}

func TestCacheRule_8_4_3_DebugFalseKeepsACallOut(t *testing.T) {
	k := newCacheKit(t, simple)
	k.ask(gateway.CacheDisabled, says("hello"), gateway.WithDebug(false))
	k.ask(gateway.CacheMiss, says("hello"))
	k.ask(gateway.CacheDisabled, says("hello"), gateway.WithDebug(false))
	k.ask(gateway.CacheHit, says("hello"), gateway.WithDebug(true))
	k.posts("disabled", says("hello"), "x-gateway-debug", "false")
	k.posts("hit", says("hello"), "x-gateway-debug", "true")
}

func TestCacheRule_8_4_4_PartitionedAlongTheHeaders(t *testing.T) {
	for name, header := range map[string][2]string{
		"metadata":          {"x-gateway-metadata", `{"team":"search"}`},
		"compliance":        {"x-gateway-strict-compliance", "false"},
		"beta features":     {"anthropic-beta", "a-feature"},
		"forwarded headers": {"x-gateway-forward-headers", "x-tenant"},
	} {
		t.Run(name, func(t *testing.T) {
			k := newCacheKit(t, simple)
			more := []string{header[0], header[1], "x-tenant", "one"}
			k.posts("miss", says("hello"))
			k.posts("miss", says("hello"), more...)
			k.posts("hit", says("hello"), more...)
			k.posts("hit", says("hello"))
			ns := []string{"x-gateway-cache-namespace", "shared"}
			k.posts("miss", says("hello"), ns...)
			k.posts("hit", says("hello"), append(ns, more...)...) // by the namespace alone
			k.posts("miss", says("hello"), "x-gateway-cache-namespace", "other")
		})
	}
	t.Run("the config's id", func(t *testing.T) {
		list, err := catalog.Parse([]byte(`{"configs":{"a":{"cache":{"mode":"simple"}},"b":{"cache":{"mode":"simple"}}}}`))
		if err != nil {
			t.Fatal(err)
		}
		k := newCacheKit(t, gateway.WithCatalog(list))
		k.posts("miss", says("hello"), "x-gateway-config", "a")
		k.posts("miss", says("hello"), "x-gateway-config", "b")
		k.posts("hit", says("hello"), "x-gateway-config", "a")
	})
	t.Run("not the ids of traces and requests, nor time limits", func(t *testing.T) {
		k := newCacheKit(t, simple)
		k.posts("miss", says("hello"), "traceparent", "00-1", "x-gateway-trace-id", "a", "x-gateway-request-timeout", "5000")
		k.posts("hit", says("hello"), "traceparent", "00-2", "x-gateway-trace-id", "b", "x-gateway-forward-headers", "traceparent")
	})
	t.Run("options of a program do the same", func(t *testing.T) {
		k := newCacheKit(t, simple)
		k.ask(gateway.CacheMiss, says("hello"), gateway.WithMetadata(map[string]string{"team": "a"}))
		k.ask(gateway.CacheMiss, says("hello"), gateway.WithMetadata(map[string]string{"team": "b"}))
		k.ask(gateway.CacheMiss, says("hello"), gateway.WithMetadata(map[string]string{"team": "a"}), gateway.WithCacheNamespace("n"))
		k.ask(gateway.CacheHit, says("hello"), gateway.WithMetadata(map[string]string{"team": "b"}), gateway.WithCacheNamespace("n"))
	})
}

func TestCacheRule_8_4_4_KeysAndTokensOfHTTPClientsNeverShare(t *testing.T) {
	k := newCacheKit(t, simple)
	h := k.client.Handler(gateway.WithAPIKeys("key-a", "key-b"))
	for _, ns := range []string{"", "shared"} {
		header := []string{}
		if ns != "" {
			header = append(header, "x-gateway-cache-namespace", ns)
		}
		for _, step := range []struct{ key, want string }{{"key-a", "miss"}, {"key-b", "miss"}, {"key-a", "hit"}, {"key-b", "hit"}} {
			if got, _ := postJSON(t, h, says("hello"), append(header, "x-gateway-api-key", step.key)...); got != step.want {
				t.Errorf("namespace %q, %s: %s, want %s", ns, step.key, got, step.want)
			}
		}
		if got, _ := postJSON(t, h, says("hello"), append(header, "Authorization", "Bearer key-a")...); got != "hit" {
			t.Errorf("the same key in another header: %s", got)
		}
	}
	t.Run("tokens that clients bring", func(t *testing.T) {
		srv := vertextest.New()
		t.Cleanup(srv.Close)
		client, err := gateway.New(gateway.WithProjectID("p"), gateway.WithRegion("global"), gateway.WithHTTPClient(&http.Client{Transport: srv.Transport()}), simple)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = client.Close() })
		for _, step := range []struct{ token, want string }{{"token-a", "miss"}, {"token-b", "miss"}, {"token-a", "hit"}} {
			got, _ := postJSON(t, client.Handler(), says("hello"), "Authorization", "Bearer "+step.token, "x-gateway-cache-namespace", "shared")
			if got != step.want {
				t.Errorf("%s: %s, want %s", step.token, got, step.want)
			}
		}
	})
}

func TestCacheRule_8_4_5_TargetOverTopLevel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newCacheKit(t, gateway.WithConfig(configOf(t, `{"cache":{"mode":"semantic","max_age":3600},"targets":[{"cache":{"mode":"simple","max_age":60}}]}`)))
		k.ask(gateway.CacheMiss, says("[pets] How do I feed my cat?"))
		k.ask(gateway.CacheMiss, says("[pets] How can I feed my cat?"))
		k.ask(gateway.CacheHit, says("[pets] How do I feed my cat?"))
		time.Sleep(time.Minute)
		k.ask(gateway.CacheMiss, says("[pets] How do I feed my cat?"))
	})
	t.Run("the top level is for all targets, and the config's over the client's", func(t *testing.T) {
		k := newCacheKit(t, semantic, gateway.WithConfig(configOf(t, `{"cache":{"mode":"simple"},"targets":[{}]}`)))
		k.ask(gateway.CacheMiss, says("[pets] How do I feed my cat?"))
		k.ask(gateway.CacheMiss, says("[pets] How can I feed my cat?"))
		k.ask(gateway.CacheSemanticHit, says("[cars] How do I wash my car?"), semantic, gateway.WithCacheNamespace(k.primed("[cars] How can I wash my car?")))
	})
	t.Run("hits start with the second request for that target", func(t *testing.T) {
		k := newCacheKit(t, gateway.WithConfig(configOf(t, `{"strategy":{"mode":"fallback"},"targets":[`+
			`{"override_params":{"model":%q},"cache":{"mode":"simple"}},{"override_params":{"model":%q},"cache":{"mode":"simple"}}]}`, first, second)))
		k.srv.ScriptFor(first, vertextest.Error(500, "INTERNAL", "x"), vertextest.Text("from the first"))
		k.ask(gateway.CacheMiss, says("hello"))
		if got := k.ask(gateway.CacheMiss, says("hello")).Text(); got != "from the first" {
			t.Errorf("the first target was not asked: %q", got)
		}
		k.ask(gateway.CacheHit, says("hello"))
	})
}

// primed asks in the semantic mode in a namespace, whose name it returns.
func (k *cacheKit) primed(question string) string {
	k.t.Helper()
	k.ask(gateway.CacheMiss, says(question), semantic, gateway.WithCacheNamespace("primed"))
	return "primed"
}

func TestCacheRule_8_4_6_ATargetWithOverrideParamsHitsForThatCombination(t *testing.T) {
	k := newCacheKit(t)
	hot := gateway.WithConfig(configOf(t, `{"cache":{"mode":"simple"},"targets":[{"override_params":{"temperature":1.5}}]}`))
	plain := gateway.WithConfig(configOf(t, `{"cache":{"mode":"simple"},"targets":[{}]}`))
	k.ask(gateway.CacheMiss, says("hello"), plain)
	k.ask(gateway.CacheMiss, says("hello"), hot) // the combination is not kept yet
	k.ask(gateway.CacheHit, says("hello"), hot)
	k.ask(gateway.CacheHit, says("hello"), plain)
	t.Run("which another way to it hits too", func(*testing.T) {
		req := says("hello")
		req.Temperature = new(1.5)
		k.ask(gateway.CacheHit, req, plain)
	})
}

func TestCacheRule_8_4_7_RefreshIsForASingleRequest(t *testing.T) {
	k := newCacheKit(t, simple)
	k.srv.Script(vertextest.Text("old"), vertextest.Text("new"), vertextest.Text("newer"))
	k.ask(gateway.CacheMiss, says("hello"))
	k.ask(gateway.CacheRefreshed, says("hello"), gateway.WithCacheForceRefresh())
	if got := k.ask(gateway.CacheHit, says("hello")).Text(); got != "new" {
		t.Errorf("after the refresh: %q", got)
	}
	k.posts("refreshed", says("hello"), "x-gateway-cache-force-refresh", "true")
	k.posts("hit", says("hello"), "x-gateway-cache-force-refresh", "false")
	for _, text := range []string{`{"cache":{"mode":"simple","force_refresh":true}}`, `{"force_refresh":true}`} {
		if _, err := gateway.ParseConfig([]byte(text)); err == nil {
			t.Errorf("the config %s was taken", text)
		}
	}
	t.Run("one that fails leaves the old answer", func(t *testing.T) {
		k.srv.Script(vertextest.Error(500, "INTERNAL", "x"))
		if _, err := k.client.Chat.Completions.Create(t.Context(), says("hello"), gateway.WithCacheForceRefresh()); err == nil {
			t.Fatal("no error")
		}
		k.ask(gateway.CacheHit, says("hello"))
	})
}
