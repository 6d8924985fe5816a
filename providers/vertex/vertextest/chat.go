package vertextest

import (
	"encoding/json"
	"net/http"
	"strings"
)

// namedModel is the model that a body names.
func namedModel(body []byte) string {
	var v struct{ Model string }
	if json.Unmarshal(body, &v) != nil {
		return ""
	}
	return v.Model
}

// checkChat checks a chat completion and turns it into what answers are made
// from.
func checkChat(x *exchange) error {
	v, err := decodeBody(x.body)
	if err != nil {
		return x.badChat("Invalid JSON payload received.")
	}
	if err := x.findChat(); err != nil {
		return err
	}
	for _, f := range x.cfg.refused {
		if _, ok := findMember(v, f.path, ""); ok && f.models.include(x.target.called(), x.chat.facts.name) {
			return x.unknownChat(f.path[len(f.path)-1])
		}
	}
	facts, served := x.chat.facts, x.chat.served
	err = json.Unmarshal(x.body, &x.chat)
	x.chat.facts, x.chat.served = facts, served
	if !x.cfg.withoutChecks {
		if err != nil {
			return x.badChat("The request body has a member of the wrong type.")
		}
		if err := x.applyChatRules(v); err != nil {
			return err
		}
	}
	effort := x.chat.ReasoningEffort
	x.thinks = x.chat.facts.reasons && effort != "none"
	x.oneCall = x.chat.ParallelToolCalls != nil && !*x.chat.ParallelToolCalls
	x.req = x.chat.asGemini()
	return nil
}

// findChat looks up the facts of the model, which are those of the endpoint when
// it is one of a user.
func (x *exchange) findChat() error {
	if x.route.wire == wireServed {
		e, err := x.findEndpoint()
		if err != nil {
			return err
		}
		x.chat.facts, x.chat.served = chatFacts{name: e.ID, reasons: e.Reasons, sees: true, developer: true}, e.Model
		return nil
	}
	if x.route.wire == wireOpenAI {
		return x.findOpenAI()
	}
	name := x.target.called()
	t := x.target
	if x.route.wire == wireMaaS {
		publisher, model, ok := strings.Cut(x.target.named, "/")
		if !ok {
			return invalid("Invalid value for `model`. Expected {publisher}/{model}.")
		}
		t.publisher, t.model = publisher, model
	}
	facts, ok := lookUpChat(x.cfg.chats, name)
	if !ok {
		return notFound(t)
	}
	x.chat.facts, x.chat.served = facts, name
	return nil
}

// badChat refuses a body in the words of who serves it.
func (x *exchange) badChat(message string) error {
	switch x.route.wire {
	case wireMaaS:
		return invalid("%s", message)
	case wireMistral:
		return &statusError{Code: http.StatusBadRequest, Status: "invalid_request_error", Message: message, own: true}
	}
	return &statusError{Code: http.StatusBadRequest, Status: "BadRequestError", Message: message, own: true}
}

// unknownChat refuses the member at the path. Mistral says where.
func (x *exchange) unknownChat(path ...string) error {
	if x.route.wire != wireMistral {
		return x.badChat("Unknown name \"" + path[len(path)-1] + "\": Cannot find field.")
	}
	return &statusError{Code: http.StatusUnprocessableEntity, Status: "invalid_request_error", own: true, Details: []any{map[string]any{
		"type": "extra_forbidden", "loc": append([]string{"body"}, path...), "msg": "Extra inputs are not permitted",
	}}}
}

// asGemini turns the request into the one that answers are made from.
func (c *chatCall) asGemini() request {
	var r request
	names := map[string]string{} // of tools, by the id of a call
	for _, m := range c.Messages {
		if m.Role == "system" || m.Role == "developer" {
			if r.SystemInstruction == nil {
				r.SystemInstruction = &content{}
			}
			r.SystemInstruction.Parts = append(r.SystemInstruction.Parts, m.parts()...)
			continue
		}
		r.add(m.asGemini(names))
	}
	if declared := c.declared(); len(declared) > 0 && c.ToolChoice.mode != "none" {
		if raw, err := json.Marshal(declared); err == nil {
			r.Tools = []tool{{"functionDeclarations": raw}}
		}
	}
	calling := &r.ToolConfig.FunctionCallingConfig
	switch c.ToolChoice.mode {
	case "required", "any":
		calling.Mode = "ANY"
	case "function":
		calling.Mode, calling.AllowedFunctionNames = "ANY", []string{c.ToolChoice.name}
	}
	cfg := &r.GenerationConfig
	cfg.StopSequences, cfg.CandidateCount = c.Stop, c.N
	cfg.ThinkingConfig.IncludeThoughts = true
	if cfg.MaxOutputTokens = c.MaxTokens; cfg.MaxOutputTokens == nil {
		cfg.MaxOutputTokens = c.MaxCompletionTokens
	}
	if f := c.ResponseFormat; f != nil && strings.HasPrefix(f.Type, "json") {
		cfg.ResponseMimeType = "application/json"
		if f.JSONSchema != nil {
			cfg.ResponseJSONSchema = f.JSONSchema.Schema
		}
	}
	return r
}

// declared lists the functions.
func (c *chatCall) declared() []functionDeclaration {
	var list []functionDeclaration
	for _, t := range c.Tools {
		list = append(list, functionDeclaration{Name: t.Function.Name, Description: t.Function.Description, ParametersJSONSchema: t.Function.Parameters})
	}
	return list
}

// add appends a content; results in a row become one.
func (r *request) add(c content) {
	if n := len(r.Contents); n > 0 && hasResponse(c) && hasResponse(r.Contents[n-1]) {
		r.Contents[n-1].Parts = append(r.Contents[n-1].Parts, c.Parts...)
		return
	}
	r.Contents = append(r.Contents, c)
}

// parts turns the content of a message into parts.
func (m chatMessage) parts() []part {
	var list []part
	for _, p := range m.Content {
		switch url := string(p.ImageURL); {
		case p.Type == "text":
			list = append(list, part{Text: &p.Text})
		case strings.HasPrefix(url, "data:"):
			kind, data, _ := strings.Cut(strings.TrimPrefix(url, "data:"), ";base64,")
			list = append(list, part{InlineData: &blob{MimeType: kind, Data: data}})
		case url != "":
			list = append(list, part{FileData: &fileData{MimeType: "image/*", FileURI: url}})
		}
	}
	return list
}

// asGemini turns a message into a content, and remembers its calls.
func (m chatMessage) asGemini(names map[string]string) content {
	if m.Role == "tool" || m.Role == "function" {
		var texts []string
		for _, p := range m.Content {
			texts = append(texts, p.Text)
		}
		name := m.Name
		if called, ok := names[m.ToolCallID]; ok {
			name = called
		}
		result := rawString(strings.Join(texts, "\n"))
		return content{Role: "user", Parts: []part{{FunctionResponse: &functionResponse{ID: m.ToolCallID, Name: name, Response: result}}}}
	}
	out := content{Role: "user", Parts: m.parts()}
	if m.Role == "assistant" {
		out.Role = "model"
	}
	for _, c := range m.ToolCalls {
		names[c.ID] = c.Function.Name
		call := functionCall{ID: c.ID, Name: c.Function.Name, Args: json.RawMessage(c.Function.Arguments)}
		if !json.Valid(call.Args) {
			call.Args = rawString(c.Function.Arguments)
		}
		out.Parts = append(out.Parts, part{FunctionCall: &call})
	}
	return out
}
