package logsapi

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/b650d4bf/gateway/logs"
	"github.com/b650d4bf/gateway/providers"
)

// format is a form of exports.
type format struct {
	name, mime string
	// head writes what comes first, and row one record.
	head func(*bytes.Buffer) error
	row  func(*bytes.Buffer, *logs.Record) error
}

func formats() []format {
	return []format{
		{"jsonl", "application/jsonl", func(*bytes.Buffer) error { return nil }, jsonRow},
		{"csv", "text/csv; charset=utf-8", csvHead, csvRow},
	}
}

// export serves GET logs/export. The first page is read before there is an
// answer, so that what is wrong has a status of its own.
func (q *request) export() (*Answer, error) {
	own := []param{{"format", func(p *params, v string) error { p.format = v; return nil }}}
	p, err := q.params(own, allParams)
	if err != nil {
		return nil, err
	}
	f := formats()[0]
	for _, other := range formats() {
		if other.name == p.format {
			f = other
		}
	}
	if p.format != "" && p.format != f.name {
		return nil, providers.Invalid("format", "must be jsonl or csv")
	}
	ask := p.Query
	ask.Limit = logs.MaxLimit
	first, err := q.store.Query(q.ctx, ask)
	if err != nil {
		return nil, err
	}
	body := new(lines)
	if err := f.head(&body.buf); err != nil {
		return nil, err
	}
	body.next = q.pages(first, ask, f.row)
	header := jsonHeader()
	header.Set("Content-Type", f.mime)
	header.Set("Content-Disposition", `attachment; filename="logs-`+q.Now().UTC().Format("20060102T150405Z")+"."+f.name+`"`)
	return &Answer{Status: http.StatusOK, Header: header, Stream: body}, nil
}

// pages returns a function that writes one page after the other.
func (q *request) pages(page *logs.Page, ask logs.Query, row func(*bytes.Buffer, *logs.Record) error) func(*bytes.Buffer) error {
	return func(b *bytes.Buffer) error {
		if page == nil {
			if ask.Cursor == "" {
				return io.EOF
			}
			var err error
			if page, err = q.store.Query(q.ctx, ask); err != nil {
				return err
			}
		}
		for i := range page.Records {
			if err := row(b, &page.Records[i]); err != nil {
				return err
			}
		}
		if page.Next == ask.Cursor && page.Next != "" {
			return io.ErrNoProgress
		}
		page, ask.Cursor = nil, page.Next
		return nil
	}
}

func jsonRow(b *bytes.Buffer, r *logs.Record) error {
	line, err := json.Marshal(r)
	if err != nil {
		return err
	}
	b.Write(line)
	b.WriteByte('\n')
	return nil
}

func csvHead(b *bytes.Buffer) error {
	row := []string{"time"}
	for _, f := range logs.Fields() {
		row = append(row, f.Name)
	}
	return csvLine(b, append(row, "metadata"))
}

func csvRow(b *bytes.Buffer, r *logs.Record) error {
	row := []string{r.Time.UTC().Format(time.RFC3339Nano)}
	for _, f := range logs.Fields() {
		v, ok := f.Of(r)
		switch {
		case !ok:
			row = append(row, "")
		case f.Kind == logs.Number:
			row = append(row, strconv.FormatFloat(v.Num, 'f', -1, 64))
		default:
			row = append(row, inert(v.Text))
		}
	}
	metadata := ""
	if len(r.Metadata) > 0 {
		m, err := json.Marshal(r.Metadata)
		if err != nil {
			return err
		}
		metadata = string(m)
	}
	return csvLine(b, append(row, metadata))
}

// inert keeps programs for tables from taking a text for a formula.
//
// Source: https://owasp.org/www-community/attacks/CSV_Injection.
func inert(text string) string {
	if text != "" && strings.ContainsRune("=+-@\t\r", rune(text[0])) {
		return "'" + text
	}
	return text
}

func csvLine(b *bytes.Buffer, row []string) error {
	w := csv.NewWriter(b)
	err := w.Write(row)
	w.Flush()
	return err
}
