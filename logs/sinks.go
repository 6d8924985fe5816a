package logs

import (
	"context"
	"log/slog"

	"go.uber.org/zap"
)

// entryMessage is the message of the entries of [ZapSink] and [SlogSink].
const entryMessage = "call"

// ZapSink writes an entry for each record: at the level info, and warn for a call that
// failed. Its fields have the names of [Fields], with error_message and the metadata as
// metadata.KEY; those without a value are left out, and so is content.
func ZapSink(l *zap.Logger) Sink {
	return sinkFunc(func(_ context.Context, r *Record) {
		level := zap.InfoLevel
		if r.Error != nil {
			level = zap.WarnLevel
		}
		e := l.Check(level, entryMessage)
		if e == nil {
			return
		}
		var list []zap.Field
		entries(r, func(name string, kind Kind, v Value) {
			switch kind {
			case Number:
				list = append(list, zap.Float64(name, v.Num))
			case Flag:
				list = append(list, zap.Bool(name, v.Num != 0))
			case Word:
				list = append(list, zap.String(name, v.Text))
			}
		})
		e.Write(append(list, zap.Time("time", r.Time))...)
	})
}

// SlogSink writes an entry for each record, as [ZapSink] does. The time of the entry is
// that of the record.
func SlogSink(l *slog.Logger) Sink {
	return sinkFunc(func(ctx context.Context, r *Record) {
		level := slog.LevelInfo
		if r.Error != nil {
			level = slog.LevelWarn
		}
		h := l.Handler()
		if !h.Enabled(ctx, level) {
			return
		}
		e := slog.NewRecord(r.Time, level, entryMessage, 0)
		entries(r, func(name string, kind Kind, v Value) {
			switch kind {
			case Number:
				e.AddAttrs(slog.Float64(name, v.Num))
			case Flag:
				e.AddAttrs(slog.Bool(name, v.Num != 0))
			case Word:
				e.AddAttrs(slog.String(name, v.Text))
			}
		})
		_ = h.Handle(ctx, e) // what a logger can't write, nobody is told
	})
}

// sinkFunc writes one record after the other.
type sinkFunc func(ctx context.Context, r *Record)

// Write writes the records, as far as there is time.
func (f sinkFunc) Write(ctx context.Context, records []Record) error {
	for i := range records {
		if err := ctx.Err(); err != nil {
			return err
		}
		f(ctx, &records[i])
	}
	return nil
}

// entries gives out the fields of a record that have a value, then the error's message
// and the metadata.
func entries(r *Record, yield func(name string, kind Kind, v Value)) {
	for _, f := range allFields {
		if v, ok := f.Of(r); ok {
			yield(f.Name, f.Kind, v)
		}
	}
	if r.Error != nil {
		yield("error_message", Word, Value{Text: r.Error.Message})
	}
	for _, key := range sortedKeys(r.Metadata) {
		yield(metadataField+key, Word, Value{Text: r.Metadata[key]})
	}
}

// allFields is the table of fields.
var allFields = Fields()
