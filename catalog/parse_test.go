package catalog_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/catalog"
)

func TestParseReadsEveryMember(t *testing.T) {
	const key = `{"type":"service_account","private_key":"k"}`
	m, err := catalog.Parse([]byte("\ufeff" + `{"providers":{
		"vx":{"provider":"vertex-ai","project_id":"example.com:proj","region":"europe-west4",
			"service_account_file":"key.json","base_url":"https://host.example/v1","headers":{"x-team":"blue"},
			"universe_domain":"example-tpc.goog","quota_project":"123456",
			"bucket":"gs://bucket/team","storage_url":"https://store.example"},
		"sa":{"provider":"vertex-ai","service_account_json":` + key + `},
		"tok.1":{"provider":"vertex-ai","access_token":"ya29.abc"},
		"azure":{"provider":"openai-compatible","api_key":"k","api_version":"2024-10-21"},
		"adc":{"provider":"vertex-ai","auth":"application_default"},
		"proxy_2":{"provider":"other-1","auth":"none","base_url":"http://127.0.0.1:8080"},
		"bare":{"provider":"vertex-ai"}
	},"configs":{},"prompts":{}}`))
	if err != nil {
		t.Fatal(err)
	}
	want := []catalog.Entry{
		{Slug: "adc", Provider: "vertex-ai", Auth: "application_default"},
		{Slug: "azure", Provider: "openai-compatible", APIKey: "k", APIVersion: "2024-10-21"},
		{Slug: "bare", Provider: "vertex-ai"},
		{Slug: "proxy_2", Provider: "other-1", Auth: "none", BaseURL: "http://127.0.0.1:8080"},
		{Slug: "sa", Provider: "vertex-ai", ServiceAccountJSON: key},
		{Slug: "tok.1", Provider: "vertex-ai", AccessToken: "ya29.abc"},
		{
			Slug: "vx", Provider: "vertex-ai", ProjectID: "example.com:proj", Region: "europe-west4",
			ServiceAccountFile: "key.json", BaseURL: "https://host.example/v1",
			Headers:        map[string]catalog.Secret{"x-team": "blue"},
			UniverseDomain: "example-tpc.goog", QuotaProject: "123456",
			Bucket: "gs://bucket/team", StorageURL: "https://store.example",
		},
	}
	var got []catalog.Entry
	for _, slug := range m.Slugs() {
		e, err := m.Lookup("@" + slug)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, e)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("entries (-want +got):\n%s", diff)
	}
}

// entry wraps the members of one provider, named vx, into a catalog.
func entry(members string) string {
	return `{"providers":{"vx":{"provider":"vertex-ai",` + members + `}}}`
}

func TestParseReportsShapes(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"empty input", ``, `catalog: not valid JSON at line 1, column 0`},
		{"cut off", "{\"providers\":\n {", `catalog: not valid JSON at line 2, column 2`},
		{"text after the end", `{} {}`, `catalog: not valid JSON at line 1, column 4`},
		{"not UTF-8", "{\"\xff\":1}", `catalog: not valid UTF-8`},
		{"not an object", `[]`, `must be an object`},
		{"providers not an object", `{"providers":[]}`, `providers: must be an object`},
		{"entry not an object", `{"providers":{"vx":"vertex-ai"}}`,
			"providers.vx: must be an object\nproviders.vx.provider: is missing, for example \"vertex-ai\""},
		{"unknown top member", `{"provider":{}}`, `provider: unknown member (did you mean "providers"?)`},
		{"unknown member", entry(`"regoin":"x"`), `providers.vx.regoin: unknown member (did you mean "region"?)`},
		{"swapped letters", entry(`"auht":"none"`), `providers.vx.auht: unknown member (did you mean "auth"?)`},
		{"unknown member like nothing", entry(`"zzz":1`), `providers.vx.zzz: unknown member`},
		{"member in another case", entry(`"Region":"x"`), `providers.vx.Region: unknown member (did you mean "region"?)`},
		{"odd member name", entry(`"a b.c":1`), `providers.vx["a b.c"]: unknown member`},
		{"repeated member", entry(`"region":"a","region":"b"`), `providers.vx.region: is given twice`},
		{"repeated slug", `{"providers":{"a":{"provider":"p"},"a":{"provider":"p"}}}`, `providers.a: is given twice`},
		{"repeated section", `{"providers":{},"providers":{}}`, `providers: is given twice`},
		{"repeated key member", entry(`"service_account_json":{"type":"x","type":"service_account"}`),
			`providers.vx.service_account_json.type: is given twice`},
		{"number for text", entry(`"region":1`), `providers.vx.region: must be a string`},
		{"null for text", entry(`"region":null`), `providers.vx.region: must be a string`},
		{"empty text", entry(`"access_token":""`), `providers.vx.access_token: is empty: give a value or leave the member out`},
		{"empty provider", `{"providers":{"vx":{"provider":""}}}`,
			`providers.vx.provider: is empty: give a value or leave the member out`},
		{"headers not an object", entry(`"headers":[]`), `providers.vx.headers: must be an object`},
		{"header not text", entry(`"headers":{"a":[1]}`), `providers.vx.headers.a: must be a string`},
		{"key as text", entry(`"service_account_json":"{}"`), `providers.vx.service_account_json: must be an object`},
		{"config", `{"configs":{"c":{"retry":{"attempts":9}}}}`, `configs.c.retry.attempts: must be a whole number from 0 to 5`},
		{"config with a target at fault", `{"configs":{"c":{"targets":[{"providr":"@x"}]}}}`, `configs.c.targets[0].providr: unknown member (did you mean "provider"?)`},
		{"config that is none", `{"configs":{"c":1}}`, `configs.c: must be an object`},
		{"config id", `{"configs":{"a/b":{}}}`, `configs["a/b"]: an id is made of letters, digits, '-', '_' and '.', at most 128 of them`},
		{"prompts not an object", `{"prompts":[1]}`, `prompts: must be an object`},
		{"prompt not an object", `{"prompts":{"p":"Hello"}}`, `prompts.p: must be an object`},
		{"repeated prompt", `{"prompts":{"p":{},"p":{}}}`, `prompts.p: is given twice`},
		{"partials not an object", `{"partials":"x"}`, `partials: must be an object`},
		{"partial not text", `{"partials":{"a":{}}}`, `partials.a: must be a string`},
		{"configs not an object", `{"configs":[1]}`, `configs: must be an object`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { wantMistake(t, tt.in, tt.want) })
	}
}

