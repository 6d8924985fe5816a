package jsonx

import "strconv"

const (
	maxPathSteps = 32 // of a path shown in an error
	maxPathKey   = 64 // bytes of a key shown in an error
)

// step is an open object or array and the member or element being read.
type step struct {
	array bool
	index int
	key   []byte // quoted, nil before the key
}

// pathTo finds the path of the value at an offset by scanning the input up to
// there. What comes before the offset is well-formed, as it was read already.
func pathTo(data []byte, offset int) string {
	var open []step
	var last byte // that is no white space
	for i := 0; i < min(offset, len(data)); i++ {
		top := len(open) - 1
		switch c := data[i]; {
		case c == '{' || c == '[':
			open = append(open, step{array: c == '['})
		case top < 0:
		case c == '}' || c == ']':
			open = open[:top]
		case c == ',':
			open[top].index++
			open[top].key = nil
		case c == '"':
			end, f := skipString(data, i)
			if f != faultNone || end > offset {
				return formatPath(open)
			}
			if !open[top].array && open[top].key == nil {
				open[top].key = data[i:end]
			}
			i = end - 1
		}
		if !isSpace(data[i]) {
			last = data[i]
		}
	}
	// An end is a matter of the object or array, unless a value is missing.
	if n := len(open); n > 0 && last != ':' && offset < len(data) && (data[offset] == '}' || data[offset] == ']') {
		return formatPath(open[:n-1])
	}
	return formatPath(open)
}

func formatPath(open []step) string {
	var path []byte
	for i, s := range open {
		switch {
		case i == maxPathSteps:
			return string(append(path, "..."...))
		case s.array:
			path = append(path, '[')
			path = strconv.AppendInt(path, int64(s.index), 10)
			path = append(path, ']')
		case s.key != nil:
			path = appendPathKey(path, s.key)
		}
	}
	return string(path)
}

func appendPathKey(path, quoted []byte) []byte {
	key, _, _ := unescape(nil, quoted, 1)
	if isName(key) {
		if len(path) > 0 {
			path = append(path, '.')
		}
		return append(path, key...)
	}
	if len(key) > maxPathKey {
		key = append(key[:maxPathKey:maxPathKey], "..."...)
	}
	path = append(path, '[')
	path = strconv.AppendQuote(path, string(key))
	return append(path, ']')
}

// isName reports whether a key can stand in a path without quotes.
func isName(key []byte) bool {
	for i, c := range key {
		letter := c == '_' || c == '$' || 'a' <= c|0x20 && c|0x20 <= 'z'
		if !letter && (i == 0 || c != '-' && (c < '0' || c > '9')) {
			return false
		}
	}
	return len(key) > 0 && len(key) <= maxPathKey
}
