package sse

import (
	"bytes"
	"errors"
	"io"
)

const (
	initialBuffer = 8 << 10
	minRead       = 512 // bytes of room worth a Read
	maxEmptyReads = 100
)

var errBadCount = errors.New("sse: reader returned an invalid count")

// input cuts a reader into lines. The bytes of buf before line have been taken
// in, though blocks may still lie there.
type input struct {
	r   io.Reader
	err error // what ended the input, reported once buf is used up

	buf     []byte
	line    int  // start of the current line
	scan    int  // no carriage return lies between line and scan
	lf      int  // the next line feed, or where to look for it, if not before line
	end     int  // of what has been read
	afterCR bool // the line before ended in a carriage return, its line feed may follow
}

// findLine returns the index of the line break that ends the current line. If
// it is not there yet, ok is false and end is the end of what has been read.
//
// Both kinds of line breaks are remembered as far as they are known, so each
// byte is searched once for each of them.
func (in *input) findLine() (end int, ok bool) {
	if in.atBlank() {
		return in.line, true
	}
	if in.lf = max(in.lf, in.line); in.lf < in.end && in.buf[in.lf] != '\n' {
		in.lf = index(in.buf, in.lf, in.end, '\n')
	}
	if in.scan < in.lf {
		in.scan = index(in.buf, in.scan, in.lf, '\r')
	}
	end = in.scan
	return end, end < in.end
}

// atBlank reports whether the current line is known to be blank.
func (in *input) atBlank() bool {
	if in.line < in.end && in.afterCR {
		in.afterCR = false
		if in.buf[in.line] == '\n' {
			in.advance(in.line)
		}
	}
	return in.line < in.end && (in.buf[in.line] == '\n' || in.buf[in.line] == '\r')
}

// advance makes the line after the line break at end the current one.
func (in *input) advance(end int) {
	in.afterCR = in.buf[end] == '\r'
	in.line = end + 1
	in.scan = in.line
}

// stop drops what has been read and makes err the end of the input.
func (in *input) stop(err error) {
	in.err = err
	in.line, in.scan, in.end = 0, 0, 0
}

// fill reads more. blocks are the parts of the buffer, in order, that have to
// be kept beside the current line.
func (in *input) fill(blocks ...*block) {
	in.makeRoom(blocks)
	for range maxEmptyReads {
		n, err := in.r.Read(in.buf[in.end:])
		if n < 0 || n > len(in.buf)-in.end {
			in.err = errBadCount
			return
		}
		in.end += n
		if err != nil {
			in.err = err
			if err == io.EOF {
				in.endLine()
			}
			return
		}
		if n > 0 {
			return
		}
	}
	in.err = io.ErrNoProgress
}

// endLine gives the last line of the input a line break if it has none.
func (in *input) endLine() {
	if in.end == in.line || in.buf[in.end-1] == '\n' || in.buf[in.end-1] == '\r' {
		return
	}
	in.buf = append(in.buf[:in.end], '\n')
	in.buf = in.buf[:cap(in.buf)]
	in.end++
}

// makeRoom closes the gaps between blocks when that frees half of the buffer,
// and doubles the buffer otherwise: either way a byte is moved a bounded number
// of times on average.
func (in *input) makeRoom(blocks []*block) {
	kept := in.end - in.line
	for _, b := range blocks {
		kept += b.len()
	}
	if kept > 0 && len(in.buf)-in.end >= minRead {
		return
	}
	dst := in.buf
	if kept > len(dst)/2 || dst == nil {
		dst = make([]byte, max(initialBuffer, 2*len(dst)))
	}
	n := 0
	for _, b := range blocks {
		if b.open {
			from := n
			n += copy(dst[n:], in.buf[b.from:b.to])
			b.from, b.to = from, n
		}
	}
	shift := in.line - n
	copy(dst[n:], in.buf[in.line:in.end])
	in.buf = dst
	in.line, in.scan, in.lf, in.end = n, in.scan-shift, max(in.lf-shift, n), in.end-shift
}

// index returns the index of the first c in buf[from:to], or to.
func index(buf []byte, from, to int, c byte) int {
	if i := bytes.IndexByte(buf[from:to], c); i >= 0 {
		return from + i
	}
	return to
}
