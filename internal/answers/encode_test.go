package answers

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/b650d4bf/gateway/cache"
	"github.com/b650d4bf/gateway/providers"
)

var note = Kept{Took: 1500 * time.Millisecond, Warnings: []providers.Warning{{Code: "c", Param: "p", Message: "m"}}}

func TestKeptAnswersComeBackWhole(t *testing.T) {
	t.Run("chat, with every member set", func(t *testing.T) {
		want := full[providers.ChatCompletion](t)
		got, k, err := DecodeChat(EncodeChat(&note, want))
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Error(d)
		}
		if d := cmp.Diff(note, k); d != "" {
			t.Error(d)
		}
	})
	t.Run("chat, with several of everything", func(t *testing.T) {
		one := full[providers.ChatCompletion](t)
		want := *one
		c := one.Choices[0]
		c.Message.ToolCalls = append(c.Message.ToolCalls, c.Message.ToolCalls...)
		c.Message.ContentBlocks = append(c.Message.ContentBlocks, c.Message.ContentBlocks...)
		c.Message.Content = providers.TextContent(strings.Repeat("long ", 10_000))
		want.Choices = append(want.Choices, c, providers.Choice{Index: 2})
		got, _, err := DecodeChat(EncodeChat(&note, &want))
		if d := cmp.Diff(&want, got); d != "" || err != nil {
			t.Error(err, d)
		}
	})
	t.Run("embeddings", func(t *testing.T) {
		want := full[providers.EmbeddingResponse](t)
		want.EncodingFormat = ""
		got, k, err := DecodeEmbedding(EncodeEmbedding(&note, want))
		if d := cmp.Diff(want, got); d != "" || err != nil {
			t.Error(err, d)
		}
		if d := cmp.Diff(note, k); d != "" {
			t.Error(d)
		}
	})
	t.Run("any other", func(t *testing.T) {
		body, err := EncodeJSON(&note, []byte(`{"a":1}`), nil)
		if err != nil {
			t.Fatal(err)
		}
		got, k, err := DecodeJSON(body)
		if string(got) != `{"a":1}` || err != nil || !cmp.Equal(note, k) {
			t.Errorf("%s, %v, %v", got, k, err)
		}
	})
}

func TestBrokenAnswersAreCorrupt(t *testing.T) {
	body := EncodeChat(&note, full[providers.ChatCompletion](t))
	for n := range body {
		if _, _, err := DecodeChat(body[:n]); !errors.Is(err, cache.ErrCorrupt) {
			t.Fatalf("cut at %d: %v", n, err)
		}
	}
	if _, _, err := DecodeChat(append(slices.Clip(body), 0)); !errors.Is(err, cache.ErrCorrupt) {
		t.Errorf("with a byte too many: %v", err)
	}
	if _, _, err := DecodeEmbedding(body); !errors.Is(err, cache.ErrCorrupt) {
		t.Errorf("of another kind: %v", err)
	}
	other := append([]byte{bodyVersion + 1}, body[1:]...)
	if _, _, err := DecodeChat(other); !errors.Is(err, cache.ErrCorrupt) {
		t.Errorf("of another version: %v", err)
	}
}

// FuzzDecode sees to it that nothing that a store may return breaks the reader, and
// that what it takes for an answer is written again alike.
func FuzzDecode(f *testing.F) {
	answer := &providers.ChatCompletion{ID: "i", Choices: []providers.Choice{{Message: providers.AssistantMessage("hi"), FinishReason: "stop"}}, Usage: &providers.Usage{TotalTokens: 3}}
	f.Add(EncodeChat(&note, answer))
	f.Add(EncodeEmbedding(&note, &providers.EmbeddingResponse{Data: []providers.Embedding{{Embedding: []float64{1, 2}}}}))
	f.Fuzz(func(t *testing.T, body []byte) {
		if out, k, err := DecodeChat(body); err == nil {
			again, _, err := DecodeChat(EncodeChat(&k, out))
			if d := cmp.Diff(out, again, cmpopts.EquateEmpty(), cmpopts.EquateNaNs()); d != "" || err != nil {
				t.Error(err, d)
			}
		} else if !errors.Is(err, cache.ErrCorrupt) {
			t.Error(err)
		}
		if _, _, err := DecodeEmbedding(body); err != nil && !errors.Is(err, cache.ErrCorrupt) {
			t.Error(err)
		}
	})
}

