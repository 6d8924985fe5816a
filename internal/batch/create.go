package batch

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/b650d4bf/gateway/providers"
)

const (
	// jobLabel is the label by which the job of a batch is found again.
	jobLabel = "gateway_batch"
	// startGrace is how long a process may take between asking for a job and
	// noting it: before that nobody else asks.
	startGrace = 2 * time.Minute
	// maxContests is how often a record may change under a step.
	maxContests = 5
)

// CreateBatch translates a file and starts a job with it. The same file and
// endpoint with the same idempotency key are the same batch: a second call
// returns it, and goes on where another one was interrupted. A file that is wrong
// as a whole is an error, and leaves nothing behind.
func (s *Service) CreateBatch(ctx context.Context, q *providers.BatchRequest) (*providers.Batch, error) {
	if err := q.Validate(); err != nil {
		return nil, err
	}
	_, file, ok := s.Place.parse(q.InputFileID, kindFile)
	if !ok {
		return nil, noFile("input_file_id")
	}
	f, at, err := s.stat(ctx, file, "input_file_id")
	if err != nil {
		return nil, err
	}
	if f.Purpose != providers.PurposeBatch {
		return nil, providers.Invalid("input_file_id", "the file's purpose is not batch")
	}
	rec, err := s.begin(ctx, derivedKey(file, q.Endpoint, q.IdempotencyKey), q)
	if err != nil {
		return nil, err
	}
	b, err := s.advance(ctx, rec, at)
	if err != nil {
		return nil, err
	}
	for name := range q.Extra.All() {
		b.Meta.Warnings = append(b.Meta.Warnings, leftOut(inBatch, name))
	}
	return b, nil
}

// begin finds the record of a batch, or makes it.
func (s *Service) begin(ctx context.Context, key string, q *providers.BatchRequest) (*record, error) {
	for range maxContests {
		rec, err := s.load(ctx, key)
		if err == nil || !errors.Is(err, providers.ErrBatchNotFound) {
			return rec, err
		}
		rec = &record{
			key: key, endpoint: q.Endpoint, inputFile: q.InputFileID, window: "24h", phase: phasePreparing,
			metadata: q.Metadata, created: time.Now().Unix(),
		}
		if done, err := s.save(ctx, rec); err != nil || done {
			return rec, err
		}
	}
	return nil, contested()
}

func contested() error {
	return &providers.Error{Code: providers.ErrUnavailable, Message: "others change the batch all the time: try again"}
}

// advance takes the steps that are left to a job.
func (s *Service) advance(ctx context.Context, rec *record, file providers.ObjectName) (*providers.Batch, error) {
	switch rec.phase {
	case phasePreparing:
		return s.prepare(ctx, rec, file)
	case phaseStarting:
		return s.adopt(ctx, rec)
	}
	return s.show(ctx, rec)
}

// prepare translates the lines. Whoever is done first starts the job.
func (s *Service) prepare(ctx context.Context, rec *record, file providers.ObjectName) (*providers.Batch, error) {
	own := *rec
	own.total, own.invalid, own.input = 0, 0, "input-"+rand.Text()+".jsonl"
	t, err := s.upload(ctx, &own, file)
	if err == nil && t.valid == 0 {
		err = noLines(t)
	}
	if err == nil && len(t.bad) > 0 {
		_, err = s.Store.PutObject(ctx, s.Target, s.Place.object(errorsObject(rec.key)), bytes.NewReader(t.bad), &providers.ObjectOptions{ContentType: jsonLines})
	}
	if err != nil {
		if !passing(err) {
			s.forget(ctx, rec)
		}
		return nil, err
	}
	own.phase, own.invalid, own.settings, own.warnings = phaseStarting, t.failed, t.format.Settings(), t.summary()
	done, err := s.save(ctx, &own)
	if err != nil {
		return nil, err
	}
	if !done { // another one was, or has cancelled it
		_ = s.Store.DeleteObject(ctx, s.Target, s.Place.object(dataPrefix(rec.key)+own.input))
		return s.GetBatch(ctx, s.Place.id(kindBatch, rec.key))
	}
	return s.start(ctx, &own, t.runner, t.target)
}

