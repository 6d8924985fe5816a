package vertex

import (
	"errors"
	"strings"
	"testing"

	"github.com/b650d4bf/gateway/catalog"
	"github.com/b650d4bf/gateway/internal/engine"
	"github.com/b650d4bf/gateway/providers"
)

func TestEndpointIsRightForEveryPlace(t *testing.T) {
	const published = "/v1/projects/p/locations/%/publishers/google/models/gemini-2.5-flash:generateContent"
	at := func(region string) string { return strings.ReplaceAll(published, "%", region) }
	for _, tt := range []struct {
		name   string
		target providers.Target
		want   string
	}{
		{"a region", providers.Target{Region: "europe-west4"}, "https://europe-west4-aiplatform.googleapis.com" + at("europe-west4")},
		{"global", providers.Target{Region: "global"}, "https://aiplatform.googleapis.com" + at("global")},
		{"the multi-region us", providers.Target{Region: "us"}, "https://aiplatform.us.rep.googleapis.com" + at("us")},
		{"the multi-region eu", providers.Target{Region: "eu"}, "https://aiplatform.eu.rep.googleapis.com" + at("eu")},
		{"another universe", providers.Target{Region: "u-france-east1", UniverseDomain: "s3nsapis.fr"}, "https://u-france-east1-aiplatform.s3nsapis.fr" + at("u-france-east1")},
		{"another universe, global", providers.Target{Region: "global", UniverseDomain: "x.example"}, "https://aiplatform.x.example" + at("global")},
		{"a base URL", providers.Target{Region: "eu", BaseURL: "https://proxy.example:8443"}, "https://proxy.example:8443" + at("eu")},
		{"a base URL with a slash", providers.Target{Region: "eu", BaseURL: "http://127.0.0.1:80/"}, "http://127.0.0.1:80" + at("eu")},
		{"a base URL with a path", providers.Target{Region: "eu", BaseURL: "https://proxy.example/vertex/x//"}, "https://proxy.example/vertex/x" + at("eu")},
		{"a base URL wins over the universe", providers.Target{Region: "us", BaseURL: "https://h", UniverseDomain: "x"}, "https://h" + at("us")},
		{"a project by number", providers.Target{Region: "global", ProjectID: "1234567"}, "https://aiplatform.googleapis.com" + strings.ReplaceAll(at("global"), "projects/p/", "projects/1234567/")},
		{"a project of a domain", providers.Target{Region: "global", ProjectID: "example.com:p"}, "https://aiplatform.googleapis.com" + strings.ReplaceAll(at("global"), "projects/p/", "projects/example.com:p/")},
		{
			"a tuned model is where its name says", providers.Target{Region: "global", Model: "projects/x/locations/us-east4/endpoints/9"},
			"https://us-east4-aiplatform.googleapis.com/v1/projects/x/locations/us-east4/endpoints/9:generateContent",
		},
		{
			"a tuned model needs no region of the target", providers.Target{Model: "projects/x/locations/eu/models/9"},
			"https://aiplatform.eu.rep.googleapis.com/v1/projects/x/locations/eu/models/9:generateContent",
		},
		{
			"a tuned model behind a base URL", providers.Target{BaseURL: "https://h/p", Model: "projects/x/locations/eu/models/9"},
			"https://h/p/v1/projects/x/locations/eu/models/9:generateContent",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.target.ProjectID = orP(tt.target.ProjectID)
			u, err := endpointOf(&tt.target)
			if err != nil {
				t.Fatal(err)
			}
			if u != tt.want {
				t.Errorf("%s\nwant\n%s", u, tt.want)
			}
		})
	}
}

func orP(project string) string {
	if project == "" {
		return "p"
	}
	return project
}

