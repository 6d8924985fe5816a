package gateway_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway"
	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

// Models of each family, as requests name them.
const (
	gemini25 = "gemini-2.5-flash" // knows neither signatures nor ids of calls
	gemini3  = "gemini-3-flash-preview"
	gemini38 = "gemini-3.8-flash" // refuses a signature that was changed
	haiku45  = "anthropic.claude-haiku-4-5@20251001"
	opus46   = "anthropic.claude-opus-4-6"
	sonnet55 = "anthropic.claude-sonnet-5-5"
	llama4   = "meta.llama-4-maverick-17b-128e-instruct-maas"
	deepseek = "deepseek-ai.deepseek-v3.2-maas" // shows thinking that nobody signed
	mistral3 = "mistralai.mistral-medium-3"
)

// sender is how a client keeps a conversation between two requests.
type sender struct {
	name   string
	strict bool // what the OpenAI schema does not have is not shown to it
	whole  bool // it loses nothing
	keep   func(t *testing.T, m gateway.Message) gateway.Message
}

var senders = []sender{
	{"Go types", false, true, func(_ *testing.T, m gateway.Message) gateway.Message { return m }},
	{"Go types, strict", true, false, func(_ *testing.T, m gateway.Message) gateway.Message { return m }},
	{"JSON that keeps all", false, true, throughJSON},
	{"JSON of known members", false, false, func(t *testing.T, m gateway.Message) gateway.Message { return throughJSON(t, knownMembers(t, m)) }},
}

func throughJSON(t *testing.T, m gateway.Message) gateway.Message {
	t.Helper()
	data, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	var back gateway.Message
	if err := json.Unmarshal(data, &back); err != nil {
		t.Fatal(err)
	}
	return back
}

