package logs

import (
	"bufio"
	"context"
	"encoding/csv"
	"encoding/json"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/b650d4bf/gateway/providers"
)

// Format is a form of exports.
type Format string

// The formats.
const (
	// FormatJSONL has a record on each line, as JSON.
	FormatJSONL Format = "jsonl"
	// FormatCSV has a line of names and then a line for each record: time, the fields of
	// [Fields], error_message and metadata, as a JSON object. A value that a spreadsheet
	// would take for a formula has an apostrophe before it.
	FormatCSV Format = "csv"
)

// Export writes all records that a query means, the newest first and without content,
// whatever the query's limit is. It holds a page at a time. Records that come in
// meanwhile may be left out.
func Export(ctx context.Context, s Store, q Query, f Format, w io.Writer) error {
	if f != FormatJSONL && f != FormatCSV {
		return providers.Invalid("format", `must be "jsonl" or "csv"`)
	}
	match, err := Compile(q)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(w)
	if f == FormatCSV {
		table := csv.NewWriter(out)
		if err := table.Write(columns()); err != nil {
			return err
		}
		err = exported(ctx, s, q, match, func(r *Record) error { return table.Write(row(r)) })
		if table.Flush(); err == nil {
			err = table.Error()
		}
	} else {
		err = exported(ctx, s, q, match, jsonLines(out))
	}
	if err != nil {
		return err
	}
	return out.Flush()
}

// exported gives all records to write.
func exported(ctx context.Context, s Store, q Query, match *Matcher, write func(*Record) error) error {
	if f, ok := s.(*File); ok && q.Cursor == "" { // at one go
		var wrong error
		err := f.walk(ctx, match, nil, func(r *Record, _ place) bool {
			wrong = write(r)
			return wrong == nil
		})
		if wrong != nil {
			return wrong
		}
		return err
	}
	for q.Limit = MaxLimit; ; {
		page, err := s.Query(ctx, q)
		if err != nil {
			return err
		}
		for i := range page.Records {
			if err := write(&page.Records[i]); err != nil {
				return err
			}
		}
		switch page.Next {
		case "":
			return nil
		case q.Cursor:
			return &providers.Error{Code: providers.ErrServer, Message: "the store's pages do not end: one names itself as the next"}
		}
		q.Cursor = page.Next
	}
}

func jsonLines(w *bufio.Writer) func(*Record) error {
	return func(r *Record) error {
		line, err := json.Marshal(r)
		if err != nil {
			return err
		}
		_, err = w.Write(append(line, '\n'))
		return err
	}
}

func columns() []string {
	list := []string{"time"}
	for _, f := range allFields {
		list = append(list, f.Name)
	}
	return append(list, "error_message", "metadata")
}

func row(r *Record) []string {
	list := []string{r.Time.UTC().Format(time.RFC3339Nano)}
	for _, f := range allFields {
		v, ok := f.Of(r)
		switch {
		case !ok:
			list = append(list, "")
		case f.Kind == Number:
			list = append(list, strconv.FormatFloat(v.Num, 'f', -1, 64))
		default:
			list = append(list, inert(v.Text))
		}
	}
	metadata := ""
	if len(r.Metadata) > 0 {
		if b, err := json.Marshal(r.Metadata); err == nil {
			metadata = string(b)
		}
	}
	return append(list, inert(failure(r).Message), metadata) // which begins with a brace
}

// inert keeps a spreadsheet from running a text.
//
// Source: https://owasp.org/www-community/attacks/CSV_Injection
func inert(s string) string {
	s = strings.ReplaceAll(s, "\x00", "")
	if first := strings.TrimLeft(s, " "); first != "" && strings.ContainsRune("=+-@\t\r\n＝＋－＠", []rune(first)[0]) {
		return "'" + s
	}
	return s
}
