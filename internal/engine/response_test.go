package engine

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/catalog"
	"github.com/b650d4bf/gateway/internal/jsonx"
	"github.com/b650d4bf/gateway/internal/sse"
	"github.com/b650d4bf/gateway/providers"
)

// decoderOf returns a decoder for an answer of a model.
func decoderOf(t testing.TB, whole, chained bool) *geminiDecoder {
	t.Helper()
	d, ok := geminiFamily{}.newDecoder(&request{
		model: Model{Name: "m", facts: &catalog.Model{ChainOfThought: chained}}, stream: !whole,
	}, &outgoing{}).(*geminiDecoder)
	if !ok {
		t.Fatal("another decoder")
	}
	return d
}

// foldOf decodes the events and returns the chunks, as JSON, and their fold.
func foldOf(d *geminiDecoder, events ...string) (chunks []string, whole *providers.ChatCompletion, err error) {
	var acc providers.Accumulator
	add := func(list []*providers.ChatCompletionChunk, err error) error {
		for _, c := range list {
			data, fault := json.Marshal(c)
			if fault != nil {
				return fault
			}
			chunks = append(chunks, string(data))
			if fault := acc.Add(c); fault != nil {
				return fault
			}
		}
		return err
	}
	for _, e := range events {
		if err := add(d.push(sse.Event{Data: []byte(e)})); err != nil {
			return chunks, nil, err
		}
	}
	if err := add(d.finish()); err != nil {
		return chunks, nil, err
	}
	return chunks, acc.Completion(), nil
}

// event is a chunk with the parts, and one that finishes when last is set.
func event(last bool, parts ...string) string {
	finish := ""
	if last {
		finish = `,"finishReason":"STOP"`
	}
	return `{"candidates":[{"content":{"parts":[` + strings.Join(parts, ",") + `]}` + finish + `}]}`
}

func TestSignedCallsAreToldOnceAndWhole(t *testing.T) {
	events := []string{
		event(false, `{"functionCall":{"id":"a","name":"f","args":{"x": 1}},"thoughtSignature":"s1"}`),
		event(false, `{"functionCall":{"id":"b","name":"g","args":{}}}`),
		event(false, `{"functionCall":{"id":"c","name":"h","willContinue":true}}`),
		event(false, `{"functionCall":{"partialArgs":[{"jsonPath":"$.x","stringValue":"one ","willContinue":true}],"willContinue":true},"thoughtSignature":"s3"}`),
		event(false, `{"functionCall":{"partialArgs":[{"jsonPath":"$.x","stringValue":"two"}],"willContinue":true},"thoughtSignature":"later"}`),
		event(false, `{"functionCall":{}}`),
		event(true, `{"functionCall":{"id":"d","name":"i","willContinue":true},"thoughtSignature":"s4"}`),
	}
	want := []providers.ToolCall{
		{ID: "a", Type: "function", Function: providers.FunctionCall{Name: "f", Arguments: `{"x":1}`, ThoughtSignature: "s1"}},
		{ID: "c", Type: "function", Function: providers.FunctionCall{Name: "h", Arguments: `{"x":"one two"}`, ThoughtSignature: "s3"}},
		{ID: "d", Type: "function", Function: providers.FunctionCall{Name: "i", Arguments: `{}`, ThoughtSignature: "s4"}},
	}
	d := decoderOf(t, false, false)
	var got []providers.ToolCall
	d.signed = rememberFunc(func(c *providers.ToolCall) { got = append(got, *c) })
	_, whole, err := foldOf(d, events...)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	calls := slices.DeleteFunc(whole.Choices[0].Message.ToolCalls, func(c providers.ToolCall) bool { return c.Function.ThoughtSignature == "" })
	if diff := cmp.Diff(want, calls); diff != "" {
		t.Errorf("the answer differs from what was told (-told +answer)\n%s", diff)
	}
}

