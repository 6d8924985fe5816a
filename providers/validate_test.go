package providers_test

import (
	"errors"
	"strconv"
	"strings"
	"testing"

	"github.com/b650d4bf/gateway/providers"
)

// refusal is what a request with the messages is refused for.
type refusal struct {
	name  string
	doc   string // the request
	param string
	say   string // what the message must hold: what to do
}

// ask wraps messages into a request.
func ask(messages string) string { return `{"model":"m","messages":[` + messages + `]}` }

const (
	user     = `{"role":"user","content":"x"}`
	twoCalls = `{"role":"assistant","content":null,"tool_calls":[` + callA + `,` + callB + `]}`
	oneCall  = `{"role":"assistant","content":null,"tool_calls":[` + callA + `]}`
	callA    = `{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}`
	callB    = `{"id":"b","type":"function","function":{"name":"g","arguments":"{\"n\":1}"}}`
	resultA  = `{"role":"tool","content":"1","tool_call_id":"a"}`
	resultB  = `{"role":"tool","content":"2","tool_call_id":"b"}`
	noID     = `{"role":"tool","content":"3"}`
)

func checkRefusals(t *testing.T, tests []refusal) {
	t.Helper()
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			req := decode[request](t, tt.doc)
			err := req.Validate()
			var known *providers.Error
			if !errors.As(err, &known) {
				t.Fatalf("got %v, want a refusal", err)
			}
			if known.Code != providers.ErrInvalidRequest || known.Sent || known.HTTPStatus() != 400 {
				t.Errorf("got code %s, sent %v, status %d", known.Code, known.Sent, known.HTTPStatus())
			}
			wantEqual(t, tt.param, known.Param)
			if !strings.Contains(known.Message, tt.say) {
				t.Errorf("the message %q does not say %q", known.Message, tt.say)
			}
		})
	}
}

func TestValidateRefusesTheShape(t *testing.T) {
	checkRefusals(t, []refusal{
		{"no model", `{"messages":[` + user + `]}`, "model", `such as "gemini-2.5-flash" or "@slug/model"`},
		{"no messages", `{"model":"m"}`, "messages", "at least one message"},
		{"empty messages", ask(``), "messages", "at least one message"},
		{"only system", ask(`{"role":"system","content":"x"},{"role":"developer","content":"y"}`), "messages", "a user or tool message is required"},
		{"only assistant", ask(`{"role":"assistant","content":"x"}`), "messages", "a user or tool message is required"},
		{"no role", ask(user + `,{"content":"x"}`), "messages[1].role", "system, developer, user, assistant or tool"},
		{"unknown role", ask(`{"role":"function","content":"x"}`), "messages[0].role", `unknown role "function": use system`},
		{"role in another case", ask(`{"role":"User","content":"x"}`), "messages[0].role", `unknown role "User"`},
		{"a long role is clipped", ask(`{"role":"` + strings.Repeat("é", 500) + `"}`), "messages[0].role", `"` + strings.Repeat("é", 20) + `…": use`},
		{"tool without a name", `{"model":"m","messages":[` + user + `],"tools":[{"type":"web_search"},{"type":"function","function":{}}]}`,
			"tools[1].function.name", "a function name is required"},
		{"parameters that are no object", `{"model":"m","messages":[` + user + `],"tools":[{"type":"function","function":{"name":"f","parameters":"x"}}]}`,
			"tools[0].function.parameters", `a JSON Schema of type "object", or leave it out`},
		{"parameters that are a list", `{"model":"m","messages":[` + user + `],"tools":[{"type":"function","function":{"name":"f","parameters":[]}}]}`,
			"tools[0].function.parameters", `a JSON Schema of type "object"`},
	})
}

func TestValidateRefusesBrokenCalls(t *testing.T) {
	withArguments := func(arguments string) string {
		return ask(user + `,{"role":"assistant","tool_calls":[` + callA + `,{"id":"b","function":{"name":"f","arguments":"` + arguments + `"}}]},` + resultA + `,` + resultB)
	}
	const where, remedy = "messages[1].tool_calls[1].function.arguments", `use "{}" for no arguments`
	checkRefusals(t, []refusal{
		{"arguments cut off", withArguments(`{\"a\":`), where, remedy},
		{"arguments of another kind", withArguments(`[1]`), where, remedy},
		{"arguments with a tail", withArguments(`{} {}`), where, remedy},
		{"arguments in single quotes", withArguments(`{'a':1}`), where, remedy},
		{"null arguments as text", withArguments(`null`), where, remedy},
		{"call without a name", ask(user + `,{"role":"assistant","tool_calls":[{"id":"a","function":{"arguments":"{}"}}]},` + resultA),
			"messages[1].tool_calls[0].function.name", "a function name is required"},
	})
}

