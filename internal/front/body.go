package front

import (
	"compress/gzip"
	"errors"
	"io"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/b650d4bf/gateway/internal/jsonx"
	"github.com/b650d4bf/gateway/providers"
)

// firstRead is the most, in bytes, that a declared length alone makes the body
// buffer grow: the rest must have come.
const firstRead = 64 << 10

var errTooLarge = errors.New("front: body too large")

// decoder is a request that can be read from its JSON.
type decoder interface{ UnmarshalJSON(data []byte) error }

// readRequest reads and decodes the body into req.
func (c *call) readRequest(req decoder) error {
	buf := jsonx.GetBuffer()
	defer buf.Free() // decoding copies what it keeps
	if err := c.readBody(buf); err != nil {
		return err
	}
	if err := req.UnmarshalJSON(buf.B); err != nil {
		return badBody(err)
	}
	return nil
}

// badBody tells a mistake in the body; the decoder quotes no values.
func badBody(err error) error {
	var e *jsonx.Error
	if !errors.As(err, &e) {
		return providers.Invalid("", "the body is not a request of the OpenAI schema")
	}
	return providers.Invalid(e.Path, "in the JSON body, at byte "+strconv.Itoa(e.Offset)+": "+e.Msg)
}

// checkContentType accepts JSON in UTF-8, or nothing said.
func checkContentType(values []string) error {
	if len(values) == 0 || len(values) == 1 && (values[0] == "application/json" || values[0] == "") {
		return nil
	}
	kind, params, err := mime.ParseMediaType(values[0])
	isJSON := kind == "application/json" || strings.HasPrefix(kind, "application/") && strings.HasSuffix(kind, "+json")
	if err != nil || !isJSON || len(values) > 1 {
		return invalid(http.StatusUnsupportedMediaType, "content-type", "content-type: must be application/json")
	}
	switch strings.ToLower(params["charset"]) {
	case "", "utf-8", "utf8", "us-ascii":
		return nil
	}
	return invalid(http.StatusUnsupportedMediaType, "content-type", "content-type: the charset must be utf-8")
}

// readBody reads the body, decompressed, into buf. It reads to the very end:
// only then does the server watch for the client's leaving.
func (c *call) readBody(buf *jsonx.Buffer) error {
	if err := checkContentType(c.r.Header["Content-Type"]); err != nil {
		return err
	}
	return c.readBytes(buf)
}

// readBytes is readBody for a body of any type.
func (c *call) readBytes(buf *jsonx.Buffer) error {
	if c.r.ContentLength > c.maxBody {
		return c.tooLarge()
	}
	var in io.Reader = http.MaxBytesReader(c.w, c.body(), c.maxBody)
	zipped, err := isZipped(c.r.Header["Content-Encoding"])
	if err != nil {
		return err
	}
	if zipped {
		z, err := gzip.NewReader(in)
		if err != nil {
			return c.readFailed(err, zipped)
		}
		in = z
	} else {
		buf.B = slices.Grow(buf.B, int(min(max(c.r.ContentLength, 0), firstRead))+1)
	}
	if buf.B, err = readAll(buf.B, in, c.maxBody); err != nil {
		return c.readFailed(err, zipped)
	}
	return nil
}

// isZipped reads Content-Encoding.
func isZipped(values []string) (bool, error) {
	if len(values) == 0 {
		return false, nil
	}
	switch strings.ToLower(strings.Join(values, ",")) {
	case "", "identity":
		return false, nil
	case "gzip", "x-gzip":
		return true, nil
	}
	return false, invalid(http.StatusUnsupportedMediaType, "content-encoding", "content-encoding: must be gzip, or absent")
}

// readAll appends what in has to dst, and fails when that is over the limit.
func readAll(dst []byte, in io.Reader, limit int64) ([]byte, error) {
	for {
		if len(dst) == cap(dst) {
			dst = slices.Grow(dst, max(len(dst), 512))
		}
		n, err := in.Read(dst[len(dst):cap(dst)])
		dst = dst[:len(dst)+n]
		switch {
		case int64(len(dst)) > limit:
			return dst, errTooLarge
		case errors.Is(err, io.EOF):
			return dst, nil
		case err != nil:
			return dst, err
		}
	}
}

// readFailed says why the body can't be read, without the text of the cause,
// which may name addresses.
func (c *call) readFailed(err error, zipped bool) error {
	var over *http.MaxBytesError
	switch {
	case errors.As(err, &over), errors.Is(err, errTooLarge):
		return c.tooLarge()
	case c.body().isLate():
		return errLate()
	case zipped:
		return invalid(http.StatusBadRequest, "content-encoding", "content-encoding: the body is not whole gzip")
	}
	return invalid(http.StatusBadRequest, "", "the body ended before it was whole")
}

func (c *call) tooLarge() error {
	return &providers.Error{
		Code:    providers.ErrTooLarge,
		Message: "the body is over the limit of " + strconv.FormatInt(c.maxBody, 10) + " bytes",
	}
}
