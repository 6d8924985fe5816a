package vertextest

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// countModel stands in the path for counting the tokens of any Claude.
const countModel = "count-tokens"

// maxClaudeRequest is how many bytes a body may have.
//
// Source: https://cloud.google.com/vertex-ai/generative-ai/docs/partner-models/claude/use-claude
const maxClaudeRequest = 30 << 20

// checkClaude checks a call of a Claude and turns it into what answers are made
// from.
func checkClaude(x *exchange) error {
	if err := x.findClaude(x.target.model); err != nil {
		return err
	}
	if err := x.decodeClaude("request"); err != nil {
		return err
	}
	if !x.cfg.withoutChecks {
		if err := x.applyClaudeRules(); err != nil {
			return err
		}
	}
	x.thinks = x.claude.thinks()
	x.req = x.claude.asGemini()
	x.oneCall = x.claude.ToolChoice.DisableParallel
	return nil
}

// checkClaudeCount checks a call that counts. Its model is in the body.
func checkClaudeCount(x *exchange) error {
	if err := x.decodeClaude("count"); err != nil {
		return err
	}
	return x.findClaude(x.claude.Model)
}

// countClaude counts what the request would cost as a prompt.
func countClaude(x *exchange) (response, error) {
	body, err := json.Marshal(map[string]int{"input_tokens": x.claude.measure().total()})
	if err != nil {
		return response{}, err
	}
	return response{status: http.StatusOK, header: x.ownHeader(), events: [][]byte{body}}, nil
}

// findClaude looks up the facts of the model.
func (x *exchange) findClaude(name string) error {
	facts, ok := lookUpClaude(x.cfg.claudes, name)
	if !ok || !facts.where.serves(x.target.location) {
		t := x.target
		t.model = name
		return notFound(t)
	}
	x.claude.facts = facts
	return nil
}

// decodeClaude decodes the body, which has to have the shape of the object.
func (x *exchange) decodeClaude(object string) error {
	if len(x.body) > maxClaudeRequest {
		return &statusError{Code: http.StatusRequestEntityTooLarge, Status: "request_too_large", Message: "Request exceeds the maximum size", own: true}
	}
	v, err := decodeBody(x.body)
	if err != nil {
		return claudeInvalid("The request body is not valid JSON")
	}
	for _, f := range x.cfg.refused {
		if !f.models.include(x.target.model, x.claude.facts.name) {
			continue
		}
		if _, ok := findMember(v, f.path, ""); ok {
			return claudeInvalid("%s: Extra inputs are not permitted", strings.Join(f.path, "."))
		}
	}
	facts := x.claude.facts
	defer func() { x.claude.facts = facts }()
	if x.cfg.withoutChecks {
		_ = json.Unmarshal(x.body, &x.claude) // whatever fits
		return nil
	}
	if x.claude, err = readClaude(object, v, x.body); err != nil {
		return err
	}
	if err := x.checkBetas(); err != nil {
		return err
	}
	return x.claude.applyRules()
}

// readClaude decodes a body that has the shape of the object.
func readClaude(object string, v any, body []byte) (claudeCall, error) {
	root, ok := v.(map[string]any)
	if !ok {
		return claudeCall{}, claudeInvalid("Input should be a valid dictionary")
	}
	objects := claudeObjects()
	if isOwn(object) {
		maps.Copy(objects, ownObjects())
	}
	if err := (claudeShape{objects}).object(object, root, ""); err != nil {
		return claudeCall{}, err
	}
	var c claudeCall
	if err := json.Unmarshal(body, &c); err != nil {
		return claudeCall{}, claudeInvalid("The request body is not valid JSON")
	}
	return c, nil
}

// betas are the features that header and body ask for.
func (x *exchange) betas() []string {
	list := slices.Clone(x.claude.AnthropicBeta)
	for _, line := range x.header.Values("Anthropic-Beta") {
		for one := range strings.SplitSeq(line, ",") {
			if one = strings.TrimSpace(one); one != "" {
				list = append(list, one)
			}
		}
	}
	return list
}

// thinks reports whether the model thinks on the request.
func (c *claudeCall) thinks() bool {
	if c.Thinking.Type == "" {
		return c.facts.byDefault
	}
	return c.Thinking.Type != "disabled" || c.facts.always
}

// asGemini turns the request into the one that answers are made from.
func (c *claudeCall) asGemini() request {
	var r request
	if text := c.System.text(); text != "" {
		r.SystemInstruction = &content{Parts: []part{{Text: &text}}}
	}
	names := map[string]string{} // of tools, by the id of a call
	for _, m := range c.Messages {
		r.Contents = append(r.Contents, m.asGemini(names))
	}
	r.Tools = c.toolsAsGemini()
	calling := &r.ToolConfig.FunctionCallingConfig
	switch c.ToolChoice.Type {
	case "any":
		calling.Mode = "ANY"
	case "tool":
		calling.Mode, calling.AllowedFunctionNames = "ANY", []string{c.ToolChoice.Name}
	case "none":
		calling.Mode = "NONE"
		r.Tools = nil
	}
	cfg := &r.GenerationConfig
	cfg.StopSequences = c.StopSequences
	cfg.ThinkingConfig.IncludeThoughts = true
	if c.MaxTokens > 0 {
		cfg.MaxOutputTokens = &c.MaxTokens
	}
	if f := c.OutputConfig.Format; f != nil {
		cfg.ResponseMimeType, cfg.ResponseJSONSchema = "application/json", f.Schema
	}
	return r
}