func endpointOf(t *providers.Target) (string, error) {
	ref := t.Model
	if ref == "" {
		ref = "gemini-2.5-flash"
	}
	m, err := parseModel(ref, catalog.DefaultModels())
	if err != nil {
		return "", err
	}
	u, err := endpoint(t, &m, "generateContent", "")
	if err != nil {
		return "", err
	}
	return u.String(), nil
}

func TestEndpointAsksForTheQueryOfAStream(t *testing.T) {
	m := engine.Model{Publisher: "google", Name: "m", Family: engine.FamilyGemini}
	u, err := endpoint(&providers.Target{Region: "global", ProjectID: "p"}, &m, "streamGenerateContent", "alt=sse")
	if err != nil {
		t.Fatal(err)
	}
	const want = "https://aiplatform.googleapis.com/v1/projects/p/locations/global/publishers/google/models/m:streamGenerateContent?alt=sse"
	if u.String() != want {
		t.Errorf("%s, want %s", u, want)
	}
}

func TestEndpointFindsWhatIsMissingOrWrong(t *testing.T) {
	const secret = "hunter2"
	for _, tt := range []struct {
		name   string
		target providers.Target
		param  string
	}{
		{"no project", providers.Target{Region: "eu"}, "project_id"},
		{"no project behind a base URL", providers.Target{Region: "eu", BaseURL: "https://h"}, "project_id"},
		{"a project with a slash", providers.Target{Region: "eu", ProjectID: "a/b"}, "project_id"},
		{"a project of dots", providers.Target{Region: "eu", ProjectID: ".."}, "project_id"},
		{"a project in capitals", providers.Target{Region: "eu", ProjectID: "P"}, "project_id"},
		{"a project that is too long", providers.Target{Region: "eu", ProjectID: strings.Repeat("p", 129)}, "project_id"},
		{"no region", providers.Target{ProjectID: "p"}, "region"},
		{"no region behind a base URL", providers.Target{ProjectID: "p", BaseURL: "https://h"}, "region"},
		{"a region that is a host", providers.Target{ProjectID: "p", Region: "evil.com/"}, "region"},
		{"a region that begins an option", providers.Target{ProjectID: "p", Region: "-x"}, "region"},
		{"a region that is too long", providers.Target{ProjectID: "p", Region: strings.Repeat("r", 64)}, "region"},
		{"a base URL without a scheme", providers.Target{ProjectID: "p", Region: "eu", BaseURL: "proxy.example"}, "base_url"},
		{"a base URL without a host", providers.Target{ProjectID: "p", Region: "eu", BaseURL: "https:///x"}, "base_url"},
		{"a base URL of another scheme", providers.Target{ProjectID: "p", Region: "eu", BaseURL: "ftp://h"}, "base_url"},
		{"a base URL with a password", providers.Target{ProjectID: "p", Region: "eu", BaseURL: "https://u:" + secret + "@h"}, "base_url"},
		{"a base URL with a query", providers.Target{ProjectID: "p", Region: "eu", BaseURL: "https://h?key=" + secret}, "base_url"},
		{"a base URL with an empty query", providers.Target{ProjectID: "p", Region: "eu", BaseURL: "https://h?"}, "base_url"},
		{"a base URL with a fragment", providers.Target{ProjectID: "p", Region: "eu", BaseURL: "https://h#" + secret}, "base_url"},
		{"a base URL with an escaped slash", providers.Target{ProjectID: "p", Region: "eu", BaseURL: "https://h/a%2Fb"}, "base_url"},
		{"a base URL that is none", providers.Target{ProjectID: "p", Region: "eu", BaseURL: "https://h:" + secret}, "base_url"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := endpointOf(&tt.target)
			var e *providers.Error
			if !errors.As(err, &e) || e.Code != providers.ErrInvalidConfig || e.Param != tt.param || e.Sent {
				t.Fatalf("%v, want %s about %s", err, providers.ErrInvalidConfig, tt.param)
			}
			if strings.Contains(err.Error(), secret) {
				t.Errorf("the error tells the secret: %v", err)
			}
		})
	}
}
