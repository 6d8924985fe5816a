package vertex

import (
	"net/url"
	"strings"

	"github.com/b650d4bf/gateway/providers"
)

// publicUniverse is the domain of the public cloud.
const publicUniverse = "googleapis.com"

// host returns the platform's host for a location.
//
// Source: https://cloud.google.com/vertex-ai/generative-ai/docs/learn/locations
func host(region, universe string) string {
	if universe == "" {
		universe = publicUniverse
	}
	switch region {
	case "global":
		return "aiplatform." + universe
	case "us", "eu":
		return "aiplatform." + region + ".rep." + universe
	}
	return region + "-aiplatform." + universe
}

// endpoint builds the URL of a method of the model, such as
// https://HOST/v1/projects/P/locations/L/publishers/google/models/M:verb.
func endpoint(t *providers.Target, m *model, verb, query string) (*url.URL, error) {
	u, err := base(t)
	if err != nil {
		return nil, err
	}
	path := m.resource
	if path == "" {
		if err := checkPlace(t); err != nil {
			return nil, err
		}
		path = "projects/" + t.ProjectID + "/locations/" + t.Region + "/publishers/" + m.publisher + "/models/" + m.name
	}
	u.Path = "/v1/" + path + ":" + verb
	u.RawQuery = query
	return u, nil
}

// base returns scheme and host: the target's base URL, or the platform's host.
func base(t *providers.Target) (*url.URL, error) {
	if t.BaseURL == "" {
		if !isRegion(t.Region) {
			return nil, badPlace("region", "no region is set: use WithRegion, such as WithRegion(\"global\"), or the catalog entry's region")
		}
		return &url.URL{Scheme: "https", Host: host(t.Region, t.UniverseDomain)}, nil
	}
	u, err := url.Parse(t.BaseURL)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || strings.Trim(u.Path, "/") != "" {
		return nil, badPlace("base_url", "the base URL must be a scheme and a host, such as https://example.com")
	}
	return &url.URL{Scheme: u.Scheme, Host: u.Host}, nil
}

// checkPlace finds a project or region that is missing or can't be one, before
// anything is sent.
func checkPlace(t *providers.Target) error {
	switch {
	case t.ProjectID == "":
		return badPlace("project_id", "no project is set: use WithProjectID, the catalog entry's project_id, or credentials that name one")
	case !isProject(t.ProjectID):
		return badPlace("project_id", "not a project id or number")
	case t.Region == "":
		return badPlace("region", "no region is set: use WithRegion, such as WithRegion(\"global\"), or the catalog entry's region")
	case !isRegion(t.Region):
		return badPlace("region", "not a region: use a name such as us-central1, or global, us or eu")
	}
	return nil
}

func badPlace(param, message string) error {
	return &providers.Error{Code: providers.ErrInvalidConfig, Param: param, Message: message}
}

// isRegion reports whether s can be a location: it becomes part of a host.
func isRegion(s string) bool { return s != "" && onlyFrom(s, "-") && len(s) <= 63 }

// isProject also allows the domain-scoped form, example.com:project.
func isProject(s string) bool { return onlyFrom(s, "-.:") && len(s) <= 128 && s[0] != '.' }

// onlyFrom reports whether s has only lower-case letters, digits and the given
// others.
func onlyFrom(s, others string) bool {
	for i := range len(s) {
		c := s[i]
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && !strings.ContainsRune(others, rune(c)) {
			return false
		}
	}
	return true
}
