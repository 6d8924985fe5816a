package gateway

import (
	"context"
	"errors"
	"io"
	"iter"
	"time"

	"github.com/b650d4bf/gateway/internal/front"
	"github.com/b650d4bf/gateway/internal/pipeline"
	"github.com/b650d4bf/gateway/providers"
)

// BatchesService runs files of requests as jobs of the platform, at half the
// price and without haste. Nothing of a batch is kept in the process: any client
// with the same bucket finds it by its id. It is safe for concurrent use.
type BatchesService struct{ client *Client }

// Create starts a batch of a file that [FilesService.Create] made with the
// purpose "batch". It returns once all lines are translated and the job is
// started. A line that is wrong goes to the error file and stops no other; a file
// that is wrong as a whole is an error.
//
// The same file and endpoint are the same batch, unless IdempotencyKey differs:
// asking again returns the first one, and finishes what was interrupted.
func (s *BatchesService) Create(ctx context.Context, req *BatchRequest, opts ...RequestOption) (*Batch, error) {
	call, err := s.prepare(opts)
	switch {
	case err != nil:
		return nil, err
	case req == nil:
		return nil, providers.Invalid("request", "the request is nil")
	}
	return s.client.engine.CreateBatch(ctx, s.client.settings, call, req)
}

// Get returns a batch as it is now. One that is not there is an
// [ErrBatchNotFound].
func (s *BatchesService) Get(ctx context.Context, id string, opts ...RequestOption) (*Batch, error) {
	call, err := s.prepare(opts)
	if err != nil {
		return nil, err
	}
	return s.client.engine.GetBatch(ctx, s.client.settings, call, id)
}

// Page returns one page of batches, those of the newest files first.
func (s *BatchesService) Page(ctx context.Context, q ListQuery, opts ...RequestOption) (*BatchList, error) {
	call, err := s.prepare(opts)
	if err != nil {
		return nil, err
	}
	return s.client.engine.ListBatches(ctx, s.client.settings, call, &q)
}

// List returns batches for a range loop, those of the newest files first, from
// behind the query's After on. Pages are fetched as the loop needs them. An error
// is the last element. Ranging again begins anew.
func (s *BatchesService) List(ctx context.Context, q ListQuery, opts ...RequestOption) iter.Seq2[*Batch, error] {
	return listed(q, func(q ListQuery) (list []*Batch, more bool, err error) {
		page, err := s.Page(ctx, q, opts...)
		if err != nil {
			return nil, false, err
		}
		return page.Data, page.HasMore, nil
	}, func(one *Batch) string { return one.ID })
}

// Cancel asks for a batch's end. What has been answered by then can be read.
func (s *BatchesService) Cancel(ctx context.Context, id string, opts ...RequestOption) (*Batch, error) {
	call, err := s.prepare(opts)
	if err != nil {
		return nil, err
	}
	return s.client.engine.CancelBatch(ctx, s.client.settings, call, id)
}

// The pauses and patience of [BatchesService.Wait].
const (
	// DefaultBatchInterval is the pause between two looks at a batch.
	DefaultBatchInterval = 30 * time.Second
	maxWaitFaults        = 10
)

// BatchWait says how to wait. The zero value is ready for use.
type BatchWait struct {
	// Interval is the pause between two looks; 0 means [DefaultBatchInterval].
	Interval time.Duration
	// Progress is told of each look; nil tells nobody. It is called on the
	// goroutine of the call.
	Progress func(*Batch)
}

// Wait returns a batch once it has ended, however it has. It keeps nothing: after
// a restart, another Wait with the same id goes on. Up to ten failures in a row
// that may pass are waited through; the context bounds the whole.
func (s *BatchesService) Wait(ctx context.Context, id string, w BatchWait, opts ...RequestOption) (*Batch, error) {
	interval := w.Interval
	if interval <= 0 {
		interval = DefaultBatchInterval
	}
	for faults := 0; ; {
		b, err := s.Get(ctx, id, opts...)
		switch e, _ := errors.AsType[*Error](err); {
		case err == nil:
			faults = 0
			if w.Progress != nil {
				w.Progress(b)
			}
			if b.Ended() {
				return b, nil
			}
		case e == nil || !e.Retryable() || ctx.Err() != nil || faults == maxWaitFaults:
			return nil, err
		default:
			faults++
		}
		timer := time.NewTimer(interval)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return nil, waitEnded(ctx)
		}
	}
}

