package jsonx

import (
	"fmt"
	"strconv"
)

// Error tells what is wrong with a document and where. It never quotes values
// of the input; Path holds keys only.
type Error struct {
	// Path leads to the value, like messages[2].content; empty for the document
	// itself.
	Path string
	// Offset counts bytes from the start of the input.
	Offset int
	// Msg says what was expected.
	Msg string
}

// Error returns the path, the message and the offset.
func (e *Error) Error() string {
	text := e.Msg + " (offset " + strconv.Itoa(e.Offset) + ")"
	if e.Path == "" {
		return text
	}
	return e.Path + ": " + text
}

// fault is what the scanning functions can find wrong.
type fault uint8

const (
	faultNone fault = iota
	faultEnd
	faultValue
	faultKey
	faultColon
	faultObjectComma
	faultArrayComma
	faultTrailingComma
	faultTrailing
	faultLiteral
	faultNumber
	faultInteger
	faultRange
	faultEscape
	faultControl
	faultDepth
)

func (f fault) text() string {
	switch f {
	case faultEnd:
		return "unexpected end of input"
	case faultValue:
		return "expected a value"
	case faultKey:
		return "expected a quoted key"
	case faultColon:
		return "expected ':' after the key"
	case faultObjectComma:
		return "expected ',' or '}'"
	case faultArrayComma:
		return "expected ',' or ']'"
	case faultTrailingComma:
		return "unexpected comma before the end"
	case faultTrailing:
		return "unexpected text after the value"
	case faultLiteral:
		return "invalid literal"
	case faultNumber:
		return "invalid number"
	case faultInteger:
		return "expected an integer of 64 bits"
	case faultRange:
		return "number out of range"
	case faultEscape:
		return "invalid escape in string"
	case faultControl:
		return "control character in string"
	case faultDepth:
		return "nested too deeply"
	}
	return "invalid JSON"
}

func separatorFault(closing byte) fault {
	if closing == '}' {
		return faultObjectComma
	}
	return faultArrayComma
}

// fail records f at an offset unless an error is known already.
func (r *Reader) fail(at int, f fault) {
	if r.err == nil {
		r.failText(at, f.text())
	}
}

// failHere records f, or the end of the input if that is what is next.
func (r *Reader) failHere(f fault) {
	if r.pos >= len(r.data) {
		f = faultEnd
	}
	r.fail(r.pos, f)
}

// mismatch records that the next value is not of the kind wanted.
func (r *Reader) mismatch(want Kind) {
	if r.err != nil {
		return
	}
	c, ok := r.peek()
	switch got := kindOf(c); {
	case !ok:
		r.fail(r.pos, faultEnd)
	case got == Invalid:
		r.fail(r.pos, faultValue)
	default:
		r.failText(r.pos, fmt.Sprintf("expected %s, got %s", want, got))
	}
}

// failText records the error and drops the input: all methods then find its
// end, so none has to look at err first.
func (r *Reader) failText(at int, msg string) {
	r.err = &Error{Path: pathTo(r.data, at), Offset: at, Msg: msg}
	r.data, r.key = nil, nil
	r.pos, r.start, r.valueAt, r.state = 0, 0, -1, inside
}
