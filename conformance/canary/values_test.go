package canary_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/zap"

	"github.com/b650d4bf/gateway"
	"github.com/b650d4bf/gateway/cache"
	"github.com/b650d4bf/gateway/cache/sqlite"
	"github.com/b650d4bf/gateway/catalog"
	"github.com/b650d4bf/gateway/logs"
	gatewayotel "github.com/b650d4bf/gateway/otel"
)

// TestValuesThatCallersPrint prints what callers have at hand, after calls. A request
// and an answer show what they hold; no value shows a credential.
func TestValuesThatCallersPrint(t *testing.T) {
	f := newFlock(t, t.Name())
	memory := logs.NewMemory(0)
	log, err := logs.New(logs.Options{Store: memory, Content: true})
	if err != nil {
		t.Fatal(err)
	}
	file, err := sqlite.Open(filepath.Join(t.TempDir(), "answers.db"))
	if err != nil {
		t.Fatal(err)
	}
	sealed, err := cache.NewSealed(file, []byte(f.secret("sealing key")+"01234567"))
	if err != nil {
		t.Fatal(err)
	}
	near, err := cache.NewMemory(cache.MemoryConfig{})
	if err != nil {
		t.Fatal(err)
	}
	tiered, err := cache.NewTiered(near, sealed, cache.TieredConfig{})
	if err != nil {
		t.Fatal(err)
	}
	observer, err := gatewayotel.New(gatewayotel.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s := sceneOf(t, f, gateway.WithLog(log), gateway.WithCacheStore(tiered), gateway.WithCache(gateway.Cache{Mode: gateway.CacheSimple}), gateway.WithObserver(observer))
	s.script()
	answers, errs := s.ask(t.Context(), t)
	if err := failed(errs); err != nil {
		t.Fatal(err)
	}
	s.sendAll(t)
	view, err := s.client.With(gateway.WithAccessToken(f.secret("access token of a view")))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := view.Chat.Completions.Create(t.Context(), &gateway.ChatCompletionRequest{
		Model: "gemini-2.5-flash", Messages: []gateway.Message{gateway.UserMessage(s.text("prompt"))},
	}); err != nil {
		t.Fatal(err)
	}
	cat, err := catalog.Parse([]byte(s.catalog(t)))
	if err != nil {
		t.Fatal(err)
	}
	entry, err := cat.Lookup("server")
	if err != nil {
		t.Fatal(err)
	}
	config, err := cat.Config("main")
	if err != nil {
		t.Fatal(err)
	}
	keys := []gateway.HandlerOption{gateway.WithAPIKeys(f.secret("API key of the front")), gateway.WithAdminKeys(f.secret("admin key"))}
	values := map[string]any{
		"client": s.client, "view": view, "services": []any{s.client.Chat, s.client.Messages, s.client.Prompts, s.client.ResponseCache, s.client.Batches},
		"holder of a client": struct{ C gateway.Client }{*s.client}, "options of a client": []gateway.ClientOption{
			gateway.WithAccessToken(f.secret("access token")), gateway.WithHeader("X-Own", f.secret("header of the client")), gateway.WithCatalog(cat),
			gateway.WithCredentialsJSON(gateway.ServiceAccount, []byte(accountJSON(t, f))), gateway.WithCacheStore(sealed)},
		"options of a call": []gateway.RequestOption{gateway.WithAccessToken(f.secret("access token"))}, "options of a handler": keys,
		"handler": s.client.Handler(keys...), "dashboard": s.client.Dashboard(keys...), "round tripper": s.client.RoundTripper(keys...),
		"catalog": cat, "entry": entry, "entries": []catalog.Entry{entry}, "config": config, "sealed": sealed, "tiered": tiered, "memory": near, "file": file,
		"log": log, "memory of records": memory, "observer": observer, "answers": answers, "stats": []any{log.Stats(), s.client.SignatureStats(), near.Stats(), sealed.Stats()},
	}
	for name, v := range values {
		t.Run(name, func(t *testing.T) {
			text := printed(v)
			s.refuse(t, name, text, credential)
			hidden := []kind{credential, content}
			if name == "answers" {
				s.want(t, name, text, "answer")
				hidden = hidden[:1]
			}
			if name == "config" || name == "catalog" || name == "memory" {
				hidden = hidden[:1] // a config shows what its params set, a cache its answers
			}
			s.refuse(t, "a logger's view of "+name, text+fmt.Sprint(zap.Any("v", v)), hidden...)
			for _, plain := range []any{v, struct{ Secret, Other any }{s.secret("access token"), v}} {
				if _, bare := plain.(struct{ Secret, Other any }); bare {
					s.want(t, "a struct that is not guarded", printed(plain), "access token")
				}
			}
		})
	}
	// Who wants the value gets it, so that it was there.
	s.want(t, "the revealed entry", entry.APIKey.Reveal(), "key of @server")
	s.want(t, "the platform", s.flock.seen(), "access token", "prompt")
	if !strings.Contains(fmt.Sprintf("%v", entry), "[redacted]") {
		t.Error("an entry does not say that it holds something")
	}
}
