package providers_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/b650d4bf/gateway/providers"
)

// pair is a member as Extra.All yields it.
type pair struct{ Name, Value string }

func members(e providers.Extra) []pair {
	var out []pair
	for name, value := range e.All() {
		out = append(out, pair{name, string(value)})
	}
	return out
}

func set(t *testing.T, e *providers.Extra, name, value string) {
	t.Helper()
	if err := e.Set(name, json.RawMessage(value)); err != nil {
		t.Fatal(err)
	}
}

func TestExtraSetGetDelete(t *testing.T) {
	var e providers.Extra
	if _, ok := e.Get("a"); ok || len(members(e)) > 0 {
		t.Fatal("the zero value is not empty")
	}
	e.Delete("a")
	set(t, &e, "b", `{"z":1, "a":2}`)
	set(t, &e, "a", `null`)
	set(t, &e, `q"uote`, `12345678901234567890`)
	wantEqual(t, []pair{{"b", `{"z":1, "a":2}`}, {"a", `null`}, {`q"uote`, `12345678901234567890`}}, members(e))

	set(t, &e, "b", `true`)
	wantEqual(t, []pair{{"a", `null`}, {`q"uote`, `12345678901234567890`}, {"b", `true`}}, members(e))
	if v, ok := e.Get("b"); !ok || string(v) != "true" {
		t.Errorf("got %s, %v", v, ok)
	}
	if v, ok := e.Get("a"); !ok || string(v) != "null" {
		t.Errorf("a null is there and has a value: got %s, %v", v, ok)
	}
	e.Delete("a")
	e.Delete("missing")
	wantEqual(t, []pair{{`q"uote`, `12345678901234567890`}, {"b", `true`}}, members(e))
	if _, ok := e.Get("a"); ok {
		t.Error("a deleted member is still there")
	}
	for name := range e.All() {
		wantEqual(t, `q"uote`, name)
		break // must not go on
	}
}

func TestExtraSetString(t *testing.T) {
	var e providers.Extra
	e.SetString("a", `say "x"`)
	e.SetString("b", "")
	wantEqual(t, []pair{{"a", `"say \"x\""`}, {"b", `""`}}, members(e))

	copied := e
	e.SetString("a", "y")
	wantEqual(t, []pair{{"b", `""`}, {"a", `"y"`}}, members(e))
	wantEqual(t, []pair{{"a", `"say \"x\""`}, {"b", `""`}}, members(copied))
}

func TestExtraRefusesWhatIsNotJSON(t *testing.T) {
	for _, value := range []string{"", " ", "{", `{"a":}`, "nul", "1 2", "'x'", "\x00"} {
		e := providers.Extra(`{"a":1}`)
		err := e.Set("b", json.RawMessage(value))
		var known *providers.Error
		if !errors.As(err, &known) || known.Code != providers.ErrInvalidRequest || known.Param != "b" {
			t.Errorf("%q: got %v", value, err)
		}
		wantEqual(t, []pair{{"a", "1"}}, members(e))
	}
}

// Copies of a message share the bytes of Extra until one of them changes.
func TestExtraOfACopyIsItsOwn(t *testing.T) {
	const doc = `{"role":"user","content":"x","a":1,"b":2}`
	original := decode[message](t, doc)
	for name, change := range map[string]func(*providers.Extra){
		"set a new member":      func(e *providers.Extra) { set(t, e, "c", "3") },
		"replace a member":      func(e *providers.Extra) { set(t, e, "a", "9") },
		"replace the last":      func(e *providers.Extra) { set(t, e, "b", "9") },
		"delete a member":       func(e *providers.Extra) { e.Delete("a") },
		"two changes":           func(e *providers.Extra) { e.Delete("b"); set(t, e, "d", `"long value, long value"`) },
		"decode something else": func(e *providers.Extra) { _ = e.UnmarshalJSON([]byte(`{"q":1}`)) },
	} {
		t.Run(name, func(t *testing.T) {
			first, second := original, original
			change(&first.Extra)
			change(&second.Extra)
			wantEqual(t, doc, encode(t, original))
			wantEqual(t, members(first.Extra), members(second.Extra))
		})
	}
}

func TestExtraJSON(t *testing.T) {
	var e providers.Extra
	for _, doc := range []string{`[]`, `"x"`, `{"a"}`, `{} x`, ``} {
		if err := e.UnmarshalJSON([]byte(doc)); err == nil {
			t.Errorf("%q was taken as members", doc)
		}
	}
	data := []byte(`{"a":1}`)
	if err := e.UnmarshalJSON(data); err != nil {
		t.Fatal(err)
	}
	data[2] = 'z'
	wantEqual(t, `{"a":1}`, encode(t, e))
	if err := e.UnmarshalJSON([]byte(`null`)); err != nil {
		t.Fatal(err)
	}
	wantEqual(t, `null`, encode(t, e))
}

// What is no object cannot be laid among the members of one.
func TestExtraThatIsNoObjectIsAnEncodingError(t *testing.T) {
	m := providers.UserMessage("x")
	m.Extra = providers.Extra(`[1]`)
	if data, err := m.MarshalJSON(); err == nil {
		t.Errorf("got %s", data)
	}
}
