// Package batch is what the platform tells of batch prediction jobs, without
// meaning.
package batch

import "github.com/b650d4bf/gateway/internal/jsonx"

// Job is one job. Times are RFC 3339 text.
//
// Source: https://cloud.google.com/vertex-ai/docs/reference/rest/v1/projects.locations.batchPredictionJobs
type Job struct {
	Name, DisplayName, Model, State, OutputDirectory string

	CreateTime, StartTime, EndTime, UpdateTime string

	// Counted says that there are statistics.
	Counted                       bool
	Succeeded, Failed, Incomplete int64

	// Error is the raw google.rpc.Status, nil for none.
	Error  []byte
	Labels map[string]string
}

// Decode reads one job. A member that is null counts as not given.
func (j *Job) Decode(r *jsonx.Reader) {
	*j = Job{}
	texts := map[string]*string{
		"name": &j.Name, "displayName": &j.DisplayName, "model": &j.Model, "state": &j.State,
		"createTime": &j.CreateTime, "startTime": &j.StartTime, "endTime": &j.EndTime, "updateTime": &j.UpdateTime,
	}
	for r.Object(); r.NextKey(); {
		if r.Null() {
			continue
		}
		if text, ok := texts[string(r.Key())]; ok {
			*text = r.String()
			continue
		}
		switch string(r.Key()) {
		case "outputInfo":
			j.output(r)
		case "completionStats":
			j.counts(r)
		case "error":
			j.Error = append([]byte(nil), r.Raw()...)
		case "labels":
			j.Labels = map[string]string{}
			for r.Object(); r.NextKey(); {
				key := string(r.Key())
				j.Labels[key] = r.String()
			}
		default:
			r.Skip()
		}
	}
}

func (j *Job) output(r *jsonx.Reader) {
	for r.Object(); r.NextKey(); {
		if string(r.Key()) == "gcsOutputDirectory" {
			j.OutputDirectory = r.String()
		} else {
			r.Skip()
		}
	}
}

func (j *Job) counts(r *jsonx.Reader) {
	j.Counted = true
	for r.Object(); r.NextKey(); {
		switch string(r.Key()) {
		case "successfulCount":
			j.Succeeded = r.LooseInt()
		case "failedCount":
			j.Failed = r.LooseInt()
		case "incompleteCount":
			j.Incomplete = r.LooseInt()
		default:
			r.Skip()
		}
	}
}

// List is one page of jobs.
type List struct {
	Jobs          []Job
	NextPageToken string
}

// Decode reads one page.
func (l *List) Decode(r *jsonx.Reader) {
	*l = List{}
	for r.Object(); r.NextKey(); {
		if r.Null() {
			continue
		}
		switch string(r.Key()) {
		case "batchPredictionJobs":
			for r.Array(); r.NextElem(); {
				var j Job
				j.Decode(r)
				l.Jobs = append(l.Jobs, j)
			}
		case "nextPageToken":
			l.NextPageToken = r.String()
		default:
			r.Skip()
		}
	}
}
