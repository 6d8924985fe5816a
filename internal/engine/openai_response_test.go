package engine

import (
	"encoding/json"
	"errors"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/catalog"
	"github.com/b650d4bf/gateway/internal/jsonx"
	"github.com/b650d4bf/gateway/internal/sse"
	"github.com/b650d4bf/gateway/providers"
)

// openDecoderOf returns a decoder for a model whose thoughts have the tags.
func openDecoderOf(whole bool, tags string) *openDecoder {
	m := Model{Name: "m", Family: FamilyOpen, facts: &catalog.Model{Thinking: catalog.Thinking{Tags: tags}}}
	d, _ := openFamily{}.newDecoder(&request{model: m, stream: !whole}, &outgoing{thinks: true}).(*openDecoder)
	return d
}

// openFold decodes the events as the reader does.
func openFold(d *openDecoder, events ...string) (*providers.ChatCompletion, error) {
	var acc providers.Accumulator
	for _, e := range events {
		chunks, err := d.push(sse.Event{Data: []byte(e)})
		if err == nil {
			err = addAll(&acc, chunks)
		}
		if err != nil {
			return nil, err
		}
	}
	chunks, err := d.finish()
	if err == nil {
		err = addAll(&acc, chunks)
	}
	if err != nil {
		return nil, err
	}
	return acc.Completion(), nil
}

// oddOpenAnswers are bodies that no document promises, with what comes of them:
// a kind of error, or a finish reason.
var oddOpenAnswers = []struct{ body, whole, stream string }{
	{`{}`, "bad_response", "stream_interrupted"},
	{`[]`, "bad_response", "bad_response"},
	{`7`, "bad_response", "bad_response"},
	{`{"choices":`, "bad_response", "bad_response"},
	{`{"choices":null}`, "bad_response", "stream_interrupted"},
	{`{"choices":{}}`, "bad_response", "stream_interrupted"},
	{`{"choices":[]}`, "empty_response", "stream_interrupted"},
	{`{"choices":[null,7,{}]}`, "stop", "stream_interrupted"},
	{`{"choices":[{"index":-1}]}`, "bad_response", "bad_response"},
	{`{"choices":[{"index":1e9}]}`, "bad_response", "bad_response"},
	{`{"choices":[{"index":"x","finish_reason":7}]}`, "stop", "stream_interrupted"},
	{`{"choices":[{"message":null,"finish_reason":"stop"}]}`, "stop", "stop"},
	{`{"choices":[{"message":"x","delta":[],"finish_reason":"eos"}]}`, "stop", "stop"},
	{`{"choices":[{"text":"x","finish_reason":"STOP"}]}`, "stop", "stop"},
	{`{"choices":[{"message":{"content":{"a":1},"tool_calls":{},"audio":7,"annotations":{}},"finish_reason":"max_tokens"}]}`, "length", "length"},
	{`{"choices":[{"message":{"content":["a",7,{"type":"thinking"},{"type":null},{}]},"finish_reason":"model_length"}]}`, "length", "length"},
	{`{"choices":[{"message":{"tool_calls":[null,7,{"function":null},{"function":"x","id":3}]},"finish_reason":"stop"}]}`, "tool_calls", "tool_calls"},
	{`{"choices":[{"message":{"tool_calls":[]},"finish_reason":"tool_calls"}]}`, "stop", "stop"},
	{`{"choices":[{"message":{"tool_calls":[{"function":{"name":"f","arguments":null}}]},"finish_reason":"length"}]}`, "length", "length"},
	{`{"choices":[{"message":{"refusal":"no"},"finish_reason":"content_filter"}]}`, "content_filter", "content_filter"},
	{`{"choices":[{"message":{"content":"x"},"finish_reason":"error"}]}`, "stop", "stop"},
	{`{"choices":[{"message":{"content":""},"finish_reason":"error"}]}`, "empty_response", "empty_response"},
	{`{"choices":[{"logprobs":[],"finish_reason":"stop"}],"usage":[],"created":"x","model":7,"id":{}}`, "stop", "stop"},
	{`{"choices":[{"logprobs":{"content":7},"finish_reason":"stop"}]}`, "bad_response", "bad_response"},
	{`{"choices":[{"finish_reason":"stop"}],"usage":{"prompt_tokens":1.0,"completion_tokens":"2","total_tokens":1e300,"prompt_tokens_details":7}}`, "stop", "stop"},
	{`{"error":{"message":"later","code":503}}`, "service_unavailable", "service_unavailable"},
	{`{"error":"no"}`, "server_error", "server_error"},
	{`[{"error":{"code":429,"message":"slow","status":"RESOURCE_EXHAUSTED"}}]`, "rate_limit_exceeded", "rate_limit_exceeded"},
	{`{"object":"error","message":"bad","type":"invalid_request_error","code":400}`, "invalid_request", "invalid_request"},
	{`{"detail":"bad"}`, "invalid_request", "invalid_request"},
	{`{"error":{"message":"x","code":"content_filter"}}`, "content_filter", "content_filter"},
	{`<html></html>`, "bad_response", "bad_response"},
}