func TestStreamedArgumentsBesideWholeOnes(t *testing.T) {
	for _, tt := range []struct {
		name, first, next, want string // want "" is a fault
	}{
		{"none", `"args":{}`, `"args":{}`, `{}`},
		{"first", `"args":{"a": [1, 2]}`, `"partialArgs":[{"jsonPath":"$.b","boolValue":true}]`, `{"a":[1,2],"b":true}`},
		{"next", `"partialArgs":[{"jsonPath":"$.b","boolValue":true}]`, `"args":{"a":1}`, `{"b":true,"a":1}`},
		{"a path into a whole one", `"args":{"a":{"b":1}}`, `"partialArgs":[{"jsonPath":"$.a.c","boolValue":true}]`, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, whole, err := foldOf(decoderOf(t, false, false),
				event(false, `{"functionCall":{"name":"f","willContinue":true,`+tt.first+`}}`),
				event(true, `{"functionCall":{`+tt.next+`}}`))
			if (err != nil) != (tt.want == "") {
				t.Fatal(err)
			}
			if err == nil && whole.Choices[0].Message.ToolCalls[0].Function.Arguments != tt.want {
				t.Errorf("%s, want %s", whole.Choices[0].Message.ToolCalls[0].Function.Arguments, tt.want)
			}
		})
	}
}

func sound(data, mime string) string {
	return `{"inlineData":{"mimeType":"` + mime + `","data":"` + base64.StdEncoding.EncodeToString([]byte(data)) + `"}}`
}

func TestAudioAsAWAVFile(t *testing.T) {
	const pcm = "audio/L16;codec=pcm;rate=16000;channels=2"
	for _, tt := range []struct {
		name   string
		whole  bool
		events []string
	}{
		{"whole", true, []string{event(true, sound("abcdefgh", pcm))}},
		{"several parts", true, []string{event(true, sound("abcd", pcm), sound("efgh", pcm))}},
		{"streamed", false, []string{event(false, sound("a", pcm)), event(false, sound("bcdef", pcm)), event(true, sound("gh", pcm))}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := decoderOf(t, tt.whole, false)
			d.audioFormat = "wav"
			chunks, answer, err := foldOf(d, tt.events...)
			if err != nil {
				t.Fatal(err)
			}
			audio := answer.Choices[0].Message.Audio
			raw, err := base64.StdEncoding.DecodeString(audio.Data)
			if err != nil || audio.MimeType != "audio/wav" {
				t.Fatalf("%v in %s", err, audio.MimeType)
			}
			le := binary.LittleEndian
			want := slices.Concat([]byte("RIFF"), le.AppendUint32(nil, 36+8), []byte("WAVEfmt \x10\x00\x00\x00\x01\x00\x02\x00"),
				le.AppendUint32(nil, 16000), le.AppendUint32(nil, 64000), []byte("\x04\x00\x10\x00data"), le.AppendUint32(nil, 8), []byte("abcdefgh"))
			if diff := cmp.Diff(want, raw); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if n := strings.Count(strings.Join(chunks, ""), "UklGRv////"); n != 1 {
				t.Errorf("%d headers in %s", n, chunks)
			}
		})
	}
}

func TestAudioThatIsNoSamplesStaysAsItIs(t *testing.T) {
	for _, mime := range []string{"audio/wav", "audio/mpeg", "audio/", "audio/L16; rate"} {
		d := decoderOf(t, true, false)
		d.audioFormat = "wav"
		_, answer, err := foldOf(d, event(true, sound("abcdefgh", mime)))
		if err != nil {
			t.Fatal(err)
		}
		if a := answer.Choices[0].Message.Audio; a.MimeType != mime || a.Data != "YWJjZGVmZ2g=" {
			t.Errorf("%s: %+v", mime, a)
		}
	}
}

func TestAudioThatIsNoBase64IsAnError(t *testing.T) {
	d := decoderOf(t, true, false)
	_, _, err := foldOf(d, event(true, sound("a", "audio/L16"), `{"inlineData":{"mimeType":"audio/L16","data":"#"}}`))
	if code(err) != providers.ErrBadResponse {
		t.Errorf("%v", err)
	}
}

