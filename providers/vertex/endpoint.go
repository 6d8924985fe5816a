package vertex

import (
	"net/url"
	"strings"

	"github.com/b650d4bf/gateway/internal/engine"
	"github.com/b650d4bf/gateway/internal/place"
	"github.com/b650d4bf/gateway/providers"
)

// publicUniverse is the domain of the public cloud.
const publicUniverse = "googleapis.com"

// writeHost writes the platform's host for a location.
//
// Source: https://cloud.google.com/vertex-ai/generative-ai/docs/learn/locations
func writeHost(b *strings.Builder, region, universe string) {
	switch region {
	case "global":
		b.WriteString("aiplatform.")
	case "us", "eu":
		b.WriteString("aiplatform.")
		b.WriteString(region)
		b.WriteString(".rep.")
	default:
		b.WriteString(region)
		b.WriteString("-aiplatform.")
	}
	if universe == "" {
		universe = publicUniverse
	}
	b.WriteString(universe)
}

// endpoint builds the URL of a method of the model, such as
// https://HOST/v1/projects/P/locations/L/publishers/google/models/M:verb. Host
// and path share one string.
func endpoint(t *providers.Target, m *engine.Model, verb, query string) (*url.URL, error) {
	if m.Resource == "" {
		if err := checkPlace(t); err != nil {
			return nil, err
		}
	}
	region := t.Region
	if m.Resource != "" {
		region = m.Location // host and path must agree
	}
	u := &url.URL{Scheme: "https", RawQuery: query}
	var b strings.Builder
	b.Grow(160)
	if t.BaseURL != "" {
		if err := writeBase(&b, u, t.BaseURL); err != nil {
			return nil, err
		}
	} else {
		writeHost(&b, region, t.UniverseDomain)
		u.Host = b.String()
	}
	path := b.Len()
	if prefix := u.Path; prefix != "" {
		b.WriteString(prefix)
	}
	if m.Version == "" {
		b.WriteString("/v1/")
	} else {
		b.WriteString("/" + m.Version + "/")
	}
	writeResource(&b, t, m)
	if verb != "" && verb[0] != '/' { // else a path below the resource
		b.WriteByte(':')
	}
	b.WriteString(verb)
	u.Path = b.String()[path:]
	return u, nil
}

// writeResource writes the resource name of the model, or, of an open one, that
// of the endpoint which all of them share.
func writeResource(b *strings.Builder, t *providers.Target, m *engine.Model) {
	if m.Family == engine.FamilyOpen || m.Family == engine.FamilyEndpoint {
		writeEndpoint(b, t, m)
		return
	}
	if m.Resource != "" {
		b.WriteString(m.Resource)
		return
	}
	for _, s := range [...]string{
		"projects/", t.ProjectID, "/locations/", t.Region, "/publishers/", m.Publisher, "/models/", m.Name,
	} {
		b.WriteString(s)
	}
}

// writeBase takes scheme, host and path prefix of a base URL.
func writeBase(b *strings.Builder, u *url.URL, base string) error {
	p, err := engine.BaseURL(base)
	if err != nil {
		return err
	}
	b.WriteString(p.Host)
	u.Scheme, u.Host, u.Path = p.Scheme, p.Host, p.Path
	return nil
}

// checkPlace finds a project or region that is missing or can't be one, before
// anything is sent.
func checkPlace(t *providers.Target) error {
	switch {
	case t.ProjectID == "":
		return badPlace("project_id", "no project is set: use WithProjectID, the catalog entry's project_id, the header x-gateway-vertex-project-id, or credentials that name one")
	case !place.IsProject(t.ProjectID):
		return badPlace("project_id", "not a project id or number")
	case t.Region == "":
		return errNoRegion()
	case !place.IsRegion(t.Region):
		return badPlace("region", "not a region: use a name such as us-central1, or global, us or eu")
	}
	return nil
}

func errNoRegion() error {
	return badPlace("region", "no region is set: use WithRegion, such as WithRegion(\"global\"), the catalog entry's region, or the header x-gateway-vertex-region")
}

func badPlace(param, message string) error {
	return &providers.Error{Code: providers.ErrInvalidConfig, Param: param, Message: message}
}

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
