package front

import (
	"bytes"
	"context"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/b650d4bf/gateway/internal/jsonx"
	"github.com/b650d4bf/gateway/providers"
)

// FilesBackend keeps files and runs batches of them.
type FilesBackend interface {
	// CreateFile keeps what the request's reader has, as it is read.
	CreateFile(ctx context.Context, req *providers.FileRequest, o *Overrides) (*providers.FileObject, error)
	// GetFile returns what is known of a file.
	GetFile(ctx context.Context, id string, o *Overrides) (*providers.FileObject, error)
	// FileContent returns the bytes of a file, which are the caller's to close.
	FileContent(ctx context.Context, id string, o *Overrides) (io.ReadCloser, *providers.FileObject, error)
	// ListFiles returns one page of files.
	ListFiles(ctx context.Context, q *providers.ListQuery, o *Overrides) (*providers.FileList, error)
	// DeleteFile removes a file.
	DeleteFile(ctx context.Context, id string, o *Overrides) (*providers.FileDeletion, error)
	// CreateBatch starts a batch.
	CreateBatch(ctx context.Context, req *providers.BatchRequest, o *Overrides) (*providers.Batch, error)
	// GetBatch returns a batch as it is now.
	GetBatch(ctx context.Context, id string, o *Overrides) (*providers.Batch, error)
	// ListBatches returns one page of batches.
	ListBatches(ctx context.Context, q *providers.ListQuery, o *Overrides) (*providers.BatchList, error)
	// CancelBatch asks for a batch's end.
	CancelBatch(ctx context.Context, id string, o *Overrides) (*providers.Batch, error)
}

func fileRoutes() []route {
	return []route{
		{"/v1/files", http.MethodPost, (*call).createFile, false},
		{"/v1/files", http.MethodGet, (*call).listFiles, false},
		{"/v1/files/*/content", http.MethodGet, (*call).fileContent, false},
		{"/v1/files/", http.MethodGet, (*call).showFile, false},
		{"/v1/files/", http.MethodDelete, (*call).deleteFile, false},
		{"/v1/batches", http.MethodPost, (*call).createBatch, false},
		{"/v1/batches", http.MethodGet, (*call).listBatches, false},
		{"/v1/batches/*/cancel", http.MethodPost, (*call).cancelBatch, false},
		{"/v1/batches/", http.MethodGet, (*call).showBatch, false},
	}
}

const (
	// maxField bounds a field beside a file.
	maxField = 4 << 10
	// formRoom is what a form has beside its file, in bytes at most.
	formRoom = 1 << 20
	// firstPiece is how much of a file must be there before its answer begins, so
	// that what fails at once has a status of its own.
	firstPiece = 32 << 10
)

// createFile serves POST /v1/files: a form whose file goes on as it comes.
func (c *call) createFile() error {
	if zipped, err := isZipped(c.r.Header["Content-Encoding"]); err != nil || zipped {
		return invalid(http.StatusUnsupportedMediaType, "content-encoding", "content-encoding: must be absent for a form")
	}
	boundary, isForm := formBoundary(c.r.Header["Content-Type"])
	switch {
	case !isForm:
		return invalid(http.StatusUnsupportedMediaType, "content-type", "content-type: must be multipart/form-data")
	case boundary == "":
		return errNoBoundary()
	}
	most := c.maxFile
	if most <= 0 {
		most = providers.DefaultMaxFile
	}
	// The request itself stays as it is: a caller in the process may send it again.
	in := c.body()
	in.paused = true // while a piece goes on
	f := &form{c: c, parts: newForm(http.MaxBytesReader(c.w, in, most+formRoom), boundary)}
	req := &providers.FileRequest{MaxBytes: most}
	if err := f.read(req); err != nil {
		return err
	}
	if f.file == nil {
		return providers.Invalid("file", "the form has no file")
	}
	req.File, req.Filename, req.ContentType = &uploaded{c, f.file}, f.file.FileName(), f.file.Header.Get("Content-Type")
	req.Trailer = f.read
	out, err := c.backend.CreateFile(c.r.Context(), req, &c.o)
	in.end()
	switch {
	case err != nil && in.isLate():
		return errLate() // which ends the request's context too, and that may be told first
	case err != nil:
		return err
	}
	out.Meta.Warnings = append(out.Meta.Warnings, f.warnings...)
	return writeMade(c, &out.Meta, out.AppendJSON)
}

// form is a form that is read part by part.
type form struct {
	c        *call
	parts    *multipart.Reader
	file     *multipart.Part
	names    []string // of the fields so far
	warnings []providers.Warning
}

// read reads the fields up to the file, and then those behind it.
func (f *form) read(req *providers.FileRequest) error {
	behind := f.file != nil
	for {
		part, err := f.parts.NextPart()
		switch {
		case err == io.EOF: // one that is wrapped is of a form that was cut
			return nil
		case err != nil:
			return f.c.formFailed(err)
		case part.FormName() == "file" && behind:
			return providers.Invalid("file", "the form has more than one file")
		case part.FormName() == "file":
			f.file = part
			return nil
		}
		name := part.FormName()
		switch {
		case len(f.names) == maxFields:
			return badForm()
		case slices.Contains(f.names, name):
			return errTwice(name)
		}
		f.names = append(f.names, name)
		if err := f.field(part, req); err != nil {
			return err
		}
	}
}

