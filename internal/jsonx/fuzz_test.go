package jsonx

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// FuzzReader compares reading, skipping and Valid with encoding/json, which
// accepts deeper nesting only.
func FuzzReader(f *testing.F) {
	for _, doc := range documents {
		f.Add([]byte(doc))
	}
	for _, tt := range malformed {
		f.Add([]byte(tt.in))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		before := bytes.Clone(doc)
		valid := json.Valid(doc)
		if Valid(doc) != valid {
			if !valid || bytes.Count(doc, []byte("["))+bytes.Count(doc, []byte("{")) <= MaxDepth {
				t.Fatalf("Valid = %v, encoding/json has %v", !valid, valid)
			}
			return
		}
		skip := NewReader(doc)
		skip.Skip()
		if (skip.End() == nil) != valid {
			t.Fatalf("Skip: %v", skip.Err())
		}
		walk := NewReader(doc)
		if walk.Kind() != Invalid {
			checkWalk(t, &walk, doc, skip.Err())
		}
		if valid {
			checkCompact(t, doc)
		}
		if !bytes.Equal(doc, before) {
			t.Fatal("the input was changed")
		}
	})
}

// checkWalk compares a walk with encoding/json and its error with that of
// skipping the same document.
func checkWalk(t *testing.T, walk *Reader, doc []byte, skipErr error) {
	t.Helper()
	got := build(walk)
	var want any
	if err := json.Unmarshal(doc, &want); err == nil {
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" || walk.End() != nil {
			t.Fatalf("error %v, value (-want +got):\n%s", walk.Err(), diff)
		}
		return
	}
	if walk.End() == nil {
		t.Fatal("the walk found no error")
	}
	if skipErr != nil && walk.Err().Error() != skipErr.Error() && walk.err.Msg != faultRange.text() {
		t.Fatalf("walked: %v, skipped: %v", walk.Err(), skipErr)
	}
}

func FuzzText(f *testing.F) {
	for _, quoted := range quotedTexts {
		f.Add(quoted[1:])
	}
	f.Fuzz(func(t *testing.T, text string) {
		checkText(t, `"`+text)
		checkText(t, `"`+text+`"`)
		checkWrittenText(t, text)
	})
}

func FuzzNumber(f *testing.F) {
	for _, in := range floats {
		f.Add(in, math.Pi)
	}
	f.Fuzz(func(t *testing.T, in string, v float64) {
		checkFloat(t, v)
		in = strings.Trim(in, space)
		if r := NewReader([]byte(in)); r.Kind() == Number {
			checkNumber(t, in)
		}
	})
}

func FuzzMembers(f *testing.F) {
	f.Add([]byte(`{"a":1, "b":{"c":[2]}}`), "b", []byte(`3`))
	f.Add([]byte(` {"\u0061":1,"a":2}`), "a", []byte(`"x"`))
	f.Fuzz(func(t *testing.T, obj []byte, key string, value []byte) {
		key = string([]rune(key)) // keys that are no UTF-8 cannot be found again
		if r := NewReader(obj); !Valid(obj) || r.Kind() != Object || !Valid(value) {
			return
		}
		without := DeleteMember(obj, key)
		if _, ok := Lookup(without, key); ok || !json.Valid(without) {
			t.Fatalf("DeleteMember = %s", without)
		}
		with := AppendMember(bytes.Clone(without), key, value)
		if got, ok := Lookup(with, key); !ok || string(got) != string(bytes.Trim(value, space)) || !json.Valid(with) {
			t.Fatalf("AppendMember = %s, Lookup = %s, %v", with, got, ok)
		}
		var w Writer
		w.BeginObject()
		w.Members(obj)
		w.Key("end")
		w.Null()
		w.EndObject()
		if w.Err() != nil || !json.Valid(w.Bytes()) {
			t.Fatalf("Members = %s, %v", w.Bytes(), w.Err())
		}
	})
}
