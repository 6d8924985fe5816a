package sse

import "bytes"

// Done is the data of the event that ends a stream of the OpenAI API.
const Done = "[DONE]"

// AppendEvent appends an event without a name to dst: a data field for each
// line of data, then a blank line.
func AppendEvent(dst, data []byte) []byte {
	for {
		line, rest, more := cutLine(data)
		dst = append(dst, "data: "...)
		dst = append(dst, line...)
		dst = append(dst, '\n')
		if !more {
			return append(dst, '\n')
		}
		data = rest
	}
}

// AppendNamedEvent appends an event with a name. The name ends at its first
// line break; an empty one is left out.
func AppendNamedEvent(dst []byte, name string, data []byte) []byte {
	for i := range len(name) {
		if name[i] == '\n' || name[i] == '\r' {
			name = name[:i]
			break
		}
	}
	if name != "" {
		dst = append(dst, "event: "...)
		dst = append(dst, name...)
		dst = append(dst, '\n')
	}
	return AppendEvent(dst, data)
}

// AppendDone appends the event that ends a stream of the OpenAI API.
func AppendDone(dst []byte) []byte { return append(dst, "data: "+Done+"\n\n"...) }

// cutLine splits data after its first line; more tells that there was a line
// break, so that another line follows, if only an empty one.
func cutLine(data []byte) (line, rest []byte, more bool) {
	i := len(data)
	if lf := bytes.IndexByte(data, '\n'); lf >= 0 {
		i = lf
	}
	if cr := bytes.IndexByte(data[:i], '\r'); cr >= 0 {
		i = cr
	}
	if i == len(data) {
		return data, nil, false
	}
	if rest = data[i+1:]; data[i] == '\r' && len(rest) > 0 && rest[0] == '\n' {
		rest = rest[1:]
	}
	return data[:i], rest, true
}

// breaks are the characters beyond ASCII that some clients take for the end of a line,
// against the standard of event streams, with their escapes in JSON.
//
// Source: https://docs.python.org/3/library/stdtypes.html#str.splitlines
var breaks = [...]struct{ raw, escape string }{
	{"\u0085", `\u0085`},
	{"\u2028", `\u2028`},
	{"\u2029", `\u2029`},
}

// LineSafe returns JSON with those characters escaped, which can only stand within
// strings; without them it returns the JSON itself.
func LineSafe(json []byte) []byte {
	for _, b := range breaks {
		if bytes.Contains(json, []byte(b.raw)) {
			json = bytes.ReplaceAll(json, []byte(b.raw), []byte(b.escape))
		}
	}
	return json
}
