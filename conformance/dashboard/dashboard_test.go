// Package dashboard_test opens the dashboard in a headless Chromium, over a gateway
// with a log, behind which stands the emulator of the platform. The tests themselves
// are the files *.test.mjs.
//
// They need Chromium, Node.js and the packages that "npm ci" brings. Without those the
// test is skipped, unless GATEWAY_TEST_BROWSER is set.
//
//	GATEWAY_CHROMIUM  the program, in place of chromium
//	GATEWAY_SHOTS     the directory for pictures, in place of a temporary one
package dashboard_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/b650d4bf/gateway"
	"github.com/b650d4bf/gateway/cache"
	"github.com/b650d4bf/gateway/catalog"
	"github.com/b650d4bf/gateway/logs"
	"github.com/b650d4bf/gateway/prices"
	"github.com/b650d4bf/gateway/providers"
	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

const (
	apiKey    = "gateway-key"
	clientKey = "client-key" // sees its own calls, or none where there are others
	prefix    = "/ops/board" // anywhere will do

	limit = 8 * time.Minute // of all tests in Node.js
)

func TestDashboard(t *testing.T) {
	node, chromium := find(t)
	files, err := filepath.Glob("*.test.mjs")
	if err != nil || len(files) == 0 {
		t.Fatalf("there are no tests: %v", err)
	}
	shots := os.Getenv("GATEWAY_SHOTS")
	if shots == "" {
		shots = t.TempDir()
	}
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	full, bare := serve(t, true), serve(t, false)
	run := exec.CommandContext(ctx, node, append([]string{"--test", "--test-concurrency=1", "--test-reporter=spec"}, files...)...)
	run.Env = append(os.Environ(), "GATEWAY_URL="+full, "GATEWAY_BARE_URL="+bare, "GATEWAY_PREFIX="+prefix, "GATEWAY_KEY="+apiKey, "GATEWAY_CLIENT_KEY="+clientKey,
		"GATEWAY_CHROMIUM="+chromium, "GATEWAY_SHOTS="+shots)
	out, err := run.CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Error(err)
	}
}

// find returns the programs, or skips the test where one or the packages lack.
func find(t *testing.T) (node, chromium string) {
	t.Helper()
	node, err := exec.LookPath("node")
	if err == nil {
		chromium = os.Getenv("GATEWAY_CHROMIUM")
		if chromium == "" {
			chromium = "chromium"
		}
		chromium, err = exec.LookPath(chromium)
	}
	if err == nil {
		_, err = os.Stat(filepath.FromSlash("node_modules/playwright-core"))
	}
	switch {
	case err == nil:
		return node, chromium
	case os.Getenv("GATEWAY_TEST_BROWSER") != "":
		t.Fatal(err)
	}
	t.Skipf("Chromium and Node.js with the packages are not here, run npm ci: %v", err)
	return "", ""
}

// serve returns the address of a gateway, with a log full of history or with none.
func serve(t *testing.T, full bool) string {
	t.Helper()
	platform := vertextest.New(vertextest.WithoutAuth())
	t.Cleanup(platform.Close)
	base, err := platform.Start()
	if err != nil {
		t.Fatal(err)
	}
	text := `{}`
	if full {
		text = catalogOf(base)
	}
	cat, err := catalog.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	kept, err := cache.NewMemory(cache.MemoryConfig{MaxBytes: 16 << 20})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = kept.Close() })
	opts := []gateway.ClientOption{gateway.WithCatalog(cat), gateway.WithCacheStore(kept), gateway.WithStrictCompliance(false)}
	if full {
		store := logs.NewMemory(50_000)
		if err := store.Write(t.Context(), history(time.Now())); err != nil {
			t.Fatal(err)
		}
		log, err := logs.New(logs.Options{Store: store, Content: true, Prices: perToken{}, ErrorMessages: true, FlushInterval: 50 * time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = log.Close(context.Background()) })
		opts = append(opts, gateway.WithLog(log))
	}
	client, err := gateway.New(opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	mux := http.NewServeMux()
	keys := []gateway.HandlerOption{gateway.WithAPIKeys(clientKey), gateway.WithAdminKeys(apiKey)}
	mux.Handle("/v1/", client.Handler(keys...))
	mux.Handle(prefix+"/", http.StripPrefix(prefix, client.Dashboard(keys...)))
	mux.Handle("/own/", http.StripPrefix("/own", client.Dashboard(gateway.WithAPIKeys(clientKey))))
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL
}

// perToken prices every call but those of embeddings, by its tokens.
type perToken struct{}

func (perToken) Record(r *providers.Record) (cost, saved *prices.Amount) {
	if r.Usage == nil || r.Operation == "embeddings" {
		return nil, nil
	}
	sum := prices.Amount(r.Usage.PromptTokens*300 + r.Usage.CompletionTokens*2500)
	if r.Meta.CacheStatus == providers.CacheHit || r.Meta.CacheStatus == providers.CacheSemanticHit {
		return new(prices.Amount), &sum
	}
	return &sum, nil
}

func catalogOf(base string) string {
	entry := `"provider":"vertex-ai","project_id":"acme-prod","auth":"none","base_url":"` + base + `"`
	return `{"providers":{
		"vx":{` + entry + `,"region":"global","headers":{"X-Team":"CANARY-HEADER"}},
		"eu":{` + entry + `,"region":"europe-west4"},
		"oa":{"provider":"openai","api_key":"CANARY-KEY","base_url":"https://proxy.example/CANARY-PATH"}},
	"configs":{
		"cached":{"provider":"@vx","cache":{"mode":"simple","max_age":3600}},
		"fallback":{"strategy":{"mode":"fallback"},"targets":[
			{"name":"new","provider":"@eu","override_params":{"model":"gemini-9-none"}},{"name":"safe","provider":"@vx","override_params":{"user":"CANARY-PARAM"}}]}},
	"prompts":{"welcome":{"description":"Answers a customer.","default":1,"labels":{"production":1,"staging":2},"versions":{
		"1":{"request":{"model":"@vx/gemini-2.5-flash","messages":[{"role":"system","content":"You work for {{company}}."},{"role":"user","content":"{{question}}"}]}},
		"2":{"description":"with facts","request":{"model":"@vx/gemini-2.5-pro","messages":[{"role":"user","content":"<img src=x onerror=window.hacked=1> {{question}}"}]}}}}}}`
}