func TestAudioOfThoughtsStaysApart(t *testing.T) {
	part := strings.Replace(sound("a", "audio/L16"), `{"inline`, `{"thought":true,"thoughtSignature":"s","inline`, 1)
	signed := strings.Replace(sound("b", "audio/L16"), `{"inline`, `{"thoughtSignature":"t","inline`, 1)
	_, answer, err := foldOf(decoderOf(t, true, false), event(true, part, signed))
	if err != nil {
		t.Fatal(err)
	}
	m := answer.Choices[0].Message
	want := []providers.ContentPart{
		{Type: "thinking", Signature: "s", Extra: providers.Extra(`{"thought_audio":{"url":"data:audio/L16;base64,YQ=="}}`)},
		{Type: "audio", Signature: "t"},
	}
	if diff := cmp.Diff(want, m.ContentBlocks); diff != "" || m.Audio.Data != "Yg==" || !m.Content.IsAbsent() {
		t.Errorf("%+v (-want +got)\n%s", m.Audio, diff)
	}
}

func TestCharactersOfBytes(t *testing.T) {
	for _, texts := range [][]string{
		{""}, {"plain"}, {"é"}, {"Köln", " am Rhein"}, {"日本", "語 text 日", "本"}, {"😀a😀", "é😀"}, {"ab", "", "cdé"},
		{"twelve signs", "eighteen signs, aé"}, {"eight on", "sixteen signs, éé", "日 behind one word"},
	} {
		var m textMap
		all := strings.Join(texts, "")
		for _, text := range texts {
			m.add(text, true)
		}
		for i := range len(all) + 3 {
			at := min(i, len(all))
			for at > 0 && at < len(all) && !utf8.RuneStart(all[at]) {
				at--
			}
			if got, want := m.char(i), utf8.RuneCountInString(all[:at]); got != want {
				t.Errorf("%q: byte %d is character %d, want %d", all, i, got, want)
			}
		}
	}
	var m textMap
	if m.add("only ASCII", true); m.runs != nil {
		t.Error("a plain text costs memory")
	}
}

func TestAnnotationsOfOddMetadata(t *testing.T) {
	const chunk = `"groundingChunks":[{"web":{"uri":"u","title":null}},{},{"image":{"sourceUri":"i"}}]`
	for _, tt := range []struct {
		name, metadata string
		want           int
	}{
		{"nothing", `{}`, 0},
		{"no object", `"groundingMetadata"`, 0},
		{"no supports", `{` + chunk + `}`, 0},
		{"no chunks", `{"groundingSupports":[{"groundingChunkIndices":[0]}]}`, 0},
		{"supports first", `{"groundingSupports":[{"groundingChunkIndices":[0,2]}],` + chunk + `}`, 2},
		{"indices that are none", `{` + chunk + `,"groundingSupports":[{"groundingChunkIndices":[-1,3,1,99999999999999999999]}]}`, 0},
		{"offsets that are none", `{` + chunk + `,"groundingSupports":[{"segment":{"startIndex":-5,"endIndex":99999999999,"partIndex":7},"groundingChunkIndices":["0"]}]}`, 1},
		{"the end before the start", `{` + chunk + `,"groundingSupports":[{"segment":{"startIndex":4,"endIndex":null},"groundingChunkIndices":[0]}]}`, 1},
		{"no segment", `{` + chunk + `,"groundingSupports":[{"segment":null,"groundingChunkIndices":null},null]}`, 0},
		{"very many", `{` + chunk + `,"groundingSupports":[{"groundingChunkIndices":[0` + strings.Repeat(",0", 2*maxAnnotations) + `]}]}`, maxAnnotations},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, whole := range []bool{true, false} {
				_, answer, err := foldOf(decoderOf(t, whole, false),
					`{"candidates":[{"content":{"parts":[{"text":"Grüße!"}]},"finishReason":"STOP","groundingMetadata":`+tt.metadata+`}]}`)
				if err != nil {
					t.Fatal(err)
				}
				list := answer.Choices[0].Message.Annotations
				if len(list) != tt.want {
					t.Fatalf("%d annotations, want %d", len(list), tt.want)
				}
				checkAnnotations(t, &answer.Choices[0].Message)
			}
		})
	}
}

