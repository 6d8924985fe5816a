package catalog

import (
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/b650d4bf/gateway/internal/place"
)

const (
	lower     = "abcdefghijklmnopqrstuvwxyz"
	upper     = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	digits    = "0123456789"
	slugChars = lower + upper + digits + "-_."
	// tokenChars may stand in a header name. [RFC 9110, section 5.6.2]:
	// https://www.rfc-editor.org/rfc/rfc9110#section-5.6.2
	tokenChars = lower + upper + digits + "!#$%&'*+-.^_`|~"

	maxName = 128 // bytes of a slug or project id
)

// entries judges the values of entries.
func (p *problems) entries(entries []Entry) {
	seen := make(map[string]bool, len(entries))
	for i := range entries {
		e := &entries[i]
		path := join("providers", e.Slug)
		if seen[e.Slug] {
			p.add(path, "is given twice")
		}
		seen[e.Slug] = true
		p.slug(path, e.Slug)
		p.place(path, e)
		p.headerRules(path, e.Headers)
		p.credentials(path, e)
	}
}

func (p *problems) slug(path, slug string) {
	switch {
	case strings.HasPrefix(slug, "@"):
		p.add(path, "a slug is written without '@' here; only a model reference has it")
	case !made(slug, slugChars):
		p.add(path, "a slug is made of letters, digits, '-', '_' and '.', at most %d of them", maxName)
	}
}

// place checks the members that end up in a host name or path, where a stray
// character could send credentials elsewhere.
func (p *problems) place(path string, e *Entry) {
	if at := join(path, "provider"); e.Provider != "" && !made(e.Provider, lower+digits+"-") {
		p.add(at, "is made of lower-case letters, digits and '-'")
	} else if e.Provider == "" && !p.at[at] {
		p.add(at, `is missing, for example "vertex-ai"`)
	}
	if e.Region != "" && !place.IsRegion(e.Region) {
		p.add(join(path, "region"), `is made of lower-case letters, digits and '-', such as "europe-west4" or "global"`)
	}
	const project = `must be a project id or number, such as "my-project" or "example.com:my-project"`
	if e.ProjectID != "" && !place.IsProject(e.ProjectID) {
		p.add(join(path, "project_id"), project)
	}
	if e.QuotaProject != "" && !place.IsProject(e.QuotaProject) {
		p.add(join(path, "quota_project"), project)
	}
	if e.UniverseDomain != "" && !place.IsDomain(e.UniverseDomain) {
		p.add(join(path, "universe_domain"), `must be a domain name such as "googleapis.com"`)
	}
	if e.Bucket != "" && !strings.HasPrefix(e.Bucket, "gs://") {
		p.add(join(path, "bucket"), `must be "gs://BUCKET" or "gs://BUCKET/PREFIX"`)
	}
	for _, m := range [...]struct{ name, url string }{{"base_url", e.BaseURL}, {"storage_url", e.StorageURL}} {
		if m.url != "" {
			p.baseURL(join(path, m.name), m.url)
		}
	}
	if e.APIVersion != "" && !made(e.APIVersion, lower+digits+"-.") {
		p.add(join(path, "api_version"), `is made of lower-case letters, digits, '-' and '.', such as "2024-10-21"`)
	}
}

// baseURL never repeats the address: a mistaken one may hold a password.
func (p *problems) baseURL(path, raw string) {
	u, err := url.Parse(raw)
	switch {
	case err != nil || u.Hostname() == "" || u.Opaque != "":
		p.add(path, `must be an absolute URL such as "https://host/path"`)
	case u.User != nil:
		p.add(path, "must not hold a user name or password: use the credential members")
	case strings.ContainsAny(raw, "?#"):
		p.add(path, "must not have a query or a fragment")
	case u.Scheme == "http" && !place.IsLoopback(u.Hostname()):
		p.add(path, "plain http would send credentials in the clear: use https (http is for loopback hosts)")
	case u.Scheme != "http" && u.Scheme != "https":
		p.add(path, "must begin with https://")
	}
}

func (p *problems) headerRules(path string, headers map[string]Secret) {
	seen := make(map[string]bool, len(headers))
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		at := join(join(path, "headers"), name)
		folded := strings.ToLower(name)
		if seen[folded] {
			p.add(at, "is given twice: header names ignore case")
		}
		seen[folded] = true
		switch folded {
		case "authorization", "proxy-authorization":
			p.add(at, "belongs in access_token, service_account_file, service_account_json or auth")
		case "host", "connection", "content-length", "content-type", "transfer-encoding":
			p.add(at, "is set by the client itself")
		}
		if !made(name, tokenChars) {
			p.add(at, "isn't a valid header name")
		}
		if strings.ContainsFunc(headers[name].Reveal(), isControl) {
			p.add(at, "the value must not contain line breaks or other control characters")
		}
	}
}

// credentials checks that at most one form is given, and its content.
func (p *problems) credentials(path string, e *Entry) {
	var given []string
	for _, form := range []struct{ name, value string }{
		{"api_key", e.APIKey.Reveal()},
		{"service_account_file", e.ServiceAccountFile},
		{"service_account_json", e.ServiceAccountJSON.Reveal()},
		{"access_token", e.AccessToken.Reveal()},
		{"auth", e.Auth},
	} {
		if form.value != "" {
			given = append(given, form.name)
		}
	}
	if len(given) > 1 {
		p.add(path, "%s exclude each other: keep one", strings.Join(given, " and "))
	}
	if e.Auth != "" && e.Auth != AuthDefault && e.Auth != AuthNone {
		p.add(join(path, "auth"), "must be %q or %q", AuthDefault, AuthNone)
	}
	if token := e.AccessToken.Reveal(); strings.ContainsFunc(token, notVisible) {
		p.add(join(path, "access_token"), `must be the bare token, without spaces and without "Bearer"`)
	}
	if key := e.APIKey.Reveal(); strings.ContainsFunc(key, notVisible) {
		p.add(join(path, "api_key"), "must be the bare key, without spaces and line breaks")
	}
	if key := e.ServiceAccountJSON.Reveal(); key != "" {
		p.serviceAccount(join(path, "service_account_json"), key)
	}
	if strings.ContainsRune(e.ServiceAccountFile, 0) {
		p.add(join(path, "service_account_file"), "isn't a path")
	}
}

// serviceAccount looks at the declared type only; the rest of the key is checked
// where it is used.
func (p *problems) serviceAccount(path, key string) {
	var doc struct {
		Type string `json:"type"`
	}
	switch err := json.Unmarshal([]byte(key), &doc); {
	case err != nil:
		p.add(path, "must be the JSON of a service account key")
	case doc.Type != "service_account":
		p.add(path, `"type" is %s, want "service_account": download a key of a service account, or use "auth": %q`,
			quote(doc.Type), AuthDefault)
	}
}

// made reports whether s has 1 to maxName bytes, all of them in chars.
func made(s, chars string) bool {
	return s != "" && len(s) <= maxName && strings.TrimLeft(s, chars) == ""
}

func isControl(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }

func notVisible(r rune) bool { return r <= ' ' || r >= 0x7f }

// CheckPlace judges the members that end up in a host, a path or a header,
// those that are set. It is for settings that stand in for an entry.
func (e Entry) CheckPlace() error {
	if e.Provider == "" {
		e.Provider = "none" // a setting needs no provider
	}
	var p problems
	p.place("", &e)
	p.headerRules("", e.Headers)
	return p.err()
}
