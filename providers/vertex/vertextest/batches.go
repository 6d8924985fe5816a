package vertextest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// batchConfig says how batches go.
type batchConfig struct {
	duration time.Duration
	shard    int
	fault    string
}

// WithBatchDuration sets how long a batch takes: a quarter of it pending, the
// rest running. By default it has ended when it is asked for.
func WithBatchDuration(d time.Duration) Option { return func(c *config) { c.batches.duration = d } }

// WithBatchShards writes the output of a batch in files of at most n lines. By
// default there is one.
func WithBatchShards(n int) Option { return func(c *config) { c.batches.shard = n } }

// WithBatchFault makes batches fail with this message once their time is over.
func WithBatchFault(message string) Option { return func(c *config) { c.batches.fault = message } }

// jobBody is the body of a new job. Members of the schema that batches of
// generative models have no use for are not known here.
//
// Source: https://cloud.google.com/vertex-ai/docs/reference/rest/v1/projects.locations.batchPredictionJobs
type jobBody struct {
	DisplayName string `json:"displayName"`
	Model       string `json:"model"`
	InputConfig struct {
		InstancesFormat string `json:"instancesFormat"`
		GCSSource       struct {
			URIs []string `json:"uris"`
		} `json:"gcsSource"`
	} `json:"inputConfig"`
	OutputConfig struct {
		PredictionsFormat string `json:"predictionsFormat"`
		GCSDestination    struct {
			OutputURIPrefix string `json:"outputUriPrefix"`
		} `json:"gcsDestination"`
	} `json:"outputConfig"`
	InstanceConfig *struct {
		InstanceType   string   `json:"instanceType"`
		ExcludedFields []string `json:"excludedFields"`
	} `json:"instanceConfig,omitempty"`
	ModelParameters json.RawMessage   `json:"modelParameters,omitempty"`
	Labels          map[string]string `json:"labels,omitempty"`
}

// batchJob is one job.
type batchJob struct {
	name   string
	of     target // of the model
	body   jobBody
	header http.Header // of the call that made it

	created, ends, cancelled time.Time // cancelled is zero unless it was
	running, done            bool
	lines, failed, good      int
	directory, fault         string
}

// batchCall is one call about batches.
type batchCall struct {
	*jobCall
	id string
}

var batchModel = regexp.MustCompile(`^(?:projects/[^/]+/locations/[^/]+/)?(?:publishers/([^/]+)/models/([^/]+)|models/([^/]+))$`)

// create starts a job.
func (c *batchCall) create() (response, error) {
	if kind := c.header.Get("Content-Type"); !strings.HasPrefix(kind, "application/json") {
		return response{}, invalid("Unsupported content type. Expected application/json.")
	}
	j := &batchJob{header: c.header.Clone(), created: time.Now()}
	d := json.NewDecoder(bytes.NewReader(c.body))
	d.DisallowUnknownFields()
	if err := d.Decode(&j.body); err != nil {
		if name, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
			return response{}, unknownName(strings.Trim(name, `"`), "batch_prediction_job")
		}
		return response{}, invalid("Invalid JSON payload received.")
	}
	if err := c.check(j); err != nil {
		return response{}, err
	}
	j.ends = j.created.Add(c.cfg.batches.duration)
	j.name = c.target.numbered() + "/batchPredictionJobs/" + strconv.Itoa(8_000_000_000+len(c.server.jobs))
	c.server.jobs = append(c.server.jobs, j)
	return jsonResponse(j.told(time.Now()))
}

// check refuses what the platform would.
func (c *batchCall) check(j *batchJob) error {
	b, m := &j.body, batchModel.FindStringSubmatch(j.body.Model)
	switch {
	case b.DisplayName == "" || len(b.DisplayName) > 128:
		return invalid("The display_name must be set, with at most 128 characters.")
	case m == nil:
		return invalid("Invalid model name: %s.", b.Model)
	case b.InputConfig.InstancesFormat != "jsonl" || b.OutputConfig.PredictionsFormat != "jsonl":
		return invalid("The formats of instances and predictions must be jsonl.")
	case len(b.InputConfig.GCSSource.URIs) != 1 || !strings.HasPrefix(b.InputConfig.GCSSource.URIs[0], "gs://"):
		return invalid("Exactly one gs:// URI must be the source.")
	case !strings.HasPrefix(b.OutputConfig.GCSDestination.OutputURIPrefix, "gs://"):
		return invalid("The output_uri_prefix must be a gs:// URI.")
	case b.InstanceConfig != nil && b.InstanceConfig.InstanceType != "object":
		return invalid("The instance_type must be object.")
	}
	for key, value := range b.Labels {
		if !labelKey.MatchString(key) || !labelValue.MatchString(value) {
			return invalid("Invalid label %q.", key)
		}
	}
	j.of = target{version: "v1", project: c.target.project, location: c.target.location, publisher: m[1], model: m[2], verb: "generateContent"}
	x := &exchange{server: c.server, cfg: c.cfg, target: j.of}
	switch {
	case m[3] != "":
		j.of.model = m[3]
		return nil
	case m[1] == "anthropic":
		j.of.verb = "rawPredict"
		return x.findClaude(m[2])
	}
	if err := x.findModel(); err != nil {
		j.of.verb = "predict"
		x.target = j.of
		_, err := x.findEmbedder()
		return err
	}
	return nil
}

