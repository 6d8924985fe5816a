package batch

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"time"

	"github.com/b650d4bf/gateway/providers"
)

// source reads an object to its end, over as many requests as it takes: where
// one breaks off, the next goes on.
type source struct {
	ctx  context.Context //nolint:containedctx // that of the reader's maker, as with a request's body
	s    *Service
	at   providers.ObjectName
	r    io.ReadCloser
	done int64
	left int // further requests without any byte between
}

// maxResumes is how often a download may break off without a byte between.
const maxResumes = 4

// open opens an object. What is written over it meanwhile is not read.
func (s *Service) open(ctx context.Context, at providers.ObjectName) (*source, error) {
	r, err := s.Store.GetObject(ctx, s.Target, at, 0)
	if err != nil {
		return nil, err
	}
	return &source{ctx: ctx, s: s, at: at, r: r, left: maxResumes}, nil
}

// Read reads on.
func (o *source) Read(p []byte) (int, error) {
	for {
		n, err := o.r.Read(p)
		if n > 0 {
			o.done += int64(n)
			o.left = maxResumes
			if !errors.Is(err, io.EOF) {
				err = nil // it comes again, if it stays
			}
			return n, err
		}
		e, ours := errors.AsType[*providers.Error](err)
		if err == nil || errors.Is(err, io.EOF) || !ours || !e.Retryable() || o.left == 0 {
			return 0, err
		}
		o.left--
		if again := o.reopen(); again != nil {
			return 0, again
		}
	}
}

func (o *source) reopen() error {
	_ = o.r.Close()
	timer := time.NewTimer(250 * time.Millisecond)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-o.ctx.Done():
	}
	r, err := o.s.Store.GetObject(o.ctx, o.s.Target, o.at, o.done)
	if err != nil {
		o.r = io.NopCloser(bytes.NewReader(nil))
		return err
	}
	o.r = r
	return nil
}

// Close ends the reading.
func (o *source) Close() error { return o.r.Close() }

// lines splits what a reader has. A line that is too long is passed over, and
// reported.
type lines struct {
	r    *bufio.Reader
	most int
	buf  []byte
	n    int64 // lines so far
}

// The most bytes of a line: of one that is read to be sent, and of one that the
// platform wrote, which repeats it.
const (
	maxLine       = 16 << 20
	maxOutputLine = 64 << 20
)

func newLines(r io.Reader, most int) *lines {
	return &lines{r: bufio.NewReaderSize(r, 128<<10), most: most}
}

// next returns the next line that is not blank, without its end; it is valid
// until the next call. long says that it was too long, and is not all there.
func (l *lines) next() (line []byte, long bool, err error) {
	for {
		line, long, err = l.any()
		if err != nil {
			return nil, false, err
		}
		l.n++
		if l.n == 1 {
			line = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf"))
		}
		if line = bytes.TrimSpace(line); len(line) > 0 || long {
			return line, long, nil
		}
	}
}

// any returns the next line.
func (l *lines) any() (line []byte, long bool, err error) {
	piece, err := l.r.ReadSlice('\n')
	if err == nil {
		return piece, false, nil
	}
	l.buf = l.buf[:0]
	if cap(l.buf) > 1<<20 {
		l.buf = nil // one long line does not make all the others heavy
	}
	for {
		if long = long || len(l.buf)+len(piece) > l.most; !long {
			l.buf = append(l.buf, piece...)
		}
		switch {
		case err == nil:
			return l.buf, long, nil
		case errors.Is(err, io.EOF):
			if len(l.buf) == 0 && !long {
				return nil, false, io.EOF
			}
			return l.buf, long, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, false, err
		}
		piece, err = l.r.ReadSlice('\n')
	}
}
