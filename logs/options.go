package logs

import (
	"time"

	"github.com/b650d4bf/gateway/prices"
	"github.com/b650d4bf/gateway/providers"
)

// The defaults of [Options].
const (
	DefaultQueueRecords  = 4096
	DefaultQueueBytes    = 32 << 20
	DefaultBatchSize     = 256
	DefaultFlushInterval = 500 * time.Millisecond
	DefaultWriteTimeout  = 30 * time.Second
	DefaultMaxContent    = 64 << 10
)

// Pricer says what calls cost; a *prices.Table is one. It is asked on the goroutine of
// the call and must not block.
type Pricer interface {
	// Record returns what the call of a record cost, and what an answer that no request
	// was sent for would have cost; nil for what is not known.
	Record(r *providers.Record) (cost, saved *prices.Amount)
}

// Options say what a [Log] keeps and where.
type Options struct {
	// Store gets the records and finds them again, and Sinks get them too. There must be
	// one of them at least. Who made them closes them, after the log.
	Store Store
	Sinks []Sink
	// Prices fill in Cost and Saved; nil leaves them unknown.
	Prices Pricer
	// Content keeps prompts and answers too, but for calls that said debug=false. The
	// default keeps none.
	Content bool
	// MaxContent bounds a request and an answer, each, in bytes; 0 is
	// [DefaultMaxContent]. Of what is larger the beginning is kept, as a JSON string.
	MaxContent int
	// ErrorMessages keeps the messages of errors as callers get them. They may quote the
	// request, and those of platforms credentials. By default there is a sentence for
	// each code, which says nothing of the call.
	ErrorMessages bool
	// Redact may change all of a record before it is written anywhere. It runs in the
	// background, one record at a time. When it panics, the record loses its content,
	// metadata, user and error message, and [Stats] count it.
	Redact func(*Record)
	// QueueRecords and QueueBytes bound what waits: for Redact, and for each sink. More
	// is dropped and counted. 0 is [DefaultQueueRecords] and [DefaultQueueBytes].
	QueueRecords, QueueBytes int
	// BatchSize is how many records a sink gets at once at most, and FlushInterval how
	// long a record waits for others; it does not while half of QueueBytes is waiting. 0
	// is [DefaultBatchSize] and [DefaultFlushInterval].
	BatchSize     int
	FlushInterval time.Duration
	// WriteTimeout bounds a Write of a sink that obeys its context; 0 is
	// [DefaultWriteTimeout].
	WriteTimeout time.Duration
}

// ready checks the options and fills in the defaults.
func (o *Options) ready() error {
	bad := func(param, message string) error {
		return &providers.Error{Code: providers.ErrInvalidConfig, Param: "logs." + param, Message: message}
	}
	if o.Store == nil && len(o.Sinks) == 0 {
		return bad("sinks", "there is nowhere to write to: give a Store, such as logs.NewMemory(0), or Sinks")
	}
	for _, s := range o.Sinks {
		if s == nil {
			return bad("sinks", "must not have a nil")
		}
	}
	for name, n := range map[string]*int{
		"max_content": &o.MaxContent, "queue_records": &o.QueueRecords, "queue_bytes": &o.QueueBytes, "batch_size": &o.BatchSize,
	} {
		if *n < 0 {
			return bad(name, "must not be negative: 0 is the default")
		}
	}
	if o.FlushInterval < 0 || o.WriteTimeout < 0 {
		return bad("flush_interval", "a time must not be negative: 0 is the default")
	}
	o.MaxContent = either(o.MaxContent, DefaultMaxContent)
	o.QueueRecords, o.QueueBytes = either(o.QueueRecords, DefaultQueueRecords), either(o.QueueBytes, DefaultQueueBytes)
	o.BatchSize = min(either(o.BatchSize, DefaultBatchSize), o.QueueRecords)
	o.FlushInterval, o.WriteTimeout = either(o.FlushInterval, DefaultFlushInterval), either(o.WriteTimeout, DefaultWriteTimeout)
	return nil
}

func either[T int | time.Duration](v, otherwise T) T {
	if v == 0 {
		return otherwise
	}
	return v
}
