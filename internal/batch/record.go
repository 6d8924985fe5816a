package batch

import (
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/b650d4bf/gateway/internal/jsonx"
	"github.com/b650d4bf/gateway/providers"
)

// The phases of a batch before the platform has a job of it, in their order.
const (
	phasePreparing = "preparing" // the lines are being translated
	phaseStarting  = "starting"  // the job is being asked for
	phaseStarted   = "started"   // the record names the job
	phaseCancelled = "cancelled" // before there was a job
)

// record is what is kept of a batch. A new one is written only where there was
// none, and over an old one only if nobody else has: so each step is taken once,
// however many processes try.
type record struct {
	key        string
	generation int64     // of the object
	updated    time.Time // of the object

	endpoint, inputFile, window, model, phase, job, input string

	metadata       map[string]string
	created        int64
	settings       []byte // what the lines have in common
	total, invalid int64
	warnings       []providers.Warning
}

func recordObject(key string) string { return "batches/" + key + ".json" }
func dataPrefix(key string) string   { return "batch-data/" + key + "/" }
func outputPrefix(key string) string { return dataPrefix(key) + "output/" }
func errorsObject(key string) string { return dataPrefix(key) + "errors.jsonl" }

// maxRecord bounds what is read of a record.
const maxRecord = 1 << 20

func (rec *record) encode() ([]byte, error) {
	var w jsonx.Writer
	w.BeginObject()
	for _, m := range rec.texts() {
		if *m.text != "" {
			w.Key(m.key)
			w.String(*m.text)
		}
	}
	for _, m := range rec.numbers() {
		w.Key(m.key)
		w.Int(*m.n)
	}
	if rec.metadata != nil {
		w.Key("metadata")
		w.BeginObject()
		for _, key := range slices.Sorted(maps.Keys(rec.metadata)) {
			w.AnyKey(key)
			w.String(rec.metadata[key])
		}
		w.EndObject()
	}
	if rec.settings != nil {
		w.Key("settings")
		w.Raw(rec.settings)
	}
	w.Key("warnings")
	w.BeginArray()
	for _, one := range rec.warnings {
		w.BeginObject()
		w.Key("code")
		w.String(one.Code)
		w.Key("param")
		w.String(one.Param)
		w.Key("message")
		w.String(one.Message)
		w.EndObject()
	}
	w.EndArray()
	w.EndObject()
	return w.Bytes(), w.Err()
}

// textMember and numberMember are members of a record with where they are.
type (
	textMember struct {
		key  string
		text *string
	}
	numberMember struct {
		key string
		n   *int64
	}
)

func (rec *record) texts() []textMember {
	return []textMember{
		{"endpoint", &rec.endpoint}, {"input_file_id", &rec.inputFile}, {"completion_window", &rec.window}, {"model", &rec.model},
		{"phase", &rec.phase}, {"job", &rec.job}, {"input", &rec.input},
	}
}

func (rec *record) numbers() []numberMember {
	return []numberMember{{"created_at", &rec.created}, {"total", &rec.total}, {"invalid", &rec.invalid}}
}

func (rec *record) decode(data []byte) error {
	r := jsonx.NewReader(data)
	texts, numbers := rec.texts(), rec.numbers()
	for r.Object(); r.NextKey(); {
		key := string(r.Key())
		if i := slices.IndexFunc(texts, func(m textMember) bool { return m.key == key }); i >= 0 {
			*texts[i].text = r.String()
			continue
		}
		if i := slices.IndexFunc(numbers, func(m numberMember) bool { return m.key == key }); i >= 0 {
			*numbers[i].n = r.Int()
			continue
		}
		switch key {
		case "metadata":
			rec.metadata = map[string]string{}
			for r.Object(); r.NextKey(); {
				name := string(r.Key())
				rec.metadata[name] = r.String()
			}
		case "settings":
			rec.settings = bytes.Clone(r.Raw())
		case "warnings":
			for r.Array(); r.NextElem(); {
				rec.warnings = append(rec.warnings, readWarning(&r))
			}
		default:
			r.Skip()
		}
	}
	return r.End()
}

func readWarning(r *jsonx.Reader) providers.Warning {
	var w providers.Warning
	for r.Object(); r.NextKey(); {
		switch string(r.Key()) {
		case "code":
			w.Code = r.String()
		case "param":
			w.Param = r.String()
		case "message":
			w.Message = r.String()
		default:
			r.Skip()
		}
	}
	return w
}

func noBatch() error {
	return &providers.Error{Code: providers.ErrBatchNotFound, Param: "batch_id", Message: "there is no such batch in the bucket that is configured"}
}

// load reads a record, or returns an [providers.ErrBatchNotFound].
func (s *Service) load(ctx context.Context, key string) (*record, error) {
	o, err := s.Store.StatObject(ctx, s.Target, s.Place.object(recordObject(key)))
	if err != nil {
		return nil, missing(err, noBatch())
	}
	r, err := s.Store.GetObject(ctx, s.Target, o.ObjectName, 0)
	if errors.Is(err, providers.ErrFileNotFound) { // it has changed just now
		return s.reload(ctx, key)
	}
	if err != nil {
		return nil, err
	}
	return readRecord(key, o, r)
}

func (s *Service) reload(ctx context.Context, key string) (*record, error) {
	o, err := s.Store.StatObject(ctx, s.Target, s.Place.object(recordObject(key)))
	if err != nil {
		return nil, missing(err, noBatch())
	}
	r, err := s.Store.GetObject(ctx, s.Target, o.ObjectName, 0)
	if err != nil {
		return nil, missing(err, noBatch())
	}
	return readRecord(key, o, r)
}

func readRecord(key string, o *providers.Object, r io.ReadCloser) (*record, error) {
	defer func() { _ = r.Close() }()
	data, err := io.ReadAll(io.LimitReader(r, maxRecord))
	if err != nil {
		return nil, err
	}
	rec := &record{key: key, generation: o.Generation, updated: o.Updated}
	if err := rec.decode(data); err != nil {
		return nil, &providers.Error{Code: providers.ErrBadResponse, Message: "the record of the batch in the bucket can't be understood", Err: err}
	}
	return rec, nil
}

// save writes the record over the version it was read from, and reports whether
// that was still the newest.
func (s *Service) save(ctx context.Context, rec *record) (bool, error) {
	data, err := rec.encode()
	if err != nil {
		return false, err
	}
	o, err := s.Store.PutObject(ctx, s.Target, s.Place.object(recordObject(rec.key)), bytes.NewReader(data),
		&providers.ObjectOptions{ContentType: "application/json", IfGeneration: &rec.generation})
	if e, ok := errors.AsType[*providers.Error](err); ok && e.StatusCode == http.StatusPreconditionFailed {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	rec.generation, rec.updated = o.Generation, o.Updated
	return true, nil
}

// forget removes what is left of a batch that was not started.
func (s *Service) forget(ctx context.Context, rec *record) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	at := s.Place.object(recordObject(rec.key))
	at.Generation = rec.generation
	if s.Store.DeleteObject(ctx, s.Target, at) == nil {
		_ = s.deleteAll(ctx, s.Place.Prefix+dataPrefix(rec.key))
	}
}
