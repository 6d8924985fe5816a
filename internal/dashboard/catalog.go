package dashboard

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	"github.com/b650d4bf/gateway/catalog"
)

// hidden stands for a value that could be a secret.
const hidden = "[hidden]"

// entry is what of an entry of the catalog may be seen: a member that is not here is
// not shown.
type entry struct {
	Slug           string   `json:"slug"`
	Provider       string   `json:"provider"`
	ProjectID      string   `json:"project_id,omitempty"`
	Region         string   `json:"region,omitempty"`
	Bucket         string   `json:"bucket,omitempty"`
	StorageURL     string   `json:"storage_url,omitempty"`
	BaseURL        string   `json:"base_url,omitempty"`
	UniverseDomain string   `json:"universe_domain,omitempty"`
	QuotaProject   string   `json:"quota_project,omitempty"`
	APIVersion     string   `json:"api_version,omitempty"`
	Headers        []string `json:"headers,omitempty"` // their names
	Credentials    string   `json:"credentials"`       // their kind
}

type namedConfig struct {
	ID     string         `json:"id"`
	Config map[string]any `json:"config"`
}

type catalogView struct {
	Entries []entry       `json:"entries"`
	Configs []namedConfig `json:"configs"`
}

// catalogOf returns what of the catalog may be seen.
func catalogOf(c catalog.Catalog) catalogView {
	out := catalogView{Entries: []entry{}, Configs: []namedConfig{}}
	if c == nil {
		return out
	}
	for _, slug := range c.Slugs() {
		if e, err := c.Lookup(slug); err == nil { // else it was taken out just now
			out.Entries = append(out.Entries, entryOf(slug, &e))
		}
	}
	configs, ok := c.(catalog.Configs)
	if !ok {
		return out
	}
	for _, id := range configs.Configs() {
		found, err := configs.Config(id)
		if err != nil {
			continue
		}
		text, err := json.Marshal(found)
		var node map[string]any
		if err == nil && json.Unmarshal(text, &node) == nil {
			out.Configs = append(out.Configs, namedConfig{id, nodeOf(node)})
		}
	}
	return out
}

func entryOf(slug string, e *catalog.Entry) entry {
	out := entry{
		Slug: slug, Provider: e.Provider, ProjectID: e.ProjectID, Region: e.Region, Bucket: e.Bucket, StorageURL: origin(e.StorageURL),
		BaseURL: origin(e.BaseURL), UniverseDomain: e.UniverseDomain, QuotaProject: e.QuotaProject, APIVersion: e.APIVersion, Credentials: credentials(e),
	}
	for name := range e.Headers {
		out.Headers = append(out.Headers, name)
	}
	slices.Sort(out.Headers)
	return out
}

// credentials names the kind of an entry's credentials.
func credentials(e *catalog.Entry) string {
	switch {
	case e.APIKey != "":
		return "API key"
	case e.ServiceAccountFile != "":
		return "service account, from a file"
	case e.ServiceAccountJSON != "":
		return "service account"
	case e.AccessToken != "":
		return "access token"
	case e.Auth == catalog.AuthDefault:
		return "application default"
	case e.Auth == catalog.AuthNone:
		return "none"
	}
	return "those of the client or the request"
}

// origin returns scheme and host of an address: its path could hold a secret.
func origin(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return ""
	}
	return (&url.URL{Scheme: u.Scheme, Host: u.Host}).String()
}

// show returns what of a member's value may be seen.
type show func(any) any

// shown are the members of a config that may be seen, and how.
func shown() map[string]show {
	whole := func(v any) any { return v }
	return map[string]show{
		"name": whole, "weight": whole, "provider": whole, "vertex_region": whole, "vertex_project_id": whole, "cache": whole, "retry": whole,
		"request_timeout": whole, "limits": whole, "cb_config": whole, "hedge": whole, "guards": whole, "strict_compliance": whole,
		"forward_headers": whole, "drop_params": whole,
		"custom_host": func(v any) any {
			s, _ := v.(string)
			return origin(s)
		},
		"default_params": paramsOf, "override_params": paramsOf, "strategy": strategyOf,
		"targets": func(v any) any {
			list, _ := v.([]any)
			out := make([]any, len(list))
			for i := range list {
				node, _ := list[i].(map[string]any)
				out[i] = nodeOf(node)
			}
			return out
		},
	}
}

// nodeOf returns what of a target, or of the config itself, may be seen.
func nodeOf(node map[string]any) map[string]any {
	out := make(map[string]any, len(node))
	members := shown()
	for name, value := range node {
		if f := members[name]; f != nil {
			out[name] = f(value)
		}
	}
	return out
}

// plainParams are parameters whose values hold no secret.
func plainParams() []string {
	return []string{
		"model", "max_tokens", "max_completion_tokens", "temperature", "top_p", "top_k", "n", "seed", "frequency_penalty", "presence_penalty",
		"reasoning_effort", "stream", "parallel_tool_calls", "modalities", "dimensions",
	}
}

// paramsOf shows which parameters there are, and the values of the plain ones.
func paramsOf(v any) any {
	params, _ := v.(map[string]any)
	out := make(map[string]any, len(params))
	for name, value := range params {
		if !slices.Contains(plainParams(), name) {
			value = hidden
		}
		out[name] = value
	}
	return out
}

// strategyOf hides what conditions compare with, but for models.
func strategyOf(v any) any {
	strategy, _ := v.(map[string]any)
	out := make(map[string]any, len(strategy))
	for _, name := range []string{"mode", "on_status_codes", "default", "sticky"} {
		if value, ok := strategy[name]; ok {
			out[name] = value
		}
	}
	conditions, _ := strategy["conditions"].([]any)
	for _, c := range conditions {
		condition, _ := c.(map[string]any)
		list, _ := out["conditions"].([]any)
		out["conditions"] = append(list, map[string]any{"query": queryOf(condition["query"], false), "then": condition["then"]})
	}
	return out
}

// queryOf keeps the names of a query, and its values where plain.
func queryOf(v any, plain bool) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, value := range v {
			out[name] = queryOf(value, name == "params.model" || plain && strings.HasPrefix(name, "$"))
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = queryOf(v[i], plain)
		}
		return out
	}
	if plain {
		return v
	}
	return hidden
}
