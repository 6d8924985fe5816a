package jsonx

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestValid(t *testing.T) {
	for _, doc := range documents {
		if !Valid([]byte(doc)) || !ValidString(doc) || ValidString(doc+",") || !Valid([]byte("\n\t"+doc+"\r ")) {
			t.Errorf("Valid(%q) = false", doc)
		}
	}
}

func TestLookup(t *testing.T) {
	tests := []struct {
		obj, key, want string
		ok             bool
	}{
		{`{"a":1,"b": [2] }`, "b", "[2]", true},
		{`{"a":1,"a":2}`, "a", "1", true},
		{`{"x":{"a":1},"a":2}`, "a", "2", true},
		{`{"\u0061":null}`, "a", "null", true},
		{`{"":""}`, "", `""`, true},
		{`{"a":1}`, "b", "", false},
		{`{"a":1}`, "A", "", false},
		{`{}`, "a", "", false},
		{``, "a", "", false},
		{`null`, "a", "", false},
		{`["a"]`, "a", "", false},
		{`{"b":x,"a":1}`, "a", "", false},
		{`{"a":`, "a", "", false},
	}
	for _, tt := range tests {
		got, ok := Lookup([]byte(tt.obj), tt.key)
		if string(got) != tt.want || ok != tt.ok {
			t.Errorf("Lookup(%s, %q) = %s, %v, want %s, %v", tt.obj, tt.key, got, ok, tt.want, tt.ok)
		}
	}
}

func TestMembers(t *testing.T) {
	type member struct{ Key, Value string }
	tests := []struct {
		name, obj string
		want      []member
	}{
		{"in order", `{"b":1, "a" : "x" ,"\u0063":{"d":2}}`, []member{{"b", "1"}, {"a", `"x"`}, {"c", `{"d":2}`}}},
		{"duplicates", `{"a":1,"a":2}`, []member{{"a", "1"}, {"a", "2"}}},
		{"up to the first error", `{"a":1,"b":x,"c":2}`, []member{{"a", "1"}}},
		{"nil", ``, nil},
		{"no object", `[1]`, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []member
			for k, v := range Members([]byte(tt.obj)) {
				got = append(got, member{k, string(v)})
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("members (-want +got):\n%s", diff)
			}
		})
	}
	for k := range Members([]byte(`{"a":1,"b":2}`)) {
		if k != "a" {
			t.Error("the walk went on after break")
		}
		break
	}
}

func TestAppendMember(t *testing.T) {
	tests := []struct{ obj, key, value, want string }{
		{``, "a", `1`, `{"a":1}`},
		{`{}`, "a", `1`, `{"a":1}`},
		{` { } `, "a", `1`, `{"a":1}`},
		{`{"a":1}`, "b", `[2]`, `{"a":1,"b":[2]}`},
		{`{"a":1 } `, "b\n", `2`, `{"a":1,"b\n":2}`},
		{`{"a":"{"}`, "b", ``, `{"a":"{","b":null}`},
		{`null`, "a", `1`, `{"a":1}`},
	}
	for _, tt := range tests {
		if got := AppendMember([]byte(tt.obj), tt.key, []byte(tt.value)); string(got) != tt.want {
			t.Errorf("AppendMember(%q, %q, %q) = %s, want %s", tt.obj, tt.key, tt.value, got, tt.want)
		}
	}
}

func TestAppendMemberLeavesTheDocumentAlone(t *testing.T) {
	doc := []byte(`[{"a":1},{"b":2}]`)
	before := string(doc)
	r := NewReader(doc)
	r.Array()
	r.NextElem()
	if got := AppendMember(r.Raw(), "c", []byte("3")); string(got) != `{"a":1,"c":3}` || string(doc) != before {
		t.Errorf("AppendMember = %s, and the document became %s", got, doc)
	}
}

func TestDeleteMember(t *testing.T) {
	tests := []struct{ name, obj, key, want string }{
		{"first", `{"a":1,"b":2}`, "a", `{"b":2}`},
		{"last", `{"a":1,"b":2}`, "b", `{"a":1}`},
		{"only", `{"a":1}`, "a", `{}`},
		{"all of a key", `{"a":1,"b":2,"\u0061":3}`, "a", `{"b":2}`},
		{"the others keep their bytes", `{ "\u0062" : [1, 2] , "a":1 , "c":1.0 }`, "a", `{"\u0062" : [1, 2],"c":1.0}`},
		{"absent", ` {"a":1}`, "b", ` {"a":1}`},
		{"inner ones stay", `{"b":{"a":1}}`, "a", `{"b":{"a":1}}`},
		{"malformed", `{"a":1,"b":}`, "a", `{"a":1,"b":}`},
		{"nil", ``, "a", ``},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			obj := []byte(tt.obj)
			if diff := cmp.Diff(tt.want, string(DeleteMember(obj, tt.key))); diff != "" || string(obj) != tt.obj {
				t.Errorf("obj became %s, result (-want +got):\n%s", obj, diff)
			}
		})
	}
}

func TestCompact(t *testing.T) {
	for _, doc := range append(documents, ` [ "a b\" c" , { "d " : 1 } ] `) {
		checkCompact(t, []byte(doc))
	}
}

func checkCompact(t *testing.T, doc []byte) {
	t.Helper()
	var want bytes.Buffer
	if err := json.Compact(&want, doc); err != nil {
		t.Fatal(err)
	}
	if got := Compact(nil, doc); !bytes.Equal(got, want.Bytes()) {
		t.Errorf("Compact = %s, want %s", got, want.Bytes())
	}
	inPlace := bytes.Clone(doc)
	if got := Compact(inPlace[:0], inPlace); !bytes.Equal(got, want.Bytes()) {
		t.Errorf("Compact in place = %s, want %s", got, want.Bytes())
	}
}

func TestBuffersAreEmptyWhenBorrowed(t *testing.T) {
	for range 10 {
		b := GetBuffer()
		if len(b.B) != 0 {
			t.Errorf("a borrowed buffer holds %d bytes", len(b.B))
		}
		if cap(b.B) > maxPooled {
			t.Errorf("a borrowed buffer has room for %d bytes", cap(b.B))
		}
		b.B = append(b.B, make([]byte, maxPooled+1)...)
		b.Free()
		b = GetBuffer()
		b.B = append(b.B, "text"...)
		b.Free()
	}
}
