package jsonx

import "strconv"

// Floats appends the numbers of the array that is next to dst, each the float
// closest to its text, as [strconv.ParseFloat] has it. A null in place of the
// array reads as an empty one; an element that is no number is an error.
func (r *Reader) Floats(dst []float64) []float64 {
	for r.Array(); r.NextElem(); {
		if c, ok := r.peek(); !ok || kindOf(c) != Number {
			r.mismatch(Number)
			return dst
		}
		dst = r.floats(dst)
	}
	return dst
}

// floats appends the number that is next, and those that follow it with nothing
// but a comma between.
func (r *Reader) floats(dst []float64) []float64 {
	for i := r.pos; ; {
		f, end, ok := plainFloat(r.data, i)
		if !ok {
			var wrong fault
			if f, end, wrong = longFloat(r.data, i); wrong != faultNone {
				r.fail(end, wrong)
				return dst
			}
		}
		dst = append(dst, f)
		if end+1 >= len(r.data) || r.data[end] != ',' || kindOf(r.data[end+1]) != Number {
			r.start, r.pos = i, end
			return dst
		}
		i = end + 1
	}
}

// longFloat reads a number that [plainFloat] does not.
func longFloat(data []byte, start int) (float64, int, fault) {
	end, wrong := skipNumber(data, start)
	if wrong != faultNone {
		return 0, end, wrong
	}
	f, err := strconv.ParseFloat(stringView(data[start:end]), 64)
	if err != nil {
		return 0, start, faultRange
	}
	return f, end, faultNone
}

// Floats writes an array of numbers.
func (w *Writer) Floats(list []float64) {
	const usual = 24 // bytes of a number and its comma
	w.Grow(usual*len(list) + 2)
	w.BeginArray()
	for _, f := range list {
		w.Float(f)
	}
	w.EndArray()
}

// Append writes the value that the function appends to its argument.
func (w *Writer) Append(value func(dst []byte) []byte) { w.buf = value(w.separated()) }