func (f *form) field(part *multipart.Part, req *providers.FileRequest) error {
	value, err := io.ReadAll(io.LimitReader(part, maxField+1))
	name := part.FormName()
	switch {
	case err != nil:
		return f.c.formFailed(err)
	case len(value) > maxField:
		return providers.Invalid(headerText(name), "the field is too long")
	}
	switch text := string(value); name {
	case "purpose":
		req.Purpose = text
	case "expires_after[anchor]":
		if text != "created_at" {
			return providers.Invalid("expires_after.anchor", "must be created_at")
		}
	case "expires_after[seconds]":
		seconds, err := strconv.ParseInt(text, 10, 32)
		if err != nil || seconds <= 0 {
			return providers.Invalid("expires_after.seconds", "must be a number of seconds")
		}
		req.ExpiresAfter = time.Duration(seconds) * time.Second
	default:
		f.warnings = append(f.warnings, providers.Warning{
			Code: providers.WarnUnknown, Param: headerText(name), Message: "left out: a file has nothing like it",
		})
	}
	return nil
}

// formFailed says why a form can't be read.
func (c *call) formFailed(err error) error {
	if over, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return &providers.Error{
			Code: providers.ErrTooLarge, Param: "file",
			Message: "the file is over the limit of " + strconv.FormatInt(over.Limit-formRoom, 10) + " bytes",
		}
	}
	if c.body().isLate() {
		return errLate()
	}
	return badForm()
}

// uploaded is the file of a form, with errors that a client may see.
type uploaded struct {
	c    *call
	part *multipart.Part
}

// Read reads on.
func (u *uploaded) Read(p []byte) (int, error) {
	n, err := u.part.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = u.c.formFailed(err)
	}
	return n, err
}

// writeMade answers with what an operation gave.
func writeMade(c *call, meta *providers.Meta, encode func([]byte) ([]byte, error)) error {
	buf := jsonx.GetBuffer()
	defer buf.Free()
	var err error
	if buf.B, err = encode(buf.B); err != nil {
		return err
	}
	setMeta(c.w.Header(), meta)
	writeJSON(c.w, http.StatusOK, buf.B)
	return nil
}

// listQuery reads the query of a list.
func (c *call) listQuery() (*providers.ListQuery, error) {
	q := c.r.URL.Query()
	out := &providers.ListQuery{After: q.Get("after"), Purpose: q.Get("purpose")}
	if order := q.Get("order"); order != "" && order != "desc" {
		return nil, providers.Invalid("order", "must be desc: the newest come first")
	}
	if limit := q.Get("limit"); limit != "" {
		n, err := strconv.Atoi(limit)
		if err != nil || n < 1 {
			return nil, providers.Invalid("limit", "must be a positive number")
		}
		out.Limit = n
	}
	return out, nil
}

// listFiles serves GET /v1/files.
func (c *call) listFiles() error {
	q, err := c.listQuery()
	if err != nil {
		return err
	}
	out, err := c.backend.ListFiles(c.r.Context(), q, &c.o)
	if err != nil {
		return err
	}
	return writeMade(c, &out.Meta, out.AppendJSON)
}

// showFile serves GET /v1/files/{id}.
func (c *call) showFile() error {
	if strings.Contains(c.rest, "/") {
		return errNoRoute()
	}
	out, err := c.backend.GetFile(c.r.Context(), c.rest, &c.o)
	if err != nil {
		return err
	}
	return writeMade(c, &out.Meta, out.AppendJSON)
}

// deleteFile serves DELETE /v1/files/{id}.
func (c *call) deleteFile() error {
	if strings.Contains(c.rest, "/") {
		return errNoRoute()
	}
	out, err := c.backend.DeleteFile(c.r.Context(), c.rest, &c.o)
	if err != nil {
		return err
	}
	return writeMade(c, &out.Meta, out.AppendJSON)
}

// readFirst fills p. Its error is io.EOF where the body ends before that, and the
// body's own where it breaks off, unlike io.ReadFull's.
func readFirst(body io.Reader, p []byte) (n int, err error) {
	for n < len(p) && err == nil {
		var more int
		more, err = body.Read(p[n:])
		n += more
	}
	return n, err
}

// fileContent serves GET /v1/files/{id}/content, and writes a file as it is read.
func (c *call) fileContent() error {
	body, f, err := c.backend.FileContent(c.r.Context(), c.rest, &c.o)
	if err != nil {
		return err
	}
	first := make([]byte, firstPiece)
	n, err := readFirst(body, first)
	whole := errors.Is(err, io.EOF)
	if err != nil && !whole {
		_ = body.Close()
		return err
	}
	h := c.w.Header()
	setMeta(h, &f.Meta)
	h.Set("Content-Type", "application/octet-stream")
	h.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": headerText(f.Filename)}))
	if whole {
		h.Set("Content-Length", strconv.Itoa(n))
	}
	if c.r.Method == http.MethodHead {
		_ = body.Close()
		c.w.WriteHeader(http.StatusOK)
		return nil
	}
	c.sendBytes(struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(first[:n]), body), body})
	return nil
}
