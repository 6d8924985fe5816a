package providers

import (
	"bytes"
	"encoding/json"
	"iter"
	"slices"

	"github.com/b650d4bf/gateway/internal/jsonx"
)

// Extra keeps the members of a JSON object that the schema does not model. They
// come out byte for byte as they went in and in the same order. The zero value
// is an empty set. Extra is the text of one JSON object, or nil.
type Extra []byte

// Get returns the raw value of the named member.
func (e Extra) Get(name string) (json.RawMessage, bool) {
	return jsonx.Lookup(e, name)
}

// Set adds the member, or replaces the one of that name. The value must be
// valid JSON; anything else is refused with an [ErrInvalidRequest].
func (e *Extra) Set(name string, value json.RawMessage) error {
	if !jsonx.Valid(value) {
		return &Error{Code: ErrInvalidRequest, Param: name, Message: "the value is not valid JSON"}
	}
	// A copy of the message may share these bytes.
	*e = jsonx.AppendMember(slices.Clone(jsonx.DeleteMember(*e, name)), name, value)
	return nil
}

// SetString adds a member that is a string, or replaces the one of that name.
func (e *Extra) SetString(name, value string) {
	var w jsonx.Writer
	w.String(value)
	*e = jsonx.AppendMember(slices.Clone(jsonx.DeleteMember(*e, name)), name, w.Bytes())
}

// Delete removes the named member, if it is there.
func (e *Extra) Delete(name string) {
	*e = jsonx.DeleteMember(*e, name)
}

// All yields the members in order.
func (e Extra) All() iter.Seq2[string, json.RawMessage] {
	return func(yield func(string, json.RawMessage) bool) {
		for name, value := range jsonx.Members(e) {
			if !yield(name, value) {
				return
			}
		}
	}
}

// merge lays the members of other over those of e.
func (e *Extra) merge(other Extra) error {
	if len(*e) == 0 {
		*e = other
		return nil
	}
	for name, value := range other.All() {
		if have, ok := e.Get(name); ok && bytes.Equal(have, value) {
			continue
		}
		if err := e.Set(name, value); err != nil {
			return err
		}
	}
	return nil
}

// keep adds the member the reader stands at.
func (e *Extra) keep(r *jsonx.Reader) {
	name := string(r.Key())
	if value := r.Raw(); r.Err() == nil {
		*e = jsonx.AppendMember(*e, name, value)
	}
}