// checkAnnotations looks whether each lies within the content.
func checkAnnotations(t *testing.T, m *providers.Message) {
	t.Helper()
	n := utf8.RuneCountInString(m.Content.Text())
	for _, a := range m.Annotations {
		if u := a.URLCitation; u.StartIndex < 0 || u.EndIndex < u.StartIndex || u.EndIndex > n || u.URL == "" {
			t.Errorf("%+v in %d characters", *u, n)
		}
	}
}

func TestACitationOfAnAnswerBehindItsThought(t *testing.T) {
	for _, whole := range []bool{true, false} {
		_, answer, err := foldOf(decoderOf(t, whole, true), `{"candidates":[{"content":{"parts":[{"text":"Hé.","thought":true},{"text":"Oui."}]},`+
			`"finishReason":"STOP","citationMetadata":{"citations":[{"startIndex":1,"endIndex":4,"uri":"u"}]}}]}`)
		if err != nil {
			t.Fatal(err)
		}
		m := answer.Choices[0].Message
		u := m.Annotations[0].URLCitation
		if got := string([]rune(m.Content.Text())[u.StartIndex:u.EndIndex]); got != "ui." {
			t.Errorf("whole %v: %q of %q", whole, got, m.Content.Text())
		}
	}
}

func FuzzDecoder(f *testing.F) {
	f.Add([]byte(`{"candidates":[{"content":{"parts":[{"text":"a"},{"functionCall":{"name":"f","args":{}}}]},"finishReason":"STOP"}]}`), uint8(1))
	f.Add([]byte(`[{"error":{"code":1}}]`), uint8(0))
	f.Add([]byte(`{"candidates":[{"content":{"parts":{"inlineData":{"data":"\u0041"}}},"index":3}],"usageMetadata":{}}`), uint8(0))
	f.Add([]byte(`{"candidates":[{"content":{"parts":[{"functionCall":{"name":"f","willContinue":true},"thoughtSignature":"s"},{"functionCall":{"partialArgs":[{"jsonPath":"$.a","stringValue":"x"}]}}]},"finishReason":"STOP"}]}`), uint8(2))
	f.Add([]byte(`{"candidates":[{"content":{"parts":[{"inlineData":{"mimeType":"audio/L16;rate=8000","data":"YQ=="}},{"inlineData":{"mimeType":"audio/L16","data":"YWI"}}]},"finishReason":3}]}`), uint8(4))
	f.Add([]byte(`{"candidates":[{"content":{"parts":[{"text":"h","thought":true},{"text":"\u00e9"}]},"finishReason":"STOP","groundingMetadata":{"groundingChunks":[{"web":{"uri":"u"}}],`+
		`"groundingSupports":[{"segment":{"startIndex":1,"endIndex":9},"groundingChunkIndices":[0]}]},"citationMetadata":{"citations":[{"uri":"u"}]},`+
		`"logprobsResult":{"topCandidates":[{"candidates":[{"token":"a"}]}],"chosenCandidates":[]}}]}`), uint8(9))
	for i, odd := range oddAnswers {
		f.Add([]byte(odd.body), uint8(i))
	}
	f.Fuzz(func(t *testing.T, data []byte, options uint8) {
		d := decoderOf(t, options&1 != 0, options&8 != 0)
		told := 0
		if options&2 != 0 {
			d.signed = rememberFunc(func(c *providers.ToolCall) {
				told++
				if c.ID == "" || c.Function.ThoughtSignature == "" || !jsonx.ValidString(c.Function.Arguments) {
					t.Errorf("told of %+v", c)
				}
			})
		}
		if options&4 != 0 {
			d.audioFormat = "wav"
		}
		_, answer, err := foldOf(d, string(data), string(data))
		if err != nil {
			return
		}
		signed := 0
		for i := range answer.Choices {
			m := &answer.Choices[i].Message
			checkAnnotations(t, m)
			for _, c := range m.ToolCalls {
				if !jsonx.ValidString(c.Function.Arguments) {
					t.Errorf("arguments %q", c.Function.Arguments)
				}
				if c.Function.ThoughtSignature != "" {
					signed++
				}
			}
		}
		if options&2 != 0 && told != signed {
			t.Errorf("told of %d signed calls, the answer has %d", told, signed)
		}
	})
}

