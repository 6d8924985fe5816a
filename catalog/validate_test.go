package catalog_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/catalog"
)

// entryTest changes a valid entry; want is the error, "" for none.
type entryTest struct {
	name string
	set  func(*catalog.Entry)
	want string
}

func runEntryTests(t *testing.T, tests []entryTest) {
	t.Helper()
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := catalog.Entry{Slug: "vx", Provider: "vertex-ai"}
			tt.set(&e)
			_, err := catalog.New(e)
			got := ""
			if err != nil {
				got = err.Error()
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
		})
	}
}

func TestNewChecksPlaces(t *testing.T) {
	const (
		place   = `is made of lower-case letters, digits and '-', such as "europe-west4" or "global"`
		project = `must be a project id or number, such as "my-project" or "example.com:my-project"`
		slug    = `a slug is made of letters, digits, '-', '_' and '.', at most 128 of them`
		domain  = `must be a domain name such as "googleapis.com"`
	)
	region := func(r string) func(*catalog.Entry) { return func(e *catalog.Entry) { e.Region = r } }
	projectID := func(p string) func(*catalog.Entry) { return func(e *catalog.Entry) { e.ProjectID = p } }
	named := func(s string) func(*catalog.Entry) { return func(e *catalog.Entry) { e.Slug = s } }
	universe := func(u string) func(*catalog.Entry) { return func(e *catalog.Entry) { e.UniverseDomain = u } }
	runEntryTests(t, []entryTest{
		{"slug with a slash", named("a/b"), `providers["a/b"]: ` + slug},
		{"slug with a space inside", named("a b"), `providers["a b"]: ` + slug},
		{"empty slug", named(""), `providers[""]: ` + slug},
		{"slug with @", named("@a"), `providers["@a"]: a slug is written without '@' here; only a model reference has it`},
		{"long slug", named(strings.Repeat("a", 129)), `providers["` + strings.Repeat("a", 64) + `…"]: ` + slug},
		{"slug of all kinds", named("A-z_0.9"), ""},
		{"provider with capitals", func(e *catalog.Entry) { e.Provider = "Vertex" },
			`providers.vx.provider: is made of lower-case letters, digits and '-'`},
		{"region with a dot", region("evil.example"), "providers.vx.region: " + place},
		{"region with a slash", region("us/x"), "providers.vx.region: " + place},
		{"region with a line break", region("us\n"), "providers.vx.region: " + place},
		{"region ending in a hyphen", region("us-"), "providers.vx.region: " + place},
		{"region with an @ inside", region("us@host"), "providers.vx.region: " + place},
		{"multi-region", region("eu"), ""},
		{"project with a slash", projectID("a/b"), "providers.vx.project_id: " + project},
		{"project with two scopes", projectID("a.b:c:d"), "providers.vx.project_id: " + project},
		{"project with a bare scope", projectID("a:b"), "providers.vx.project_id: " + project},
		{"project by number", projectID("1234567"), ""},
		{"project in a domain", projectID("example.com:proj-1"), ""},
		{"quota project", func(e *catalog.Entry) { e.QuotaProject = "a?b" }, "providers.vx.quota_project: " + project},
		{"universe with a path", universe("a.b/c"), "providers.vx.universe_domain: " + domain},
		{"universe of one label", universe("localhost"), "providers.vx.universe_domain: " + domain},
	})
}

