package providers

import (
	"slices"

	"github.com/b650d4bf/gateway/internal/jsonx"
)

// writer returns a JSON writer that writes into the spare room of dst. The
// caller appends what it wrote to dst, which costs nothing when the room was
// enough.
func writer(dst []byte) jsonx.Writer {
	var w jsonx.Writer
	w.Reset(dst[len(dst):])
	return w
}

// encode runs an encoder on a fresh writer.
func encode(enc func(*jsonx.Writer)) ([]byte, error) {
	var w jsonx.Writer
	enc(&w)
	return w.Bytes(), w.Err()
}

// decode runs a decoder over the whole of data. The data is copied first, since
// decoded values alias it.
func decode(data []byte, dec func(*jsonx.Reader)) error {
	r := jsonx.NewReader(slices.Clone(data))
	dec(&r)
	return r.End()
}

func putString(w *jsonx.Writer, key, value string) {
	if value != "" {
		w.Key(key)
		w.String(value)
	}
}

func putInt(w *jsonx.Writer, key string, value *int) {
	if value != nil {
		w.Key(key)
		w.Int(int64(*value))
	}
}

func putFloat(w *jsonx.Writer, key string, value *float64) {
	if value != nil {
		w.Key(key)
		w.Float(*value)
	}
}

func putBool(w *jsonx.Writer, key string, value *bool) {
	if value != nil {
		w.Key(key)
		w.Bool(*value)
	}
}

func putRaw(w *jsonx.Writer, key string, value []byte) {
	if len(value) > 0 {
		w.Key(key)
		w.Raw(value)
	}
}

// putStrings writes a list, unless it is empty.
func putStrings(w *jsonx.Writer, key string, values []string) {
	if len(values) == 0 {
		return
	}
	w.Key(key)
	w.BeginArray()
	for _, s := range values {
		w.String(s)
	}
	w.EndArray()
}

// putList writes a list of values, unless it is empty.
func putList[T any](w *jsonx.Writer, key string, values []T, enc func(*T, *jsonx.Writer)) {
	if len(values) == 0 {
		return
	}
	w.Key(key)
	list(w, values, enc)
}

// list writes values as an array.
func list[T any](w *jsonx.Writer, values []T, enc func(*T, *jsonx.Writer)) {
	w.BeginArray()
	for i := range values {
		enc(&values[i], w)
	}
	w.EndArray()
}

// getList reads an array of values.
func getList[T any](r *jsonx.Reader, dec func(*T, *jsonx.Reader)) []T {
	var out []T
	for r.Array(); r.NextElem(); {
		var v T
		dec(&v, r)
		out = append(out, v)
	}
	return out
}

func getStrings(r *jsonx.Reader) []string {
	var out []string
	for r.Array(); r.NextElem(); {
		out = append(out, r.String())
	}
	return out
}

// optional reads a scalar into a new pointer; a null leaves it nil.
func optional[T any](r *jsonx.Reader, read func() T) *T {
	if r.Null() {
		return nil
	}
	return new(read())
}

func getInt(r *jsonx.Reader) *int {
	return optional(r, func() int { return int(r.Int()) })
}

// getObject reads an object into a new value; a null leaves it nil.
func getObject[T any](r *jsonx.Reader, dec func(*T, *jsonx.Reader)) *T {
	if r.Null() {
		return nil
	}
	v := new(T)
	dec(v, r)
	return v
}
