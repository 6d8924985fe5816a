package batch

import (
	"context"
	"errors"
	"time"

	"github.com/b650d4bf/gateway/internal/jsonx"
	"github.com/b650d4bf/gateway/providers"
)

// GetBatch returns a batch as it is now.
func (s *Service) GetBatch(ctx context.Context, id string) (*providers.Batch, error) {
	_, key, ok := s.Place.parse(id, kindBatch)
	if !ok {
		return nil, noBatch()
	}
	rec, err := s.load(ctx, key)
	if err != nil {
		return nil, err
	}
	if rec.phase == phaseStarting {
		return s.adopt(ctx, rec)
	}
	return s.show(ctx, rec)
}

// show asks the platform for the job of a record, if it has one.
func (s *Service) show(ctx context.Context, rec *record) (*providers.Batch, error) {
	if rec.job == "" {
		return s.tell(rec, nil), nil
	}
	job, err := s.job(ctx, rec)
	if err != nil {
		return nil, err
	}
	return s.tell(rec, job), nil
}

func (s *Service) job(ctx context.Context, rec *record) (*providers.BatchJob, error) {
	runner, target, err := s.Resolve(ctx, rec.model)
	if err != nil {
		return nil, err
	}
	return runner.GetBatchJob(ctx, target, rec.job)
}

// tell makes the batch of a record and its job.
func (s *Service) tell(rec *record, job *providers.BatchJob) *providers.Batch {
	b := &providers.Batch{
		ID: s.Place.id(kindBatch, rec.key), Endpoint: rec.endpoint, Model: rec.model, InputFileID: rec.inputFile, CompletionWindow: rec.window,
		Status: providers.BatchValidating, CreatedAt: rec.created, Metadata: rec.metadata, Job: rec.job,
		RequestCounts: providers.BatchCounts{Total: rec.total, Failed: rec.invalid},
	}
	b.Meta.Warnings = append(b.Meta.Warnings, rec.warnings...)
	if rec.phase == phaseCancelled {
		b.Status, b.CancelledAt = providers.BatchCancelled, unix(rec.updated)
	}
	if job == nil {
		return b
	}
	b.Meta.Warnings = append(b.Meta.Warnings, job.Warnings...)
	s.progress(b, rec, job)
	return b
}

// progress lays what the platform tells over a batch.
func (s *Service) progress(b *providers.Batch, rec *record, job *providers.BatchJob) {
	sent := rec.total - rec.invalid
	b.Status, b.InProgressAt = job.State, unix(job.StartTime)
	counts := &b.RequestCounts
	if job.Counted {
		counts.Completed, counts.Failed = job.Succeeded, rec.invalid+job.Failed
	} else if job.State == providers.BatchCompleted {
		counts.Completed = sent
	}
	ended := unix(job.EndTime)
	switch b.Status {
	case providers.BatchInProgress:
		if job.Counted && job.Succeeded+job.Failed >= sent {
			b.Status, b.FinalizingAt = providers.BatchFinalizing, unix(job.UpdateTime)
		}
	case providers.BatchCompleted:
		b.FinalizingAt, b.CompletedAt = ended, ended
	case providers.BatchFailed:
		b.FailedAt = ended
	case providers.BatchExpired:
		b.ExpiredAt = ended
	case providers.BatchCancelling:
		b.CancellingAt = unix(job.UpdateTime)
	case providers.BatchCancelled:
		b.CancelledAt = ended
	}
	if job.Fault != nil {
		b.Errors = append(b.Errors, providers.BatchError{Code: string(job.Fault.Code), Message: job.Fault.Message, Param: job.Fault.Param})
	}
	if !b.Ended() {
		return
	}
	if counts.Completed > 0 && job.Output != "" {
		b.OutputFileID = s.Place.id(kindOutput, rec.key)
	}
	if counts.Failed > 0 && (job.Output != "" || rec.invalid > 0) {
		b.ErrorFileID = s.Place.id(kindErrors, rec.key)
	}
}

