package batch

import "github.com/b650d4bf/gateway/providers"

// The places that a parameter can be in.
const (
	inForm  = "POST /v1/files"
	inBatch = "POST /v1/batches"
	inLine  = "a line of the file"
	inList  = "GET /v1/files and GET /v1/batches"
)

// param is one parameter of files and batches, and what becomes of it.
type param struct {
	in, name string
	does     string
	// warned says that it is left out with a warning, for the reason in does.
	warned bool
	link   string
}

const (
	filesPage  = "https://platform.openai.com/docs/api-reference/files"
	batchPage  = "https://platform.openai.com/docs/api-reference/batch"
	jobsPage   = "https://cloud.google.com/vertex-ai/docs/reference/rest/v1/projects.locations.batchPredictionJobs"
	geminiPage = "https://cloud.google.com/vertex-ai/generative-ai/docs/multimodal/batch-prediction-from-cloud-storage"
	objectPage = "https://cloud.google.com/storage/docs/json_api/v1/objects"
)

// params is the table of parameters.
func params() []param {
	return []param{
		{inForm, "file", "an object of the bucket, sent as it is read; 1 GiB at most, or what WithMaxFileBytes says", false, objectPage},
		{inForm, "purpose", "metadata of the object; a batch wants `batch`", false, filesPage},
		{inForm, "expires_after[seconds]", "metadata and customTime of the object: 3600 to 2592000; after that the file is not found, and a rule of the bucket may delete it", false, objectPage},
		{inForm, "expires_after[anchor]", "must be `created_at`", false, filesPage},
		{inList, "limit", "1 to 10000 files (100), or 1 to 100 batches (20)", false, filesPage},
		{inList, "after", "the id of the last element of the page before", false, filesPage},
		{inList, "order", "must be `desc`: the newest first; of batches those of the newest file", false, filesPage},
		{inList, "purpose", "of files: chosen here", false, filesPage},
		{inBatch, "input_file_id", "the object whose lines are translated into another, which the job's gcsSource names", false, jobsPage},
		{inBatch, "endpoint", "`/v1/chat/completions` or `/v1/embeddings`; any other is refused", false, batchPage},
		{inBatch, "completion_window", "must be `24h`", false, batchPage},
		{inBatch, "metadata", "kept in the record of the batch: 16 entries at most", false, batchPage},
		{inBatch, "Idempotency-Key (header)", "tells batches of the same file and endpoint apart; the same three are the same batch, and start one job", false, batchPage},
		{inBatch, "output_expires_after", "left out: rules of the bucket delete what is below `batch-data/`", true, objectPage},
		{inLine, "custom_id", "goes with the line and comes back with its answer: in labels for Gemini, beside the request for Claude, beside the text for embeddings; 512 characters at most, all different", false, geminiPage},
		{inLine, "method", "must be `POST`", false, batchPage},
		{inLine, "url", "must be the batch's endpoint", false, batchPage},
		{inLine, "body.model", "the model of the job: the same in all lines; a slug chooses the catalog entry", false, jobsPage},
		{inLine, "body.stream", "true is refused", false, batchPage},
		{inLine, "body.n", "as many choices as the model gives to one request", false, geminiPage},
		{inLine, "body.labels", "as in a request of its own; names that begin with `gateway_` are refused", false, geminiPage},
		{inLine, "body.input", "one text; several are refused", false, geminiPage},
		{inLine, "body.dimensions, auto_truncate, encoding_format", "of embeddings: parameters of the job, so that they must be the same in all lines", false, jobsPage},
		{inLine, "body (all other members)", "as in a request of its own: the same body is sent", false, geminiPage},
	}
}

// leftOut is the warning about a member that is not sent on.
func leftOut(in, name string) providers.Warning {
	w := providers.Warning{Code: providers.WarnUnknown, Param: clip(name), Message: "left out: the platform has nothing like it"}
	for _, p := range params() {
		if p.in == in && p.name == name && p.warned {
			w.Code, w.Message = providers.WarnUnsupported, p.does
		}
	}
	return w
}
