package engine

import (
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/b650d4bf/gateway/internal/jsonx"
	"github.com/b650d4bf/gateway/internal/transport"
	"github.com/b650d4bf/gateway/internal/wire/storage"
	"github.com/b650d4bf/gateway/providers"
)

// chunkSize is how much of an object goes in one request, and is kept until the
// store has it: a multiple of 256 KiB, and what a pooled buffer holds.
//
// Source: https://cloud.google.com/storage/docs/performing-resumable-uploads#chunked-upload
const chunkSize = 4 << 20

// PutObject writes what body has as one object: in one request if it fits into
// one chunk, else as a resumable upload, of which one chunk at a time is in
// memory. A chunk that does not arrive whole is gone on with where the store
// says.
//
// Source: https://cloud.google.com/storage/docs/json_api/v1/objects/insert
func (p *Engine) PutObject(ctx context.Context, t *providers.Target, at providers.ObjectName, body io.Reader, o *providers.ObjectOptions) (*providers.Object, error) {
	if o == nil {
		o = &providers.ObjectOptions{}
	}
	buf := jsonx.GetBuffer()
	defer buf.Free()
	last, err := readChunk(buf, body)
	if err != nil {
		return nil, err
	}
	if last {
		return p.putWhole(ctx, t, at, buf.B, o)
	}
	u := &upload{p: p, t: t, at: at, o: o}
	if err := u.begin(ctx); err != nil {
		return nil, err
	}
	out, err := u.run(ctx, buf, body)
	if err != nil {
		u.abandon(ctx)
	}
	return out, err
}

// readChunk fills the buffer, and reports whether it has the last chunk.
func readChunk(buf *jsonx.Buffer, body io.Reader) (last bool, err error) {
	if cap(buf.B) < chunkSize {
		buf.B = make([]byte, 0, chunkSize)
	}
	for n := 0; n < chunkSize; buf.B = buf.B[:n] {
		more, err := body.Read(buf.B[n:chunkSize])
		n += more
		switch {
		case err == io.EOF: // one that wraps it is a failure
			buf.B = buf.B[:n]
			return true, nil
		case err != nil:
			return false, err
		}
	}
	return false, nil
}

// insertQuery is the query of a new object.
func insertQuery(kind string, o *providers.ObjectOptions) string {
	query := "uploadType=" + kind
	if o.IfGeneration != nil {
		query += "&ifGenerationMatch=" + strconv.FormatInt(*o.IfGeneration, 10)
	}
	return query
}

func uploadPath(bucket string) string { return "/upload/storage/v1/b/" + url.PathEscape(bucket) + "/o" }

// objectResource is what is known of a new object.
func objectResource(dst []byte, at providers.ObjectName, o *providers.ObjectOptions) []byte {
	var w jsonx.Writer
	w.Reset(dst)
	w.BeginObject()
	putText(&w, "name", at.Name)
	putText(&w, "contentType", o.ContentType)
	if !o.CustomTime.IsZero() {
		w.Key("customTime")
		w.String(o.CustomTime.UTC().Format(time.RFC3339))
	}
	if len(o.Metadata) > 0 {
		w.Key("metadata")
		w.BeginObject()
		for _, key := range slices.Sorted(maps.Keys(o.Metadata)) {
			w.AnyKey(key)
			w.String(o.Metadata[key])
		}
		w.EndObject()
	}
	w.EndObject()
	return w.Bytes()
}

// putWhole writes a small object in one request. One that is bound to a version
// is not tried again when it may have arrived: the second try would be refused.
func (p *Engine) putWhole(ctx context.Context, t *providers.Target, at providers.ObjectName, body []byte, o *providers.ObjectOptions) (*providers.Object, error) {
	boundary := "gateway" + randomID()
	kind := o.ContentType
	if kind == "" {
		kind = "application/octet-stream"
	}
	head := "--" + boundary + "\r\nContent-Type: application/json; charset=UTF-8\r\n\r\n" + string(objectResource(nil, at, o)) +
		"\r\n--" + boundary + "\r\nContent-Type: " + kind + "\r\n\r\n"
	var wire storage.Object
	err := again(ctx, t, func() error {
		buf := jsonx.GetBuffer()
		buf.B = slices.Concat([]byte(head), body, []byte("\r\n--"+boundary+"--\r\n"))
		res, err := p.transfer(ctx, t, &transfer{
			method: http.MethodPost, path: uploadPath(at.Bucket), query: insertQuery("multipart", o), body: buf,
			header: http.Header{"Content-Type": {"multipart/related; boundary=" + boundary}},
		})
		if err == nil {
			err = p.storeAnswer(t, res, wire.Decode)
		}
		if e, ok := errors.AsType[*providers.Error](err); ok && o.IfGeneration != nil && e.Sent && e.StatusCode == 0 {
			if e.Code != providers.ErrTimeout && e.Code != providers.ErrCanceled {
				e.Code = providers.ErrServer
			}
			return &unrepeatable{e}
		}
		return err
	})
	if once, ok := errors.AsType[*unrepeatable](err); ok {
		err = once.e
	}
	if err != nil {
		return nil, err
	}
	return objectOf(&wire)
}

// unrepeatable is an error that no further try mends.
type unrepeatable struct{ e *providers.Error }