// knownMembers drops what the OpenAI schema does not have, and spells arguments
// anew, as a client does that keeps them as a value.
func knownMembers(t *testing.T, m gateway.Message) gateway.Message {
	t.Helper()
	own := gateway.Message{Role: m.Role, Content: m.Content}
	for _, c := range m.ToolCalls {
		var v any
		if err := json.Unmarshal([]byte(c.Function.Arguments), &v); err != nil {
			t.Fatal(err)
		}
		args, err := json.MarshalIndent(v, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		own.ToolCalls = append(own.ToolCalls, gateway.ToolCall{
			ID: c.ID, Type: c.Type, Function: gateway.FunctionCall{Name: c.Function.Name, Arguments: string(args)},
		})
	}
	return own
}

// question is what a turn begins with, and what the model does then.
type question struct {
	ask  gateway.Message
	then []vertextest.Reply // of each request of the turn
}

func questions() []question {
	auto := vertextest.Auto()
	further := vertextest.Calls(vertextest.FunctionCall{Name: "get_weather", Args: json.RawMessage(`{"when":{"to":2.0,"from":1},"city":"Oslo"}`)})
	return []question{
		{gateway.UserMessage("What is the weather in Paris?"), []vertextest.Reply{auto, auto}},
		{gateway.UserMessage("What is the weather in Paris and Rome?"), []vertextest.Reply{auto, auto}},
		{gateway.UserMessage("What is the weather in Bern, and then in the north?"), []vertextest.Reply{auto, further, auto}},
		{gateway.UserMessage([]gateway.ContentPart{gateway.TextPart("What is this?"), gateway.MediaPart("image/png", pixel)}), []vertextest.Reply{auto}},
	}
}

// pixel is a PNG of one.
var pixel = []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x06\x00\x00\x00\x1f\x15\xc4\x89")

// dialogue is a conversation with models of several families.
type dialogue struct {
	t        *testing.T
	client   *gateway.Client
	platform *vertextest.Server
	tap      *wiretap
	sender   sender
	messages []gateway.Message
	asked    int             // requests so far
	signed   map[string]bool // ids of the calls that Gemini signed
	whole    bool            // no signature may be missing
}

func newDialogue(t *testing.T, s sender, opts ...gateway.ClientOption) *dialogue {
	t.Helper()
	tap := &wiretap{platform: vertextest.New()}
	client := openClient(t, tap, append(opts, gateway.WithRegion("global"), gateway.WithStrictCompliance(s.strict))...)
	return &dialogue{
		t: t, client: client, platform: tap.platform, tap: tap, sender: s, signed: map[string]bool{},
		messages: []gateway.Message{gateway.SystemMessage("Be brief.")},
	}
}

// answer sends the conversation, by turns whole and as a stream, adds the answer
// to it, and checks what was sent.
func (d *dialogue) answer(model string) *gateway.ChatCompletion {
	d.t.Helper()
	req := &gateway.ChatCompletionRequest{
		Model: model, Messages: d.messages, Tools: []gateway.Tool{weather()},
		Thinking: &gateway.Thinking{Type: "enabled", BudgetTokens: new(2048)},
	}
	requests := len(d.platform.Requests())
	got, err := ask(d.t, d.client, req, d.asked)
	if err != nil {
		d.t.Fatalf("request %d, to %s: %v", d.asked, model, err)
	}
	if n := len(d.platform.Requests()); n != requests+1 {
		d.t.Errorf("request %d, to %s, was sent %d times", d.asked, model, n-requests)
	}
	d.check(model, got.Meta.Warnings)
	d.asked++
	message := d.sender.keep(d.t, got.Choices[0].Message)
	for j, c := range message.ToolCalls {
		d.signed[c.ID] = j == 0 && familyOf(model) == "gemini"
	}
	d.messages = append(d.messages, message)
	return got
}

// ask asks in one of three ways.
func ask(t *testing.T, client *gateway.Client, req *gateway.ChatCompletionRequest, way int) (*gateway.ChatCompletion, error) {
	t.Helper()
	if way%3 == 0 {
		return client.Chat.Completions.Create(t.Context(), req)
	}
	stream, err := client.Chat.Completions.CreateStream(t.Context(), req)
	if err != nil {
		return nil, err
	}
	if way%3 == 1 {
		return stream.Collect()
	}
	var acc gateway.Accumulator
	for chunk, err := range stream.Chunks() {
		if err != nil {
			return nil, err
		}
		if err := acc.Add(chunk); err != nil {
			return nil, err
		}
	}
	got := acc.Completion()
	got.Meta = stream.Meta()
	return got, nil
}

// results adds the results of the last message's calls, the last one first.
func (d *dialogue) results() {
	calls := d.messages[len(d.messages)-1].ToolCalls
	for i, c := range slices.Backward(calls) {
		result := `{"sky":"clear","n":1.0}`
		if i > 0 {
			result = "it rains"
		}
		d.messages = append(d.messages, gateway.ToolMessage(c.ID, result))
	}
}

// turn runs one turn; next names the model of each request.
func (d *dialogue) turn(q question, next func() string) {
	d.t.Helper()
	d.messages = append(d.messages, q.ask)
	for i, reply := range q.then {
		d.platform.Script(reply)
		got := d.answer(next())
		if calls := len(got.Choices[0].Message.ToolCalls); (calls > 0) == (i == len(q.then)-1) {
			d.t.Fatalf("answer %d of %d to %q has %d calls: %s", i+1, len(q.then), q.ask.Content.Text(), calls, got.Text())
		}
		d.results()
	}
}

// check holds the request that was sent last against the conversation.
func (d *dialogue) check(model string, warnings []gateway.Warning) {
	d.t.Helper()
	requests := d.platform.Requests()
	body := requests[len(requests)-1].Body
	family := familyOf(model)
	sent := transcripts[family](d.t, body)
	at := fmt.Sprintf("request %d, to %s", d.asked, model)
	if diff := cmp.Diff(scriptOf(d.t, d.messages), sent.lines); diff != "" {
		d.t.Errorf("%s: what was said (-want +got):\n%s", at, diff)
	}
	for by, signatures := range d.tap.issued {
		for signature := range signatures {
			if by != family && strings.Contains(string(body), signature) {
				d.t.Errorf("%s: a signature of %s was sent", at, by)
			}
		}
	}
	d.checkSigned(at, family, model, &sent)
	if d.whole && slices.ContainsFunc(warnings, func(w gateway.Warning) bool { return w.Code == gateway.WarnSignature }) {
		d.t.Errorf("%s warns: %+v", at, warnings)
	}
	dropped := slices.ContainsFunc(warnings, func(w gateway.Warning) bool { return w.Code == gateway.WarnDroppedBlock })
	if lost := d.foreign(family); lost != dropped {
		d.t.Errorf("%s: something is lost: %t, and it warns: %+v", at, lost, warnings)
	}
}

// foreign reports whether the conversation has signatures or thinking that are
// of no use to the family.
func (d *dialogue) foreign(family string) bool {
	for _, m := range d.messages {
		of := "" // whose signatures the message has
		thinks := false
		for _, c := range m.ToolCalls {
			if c.Function.ThoughtSignature != "" {
				of = "gemini"
			}
		}
		for _, b := range m.ContentBlocks {
			switch {
			case b.Type != gateway.PartThinking && b.Signature != "":
				of = "gemini"
			case b.Type == gateway.PartThinking && b.Signature != "":
				of = "claude"
			}
			thinks = thinks || b.Type == gateway.PartThinking
		}
		switch {
		case of != "" && of != family, thinks && family != "gemini" && of != family:
			return true
		}
	}
	return false
}

// checkSigned wants the family's own signatures to be there.
func (d *dialogue) checkSigned(at, family, model string, sent *transcript) {
	d.t.Helper()
	switch family {
	case "claude":
		var want []string
		for _, m := range d.messages {
			for _, b := range m.ContentBlocks {
				if b.Type == gateway.PartThinking && d.tap.issued["claude"][b.Signature] {
					want = append(want, b.Thinking+" "+b.Signature)
				}
			}
		}
		if diff := cmp.Diff(want, sent.thinking); diff != "" {
			d.t.Errorf("%s: thinking (-want +got):\n%s", at, diff)
		}
	case "gemini":
		n := 0
		for _, m := range d.messages {
			for _, c := range m.ToolCalls {
				signature := sent.signatures[n]
				own := d.signed[c.ID]
				switch {
				case own && !d.tap.issued["gemini"][signature]:
					d.t.Errorf("%s: call %d has the signature %q, want its own", at, n, signature)
				case !own && signature != "" && signature != sentinel:
					d.t.Errorf("%s: call %d of another family is signed: %q", at, n, signature)
				}
				n++
			}
		}
		if sent.ids != (model != gemini25) && n > 0 {
			d.t.Errorf("%s: ids of calls are sent: %t", at, sent.ids)
		}
	}
}

const sentinel = "skip_thought_signature_validator"

// tours are models that take turns.
var tours = []struct {
	name   string
	models []string
	asks   []question
}{
	{"from Gemini to all and back", []string{gemini38, opus46, gemini38, llama4, mistral3, gemini38, opus46}, questions()},
	{"thinking by budget", []string{haiku45, gemini3, haiku45, mistral3, haiku45, llama4, haiku45}, questions()},
	{"models of other generations", []string{gemini25, sonnet55, gemini3, deepseek, sonnet55, mistral3, gemini38}, questions()[:3]}, // of which one is blind
}

func TestConversationsSurviveAChangeOfFamily(t *testing.T) {
	for _, tour := range tours {
		for _, s := range senders {
			t.Run(tour.name+", "+s.name, func(t *testing.T) {
				d := newDialogue(t, s)
				d.whole = s.whole
				for i := range 2 * len(tour.models) {
					model := tour.models[i%len(tour.models)]
					d.turn(tour.asks[i%len(tour.asks)], func() string { return model })
				}
			})
		}
	}
}

// A turn that one family begins is ended by another: its calls are answered, and
// the next model goes on from there.
func TestFamiliesTakeOverWithinATurn(t *testing.T) {
	for _, tour := range tours {
		for _, s := range senders {
			t.Run(tour.name+", "+s.name, func(t *testing.T) {
				d := newDialogue(t, s)
				n := 0
				next := func() string {
					n++
					return tour.models[(n-1)%len(tour.models)]
				}
				for i := range 9 {
					d.turn(tour.asks[i%len(tour.asks)], next)
				}
			})
		}
	}
}
