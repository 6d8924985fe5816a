package anthropic_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

// Documents, images and search results reach a Claude model as they are, in
// messages and in the results of tools.
func TestClaudeMedia(t *testing.T) {
	cites := anthropic.CitationsConfigParam{Enabled: anthropic.Bool(true)}
	report := anthropic.NewDocumentBlock(anthropic.Base64PDFSourceParam{Data: pdf})
	report.OfDocument.Title, report.OfDocument.Context = anthropic.String("A report"), anthropic.String("of 2026")
	report.OfDocument.Citations = cites
	report.OfDocument.CacheControl = anthropic.NewCacheControlEphemeralParam()
	letter := anthropic.NewDocumentBlock(anthropic.PlainTextSourceParam{Data: "héllo"})
	letter.OfDocument.Citations = cites
	list := anthropic.NewDocumentBlock(anthropic.ContentBlockSourceParam{Content: anthropic.ContentBlockSourceContentUnionParam{
		OfContentBlockSourceContent: []anthropic.ContentBlockSourceContentItemUnionParam{{OfText: &anthropic.TextBlockParam{Text: "One."}}},
	}})
	found := anthropic.NewSearchResultBlock([]anthropic.TextBlockParam{{Text: "found"}}, "https://example.com", "A page")
	image := anthropic.NewImageBlockBase64("image/png", pixel)
	result := anthropic.ContentBlockParamUnion{OfToolResult: &anthropic.ToolResultBlockParam{
		ToolUseID: "toolu_1", IsError: anthropic.Bool(true), Content: []anthropic.ToolResultBlockParamContentUnion{
			{OfText: &anthropic.TextBlockParam{Text: "as shown"}}, {OfImage: image.OfImage}, {OfDocument: report.OfDocument}, {OfSearchResult: found.OfSearchResult},
		},
	}}
	for _, model := range []string{haiku45, opus46, sonnet55} {
		s := start(t)
		params := askWeather(model, "Look!")
		params.Messages[0].Content = append(params.Messages[0].Content, image, report, letter, list, found)
		params.Messages = append(params.Messages,
			anthropic.NewAssistantMessage(anthropic.NewTextBlock("Let me see."), anthropic.NewToolUseBlock("toolu_1", map[string]string{"city": "Rome"}, "get_weather")),
			anthropic.NewUserMessage(result))
		if _, warnings := s.answer(t, false, params); warnings != "" {
			t.Errorf("%s: warnings %s", model, warnings)
		}
		s.wantSentAsIs(t, params)
	}
}

// What the platform does not fetch is refused before anything is sent.
func TestClaudeTakesNoURLs(t *testing.T) {
	s := start(t)
	params := ask(haiku45, "Look!")
	params.Messages[0].Content = append(params.Messages[0].Content, anthropic.NewImageBlock(anthropic.URLImageSourceParam{URL: "https://example.com/a.png"}))
	_, err := s.Messages.New(t.Context(), params)
	e, ok := errors.AsType[*anthropic.Error](err)
	if !ok || e.StatusCode != 400 || e.Type() != "invalid_request_error" || !strings.Contains(e.RawJSON(), "messages[0].content[1].source") {
		t.Errorf("error %v", err)
	}
	if n := len(s.platform.Requests()); n != 0 {
		t.Errorf("%d requests were sent", n)
	}
}

// The citations of an answer, each after its kind, come in the block that cites.
func TestClaudeCites(t *testing.T) {
	const (
		page  = `{"type":"page_location","cited_text":"The sky is blue.","document_index":0,"document_title":"A report","start_page_number":3,"end_page_number":4,"file_id":null}`
		chars = `{"type":"char_location","cited_text":"héllo","document_index":1,"document_title":null,"start_char_index":0,"end_char_index":5,"file_id":null}`
		head  = `"id":"msg_1","type":"message","role":"assistant","model":"claude-haiku-4-5-20251001"`
		usage = `{"input_tokens":9,"output_tokens":5}`
	)
	whole := vertextest.JSON(200, `{`+head+`,"content":[{"type":"text","text":"As said, "},{"type":"text","text":"it is blue","citations":[`+page+`,`+chars+`]},{"type":"text","text":"."}],
		"stop_reason":"end_turn","stop_sequence":null,"usage":`+usage+`}`)
	block := func(index, text string, citations ...string) []string {
		list := []string{
			`{"type":"content_block_start","index":` + index + `,"content_block":{"type":"text","text":"","citations":[]}}`,
			`{"type":"content_block_delta","index":` + index + `,"delta":{"type":"text_delta","text":"` + text + `"}}`,
		}
		for _, c := range citations {
			list = append(list, `{"type":"content_block_delta","index":`+index+`,"delta":{"type":"citations_delta","citation":`+c+`}}`)
		}
		return append(list, `{"type":"content_block_stop","index":`+index+`}`)
	}
	events := []string{`{"type":"message_start","message":{` + head + `,"content":[],"stop_reason":null,"stop_sequence":null,"usage":` + usage + `}}`}
	events = append(events, block("0", "As said, ")...)
	events = append(events, block("1", "it is blue", page, chars)...)
	events = append(events, block("2", ".")...)
	events = append(events, `{"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":5}}`, `{"type":"message_stop"}`)
	bothWays(t, func(t *testing.T, streamed bool) {
		s := start(t)
		if streamed {
			s.platform.Script(vertextest.SSE(events...))
		} else {
			s.platform.Script(whole)
		}
		params := ask(haiku45, "Why?")
		got, _ := s.answer(t, streamed, params)
		if textOf(got) != "As said, it is blue." || kindsOf(got) != "text text text" {
			t.Fatalf("answer %s", sorted(t, got.ToParam()))
		}
		var kinds []string
		for _, c := range got.Content[1].Citations {
			switch c := c.AsAny().(type) {
			case anthropic.CitationPageLocation:
				kinds = append(kinds, "pages of "+c.DocumentTitle)
			case anthropic.CitationCharLocation:
				kinds = append(kinds, "characters of "+c.CitedText)
			}
		}
		if diff := cmp.Diff([]string{"pages of A report", "characters of héllo"}, kinds); diff != "" {
			t.Errorf("citations (-want +got):\n%s", diff)
		}
		params.Messages = append(params.Messages, got.ToParam(), anthropic.NewUserMessage(anthropic.NewTextBlock("And then?")))
		if _, warnings := s.answer(t, streamed, params); warnings != "" {
			t.Errorf("warnings %s", warnings)
		}
		var body struct {
			Messages []struct {
				Content []struct{ Citations []json.RawMessage }
			}
		}
		if s.sent(t, &body); len(body.Messages[1].Content) != 3 || len(body.Messages[1].Content[1].Citations) != 2 {
			t.Errorf("sent back %s", s.sentMessages(t)[1])
		}
	})
}
