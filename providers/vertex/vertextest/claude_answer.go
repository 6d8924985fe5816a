package vertextest

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"
	"unicode"
)

// Texts of the user that make a Claude think in secret or decline. They are
// documented to test how a client copes; any text that starts so will do.
//
// Sources: https://docs.claude.com/en/docs/build-with-claude/extended-thinking#thinking-redaction and
// https://docs.claude.com/en/docs/test-and-evaluate/strengthen-guardrails/handle-streaming-refusals
const (
	redactTrigger = "ANTHROPIC_MAGIC_STRING_TRIGGER_REDACTED_THINKING"
	refuseTrigger = "ANTHROPIC_MAGIC_STRING_TRIGGER_REFUSAL"
)

// obey sets what the request makes of the answer of a Claude.
func (a *answer) obey(x *exchange) {
	said, _ := x.lastUserText()
	a.redacted = strings.Contains(said, redactTrigger)
	a.refused = strings.Contains(said, refuseTrigger)
	a.omitted = x.claude.Thinking.Display == "omitted" || x.claude.Thinking.Display == "" && x.claude.facts.omits
}

// servedClaude is the name under which a Claude answers: a date follows a dash.
func servedClaude(name string) string {
	return strings.ReplaceAll(strings.TrimSuffix(name, "@default"), "@", "-")
}

// renderClaude turns the answer into a message or its events.
func (a answer) renderClaude(x *exchange) (response, error) {
	blocks, searches := a.claudeBlocks(x)
	m := claudeResponse{
		Model: servedClaude(x.target.model), ID: x.newID("msg", x.server.serial()), Type: "message", Role: "assistant",
		Content: blocks, StopReason: new(a.claudeReason()), Usage: x.claudeUsage(a, searches),
	}
	switch *m.StopReason {
	case "stop_sequence":
		m.StopSequence = &a.stop
	case "refusal":
		m.StopDetails = &claudeRefusal{Type: "refusal", Explanation: "The model declined to go on."}
	}
	if x.streams() {
		return m.stream(x)
	}
	body, err := json.Marshal(m)
	if err != nil {
		return response{}, err
	}
	return response{status: http.StatusOK, header: x.ownHeader(), events: [][]byte{body}}, nil
}

// claudeReason is the stop_reason. A scripted reason in lower case stands as it
// is; those of Gemini that withhold an answer are refusals.
func (a answer) claudeReason() string {
	switch {
	case a.refused || a.blocked != nil:
		return "refusal"
	case a.reason == "MAX_TOKENS":
		return "max_tokens"
	case a.reason != "" && unicode.IsLower(rune(a.reason[0])):
		return a.reason
	case a.reason != "STOP":
		return "refusal"
	}
	for _, p := range a.parts {
		if p.FunctionCall != nil {
			return "tool_use"
		}
	}
	if a.stop != "" {
		return "stop_sequence"
	}
	return "end_turn"
}

// claudeBlocks turns the parts into blocks, and counts the searches among them.
func (a answer) claudeBlocks(x *exchange) (blocks []any, searches int) {
	blocks = []any{}
	for i, p := range a.parts {
		switch {
		case p.Thought && a.redacted:
			blocks = append(blocks, claudeRedactedOut{"redacted_thinking", ClaudeRedacted(p.text())})
		case p.Thought:
			shown := p.text()
			if a.omitted {
				shown = ""
			}
			blocks = append(blocks, claudeThinkingOut{"thinking", shown, ClaudeSignature(p.text())})
		case p.FunctionCall != nil:
			id := p.FunctionCall.ID
			if id == "" {
				id = x.newID("toolu", uint64(i))
			}
			blocks = append(blocks, claudeToolOut{"tool_use", id, p.FunctionCall.Name, p.FunctionCall.Args, map[string]string{"type": "direct"}})
		case p.Text == nil:
		case a.grounding != nil && len(a.grounding.WebSearchQueries) > 0 && searches == 0:
			blocks = append(blocks, a.searched(x, p.text())...)
			searches++
		default:
			blocks = append(blocks, claudeTextOut{Type: "text", Text: p.text()})
		}
	}
	return blocks, searches
}

// searched returns the blocks of a search, and a text that cites what was found.
func (a answer) searched(x *exchange, text string) []any {
	id := x.newID("srvtoolu", 0)
	query, err := json.Marshal(map[string]string{"query": a.grounding.WebSearchQueries[0]})
	if err != nil {
		query = json.RawMessage("{}")
	}
	found := claudeFoundOut{Type: "web_search_tool_result", ToolUseID: id, Content: []claudeFoundPage{}}
	for _, c := range a.grounding.GroundingChunks {
		found.Content = append(found.Content, claudeFoundPage{
			Type: "web_search_result", Title: c.Web.Title, URL: "https://" + c.Web.Domain + "/", EncryptedContent: encrypted(c.Web.Title),
		})
	}
	blocks := []any{claudeToolOut{"server_tool_use", id, "web_search", query, map[string]string{"type": "direct"}}, found}
	end := 0
	for _, s := range a.grounding.GroundingSupports {
		if s.Segment.EndIndex > len(text) {
			break
		}
		var cited []claudeCitation
		for _, n := range s.GroundingChunkIndices {
			page := found.Content[n]
			cited = append(cited, claudeCitation{"web_search_result_location", s.Segment.Text, page.URL, page.Title, encrypted(page.Title + s.Segment.Text)})
		}
		blocks = append(blocks, claudeTextOut{Citations: &cited, Type: "text", Text: text[end:s.Segment.EndIndex]})
		end = s.Segment.EndIndex
	}
	if end < len(text) {
		blocks = append(blocks, claudeTextOut{Type: "text", Text: text[end:]})
	}
	return blocks
}

// encrypted stands for content that only the API can read.
func encrypted(text string) string {
	return base64.StdEncoding.EncodeToString([]byte("encrypted " + text))
}
