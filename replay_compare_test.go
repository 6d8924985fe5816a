package gateway_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway"
	"github.com/b650d4bf/gateway/providers"
)

// expectation is what a client must see of an exchange.
type expectation struct {
	wantChoice
	ID             string     `json:"id"`
	Outcome        string     `json:"outcome"`
	AcceptOutcomes []string   `json:"accept_outcomes"`
	Usage          *wantUsage `json:"usage"`
	Error          *wantError `json:"error"`
	ResponseModel  string     `json:"response_model"`
	// Choices are given when there are several.
	Choices []wantChoice `json:"choices"`
	// Embeddings are those of an answer with vectors.
	Embeddings *wantVectors `json:"embeddings"`
}

// wantChoice is what a client must see of one choice.
type wantChoice struct {
	Text          string         `json:"text"`
	TextSegments  []string       `json:"text_segments"`
	Thinking      string         `json:"thinking"`
	Signatures    []string       `json:"thinking_signatures"`
	ToolCalls     []wantCall     `json:"tool_calls"`
	FinishAccept  []*string      `json:"finish_reason_accept"`
	FinishRaw     any            `json:"finish_reason_raw"`
	Images        []wantData     `json:"images"`
	ThoughtImages []wantData     `json:"thought_images"`
	Audio         []wantData     `json:"audio"`
	OtherMedia    []wantData     `json:"other_media"`
	Code          []wantCode     `json:"code_execution"`
	ServerTools   []string       `json:"server_tools"`
	Citations     []wantCitation `json:"citations"`
	Logprobs      *wantLogprobs  `json:"logprobs"`
	Blocked       *string        `json:"blocked"`
	Refusal       *string        `json:"refusal"`
}

type wantCall struct {
	Name      string          `json:"name"`
	ID        string          `json:"id"`
	Arguments json.RawMessage `json:"arguments"`
	Signature string          `json:"thought_signature"`
}

type wantUsage struct {
	Prompt, Completion, Total, Reasoning, Cached int64
}

func (u *wantUsage) UnmarshalJSON(data []byte) error {
	var v map[string]any
	if err := json.Unmarshal(data, &v); err != nil {
		return err
	}
	n := func(k string) int64 { f, _ := v[k].(float64); return int64(f) }
	*u = wantUsage{n("prompt_tokens"), n("completion_tokens"), n("total_tokens"), n("reasoning_tokens"), n("cached_tokens")}
	return nil
}

type wantData struct {
	Mime   string `json:"mime"`
	SHA256 string `json:"sha256"`
	URI    string `json:"uri"`
}

// wantCode is code that the platform ran, or what came of it.
type wantCode struct {
	Language, Code  string
	Outcome, Output string
}

type wantCitation struct {
	URL   string `json:"url"`
	Title string `json:"title"`
}

type wantLogprobs struct {
	Count        int     `json:"count"`
	FirstToken   string  `json:"first_token"`
	FirstLogprob float64 `json:"first_logprob"`
	Sum          float64 `json:"sum"`
}

type wantError struct {
	Status     int    `json:"status"`
	Message    string `json:"message"`
	RetryAfter string `json:"retry_after"`
}

func compareError(t *testing.T, want *expectation, err error) {
	t.Helper()
	if want.Outcome != "error" && !slices.Contains(want.AcceptOutcomes, "error") {
		t.Fatalf("%v, want %s", err, want.Outcome)
	}
	var e *gateway.Error
	if !errors.As(err, &e) {
		t.Fatalf("%T, want *gateway.Error", err)
	}
	if want.Blocked != nil && want.Outcome == "completion" {
		if e.Code != gateway.ErrContentFilter || e.NativeStatus != *want.Blocked {
			t.Errorf("%s (%s), want it blocked by %s", e.Code, e.NativeStatus, *want.Blocked)
		}
		if want.Refusal != nil && !strings.Contains(e.Message, *want.Refusal) {
			t.Errorf("message %q, want %q in it", e.Message, *want.Refusal)
		}
	}
	if want.Outcome != "error" {
		return
	}
	if e.HTTPStatus() != want.Error.Status {
		t.Errorf("status %d, want %d", e.HTTPStatus(), want.Error.Status)
	}
	if !strings.Contains(e.Message, want.Error.Message) {
		t.Errorf("message %q, want %q in it", e.Message, want.Error.Message)
	}
	if want.Error.RetryAfter != "" && e.RetryAfter.String() != want.Error.RetryAfter {
		t.Errorf("retry after %v, want %s", e.RetryAfter, want.Error.RetryAfter)
	}
}

