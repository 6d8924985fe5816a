// Package logsql is what stores of records in SQL have in common: the columns of a
// record, conditions out of queries, and cursors. It knows no driver.
package logsql

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/b650d4bf/gateway/logs"
	"github.com/b650d4bf/gateway/providers"
)

// Row is a record as tables have it.
type Row struct {
	ID string
	// At is the time in nanoseconds since 1970.
	At int64
	// Values are those of [logs.Fields], in their order: nil, a string, a float64 or a
	// bool.
	Values []any
	// Metadata is JSON, nil without any.
	Metadata []byte
	// Search is [logs.SearchText].
	Search string
	// Record is the JSON of the record without its content and feedback.
	Record   []byte
	Content  *logs.Content
	Feedback []string // JSON
}

// Size is about how many bytes a row takes.
func (r *Row) Size() int {
	n := len(r.Record) + len(r.Search) + len(r.Metadata)
	if r.Content != nil {
		n += len(r.Content.Request) + len(r.Content.Response)
	}
	for _, f := range r.Feedback {
		n += len(f)
	}
	return n
}

var errNoID = errors.New("a record has no id")

// Rows returns the rows of records, each id and time once, sorted by them, so that
// processes that write the same ones take their locks in one order. Those that cannot be
// written down are left out: bad says how many, and err why the first.
func Rows(records []logs.Record) (rows []Row, bad int, err error) {
	fields := logs.Fields()
	rows = make([]Row, 0, len(records))
	for i := range records {
		row, fault := newRow(&records[i], fields)
		if fault == nil {
			rows = append(rows, row)
			continue
		}
		if bad++; err == nil {
			err = fault
		}
	}
	slices.SortStableFunc(rows, func(a, b Row) int { return cmp.Or(cmp.Compare(a.ID, b.ID), cmp.Compare(a.At, b.At)) })
	rows = slices.CompactFunc(rows, func(a, b Row) bool { return a.ID == b.ID && a.At == b.At })
	return rows, bad, err
}

func newRow(r *logs.Record, fields []logs.Field) (Row, error) {
	if r.ID == "" {
		return Row{}, errNoID
	}
	kept := *r
	kept.Content, kept.Feedback = nil, nil
	// What is compared is what is returned: JSON has microseconds.
	for _, d := range []*logs.Milliseconds{&kept.FirstChunk, &kept.Duration, &kept.TimeSaved} {
		*d = logs.Milliseconds(time.Duration(*d).Round(time.Microsecond))
	}
	out := Row{ID: Word(r.ID), At: At(r.Time), Content: r.Content}
	var err error
	if out.Record, err = json.Marshal(&kept); err != nil {
		return Row{}, err
	}
	for i := range r.Feedback {
		said, err := json.Marshal(&r.Feedback[i])
		if err != nil {
			return Row{}, err
		}
		out.Feedback = append(out.Feedback, string(said))
	}
	kept.Feedback = r.Feedback
	out.Values = make([]any, len(fields))
	for i, f := range fields {
		if v, ok := f.Of(&kept); ok {
			out.Values[i] = value(f.Kind, v)
		}
	}
	out.Search = logs.SearchText(&kept)
	out.Metadata, err = metadata(r.Metadata)
	return out, err
}

func value(kind logs.Kind, v logs.Value) any {
	switch kind {
	case logs.Number:
		if math.IsNaN(v.Num) {
			return nil
		}
		return v.Num
	case logs.Flag:
		return v.Text == "true"
	case logs.Word:
	}
	return Word(v.Text)
}

// metadata returns the entries as JSON, with keys and values that databases take.
func metadata(entries map[string]string) ([]byte, error) {
	if len(entries) == 0 {
		return nil, nil
	}
	kept := make(map[string]string, len(entries))
	for k, v := range entries {
		kept[Text(k)] = Word(v)
	}
	return json.Marshal(kept)
}

// At returns a time in nanoseconds since 1970; times outside of 1678 to 2262 are
// those.
func At(t time.Time) int64 {
	const first, last = math.MinInt64 / int64(time.Second), math.MaxInt64 / int64(time.Second)
	switch s := t.Unix(); {
	case s <= first:
		return math.MinInt64
	case s >= last:
		return math.MaxInt64
	}
	return t.UnixNano()
}

// Text returns a text that databases keep: as JSON does, with U+FFFD in place of
// each byte that is not of UTF-8, and in place of NUL, which PostgreSQL does not take.
func Text(s string) string {
	if utf8.ValidString(s) && !strings.ContainsRune(s, 0) {
		return s
	}
	return strings.Map(func(r rune) rune {
		if r == 0 {
			return utf8.RuneError
		}
		return r
	}, s)
}

const (
	// wordBytes is how long a word in a column may be: an index takes 2,704 bytes in
	// all, see https://www.postgresql.org/docs/current/btree.html.
	wordBytes = 1000
	// wordKept is how much of a longer one is in the column at least, before its digest,
	// and ordered of one is how much its order may depend on.
	wordKept = 900
	ordered  = wordKept - utf8.UTFMax
)

// Word returns a text as columns have it. Of one that is longer than 1,000 bytes
// these are the first 900 and a digest: it is equal to itself alone still.
func Word(s string) string {
	s = Text(s)
	if len(s) <= wordBytes {
		return s
	}
	sum := sha256.Sum256([]byte(s))
	return cut(s, wordKept) + hex.EncodeToString(sum[:])
}

// cut returns the beginning of a text, of so many bytes at most.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// Record reads a record and what was said of it.
func Record(record []byte, said []string) (*logs.Record, error) {
	out := new(logs.Record)
	if err := json.Unmarshal(record, out); err != nil {
		return nil, err
	}
	var err error
	out.Feedback, err = Feedback(said)
	return out, err
}

// Feedback reads what was said.
func Feedback(said []string) ([]logs.Feedback, error) {
	var out []logs.Feedback
	for _, s := range said {
		var f logs.Feedback
		if err := json.Unmarshal([]byte(s), &f); err != nil {
			return nil, err
		}
		out = append(out, f)
	}
	return out, nil
}

// AddFeedback adds to what was said of a record. It returns what is to be written
// down, and the new value of the field feedback, nil for none.
func AddFeedback(said []string, f *logs.Feedback) (more string, score *float64, err error) {
	if err := logs.RoomForFeedback(len(said)); err != nil {
		return "", nil, err
	}
	b, err := json.Marshal(f)
	if err != nil {
		return "", nil, err
	}
	list, err := Feedback(append(said, string(b)))
	if err != nil {
		return "", nil, err
	}
	if v, ok := (&logs.Record{Feedback: list}).Score(); ok {
		score = &v
	}
	return string(b), score, nil
}

// Invalid reports whether an error is about what the caller gave.
func Invalid(err error) bool {
	e, ok := errors.AsType[*providers.Error](err)
	return ok && e.Code == providers.ErrInvalidRequest
}