// state is the job's state at a moment.
func (j *batchJob) state(now time.Time) string {
	switch {
	case !j.cancelled.IsZero() && !j.done:
		return "JOB_STATE_CANCELLING"
	case !j.cancelled.IsZero():
		return "JOB_STATE_CANCELLED"
	case j.done && j.fault != "":
		return "JOB_STATE_FAILED"
	case j.done && j.failed > 0 && j.good > 0:
		return "JOB_STATE_PARTIALLY_SUCCEEDED"
	case j.done:
		return "JOB_STATE_SUCCEEDED"
	case now.Before(j.created.Add(j.ends.Sub(j.created) / 4)):
		return "JOB_STATE_PENDING"
	}
	return "JOB_STATE_RUNNING"
}

// told is the job as callers are told of it.
func (j *batchJob) told(now time.Time) map[string]any {
	state := j.state(now)
	out := map[string]any{
		"name": j.name, "displayName": j.body.DisplayName, "model": j.body.Model, "inputConfig": j.body.InputConfig,
		"outputConfig": j.body.OutputConfig, "state": state, "createTime": stamp(j.created), "updateTime": stamp(now),
	}
	if len(j.body.Labels) > 0 {
		out["labels"] = j.body.Labels
	}
	if state == "JOB_STATE_PENDING" {
		return out
	}
	out["startTime"] = stamp(j.created.Add(j.ends.Sub(j.created) / 4))
	good, failed := j.good, j.failed
	if !j.done && j.ends.After(j.created) {
		good = j.lines * int(now.Sub(j.created)) / int(j.ends.Sub(j.created))
	}
	out["completionStats"] = map[string]string{
		"successfulCount": strconv.Itoa(good), "failedCount": strconv.Itoa(failed), "incompleteCount": strconv.Itoa(max(0, j.lines-good-failed)),
	}
	if !j.done {
		return out
	}
	out["endTime"] = stamp(j.ends)
	if j.fault != "" {
		out["error"] = map[string]any{"code": 3, "message": j.fault}
	}
	if j.directory != "" {
		out["outputInfo"] = map[string]string{"gcsOutputDirectory": j.directory}
	}
	return out
}

// find finds the job of the path.
func (c *batchCall) find() (*batchJob, error) {
	name := c.target.numbered() + "/batchPredictionJobs/" + c.id
	for _, j := range c.server.jobs {
		if j.name == name {
			return j, nil
		}
	}
	return nil, &statusError{Code: http.StatusNotFound, Status: "NOT_FOUND", Message: fmt.Sprintf("The BatchPredictionJob does not exist: %s", name)}
}

func (c *batchCall) get() (response, error) {
	j, err := c.find()
	if err != nil {
		return response{}, err
	}
	return jsonResponse(j.told(time.Now()))
}

// cancel ends a job after an eighth of its time.
func (c *batchCall) cancel() (response, error) {
	j, err := c.find()
	if err != nil {
		return response{}, err
	}
	if len(bytes.TrimSpace(c.body)) > 0 && string(bytes.TrimSpace(c.body)) != "{}" {
		return response{}, invalid("The body of a cancellation is empty.")
	}
	if now := time.Now(); !j.done && j.cancelled.IsZero() {
		j.cancelled = now
		j.ends = now.Add(min(j.ends.Sub(now), j.ends.Sub(j.created)/8))
	}
	return jsonResponse(struct{}{})
}

// remove forgets a job that has ended.
func (c *batchCall) remove() (response, error) {
	j, err := c.find()
	switch {
	case err != nil:
		return response{}, err
	case !j.done:
		return response{}, &statusError{Code: http.StatusBadRequest, Status: "FAILED_PRECONDITION", Message: "The job has not ended."}
	}
	c.server.jobs = slices.DeleteFunc(c.server.jobs, func(one *batchJob) bool { return one == j })
	return jsonResponse(struct{}{})
}

var labelFilter = regexp.MustCompile(`^labels\.([a-z0-9_-]+)="([a-z0-9_-]*)"$`)

// list lists jobs, the newest first.
func (c *batchCall) list() (response, error) {
	size, from, err := page(c.query)
	if err != nil {
		return response{}, err
	}
	var filter []string
	if text := c.query.Get("filter"); text != "" {
		if filter = labelFilter.FindStringSubmatch(text); filter == nil {
			return response{}, invalid("The emulator knows filters by one label only.")
		}
	}
	prefix := c.target.numbered() + "/"
	var all []map[string]any
	for _, j := range slices.Backward(c.server.jobs) {
		if !strings.HasPrefix(j.name, prefix) || filter != nil && j.body.Labels[filter[1]] != filter[2] {
			continue
		}
		all = append(all, j.told(time.Now()))
	}
	out := map[string]any{}
	if part := all[min(from, len(all)):min(from+size, len(all))]; len(part) > 0 {
		out["batchPredictionJobs"] = part
	}
	if from+size < len(all) {
		out["nextPageToken"] = strconv.Itoa(from + size)
	}
	return jsonResponse(out)
}
