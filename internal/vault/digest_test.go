package vault

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/b650d4bf/gateway/internal/jsonx"
)

func digestOf(arguments string) digest {
	return New(Limits{}).digest(&Key{Issuer: "i", ID: "id", Name: "n", Arguments: arguments})
}

var long = strings.Repeat("long ", maxInline)

func TestArgumentsByContent(t *testing.T) {
	deep := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	tests := []struct {
		name, a, b string
		same       bool
	}{
		{"the same bytes", `{"a":1}`, `{"a":1}`, true},
		{"white space", `{"a":[1,"x y"]}`, " {\n\t\"a\" : [ 1 , \"x y\" ] }\r\n", true},
		{"white space in a string", `{"a":"x y"}`, `{"a":"xy"}`, false},
		{"members in another order", `{"a":1,"b":{"c":2,"d":3}}`, `{"b":{"d":3,"c":2},"a":1}`, true},
		{"members in another order, long ones", `{"a":"` + long + `","b":[1]}`, `{"b":[1],"a":"` + long + `"}`, true},
		{"elements in another order", `[1,2]`, `[2,1]`, false},
		{"values that swapped keys", `{"a":1,"b":2}`, `{"a":2,"b":1}`, false},
		{"a key that begins with another", `{"a":1,"ab":2}`, `{"ab":2,"a":1}`, true},
		{"a member more", `{"a":1}`, `{"a":1,"b":null}`, false},
		{"a changed value", `{"a":1}`, `{"a":2}`, false},
		{"a changed value, far down", `{"a":[{"b":"` + long + `"}]}`, `{"a":[{"b":"` + long + `!"}]}`, false},
		{"a changed key", `{"a":1}`, `{"A":1}`, false},
		{"a repeated key", `{"a":1,"a":2}`, `{"a":2}`, false},
		{"a repeated key in another order", `{"a":1,"a":2}`, `{"a":2,"a":1}`, false},
		{"a repeated key among others", `{"a":1,"b":0,"a":2}`, `{"b":0,"a":1,"a":2}`, true},
		{"an element moved into the next array", `[[1],[2,3]]`, `[[1,2],[3]]`, false},
		{"an element that looks like two", `["a","b"]`, `["as\u0000b"]`, false},
		{"an element that looks like two with lengths", `["a","b"]`, `["as\u0001b"]`, false},
		{"nothing and the empty object", ``, `{}`, true},
		{"blanks and the empty object", " \n", ` { } `, true},
		{"empty object and array", `{}`, `[]`, false},
		{"object and its text", `{"a":{}}`, `{"a":"{}"}`, false},

		{"escapes", `{"caf\u00e9":"\u0041\/\n\ud83d\ude00"}`, `{"café":"A/\u000a😀"}`, true},
		{"text that is not UTF-8", "\"\xff\"", "\"\uFFFD\"", true},
		{"composed and decomposed", `"é"`, `"e` + "\u0301" + `"`, false},
		{"number and string", `{"a":1}`, `{"a":"1"}`, false},
		{"null and string", `{"a":null}`, `{"a":"null"}`, false},
		{"null and nothing", `{"a":null}`, `{}`, false},
		{"true and false", `[true]`, `[false]`, false},
		{"true and 1", `[true]`, `[1]`, false},

		{"a number with a fraction of zeros", `1`, `1.000`, true},
		{"a number with an exponent", `1200`, `1.2E+3`, true},
		{"a number with a negative exponent", `0.012`, `120e-4`, true},
		{"zero and minus zero", `0`, `-0.0e9`, true},
		{"zero with an immense exponent", `0`, `0e2147483647`, true},
		{"one and minus one", `1`, `-1`, false},
		{"1 and 10", `1`, `10`, false},
		{"0.1 and 0.01", `0.1`, `0.01`, false},
		{"0.1 and 1", `0.1`, `1`, false},
		{"105 and 15", `105`, `15`, false},
		{"integers beyond floats", `9007199254740993`, `9007199254740992`, false},
		{"fractions beyond floats", `0.1`, `0.10000000000000000001`, false},
		{"numbers beyond floats", `1e400`, `10e399`, true},
		{"different numbers beyond floats", `1e400`, `1e401`, false},
		{"different immense exponents", `1e99999999998`, `1e99999999999`, false},
		{"digits that move over a comma", `[1,11]`, `[11,1]`, false},

		{"invalid, the same bytes", `{"a":`, `{"a":`, true},
		{"invalid, other white space", `{"a":`, `{ "a":`, false},
		{"invalid and valid", `{"a":1`, `{"a":1}`, false},
		{"invalid, in the form that is digested", "#1e\x00", `1`, false},
		{"two values", `{}{}`, `{}`, false},
		{"too deep, the same bytes", deep(jsonx.MaxDepth + 1), deep(jsonx.MaxDepth + 1), true},
		{"too deep and deeper", deep(jsonx.MaxDepth + 1), deep(jsonx.MaxDepth + 2), false},
		{"deep and deeper", deep(jsonx.MaxDepth - 1), deep(jsonx.MaxDepth), false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if same := digestOf(tt.a) == digestOf(tt.b); same != tt.same {
				t.Errorf("%.60s and %.60s are the same: %v, want %v", tt.a, tt.b, same, tt.same)
			}
		})
	}
}