// fold is the answer that chunks make, for one who changes them as a projection may.
func fold(t *testing.T, chunks []*providers.ChatCompletionChunk) *providers.ChatCompletion {
	t.Helper()
	var acc providers.Accumulator
	for _, c := range chunks {
		if err := acc.Add(Clone(c)); err != nil {
			t.Fatal(err)
		}
	}
	return acc.Completion()
}

func TestReplayFoldsToTheAnswer(t *testing.T) {
	long := strings.Repeat("Les élèves étudient à l'école. ", 400)
	text := func(blocks ...providers.ContentPart) providers.Message {
		m := providers.AssistantMessage("")
		m.ContentBlocks = blocks
		return m
	}
	thinking := text(providers.ThinkingPart("let me see, what is it", "sig"), providers.TextPart(long))
	thinking.Content = providers.TextContent(long)
	inContent := text(providers.ContentPart{Type: providers.PartThinking, Thinking: "let me see"}, providers.TextPart("the answer"))
	inContent.Content = providers.TextContent("let me see\r\n\r\nthe answer")
	apart := text(providers.TextPart("something else"))
	apart.Content = providers.TextContent("what a guard wrote")
	calls := providers.Message{Role: "assistant", ToolCalls: []providers.ToolCall{
		{ID: "1", Type: "function", Function: providers.FunctionCall{Name: "f", Arguments: `{"text":"` + long + `"}`, ThoughtSignature: "s1"}},
		{ID: "2", Type: "function", Function: providers.FunctionCall{Name: "g", Arguments: "{}", ThoughtSignature: "s2"}},
	}}
	picture := text(providers.TextPart("here it is: "), providers.ImagePart("data:image/png;base64,AAAA"), providers.TextPart("like it?"), providers.ContentPart{Type: providers.PartRedactedThinking, Data: "opaque"})
	picture.Content = providers.TextContent("here it is: like it?")
	spoken := providers.Message{Role: "assistant", Audio: &providers.Audio{ID: "a", Data: "AAAA", Transcript: "hello"}}
	cited := providers.AssistantMessage("as they say")
	cited.Annotations = []providers.Annotation{{Type: "url_citation", URLCitation: &providers.URLCitation{URL: "https://a.example", EndIndex: 3}}}
	for name, m := range map[string]providers.Message{
		"a text": providers.AssistantMessage("hello"), "a long text": providers.AssistantMessage(long), "nothing": providers.AssistantMessage(""),
		"thinking and text": thinking, "thinking within the content": inContent, "blocks beside the content": apart,
		"tool calls": calls, "images": picture, "audio": spoken, "citations": cited,
		"no spaces": providers.AssistantMessage(strings.Repeat("漢字", 1000)), "not even UTF-8": providers.AssistantMessage(strings.Repeat("\x80", 1000)),
	} {
		t.Run(name, func(t *testing.T) {
			want := &providers.ChatCompletion{
				ID: "id", Created: 7, Model: "m", Provider: "vertex-ai", Usage: &providers.Usage{TotalTokens: 5}, Extra: providers.Extra(`{"a":1}`),
				Choices: []providers.Choice{
					{Message: m, FinishReason: "stop", NativeFinishReason: "STOP", Extra: providers.Extra(`{"safetyRatings":[]}`), Logprobs: &providers.Logprobs{Content: []providers.TokenLogprob{{Token: "t"}}}},
					{Index: 1, Message: m, FinishReason: "stop"},
				},
			}
			chunks := Chunks(want)
			if d := cmp.Diff(want, fold(t, chunks), cmpopts.IgnoreFields(providers.ChatCompletion{}, "Meta")); d != "" {
				t.Error(d)
			}
			checkShape(t, want, chunks)
		})
	}
}

