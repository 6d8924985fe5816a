package engine

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/b650d4bf/gateway/internal/jsonx"
	"github.com/b650d4bf/gateway/internal/wire/batch"
	"github.com/b650d4bf/gateway/providers"
)

var _ providers.BatchRunner = (*Engine)(nil)

// jobStates says what a state of the platform's is in the OpenAI schema.
//
// Source: https://cloud.google.com/vertex-ai/docs/reference/rest/v1/JobState
var jobStates = []struct{ state, status string }{
	{"JOB_STATE_UNSPECIFIED", providers.BatchValidating},
	{"JOB_STATE_QUEUED", providers.BatchValidating},
	{"JOB_STATE_PENDING", providers.BatchValidating},
	{"JOB_STATE_RUNNING", providers.BatchInProgress},
	{"JOB_STATE_UPDATING", providers.BatchInProgress},
	{"JOB_STATE_PAUSED", providers.BatchInProgress},
	{"JOB_STATE_SUCCEEDED", providers.BatchCompleted},
	{"JOB_STATE_PARTIALLY_SUCCEEDED", providers.BatchCompleted},
	{"JOB_STATE_FAILED", providers.BatchFailed},
	{"JOB_STATE_EXPIRED", providers.BatchExpired},
	{"JOB_STATE_CANCELLING", providers.BatchCancelling},
	{"JOB_STATE_CANCELLED", providers.BatchCancelled},
}

func (p *Engine) batchSite() (BatchSite, error) {
	site, ok := p.site.(BatchSite)
	if !ok {
		return nil, badSetting("provider", p.site.Name()+" runs no batches")
	}
	return site, nil
}

// StartBatchJob starts a job. It is asked for once: a second try might start
// another.
//
// Source: https://cloud.google.com/vertex-ai/docs/reference/rest/v1/projects.locations.batchPredictionJobs/create
func (p *Engine) StartBatchJob(ctx context.Context, t *providers.Target, q *providers.BatchJobRequest) (*providers.BatchJob, error) {
	site, err := p.batchSite()
	if err != nil {
		return nil, err
	}
	c := callOf(p.site, t, "")
	embeds := q.Format.Endpoint == providers.BatchEmbeddings
	if embeds {
		e := &embedding{p: p, t: t, q: &providers.EmbeddingRequest{Model: t.Model}}
		if err = e.findModel(); err == nil {
			c.in.model = e.model
		}
	} else {
		c.in.model, err = p.site.Model(t.Model)
	}
	if err != nil {
		return nil, err
	}
	model, err := site.BatchModel(t, &c.in.model)
	if err != nil {
		return nil, err
	}
	u, err := site.BatchesURL(t, "")
	if err != nil {
		return nil, err
	}
	var w jsonx.Writer
	if err := c.write(&w, func() error { return jobBody(&w, model, q, embeds) }); err != nil {
		return nil, err
	}
	return p.job(ctx, u, c)
}

// jobBody writes a new job.
func jobBody(w *jsonx.Writer, model string, q *providers.BatchJobRequest, embeds bool) error {
	w.BeginObject()
	putText(w, "displayName", q.DisplayName)
	putText(w, "model", model)
	w.Key("inputConfig")
	w.BeginObject()
	putText(w, "instancesFormat", "jsonl")
	w.Key("gcsSource")
	w.BeginObject()
	w.Key("uris")
	w.BeginArray()
	w.String(q.Input)
	w.EndArray()
	w.EndObject()
	w.EndObject()
	w.Key("outputConfig")
	w.BeginObject()
	putText(w, "predictionsFormat", "jsonl")
	w.Key("gcsDestination")
	w.BeginObject()
	putText(w, "outputUriPrefix", q.Output)
	w.EndObject()
	w.EndObject()
	if embeds {
		w.Key("instanceConfig")
		w.BeginObject()
		putText(w, "instanceType", "object")
		w.Key("excludedFields")
		w.BeginArray()
		w.String("custom_id")
		w.EndArray()
		w.EndObject()
		if raw := embedParameters(q.Format.Settings); raw != nil {
			w.Key("modelParameters")
			w.Raw(raw)
		}
	}
	if len(q.Labels) > 0 {
		w.Key("labels")
		w.BeginObject()
		for _, key := range slices.Sorted(maps.Keys(q.Labels)) {
			w.AnyKey(key)
			w.String(q.Labels[key])
		}
		w.EndObject()
	}
	w.EndObject()
	return w.Err()
}

