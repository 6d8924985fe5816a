package logs

import (
	"bytes"
	"errors"
	"io"
)

// The bounds of the lines of a file.
const (
	maxLine   = 64 << 20 // what is longer is passed over
	readBlock = 64 << 10
)

// reverse reads the lines of a file from its end. What is behind the last newline is no
// line: it is still being written, or was cut off.
type reverse struct {
	from  io.ReaderAt
	most  int    // bytes of a line
	at    int64  // what is before was not read yet
	buf   []byte // what was read and not given out: ends behind a line
	begun bool
	long  bool // within a line that is too long
}

func newReverse(from io.ReaderAt, size int64) *reverse {
	return &reverse{from: from, most: maxLine, at: size}
}

// next returns the line before the last one, without its newline, or io.EOF before the
// first. It is valid until the next call.
func (r *reverse) next() ([]byte, error) {
	for {
		if i := bytes.LastIndexByte(r.buf, '\n'); i >= 0 {
			line := r.buf[i+1:]
			r.buf = r.buf[:i]
			if !r.begun { // behind the last newline
				r.begun, r.long = true, false
				continue
			}
			if r.long || len(line) > r.most {
				r.long = false
				continue
			}
			return line, nil
		}
		if r.at == 0 {
			line := r.buf
			r.buf = nil
			if !r.begun || r.long || line == nil || len(line) > r.most {
				return nil, io.EOF
			}
			return line, nil
		}
		if err := r.fill(); err != nil {
			return nil, err
		}
	}
}

// fill reads what is before. What is kept has no newline.
func (r *reverse) fill() error {
	if r.long = r.long || len(r.buf) > r.most; r.long {
		r.buf = r.buf[:0]
	}
	n := min(r.at, max(readBlock, int64(len(r.buf)))) // twice as much each time, for long lines
	more := make([]byte, n, int(n)+len(r.buf))
	if _, err := r.from.ReadAt(more, r.at-n); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	r.at -= n
	r.buf = append(more, r.buf...)
	return nil
}