func compareAnswer(t *testing.T, want *expectation, got *gateway.ChatCompletion) {
	t.Helper()
	compareUsage(t, want.Usage, got.Usage)
	if want.ResponseModel != "" && got.Model != want.ResponseModel {
		t.Errorf("model %q, want %q", got.Model, want.ResponseModel)
	}
	choices := want.Choices
	if len(choices) == 0 {
		choices = []wantChoice{want.wantChoice}
	}
	if len(got.Choices) != len(choices) {
		t.Fatalf("%d choices, want %d", len(got.Choices), len(choices))
	}
	for i := range choices {
		compareChoice(t, &choices[i], &got.Choices[i])
	}
}

func compareChoice(t *testing.T, want *wantChoice, c *gateway.Choice) {
	t.Helper()
	if text := c.Message.Content.Text(); text != want.Text {
		t.Errorf("text %q, want %q", text, want.Text)
	}
	compareBlocks(t, want, c.Message.ContentBlocks)
	compareCalls(t, want.ToolCalls, c.Message.ToolCalls)
	if !slices.ContainsFunc(want.FinishAccept, func(f *string) bool { return f != nil && *f == c.FinishReason }) {
		t.Errorf("finish reason %q is not accepted", c.FinishReason)
	}
	if raw, ok := want.FinishRaw.(string); ok && raw != c.NativeFinishReason {
		t.Errorf("native finish reason %q, want %q", c.NativeFinishReason, raw)
	}
	if want.Blocked != nil && c.FinishReason != providers.FinishContentFilter {
		t.Errorf("finish reason %q, want it blocked by %s", c.FinishReason, *want.Blocked)
	}
	if want.Refusal != nil {
		raw, _ := c.Extra.Get("finish_message")
		var text string
		if _ = json.Unmarshal(raw, &text); text != *want.Refusal {
			t.Errorf("finish message %s, want %q", raw, *want.Refusal)
		}
	}
	compareAudio(t, want.Audio, c.Message.Audio)
	compareLogprobs(t, want.Logprobs, c.Logprobs)
	compareCitations(t, want.Citations, c)
}

// seen is what content blocks hold, sorted by kind.
type seen struct {
	Thinking                          string
	Segments                          []string
	Signatures                        []string
	Images, ThoughtImages, OtherMedia []wantData
	Code                              []wantCode
	ServerTools                       []string
}

func compareBlocks(t *testing.T, want *wantChoice, blocks []gateway.ContentPart) {
	t.Helper()
	var got seen
	open := false
	for i := range blocks {
		b := &blocks[i]
		got.Thinking += b.Thinking
		if b.Signature != "" {
			got.Signatures = append(got.Signatures, b.Signature)
		}
		switch {
		case b.Type == providers.PartText && b.Text == "", b.Type == providers.PartThinking && b.Thinking == "" && len(b.Extra) == 0:
		case b.Type == providers.PartText && open:
			got.Segments[len(got.Segments)-1] += b.Text
		default:
			open = b.Type == providers.PartText
			got.sort(t, b)
		}
	}
	if len(want.ToolCalls)+len(want.Audio) > 0 { // they cut texts, and are no blocks
		got.Segments, want.TextSegments = nil, nil
	}
	wantSeen := seen{
		Thinking: want.Thinking, Segments: want.TextSegments, Signatures: want.Signatures, Images: want.Images,
		ThoughtImages: want.ThoughtImages, OtherMedia: want.OtherMedia, Code: want.Code, ServerTools: want.ServerTools,
	}
	if diff := cmp.Diff(fmt.Sprintf("%+v", wantSeen), fmt.Sprintf("%+v", got)); diff != "" {
		t.Errorf("content blocks (-want +got)\n%s", diff)
	}
}

