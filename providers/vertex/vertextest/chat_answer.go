package vertextest

import (
	"encoding/json"
	"hash/fnv"
	"net/http"
	"strconv"
	"time"
	"unicode"
)

// renderChat turns the answer into a completion or its chunks.
func (a answer) renderChat(x *exchange) (response, error) {
	whole := a.completion(x)
	if x.streams() {
		return whole.stream(x)
	}
	body, err := json.Marshal(whole)
	if err != nil {
		return response{}, err
	}
	return response{status: http.StatusOK, header: x.ownHeader(), events: [][]byte{body}}, nil
}

// completion returns the unary form.
func (a answer) completion(x *exchange) chatResponse {
	c := chatResponse{ID: "chatcmpl-" + strconv.FormatUint(x.server.serial(), 36), Object: "chat.completion", Created: time.Now().Unix(), Model: x.chat.served}
	if x.route.wire == wireMaaS {
		c.SystemFingerprint = new("")
	}
	var answered tally
	for i := range a.variants + 1 {
		m := a.message(x)
		c.Choices = append(c.Choices, chatOption{Index: i, Message: &m, FinishReason: new(a.chatReason())})
		answered.addVisible(a.parts)
	}
	prompt := promptTally(&x.req)
	c.Usage = &chatUsage{PromptTokens: prompt.total(), CompletionTokens: answered.total() + a.thoughts}
	c.Usage.TotalTokens = c.Usage.PromptTokens + c.Usage.CompletionTokens
	if a.thoughts > 0 {
		c.Usage.Details = &chatUsageDetails{a.thoughts}
	}
	if x.route.wire == wireMaaS {
		c.Usage.Extra = map[string]chatTraffic{"google": {x.trafficType()}}
	}
	return c
}

// message returns what the model says.
func (a answer) message(x *exchange) chatAnswer {
	m := chatAnswer{Role: "assistant"}
	for i, p := range a.parts {
		switch {
		case p.Thought: // one at most
			m.ReasoningContent = p.Text
		case p.FunctionCall != nil:
			id := p.FunctionCall.ID
			if id == "" {
				id = x.chatCallID(i)
			}
			m.ToolCalls = append(m.ToolCalls, chatToolCall{ID: id, Type: "function", Function: chatFunction{p.FunctionCall.Name, string(p.FunctionCall.Args)}})
		}
	}
	if text := a.text(); text != "" || len(m.ToolCalls) == 0 {
		m.Content = &text
	}
	return m
}

// chatCallID returns an id that depends on the request and the position, of nine
// characters where Mistral asks for them.
func (x *exchange) chatCallID(i int) string {
	if x.route.wire != wireMistral {
		return "call_" + callID(x.body, i)
	}
	h := fnv.New64a()
	_, _ = h.Write(x.body)
	_, _ = h.Write([]byte{byte(i)})
	s := strconv.FormatUint(h.Sum64(), 36)
	return ("000000000" + s)[len(s):]
}

// chatReason is the finish_reason. A scripted reason in lower case stands as it
// is; those of Gemini that withhold an answer filter the content.
func (a answer) chatReason() string {
	switch {
	case a.blocked != nil:
		return "content_filter"
	case a.reason == "MAX_TOKENS":
		return "length"
	case a.reason != "" && unicode.IsLower(rune(a.reason[0])):
		return a.reason
	case a.reason != "STOP":
		return "content_filter"
	}
	for _, p := range a.parts {
		if p.FunctionCall != nil {
			return "tool_calls"
		}
	}
	return "stop"
}

// stream turns a completion into its chunks and the mark of the end.
//
// Source: https://platform.openai.com/docs/api-reference/chat-streaming
func (c chatResponse) stream(x *exchange) (response, error) {
	usage := c.Usage
	c.Object, c.Usage = "chat.completion.chunk", nil
	res := response{status: http.StatusOK, header: x.streamHeader()}
	send := func(choices []chatOption, u *chatUsage) error {
		c.Choices, c.Usage = choices, u
		body, err := json.Marshal(c)
		res.events = append(res.events, x.frame(body))
		return err
	}
	for i, choice := range c.Choices {
		deltas := splitAnswer(*choice.Message)
		for _, d := range deltas {
			if err := send([]chatOption{{Index: choice.Index, Delta: &d}}, nil); err != nil {
				return response{}, err
			}
		}
		var last *chatUsage
		if x.route.wire == wireMistral && i == len(c.Choices)-1 {
			last = usage
		}
		if err := send([]chatOption{{Index: choice.Index, Delta: &chatAnswer{}, FinishReason: choice.FinishReason}}, last); err != nil {
			return response{}, err
		}
	}
	if o := x.chat.StreamOptions; o != nil && o.IncludeUsage {
		if err := send([]chatOption{}, usage); err != nil {
			return response{}, err
		}
	}
	res.events = append(res.events, x.frame([]byte("[DONE]")))
	return res, nil
}

// splitAnswer returns the deltas of a message: the role, the reasoning, the text,
// and each call first by name and then by pieces of its arguments.
func splitAnswer(m chatAnswer) []chatAnswer {
	list := []chatAnswer{{Role: m.Role, Content: new("")}}
	if m.ReasoningContent != nil {
		for _, piece := range pieces(*m.ReasoningContent) {
			list = append(list, chatAnswer{ReasoningContent: &piece})
		}
	}
	if m.Content != nil && *m.Content != "" {
		for _, piece := range pieces(*m.Content) {
			list = append(list, chatAnswer{Content: &piece})
		}
	}
	for i, call := range m.ToolCalls {
		first := chatToolCall{Index: &i, ID: call.ID, Type: call.Type, Function: chatFunction{Name: call.Function.Name}}
		list = append(list, chatAnswer{ToolCalls: []chatToolCall{first}})
		for _, piece := range argumentPieces(call.Function.Arguments) {
			list = append(list, chatAnswer{ToolCalls: []chatToolCall{{Index: &i, Function: chatFunction{Arguments: piece}}}})
		}
	}
	return list
}

// argumentPieces cuts arguments, which are whole when they are short.
func argumentPieces(args string) []string {
	if list := inputPieces(args); len(list) > 1 {
		return list[1:]
	}
	return []string{args}
}