// CancelBatch asks for a batch's end. One that has no job yet never gets one.
func (s *Service) CancelBatch(ctx context.Context, id string) (*providers.Batch, error) {
	_, key, ok := s.Place.parse(id, kindBatch)
	if !ok {
		return nil, noBatch()
	}
	for range maxContests {
		rec, err := s.load(ctx, key)
		if err != nil {
			return nil, err
		}
		switch rec.phase {
		case phaseStarted:
			return s.cancelJob(ctx, rec)
		case phaseCancelled:
			return s.tell(rec, nil), nil
		case phaseStarting:
			b, err := s.adopt(ctx, rec)
			switch {
			case err != nil:
				return nil, err
			case b.Job == "":
				return nil, &providers.Error{Code: providers.ErrUnavailable, Message: "the batch is just being started: cancel it in two minutes"}
			}
			return s.cancelJob(ctx, rec)
		}
		rec.phase = phaseCancelled
		if done, err := s.save(ctx, rec); err != nil || done {
			return s.tell(rec, nil), err
		}
	}
	return nil, contested()
}

// cancelJob cancels the job of a batch.
func (s *Service) cancelJob(ctx context.Context, rec *record) (*providers.Batch, error) {
	runner, target, err := s.Resolve(ctx, rec.model)
	if err != nil {
		return nil, err
	}
	job, err := runner.GetBatchJob(ctx, target, rec.job)
	if err != nil {
		return nil, err
	}
	switch b := s.tell(rec, job); {
	case b.Status == providers.BatchCancelled || b.Status == providers.BatchCancelling:
		return b, nil
	case b.Ended():
		return nil, providers.Invalid("batch_id", "the batch has ended: its status is "+b.Status)
	}
	if err := runner.CancelBatchJob(ctx, target, rec.job); err != nil {
		return nil, err
	}
	if job, err = runner.GetBatchJob(ctx, target, rec.job); err != nil {
		return nil, err
	}
	b := s.tell(rec, job)
	if !b.Ended() && b.Status != providers.BatchCancelling {
		b.Status, b.CancellingAt = providers.BatchCancelling, time.Now().Unix() // the platform shows it in time
	}
	return b, nil
}

// ListBatches returns one page of batches: those of the newest files first.
func (s *Service) ListBatches(ctx context.Context, q *providers.ListQuery) (*providers.BatchList, error) {
	limit, err := pageLimit(q.Limit, defaultBatches, maxBatches)
	if err != nil {
		return nil, err
	}
	after, err := s.after(q.After, kindBatch)
	if err != nil {
		return nil, err
	}
	var keys []string
	out := &providers.BatchList{Data: []*providers.Batch{}}
	err = s.walk(ctx, "batches/", after, limit, func(key string, _ *providers.Object) bool {
		if out.HasMore = len(keys) == limit; out.HasMore {
			return false
		}
		keys = append(keys, key)
		return true
	})
	if err != nil {
		return nil, err
	}
	for _, key := range keys {
		rec, err := s.load(ctx, key)
		if errors.Is(err, providers.ErrBatchNotFound) {
			continue // it was given up meanwhile
		}
		if err != nil {
			return nil, err
		}
		b, err := s.show(ctx, rec)
		if errors.Is(err, providers.ErrBatchNotFound) { // the job was deleted
			b = s.tell(rec, nil)
		} else if err != nil {
			return nil, err
		}
		out.Data = append(out.Data, b)
	}
	return out, nil
}

// firstMessage is why the first line of an error file failed.
func firstMessage(line []byte) string {
	raw, _ := jsonx.Lookup(line, "error")
	text := ""
	for _, key := range []string{"param", "message"} {
		if value, ok := jsonx.Lookup(raw, key); ok {
			r := jsonx.NewReader(value)
			if text != "" {
				text += ": "
			}
			text += r.String()
		}
	}
	return text
}