// sort adds a block that is neither empty nor the rest of a text.
func (s *seen) sort(t *testing.T, b *gateway.ContentPart) {
	t.Helper()
	switch b.Type {
	case providers.PartText:
		s.Segments = append(s.Segments, b.Text)
	case providers.PartThinking:
		for _, raw := range b.Extra.All() {
			var u struct{ URL string }
			if err := json.Unmarshal(raw, &u); err != nil {
				t.Errorf("%s: %v", raw, err)
			}
			s.ThoughtImages = append(s.ThoughtImages, dataOf(t, u.URL, ""))
		}
	case providers.PartImageURL:
		d := dataOf(t, b.ImageURL.URL, b.ImageURL.MimeType)
		if strings.HasPrefix(d.Mime, "image/") {
			s.Images = append(s.Images, d)
		} else {
			s.OtherMedia = append(s.OtherMedia, d)
		}
	case "executable_code", "code_execution_result":
		for _, raw := range b.Extra.All() {
			var c wantCode
			if err := json.Unmarshal(raw, &c); err != nil {
				t.Errorf("%s: %v", raw, err)
			}
			s.Code = append(s.Code, c)
		}
	case "tool_call":
		raw, _ := b.Extra.Get("toolCall")
		var c struct{ ToolType string }
		if err := json.Unmarshal(raw, &c); err != nil {
			t.Errorf("%s: %v", raw, err)
		}
		s.ServerTools = append(s.ServerTools, c.ToolType)
	case "tool_response", "audio":
	default:
		if !s.sortClaude(t, b) {
			t.Errorf("a block of type %q", b.Type)
		}
	}
}

// dataOf reads a URL of a block as the oracle does.
func dataOf(t *testing.T, url, mime string) wantData {
	t.Helper()
	head, data, inline := strings.Cut(url, ";base64,")
	if !inline {
		return wantData{Mime: mime, URI: url}
	}
	return wantData{Mime: strings.TrimPrefix(head, "data:"), SHA256: hashOf(t, data)}
}

func hashOf(t *testing.T, data string) string {
	t.Helper()
	raw, err := base64.StdEncoding.DecodeString(data)
	if err != nil {
		t.Errorf("no base64: %v", err)
	}
	return fmt.Sprintf("%x", sha256.Sum256(raw))
}

// compareAudio compares audio of one piece by its hash; the pieces of several
// are one in the answer.
func compareAudio(t *testing.T, want []wantData, got *providers.Audio) {
	t.Helper()
	if (len(want) == 0) != (got == nil) {
		t.Errorf("audio %v, want %v", got, want)
		return
	}
	if got == nil {
		return
	}
	hash := hashOf(t, got.Data)
	if got.ID == "" || got.MimeType != want[0].Mime || len(want) == 1 && hash != want[0].SHA256 {
		t.Errorf("audio %s of %s, want %v", hash, got.MimeType, want)
	}
}

func compareLogprobs(t *testing.T, want *wantLogprobs, got *providers.Logprobs) {
	t.Helper()
	if want == nil || got == nil {
		if want != nil || got != nil && len(got.Content) > 0 {
			t.Errorf("logprobs %v, want %v", got, want)
		}
		return
	}
	g := wantLogprobs{Count: len(got.Content), FirstToken: got.Content[0].Token, FirstLogprob: got.Content[0].Logprob}
	for _, token := range got.Content {
		g.Sum += token.Logprob
	}
	g.Sum = math.Round(g.Sum*1e6) / 1e6
	if g != *want {
		t.Errorf("logprobs %+v, want %+v", g, *want)
	}
}