func TestKeysThatDiffer(t *testing.T) {
	keys := []Key{
		{"i", "id", "n", "{}"},
		{"I", "id", "n", "{}"},
		{"i", "ID", "n", "{}"},
		{"i", "id", "N", "{}"},
		{"i", "id", "n", "[]"},
		{"ii", "d", "n", "{}"},
		{"i", "idn", "", "{}"},
		{"i", "", "idn", "{}"},
		{"i", "id", "ns\x00", "{}"},
		{"i", "ids\x00n", "", "{}"},
		{"i", "id", "", `n{}`},
		{"i", "id", "n", "!{}"},
		{"i", "id", long, "{}"},
		{"i", "id", long + "x", "{}"},
	}
	v := New(Limits{})
	seen := map[digest]int{}
	for i := range keys {
		d := v.digest(&keys[i])
		if j, ok := seen[d]; ok {
			t.Errorf("keys %d and %d have the same digest", j, i)
		}
		seen[d] = i
	}
}

// plain is a JSON value as the standard library sees it: nil, bool, string,
// number, []any or object.
type (
	object []pair
	pair   struct {
		key   string
		value any
	}
	number struct{ text string }
)

// decode reads one value, with repeated keys.
func decode(s string) (any, bool) {
	if strings.TrimSpace(s) == "" {
		s = "{}"
	}
	if !json.Valid([]byte(s)) || !jsonx.Valid([]byte(s)) { // too deep
		return nil, false
	}
	d := json.NewDecoder(strings.NewReader(s))
	d.UseNumber()
	return decodeNext(d), true
}

func decodeNext(d *json.Decoder) any {
	token, _ := d.Token()
	switch token := token.(type) {
	case json.Number:
		return number{string(token)}
	case json.Delim:
		defer d.Token() //nolint:errcheck // the text is known to be valid
		if token == '[' {
			list := []any{}
			for d.More() {
				list = append(list, decodeNext(d))
			}
			return list
		}
		o := object{}
		for d.More() {
			key, _ := d.Token()
			o = append(o, pair{key.(string), decodeNext(d)})
		}
		return o
	default:
		return token
	}
}

// reference is a slow canonical form, by other means than the digest's.
func reference(v any) string {
	switch v := v.(type) {
	case object:
		sorted := slices.Clone(v)
		slices.SortStableFunc(sorted, func(a, b pair) int { return strings.Compare(a.key, b.key) })
		var b strings.Builder
		for _, p := range sorted {
			fmt.Fprintf(&b, "%q:%s,", p.key, reference(p.value))
		}
		return "{" + b.String() + "}"
	case []any:
		var b strings.Builder
		for _, e := range v {
			b.WriteString(reference(e) + ",")
		}
		return "[" + b.String() + "]"
	case number:
		r, ok := new(big.Rat).SetString(v.text)
		if !ok {
			return v.text
		}
		return r.RatString()
	default:
		return fmt.Sprintf("%T%q", v, fmt.Sprint(v))
	}
}

// respell writes the value with other white space, members in another order,
// and strings and numbers in other ways.
func respell(b *bytes.Buffer, v any, rnd *rand.Rand) {
	space := func() { b.WriteString([]string{"", "", " ", "\n\t", "\r"}[rnd.IntN(5)]) }
	space()
	switch v := v.(type) {
	case object:
		b.WriteByte('{')
		for i, p := range shuffled(v, rnd) {
			if i > 0 {
				b.WriteByte(',')
			}
			space()
			respellString(b, p.key, rnd)
			space()
			b.WriteByte(':')
			respell(b, p.value, rnd)
		}
		space()
		b.WriteByte('}')
	case []any:
		b.WriteByte('[')
		for i, e := range v {
			if i > 0 {
				b.WriteByte(',')
			}
			respell(b, e, rnd)
		}
		space()
		b.WriteByte(']')
	case string:
		respellString(b, v, rnd)
	case number:
		b.WriteString(respellNumber(v.text, rnd))
	case nil:
		b.WriteString("null")
	default:
		fmt.Fprint(b, v)
	}
	space()
}