func waitEnded(ctx context.Context) error {
	code := ErrCanceled
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		code = ErrTimeout
	}
	return &Error{Code: code, Message: "the caller's context ended before the batch did", Err: context.Cause(ctx)}
}

// Results returns what became of the lines of a batch that has ended, for a range
// loop: the answer or the error of each, by its custom_id, in no order that says
// anything. They are read as the loop needs them. The last element is an error if
// not all could be read, with a nil result. Ranging again begins anew.
//
//	for result, err := range client.Batches.Results(ctx, batch.ID) {
//		if err != nil { … }
//		answers[result.CustomID] = result.Chat
//	}
func (s *BatchesService) Results(ctx context.Context, id string, opts ...RequestOption) iter.Seq2[*BatchResult, error] {
	return func(yield func(*BatchResult, error) bool) {
		call, err := s.prepare(opts)
		if err != nil {
			yield(nil, err)
			return
		}
		results, err := s.client.engine.BatchResults(ctx, s.client.settings, call, id)
		if err != nil {
			yield(nil, err)
			return
		}
		defer func() { _ = results.Close() }()
		for {
			one, err := results.Next()
			if errors.Is(err, io.EOF) {
				return
			}
			if err != nil {
				yield(nil, err)
				return
			}
			own := *one
			if !yield(&own, nil) {
				return
			}
		}
	}
}

func (s *BatchesService) prepare(opts []RequestOption) (*pipeline.Settings, error) {
	if s.client == nil {
		return nil, errNoClient()
	}
	return s.client.call(opts)
}

func (b backend) CreateBatch(ctx context.Context, req *BatchRequest, o *front.Overrides) (*Batch, error) {
	return b.c.engine.CreateBatch(ctx, b.c.settings, callSettings(o), req)
}

func (b backend) GetBatch(ctx context.Context, id string, o *front.Overrides) (*Batch, error) {
	return b.c.engine.GetBatch(ctx, b.c.settings, callSettings(o), id)
}

func (b backend) ListBatches(ctx context.Context, q *ListQuery, o *front.Overrides) (*BatchList, error) {
	return b.c.engine.ListBatches(ctx, b.c.settings, callSettings(o), q)
}

func (b backend) CancelBatch(ctx context.Context, id string, o *front.Overrides) (*Batch, error) {
	return b.c.engine.CancelBatch(ctx, b.c.settings, callSettings(o), id)
}

// Batches, documented in package providers.
type (
	// BatchRequest says what to run.
	BatchRequest = providers.BatchRequest
	// Batch is a batch as it was when it was looked at.
	Batch = providers.Batch
	// BatchCounts counts the lines of a batch.
	BatchCounts = providers.BatchCounts
	// BatchError is one reason why a batch failed.
	BatchError = providers.BatchError
	// BatchResult is what became of one line.
	BatchResult = providers.BatchResult
	// BatchList is one page of batches.
	BatchList = providers.BatchList
	// BatchRunner is the ability of a [Provider] to run batches.
	BatchRunner = providers.BatchRunner
)

// What a batch can be for, the purpose of its file, and its statuses.
const (
	BatchChat       = providers.BatchChat
	BatchEmbeddings = providers.BatchEmbeddings

	PurposeBatch       = providers.PurposeBatch
	PurposeBatchOutput = providers.PurposeBatchOutput

	BatchValidating = providers.BatchValidating
	BatchInProgress = providers.BatchInProgress
	BatchFinalizing = providers.BatchFinalizing
	BatchCompleted  = providers.BatchCompleted
	BatchFailed     = providers.BatchFailed
	BatchExpired    = providers.BatchExpired
	BatchCancelling = providers.BatchCancelling
	BatchCancelled  = providers.BatchCancelled
)
