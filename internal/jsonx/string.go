package jsonx

// ValidString reports whether s is one JSON value.
func ValidString(s string) bool { return Valid(bytesView(s)) }

// RawString writes one complete JSON value like Raw.
func (w *Writer) RawString(s string) { w.Raw(bytesView(s)) }
