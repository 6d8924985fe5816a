package jsonx

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestTextsOfAnyLengthInAnyRoom mixes runs and stops, and has buffers that must grow at
// each place.
func TestTextsOfAnyLengthInAnyRoom(t *testing.T) {
	plain := []string{"a", "b!", "plain text", "\n", "\"", `\`, "\x00", "\x1f", "\x7f", "ü", "語", "😀", "\xff", "\xe4\xb8", "/"}
	quoted := []string{"a", "b!", "plain text", `\n`, `\"`, `\\`, `\/`, `\u0041`, `\u8a9e`, `\ud83d\ude00`, `\ud83d`, "ü", "語", "\xff", "\xe4\xb8", `\x`, "\n", `\`}
	random := rand.New(rand.NewPCG(1, 2))
	mix := func(pieces []string) (text []byte) {
		for range random.IntN(12) {
			text = append(text, pieces[random.IntN(len(pieces))]...)
		}
		return text
	}
	const before = "before"
	room := func() []byte { return append(make([]byte, 0, len(before)+random.IntN(80)), before...) }
	for range 20_000 {
		text := mix(plain)
		var read string
		out := appendQuoted(room(), text)
		if err := json.Unmarshal(out[len(before):], &read); err != nil || read != string([]rune(string(text))) || string(out[:len(before)]) != before {
			t.Fatalf("%q was written as %s: %v", text, out, err)
		}
		doc := slices.Concat([]byte(`"`), mix(quoted), []byte(`"`))
		want := ""
		wantErr := json.Unmarshal(doc, &want)
		got, end, f := unescape(room(), doc, 1)
		if closed := f == faultNone && end == len(doc); closed != (wantErr == nil) || closed && string(got) != before+want {
			t.Fatalf("%q was read as %q up to %d, fault %v, want %q, %v", doc, got, end, f, want, wantErr)
		}
	}
}