// asGemini turns a message into a content, and remembers its calls.
func (m claudeMessage) asGemini(names map[string]string) content {
	out := content{Role: "user"}
	if m.Role == "assistant" {
		out.Role = "model"
	}
	for _, b := range m.Content {
		switch b.Type {
		case "text":
			out.Parts = append(out.Parts, part{Text: &b.Text})
		case "image", "document":
			out.Parts = append(out.Parts, b.sourcePart())
		case "tool_use":
			names[b.ID] = b.Name
			out.Parts = append(out.Parts, part{FunctionCall: &functionCall{ID: b.ID, Name: b.Name, Args: b.Input}})
		case "tool_result":
			out.Parts = append(out.Parts, part{FunctionResponse: &functionResponse{ID: b.ToolUseID, Name: names[b.ToolUseID], Response: b.result()}})
		}
	}
	return out
}

// sourcePart turns an image or a document into a part.
func (b claudeBlock) sourcePart() part {
	if b.Source.Type == "content" {
		var c claudeContent
		if json.Unmarshal(b.Source.Content, &c) != nil {
			return part{}
		}
		return part{Text: new(c.text())}
	}
	return part{InlineData: &blob{MimeType: b.Source.MediaType, Data: b.Source.Data}}
}

// result is what a tool said: its text, or its blocks when there is more.
func (b claudeBlock) result() json.RawMessage {
	list := b.resultContent()
	if slices.ContainsFunc(list, func(one claudeBlock) bool { return one.Type != "text" }) {
		types := make([]string, 0, len(list))
		for _, one := range list {
			if one.Type == "text" {
				types = append(types, one.Text)
				continue
			}
			types = append(types, "["+one.Type+"]")
		}
		return rawString(strings.Join(types, "\n"))
	}
	return rawString(list.text())
}

// rawString encodes a string, which can't fail.
func rawString(s string) json.RawMessage {
	b, err := json.Marshal(s)
	if err != nil {
		return json.RawMessage(`""`)
	}
	return b
}

// text joins the texts of the blocks.
func (c claudeContent) text() string {
	var list []string
	for _, b := range c {
		if b.Type == "text" {
			list = append(list, b.Text)
		}
	}
	return strings.Join(list, "\n")
}

// clientTools are tools that the API defines and the caller runs: what they are
// for, and the part of their schema that answers need.
//
// Source: https://docs.claude.com/en/docs/agents-and-tools/tool-use/overview
func clientTools() map[string][2]string {
	return map[string][2]string{
		"bash":        {"Runs a shell command", `{"type":"object","properties":{"command":{"type":"string"}},"required":["command"]}`},
		"text_editor": {"Views and edits a file", `{"type":"object","properties":{"command":{"enum":["view"]},"path":{"type":"string"}},"required":["command","path"]}`},
		"memory":      {"Remembers things in memory files", `{"type":"object","properties":{"command":{"enum":["view"]},"path":{"enum":["/memories"]}},"required":["command","path"]}`},
		"computer":    {"Takes a screenshot, moves the mouse, clicks and types", `{"type":"object","properties":{"action":{"enum":["screenshot"]}},"required":["action"]}`},
	}
}

// toolsAsGemini turns tools into function declarations and a web search. A tool
// that is left to a tool search is there from the start.
func (c *claudeCall) toolsAsGemini() []tool {
	var declared []functionDeclaration
	var tools []tool
	for _, t := range c.Tools {
		dated := datedTool.FindStringSubmatch(t.Type)
		switch {
		case t.Type == "mcp_toolset":
		case dated == nil:
			declared = append(declared, functionDeclaration{Name: t.Name, Description: t.Description, ParametersJSONSchema: t.InputSchema})
		case dated[1] == "web_search":
			options, err := json.Marshal(map[string][]string{"excludeDomains": t.Blocked})
			if err == nil {
				tools = append(tools, tool{"googleSearch": options})
			}
		default:
			if known, ok := clientTools()[dated[1]]; ok {
				declared = append(declared, functionDeclaration{Name: t.Name, Description: known[0], ParametersJSONSchema: json.RawMessage(known[1])})
			}
		}
	}
	if raw, err := json.Marshal(declared); err == nil && len(declared) > 0 {
		tools = append(tools, tool{"functionDeclarations": raw})
	}
	return tools
}
