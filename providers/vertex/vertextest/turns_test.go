package vertextest_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

func signature(t *testing.T, model, args string) string {
	t.Helper()
	var call vertextest.FunctionCall
	call.Name, call.Args = "f", map[string]any{"a": args}
	s, err := vertextest.Signature(model, call)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// turns joins contents to a body.
func turns(contents ...string) string { return `{"contents":[` + strings.Join(contents, ",") + `]}` }

func user(parts ...string) string {
	return `{"role":"user","parts":[` + strings.Join(parts, ",") + `]}`
}

func model(parts ...string) string {
	return `{"role":"model","parts":[` + strings.Join(parts, ",") + `]}`
}

const ask = `{"text":"a"}`

// call is a function call part with an argument and perhaps a signature.
func call(id, arg, sig string) string {
	p := `{"functionCall":{"name":"f","args":{"a":"` + arg + `"}`
	if id != "" {
		p += `,"id":"` + id + `"`
	}
	p += `}`
	if sig != "" {
		p += `,"thoughtSignature":"` + sig + `"`
	}
	return p + `}`
}

func result(id, name string) string {
	p := `{"functionResponse":{"name":"` + name + `","response":{"output":1}`
	if id != "" {
		p += `,"id":"` + id + `"`
	}
	return p + `}}`
}

const (
	accepted = ""
	silence  = "(an empty answer)"
)

func TestTurns(t *testing.T) {
	const skip = "skip_thought_signature_validator"
	pair := turns(user(ask), model(call("1", "x", skip), call("2", "y", "")), user(result("1", "f"), result("2", "f")))
	swapped := turns(user(ask), model(call("1", "x", skip), call("2", "y", "")), user(result("2", "f"), result("1", "f")))
	missing := turns(user(ask), model(call("1", "x", skip), call("2", "y", "")), user(result("1", "f")))
	renamed := turns(user(ask), model(call("1", "x", skip)), user(result("1", "g")))
	spread := turns(user(ask), model(call("1", "x", skip), call("2", "y", "")), user(result("1", "f")), user(result("2", "f")))
	orphan := turns(user(ask), user(result("1", "f")))
	ignored := turns(user(ask), model(call("1", "x", skip)), user(ask))
	unanswered := turns(user(ask), model(call("1", "x", skip)))
	prefill := turns(user(ask), model(ask))
	modelFirst := turns(model(ask), user(ask))
	userCalls := turns(user(ask, call("1", "x", skip)), user(result("1", "f")))
	withID := turns(user(ask), model(call("1", "x", "")), user(result("", "f")))
	withResultID := turns(user(ask), model(call("", "x", "")), user(result("1", "f")))
	loose := turns(model(ask), user(ask), model(call("", "x", "")), user(ask))

	const count = "number of function response parts is equal to the number of function call parts"
	for _, tc := range []struct{ name, model, body, want string }{
		{"pairs on 3.8", "gemini-3.8-flash", pair, accepted},
		{"pairs on 3.5", "gemini-3.5-flash", pair, accepted},
		{"other order on 3.6", "gemini-3.6-flash", swapped, "has the id of its function call"},
		{"other order on 3.5", "gemini-3.5-flash", swapped, silence},
		{"a response is missing on 4", "gemini-4-argon", missing, count},
		{"a response is missing on 3", "gemini-3-flash-preview", missing, silence},
		{"other name on 3.8", "gemini-3.8-flash", renamed, "has the name of its function call"},
		{"responses in two contents on 3.8", "gemini-3.8-flash", spread, count},
		{"response without call on 3.8", "gemini-3.8-flash", orphan, "immediately after a function call turn"},
		{"response without call on 3", "gemini-3-flash-preview", orphan, "immediately after a function call turn"},
		{"call without response on 3.8", "gemini-3.8-flash", ignored, "immediately after a function call turn"},
		{"a call at the end on 3.5", "gemini-3.5-flash", unanswered, silence},
		{"prefill on 3.6", "gemini-3.6-flash", prefill, "end with a user role"},
		{"prefill on 4", "gemini-4-neon", prefill, "end with a user role"},
		{"prefill on 3.5", "gemini-3.5-flash", prefill, accepted},
		{"model first on 3", "gemini-3-flash-preview", modelFirst, "first turn"},
		{"the user calls on 3.8", "gemini-3.8-flash", userCalls, "in a model turn"},
		{"call id on 2.5", "gemini-2.5-flash", withID, `Unknown name "id" at 'contents[1].parts[0].function_call': Cannot find field.`},
		{"response id on 2.5", "gemini-2.5-flash", withResultID, `Unknown name "id" at 'contents[2].parts[0].function_response': Cannot find field.`},
		{"any order on 2.5", "gemini-2.5-flash", loose, accepted},
	} {
		t.Run(tc.name, func(t *testing.T) { judge(t, vertextest.New(), tc.model, tc.body, tc.want) })
	}
}

// judge posts a body and compares the outcome with what is wanted.
func judge(t *testing.T, s *vertextest.Server, model, body, want string) {
	t.Helper()
	got := unary(t, s, model, body)
	m := got.decode(t)
	switch want {
	case accepted:
		if got.status != http.StatusOK || len(m.parts()) == 0 {
			t.Errorf("status %d: %s", got.status, got.body)
		}
	case silence:
		if got.status != http.StatusOK || len(m.parts()) != 0 || m.Candidates[0].FinishReason != "STOP" {
			t.Errorf("status %d, want an empty answer: %s", got.status, got.body)
		}
	default:
		if got.status != http.StatusBadRequest || !strings.Contains(m.Error.Message, want) {
			t.Errorf("status %d, want 400 with %q: %s", got.status, want, got.body)
		}
	}
}

func TestSignatures(t *testing.T) {
	const (
		corrupted = "Corrupted thought signature."
		foreign   = "Invalid thought signature."
		lost      = "function call `default_api:f` in the 2. content block is missing a `thought_signature`. Learn more: https://"
	)
	own, other, alien := signature(t, "gemini-3.8-flash", "x"), signature(t, "gemini-3.8-flash", "y"), signature(t, "gemini-4-argon", "x")
	step := func(parts ...string) string { return turns(user(ask), model(parts...), user(result("", "f"))) }
	steps := func(first, second string) string {
		return turns(user(ask), model(call("", "x", first)), user(result("", "f")), model(call("", "x", second)), user(result("", "f")))
	}
	older := turns(user(ask), model(call("", "x", "")), user(result("", "f")), model(ask), user(ask))
	parallel := turns(user(ask), model(call("", "x", own), call("", "x", own)), user(result("", "f"), result("", "f")))
	copied := turns(user(ask), model(call("", "x", own), call("", "y", own)), user(result("", "f"), result("", "f")))
	urlSafe := strings.NewReplacer("+", "-", "/", "_", "=", "").Replace(own)

	for _, tc := range []struct{ name, model, body, want string }{
		{"own signature", "gemini-3.8-flash", step(call("", "x", own)), accepted},
		{"own signature in the other alphabet", "gemini-3.8-flash", step(call("", "x", urlSafe)), accepted},
		{"missing on 3", "gemini-3-flash-preview", step(call("", "x", "")), lost},
		{"missing on 4", "gemini-4-neon", step(call("", "x", "")), lost},
		{"missing on 2.5", "gemini-2.5-flash", step(call("", "x", "")), accepted},
		{"missing on an image model", "gemini-3-pro-image", step(call("", "x", "")), accepted},
		{"missing in the second step", "gemini-3.8-flash", steps(own, ""), "in the 4. content block"},
		{"missing in the first step", "gemini-3.8-flash", steps("", own), "in the 2. content block"},
		{"missing in an older turn", "gemini-3.8-flash", older, accepted},
		{"of another call on 3.6", "gemini-3.6-flash", step(call("", "x", other)), corrupted},
		{"of another call on 3.5", "gemini-3.5-flash", step(call("", "x", other)), accepted},
		{"of another call on 2.5", "gemini-2.5-flash", step(call("", "x", other)), accepted},
		{"of another family", "gemini-3.8-flash", step(call("", "x", alien)), foreign},
		{"unknown", "gemini-4-argon", step(call("", "x", "c29tZXRoaW5n")), corrupted},
		{"cut", "gemini-3.8-flash", step(call("", "x", own[:len(own)-4])), corrupted},
		{"encoded twice", "gemini-3.8-flash", step(call("", "x", "RXZ2"+own)), corrupted},
		{"on two equal parallel calls", "gemini-3.8-flash", parallel, accepted},
		{"copied to a sibling", "gemini-3.8-flash", copied, corrupted},
		{"of a call on a text", "gemini-3.8-flash", turns(user(ask), model(`{"text":"b","thoughtSignature":"`+own+`"}`, call("", "x", own)), user(result("", "f"))), corrupted},
	} {
		t.Run(tc.name, func(t *testing.T) { judge(t, vertextest.New(), tc.model, tc.body, tc.want) })
	}
}

func TestSentinelIsAcceptedAndCounted(t *testing.T) {
	for name, sentinel := range map[string]string{
		"literal": "skip_thought_signature_validator",
		"encoded": "c2tpcF90aG91Z2h0X3NpZ25hdHVyZV92YWxpZGF0b3I=",
	} {
		t.Run(name, func(t *testing.T) {
			s := vertextest.New()
			judge(t, s, "gemini-4-argon", turns(user(ask), model(call("", "x", sentinel)), user(result("", "f"))), accepted)
			if got := s.SentinelUses(); got != 1 {
				t.Errorf("counted %d uses, want 1", got)
			}
			s.Reset()
			if got := s.SentinelUses(); got != 0 {
				t.Errorf("counted %d uses after Reset, want 0", got)
			}
		})
	}
}

func TestSignatureDependsOnValuesNotOnSpelling(t *testing.T) {
	sign := func(args any) string {
		t.Helper()
		s, err := vertextest.Signature("gemini-4-neon", vertextest.FunctionCall{Name: "f", Args: args})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	type ordered struct {
		B int `json:"b"`
		A int `json:"a"`
	}
	if sign(map[string]int{"a": 1, "b": 2}) != sign(ordered{B: 2, A: 1}) {
		t.Error("key order changes the signature")
	}
	if sign(map[string]int{"a": 1}) == sign(map[string]int{"a": 2}) {
		t.Error("a value doesn't change the signature")
	}
	if sign(nil) != sign(map[string]int{}) {
		t.Error("no arguments differ from empty ones")
	}
	if _, err := vertextest.Signature("gemini-4-neon", vertextest.FunctionCall{Name: "f", Args: 1}); err == nil {
		t.Error("arguments that aren't an object are signed")
	}
	if _, err := vertextest.Signature("gpt", vertextest.FunctionCall{Name: "f"}); err == nil {
		t.Error("an unknown model signs")
	}
}
