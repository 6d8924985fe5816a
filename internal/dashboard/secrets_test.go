package dashboard

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/catalog"
)

// secrets is a catalog that has CANARY wherever a secret can be.
const secrets = `{
  "providers": {
    "key": {"provider": "openai", "api_key": "CANARY-1", "base_url": "https://proxy.example/CANARY-2/v1", "headers": {"X-Team": "CANARY-3"}},
    "token": {"provider": "vertex-ai", "project_id": "acme", "region": "global", "access_token": "CANARY-4", "bucket": "gs://acme/files", "storage_url": "https://store.example/CANARY-5"},
    "file": {"provider": "vertex-ai", "service_account_file": "/secrets/CANARY-6.json"},
    "none": {"provider": "vertex-ai", "auth": "none"},
    "default": {"provider": "vertex-ai", "auth": "application_default"},
    "later": {"provider": "vertex-ai"}
  },
  "configs": {
    "main": {
      "custom_host": "https://host.example/CANARY-7", "retry": {"attempts": 2}, "forward_headers": ["x-trace"],
      "override_params": {"model": "gemini-2.5-flash", "temperature": 0.5, "user": "CANARY-8", "labels": {"team": "CANARY-9"}},
      "default_params": {"metadata": {"a": "CANARY-10"}},
      "strategy": {"mode": "conditional", "default": "b", "conditions": [
        {"query": {"$and": [{"params.model": {"$in": ["gemini-2.5-pro"]}}, {"metadata.token": {"$eq": "CANARY-11"}}]}, "then": "a"},
        {"query": {"headers.x-tenant": "CANARY-12"}, "then": "b"}]},
      "targets": [{"name": "a", "provider": "@key", "override_params": {"stop": "CANARY-13"}}, {"name": "b", "provider": "@token", "cache": {"mode": "simple"}}]
    }
  },
  "prompts": {"hi": {"description": "greets", "default": 1, "labels": {"live": 2}, "versions": {
    "1": {"request": {"model": "m", "user": "CANARY-14", "messages": [{"role": "user", "content": "Hello {{name}}"}]}},
    "2": {"description": "longer", "request": {"model": "m2", "tools": [{"type": "function", "function": {"name": "CANARY-15"}}],
      "messages": [{"role": "system", "content": [{"type": "text", "text": "Be kind."}, {"type": "image_url", "image_url": {"url": "https://CANARY-16"}}]}, {"placeholder": "history"}]}}
  }}}
}`

func TestNothingSecretIsShown(t *testing.T) {
	cat, err := catalog.Parse([]byte(secrets))
	if err != nil {
		t.Fatal(err)
	}
	h := New(Config{Admit: admit, Catalog: cat})
	shown := func(path string) string {
		res := ask(t, h, "GET", path, "X-Gateway-Api-Key", key)
		got := text(t, res)
		if res.StatusCode != 200 || strings.Contains(got, "CANARY") || strings.Contains(got, "redacted") {
			t.Errorf("%s: %d %s", path, res.StatusCode, got)
		}
		return got
	}
	tests := []struct{ path, want string }{
		{"/api/catalog", `{"entries": [
			{"slug": "default", "provider": "vertex-ai", "credentials": "application default"},
			{"slug": "file", "provider": "vertex-ai", "credentials": "service account, from a file"},
			{"slug": "key", "provider": "openai", "base_url": "https://proxy.example", "headers": ["X-Team"], "credentials": "API key"},
			{"slug": "later", "provider": "vertex-ai", "credentials": "those of the client or the request"},
			{"slug": "none", "provider": "vertex-ai", "credentials": "none"},
			{"slug": "token", "provider": "vertex-ai", "project_id": "acme", "region": "global", "bucket": "gs://acme/files", "storage_url": "https://store.example", "credentials": "access token"}],
		"configs": [{"id": "main", "config": {
			"custom_host": "https://host.example", "retry": {"attempts": 2}, "forward_headers": ["x-trace"],
			"override_params": {"model": "gemini-2.5-flash", "temperature": 0.5, "user": "[hidden]", "labels": "[hidden]"},
			"default_params": {"metadata": "[hidden]"},
			"strategy": {"mode": "conditional", "default": "b", "conditions": [
				{"query": {"$and": [{"params.model": {"$in": ["gemini-2.5-pro"]}}, {"metadata.token": {"$eq": "[hidden]"}}]}, "then": "a"},
				{"query": {"headers.x-tenant": "[hidden]"}, "then": "b"}]},
			"targets": [{"name": "a", "provider": "@key", "override_params": {"stop": "[hidden]"}}, {"name": "b", "provider": "@token", "cache": {"mode": "simple"}}]}}]}`},
		{"/api/prompts", `{"data": [{"id": "hi", "description": "greets", "default": 1, "labels": {"live": 2}, "versions": [
			{"version": 2, "description": "longer", "model": "m2", "messages": [{"role": "system", "text": "Be kind.\n[image_url]"}, {"role": "placeholder", "text": "history"}]},
			{"version": 1, "model": "m", "messages": [{"role": "user", "text": "Hello {{name}}"}]}]}]}`},
	}
	for _, tt := range tests {
		t.Run(tt.path, func(t *testing.T) {
			var want, got any
			if err := json.Unmarshal([]byte(tt.want), &want); err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal([]byte(shown(tt.path)), &got); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestNewMembersAreHidden fills every member of an entry, those included that are yet
// to come: what is shown of them is a decision.
func TestNewMembersAreHidden(t *testing.T) {
	shown := map[string]bool{"Slug": true, "Provider": true, "ProjectID": true, "Region": true, "Bucket": true, "UniverseDomain": true, "QuotaProject": true, "APIVersion": true}
	var e catalog.Entry
	v := reflect.ValueOf(&e).Elem()
	for i := range v.NumField() {
		if f := v.Field(i); f.Kind() == reflect.String && !shown[v.Type().Field(i).Name] {
			f.SetString("CANARY-" + v.Type().Field(i).Name)
		}
	}
	e.Headers = map[string]catalog.Secret{"A": "CANARY"}
	got, err := json.Marshal(entryOf("x", &e))
	if err != nil || strings.Contains(string(got), "CANARY") {
		t.Errorf("%s %v", got, err)
	}
}

func TestPromptThatCannotBeRead(t *testing.T) {
	want := prompt{ID: "x", Versions: []version{}}
	for _, raw := range []string{`[]`, `{"versions":{"one":{}}}`, ``} {
		if diff := cmp.Diff(want, promptOf("x", json.RawMessage(raw))); diff != "" {
			t.Errorf("%s: %s", raw, diff)
		}
	}
}
