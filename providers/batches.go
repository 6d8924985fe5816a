package providers

import (
	"context"
	"time"
	"unicode/utf8"
)

// BatchRunner is the ability to run a file of requests as one job. A [Provider]
// that has it implements this too.
type BatchRunner interface {
	// BatchLines returns the translation of the lines of a batch, both ways, for
	// the model of the target. It belongs to one goroutine at a time.
	BatchLines(t *Target, q *BatchFormat) (BatchLines, error)
	// StartBatchJob starts a job and returns it as the platform tells it.
	StartBatchJob(ctx context.Context, t *Target, q *BatchJobRequest) (*BatchJob, error)
	// GetBatchJob returns a job by its full name.
	GetBatchJob(ctx context.Context, t *Target, name string) (*BatchJob, error)
	// FindBatchJob returns the job that has the label, or nil.
	FindBatchJob(ctx context.Context, t *Target, label, value string) (*BatchJob, error)
	// CancelBatchJob asks for a job's end.
	CancelBatchJob(ctx context.Context, t *Target, name string) error
}

// The endpoints that a batch can be for.
const (
	BatchChat       = "/v1/chat/completions"
	BatchEmbeddings = "/v1/embeddings"
)

// BatchFormat says how the lines of a batch are written.
type BatchFormat struct {
	// Endpoint is what all lines are for: [BatchChat] or [BatchEmbeddings].
	Endpoint string
	// Settings are what the lines have in common, as [BatchLines] told it when the
	// batch was made; nil for a new batch.
	Settings []byte
}

// BatchLines translates the lines of one batch. The id of a request is of the
// caller's making and comes back with its answer.
type BatchLines interface {
	// MaxLines is the most lines that the platform takes in one job.
	MaxLines() int
	// AppendChat appends the platform's line for a chat completion, without the
	// end of the line.
	AppendChat(dst []byte, id string, req *ChatCompletionRequest) ([]byte, []Warning, error)
	// AppendEmbedding appends that for embeddings.
	AppendEmbedding(dst []byte, id string, req *EmbeddingRequest) ([]byte, []Warning, error)
	// Settings are what all lines so far have in common, a JSON object, or nil.
	Settings() []byte
	// Read reads one line of the platform's output: the answer, or what is wrong
	// with it. Its error is about a line that is none.
	Read(line []byte, out *BatchResult) error
}

// BatchJobRequest is a job to start.
type BatchJobRequest struct {
	// DisplayName is for people.
	DisplayName string
	// Format is how the lines are written.
	Format BatchFormat
	// Input is the address of the lines, Output the prefix of where the answers
	// go.
	Input, Output string
	// Labels go onto the job.
	Labels map[string]string
}

// BatchJob is a job as the platform tells it.
type BatchJob struct {
	// Name is the full resource name.
	Name string
	// State is one of the statuses of a [Batch].
	State string
	// Output is the address of the directory that has the answers, "" as long as
	// there is none.
	Output string
	// Counted says that the platform told the counts, of lines.
	Counted                       bool
	Succeeded, Failed, Incomplete int64
	// Fault is why the job failed; nil if it did not.
	Fault *Error
	// Times are zero when not told.
	CreateTime, StartTime, EndTime, UpdateTime time.Time
	// Labels are those of the job.
	Labels map[string]string
	// Warnings is what was changed on the way.
	Warnings []Warning
}

// The statuses of a batch.
//
// Source: https://platform.openai.com/docs/guides/batch
const (
	BatchValidating = "validating"
	BatchInProgress = "in_progress"
	BatchFinalizing = "finalizing"
	BatchCompleted  = "completed"
	BatchFailed     = "failed"
	BatchExpired    = "expired"
	BatchCancelling = "cancelling"
	BatchCancelled  = "cancelled"
)

// BatchRequest says what to run.
type BatchRequest struct {
	// InputFileID is a file whose lines are requests, with the purpose "batch".
	InputFileID string
	// Endpoint is what all lines are for: [BatchChat] or [BatchEmbeddings].
	Endpoint string
	// CompletionWindow is "24h" or empty: the platform takes no other.
	CompletionWindow string
	// Metadata has at most 16 entries, with keys of 64 and values of 512
	// characters.
	Metadata map[string]string
	// IdempotencyKey tells batches of the same file and endpoint apart: without a
	// key of its own, a second request for them is answered with the first one's
	// batch, and starts nothing.
	IdempotencyKey string
	// Extra has the members that the schema does not know, which are reported as
	// warnings.
	Extra Extra
}

// Validate checks what can be known before anything is sent.
func (q *BatchRequest) Validate() error {
	switch {
	case q.InputFileID == "":
		return Invalid("input_file_id", "the id of a file with the purpose batch is required")
	case q.Endpoint == "":
		return Invalid("endpoint", "is required: "+BatchChat+" or "+BatchEmbeddings)
	case q.Endpoint != BatchChat && q.Endpoint != BatchEmbeddings:
		return Invalid("endpoint", "must be "+BatchChat+" or "+BatchEmbeddings)
	case q.CompletionWindow != "" && q.CompletionWindow != "24h":
		return Invalid("completion_window", "must be 24h: the platform has no other")
	case len(q.IdempotencyKey) > 256:
		return Invalid("idempotency_key", "must have at most 256 bytes")
	case len(q.Metadata) > 16:
		return Invalid("metadata", "must have at most 16 entries")
	}
	for key, value := range q.Metadata {
		if utf8.RuneCountInString(key) > 64 || utf8.RuneCountInString(value) > 512 {
			return Invalid("metadata", "keys must have at most 64 characters, and values at most 512")
		}
	}
	return nil
}

// Batch is a batch as the OpenAI schema shows it. Times are Unix seconds, 0 for
// none.
type Batch struct {
	ID               string
	Endpoint         string
	Model            string
	InputFileID      string
	CompletionWindow string
	Status           string
	// OutputFileID is the file with the answers, ErrorFileID that of the lines
	// that failed; each is empty as long as there are none.
	OutputFileID, ErrorFileID string

	CreatedAt, InProgressAt, FinalizingAt, CompletedAt, FailedAt, ExpiredAt, CancellingAt, CancelledAt int64

	RequestCounts BatchCounts
	// Errors say why the batch failed.
	Errors   []BatchError
	Metadata map[string]string
	// Job is the platform's name of the job, "" as long as there is none.
	Job string
	// Meta says what the gateway did. Its warnings are also about the lines: the
	// first of each kind.
	Meta Meta
}

// Ended reports whether the status is a last one.
func (b *Batch) Ended() bool {
	switch b.Status {
	case BatchCompleted, BatchFailed, BatchExpired, BatchCancelled:
		return true
	}
	return false
}

// BatchCounts counts the lines of a batch.
type BatchCounts struct{ Total, Completed, Failed int64 }

// BatchError is one reason why a batch failed.
type BatchError struct {
	Code, Message, Param string
	// Line is the line of the input, from 1; 0 for none.
	Line int64
}

// BatchResult is what became of one line.
type BatchResult struct {
	// CustomID is the line's own.
	CustomID string
	// Line is the line of the input, from 1, where it is known; else 0.
	Line int64
	// RequestID names the answer.
	RequestID string
	// Chat or Embeddings is the answer; both are nil when Err is not.
	Chat       *ChatCompletion
	Embeddings *EmbeddingResponse
	// Err says why there is no answer.
	Err *Error
}

// BatchList is one page of batches.
type BatchList struct {
	Data    []*Batch
	HasMore bool
	// Meta says what the gateway did.
	Meta Meta
}