func TestOddOpenAnswers(t *testing.T) {
	for _, tt := range oddOpenAnswers {
		for form, want := range map[bool]string{true: tt.whole, false: tt.stream} {
			answer, err := openFold(openDecoderOf(form, ""), tt.body)
			got := ""
			if e, ok := errors.AsType[*providers.Error](err); ok {
				got = string(e.Code)
				if !e.Sent {
					t.Errorf("%s: %v was sent", tt.body, err)
				}
			}
			if err == nil {
				got = answer.Choices[0].FinishReason
			}
			if got != want {
				t.Errorf("%s, whole %v: %q %v, want %s", tt.body, form, got, err, want)
			}
		}
	}
}

func TestTheMarkOfTheEndStandsForAFinishReason(t *testing.T) {
	answer, err := openFold(openDecoderOf(false, ""), `{"choices":[{"delta":{"content":"x"}}]}`, sse.Done, `{"choices":[{"index":1}]}`)
	if err != nil || len(answer.Choices) != 1 || answer.Choices[0].FinishReason != providers.FinishStop {
		t.Errorf("%+v %v", answer, err)
	}
	if _, err := openFold(openDecoderOf(false, ""), sse.Done); !errors.Is(err, providers.ErrEmptyResponse) {
		t.Errorf("%v, want %s", err, providers.ErrEmptyResponse)
	}
}

