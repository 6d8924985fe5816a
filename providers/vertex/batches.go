package vertex

import (
	"context"
	"net/url"
	"strings"

	"github.com/b650d4bf/gateway/internal/engine"
	"github.com/b650d4bf/gateway/internal/place"
	"github.com/b650d4bf/gateway/providers"
)

// BatchLines returns the translation of the lines of a batch for the model of
// the target: one of Gemini or Claude, or one that embeds texts.
func (p *Provider) BatchLines(t *providers.Target, q *providers.BatchFormat) (providers.BatchLines, error) {
	return p.engine.BatchLines(t, q)
}

// StartBatchJob starts a job in the project and location of the target.
//
// Source: https://cloud.google.com/vertex-ai/docs/reference/rest/v1/projects.locations.batchPredictionJobs/create
func (p *Provider) StartBatchJob(ctx context.Context, t *providers.Target, q *providers.BatchJobRequest) (*providers.BatchJob, error) {
	return p.engine.StartBatchJob(ctx, t, q)
}

// GetBatchJob returns a job by its full name.
func (p *Provider) GetBatchJob(ctx context.Context, t *providers.Target, name string) (*providers.BatchJob, error) {
	return p.engine.GetBatchJob(ctx, t, name)
}

// FindBatchJob returns the job that has the label, or nil.
func (p *Provider) FindBatchJob(ctx context.Context, t *providers.Target, label, value string) (*providers.BatchJob, error) {
	return p.engine.FindBatchJob(ctx, t, label, value)
}

// CancelBatchJob asks for a job's end.
func (p *Provider) CancelBatchJob(ctx context.Context, t *providers.Target, name string) error {
	return p.engine.CancelBatchJob(ctx, t, name)
}

// jobsURL is the list of jobs of a place, with what comes behind it.
func jobsURL(t *providers.Target, project, location, rest, query string) (*url.URL, error) {
	u := &url.URL{Scheme: "https", RawQuery: query}
	var host strings.Builder
	if t.BaseURL != "" {
		if err := writeBase(&host, u, t.BaseURL); err != nil {
			return nil, err
		}
	} else {
		writeHost(&host, location, t.UniverseDomain) // host and path must agree
		u.Host = host.String()
	}
	u.Path += "/v1/projects/" + project + "/locations/" + location + "/batchPredictionJobs" + rest
	return u, nil
}

// BatchesURL is the list of jobs in the place of the target.
func (*site) BatchesURL(t *providers.Target, query string) (*url.URL, error) {
	if err := checkPlace(t); err != nil {
		return nil, err
	}
	return jobsURL(t, t.ProjectID, t.Region, "", query)
}

// BatchURL is the address of one job, which its full name says.
func (*site) BatchURL(t *providers.Target, name, verb string) (*url.URL, error) {
	seg := strings.Split(name, "/")
	if len(seg) != 6 || seg[0] != "projects" || seg[2] != "locations" || seg[4] != "batchPredictionJobs" ||
		!place.IsProject(seg[1]) || !place.IsRegion(seg[3]) || !isSegment(seg[5]) {
		return nil, providers.Invalid("name", "the name of a batch job is projects/P/locations/L/batchPredictionJobs/ID")
	}
	rest := "/" + seg[5]
	if verb != "" {
		rest += ":" + verb
	}
	return jobsURL(t, seg[1], seg[3], rest, "")
}

// BatchModel is the name that a job has for the model: without a place where the
// publisher's models are the same everywhere.
//
// Source: https://cloud.google.com/vertex-ai/generative-ai/docs/multimodal/batch-prediction-from-cloud-storage
func (*site) BatchModel(t *providers.Target, m *engine.Model) (string, error) {
	if m.Resource == "" {
		return "publishers/" + m.Publisher + "/models/" + m.Name, nil
	}
	if !strings.Contains(m.Resource, "/models/") {
		return "", providers.Invalid("model", "a batch of a tuned model wants its model, projects/P/locations/L/models/ID, and not its endpoint")
	}
	if m.Location != t.Region && t.Region != "" {
		return "", providers.Invalid("region", "a batch runs where the model is: set the region "+m.Location)
	}
	return m.Resource, nil
}