// compareCitations looks for each source in the native members, and at the
// annotations that are made of them.
func compareCitations(t *testing.T, want []wantCitation, c *gateway.Choice) {
	t.Helper()
	type chunk struct{ URI, Title string }
	var grounding struct {
		GroundingChunks   []map[string]json.RawMessage
		GroundingSupports []struct {
			Segment               struct{ Text string }
			GroundingChunkIndices []int
		}
	}
	var cited struct{ Citations []chunk }
	for name, into := range map[string]any{"groundingMetadata": &grounding, "citationMetadata": &cited} {
		if raw, ok := c.Extra.Get(name); ok {
			if err := json.Unmarshal(raw, into); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	var native []wantCitation
	for _, kinds := range grounding.GroundingChunks {
		for _, raw := range kinds {
			var s chunk
			if err := json.Unmarshal(raw, &s); err != nil {
				t.Error(err)
			}
			native = append(native, wantCitation{s.URI, s.Title})
		}
	}
	places := []string{}
	for _, s := range grounding.GroundingSupports {
		for _, i := range s.GroundingChunkIndices {
			if i < len(native) && native[i].URL != "" {
				places = append(places, native[i].URL+": "+s.Segment.Text)
			}
		}
	}
	for _, s := range cited.Citations {
		native = append(native, wantCitation{s.URI, s.Title})
	}
	native = append(native, claudeCitations(t, c.Message.ContentBlocks)...)
	if !slices.Equal(native, want) {
		t.Errorf("native sources %v, want %v", native, want)
	}
	text := []rune(c.Message.Content.Text())
	for i, a := range c.Message.Annotations {
		u := a.URLCitation
		if !slices.Contains(want, wantCitation{u.URL, u.Title}) {
			t.Errorf("annotation of %s, want one of %v", u.URL, want)
		}
		if place := u.URL + ": " + string(text[u.StartIndex:u.EndIndex]); i < len(places) && place != places[i] {
			t.Errorf("annotation %d of %q, want %q", i, place, places[i])
		}
	}
	if n := len(c.Message.Annotations); n < len(places) {
		t.Errorf("%d annotations, want at least %d", n, len(places))
	}
}

func compareCalls(t *testing.T, want []wantCall, got []gateway.ToolCall) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d tool calls, want %d", len(got), len(want))
	}
	ids := map[string]bool{}
	for i, w := range want {
		g := &got[i]
		if g.ID == "" || ids[g.ID] || w.ID != "" && g.ID != w.ID {
			t.Errorf("call %d: id %q, want %q and unique", i, g.ID, w.ID)
		}
		ids[g.ID] = true
		var a, b any
		if err := errors.Join(json.Unmarshal([]byte(g.Function.Arguments), &a), json.Unmarshal(w.Arguments, &b)); err != nil {
			t.Errorf("call %d: arguments %q: %v", i, g.Function.Arguments, err)
		}
		if g.Function.Name != w.Name || !reflect.DeepEqual(a, b) {
			t.Errorf("call %d: %s(%s), want %s(%s)", i, g.Function.Name, g.Function.Arguments, w.Name, w.Arguments)
		}
		if g.Function.ThoughtSignature != w.Signature {
			t.Errorf("call %d: signature %q, want %q", i, g.Function.ThoughtSignature, w.Signature)
		}
	}
}

func compareUsage(t *testing.T, want *wantUsage, got *gateway.Usage) {
	t.Helper()
	if want == nil || got == nil {
		if (want == nil) != (got == nil) {
			t.Errorf("usage %v, want %v", got, want)
		}
		return
	}
	g := wantUsage{
		got.PromptTokens, got.CompletionTokens, got.TotalTokens,
		got.CompletionTokensDetails.ReasoningTokens, got.PromptTokensDetails.CachedTokens,
	}
	if g != *want {
		t.Errorf("usage %s, want %s", fmt.Sprint(g), fmt.Sprint(*want))
	}
}
