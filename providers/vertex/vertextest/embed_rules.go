package vertextest

import (
	"fmt"
	"slices"
	"strings"
)

// embedTaskTypes are the task types there are.
//
// Source: https://cloud.google.com/vertex-ai/generative-ai/docs/embeddings/task-types
var embedTaskTypes = []string{
	"", "RETRIEVAL_QUERY", "RETRIEVAL_DOCUMENT", "SEMANTIC_SIMILARITY", "CLASSIFICATION", "CLUSTERING",
	"QUESTION_ANSWERING", "FACT_VERIFICATION", "CODE_RETRIEVAL_QUERY",
}

// check applies what the schema can't say.
func (j *embedJob) check() error {
	f := j.facts
	switch n := len(j.inputs); {
	case n == 0:
		return invalid("Request contains no instances.")
	case n > f.instances && f.verb == "predict":
		return invalid("%d instance(s) is allowed per prediction. Actual: %d", f.instances, n)
	case n > f.instances && f.instances == 1:
		return invalid("batchEmbedContents is not supported for model %s.", f.name)
	case n > f.instances:
		return invalid("at most %d requests can be in one batch", f.instances)
	case f.uncut && j.truncate != nil:
		return invalid("autoTruncate is not supported for model %s.", f.name)
	}
	total := 0
	for i := range j.inputs {
		in := &j.inputs[i]
		if err := j.checkInput(in); err != nil {
			return err
		}
		total += in.tokensOf()
	}
	if f.requestTokens > 0 && total > f.requestTokens {
		return tooManyTokens(total, f.requestTokens)
	}
	return nil
}

// tooManyTokens is the platform's refusal of too long a prompt.
func tooManyTokens(n, most int) error {
	return invalid("Unable to submit request because the input token count is %d but the model supports up to %d. "+
		"Reduce the input token count and try again.", n, most)
}

func (j *embedJob) checkInput(in *embedInput) error {
	f := j.facts
	switch {
	case in.text == "" && len(in.media) == 0:
		return invalid("The text content is empty.")
	case !slices.Contains(embedTaskTypes, in.task):
		return invalid("Invalid task_type: %s.", in.task)
	case f.untasked && in.task+in.title != "":
		return invalid("taskType and title are not supported for model %s.", f.name)
	case in.title != "" && in.task != "RETRIEVAL_DOCUMENT":
		return invalid("title is only supported when task_type is RETRIEVAL_DOCUMENT.")
	case !f.media && len(in.media) > 0:
		return invalid("Model %s supports text only.", f.name)
	case j.truncate != nil && !*j.truncate && in.tokensOf() > f.inputTokens:
		return tooManyTokens(in.tokensOf(), f.inputTokens)
	}
	for i := range in.media {
		if err := j.checkMedium(&in.media[i]); err != nil {
			return err
		}
	}
	return nil
}

func (j *embedJob) checkMedium(m *embedMedium) error {
	switch {
	case (m.data == "") == (m.uri == ""):
		return invalid("Exactly one of the data and its URI must be given.")
	case m.data != "" && !isBase64(m.data):
		return invalid("Base64 decoding failed for the media of an instance.")
	case m.uri != "" && j.facts.own && !strings.HasPrefix(m.uri, "gs://"):
		return invalid("gcsUri must begin with gs://.")
	case m.mime == "" && !j.facts.own:
		return invalid("Unable to submit request because it must have a mimeType value.")
	case m.kind == "video" && j.dims != 0 && j.dims != j.facts.dims:
		return invalid("Video embeddings support dimension %d only.", j.facts.dims)
	case m.start < 0, m.end != 0 && m.end <= m.start:
		return invalid("endOffsetSec must be greater than startOffsetSec.")
	}
	return nil
}

// checkDims checks the length that is asked for.
func (j *embedJob) checkDims() error {
	f := j.facts
	if len(f.sizes) > 0 {
		if !slices.Contains(f.sizes, j.dims) {
			return invalid("dimension must be one of %s.", strings.Trim(fmt.Sprint(f.sizes), "[]"))
		}
		return nil
	}
	if j.dims < f.least || j.dims > f.dims {
		return outOfRange("outputDimensionality", j.dims, f.least, f.dims+1)
	}
	return nil
}