// checkShape sees to it that a stream looks like one of a model.
func checkShape(t *testing.T, a *providers.ChatCompletion, chunks []*providers.ChatCompletionChunk) {
	t.Helper()
	roles, ends := map[int]int{}, map[int]int{}
	for i, c := range chunks {
		if (c.Meta != nil) != (i == 0) {
			t.Errorf("chunk %d of %d has a Meta", i, len(chunks))
		}
		if (c.Usage != nil) != (i == len(chunks)-1 && a.Usage != nil) {
			t.Errorf("chunk %d of %d has the usage", i, len(chunks))
		}
		for j := range c.Choices {
			if c.Choices[j].Delta.Role != "" {
				roles[c.Choices[j].Index]++
			}
			if c.Choices[j].FinishReason != "" {
				ends[c.Choices[j].Index]++
			}
		}
	}
	for i := range a.Choices {
		if roles[i] != 1 || ends[i] != 1 {
			t.Errorf("choice %d has %d roles and %d ends", i, roles[i], ends[i])
		}
	}
	if n := len(a.Text()); n > 2*pieceSize && len(chunks) < 4 {
		t.Errorf("%d bytes come in %d chunks", n, len(chunks))
	}
	if len(chunks) > 8*maxPieces {
		t.Errorf("%d chunks", len(chunks))
	}
}

func TestPiecesAreTheText(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		b := make([]byte, r.IntN(300))
		for i := range b {
			b[i] = "ab \n\xc3\xa9\xff"[r.IntN(7)]
		}
		text, whole, n := string(b), "", 0
		for rest := text; rest != ""; n++ {
			var piece string
			piece, rest = cutAt(rest, pieceSize)
			if whole += piece; piece == "" {
				t.Fatalf("an empty piece of %q", text)
			}
		}
		if whole != text {
			t.Fatalf("%q became %q", text, whole)
		}
	}
}

