package jsonx

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// build reads one value into what encoding/json would make of it, without
// using Raw or Skip.
func build(r *Reader) any {
	switch r.Kind() {
	case Null:
		r.Null()
	case Bool:
		return r.Bool()
	case Number:
		return r.Float()
	case String:
		return r.String()
	case Object:
		members := map[string]any{}
		for r.Object(); r.NextKey(); {
			key := string(r.Key())
			members[key] = build(r)
		}
		return members
	case Array:
		elems := []any{}
		for r.Array(); r.NextElem(); {
			elems = append(elems, build(r))
		}
		return elems
	}
	return nil
}

var documents = []string{
	`{}`, `[]`, `null`, `true`, `false`, `0`, `-0`, `""`, `"a"`, " \t\r\n{ } \n",
	`{"a":1,"b":[1,2.5,-3e2,"x",null,true,false],"c":{"d":{},"e":[]}}`,
	` { "a" : 1 , "b" : [ 1 , [ ] , { } ] } `,
	`{"":{"":""},"a\"b":"\u0041","a":1,"a":2}`,
	`[[[[[]]],[]],[{}]]`,
	`"\ud83d\ude00 \ud83d \u0000 \b\f\n\r\t\"\\\/"`,
	"\"gr\u00fc\u00df \u4e16\u754c\"", "\"\xff\xc3\"", "{\"\xff\":1}",
}

func TestReaderBuildsWhatEncodingJSONBuilds(t *testing.T) {
	for _, doc := range documents {
		t.Run(doc, func(t *testing.T) {
			var want any
			if err := json.Unmarshal([]byte(doc), &want); err != nil {
				t.Fatal(err)
			}
			r := NewReader([]byte(doc))
			got := build(&r)
			if err := r.End(); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("value (-want +got):\n%s", diff)
			}
		})
	}
}

func TestReaderKind(t *testing.T) {
	for in, want := range map[string]Kind{
		"null": Null, "true": Bool, "false": Bool, "-1": Number, "7": Number,
		`"x"`: String, "{}": Object, " \n[]": Array, "": Invalid, " ": Invalid, "x": Invalid, "}": Invalid,
	} {
		r := NewReader([]byte(in))
		if got := r.Kind(); got != want {
			t.Errorf("Kind of %q = %v, want %v", in, got, want)
		}
	}
}

func TestReaderNullReadsAsEmpty(t *testing.T) {
	doc := `[null,null,null,null,null,null,null,null,null,7]`
	r := NewReader([]byte(doc))
	r.Array()
	next := func() *Reader {
		if !r.NextElem() {
			t.Fatalf("array ended early: %v", r.Err())
		}
		return &r
	}
	for next().Object(); r.NextKey(); {
		t.Error("null has a member")
	}
	for next().Array(); r.NextElem(); {
		t.Error("null has an element")
	}
	got := []any{next().String(), next().Bytes() == nil, next().Intern("x"), next().Int(), next().LooseInt(), next().Float(), next().Bool()}
	want := []any{"", true, "", int64(0), int64(0), float64(0), false}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("values (-want +got):\n%s", diff)
	}
	if next().Null() || r.Int() != 7 || r.NextElem() || r.End() != nil {
		t.Errorf("the 7 after the nulls was not read: %v", r.Err())
	}
}

func TestReaderSkipsWhatTheBodyLeavesUnread(t *testing.T) {
	r := NewReader([]byte(`{"a":{"x":[1,2]},"b":[{"c":1},2,"3"],"d":4}`))
	var keys []string
	for r.Object(); r.NextKey(); {
		keys = append(keys, string(r.Key()))
		if string(r.Key()) == "b" {
			for r.Array(); r.NextElem(); {
				keys = append(keys, r.Kind().String())
			}
		}
	}
	if diff := cmp.Diff([]string{"a", "b", "object", "number", "string", "d"}, keys); diff != "" || r.End() != nil {
		t.Errorf("error %v, keys (-want +got):\n%s", r.Err(), diff)
	}
}

func TestReaderUnreadValueIsStillValidated(t *testing.T) {
	r := NewReader([]byte(`{"a":[1,],"b":2}`))
	for r.Object(); r.NextKey(); {
		if string(r.Key()) == "b" {
			t.Error("went on after a malformed value")
		}
	}
	if r.Err() == nil {
		t.Error("no error for a malformed value")
	}
}

func TestReaderRaw(t *testing.T) {
	doc := []byte(`{"a": { "x" : [1, "]"] } ,"b":12 , "c":"\u00e9"}`)
	r := NewReader(doc)
	got := map[string]string{}
	for r.Object(); r.NextKey(); {
		raw := r.Raw()
		got[string(r.Key())] = string(raw)
		if cap(raw) != len(raw) {
			t.Errorf("capacity of %q is %d: appending would write into the input", raw, cap(raw))
		}
	}
	want := map[string]string{"a": `{ "x" : [1, "]"] }`, "b": "12", "c": `"\u00e9"`}
	if diff := cmp.Diff(want, got); diff != "" || r.End() != nil {
		t.Errorf("error %v, raw values (-want +got):\n%s", r.Err(), diff)
	}
}

func TestReaderKeyOutlivesTheValue(t *testing.T) {
	r := NewReader([]byte(`{"k\u0065y":"v\u0061lue","k\u0065y":"v\u0061lue"}`))
	r.Object()
	for range 2 {
		if !r.NextKey() || string(r.Bytes()) != "value" || string(r.Key()) != "key" {
			t.Errorf("key = %q after reading the value, %v", r.Key(), r.Err())
		}
	}
}

func TestReaderReset(t *testing.T) {
	r := NewReader([]byte(`[`))
	r.Array()
	r.NextElem()
	if r.Err() == nil {
		t.Fatal("no error for a cut array")
	}
	r.Reset([]byte(`[1]`))
	n := int64(0)
	for r.Array(); r.NextElem(); {
		n += r.Int()
	}
	if err := r.End(); err != nil || n != 1 {
		t.Errorf("after Reset: %d, %v, want 1", n, err)
	}
}

func TestReaderDepth(t *testing.T) {
	nested := func(n int, inner string) []byte {
		return []byte(strings.Repeat("[", n-1) + inner + strings.Repeat("]", n-1))
	}
	walk := func(doc []byte) error {
		r := NewReader(doc)
		build(&r)
		return r.End()
	}
	skip := func(doc []byte) error {
		r := NewReader(doc)
		r.Skip()
		return r.End()
	}
	inside := func(doc []byte) error { // half walked, half skipped
		r := NewReader(doc)
		for range MaxDepth / 2 {
			r.Array()
			r.NextElem()
		}
		r.Skip()
		return r.Err()
	}
	for name, read := range map[string]func([]byte) error{"walk": walk, "skip": skip, "inside": inside} {
		for _, inner := range []string{"{}", "[]"} {
			if err := read(nested(MaxDepth, inner)); err != nil {
				t.Errorf("%s: depth %d: %v", name, MaxDepth, err)
			}
			var e *Error
			if err := read(nested(MaxDepth+1, inner)); !errors.As(err, &e) || e.Msg != faultDepth.text() || e.Offset != MaxDepth {
				t.Errorf("%s: depth %d: %v", name, MaxDepth+1, err)
			}
		}
		siblings := "[" + strings.Repeat("[],{},", 2*MaxDepth) + "0]"
		if err := read([]byte(siblings)); name != "inside" && err != nil {
			t.Errorf("%s: siblings count as depth: %v", name, err)
		}
	}
}
