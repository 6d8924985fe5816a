package front

import (
	"io"
	"mime/multipart"
	"strings"
)

// newForm reads the parts of a form. io.EOF comes behind the last one of a form
// that is whole; one that was cut is another error, wherever that was.
func newForm(r io.Reader, boundary string) *multipart.Reader {
	return multipart.NewReader(&closedForm{r: r, end: "--" + boundary + "--"}, boundary)
}

// closedForm ends a form that does not end with its last boundary in a blank
// line. To multipart a form is whole that was cut between a boundary and the
// first header behind it; with that line, it has a part without an end there.
type closedForm struct {
	r    io.Reader
	end  string
	tail string          // the last bytes of the form, as many as end has
	more *strings.Reader // nil before the form's own end
}

// Read reads on.
func (f *closedForm) Read(p []byte) (int, error) {
	if f.more != nil {
		return f.more.Read(p)
	}
	n, err := f.r.Read(p)
	if n >= len(f.end) {
		f.tail = string(p[n-len(f.end) : n])
	} else if n > 0 {
		all := f.tail + string(p[:n])
		f.tail = all[max(0, len(all)-len(f.end)):]
	}
	if err == io.EOF && f.tail != f.end {
		f.more, err = strings.NewReader("\r\n\r\n"), nil
	}
	return n, err
}