// passing reports whether the same may succeed later.
func passing(err error) bool {
	e, ok := errors.AsType[*providers.Error](err)
	return !ok || e.Retryable() || e.Code == providers.ErrCanceled || e.Code == providers.ErrAuthentication || e.Code == providers.ErrPermission
}

func noLines(t *translation) error {
	if t.rec.total == 0 {
		return providers.Invalid("input_file_id", "the file has no lines")
	}
	first, _, _ := bytes.Cut(t.bad, []byte{'\n'})
	return providers.Invalid("input_file_id", "none of the "+strconv.FormatInt(t.rec.total, 10)+" lines can be sent; the first one: "+firstMessage(first))
}

// upload writes the platform's lines while they are translated.
func (s *Service) upload(ctx context.Context, rec *record, file providers.ObjectName) (*translation, error) {
	in, err := s.open(ctx, file)
	if err != nil {
		return nil, missing(err, noFile("input_file_id"))
	}
	defer func() { _ = in.Close() }()
	t := &translation{ctx: ctx, s: s, rec: rec, in: newLines(in, maxLine), seen: map[[16]byte]struct{}{}}
	_, err = s.Store.PutObject(ctx, s.Target, s.Place.object(dataPrefix(rec.key)+rec.input), t, &providers.ObjectOptions{ContentType: jsonLines})
	return t, err
}

// start asks for the job, and notes it.
func (s *Service) start(ctx context.Context, rec *record, runner providers.BatchRunner, target *providers.Target) (*providers.Batch, error) {
	job, err := runner.StartBatchJob(ctx, target, &providers.BatchJobRequest{
		DisplayName: s.Place.id(kindBatch, rec.key), Format: providers.BatchFormat{Endpoint: rec.endpoint, Settings: rec.settings},
		Input: s.Place.object(dataPrefix(rec.key) + rec.input).URI(), Output: s.Place.object(outputPrefix(rec.key)).URI(),
		Labels: map[string]string{jobLabel: rec.key},
	})
	if err != nil {
		s.unstarted(ctx, rec, err)
		return nil, err
	}
	return s.note(ctx, rec, job)
}

// unstarted makes way for another try after a refusal. Where it is not known
// whether there is a job now, the next call looks for it.
func (s *Service) unstarted(ctx context.Context, rec *record, err error) {
	e, ok := errors.AsType[*providers.Error](err)
	if ok && (!e.Sent && e.StatusCode == 0 || e.StatusCode >= 400 && e.StatusCode < 500 && e.StatusCode != http.StatusRequestTimeout) {
		s.forget(ctx, rec)
	}
}

// note writes down which job a batch has.
func (s *Service) note(ctx context.Context, rec *record, job *providers.BatchJob) (*providers.Batch, error) {
	rec.phase, rec.job = phaseStarted, job.Name
	if _, err := s.save(ctx, rec); err != nil {
		return nil, err // the label leads to the job
	}
	return s.tell(rec, job), nil
}

// adopt goes on with a batch whose job was asked for by somebody who did not note
// it. As long as that one may still be about to, nothing is done.
func (s *Service) adopt(ctx context.Context, rec *record) (*providers.Batch, error) {
	runner, target, err := s.Resolve(ctx, rec.model)
	if err != nil {
		return nil, err
	}
	job, err := runner.FindBatchJob(ctx, target, jobLabel, rec.key)
	switch {
	case err != nil:
		return nil, err
	case job != nil:
		return s.note(ctx, rec, job)
	case time.Since(rec.updated) < startGrace:
		return s.tell(rec, nil), nil
	}
	if done, err := s.save(ctx, rec); err != nil || !done { // the one who writes it anew may ask
		return s.tell(rec, nil), err
	}
	return s.start(ctx, rec, runner, target)
}