// FuzzWholeIsTheFold decodes one event as a whole answer and as a stream.
func FuzzWholeIsTheFold(f *testing.F) {
	f.Add([]byte(`{"candidates":[{"content":{"parts":[{"text":"a"},{"text":"b","thoughtSignature":"s"},{"text":"\u00e9","thought":true},{"functionCall":{"id":"i","name":"f","args":{"a":[1 ]}}}]},"finishReason":"STOP"}]}`))
	f.Add([]byte(`{"candidates":[{"content":{"parts":[{"inlineData":{"mimeType":"audio/L16","data":"YQ=="}},{"executableCode":{"code":"1"}}]},"finishReason":"STOP","index":1}],"usageMetadata":{"promptTokenCount":1}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		_, whole, err := foldOf(decoderOf(t, true, false), string(data))
		_, folded, streamErr := foldOf(decoderOf(t, false, false), string(data))
		if err != nil || streamErr != nil || bytes.HasPrefix(bytes.TrimSpace(data), []byte("[")) {
			return
		}
		if diff := cmp.Diff(textOf(t, whole), textOf(t, folded)); diff != "" {
			t.Errorf("(-whole +folded)\n%s", diff)
		}
	})
}

// said is the answer as text, less what is made at random or of the clock. The
// parts that offsets name differ between the two forms: annotations are left.
func textOf(t *testing.T, c *providers.ChatCompletion) string {
	t.Helper()
	c.ID, c.Created = "", 0
	for i := range c.Choices {
		m := &c.Choices[i].Message
		m.Annotations = nil
		if m.Audio != nil {
			m.Audio.ID = ""
		}
		for j := range m.ToolCalls {
			m.ToolCalls[j].ID = ""
		}
	}
	data, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// oddAnswers are bodies that no document promises, with what comes of them: a
// kind of error, or a finish reason.
var oddAnswers = []struct{ body, whole, stream string }{
	{`{"candidates":null}`, "bad_response", "stream_interrupted"},
	{`{"candidates":[]}`, "empty_response", "stream_interrupted"},
	{`{"candidates":[{}]}`, "stop", "stream_interrupted"},
	{`{"usageMetadata":{"promptTokenCount":3}}`, "empty_response", "stream_interrupted"},
	{`{"promptFeedback":{"blockReason":99}}`, "content_filter", "content_filter"},
	{`{"promptFeedback":{"blockReason":"JAILBREAK"},"usageMetadata":{"promptTokenCount":3}}`, "content_filter", "content_filter"},
	{`{"error":{"code":503,"message":"later","status":"UNAVAILABLE"}}`, "service_unavailable", "service_unavailable"},
	{`{"candidates":[{"content":null,"finishReason":"STOP"}]}`, "stop", "stop"},
	{`{"candidates":[{"content":{"parts":null},"finishReason":"STOP"}]}`, "stop", "stop"},
	{`{"candidates":[{"content":{"parts":[null,{},{"text":null},{"functionCall":null},{"inlineData":null}]},"finishReason":999}]}`, "stop", "stop"},
	{`{"candidates":[{"content":{"parts":[{"functionCall":{"name":null,"args":null}},{"functionCall":{"args":{"a":1}}}]},"finishReason":2}]}`, "length", "length"},
	{`{"candidates":[{"content":{"parts":[{"functionCall":{"name":"f","args":null}}]},"finishReason":1}]}`, "tool_calls", "tool_calls"},
	{`{"candidates":[{"content":{"parts":[{"inlineData":{"mimeType":"audio/L16"}}]},"finishReason":"STOP"}]}`, "stop", "stop"},
	{`{"candidates":[{"content":{"parts":"x"},"finishReason":"STOP"}]}`, "bad_response", "bad_response"},
	{`{"candidates":[{"finishReason":-1}],"usageMetadata":null}`, "stop", "stop"},
	{`{"candidates":[{"finishReason":9}]}`, "empty_response", "empty_response"},
	{`{"candidates":[{"content":{"parts":[{"text":"hm","thought":true}]},"finishReason":"MALFORMED_FUNCTION_CALL"}]}`, "empty_response", "empty_response"},
	{`{"candidates":[{"finishReason":"OTHER"}],"promptFeedback":{"blockReason":"OTHER"}}`, "content_filter", "content_filter"},
	{`{"candidates":[{"content":{"parts":[{"text":"hm","thought":true}]}}],"promptFeedback":{"blockReason":"NEW"}}`, "content_filter", "content_filter"},
	{`{"candidates":[{"content":{"parts":[{"text":"a"}]},"finishReason":"STOP"}],"promptFeedback":{"blockReason":"OTHER"}}`, "stop", "stop"},
	{`{"candidates":[{"finishReason":"STOP"}],"usageMetadata":{"promptTokensDetails":null,"candidatesTokensDetails":[null,{"modality":null},{"modality":"SMELL","tokenCount":3}]}}`, "stop", "stop"},
	{`{"candidates":[{"finishReason":"STOP","logprobsResult":{"chosenCandidates":null,"topCandidates":[null,{"candidates":null}]}}]}`, "stop", "stop"},
	{`{"candidates":[{"finishReason":"STOP","logprobsResult":[],"groundingMetadata":[],"citationMetadata":{"citations":{}},"continuationToken":null}]}`, "stop", "stop"},
}

func TestOddAnswers(t *testing.T) {
	for _, tt := range oddAnswers {
		for form, want := range map[bool]string{true: tt.whole, false: tt.stream} {
			_, answer, err := foldOf(decoderOf(t, form, false), tt.body)
			got := string(code(err))
			if err == nil {
				got = answer.Choices[0].FinishReason
			}
			if got != want {
				t.Errorf("%s, whole %v: %s %v, want %s", tt.body, form, got, err, want)
			}
		}
	}
}

func TestWAVHeadersHoldOnlyWhatTheyCan(t *testing.T) {
	for _, mime := range []string{"audio/L16;rate=0;channels=-1", "audio/pcm;rate=99999999999", "audio/L16;rate=1048575;channels=1"} {
		h, ok := wavHeader(mime)
		if !ok || len(h) != 44 || binary.LittleEndian.Uint32(h[4:]) != math.MaxUint32 {
			t.Errorf("%s: %v %q", mime, ok, h)
		}
	}
}

// rememberFunc is a function that is told of signed calls.
type rememberFunc func(*providers.ToolCall)

func (f rememberFunc) remember(c *providers.ToolCall) { f(c) }

func TestWhatWasReadFromACacheIsNotForgotten(t *testing.T) {
	_, answer, err := foldOf(decoderOf(t, false, false),
		`{"candidates":[{"content":{"parts":[{"text":"a"}]}}],"usageMetadata":{"promptTokenCount":50,"cachedContentTokenCount":40,"totalTokenCount":50}}`,
		`{"candidates":[{"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":50,"candidatesTokenCount":2,"totalTokenCount":52}}`)
	if err != nil || answer.Usage.PromptTokensDetails.CachedTokens != 40 || answer.Usage.TotalTokens != 52 {
		t.Errorf("%+v, %v", answer, err)
	}
}
