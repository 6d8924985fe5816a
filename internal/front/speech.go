package front

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/b650d4bf/gateway/providers"
)

// SpeechBackend speaks.
type SpeechBackend interface {
	// Speech returns all of it.
	Speech(ctx context.Context, req *providers.SpeechRequest, o *Overrides) (*providers.SpeechResponse, error)
	// SpeechStream returns once the first sound is there, so that a failure before
	// it is an error here.
	SpeechStream(ctx context.Context, req *providers.SpeechRequest, o *Overrides) (SpeechStream, error)
}

// SpeechStream is speech as bytes. It belongs to the goroutine that serves the
// request.
type SpeechStream interface {
	io.ReadCloser
	// ContentType is the media type of the bytes.
	ContentType() string
	// Meta says what the gateway did, as far as it is known.
	Meta() providers.Meta
}

// speech serves POST /v1/audio/speech. Samples without a container are sent as
// they come; a WAV file is sent whole, since its header has its length.
func (c *call) speech() error {
	req := new(providers.SpeechRequest)
	if err := c.readRequest(req); err != nil {
		return err
	}
	if req.ResponseFormat == providers.SpeechPCM {
		return c.speechStream(req)
	}
	out, err := c.backend.Speech(c.r.Context(), req, &c.o)
	if err != nil {
		return err
	}
	h := c.w.Header()
	setMeta(h, &out.Meta)
	h.Set("Content-Type", headerText(out.ContentType))
	h.Set("Content-Length", strconv.Itoa(len(out.Data)))
	c.w.WriteHeader(http.StatusOK)
	_, _ = c.w.Write(out.Data) // the client may be gone
	return nil
}

// speechStream answers with bytes as they come. A stream that breaks ends the
// connection, so that the client does not take it for whole.
func (c *call) speechStream(req *providers.SpeechRequest) error {
	s, err := c.backend.SpeechStream(c.r.Context(), req, &c.o)
	if err != nil {
		return err
	}
	defer func() { _ = s.Close() }()
	h := c.w.Header()
	meta := s.Meta()
	setMeta(h, &meta)
	h.Set("Content-Type", headerText(s.ContentType()))
	h.Set("X-Accel-Buffering", "no") // nginx would hold bytes back
	c.w.WriteHeader(http.StatusOK)
	flush := http.NewResponseController(c.w)
	buf := make([]byte, 32<<10)
	for {
		n, err := s.Read(buf)
		if n > 0 {
			if _, err := c.w.Write(buf[:n]); err != nil {
				return nil //nolint:nilerr // the client is gone, and nothing can be told
			}
			if err := flush.Flush(); err != nil && !errors.Is(err, http.ErrNotSupported) {
				return nil //nolint:nilerr // likewise
			}
		}
		if err != nil {
			if !errors.Is(err, io.EOF) {
				_ = flush.SetWriteDeadline(time.Unix(1, 0)) // so that the end of a whole body can't be written
			}
			return nil
		}
	}
}
