package vertex

import (
	"net/url"
	"strings"

	"github.com/b650d4bf/gateway/internal/engine"
	"github.com/b650d4bf/gateway/providers"
)

var _ engine.RankSite = (*site)(nil)

// RankURL is the ranking method of the service that Vertex AI Search is made of.
// It is in the multi-regions us and eu and, for all other regions, in global. A
// base URL replaces its host, as it does the platform's.
//
// Source: https://cloud.google.com/generative-ai-app-builder/docs/ranking and
// https://cloud.google.com/generative-ai-app-builder/docs/locations
func (*site) RankURL(t *providers.Target) (u *url.URL, location string, err error) {
	if location = "global"; t.Region == "us" || t.Region == "eu" {
		location = t.Region
	}
	own := *t
	own.Region = location
	if err := checkPlace(&own); err != nil {
		return nil, "", err
	}
	u = &url.URL{Scheme: "https"}
	var host strings.Builder
	if t.BaseURL != "" {
		if err := writeBase(&host, u, t.BaseURL); err != nil {
			return nil, "", err
		}
	} else {
		universe := t.UniverseDomain
		if universe == "" {
			universe = publicUniverse
		}
		if location != "global" {
			host.WriteString(location + "-")
		}
		u.Host = host.String() + "discoveryengine." + universe
	}
	u.Path += "/v1/projects/" + t.ProjectID + "/locations/" + location + "/rankingConfigs/default_ranking_config:rank"
	return u, location, nil
}