func TestNewChecksAddressesAndSecrets(t *testing.T) {
	const (
		absolute = `must be an absolute URL such as "https://host/path"`
		forms    = `belongs in access_token, service_account_file, service_account_json or auth`
		plain    = `plain http would send credentials in the clear: use https (http is for loopback hosts)`
		bare     = `must be the bare token, without spaces and without "Bearer"`
	)
	header := func(k, v string) func(*catalog.Entry) {
		return func(e *catalog.Entry) { e.Headers = map[string]catalog.Secret{k: catalog.Secret(v)} }
	}
	base := func(u string) func(*catalog.Entry) { return func(e *catalog.Entry) { e.BaseURL = u } }
	storage := func(u string) func(*catalog.Entry) { return func(e *catalog.Entry) { e.StorageURL = u } }
	token := func(v catalog.Secret) func(*catalog.Entry) {
		return func(e *catalog.Entry) { e.AccessToken = v }
	}
	key := func(v catalog.Secret) func(*catalog.Entry) {
		return func(e *catalog.Entry) { e.ServiceAccountJSON = v }
	}
	runEntryTests(t, []entryTest{
		{"base URL without host", base("https:///x"), "providers.vx.base_url: " + absolute},
		{"base URL with a port only", base("https://:80"), "providers.vx.base_url: " + absolute},
		{"base URL without scheme", base("host/x"), "providers.vx.base_url: " + absolute},
		{"base URL with user info", base("https://u:p@h"),
			"providers.vx.base_url: must not hold a user name or password: use the credential members"},
		{"base URL with a query", base("https://h/?a=b"), "providers.vx.base_url: must not have a query or a fragment"},
		{"base URL with an empty query", base("https://h/?"), "providers.vx.base_url: must not have a query or a fragment"},
		{"base URL with a fragment", base("https://h/#x"), "providers.vx.base_url: must not have a query or a fragment"},
		{"base URL of another scheme", base("ftp://h"), "providers.vx.base_url: must begin with https://"},
		{"plain http abroad", base("http://h.example"), "providers.vx.base_url: " + plain},
		{"plain http to a name like localhost", base("http://localhost.example"), "providers.vx.base_url: " + plain},
		{"plain http to localhost", base("http://localhost:8080/v1"), ""},
		{"plain http to IPv6 loopback", base("http://[::1]:8080"), ""},
		{"storage URL without scheme", storage("host/x"), "providers.vx.storage_url: " + absolute},
		{"storage URL with user info", storage("https://u:p@h"),
			"providers.vx.storage_url: must not hold a user name or password: use the credential members"},
		{"storage URL with a query", storage("https://h?a=b"), "providers.vx.storage_url: must not have a query or a fragment"},
		{"storage URL in the clear", storage("http://h.example"), "providers.vx.storage_url: " + plain},
		{"storage URL on this machine", storage("http://127.0.0.1:8080"), ""},
		{"header for credentials", header("authorization", "x"), "providers.vx.headers.authorization: " + forms},
		{"header for a proxy's credentials", header("Proxy-Authorization", "x"), "providers.vx.headers.Proxy-Authorization: " + forms},
		{"header set by the client", header("Host", "x"), "providers.vx.headers.Host: is set by the client itself"},
		{"header name with a space", header("a b", "x"), `providers.vx.headers["a b"]: isn't a valid header name`},
		{"header name with a colon", header("a:b", "x"), `providers.vx.headers["a:b"]: isn't a valid header name`},
		{"header value with CR LF", header("a", "x\r\ny: z"),
			"providers.vx.headers.a: the value must not contain line breaks or other control characters"},
		{"header value with a tab", header("a", "x\ty é"), ""},
		{"unknown auth", func(e *catalog.Entry) { e.Auth = "adc" },
			`providers.vx.auth: must be "application_default" or "none"`},
		{"token with its scheme", token("Bearer x"), "providers.vx.access_token: " + bare},
		{"token with a line break", token("x\n"), "providers.vx.access_token: " + bare},
		{"key that isn't JSON", key("{"), "providers.vx.service_account_json: must be the JSON of a service account key"},
		{"key of another type", key(`{"type":"authorized_user"}`), `providers.vx.service_account_json: "type" is ` +
			`"authorized_user", want "service_account": download a key of a service account, or use "auth": "application_default"`},
		{"API key with a line break", func(e *catalog.Entry) { e.APIKey = "k\n" }, "providers.vx.api_key: must be the bare key, without spaces and line breaks"},
		{"version with a query", func(e *catalog.Entry) { e.APIVersion = "1&x=2" },
			`providers.vx.api_version: is made of lower-case letters, digits, '-' and '.', such as "2024-10-21"`},
		{"version", func(e *catalog.Entry) { e.APIVersion = "2024-10-21-preview" }, ""},
		{"path with a NUL", func(e *catalog.Entry) { e.ServiceAccountFile = "a\x00b" },
			"providers.vx.service_account_file: isn't a path"},
	})
}

func TestNewRefusesTwoCredentials(t *testing.T) {
	set := []func(*catalog.Entry){
		func(e *catalog.Entry) { e.ServiceAccountFile = "k.json" },
		func(e *catalog.Entry) { e.ServiceAccountJSON = `{"type":"service_account"}` },
		func(e *catalog.Entry) { e.AccessToken = "t" },
		func(e *catalog.Entry) { e.APIKey = "k" },
		func(e *catalog.Entry) { e.Auth = catalog.AuthNone },
	}
	for i := range set {
		for j := range set {
			e := catalog.Entry{Slug: "vx", Provider: "vertex-ai"}
			set[i](&e)
			set[j](&e)
			_, err := catalog.New(e)
			if refused := err != nil && strings.Contains(err.Error(), "exclude each other"); refused != (i != j) {
				t.Errorf("forms %d and %d: error %v", i, j, err)
			}
		}
	}
}

func TestNewRefusesRepeats(t *testing.T) {
	e := catalog.Entry{Slug: "vx", Provider: "vertex-ai"}
	if _, err := catalog.New(e, e); err == nil || err.Error() != "providers.vx: is given twice" {
		t.Errorf("two entries of one slug: %v", err)
	}
	e.Headers = map[string]catalog.Secret{"X-A": "1", "x-a": "2"}
	if _, err := catalog.New(e); err == nil || err.Error() != "providers.vx.headers.x-a: is given twice: header names ignore case" {
		t.Errorf("two headers of one name: %v", err)
	}
}
