package providers

import "encoding/json"

// Tool is one entry of the tools member.
type Tool struct {
	// Type is "function", or a platform tool's own word.
	Type     string
	Function FunctionDefinition
	Extra    Extra
}

// FunctionDefinition declares a function that the model may call.
type FunctionDefinition struct {
	Name        string
	Description string
	// Parameters is the raw JSON Schema of the arguments; nil means none.
	Parameters json.RawMessage
	Strict     *bool
	Extra      Extra
}

// FunctionTool declares a function tool. The parameters are a JSON Schema of
// type object, or nil for a function without arguments.
func FunctionTool(name, description string, parameters json.RawMessage) Tool {
	return Tool{Type: "function", Function: FunctionDefinition{
		Name: name, Description: description, Parameters: parameters,
	}}
}

// ToolCall is one function call of an assistant turn.
type ToolCall struct {
	// ID names the call; a tool message answers it by this id.
	ID string
	// Type is "function".
	Type     string
	Function FunctionCall
	Extra    Extra
}

// FunctionCall is the called function with its arguments.
type FunctionCall struct {
	Name string
	// Arguments is JSON text, as the model gave it; "" means {}.
	Arguments string
	// ThoughtSignature is the model's opaque signature of this call
	// (extension). Send it back as it came.
	ThoughtSignature string
	Extra            Extra
}

// ToolCallDelta is a piece of the tool call at Index.
type ToolCallDelta struct {
	Index    int
	ID       string
	Type     string
	Function FunctionCall
	Extra    Extra
}

// ToolChoice is the tool_choice member: a mode, or one function by name. Its
// JSON is a string or an object.
type ToolChoice struct {
	// Mode is none, auto, required or validated; "function" with Name set;
	// "allowed_tools" with Allowed set.
	Mode string
	// Name is the function that must be called.
	Name string
	// Allowed are the functions the model may choose from; AllowedMode is
	// "auto" or "required".
	Allowed     []string
	AllowedMode string
	Extra       Extra
}

// ChooseFunction is the tool choice that demands a call of the named function.
func ChooseFunction(name string) *ToolChoice {
	return &ToolChoice{Mode: "function", Name: name}
}