func TestRules(t *testing.T) {
	tool := func(kind, name string) *providers.ChatCompletionRequest {
		q := hello()
		q.Tools = []providers.Tool{{Type: kind, Function: providers.FunctionDefinition{Name: name}}}
		return q
	}
	extra := func(text string) *providers.ChatCompletionRequest {
		q := hello()
		q.Extra = providers.Extra(text)
		return q
	}
	hot := hello()
	hot.Temperature = new(0.7)
	remote := hello()
	remote.Messages[1] = providers.UserMessage([]providers.ContentPart{providers.ImagePart("https://a.example/b.png")})
	cool := &Rules{MaxTemperature: new(0.5)}
	for name, tt := range map[string]struct {
		q     *providers.ChatCompletionRequest
		rules *Rules
		out   bool
	}{
		"an ordinary one": {hello(), nil, false}, "a function of the caller": {tool("function", "weather"), nil, false},
		"web_search": {tool("function", "web_search"), nil, true}, "google_search": {tool("google_search", ""), nil, true},
		"url_context": {tool("url_context", ""), nil, true}, "code_execution": {tool("code_execution", ""), nil, true},
		"web_search, wanted": {tool("function", "web_search"), &Rules{PlatformTools: true}, false},
		"web_search_options": {extra(`{"web_search_options":{}}`), nil, true},
		"google tools":       {extra(`{"google":{"tools":[]}}`), nil, true}, "other google members": {extra(`{"google":{"a":1}}`), nil, false},
		"previous_response_id": {extra(`{"previous_response_id":"x"}`), nil, true}, "store": {extra(`{"store":true}`), nil, true}, "no store": {extra(`{"store":false}`), nil, false},
		"state, wanted":       {extra(`{"store":true}`), &Rules{Stateful: true}, false},
		"a temperature":       {hot, nil, false},
		"a high temperature":  {hot, cool, true},
		"none at all":         {hello(), cool, true},
		"media by URL":        {remote, nil, false},
		"unwanted":            {remote, &Rules{RemoteMediaOff: true}, true},
		"text where URLs are": {hello(), &Rules{RemoteMediaOff: true}, false},
	} {
		if tt.rules == nil {
			tt.rules = new(Rules)
		}
		if got := tt.rules.Request(tt.q); (got != "") != tt.out {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestAnswersThatAreKept(t *testing.T) {
	ended := func(reasons ...string) *providers.ChatCompletion {
		c := new(providers.ChatCompletion)
		for i, r := range reasons {
			c.Choices = append(c.Choices, providers.Choice{Index: i, FinishReason: r})
		}
		return c
	}
	grounded := ended("stop")
	grounded.Choices[0].Extra = providers.Extra(`{"groundingMetadata":{"webSearchQueries":["x"]}}`)
	empty := ended("stop")
	empty.Choices[0].Extra = providers.Extra(`{"groundingMetadata":{}}`)
	cited := ended("stop")
	cited.Choices[0].Message.Annotations = []providers.Annotation{{Type: "url_citation"}}
	for name, tt := range map[string]struct {
		c     *providers.ChatCompletion
		rules Rules
		kept  bool
	}{
		"stop": {ended("stop"), Rules{}, true}, "tool_calls": {ended("tool_calls"), Rules{}, true}, "both": {ended("stop", "tool_calls"), Rules{}, true},
		"length": {ended("length"), Rules{}, false}, "one of two": {ended("stop", "length"), Rules{}, false}, "length, wanted": {ended("length"), Rules{Truncated: true}, true},
		"content_filter": {ended("content_filter"), Rules{Truncated: true, PlatformTools: true, Stateful: true}, false},
		"none":           {ended(""), Rules{}, false}, "no choice": {ended(), Rules{}, false},
		"grounded": {grounded, Rules{}, false}, "grounded, wanted": {grounded, Rules{PlatformTools: true}, true}, "grounded by nothing": {empty, Rules{}, true}, "cited": {cited, Rules{}, false},
	} {
		if got := tt.rules.Answer(tt.c); (got == "") != tt.kept {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func BenchmarkDecodeChat(b *testing.B) {
	body := EncodeChat(&Kept{}, &providers.ChatCompletion{
		ID: "id", Model: "m", Provider: "vertex-ai", Usage: &providers.Usage{TotalTokens: 5},
		Choices: []providers.Choice{{Message: providers.AssistantMessage(strings.Repeat("hello ", 50)), FinishReason: "stop"}},
	})
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := DecodeChat(body); err != nil {
			b.Fatal(err)
		}
	}
}

func TestOtherAnswersAreAllInTheirJSON(t *testing.T) {
	images, again := full[providers.ImageResponse](t), new(providers.ImageResponse)
	data, err := images.MarshalJSON()
	if err == nil {
		err = again.UnmarshalJSON(data)
	}
	if d := cmp.Diff(images, again); d != "" || err != nil {
		t.Error(err, d)
	}
	rerank, other := full[providers.RerankResponse](t), new(providers.RerankResponse)
	if data, err = rerank.MarshalJSON(); err == nil {
		err = other.UnmarshalJSON(data)
	}
	if d := cmp.Diff(rerank, other); d != "" || err != nil {
		t.Error(err, d)
	}
}

func TestMembersBeyondTheSchemaAreTheCallersOwn(t *testing.T) {
	long := providers.Extra(`{"long":"` + strings.Repeat("x", extraRoom) + `"}`)
	want := &providers.ChatCompletion{
		ID: "id", Extra: providers.Extra(`{"a":1}`),
		Usage:   &providers.Usage{Extra: providers.Extra(`{"b":2}`), PromptTokensDetails: providers.PromptTokensDetails{Extra: long}},
		Choices: []providers.Choice{{Extra: providers.Extra(`{"c":3}`)}},
	}
	body := EncodeChat(&Kept{}, want)
	before := string(body)
	got, _, err := DecodeChat(body)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(providers.Content{})); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	_ = append(got.Extra, "grown"...)
	clear(got.Usage.PromptTokensDetails.Extra)
	clear(got.Extra)
	if diff := cmp.Diff([]string{`{"b":2}`, `{"c":3}`}, []string{string(got.Usage.Extra), string(got.Choices[0].Extra)}); diff != "" {
		t.Errorf("one changes the other (-want +got)\n%s", diff)
	}
	if before != string(body) {
		t.Error("the kept answer changed")
	}
}
