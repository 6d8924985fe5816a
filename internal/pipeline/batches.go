package pipeline

import (
	"context"

	"github.com/b650d4bf/gateway/internal/batch"
	"github.com/b650d4bf/gateway/providers"
)

// The operations on batches, as observers and logs name them.
const (
	opBatchCreate  = "batch.create"
	opBatchGet     = "batch.get"
	opBatchList    = "batch.list"
	opBatchCancel  = "batch.cancel"
	opBatchResults = "batch.results"
)

// CreateBatch translates a file and starts a job with it.
func (e *Engine) CreateBatch(ctx context.Context, client, call *Settings, req *providers.BatchRequest) (*providers.Batch, error) {
	t := task{client: client, call: call, operation: opBatchCreate, check: req.Validate}
	return e.batch(ctx, &t, func(ctx context.Context, s *batch.Service) (*providers.Batch, error) { return s.CreateBatch(ctx, req) })
}

// GetBatch returns a batch as it is now.
func (e *Engine) GetBatch(ctx context.Context, client, call *Settings, id string) (*providers.Batch, error) {
	t := task{client: client, call: call, operation: opBatchGet}
	return e.batch(ctx, &t, func(ctx context.Context, s *batch.Service) (*providers.Batch, error) { return s.GetBatch(ctx, id) })
}

// CancelBatch asks for a batch's end.
func (e *Engine) CancelBatch(ctx context.Context, client, call *Settings, id string) (*providers.Batch, error) {
	t := task{client: client, call: call, operation: opBatchCancel}
	return e.batch(ctx, &t, func(ctx context.Context, s *batch.Service) (*providers.Batch, error) { return s.CancelBatch(ctx, id) })
}

// batch runs a task whose answer is one batch.
func (e *Engine) batch(ctx context.Context, t *task, do func(context.Context, *batch.Service) (*providers.Batch, error)) (*providers.Batch, error) {
	var out *providers.Batch
	err := e.kept(ctx, t, func(ctx context.Context, s *batch.Service) (*providers.Meta, error) {
		got, err := do(ctx, s)
		if err != nil {
			return nil, err
		}
		out = got
		return &out.Meta, nil
	})
	return out, err
}

// ListBatches returns one page of batches.
func (e *Engine) ListBatches(ctx context.Context, client, call *Settings, q *providers.ListQuery) (out *providers.BatchList, err error) {
	t := task{client: client, call: call, operation: opBatchList}
	err = e.kept(ctx, &t, func(ctx context.Context, s *batch.Service) (*providers.Meta, error) {
		got, err := s.ListBatches(ctx, q)
		if err != nil {
			return nil, err
		}
		out = got
		return &out.Meta, nil
	})
	return out, err
}

// BatchResults returns what became of the lines of a batch.
func (e *Engine) BatchResults(ctx context.Context, client, call *Settings, id string) (out *batch.Results, err error) {
	t := task{client: client, call: call, operation: opBatchResults, lasts: true}
	err = e.kept(ctx, &t, func(ctx context.Context, s *batch.Service) (*providers.Meta, error) {
		got, err := s.Results(ctx, id)
		if err != nil {
			return nil, err
		}
		out = got
		return new(providers.Meta), nil
	})
	return out, err
}
