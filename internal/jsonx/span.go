package jsonx

// Span returns where in the input what was read last begins and ends. After
// NextKey that is the quoted key and what leads up to the value. It is for
// copying what lies between values too. After an error both are 0.
func (r *Reader) Span() (from, to int) { return r.start, r.pos }