func (u *unrepeatable) Error() string { return u.e.Error() }

// upload is one resumable upload.
type upload struct {
	p    *Engine
	t    *providers.Target
	at   providers.ObjectName
	o    *providers.ObjectOptions
	id   string // of the session, which is a secret
	have int64  // bytes that the store has
}

// begin opens the session.
func (u *upload) begin(ctx context.Context) error {
	return again(ctx, u.t, func() error {
		buf := jsonx.GetBuffer()
		buf.B = objectResource(buf.B, u.at, u.o)
		x := &transfer{method: http.MethodPost, path: uploadPath(u.at.Bucket), query: insertQuery("resumable", u.o), body: buf}
		if u.o.ContentType != "" {
			x.header = http.Header{"X-Upload-Content-Type": {u.o.ContentType}}
		}
		res, err := u.p.transfer(ctx, u.t, x)
		if err != nil {
			return err
		}
		defer res.Drain()
		where, err := url.Parse(res.Header.Get("Location"))
		if err == nil {
			u.id = where.Query().Get("upload_id")
		}
		if u.id == "" {
			return answerError(providers.ErrBadResponse, "the store began an upload without saying where it goes on")
		}
		return nil
	})
}

// run sends the chunks, the first of which is in the buffer.
func (u *upload) run(ctx context.Context, buf *jsonx.Buffer, body io.Reader) (*providers.Object, error) {
	for begin, last := int64(0), false; ; {
		out, err := u.send(ctx, begin, buf.B, last)
		if err != nil || out != nil {
			return out, err
		}
		begin += int64(len(buf.B))
		if last, err = readChunk(buf, body); err != nil {
			return nil, err
		}
	}
}

// send sends one chunk until the store has all of it.
func (u *upload) send(ctx context.Context, begin int64, chunk []byte, last bool) (*providers.Object, error) {
	total := "*"
	end := begin + int64(len(chunk))
	if last {
		total = strconv.FormatInt(end, 10)
	}
	pause, left := firstPause, maxTries
	for {
		before := u.have
		out, err := u.put(ctx, chunk[u.have-begin:], total)
		if out != nil || err == nil && u.have == end && !last {
			return out, nil
		}
		if err != nil {
			e, ok := errors.AsType[*providers.Error](err)
			if !ok || !e.Retryable() {
				return nil, err
			}
			left--
			if left <= 0 {
				return nil, err
			}
			if err := rest(ctx, max(pause, min(e.RetryAfter, maxPause)), e); err != nil {
				return nil, err
			}
			pause *= 2
			out, err = u.put(ctx, nil, "?")
			if out != nil {
				return out, nil
			}
		}
		switch {
		case err != nil: // asked again after the next pause
		case u.have < begin || u.have > end:
			return nil, u.lost()
		case u.have > before:
			pause, left = firstPause, maxTries
		default:
			if left--; left <= 0 {
				return nil, u.lost()
			}
		}
	}
}

func (u *upload) lost() error {
	return callOf(u.p.site, u.t, "").named(answerError(providers.ErrBadResponse, "the store has lost a part of the upload: begin anew"))
}

// put sends bytes that follow those which the store has, and notes how many it
// has then. A total of "?" sends none, and asks. The object is there once the
// upload is whole.
func (u *upload) put(ctx context.Context, data []byte, total string) (*providers.Object, error) {
	spread := "bytes " + strconv.FormatInt(u.have, 10) + "-" + strconv.FormatInt(u.have+int64(len(data))-1, 10) + "/" + total
	switch {
	case total == "?":
		spread = "bytes */*"
	case len(data) == 0:
		spread = "bytes */" + total
	}
	x := &transfer{
		method: http.MethodPut, path: uploadPath(u.at.Bucket), query: "uploadType=resumable&upload_id=" + url.QueryEscape(u.id),
		header: http.Header{"Content-Range": {spread}}, resume: true, secret: true,
	}
	if len(data) > 0 {
		x.body = jsonx.GetBuffer()
		x.body.B = append(x.body.B, data...)
	}
	res, err := u.p.transfer(ctx, u.t, x)
	if err != nil {
		return nil, err
	}
	if res.Status == http.StatusPermanentRedirect {
		defer res.Drain()
		return nil, u.note(res)
	}
	var wire storage.Object
	if err := u.p.storeAnswer(u.t, res, wire.Decode); err != nil {
		return nil, err
	}
	return objectOf(&wire)
}

// note reads how much the store has.
func (u *upload) note(res *transport.Response) error {
	text := res.Header.Get("Range")
	if text == "" {
		u.have = 0
		return nil
	}
	_, end, _ := strings.Cut(strings.TrimPrefix(text, "bytes="), "-")
	n, err := strconv.ParseInt(end, 10, 64)
	if err != nil { // what is known stays: the next request asks again
		return answerError(providers.ErrBadResponse, "the store's range can't be understood")
	}
	u.have = n + 1
	return nil
}

// abandon gives the session up, which else ends by itself after a week.
func (u *upload) abandon(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	res, err := u.p.transfer(ctx, u.t, &transfer{
		method: http.MethodDelete, path: uploadPath(u.at.Bucket), query: "uploadType=resumable&upload_id=" + url.QueryEscape(u.id), secret: true,
	})
	if err == nil {
		res.Drain()
	}
}