// shuffled changes the order of the members, but not among those of one key.
func shuffled(o object, rnd *rand.Rand) object {
	byKey := map[string][]any{}
	out := slices.Clone(o)
	for _, p := range o {
		byKey[p.key] = append(byKey[p.key], p.value)
	}
	rnd.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	for i, p := range out {
		out[i].value, byKey[p.key] = byKey[p.key][0], byKey[p.key][1:]
	}
	return out
}

func respellString(b *bytes.Buffer, s string, rnd *rand.Rand) {
	b.WriteByte('"')
	for _, c := range s {
		switch {
		case c < ' ' || c == '"' || c == '\\' || c < utf8.RuneSelf && rnd.IntN(4) == 0:
			fmt.Fprintf(b, `\u%04x`, c)
		default:
			b.WriteRune(c)
		}
	}
	b.WriteByte('"')
}

func respellNumber(s string, rnd *rand.Rand) string {
	if strings.ContainsAny(s, "eE") {
		return s
	}
	switch rnd.IntN(4) {
	case 0:
		return s + "e0"
	case 1:
		if strings.Contains(s, ".") {
			return s + "00"
		}
		return s + ".0"
	case 2:
		if !strings.Contains(s, ".") && s != "0" && s != "-0" {
			return s + "000E-3"
		}
	}
	return s
}

// changed returns the value with one leaf, key or length changed.
func changed(v any, rnd *rand.Rand) any {
	switch v := v.(type) {
	case object:
		if len(v) == 0 || rnd.IntN(4) == 0 {
			return append(slices.Clone(v), pair{"more", nil})
		}
		out, i := slices.Clone(v), rnd.IntN(len(v))
		if rnd.IntN(3) == 0 {
			out[i].key += "x"
		} else {
			out[i].value = changed(out[i].value, rnd)
		}
		return out
	case []any:
		if len(v) == 0 || rnd.IntN(4) == 0 {
			return append(slices.Clone(v), nil)
		}
		out, i := slices.Clone(v), rnd.IntN(len(v))
		out[i] = changed(out[i], rnd)
		return out
	case string:
		return v + "x"
	case bool:
		return !v
	case number:
		if strings.ContainsAny(v.text, "eE") {
			return v.text
		}
		if strings.Contains(v.text, ".") {
			return number{v.text + "1"}
		}
		return number{v.text + ".5"}
	default:
		return []any{v}
	}
}

// hugeExponent tells numbers whose exact value takes too long to spell out.
func hugeExponent(s string) bool {
	i := 0
	for _, c := range []byte(s) {
		switch {
		case c == 'e' || c == 'E':
			i = 1
		case i > 0 && ('0' <= c && c <= '9' || c == '+' || c == '-'):
			if i++; i > 5 {
				return true
			}
		default:
			i = 0
		}
	}
	return false
}

func FuzzDigest(f *testing.F) {
	for _, s := range []string{
		"", " ", "{}", "[]", `{"a":1,"b":[true,null,"x\u0000\"y"],"a":2}`, `{"b":-0.50e-3,"a":{"d":{},"c":[[],[1,2]]}}`,
		`{"long":"` + long + `","x":{"y":"` + long + `"}}`, "[\"\xff\\ud800\"]", `{"a":`, `1e99999999999`, `[0.0,-0,10,100e1]`,
	} {
		f.Add(s, `{"a":1.0}`, uint64(1))
	}
	f.Fuzz(func(t *testing.T, a, b string, seed uint64) {
		if hugeExponent(a) || hugeExponent(b) {
			return
		}
		x, okX := decode(a)
		y, okY := decode(b)
		want := a == b
		if okX && okY {
			want = reference(x) == reference(y)
		}
		if same := digestOf(a) == digestOf(b); same != want {
			t.Errorf("%q and %q are the same: %v, want %v", a, b, same, want)
		}
		if !okX {
			return
		}
		rnd := rand.New(rand.NewPCG(seed, seed))
		var again, other bytes.Buffer
		if respell(&again, x, rnd); digestOf(a) != digestOf(again.String()) {
			t.Errorf("%q and %q are different", a, again.String())
		}
		z := changed(x, rnd)
		if respell(&other, z, rnd); (digestOf(a) == digestOf(other.String())) != (reference(x) == reference(z)) {
			t.Errorf("%q and %q are the same: %v", a, other.String(), digestOf(a) == digestOf(other.String()))
		}
	})
}
