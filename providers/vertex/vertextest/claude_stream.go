package vertextest

import (
	"encoding/json"
	"net/http"
)

// claudeEvent is the data of an event of a stream.
type claudeEvent struct {
	Type         string          `json:"type"`
	Message      *claudeResponse `json:"message,omitempty"`
	Index        *int            `json:"index,omitempty"`
	ContentBlock any             `json:"content_block,omitempty"`
	Delta        any             `json:"delta,omitempty"`
	Usage        *claudeUsage    `json:"usage,omitempty"`
}

// claudeDelta is what an event adds to a block; one member beside the type is set.
type claudeDelta struct {
	Type        string          `json:"type"`
	Text        *string         `json:"text,omitempty"`
	PartialJSON *string         `json:"partial_json,omitempty"`
	Thinking    *string         `json:"thinking,omitempty"`
	Signature   *string         `json:"signature,omitempty"`
	Citation    *claudeCitation `json:"citation,omitempty"`
}

// claudeEnd is what the last but one event says of the whole message.
type claudeEnd struct {
	StopReason   *string        `json:"stop_reason"`
	StopSequence *string        `json:"stop_sequence"`
	StopDetails  *claudeRefusal `json:"stop_details,omitempty"`
}

// stream turns a message into its events.
//
// Source: https://docs.claude.com/en/docs/build-with-claude/streaming
func (m claudeResponse) stream(x *exchange) (response, error) {
	begin := m
	begin.Content, begin.StopReason, begin.StopSequence, begin.StopDetails = []any{}, nil, nil, nil
	begin.Usage.OutputTokens, begin.Usage.OutputTokensDetails, begin.Usage.ServerToolUse = min(1, m.Usage.OutputTokens), nil, nil
	events := []claudeEvent{{Type: "message_start", Message: &begin}}
	for i, b := range m.Content {
		first, deltas := splitBlock(b)
		events = append(events, claudeEvent{Type: "content_block_start", Index: &i, ContentBlock: first})
		if i == 0 {
			events = append(events, claudeEvent{Type: "ping"})
		}
		for _, d := range deltas {
			events = append(events, claudeEvent{Type: "content_block_delta", Index: &i, Delta: d})
		}
		events = append(events, claudeEvent{Type: "content_block_stop", Index: &i})
	}
	events = append(events,
		claudeEvent{Type: "message_delta", Delta: claudeEnd{m.StopReason, m.StopSequence, m.StopDetails}, Usage: &m.Usage},
		claudeEvent{Type: "message_stop"})
	res := response{status: http.StatusOK, header: x.streamHeader()}
	for _, e := range events {
		body, err := json.Marshal(e)
		if err != nil {
			return response{}, err
		}
		res.events = append(res.events, x.frame(body))
	}
	return res, nil
}

// splitBlock returns a block as it begins, and what is added to it. Some blocks
// come whole.
func splitBlock(block any) (first any, deltas []claudeDelta) {
	switch b := block.(type) {
	case claudeTextOut:
		for _, piece := range pieces(b.Text) {
			deltas = append(deltas, claudeDelta{Type: "text_delta", Text: &piece})
		}
		if b.Citations != nil {
			for _, c := range *b.Citations {
				deltas = append(deltas, claudeDelta{Type: "citations_delta", Citation: &c})
			}
			b.Citations = &[]claudeCitation{}
		}
		b.Text = ""
		return b, deltas
	case claudeThinkingOut:
		if b.Thinking != "" {
			for _, piece := range pieces(b.Thinking) {
				deltas = append(deltas, claudeDelta{Type: "thinking_delta", Thinking: &piece})
			}
		}
		deltas = append(deltas, claudeDelta{Type: "signature_delta", Signature: new(b.Signature)})
		b.Thinking, b.Signature = "", ""
		return b, deltas
	case claudeToolOut:
		for _, piece := range inputPieces(string(b.Input)) {
			deltas = append(deltas, claudeDelta{Type: "input_json_delta", PartialJSON: &piece})
		}
		b.Input = json.RawMessage("{}")
		return b, deltas
	}
	return block, nil
}

// inputBytes is about how many bytes of an input come in a piece.
const inputBytes = 9

// inputPieces cuts an input; the first piece is empty, and so is all of an empty
// object. The cuts are between characters.
func inputPieces(input string) []string {
	list := []string{""}
	if input == "{}" {
		return list
	}
	for len(input) > 0 {
		piece := prefix(input, inputBytes)
		if piece == "" {
			piece = input // not text, which encoders of JSON don't make
		}
		list = append(list, piece)
		input = input[len(piece):]
	}
	return list
}
