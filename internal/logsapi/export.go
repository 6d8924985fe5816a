package logsapi

import (
	"context"
	"io"
	"net/http"
	"sync"

	"github.com/b650d4bf/gateway/logs"
	"github.com/b650d4bf/gateway/providers"
)

// export serves GET logs/export. The store is asked once before there is an answer,
// so that what is wrong has a status of its own.
func (q *request) export() (*Answer, error) {
	p, err := q.params([]param{{"format", func(p *params, v string) error { p.format = v; return nil }}}, allParams)
	if err != nil {
		return nil, err
	}
	format, mime := logs.FormatJSONL, "application/jsonl"
	switch p.format {
	case "", "jsonl":
	case "csv":
		format, mime = logs.FormatCSV, "text/csv; charset=utf-8"
	default:
		return nil, providers.Invalid("format", "must be jsonl or csv")
	}
	first := p.Query
	first.Limit = 1
	if _, err := q.store.Query(q.ctx, first); err != nil {
		return nil, err
	}
	header := jsonHeader()
	header.Set("Content-Type", mime)
	header.Set("Content-Disposition", `attachment; filename="logs-`+q.Now().UTC().Format("20060102T150405Z")+"."+string(format)+`"`)
	return &Answer{Status: http.StatusOK, Header: header, Stream: &exported{ctx: q.ctx, store: q.store, query: p.Query, format: format}}, nil
}

// exported is the body of an export, written as it is read. Its goroutine begins
// with the first Read and ends with the export, with the request, or with Close,
// which waits for it.
type exported struct {
	ctx    context.Context //nolint:containedctx // of the request
	store  logs.Store
	query  logs.Query
	format logs.Format

	mu     sync.Mutex
	closed bool
	body   *io.PipeReader // nil before the first Read
	ended  chan struct{}
}

// Read reads on.
func (e *exported) Read(p []byte) (int, error) {
	body := e.open()
	if body == nil {
		return 0, http.ErrBodyReadAfterClose
	}
	return body.Read(p)
}

func (e *exported) open() *io.PipeReader {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.body != nil || e.closed {
		return e.body
	}
	r, w := io.Pipe()
	e.body, e.ended = r, make(chan struct{})
	go func() {
		defer close(e.ended)
		_ = w.CloseWithError(logs.Export(e.ctx, e.store, e.query, e.format, w)) // which returns nil
	}()
	return r
}

// Close ends the export.
func (e *exported) Close() error {
	e.mu.Lock()
	body, ended := e.body, e.ended
	e.closed = true
	e.mu.Unlock()
	if body == nil {
		return nil
	}
	err := body.Close()
	<-ended
	return err
}