func TestPiecesOfCallsArePutTogether(t *testing.T) {
	type call struct{ ID, Name, Arguments string }
	for _, tt := range []struct {
		name   string
		pieces []string // one that begins with ! is in the chunk that ends the answer
		want   []call   // an id that was made is empty
	}{
		{"by index", []string{`{"index":0,"id":"a","function":{"name":"f","arguments":"{"}}`, `{"index":1,"id":"b","function":{"name":"g","arguments":"{}"}}`, `{"index":0,"function":{"arguments":"}"}}`},
			[]call{{"a", "f", "{}"}, {"b", "g", "{}"}}},
		{"all of index 0, by id", []string{`{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}`, `{"index":0,"id":"b","function":{"name":"f","arguments":"{"}}`, `{"index":0,"function":{"arguments":"}"}}`},
			[]call{{"a", "f", "{}"}, {"b", "f", "{}"}}},
		{"all of index 0, without ids", []string{`{"index":0,"function":{"name":"f","arguments":"{\"a\":\"}\"}"}}`, `{"index":0,"function":{"name":"f","arguments":"{}"}}`},
			[]call{{"", "f", `{"a":"}"}`}, {"", "f", "{}"}}},
		{"without index", []string{`{"id":"a","function":{"name":"f","arguments":"{"}}`, `{"function":{"arguments":"}"}}`, `{"id":"b","function":{"name":"g"}}`},
			[]call{{"a", "f", "{}"}, {"b", "g", "{}"}}},
		{"the name in each piece", []string{`{"index":0,"id":"a","function":{"name":"f","arguments":"{\"a\""}}`, `{"index":0,"id":"a","function":{"name":"f","arguments":":1}"}}`},
			[]call{{"a", "f", `{"a":1}`}}},
		{"the name in each piece, without ids", []string{`{"index":0,"function":{"name":"f","arguments":"{\"a\""}}`, `{"index":0,"function":{"name":"f","arguments":":\"}\""}}`, `{"index":0,"function":{"name":"f","arguments":"}"}}`},
			[]call{{"", "f", `{"a":"}"}`}}},
		{"the id comes later", []string{`{"index":0,"function":{"name":"f","arguments":""}}`, `{"index":0,"id":"a","function":{"arguments":"{}"}}`, `{"index":0,"id":"b","function":{"name":"f","arguments":"{}"}}`},
			[]call{{"", "f", "{}"}, {"b", "f", "{}"}}},
		{"one id for two calls", []string{`{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}`, `{"index":1,"id":"a","function":{"name":"f","arguments":"{}"}}`},
			[]call{{"a", "f", "{}"}, {"", "f", "{}"}}},
		{"from index 1 on", []string{`{"index":1,"id":"a","function":{"name":"f","arguments":"{}"}}`, `{"index":3,"id":"b","function":{"name":"f"}}`},
			[]call{{"a", "f", "{}"}, {"b", "f", "{}"}}},
		{"the name comes later", []string{`{"index":0,"id":"a"}`, `{"index":0,"function":{"name":"f"}}`, `{"index":0,"function":{"arguments":{"z":1}}}`},
			[]call{{"a", "f", `{"z":1}`}}},
		{"a new id in each piece", []string{`{"index":0,"id":"t-1","function":{"name":"f","arguments":"{\"x\""}}`, `{"index":0,"id":"t-2","function":{"name":"f","arguments":":1}"}}`, `!{"index":0,"id":"t-3","function":{"name":"f","arguments":""}}`},
			[]call{{"t-1", "f", `{"x":1}`}}},
		{"a new id and nothing said yet", []string{`{"index":0,"id":"a","function":{"name":"f","arguments":""}}`, `{"index":0,"id":"b","function":{"name":"g","arguments":"{}"}}`},
			[]call{{"a", "f", "{}"}, {"b", "g", "{}"}}},
		{"the name once more at the end", []string{`{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\":1}"}}`, `!{"index":0,"function":{"name":"f","arguments":""}}`},
			[]call{{"a", "f", `{"x":1}`}}},
		{"another name at the end", []string{`{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}`, `!{"index":0,"function":{"name":"g","arguments":""}}`},
			[]call{{"a", "f", "{}"}, {"", "g", "{}"}}},
		{"another call without an index at the end", []string{`{"id":"a","function":{"name":"f","arguments":"{}"}}`, `!{"id":"b","function":{"name":"f","arguments":""}}`},
			[]call{{"a", "f", "{}"}, {"b", "f", "{}"}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var events []string
			for _, p := range tt.pieces {
				p, closing := strings.CutPrefix(p, "!")
				reason := "null"
				if closing {
					reason = `"tool_calls"`
				}
				events = append(events, `{"choices":[{"delta":{"tool_calls":[`+p+`]},"finish_reason":`+reason+`}]}`)
			}
			answer, err := openFold(openDecoderOf(false, ""), append(events, sse.Done)...)
			if err != nil {
				t.Fatal(err)
			}
			var got []call
			for i, c := range answer.Choices[0].Message.ToolCalls {
				id := c.ID
				if strings.HasPrefix(id, "call_") && len(id) == 29 {
					id = ""
				}
				if id == "" && tt.want[i].ID != "" || c.Type != "function" {
					t.Errorf("call %+v", c)
				}
				got = append(got, call{id, c.Function.Name, c.Function.Arguments})
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestTooManyCallsAreRefused(t *testing.T) {
	body := `{"choices":[{"message":{"tool_calls":[` + strings.Repeat(`{},`, maxCalls) + `{}]},"finish_reason":"stop"}]}`
	if _, err := openFold(openDecoderOf(true, ""), body); !errors.Is(err, providers.ErrBadResponse) {
		t.Errorf("%v, want %s", err, providers.ErrBadResponse)
	}
}

// TestTagsAreFoundHoweverTheTextIsCut gives each content whole and in pieces.
func TestTagsAreFoundHoweverTheTextIsCut(t *testing.T) {
	for _, tt := range []struct{ name, tags, content, thought, text string }{
		{"both marks", thoughtOpen, " \n<think>a</b</think>\n\n x<think>y</think> ", "a</b", "x<think>y</think> "},
		{"no marks", thoughtOpen, "<thin x", "", "<thin x"},
		{"the beginning of a mark alone", thoughtOpen, " <thi", "", " <thi"},
		{"no end", thoughtOpen, "<think>a</thin", "a</thin", ""},
		{"nothing but a thought", thoughtOpen, "<think>a</think>\n", "a", ""},
		{"no thought", thoughtOpen, "<think></think>x", "", "x"},
		{"the end alone", thoughtClose, "a <think> </think>\nx", "a <think> ", "x"},
		{"none looked for", "", "<think>a</think>x", "", "<think>a</think>x"},
		{"bytes beyond ASCII", thoughtOpen, "<think>é😀</think>ü", "é😀", "ü"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			check := func(d *openDecoder, events ...string) {
				t.Helper()
				answer, err := openFold(d, events...)
				if err != nil {
					t.Fatal(err)
				}
				thought, text := "", ""
				for _, b := range answer.Choices[0].Message.ContentBlocks {
					thought, text = thought+b.Thinking, text+b.Text
				}
				if thought != tt.thought || text != tt.text || answer.Text() != tt.text {
					t.Errorf("%q and %q, want %q and %q, of %q", thought, text, tt.thought, tt.text, events)
				}
			}
			piece := func(member, text string) string {
				data, err := json.Marshal(text)
				if err != nil {
					t.Fatal(err)
				}
				return `{"choices":[{"` + member + `":{"content":` + string(data) + `}}]}`
			}
			check(openDecoderOf(true, tt.tags), piece("message", tt.content))
			runes := []rune(tt.content)
			for i := range runes {
				check(openDecoderOf(false, tt.tags), piece("delta", string(runes[:i])), piece("delta", string(runes[i:])), sse.Done)
			}
			var each []string
			for _, c := range runes {
				each = append(each, piece("delta", string(c)))
			}
			check(openDecoderOf(false, tt.tags), append(each, sse.Done)...)
		})
	}
}

// TestAStreamIsTheWholeAnswerCut makes answers up, cuts them into events and
// compares the folds.
func TestAStreamIsTheWholeAnswerCut(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2)) // a test wants the same numbers again
	word := func() string {
		const letters = "ab {}\"\\é😀<think>/\n"
		runes := []rune(letters)
		out := make([]rune, rnd.IntN(9))
		for i := range out {
			out[i] = runes[rnd.IntN(len(runes))]
		}
		return string(out)
	}
	quote := func(s string) string {
		data, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	cut := func(s string, f func(string)) {
		for r := []rune(s); len(r) > 0; {
			n := 1 + rnd.IntN(len(r))
			f(string(r[:n]))
			r = r[n:]
		}
	}
	for range 500 {
		thought, text := word(), word()
		finish := []string{"stop", "length", "tool_calls"}[rnd.IntN(3)]
		var events, calls []string
		delta := func(member string) {
			events = append(events, `{"id":"i","created":3,"choices":[{"index":0,"delta":{`+member+`}}]}`)
		}
		cut(thought, func(s string) { delta(`"reasoning_content":` + quote(s)) })
		cut(text, func(s string) { delta(`"content":` + quote(s)) })
		for i := range rnd.IntN(3) {
			id, args := string(rune('a'+i)), `{"x":`+quote(word())+`}`
			calls = append(calls, `{"id":"`+id+`","type":"function","function":{"name":"f","arguments":`+quote(args)+`}}`)
			begun := false
			cut(args, func(s string) {
				if head := `"id":"` + id + `","function":{"name":"f",`; !begun {
					delta(`"tool_calls":[{"index":0,` + head + `"arguments":` + quote(s) + `}}]`)
				} else {
					delta(`"tool_calls":[{"index":0,"function":{"arguments":` + quote(s) + `}}]`)
				}
				begun = true
			})
		}
		const usage = `"usage":{"prompt_tokens":1,"completion_tokens":2,"total_tokens":3,"x":1}`
		events = append(events, `{"id":"i","choices":[{"index":0,"delta":{},"finish_reason":"`+finish+`"}]}`, `{"choices":[],`+usage+`}`, sse.Done)
		body := `{"id":"i","created":3,"choices":[{"index":0,"message":{"content":` + quote(text) + `,"reasoning_content":` + quote(thought) +
			`,"tool_calls":[` + strings.Join(calls, ",") + `]},"finish_reason":"` + finish + `"}],` + usage + `}`
		whole, err := openFold(openDecoderOf(true, ""), body)
		folded, streamErr := openFold(openDecoderOf(false, ""), events...)
		if err != nil || streamErr != nil {
			t.Fatalf("%v %v\n%s\n%s", err, streamErr, body, events)
		}
		if diff := cmp.Diff(textOf(t, whole), textOf(t, folded)); diff != "" {
			t.Fatalf("(-whole +folded)\n%s\n%s\n%s", diff, body, events)
		}
	}
}

func TestUsageIsCountedAsTheSchemaDoes(t *testing.T) {
	for _, tt := range []struct{ usage, want string }{
		{`{"prompt_tokens":3,"completion_tokens":2}`, `3 2 5 0 0`},
		{`{"prompt_tokens":3,"completion_tokens":2,"total_tokens":9}`, `3 2 9 0 0`},
		{`{"prompt_tokens":3,"completion_tokens":2,"total_tokens":5,"completion_tokens_details":{"reasoning_tokens":1}}`, `3 2 5 0 1`},
		{`{"prompt_tokens":3,"completion_tokens":2,"total_tokens":9,"completion_tokens_details":{"reasoning_tokens":4}}`, `3 6 9 0 4`},
		{`{"prompt_tokens":3,"completion_tokens":2,"total_tokens":5,"reasoning_tokens":1,"num_cached_tokens":2}`, `3 2 5 2 1`},
		{`{"prompt_tokens":3,"completion_tokens":2,"total_tokens":5,"prompt_tokens_details":{"cached_tokens":1},"prompt_cache_hit_tokens":1}`, `3 2 5 1 0`},
	} {
		answer, err := openFold(openDecoderOf(true, ""), `{"choices":[{}],"usage":`+tt.usage+`}`)
		if err != nil {
			t.Fatal(err)
		}
		u := answer.Usage
		got, _ := json.Marshal([]int64{u.PromptTokens, u.CompletionTokens, u.TotalTokens, u.PromptTokensDetails.CachedTokens, u.CompletionTokensDetails.ReasoningTokens})
		if want := "[" + strings.ReplaceAll(tt.want, " ", ",") + "]"; string(got) != want {
			t.Errorf("%s: %s, want %s", tt.usage, got, want)
		}
	}
}

func FuzzOpenDecoder(f *testing.F) {
	for i, odd := range oddOpenAnswers {
		f.Add([]byte(odd.body), uint8(i))
	}
	f.Add([]byte(`{"id":"i","choices":[{"delta":{"content":"<think>a</think>b","reasoning_content":"r","tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}]},"finish_reason":"stop"}],"usage":{"x":[1]}}`), uint8(3))
	f.Fuzz(func(t *testing.T, data []byte, options uint8) {
		tags := []string{"", thoughtOpen, thoughtClose}[options%3]
		whole, err := openFold(openDecoderOf(true, tags), string(data))
		if err == nil {
			checkOpenAnswer(t, whole)
		}
		folded, err := openFold(openDecoderOf(false, tags), string(data), string(data), sse.Done)
		if err == nil {
			checkOpenAnswer(t, folded)
		}
	})
}

func checkOpenAnswer(t *testing.T, c *providers.ChatCompletion) {
	t.Helper()
	data, err := json.Marshal(c)
	if err != nil || !jsonx.Valid(data) {
		t.Errorf("%v of %s", err, data)
	}
	for i := range c.Choices {
		ids := map[string]bool{}
		for _, call := range c.Choices[i].Message.ToolCalls {
			if call.ID == "" || ids[call.ID] || call.Function.Arguments == "" && call.Function.Name != "" {
				t.Errorf("call %+v", call)
			}
			ids[call.ID] = true
		}
		if c.Choices[i].FinishReason == "" {
			t.Error("no finish reason")
		}
	}
}

// FuzzOpenWholeIsTheFold decodes one event as a whole answer and as a stream.
func FuzzOpenWholeIsTheFold(f *testing.F) {
	for _, odd := range oddOpenAnswers {
		f.Add([]byte(odd.body))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if strings.Contains(string(data), "tool_calls") { // a stream's pieces are put together
			return
		}
		whole, err := openFold(openDecoderOf(true, thoughtOpen), string(data))
		folded, streamErr := openFold(openDecoderOf(false, thoughtOpen), string(data), sse.Done)
		if err != nil || streamErr != nil {
			return
		}
		if diff := cmp.Diff(textOf(t, whole), textOf(t, folded)); diff != "" {
			t.Errorf("(-whole +folded)\n%s", diff)
		}
	})
}

func BenchmarkOpenStream(b *testing.B) {
	chunk := []byte(`{"id":"knTM","object":"chat.completion.chunk","created":1758229652,"model":"qwen/qwen3","choices":[{"index":0,"delta":{"content":" word"},"logprobs":null,"finish_reason":null}]}`)
	d := openDecoderOf(false, "")
	b.ReportAllocs()
	for b.Loop() {
		if _, err := d.push(sse.Event{Data: chunk}); err != nil && !errors.Is(err, io.EOF) {
			b.Fatal(err)
		}
	}
}