// GetBatchJob returns a job by its full name.
func (p *Engine) GetBatchJob(ctx context.Context, t *providers.Target, name string) (*providers.BatchJob, error) {
	u, err := p.jobURL(t, name, "")
	if err != nil {
		return nil, err
	}
	var out *providers.BatchJob
	err = again(ctx, t, func() (err error) {
		own := *u
		out, err = p.job(ctx, &own, callOf(p.site, t, http.MethodGet))
		return err
	})
	return out, err
}

// CancelBatchJob asks for a job's end, which may take its time.
func (p *Engine) CancelBatchJob(ctx context.Context, t *providers.Target, name string) error {
	u, err := p.jobURL(t, name, "cancel")
	if err != nil {
		return err
	}
	return again(ctx, t, func() error {
		own := *u
		c := callOf(p.site, t, "")
		var w jsonx.Writer
		if err := c.write(&w, func() error {
			w.BeginObject()
			w.EndObject()
			return w.Err()
		}); err != nil {
			return err
		}
		return jobError(p.exchange(ctx, &own, c, (*jsonx.Reader).Skip))
	})
}

func (p *Engine) jobURL(t *providers.Target, name, verb string) (*url.URL, error) {
	site, err := p.batchSite()
	if err != nil {
		return nil, err
	}
	return site.BatchURL(t, name, verb)
}

// FindBatchJob returns the job of the target's place that has the label, or nil.
//
// Source: https://cloud.google.com/vertex-ai/docs/reference/rest/v1/projects.locations.batchPredictionJobs/list
func (p *Engine) FindBatchJob(ctx context.Context, t *providers.Target, label, value string) (*providers.BatchJob, error) {
	site, err := p.batchSite()
	if err != nil {
		return nil, err
	}
	query := url.Values{"filter": {"labels." + label + `="` + value + `"`}, "pageSize": {"10"}}
	u, err := site.BatchesURL(t, query.Encode())
	if err != nil {
		return nil, err
	}
	var wire batch.List
	err = again(ctx, t, func() error {
		own := *u
		return p.exchange(ctx, &own, callOf(p.site, t, http.MethodGet), wire.Decode)
	})
	if err != nil {
		return nil, err
	}
	for i := range wire.Jobs {
		if j := &wire.Jobs[i]; j.Labels[label] == value {
			return jobOf(j)
		}
	}
	return nil, nil //nolint:nilnil // documented: there is none
}

// job makes a call whose answer is one job.
func (p *Engine) job(ctx context.Context, u *url.URL, c *call) (*providers.BatchJob, error) {
	var wire batch.Job
	c.faulty = true // why it failed
	if err := p.exchange(ctx, u, c, wire.Decode); err != nil {
		return nil, jobError(err)
	}
	out, err := jobOf(&wire)
	return out, c.named(err)
}

// jobError says of a job that is not there what is missing.
func jobError(err error) error {
	if e, ok := errors.AsType[*providers.Error](err); ok && e.Code == providers.ErrModelNotFound && !strings.Contains(strings.ToLower(e.Message), "model") {
		e.Code = providers.ErrBatchNotFound
	}
	return err
}

// jobOf gives the platform's answer its types.
func jobOf(w *batch.Job) (*providers.BatchJob, error) {
	if w.Name == "" {
		return nil, answerError(providers.ErrBadResponse, "the platform's answer is no batch job")
	}
	out := &providers.BatchJob{
		Name: w.Name, Output: w.OutputDirectory, Counted: w.Counted, Succeeded: w.Succeeded, Failed: w.Failed, Incomplete: max(w.Incomplete, 0),
		Labels: w.Labels, State: providers.BatchInProgress,
	}
	known := w.State == ""
	for _, s := range jobStates {
		if s.state == w.State {
			out.State, known = s.status, true
		}
	}
	if !known {
		out.Warnings = append(out.Warnings, providers.Warning{
			Code: providers.WarnUnknown, Param: "status", Message: "the platform has a state that is not known: " + quoteShort(w.State),
		})
	}
	if isSaid(w.Error) {
		out.Fault = rpcFault(w.Error)
	}
	for _, m := range []struct {
		text string
		to   *time.Time
	}{{w.CreateTime, &out.CreateTime}, {w.StartTime, &out.StartTime}, {w.EndTime, &out.EndTime}, {w.UpdateTime, &out.UpdateTime}} {
		if m.text == "" {
			continue
		}
		var err error
		if *m.to, err = time.Parse(time.RFC3339Nano, m.text); err != nil {
			return nil, answerError(providers.ErrBadResponse, "a time of the job's is no RFC 3339 time")
		}
	}
	return out, nil
}
