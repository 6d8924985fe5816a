// Package sse decodes and encodes event streams. [Event streams]
//
// The decoder follows the standard in how it cuts lines, reads fields and
// closes events, and departs from it in two ways, because it serves clients of
// model platforms: an event the stream ends in is delivered, and so is text
// that belongs to no field, which is how a platform reports that it failed
// after the stream began.
//
// [Event streams]: https://html.spec.whatwg.org/multipage/server-sent-events.html
package sse

import (
	"bytes"
	"errors"
	"io"
)

// DefaultMaxEvent is the most data one event may carry, in bytes, unless
// NewDecoder is told otherwise.
const DefaultMaxEvent = 64 << 20

// lineSlack is how many bytes the lines of an event may have beside its data:
// field names, ids, comments.
const lineSlack = 1 << 10

// ErrTooLong reports an event, or a line, beyond the limit. The stream cannot
// be read further.
var ErrTooLong = errors.New("sse: event too long")

// Event is one event of a stream. Its bytes lie in the buffer of the decoder
// and are valid until the next call of Next.
type Event struct {
	// Name is the value of the event field; empty if there was none.
	Name []byte
	// Data is the text of the data fields, joined by line feeds.
	Data []byte
	// Stray marks text outside any field, like a bare JSON error. Data holds it
	// with its line breaks, as line feeds.
	Stray bool
}

// Decoder cuts a stream into events. It is not safe for concurrent use.
type Decoder struct {
	input
	max   int
	begun bool // the first line is over, no byte order mark can follow

	name  []byte
	data  block // lies before stray in the buffer
	stray block // is given out before new data begins
}

// block is text collected in the buffer, a line feed after each line.
type block struct {
	from, to int
	open     bool
}

func (b *block) len() int {
	if !b.open {
		return 0
	}
	return b.to - b.from
}

// NewDecoder returns a decoder of r. maxEvent limits the data of one event in
// bytes; 0 means DefaultMaxEvent.
func NewDecoder(r io.Reader, maxEvent int) *Decoder {
	if maxEvent <= 0 {
		maxEvent = DefaultMaxEvent
	}
	return &Decoder{input: input{r: r}, max: maxEvent}
}

// Next returns the next event, io.EOF at the end of the stream, ErrTooLong, or
// the error of the reader after the events that were complete before it. An
// error is returned again by each later call.
func (d *Decoder) Next() (Event, error) {
	for {
		end, ok := d.findLine()
		if d.tooLong(end - d.line) {
			d.stop(ErrTooLong)
			d.data, d.stray = block{}, block{}
			return Event{}, d.err
		}
		if ok {
			if event, ok := d.readLine(end); ok {
				return event, nil
			}
			continue
		}
		if d.err != nil {
			return d.finish()
		}
		d.fill(&d.data, &d.stray)
	}
}

// readLine takes in the line that ends before end. It returns an event if the
// line completes one.
func (d *Decoder) readLine(end int) (Event, bool) {
	if !d.begun {
		d.begun = true
		if bytes.HasPrefix(d.buf[d.line:end], []byte("\ufeff")) {
			d.line += len("\ufeff")
		}
	}
	from := d.line
	if from == end {
		d.advance(end)
		return d.blank(end)
	}
	field, value := splitField(d.buf[from:end])
	if d.stray.open && field.isReal() {
		return d.takeStray(), true // and this line again next time
	}
	d.advance(end) // before extend, which may write over the line break
	switch field {
	case fieldNone:
		d.addStray(from, end)
	case fieldData:
		d.extend(&d.data, end-len(value), end)
		if d.atBlank() && !d.tooLong(0) { // as a rule
			d.advance(d.line)
			return d.takeData(), true
		}
	case fieldEvent:
		d.name = append(d.name[:0], value...)
	}
	return Event{}, false
}

// blank closes the event the lines before it have built. Stray text goes on.
func (d *Decoder) blank(end int) (Event, bool) {
	if d.stray.open {
		d.extend(&d.stray, end, end)
	}
	if !d.data.open {
		d.name = d.name[:0]
		return Event{}, false
	}
	return d.takeData(), true
}

// finish returns what the end of the input completes, then the error. When the
// reader failed, an event that was not closed is cut, but stray text may say
// why the stream broke and is worth having.
func (d *Decoder) finish() (Event, error) {
	if d.data.open && d.err == io.EOF {
		return d.takeData(), nil
	}
	if d.stray.open {
		return d.takeStray(), nil
	}
	return Event{}, d.err
}

// tooLong reports whether what is collected, or that and the current line, are
// beyond the limit. It does not depend on how the input was cut.
func (d *Decoder) tooLong(line int) bool {
	return max(d.data.len(), d.stray.len()) > d.max+1 ||
		d.data.len()+d.stray.len()+line > d.max+lineSlack
}

func (d *Decoder) takeData() Event {
	event := Event{Name: d.name, Data: d.buf[d.data.from : d.data.to-1]}
	d.data = block{}
	d.name = d.name[:0]
	return event
}

func (d *Decoder) takeStray() Event {
	text := bytes.TrimRight(d.buf[d.stray.from:d.stray.to], " \t\n")
	d.stray = block{}
	return Event{Data: text, Stray: true}
}

// addStray takes in a line that is no field. White space alone does not begin
// stray text.
func (d *Decoder) addStray(from, end int) {
	if d.stray.open || len(bytes.TrimSpace(d.buf[from:end])) > 0 {
		d.extend(&d.stray, from, end)
	}
}

// extend adds a line to b, in place: the first line stays where it was read,
// and each later one moves down to the one before. The line break of the line
// is room enough for the line feed.
func (d *Decoder) extend(b *block, from, to int) {
	if !b.open {
		*b = block{from: from, to: to, open: true}
	} else {
		b.to += copy(d.buf[b.to:], d.buf[from:to])
	}
	d.buf[b.to] = '\n'
	b.to++
}

// field is what a line turns out to be.
type field uint8

const (
	fieldNone field = iota // stray text
	fieldComment
	fieldData
	fieldEvent
	fieldUnused // id and retry: nothing here reconnects
)

// isReal reports whether a line with the field ends stray text.
func (f field) isReal() bool { return f >= fieldData }

// splitField splits a line, which is not empty, into its field and the value.
func splitField(line []byte) (field, []byte) {
	const usual = "data: "
	if len(line) >= len(usual) && string(line[:len(usual)]) == usual {
		return fieldData, line[len(usual):]
	}
	name, value, _ := bytes.Cut(line, []byte(":"))
	if len(value) > 0 && value[0] == ' ' {
		value = value[1:]
	}
	switch string(name) {
	case "data":
		return fieldData, value
	case "event":
		return fieldEvent, value
	case "id", "retry":
		return fieldUnused, value
	case "":
		return fieldComment, nil
	}
	return fieldNone, nil
}