func TestParseReportsEveryMistakeAtOnce(t *testing.T) {
	const in = `{"providers":{
		"a":{"regoin":"x","region":1,"base_url":"ftp://h"},
		"b/c":{"provider":"Vertex","access_token":"t","auth":"none"}
	},"configs":{"x":1},"extra":0}`
	wantMistake(t, in, strings.Join([]string{
		`providers.a.regoin: unknown member (did you mean "region"?)`,
		`providers.a.region: must be a string`,
		`configs.x: must be an object`,
		`extra: unknown member`,
		`providers.a.provider: is missing, for example "vertex-ai"`,
		`providers.a.base_url: must begin with https://`,
		`providers["b/c"]: a slug is made of letters, digits, '-', '_' and '.', at most 128 of them`,
		`providers["b/c"].provider: is made of lower-case letters, digits and '-'`,
		`providers["b/c"]: access_token and auth exclude each other: keep one`,
	}, "\n"))
}

func TestParseRefusesHugeInput(t *testing.T) {
	wantMistake(t, strings.Repeat(" ", 16<<20)+"{}", "catalog: larger than 16 MiB")
	if _, err := catalog.Parse([]byte(strings.Repeat(" ", 16<<20-2) + "{}")); err != nil {
		t.Errorf("exactly 16 MiB is refused: %v", err)
	}
}

func TestParseErrorsKeepSecrets(t *testing.T) {
	for _, in := range []string{
		`{"providers":{"a":{"access_token":"` + canary + "\x01" + `"`,
		entry(`"access_token":"Bearer ` + canary + `"`),
		entry(`"access_token":["` + canary + `"]`),
		entry(`"api_key":"` + canary + `\n"`),
		entry(`"api_key":{"` + canary + `":1}`),
		entry(`"base_url":"https://u:` + canary + `@h/"`),
		entry(`"base_url":"https://h/?key=` + canary + `"`),
		entry(`"base_url":"%zz` + canary + `"`),
		entry(`"headers":{"x":"a\r\n` + canary + `"}`),
		entry(`"service_account_json":{"type":"authorized_user","refresh_token":"` + canary + `"}`),
		entry(`"service_account_json":["` + canary + `"]`),
	} {
		_, err := catalog.Parse([]byte(in))
		if err == nil {
			t.Errorf("no error for %s", in)
			continue
		}
		refuse(t, "error", fmt.Sprintf("%v %+v %#v", err, err, err), canary)
	}
}

func wantMistake(t *testing.T, in, want string) {
	t.Helper()
	m, err := catalog.Parse([]byte(in))
	if err == nil {
		t.Fatalf("no error, slugs %q", m.Slugs())
	}
	if diff := cmp.Diff(want, err.Error()); diff != "" {
		t.Errorf("error (-want +got):\n%s", diff)
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{
		`{}`, `{"providers":{}}`, entry(`"region":"us"`), entry(`"headers":{"a":"b"}`), `{"providers":{"a":{}}}`,
		entry(`"service_account_json":{"type":"service_account"}`), entry(`"base_url":"http://[::1]:1/x"`), `[[[`, "\xff",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		before := bytes.Clone(data)
		m, err := catalog.Parse(data)
		if !bytes.Equal(before, data) {
			t.Fatal("Parse changed its input")
		}
		if err != nil {
			return
		}
		var entries []catalog.Entry
		for _, slug := range m.Slugs() {
			e, err := m.Lookup(slug)
			if err != nil || e.Slug != slug {
				t.Fatalf("Lookup(%q) = %q, %v", slug, e.Slug, err)
			}
			if strings.ContainsAny(e.Region+e.ProjectID+e.UniverseDomain, "/?#@ \r\n") {
				t.Fatalf("%q has a place that could change a host: %+v", slug, e)
			}
			entries = append(entries, e)
		}
		if _, err := catalog.New(entries...); err != nil {
			t.Fatalf("what Parse accepts, New refuses: %v", err)
		}
		if _, err := m.Lookup("no/such"); !errors.Is(err, catalog.ErrNotFound) {
			t.Fatalf("Lookup of an impossible slug: %v", err)
		}
	})
}

func TestParseKeepsPromptsAsTheyAre(t *testing.T) {
	m, err := catalog.Parse([]byte(`{"prompts":{"welcome":{"versions" : {"1":{}}},"b":{}},"partials":{"tone":"Be brief."}}`))
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Replace(catalog.Entry{Slug: "vx", Provider: "vertex-ai"}); err != nil { // and leaves the prompts
		t.Fatal(err)
	}
	got := map[string]string{}
	for id, raw := range m.Prompts() {
		got[id] = string(raw)
	}
	if diff := cmp.Diff(map[string]string{"welcome": `{"versions" : {"1":{}}}`, "b": "{}"}, got); diff != "" {
		t.Errorf("prompts (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]string{"tone": "Be brief."}, m.Partials()); diff != "" {
		t.Errorf("partials (-want +got):\n%s", diff)
	}
}
