package engine

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/catalog"
	"github.com/b650d4bf/gateway/internal/sse"
	"github.com/b650d4bf/gateway/providers"
)

// made is an answer made at random, in both forms.
type made struct {
	rnd    *rand.Rand
	blocks []map[string]any
	events []any
}

var madeWords = []string{"", " ", "a", "né", "\n\n", `"q\`, "\u2028", "漢字", "<b>", "😀"}

func (m *made) words(n int) string {
	var b strings.Builder
	for range n {
		b.WriteString(madeWords[m.rnd.IntN(len(madeWords))])
	}
	return b.String()
}

// pieces cuts a text anywhere between its characters.
func (m *made) pieces(s string) []string {
	var list []string
	for _, c := range s {
		if len(list) == 0 || m.rnd.IntN(3) == 0 {
			list = append(list, "")
		}
		list[len(list)-1] += string(c)
	}
	return list
}

func (m *made) event(kind string, index int, name string, value any) {
	m.events = append(m.events, map[string]any{"type": kind, "index": index, name: value})
	if m.rnd.IntN(9) == 0 {
		m.events = append(m.events, map[string]any{"type": "ping"})
	}
}

func (m *made) deltas(index int, kind, name, text string) {
	for _, piece := range m.pieces(text) {
		m.event("content_block_delta", index, "delta", map[string]any{"type": kind, name: piece})
	}
}

// block adds a block of a random kind.
func (m *made) block() {
	i := len(m.blocks)
	text := m.words(m.rnd.IntN(6))
	var whole, first map[string]any
	then := func() {}
	switch m.rnd.IntN(6) {
	case 0:
		whole, first = map[string]any{"type": "text", "text": text}, map[string]any{"type": "text", "text": ""}
		var cites []any
		for range m.rnd.IntN(3) {
			cites = append(cites, map[string]any{"type": "page_location", "cited_text": m.words(2)})
		}
		if cites != nil {
			whole["citations"] = cites
		}
		then = func() {
			m.deltas(i, "text_delta", "text", text)
			for _, c := range cites {
				m.event("content_block_delta", i, "delta", map[string]any{"type": "citations_delta", "citation": c})
			}
		}
	case 1:
		signature := m.words(m.rnd.IntN(2)) + "s"
		whole = map[string]any{"type": "thinking", "thinking": text, "signature": signature}
		first = map[string]any{"type": "thinking", "thinking": "", "signature": ""}
		then = func() {
			m.deltas(i, "thinking_delta", "thinking", text)
			m.event("content_block_delta", i, "delta", map[string]any{"type": "signature_delta", "signature": signature})
		}
	case 2:
		whole = map[string]any{"type": "redacted_thinking", "data": "ZGF0YQ=="}
		first = whole
	case 3, 4:
		input := map[string]any{}
		for range m.rnd.IntN(3) {
			input[m.words(1)+"k"] = m.words(3)
		}
		kind := []string{"tool_use", "server_tool_use"}[m.rnd.IntN(2)]
		whole = map[string]any{"type": kind, "id": fmt.Sprintf("toolu_%d", i), "name": "f", "input": input}
		first = map[string]any{"type": kind, "id": whole["id"], "name": "f", "input": map[string]any{}}
		data, _ := json.Marshal(input)
		then = func() { m.deltas(i, "input_json_delta", "partial_json", string(data)) }
	case 5:
		whole = map[string]any{"type": "web_search_tool_result", "tool_use_id": "x", "content": []any{text}}
		first = whole
	}
	m.blocks = append(m.blocks, whole)
	m.event("content_block_start", i, "content_block", first)
	then()
	m.events = append(m.events, map[string]any{"type": "content_block_stop", "index": i})
}

// foldEvents decodes events, or a whole answer, and folds the chunks.
func foldEvents(t *testing.T, stream bool, events ...any) *providers.ChatCompletion {
	t.Helper()
	in := request{stream: stream, model: Model{Name: "m"}}
	d := claudeFamily{}.newDecoder(&in, &outgoing{})
	var acc providers.Accumulator
	add := func(chunks []*providers.ChatCompletionChunk, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range chunks {
			if err := acc.Add(c); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, e := range events {
		data, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		chunks, err := d.push(sse.Event{Data: data})
		add(chunks, err)
	}
	chunks, err := d.finish()
	add(chunks, err)
	answer := acc.Completion()
	answer.Created = 0
	return answer
}

// TestAStreamOfClaudeFoldsToTheWholeAnswer makes answers at random and gives
// them whole and in pieces.
func TestAStreamOfClaudeFoldsToTheWholeAnswer(t *testing.T) {
	for seed := range uint64(400) {
		m := &made{rnd: rand.New(rand.NewPCG(seed, 1))} // a test wants the same numbers again
		usage := map[string]any{"input_tokens": 3, "cache_read_input_tokens": seed, "output_tokens": 1}
		m.events = append(m.events, map[string]any{"type": "message_start", "message": map[string]any{
			"id": "msg", "type": "message", "role": "assistant", "model": "m2", "content": []any{}, "stop_reason": nil, "usage": usage,
		}})
		for range m.rnd.IntN(6) {
			m.block()
		}
		stop := []string{"end_turn", "tool_use", "max_tokens", "refusal", "new_reason"}[m.rnd.IntN(5)]
		m.events = append(m.events, map[string]any{
			"type": "message_delta", "delta": map[string]any{"stop_reason": stop, "stop_details": map[string]any{"a": seed}},
			"usage": map[string]any{"output_tokens": 9, "service_tier": "standard"},
		}, map[string]any{"type": "message_stop"})
		whole := map[string]any{
			"id": "msg", "type": "message", "role": "assistant", "model": "m2", "content": m.blocks,
			"stop_reason": stop, "stop_details": map[string]any{"a": seed},
			"usage": map[string]any{"input_tokens": 3, "cache_read_input_tokens": seed, "output_tokens": 9, "service_tier": "standard"},
		}
		if m.blocks == nil {
			whole["content"] = []any{}
		}
		want, got := foldEvents(t, false, whole), foldEvents(t, true, m.events...)
		if diff := cmp.Diff(inText(t, want), inText(t, got)); diff != "" {
			t.Fatalf("seed %d (-whole +folded)\n%s", seed, diff)
		}
		checkSaid(t, m.blocks, got)
		checkSentBack(t, m.blocks, got)
	}
}

// checkSentBack sends the answer back, by way of its JSON, and wants the blocks
// that it was made of: in their order, with the calls last, without blanks and
// without thinking at the end.
func checkSentBack(t *testing.T, blocks []map[string]any, got *providers.ChatCompletion) {
	t.Helper()
	var q providers.ChatCompletionRequest
	if err := json.Unmarshal([]byte(`{"model":"m","messages":[{"role":"user","content":"a"},`+inText(t, &got.Choices[0].Message)+`]}`), &q); err != nil {
		t.Fatal(err)
	}
	for _, c := range q.Messages[1].ToolCalls {
		q.Messages = append(q.Messages, providers.ToolMessage(c.ID, "ok"))
	}
	q.Messages = append(q.Messages, providers.UserMessage("b"))
	in := request{site: testSite{}, chat: &q, target: new(providers.Target), model: Model{Family: FamilyClaude, facts: new(catalog.Model)}}
	data, err := claudeFamily{}.encode(&in, new(outgoing), nil)
	if err != nil {
		t.Fatal(err)
	}
	var body struct {
		Messages []struct {
			Role    string
			Content []map[string]any
		}
	}
	if err := json.Unmarshal(data, &body); err != nil {
		t.Fatal(err)
	}
	var want, calls, sent []map[string]any
	for _, b := range blocks {
		switch text, isText := b["text"].(string); {
		case b["type"] == "tool_use":
			calls = append(calls, b)
		case !isText || strings.TrimSpace(text) != "":
			want = append(want, b)
		}
	}
	for n := len(want); calls == nil && n > 0 && strings.HasSuffix(want[n-1]["type"].(string), "thinking"); n-- {
		want = want[:n-1]
	}
	for _, m := range body.Messages {
		if m.Role == providers.RoleAssistant {
			sent = m.Content
		}
	}
	if diff := cmp.Diff(inText(t, append(sent[:0:0], append(want, calls...)...)), inText(t, sent)); diff != "" {
		t.Fatalf("sent back (-want +got)\n%s", diff)
	}
}

func inText(t *testing.T, v any) string {
	t.Helper()
	data, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// checkSaid holds the answer against the blocks it was made of.
func checkSaid(t *testing.T, blocks []map[string]any, got *providers.ChatCompletion) {
	t.Helper()
	m := &got.Choices[0].Message
	text, thoughts, calls := "", "", 0
	for _, b := range blocks {
		if s, ok := b["text"].(string); ok {
			text += s
		}
		if s, ok := b["thinking"].(string); ok {
			thoughts += s + fmt.Sprint(b["signature"])
		}
		if b["type"] == "tool_use" {
			calls++
		}
	}
	said := ""
	for _, p := range m.ContentBlocks {
		said += p.Thinking + p.Signature
	}
	if m.Content.Text() != text || said != thoughts || len(m.ToolCalls) != calls {
		t.Errorf("%q, %q and %d calls, want %q, %q and %d", m.Content.Text(), said, len(m.ToolCalls), text, thoughts, calls)
	}
}

func FuzzClaudeDecoder(f *testing.F) {
	f.Add([]byte(`{"type":"message","id":"i","model":"m","content":[{"type":"text","text":"a","citations":[1]},{"type":"tool_use","name":"f","input":{"a":1}},{"type":"x","a":1}],"stop_reason":"tool_use","usage":{"input_tokens":1}}`), []byte(`{}`), true)
	f.Add([]byte(`{"type":"content_block_start","index":0,"content_block":{"type":"server_tool_use","input":{}}}`), []byte(`{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{}"}}`), false)
	f.Add([]byte(`{"type":"content_block_delta","index":3,"delta":{"type":"text_delta","text":"a"}}`), []byte(`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":1,"iterations":[{}]}}`), false)
	f.Add([]byte(`{"type":"content_block_start","index":0,"content_block":{"type":"compaction","content":"a"}}`), []byte(`{"type":"content_block_delta","index":0,"delta":{"type":"compaction_delta","content":"b"}}`), false)
	f.Add([]byte(`{"type":"error","error":{"type":"overloaded_error"}}`), []byte(`[{"error":{"code":1}}]`), false)
	f.Fuzz(func(t *testing.T, one, two []byte, whole bool) {
		d := claudeFamily{}.newDecoder(&request{stream: !whole}, &outgoing{})
		var acc providers.Accumulator
		check := func(chunks []*providers.ChatCompletionChunk) {
			for _, c := range chunks {
				if data, err := json.Marshal(c); err != nil {
					t.Errorf("%v in %s", err, data)
				}
				if err := acc.Add(c); err != nil {
					t.Errorf("the chunks can't be folded: %v", err)
				}
			}
		}
		for _, event := range [][]byte{one, two, one, two} {
			chunks, err := d.push(sse.Event{Data: event})
			if err != nil {
				return
			}
			check(chunks)
		}
		chunks, err := d.finish()
		if err == nil {
			check(chunks)
		}
	})
}