func TestValidateRefusesUnbalancedResults(t *testing.T) {
	const once = "every call needs exactly one result"
	checkRefusals(t, []refusal{
		{"result without any call", ask(user + `,` + resultA), "messages[1].tool_call_id", "has this id: repeat the id"},
		{"result without id and call", ask(user + `,` + noID), "messages[1].tool_call_id", "remove the message"},
		{"unknown id", ask(user + `,` + oneCall + `,` + resultB), "messages[2].tool_call_id", "repeat the id as it was given"},
		{"id of an earlier turn", ask(user + `,` + oneCall + `,` + resultA + `,` + user + `,` + resultA), "messages[4].tool_call_id", "has this id"},
		{"id of an earlier turn out of order", ask(user + `,` + twoCalls + `,` + resultB + `,` + resultA + `,` + user + `,` + resultB), "messages[5].tool_call_id", "has this id"},
		{"the same result twice out of order", ask(user + `,` + twoCalls + `,` + resultB + `,` + resultB), "messages[3].tool_call_id", "already has a result"},
		{"an unknown id out of order", ask(user + `,` + twoCalls + `,` + resultB + `,{"role":"tool","tool_call_id":"c"}`), "messages[3].tool_call_id", "has this id"},
		{"the same result twice", ask(user + `,` + oneCall + `,` + resultA + `,` + resultA), "messages[3].tool_call_id", "already has a result"},
		{"one more without id", ask(user + `,` + oneCall + `,` + resultA + `,` + noID), "messages[3].tool_call_id", "remove the message"},
		{"no id while two wait", ask(user + `,` + twoCalls + `,` + noID + `,` + resultA), "messages[2].tool_call_id", "the id of the tool call"},
		{"missing before a user turn", ask(user + `,` + twoCalls + `,` + resultA + `,` + user), "messages[1].tool_calls[1]", once},
		{"missing before an assistant turn", ask(user + `,` + oneCall + `,` + oneCall + `,` + resultA), "messages[1].tool_calls[0]", once},
		{"missing at the end", ask(user + `,` + twoCalls + `,` + resultB), "messages[1].tool_calls[0]", once},
		{"trailing calls", ask(user + `,` + oneCall), "messages[1].tool_calls[0]", once},
	})
}

func TestValidatePasses(t *testing.T) {
	twins := `{"role":"assistant","tool_calls":[` + callA + `,` + callA + `]}`
	nameless := `{"role":"assistant","tool_calls":[{"function":{"name":"f","arguments":"{}"}}]}`
	for name, doc := range map[string]string{
		"a question":                    ask(user),
		"system anywhere":               ask(`{"role":"system","content":"a"},` + user + `,{"role":"developer","content":"b"}`),
		"no content":                    ask(`{"role":"user"}`),
		"prefill":                       ask(user + `,{"role":"assistant","content":"It is"}`),
		"assistant first":               ask(`{"role":"assistant","content":"Hi"},` + user),
		"results in order":              ask(user + `,` + twoCalls + `,` + resultA + `,` + resultB),
		"results in another order":      ask(user + `,` + twoCalls + `,` + resultB + `,` + resultA),
		"result without id, one call":   ask(user + `,` + oneCall + `,` + noID),
		"result without id, one waits":  ask(user + `,` + twoCalls + `,` + resultB + `,` + noID),
		"two calls with the same id":    ask(user + `,` + twins + `,` + resultA + `,` + resultA),
		"a call without id":             ask(user + `,` + nameless + `,` + noID),
		"calls and results, no user":    ask(oneCall + `,` + resultA),
		"the same id in a later turn":   ask(user + `,` + oneCall + `,` + resultA + `,` + oneCall + `,` + resultA),
		"no arguments":                  ask(user + `,{"role":"assistant","tool_calls":[{"id":"a","function":{"name":"f","arguments":""}}]},` + resultA),
		"arguments with space around":   ask(user + `,{"role":"assistant","tool_calls":[{"id":"a","function":{"name":"f","arguments":" \n{} "}}]},` + resultA),
		"a tool of the platform":        `{"model":"m","messages":[` + user + `],"tools":[{"type":"google_search"}]}`,
		"a function without parameters": `{"model":"m","messages":[` + user + `],"tools":[{"type":"function","function":{"name":"f","parameters":null}}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			req := decode[request](t, doc)
			if err := req.Validate(); err != nil {
				t.Errorf("got %v", err)
			}
			wantEqual(t, decode[request](t, doc), req)
		})
	}
}

func TestValidateAcceptsWhatIsBuiltInGo(t *testing.T) {
	req := request{Model: "m", Messages: []message{
		providers.UserMessage("x"),
		{Role: "assistant", ToolCalls: []providers.ToolCall{{ID: "a", Function: providers.FunctionCall{Name: "f"}}}},
		providers.ToolMessage("a", "1"),
	}, Tools: []providers.Tool{providers.FunctionTool("f", "", []byte(" \n{\"type\":\"object\"}\n"))}}
	if err := req.Validate(); err != nil {
		t.Fatal(err)
	}
	req.Tools = append(req.Tools, providers.FunctionTool("g", "", []byte(`{"cut":`)))
	var known *providers.Error
	if err := req.Validate(); !errors.As(err, &known) || known.Param != "tools[1].function.parameters" {
		t.Errorf("got %v", err)
	}
}

// Conversations of any length are matched in time that grows with them alone.
func TestValidateMatchesManyCalls(t *testing.T) {
	const n = 50_000
	calls, run := make([]providers.ToolCall, n), make([]message, n)
	for i := range n {
		id := strconv.Itoa(i / 2) // each one twice
		calls[i] = providers.ToolCall{ID: id, Function: providers.FunctionCall{Name: "f"}}
		run[n-1-i] = providers.ToolMessage(id, "x")
	}
	req := request{Model: "m", Messages: append([]message{providers.UserMessage("x"), {Role: "assistant", ToolCalls: calls}}, run...)}
	if err := req.Validate(); err != nil {
		t.Error(err)
	}
	req.Messages = req.Messages[:n]
	if err := req.Validate(); err == nil {
		t.Error("a result is missing")
	}
}

// A refusal is not paid for by requests that are well formed.
func TestValidateOfAPlainRequestDoesNotAllocate(t *testing.T) {
	req := decode[request](t, ask(user+`,{"role":"assistant","content":"y"},`+user))
	if n := testing.AllocsPerRun(100, func() { _ = req.Validate() }); n > 0 {
		t.Errorf("got %v allocations", n)
	}
}
