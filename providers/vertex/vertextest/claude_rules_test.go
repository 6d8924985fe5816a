package vertextest_test

import (
	"encoding/base64"
	"net/http"
	"strings"
	"testing"

	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

const (
	usedTool   = `{"type":"tool_use","id":"toolu_1","name":"get_weather","input":{"city":"Rome"}}`
	toolResult = `{"type":"tool_result","tool_use_id":"toolu_1","content":"sunny"}`
	marked     = `"cache_control":{"type":"ephemeral"}`
	think      = `"thinking":{"type":"enabled","budget_tokens":1024}`
)

// results is a user message with tool results and what else follows.
func results(blocks string) string { return `{"role":"user","content":[` + blocks + `]}` }

// block is a user message with one block.
func block(b string) string { return results(b) }

// claudeTool is a tools member with one custom tool.
func claudeTool(members string) string { return `"tools":[{` + members + `}]` }

// format is an output_config with a schema.
func format(schema string) string {
	return `"output_config":{"format":{"type":"json_schema","schema":` + schema + `}}`
}

// general are bodies that every Claude refuses.
func general() []refusal {
	png := base64.StdEncoding.EncodeToString([]byte("\x89PNG\r\n\x1a\n0000"))
	image := func(source string) string { return block(`{"type":"image","source":{` + source + `}}`) }
	five := strings.Repeat(`{"type":"text","text":"a",`+marked+`},`, 5)
	return []refusal{
		{"version missing", "", `{"messages":[` + asks("a") + `],"max_tokens":1}`, "anthropic_version: Field required"},
		{"another version", "", `{"anthropic_version":"2023-06-01","messages":[` + asks("a") + `],"max_tokens":1}`, "anthropic_version: Input should be 'vertex-2023-10-16'"},
		{"model in the body", "", claudeBody(asks("a"), `"model":"claude-opus-4-6"`), "model: Extra inputs are not permitted"},
		{"unknown member", "", claudeBody(asks("a"), `"seed":1`), "seed: Extra inputs are not permitted"},
		{"member of the first-party API", "", claudeBody(asks("a"), `"service_tier":"auto"`), "service_tier: Extra inputs"},
		{"unknown member of a block", "", claudeBody(block(`{"type":"text","text":"a","id":"b"}`)), "messages.0.content.0.text.id: Extra inputs"},
		{"unknown block", "", claudeBody(block(`{"type":"input_audio"}`)), "messages.0.content.0: Input tag 'input_audio'"},
		{"block without type", "", claudeBody(block(`{"text":"a"}`)), "messages.0.content.0.type: Field required"},
		{"block that isn't an object", "", claudeBody(block(`"a"`)), "messages.0.content.0: Input should be a valid dictionary"},
		{"type that isn't a string", "", claudeBody(block(`{"type":1}`)), "type: Input should be a valid string"},
		{"no limit", "", `{"anthropic_version":"vertex-2023-10-16","messages":[` + asks("a") + `]}`, "max_tokens: Field required"},
		{"limit null", "", claudeBody(asks("a"), `"max_tokens":null`), "max_tokens: Input should be a valid integer"},
		{"limit zero", "", claudeBody(asks("a"), `"max_tokens":0`), "max_tokens: Input should be greater than or equal to 1"},
		{"role", "", claudeBody(`{"role":"system","content":"a"}`), "messages.0.role: Input should be 'user' or 'assistant'"},
		{"messages as an object", "", `{"anthropic_version":"vertex-2023-10-16","messages":{},"max_tokens":1}`, "messages: Input should be a valid list"},
		{"no messages", "", claudeBody(""), "at least one message"},
		{"assistant first", "", claudeBody(says(`{"type":"text","text":"a"}`) + "," + asks("a")), "first message must use"},
		{"empty user message", "", claudeBody(`{"role":"user","content":""}`), "messages.0: user messages must have non-empty content"},
		{"empty assistant message", "", claudeBody(asks("a") + "," + says("") + "," + asks("b")), "messages.1: all messages must have non-empty content"},
		{"empty text", "", claudeBody(results(`{"type":"text","text":""},{"type":"text","text":"a"}`)), "text content blocks must be non-empty"},
		{"blank text", "", claudeBody(asks(" \n")), "must contain non-whitespace text"},
		{"empty system text", "", claudeBody(asks("a"), `"system":[{"type":"text","text":""}]`), "system: text content blocks"},
		{"image in the system", "", claudeBody(asks("a"), `"system":[{"type":"image","source":{}}]`), "system.0: Input tag 'image'"},
		{"trailing white space", "", claudeBody(asks("a") + "," + says(`{"type":"text","text":"b "}`)), "trailing whitespace"},
		{"tool call of the user", "", claudeBody(block(usedTool), claudeWeather), "`tool_use` blocks can not be in `user` messages"},
		{"result of the assistant", "", claudeBody(asks("a")+","+says(toolResult), claudeWeather), "`tool_result` blocks can not be in `assistant` messages"},
		{"thoughts at the end", "", claudeBody(asks("a") + "," + says(`{"type":"thinking","thinking":"a","signature":"b"}`) + "," + asks("b")), "final block in an assistant message"},
		{"mark on an empty text", "", claudeBody(results(`{"type":"text","text":"",` + marked + `},{"type":"text","text":"a"}`)), "cache_control cannot be set for empty text blocks"},
		{"mark on thoughts", "", claudeBody(asks("a") + "," + says(`{"type":"thinking","thinking":"a","signature":"b",`+marked+`}`)), "thinking.cache_control: Extra inputs"},
		{"five marks", "", claudeBody(results(strings.TrimSuffix(five, ","))), "A maximum of 4 blocks with cache_control may be provided. Found 5."},
		{"life of a mark", "", claudeBody(block(`{"type":"text","text":"a","cache_control":{"type":"ephemeral","ttl":"1d"}}`)), "ttl: Input should be '5m' or '1h'"},
		{"kind of a mark", "", claudeBody(asks("a"), `"cache_control":{"type":"forever"}`), "cache_control: Input tag 'forever'"},
		{"long mark after a short one", "", claudeBody(results(`{"type":"text","text":"a",` + marked + `},{"type":"text","text":"a","cache_control":{"type":"ephemeral","ttl":"1h"}}`)), "must not come after a ttl='5m'"},
		{"blank stop sequence", "", claudeBody(asks("a"), `"stop_sequences":["\n"]`), "must contain non-whitespace"},
		{"stop sequence alone", "", claudeBody(asks("a"), `"stop_sequences":"x"`), "stop_sequences: Input should be a valid list"},
		{"temperature", "", claudeBody(asks("a"), `"temperature":1.5`), "temperature: Input should be less than or equal to 1"},
		{"negative temperature", "", claudeBody(asks("a"), `"temperature":-1`), "temperature: Input should be greater than or equal to 0"},
		{"long user id", "", claudeBody(asks("a"), `"metadata":{"user_id":"`+strings.Repeat("a", 257)+`"}`), "at most 256 characters"},
		{"budget", "", claudeBody(asks("a"), `"thinking":{"type":"enabled","budget_tokens":1023}`), "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024"},
		{"kind of thinking", "", claudeBody(asks("a"), `"thinking":{"type":"on"}`), "thinking: Input tag 'on'"},
		{"effort", "", claudeBody(asks("a"), `"output_config":{"effort":"minimal"}`), "output_config.effort: Input should be 'low', 'medium'"},

		{"URL of an image", "", claudeBody(image(`"type":"url","url":"https://example.com/a.png"`)), "source type 'url' is not supported"},
		{"file of an image", "", claudeBody(image(`"type":"file","file_id":"a"`)), "source type 'file' is not supported"},
		{"type of an image", "", claudeBody(image(`"type":"base64","media_type":"image/bmp","data":"AAAA"`)), "media_type: Input should be 'image/jpeg', 'image/png', 'image/gif' or 'image/webp'"},
		{"broken base64", "", claudeBody(image(`"type":"base64","media_type":"image/png","data":"A-A"`)), "source.base64.data: Invalid base64 data"},
		{"image of no bytes", "", claudeBody(image(`"type":"base64","media_type":"image/png","data":""`)), "image cannot be empty"},
		{"image of another type", "", claudeBody(image(`"type":"base64","media_type":"image/gif","data":"` + png + `"`)), "does not match the provided media type image/gif"},
		{"type of a document", "", claudeBody(block(`{"type":"document","source":{"type":"base64","media_type":"text/html","data":"AAAA"}}`)), "Input should be 'application/pdf'"},
		{"empty PDF", "", claudeBody(block(`{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":""}}`)), "PDF cannot be empty"},
		{"URL in a result", "", claudeBody(asks("a")+","+says(usedTool)+","+results(`{"type":"tool_result","tool_use_id":"toolu_1","content":[{"type":"image","source":{"type":"url","url":"https://a"}}]}`), claudeWeather), "tool_result.content.0.image.source: source type 'url'"},

		{"call without result", "", claudeBody(asks("a")+","+says(usedTool)+","+asks("b"), claudeWeather), "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_1."},
		{"call at the end", "", claudeBody(asks("a")+","+says(usedTool), claudeWeather), "messages.1: `tool_use` ids were found without"},
		{"result without call", "", claudeBody(results(toolResult), claudeWeather), "unexpected `tool_use_id` found in `tool_result` blocks: toolu_1"},
		{"result after a text", "", claudeBody(asks("a")+","+says(usedTool)+","+results(`{"type":"text","text":"b"},`+toolResult), claudeWeather), "without `tool_result` blocks immediately after"},
		{"result twice", "", claudeBody(asks("a")+","+says(usedTool)+","+results(toolResult+","+toolResult), claudeWeather), "multiple `tool_result` blocks with id: toolu_1"},
		{"id twice", "", claudeBody(asks("a")+","+says(usedTool)+","+results(toolResult)+","+says(usedTool)+","+results(toolResult), claudeWeather), "ids must be unique"},
		{"id too long", "", claudeBody(asks("a") + "," + says(strings.Replace(usedTool, "toolu_1", strings.Repeat("a", 65), 1))), "tool_use.id: String should have at most 64 characters"},
		{"id with a dot", "", claudeBody(asks("a") + "," + says(strings.Replace(usedTool, "toolu_1", "a.b", 1))), "tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'"},
		{"input that isn't an object", "", claudeBody(asks("a") + "," + says(`{"type":"tool_use","id":"a","name":"f","input":"{}"}`)), "tool_use.input: Input should be a valid dictionary"},
		{"finding without a search", "", claudeBody(asks("a") + "," + says(`{"type":"web_search_tool_result","tool_use_id":"a","content":[]},{"type":"text","text":"b"}`) + "," + asks("c")), "found in `web_search_tool_result` blocks"},

		{"tool name", "", claudeBody(asks("a"), claudeTool(`"name":"a b","input_schema":{"type":"object"}`)), "tools.0.custom.name: String should match pattern"},
		{"tool twice", "", claudeBody(asks("a"), `"tools":[{"name":"f","input_schema":{"type":"object"}},{"name":"f","input_schema":{"type":"object"}}]`), "Tool names must be unique"},
		{"tool without schema", "", claudeBody(asks("a"), claudeTool(`"name":"f"`)), "tools.0.custom.input_schema: Field required"},
		{"schema without type", "", claudeBody(asks("a"), claudeTool(`"name":"f","input_schema":{}`)), "input_schema.type: Field required"},
		{"schema of an array", "", claudeBody(asks("a"), claudeTool(`"name":"f","input_schema":{"type":"array"}`)), "input_schema.type: Input should be 'object'"},
		{"choice at the root", "", claudeBody(asks("a"), claudeTool(`"name":"f","input_schema":{"type":"object","anyOf":[]}`)), "does not support oneOf, allOf, or anyOf"},
		{"type in upper case", "", claudeBody(asks("a"), claudeTool(`"name":"f","input_schema":{"type":"object","properties":{"a":{"type":"STRING"}}}`)), "draft 2020-12"},
		{"name of a property", "", claudeBody(asks("a"), claudeTool(`"name":"f","input_schema":{"type":"object","properties":{"a b":{}}}`)), "Property keys should match"},
		{"open object of a strict tool", "", claudeBody(asks("a"), claudeTool(`"name":"f","strict":true,"input_schema":{"type":"object"}`)), "must be explicitly set to false"},
		{"OpenAI's tool", "", claudeBody(asks("a"), claudeTool(`"type":"function","function":{"name":"f"}`)), "tools.0: Input tag 'function'"},
		{"tool the platform lacks", "", claudeBody(asks("a"), claudeTool(`"type":"code_execution_20250522","name":"code_execution"`)), "Input tag 'code_execution_20250522'"},
		{"both lists of domains", "", claudeBody(asks("a"), claudeTool(`"type":"web_search_20250305","name":"web_search","allowed_domains":["a"],"blocked_domains":["b"]`)), "Only one of allowed_domains"},
		{"choice as a string", "", claudeBody(asks("a"), claudeWeather, `"tool_choice":"auto"`), "tool_choice: Input should be a valid dictionary"},
		{"choice without tools", "", claudeBody(asks("a"), `"tool_choice":{"type":"auto"}`), "only be specified while providing tools"},
		{"choice of a tool that isn't there", "", claudeBody(asks("a"), claudeWeather, `"tool_choice":{"type":"tool","name":"g"}`), "Tool 'g' not found"},
		{"parallel next to none", "", claudeBody(asks("a"), claudeWeather, `"tool_choice":{"type":"none","disable_parallel_tool_use":true}`), "tool_choice.none.disable_parallel_tool_use: Extra inputs"},

		{"open object of a format", "", claudeBody(asks("a"), format(`{"type":"object","properties":{}}`)), "output_config.format.schema: For 'object' type, 'additionalProperties' must be explicitly set to false"},
		{"bound in a format", "", claudeBody(asks("a"), format(`{"type":"integer","minimum":1,"maximum":2}`)), "For 'integer' type, properties maximum, minimum are not supported"},
		{"two items in a format", "", claudeBody(asks("a"), format(`{"type":"array","items":{"type":"string"},"minItems":2}`)), "values other than 0 or 1"},
		{"circle in a format", "", claudeBody(asks("a"), format(`{"$ref":"#/$defs/a","$defs":{"a":{"type":"array","items":{"$ref":"#/$defs/a"}}}}`)), "Circular reference"},
		{"reference that leads nowhere", "", claudeBody(asks("a"), format(`{"$ref":"#/$defs/a"}`)), "does not lead to a definition"},
		{"type of a format", "", claudeBody(asks("a"), `"output_config":{"format":{"type":"json_object"}}`), "format: Input tag 'json_object'"},
		{"format with a beginning", "", claudeBody(asks("a")+","+says(`{"type":"text","text":"{"}`), format(`{"type":"string"}`)), "not supported with structured outputs"},
	}
}

func TestClaudeRefusesForEveryModel(t *testing.T) {
	s := vertextest.New()
	defer s.Close()
	for _, r := range general() {
		t.Run(r.name, func(t *testing.T) {
			a, m := claude(t, s, "claude-opus-4-5@20251101", r.body)
			if a.status != http.StatusBadRequest || m.Type != "error" || m.Error.Type != "invalid_request_error" || !strings.Contains(m.Error.Message, r.want) {
				t.Errorf("status %d, body %s, want %q", a.status, a.body, r.want)
			}
			if !strings.HasPrefix(m.RequestID, "req_vrtx_") || a.header.Get("Request-Id") != m.RequestID {
				t.Errorf("request id %q, header %q", m.RequestID, a.header.Get("Request-Id"))
			}
			if err := vertextest.CheckMessages([]byte(r.body)); err == nil || !strings.Contains(err.Error(), r.want) {
				t.Errorf("CheckMessages: %v, want %q", err, r.want)
			}
		})
	}
}

func TestClaudeRefusesByModel(t *testing.T) {
	s := vertextest.New()
	defer s.Close()
	const opus41, sonnet45, opus45 = "claude-opus-4-1@20250805", "claude-sonnet-4-5@20250929", "claude-opus-4-5@20251101"
	forced := []string{claudeWeather, `"tool_choice":{"type":"any"}`}
	thought := `{"type":"thinking","thinking":"Well.","signature":"` + vertextest.ClaudeSignature("Well.") + `"}`
	altered := strings.Replace(thought, "Well.", "Well!", 1)
	foreign, err := vertextest.Signature("gemini-3.8-flash", vertextest.FunctionCall{Name: "f"})
	if err != nil {
		t.Fatal(err)
	}
	call := asks("a") + "," + says(usedTool) + "," + results(toolResult)
	for _, r := range []refusal{
		{"limit of 4.1", opus41, claudeBody(asks("a"), `"max_tokens":32001`), "max_tokens: 32001 > 32000, which is the maximum allowed number of output tokens for claude-opus-4-1-20250805"},
		{"limit of 5.5", "claude-opus-5-5", claudeBody(asks("a"), `"max_tokens":128001`), "128001 > 128000"},
		{"long prompt", sonnet45, claudeBody(asks(strings.Repeat("abcd", 200_001))), "prompt is too long: 200001 tokens > 200000 maximum"},
		{"stream flag on the unary verb", opus45, claudeBody(asks("a"), `"stream":true`), "stream: Input should be false"},
		{"budget on 4.7", "claude-opus-4-7", claudeBody(asks("a"), think), `"thinking.type.enabled" is not supported for this model`},
		{"budget on 5", "claude-sonnet-5", claudeBody(asks("a"), think), `"thinking.type.enabled" is not supported for this model`},
		{"adaptive on 4.5", sonnet45, claudeBody(asks("a"), `"thinking":{"type":"adaptive"}`), "adaptive thinking is not supported"},
		{"between tools on 5", "claude-opus-5", claudeBody(asks("a"), `"thinking":{"type":"between_tools"}`), "between_tools"},
		{"disabled on Fable", "claude-fable-5-1", claudeBody(asks("a"), `"thinking":{"type":"disabled"}`), "is not supported for this model"},
		{"disabled with a high effort on Opus 5", "claude-opus-5", claudeBody(asks("a"), `"thinking":{"type":"disabled"}`, `"output_config":{"effort":"xhigh"}`), "requires thinking"},
		{"budget beyond the limit", sonnet45, claudeBody(asks("a"), think, `"max_tokens":1024`), "`max_tokens` must be greater than `thinking.budget_tokens`"},
		{"effort on Sonnet 4.5", sonnet45, claudeBody(asks("a"), `"output_config":{"effort":"low"}`), "does not support the effort parameter"},
		{"xhigh on 4.6", "claude-opus-4-6", claudeBody(asks("a"), `"output_config":{"effort":"xhigh"}`), "does not support effort level 'xhigh'. Supported levels: high, low, max, medium."},
		{"temperature on 4.7", "claude-opus-4-7", claudeBody(asks("a"), `"temperature":1`), "`temperature` is deprecated for this model."},
		{"top_p on 5.5", "claude-haiku-5-5", claudeBody(asks("a"), `"top_p":0.9`), "`top_p` is deprecated"},
		{"top_k on Fable", "claude-fable-5", claudeBody(asks("a"), `"top_k":5`), "`top_k` is deprecated"},
		{"temperature and top_p", sonnet45, claudeBody(asks("a"), `"temperature":1`, `"top_p":1`), "cannot both be specified"},
		{"temperature and thinking", sonnet45, claudeBody(asks("a"), think, `"temperature":0.5`), "`temperature` may only be set to 1 when thinking is enabled"},
		{"top_p and thinking", "claude-opus-4-6", claudeBody(asks("a"), `"thinking":{"type":"adaptive"}`, `"top_p":0.9`), "`top_p` must be greater than or equal to 0.95"},
		{"top_k and thinking", sonnet45, claudeBody(asks("a"), think, `"top_k":5`), "`top_k` must be unset"},
		{"forced tool and thinking", sonnet45, claudeBody(asks("weather"), append(forced, think)...), "Thinking may not be enabled when tool_choice forces tool use."},
		{"forced tool on Mythos", "claude-mythos-5-1", claudeBody(asks("weather"), forced...), "not compatible with this model"},
		{"prefill on 4.6", "claude-opus-4-6", claudeBody(asks("a") + "," + says(`{"type":"text","text":"b"}`)), "does not support assistant message prefill"},
		{"prefill on 5", "claude-sonnet-5", claudeBody(asks("a") + "," + says(`{"type":"text","text":"b"}`)), "does not support assistant message prefill"},
		{"call without thoughts", sonnet45, claudeBody(call, claudeWeather, think), "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`"},
		{"altered thoughts", "claude-opus-4-8", claudeBody(asks("a")+","+says(altered+","+usedTool)+","+results(toolResult), claudeWeather), "messages.1.content.0: Invalid `signature` in `thinking` block"},
		{"signature of a Gemini", sonnet45, claudeBody(asks("a") + "," + says(`{"type":"thinking","thinking":"a","signature":"`+foreign+`"},{"type":"text","text":"b"}`) + "," + asks("c")), "Invalid `signature`"},
		{"altered redacted thoughts", sonnet45, claudeBody(asks("a") + "," + says(`{"type":"redacted_thinking","data":"AAAA"},{"type":"text","text":"b"}`) + "," + asks("c")), "Invalid `data`"},
		{"context management without its beta", "claude-opus-4-6", claudeBody(asks("a"), `"context_management":{"edits":[]}`), "context_management: Extra inputs"},
		{"computer without its beta", sonnet45, claudeBody(asks("a"), claudeTool(`"type":"computer_20250124","name":"computer","display_width_px":1,"display_height_px":1`)), "Input tag 'computer_20250124'"},
		{"unknown beta in the body", sonnet45, claudeBody(asks("a"), `"anthropic_beta":["skills-2025-10-02"]`), "Unexpected value(s) `skills-2025-10-02` for the `anthropic-beta` header."},
	} {
		t.Run(r.name, func(t *testing.T) {
			a, m := claude(t, s, r.model, r.body)
			if a.status != http.StatusBadRequest || m.Error.Type != "invalid_request_error" || !strings.Contains(m.Error.Message, r.want) {
				t.Errorf("status %d, body %s, want %q", a.status, a.body, r.want)
			}
		})
	}
}

func TestClaudeAccepts(t *testing.T) {
	s := vertextest.New()
	defer s.Close()
	const sonnet45, opus46, opus47 = "claude-sonnet-4-5@20250929", "claude-opus-4-6", "claude-opus-4-7"
	thought := `{"type":"thinking","thinking":"Well.","signature":"` + vertextest.ClaudeSignature("Well.") + `"}`
	hidden := `{"type":"thinking","thinking":"","signature":"` + vertextest.ClaudeSignature("Well.") + `"}`
	redacted := `{"type":"redacted_thinking","data":"` + vertextest.ClaudeRedacted("Well.") + `"}`
	second := strings.NewReplacer("toolu_1", "toolu_2")
	for _, c := range []struct{ name, model, body string }{
		{"text as a string", sonnet45, claudeBody(`{"role":"user","content":"a"}`, `"system":"b"`)},
		{"empty system", sonnet45, claudeBody(asks("a"), `"system":[]`)},
		{"null where nothing is needed", sonnet45, claudeBody(asks("a"), `"temperature":null`, `"tools":null`)},
		{"turns of one role in a row", sonnet45, claudeBody(asks("a") + "," + asks("b"))},
		{"the default version", "claude-opus-4-6@default", claudeBody(asks("a"))},
		{"prefill on 4.5", sonnet45, claudeBody(asks("a") + "," + says(`{"type":"text","text":"b"}`))},
		{"forced tool on 5.5", "claude-opus-5-5", claudeBody(asks("a"), claudeWeather, `"tool_choice":{"type":"tool","name":"get_weather","disable_parallel_tool_use":true}`)},
		{"calls in messages of their own", sonnet45, claudeBody(asks("a")+","+says(usedTool)+","+says(second.Replace(usedTool))+","+results(toolResult+","+second.Replace(toolResult)), claudeWeather)},
		{"results in messages of their own", sonnet45, claudeBody(asks("a")+","+says(usedTool+","+second.Replace(usedTool))+","+results(toolResult)+","+results(second.Replace(toolResult)), claudeWeather)},
		{"text after a result", sonnet45, claudeBody(asks("a")+","+says(usedTool)+","+results(toolResult+`,{"type":"text","text":"b"}`), claudeWeather)},
		{"thoughts before a call", sonnet45, claudeBody(asks("a")+","+says(thought+","+usedTool)+","+results(toolResult), claudeWeather, think)},
		{"redacted thoughts before a call", sonnet45, claudeBody(asks("a")+","+says(redacted+","+usedTool)+","+results(toolResult), claudeWeather, think)},
		{"thoughts that were kept", opus47, claudeBody(asks("a")+","+says(hidden+","+usedTool)+","+results(toolResult), claudeWeather, `"thinking":{"type":"adaptive"}`)},
		{"thoughts lost with adaptive thinking", opus47, claudeBody(asks("a")+","+says(usedTool)+","+results(toolResult), claudeWeather, `"thinking":{"type":"adaptive"}`)},
		{"thoughts lost in an earlier turn", sonnet45, claudeBody(asks("a")+","+says(`{"type":"text","text":"b"}`)+","+asks("c"), think)},
		{"budget on 4.6", opus46, claudeBody(asks("a"), think, `"temperature":1`)},
		{"between tools on 5.5", "claude-sonnet-5-5", claudeBody(asks("a"), `"thinking":{"type":"between_tools"}`)},
		{"every effort on 5", "claude-opus-5", claudeBody(asks("a"), `"output_config":{"effort":"max"}`)},
		{"four marks", sonnet45, claudeBody(results(`{"type":"text","text":"a",`+marked+`},{"type":"text","text":"b",`+marked+`}`), `"system":[{"type":"text","text":"a",`+marked+`}]`, `"cache_control":{"type":"ephemeral","ttl":"5m"}`)},
		{"format", sonnet45, claudeBody(asks("a"), format(`{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false}`))},
		{"strict tool", sonnet45, claudeBody(asks("a"), claudeTool(`"type":"custom","name":"f","strict":true,"input_schema":{"type":"object","properties":{},"additionalProperties":false}`))},
		{"document as text", sonnet45, claudeBody(block(`{"type":"document","title":"t","citations":{"enabled":true},"source":{"type":"text","media_type":"text/plain","data":"a"}}`))},
		{"search result", sonnet45, claudeBody(block(`{"type":"search_result","source":"https://a","title":"t","content":[{"type":"text","text":"a"}]}`))},
		{"body beta", sonnet45, claudeBody(asks("a"), `"anthropic_beta":["context-1m-2025-08-07"]`)},
		{"context management with its beta", opus46, claudeBody(asks("a"), `"context_management":{"edits":[]}`, `"anthropic_beta":["context-management-2025-06-27"]`)},
	} {
		t.Run(c.name, func(t *testing.T) {
			if a, m := claude(t, s, c.model, c.body); a.status != http.StatusOK || m.Type != "message" {
				t.Errorf("status %d, body %s", a.status, a.body)
			}
			if err := vertextest.CheckMessages([]byte(c.body)); err != nil {
				t.Error("CheckMessages:", err)
			}
		})
	}
}

func TestClaudeHeadersAndPlaces(t *testing.T) {
	s := vertextest.New()
	defer s.Close()
	for _, c := range []struct {
		name, location, model, beta, body string
		status                            int
		want                              string
	}{
		{"older model in a region", "us-east5", "claude-sonnet-4-6", "", claudeBody(asks("a")), 200, "message"},
		{"newer model in a region", "us-east5", "claude-opus-4-7", "", claudeBody(asks("a")), 404, "NOT_FOUND"},
		{"newer model in eu", "eu", "claude-opus-4-7", "", claudeBody(asks("a")), 200, "message"},
		{"retired model", "global", "claude-3-5-sonnet-v2@20241022", "", claudeBody(asks("a")), 404, "NOT_FOUND"},
		{"first-party spelling", "global", "claude-sonnet-4-5-20250929", "", claudeBody(asks("a")), 404, "claude-sonnet-4-5-20250929"},
		{"known betas", "global", "claude-opus-4-6", "context-1m-2025-08-07, web-search-2025-03-05", claudeBody(asks("a")), 200, "message"},
		{"unknown beta", "global", "claude-opus-4-6", "context-1m-2025-08-07,files-api-2025-04-14", claudeBody(asks("a")), 400, "Unexpected value(s) `files-api-2025-04-14` for the `anthropic-beta` header"},
		{"no JSON", "global", "claude-opus-4-6", "", `{"a":`, 400, `"invalid_request_error"`},
		{"no object", "global", "claude-opus-4-6", "", `[]`, 400, `"invalid_request_error"`},
		{"too large", "global", "claude-opus-4-6", "", claudeBody(asks(strings.Repeat("a", 30<<20))), 413, `"request_too_large"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			url := strings.Replace(claudeURL(c.model, "rawPredict"), "global", c.location, 1)
			r := newPost(t, url, c.body)
			if c.beta != "" {
				r.Header.Set("anthropic-beta", c.beta)
			}
			if a := do(t, s, r); a.status != c.status || !strings.Contains(string(a.body), c.want) {
				t.Errorf("status %d, body %.300s", a.status, a.body)
			}
		})
	}
	t.Run("no token", func(t *testing.T) {
		r := newPost(t, claudeURL("claude-opus-4-6", "rawPredict"), claudeBody(asks("a")))
		r.Header.Del("Authorization")
		a := do(t, s, r)
		if m := a.decode(t); a.status != 401 || m.Error.Status != "UNAUTHENTICATED" || !strings.Contains(string(a.body), "v1.PredictionService.RawPredict") {
			t.Errorf("status %d, body %s", a.status, a.body)
		}
	})
}
