package vertextest_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

// completion is what the tests look at in a chat completion or a chunk of one.
type completion struct {
	ID, Object, Model string
	Choices           []struct {
		Index          int
		Message, Delta chatSaid
		FinishReason   string `json:"finish_reason"`
	}
	Usage *struct {
		Prompt     int            `json:"prompt_tokens"`
		Completion int            `json:"completion_tokens"`
		Total      int            `json:"total_tokens"`
		Details    map[string]int `json:"completion_tokens_details"`
		Extra      map[string]any `json:"extra_properties"`
	}
	Error struct {
		Message, Type, Status string
		Code                  int
	}
}

type chatSaid struct {
	Role, Content string
	Reasoning     string `json:"reasoning_content"`
	ToolCalls     []struct {
		Index    int
		ID, Type string
		Function struct{ Name, Arguments string }
	} `json:"tool_calls"`
}

const (
	openapi  = place + "endpoints/openapi/chat/completions"
	llama    = "meta/llama-4-maverick-17b-128e-instruct-maas"
	deepseek = "deepseek-ai/deepseek-v3.2-maas"

	chatWeather = `"tools":[{"type":"function","function":{"name":"get_weather","description":"Reports the weather of a place",` +
		`"parameters":{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}}}]`
)

// chatBody is a body with messages and more members.
func chatBody(model, messages string, more ...string) string {
	body := `{"messages":[` + messages + `]`
	if model != "" {
		body += `,"model":"` + model + `"`
	}
	for _, m := range more {
		body += "," + m
	}
	return body + "}"
}

// told is a chat message of one text.
func told(role, text string) string {
	quoted, _ := json.Marshal(text)
	return `{"role":"` + role + `","content":` + string(quoted) + `}`
}

func (a answered) completion(t *testing.T) completion {
	t.Helper()
	var c completion
	if err := json.Unmarshal(a.body, &c); err != nil {
		t.Fatalf("%v in %s", err, a.body)
	}
	return c
}

// chatStream reads the chunks of a stream, which has to end in [DONE].
func (a answered) chatStream(t *testing.T) []completion {
	t.Helper()
	body, ok := bytes.CutSuffix(a.body, []byte("data: [DONE]\n\n"))
	if !ok || a.header.Get("Content-Type") != "text/event-stream" {
		t.Fatalf("header %v, body %s", a.header, a.body)
	}
	var list []completion
	for frame := range bytes.SplitSeq(bytes.TrimSuffix(body, []byte("\n\n")), []byte("\n\n")) {
		data, ok := bytes.CutPrefix(frame, []byte("data: "))
		if !ok {
			t.Fatalf("frame %q", frame)
		}
		list = append(list, answered{body: data}.completion(t))
	}
	return list
}

func TestChatAnswers(t *testing.T) {
	s := vertextest.New()
	defer s.Close()
	history := told("user", "weather?") + `,{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"get_weather","arguments":"{\"city\":\"Rome\"}"}}]},` +
		`{"role":"tool","tool_call_id":"a","content":"sunny"}`
	for _, c := range []struct{ name, body, text, reasoning, calls, reason string }{
		{"greets", chatBody(llama, told("system", "Be kind.")+","+told("user", "Hello")), "Hello! How can I help you today?", "", "", "stop"},
		{"shows its reasoning", chatBody(deepseek, told("user", "Hello")), "Hello! How can I help you today?", "**Reading the request**\n\nThe request is clear; a short reply will do.\n\n", "", "stop"},
		{"calls", chatBody(llama, told("user", "The weather in Paris?"), chatWeather), "", "", `get_weather {"city":"Paris"}`, "tool_calls"},
		{"calls when it has to", chatBody(llama, told("user", "Something in Rome"), chatWeather, `"tool_choice":"required"`), "", "", `get_weather {"city":"Rome"}`, "tool_calls"},
		{"calls once", chatBody(llama, told("user", "The weather in Paris and Rome?"), chatWeather, `"parallel_tool_calls":false`), "", "", `get_weather {"city":"Paris"}`, "tool_calls"},
		{"reports results", chatBody(llama, history, chatWeather), `get_weather answered: "sunny"`, "", "", "stop"},
		{"stops at the limit", chatBody(llama, told("user", "one two three"), `"max_completion_tokens":2`), "You said", "", "", "length"},
		{"stops at a sequence", chatBody(llama, told("user", "one two three"), `"stop":" two"`), `You said: "one`, "", "", "stop"},
		{"sees", chatBody(llama, `{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}},{"type":"text","text":"a"}]}`), `You sent image/png and said: "a".`, "", "", "stop"},
		{"fits a schema", chatBody(llama, told("user", "in Rome"), `"response_format":{"type":"json_schema","json_schema":{"name":"a","schema":{"type":"object","properties":{"city":{"type":"string"}}}}}`), "{\n  \"city\": \"Rome\"\n}", "", "", "stop"},
		{"ignores what it doesn't know", chatBody(llama, told("user", "Hi"), `"foo":1,"seed":2`), "Hello! How can I help you today?", "", "", "stop"},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := post(t, s, openapi, c.body)
			m := a.completion(t)
			if a.status != 200 || m.Object != "chat.completion" || len(m.Choices) != 1 {
				t.Fatalf("status %d, body %s", a.status, a.body)
			}
			said := m.Choices[0].Message
			var calls []string
			for _, one := range said.ToolCalls {
				calls = append(calls, one.Function.Name+" "+one.Function.Arguments)
			}
			got := []string{said.Content, said.Reasoning, strings.Join(calls, "\n"), m.Choices[0].FinishReason}
			want := []string{c.text, c.reasoning, c.calls, c.reason}
			if d := cmp.Diff(want, got); d != "" {
				t.Error(d)
			}
			if m.Usage == nil || m.Usage.Total != m.Usage.Prompt+m.Usage.Completion || (c.reasoning != "") != (m.Usage.Details["reasoning_tokens"] > 0) || m.Usage.Extra["google"] == nil {
				t.Errorf("usage %+v", m.Usage)
			}
			if d := cmp.Diff(want, joinChunks(post(t, s, openapi, strings.TrimSuffix(c.body, "}")+`,"stream":true}`).chatStream(t))); d != "" {
				t.Error("stream:", d)
			}
		})
	}
}

// joinChunks puts text, reasoning, calls and finish_reason together.
func joinChunks(chunks []completion) []string {
	out := make([]string, 4)
	for _, c := range chunks {
		for _, choice := range c.Choices {
			out[0] += choice.Delta.Content
			out[1] += choice.Delta.Reasoning
			for _, call := range choice.Delta.ToolCalls {
				if call.Function.Name != "" {
					out[2] += call.Function.Name + " "
				}
				out[2] += call.Function.Arguments
			}
			out[3] += choice.FinishReason
		}
	}
	return out
}

func TestChatStreamUsage(t *testing.T) {
	s := vertextest.New()
	defer s.Close()
	chunks := post(t, s, openapi, chatBody(llama, told("user", "Hi"), `"stream":true,"stream_options":{"include_usage":true}`)).chatStream(t)
	last := chunks[len(chunks)-1]
	if last.Usage == nil || len(last.Choices) != 0 || chunks[0].Choices[0].Delta.Role != "assistant" || last.Object != "chat.completion.chunk" {
		t.Errorf("chunks %+v", chunks)
	}
	for _, c := range post(t, s, openapi, chatBody(llama, told("user", "Hi"), `"stream":true`)).chatStream(t) {
		if c.Usage != nil {
			t.Error("usage without having been asked for")
		}
	}
	r := s.Requests()[0]
	if r.Model != llama || r.Verb != "chat/completions" || r.Location != "global" {
		t.Errorf("recorded %+v", r)
	}
}

func TestChatRefuses(t *testing.T) {
	s := vertextest.New()
	defer s.Close()
	call := `{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"get_weather","arguments":"{}"}}]}`
	for _, r := range []refusal{
		{"no JSON", "", `{"model":"` + llama + `",`, "Invalid JSON payload"},
		{"model without publisher", "", chatBody("llama", told("user", "a")), "Expected {publisher}/{model}"},
		{"wrong type", "", chatBody(llama, told("user", "a"), `"n":"one"`), "wrong type"},
		{"no messages", "", chatBody(llama, ""), "at least one message"},
		{"role", "", chatBody(llama, told("model", "a")), "Unexpected message role"},
		{"developer to a model that doesn't know it", "", chatBody(llama, told("developer", "a")), "Unexpected message role"},
		{"no content", "", chatBody(llama, `{"role":"user"}`), "content is missing"},
		{"call of a user", "", chatBody(llama, `{"role":"user","content":"a","tool_calls":[{"id":"a"}]}`), "only an assistant"},
		{"kind of part", "", chatBody(llama, `{"role":"user","content":[{"type":"file"}]}`), "Unknown part type: file"},
		{"image to a model that doesn't see", "", chatBody(deepseek, `{"role":"user","content":[{"type":"image_url","image_url":{"url":"https://a/b"}}]}`), "not a multimodal model"},
		{"broken data URL", "", chatBody(llama, `{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png,AA"}}]}`), "Invalid base64"},
		{"relative URL", "", chatBody(llama, `{"role":"user","content":[{"type":"image_url","image_url":"a.png"}]}`), "HTTP or data URL"},
		{"temperature", "", chatBody(llama, told("user", "a"), `"temperature":2.1`), "temperature must be in the range from 0 to 2"},
		{"top_p of zero", "", chatBody(llama, told("user", "a"), `"top_p":0`), "top_p must be in the range"},
		{"no tokens", "", chatBody(llama, told("user", "a"), `"max_tokens":0`), "max_tokens must be in the range"},
		{"result without call", "", chatBody(llama, `{"role":"tool","tool_call_id":"a","content":"b"}`), "doesn't belong to a tool call"},
		{"call without result", "", chatBody(llama, told("user", "a")+","+call+","+told("user", "b")), "Not the same number"},
		{"call at the end", "", chatBody(llama, told("user", "a")+","+call), "Not the same number"},
		{"arguments", "", chatBody(llama, told("user", "a")+","+strings.Replace(call, `"{}"`, `"{"`, 1)), "aren't a JSON object"},
		{"kind of tool", "", chatBody(llama, told("user", "a"), `"tools":[{"type":"web"}]`), "Only tools of type function"},
		{"name of a tool", "", chatBody(llama, told("user", "a"), `"tools":[{"type":"function","function":{"name":"a b"}}]`), "should match pattern"},
		{"schema of a tool", "", chatBody(llama, told("user", "a"), `"tools":[{"type":"function","function":{"name":"a","parameters":[]}}]`), "Input should be an object"},
		{"choice", "", chatBody(llama, told("user", "a"), chatWeather, `"tool_choice":"any"`), "Invalid value for `tool_choice`"},
		{"choice of another tool", "", chatBody(llama, told("user", "a"), chatWeather, `"tool_choice":{"type":"function","function":{"name":"g"}}`), "doesn't exist"},
		{"choice without tools", "", chatBody(llama, told("user", "a"), `"tool_choice":"auto"`), "`tools` must be set"},
		{"format", "", chatBody(llama, told("user", "a"), `"response_format":{"type":"xml"}`), "response_format.type"},
		{"format without schema", "", chatBody(llama, told("user", "a"), `"response_format":{"type":"json_schema"}`), "needs a name and a schema"},
		{"stream options alone", "", chatBody(llama, told("user", "a"), `"stream_options":{"include_usage":true}`), "Stream options"},
	} {
		t.Run(r.name, func(t *testing.T) {
			a := post(t, s, openapi, r.body)
			var list []completion
			if err := json.Unmarshal(a.body, &list); err != nil {
				t.Fatalf("not an array: %s", a.body)
			}
			if e := list[0].Error; a.status != 400 || e.Status != "INVALID_ARGUMENT" || !strings.Contains(e.Message, r.want) {
				t.Errorf("status %d, body %s, want %q", a.status, a.body, r.want)
			}
		})
	}
	a := post(t, s, openapi, chatBody("meta/llama-9", told("user", "a")))
	if a.status != http.StatusNotFound || !strings.HasPrefix(string(a.body), "[") || !strings.Contains(string(a.body), "publishers/meta/models/llama-9") {
		t.Errorf("unknown model: %s", a.body)
	}
	if a := post(t, s, openapi, chatBody("openai/gpt-oss-120b-maas", told("developer", "a")+","+told("user", "b"))); a.status != 200 {
		t.Errorf("developer: %s", a.body)
	}
}

func TestMistral(t *testing.T) {
	s := vertextest.New()
	defer s.Close()
	url := place + "publishers/mistralai/models/mistral-medium-3:"
	call := func(id string) string {
		return told("user", "a") + `,{"role":"assistant","content":"","tool_calls":[{"id":"` + id + `","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","name":"f","tool_call_id":"` + id + `","content":"b"}`
	}
	for _, c := range []struct {
		name, verb, body string
		status           int
		want             string
	}{
		{"answers", "rawPredict", chatBody("mistral-medium-3", told("user", "Hi"), `"random_seed":1`), 200, "Hello!"},
		{"answers without model", "rawPredict", chatBody("", told("user", "Hi")), 200, "Hello!"},
		{"ids of nine characters", "rawPredict", chatBody("", call("abcdefgh1")), 200, "f answered"},
		{"any", "rawPredict", chatBody("", told("user", "a"), chatWeather, `"tool_choice":"any"`), 200, "get_weather"},
		{"prefix", "rawPredict", chatBody("", told("user", "a")+`,{"role":"assistant","content":"b","prefix":true}`), 200, "choices"},
		{"OpenAI's seed", "rawPredict", chatBody("", told("user", "a"), `"seed":1`), 422, `"loc":["body","seed"]`},
		{"stream options", "streamRawPredict", chatBody("", told("user", "a"), `"stream":true,"stream_options":{"include_usage":true}`), 422, `"loc":["body","stream_options"]`},
		{"other model", "rawPredict", chatBody("codestral-2", told("user", "a")), 400, "Invalid model: codestral-2"},
		{"longer id", "rawPredict", chatBody("", call("call_abcdefgh")), 400, "with a length of 9"},
		{"assistant last", "rawPredict", chatBody("", told("user", "a")+","+told("assistant", "b")), 400, "Expected last role User or Tool"},
		{"stream on the unary verb", "rawPredict", chatBody("", told("user", "a"), `"stream":true`), 400, "stream has to be false"},
		{"the user after a result", "rawPredict", chatBody("", call("abcdefgh1")+","+told("user", "c")), 400, `"message":"Unexpected role 'user' after role 'tool'","type":"invalid_request_message_order"`},
		{"the system after an answer", "rawPredict", chatBody("", told("user", "a")+","+told("assistant", "b")+","+told("system", "c")+","+told("user", "d")), 400, "Unexpected role 'system' after role 'assistant'"},
		{"the system after a question", "rawPredict", chatBody("", told("user", "a")+","+told("system", "c")+","+told("user", "d")), 200, "choices"},
		{"an answer that says nothing", "rawPredict", chatBody("", told("user", "a")+","+told("assistant", "")+","+told("user", "d")), 400, "must have either content or tool_calls"},
		{"member of a message", "rawPredict", chatBody("", `{"role":"user","content":"a","name":"b"}`), 422, `"loc":["body","messages","0","user","name"]`},
		{"developer", "rawPredict", chatBody("", told("developer", "a")), 400, "Unexpected message role"},
		{"temperature", "rawPredict", chatBody("", told("user", "a"), `"temperature":1.6`), 400, "from 0 to 1.5"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if a := post(t, s, url+c.verb, c.body); a.status != c.status || !strings.Contains(string(a.body), c.want) {
				t.Errorf("status %d, body %s", a.status, a.body)
			}
		})
	}
	chunks := post(t, s, url+"streamRawPredict", chatBody("", told("user", "The weather in Paris?"), chatWeather, `"stream":true`)).chatStream(t)
	if last := chunks[len(chunks)-1]; last.Usage == nil || last.Choices[0].FinishReason != "tool_calls" || len(chunks[1].Choices[0].Delta.ToolCalls[0].ID) != 9 {
		t.Errorf("chunks %+v", chunks)
	}
	if a := post(t, s, place+"publishers/mistralai/models/mistral-9:rawPredict", chatBody("", told("user", "a"))); a.status != 404 {
		t.Errorf("%s", a.body)
	}
	s.Script(vertextest.Error(429, "rate_limited", "Too many"), vertextest.Error(429, "RESOURCE_EXHAUSTED", "Too many"))
	if a := post(t, s, url+"rawPredict", chatBody("", told("user", "a"))); !strings.HasPrefix(string(a.body), `{"object":"error","message":"Too many","type":"rate_limited"`) {
		t.Errorf("%s", a.body)
	}
	if a := post(t, s, url+"rawPredict", chatBody("", told("user", "a"))); a.completion(t).Error.Status != "RESOURCE_EXHAUSTED" {
		t.Errorf("%s", a.body)
	}
}

func TestChatRefusesFieldsByOption(t *testing.T) {
	s := vertextest.New(vertextest.WithRefusedField("logit_bias", llama), vertextest.WithDeployed(vertextest.Endpoint{ID: "7"}))
	defer s.Close()
	bias := `"logit_bias":{}`
	if a := post(t, s, openapi, chatBody(llama, told("user", "a"), bias)); a.status != 400 || !strings.Contains(string(a.body), "Cannot find field") {
		t.Errorf("%s", a.body)
	}
	if a := post(t, s, openapi, chatBody(deepseek, told("user", "a"), bias)); a.status != 200 {
		t.Errorf("another model: %s", a.body)
	}
	if a := post(t, s, place+"endpoints/7/chat/completions", `[]`); a.status != 400 {
		t.Errorf("no object: %s", a.body)
	}
}

func TestChatPlaysScripts(t *testing.T) {
	s := vertextest.New()
	defer s.Close()
	body := chatBody(llama, told("user", "Hi"))
	streaming := strings.TrimSuffix(body, "}") + `,"stream":true}`
	s.ScriptFor(llama, vertextest.Thought("Hm.", "There."), vertextest.Blocked("SAFETY"), vertextest.Error(400, "bad_request", "No"),
		vertextest.Overloaded(), vertextest.Text("a b").FailAfterEvents(2, 500, "INTERNAL", "gone"), vertextest.SSE("[DONE]"))
	if m := post(t, s, openapi, body).completion(t).Choices[0].Message; m.Reasoning != "Hm." || m.Content != "There." {
		t.Errorf("%+v", m)
	}
	if c := post(t, s, openapi, body).completion(t).Choices[0]; c.FinishReason != "content_filter" {
		t.Errorf("%+v", c)
	}
	if a := post(t, s, openapi, body); a.status != 400 || a.completion(t).Error.Type != "bad_request" {
		t.Errorf("%s", a.body)
	}
	if a := post(t, s, openapi, body); a.status != 503 || !strings.HasPrefix(string(a.body), "[") {
		t.Errorf("%s", a.body)
	}
	if a := post(t, s, openapi, streaming); a.status != 200 || !strings.Contains(string(a.body), `"status":"INTERNAL"`) || strings.Contains(string(a.body), "[DONE]") {
		t.Errorf("%s", a.body)
	}
	if a := post(t, s, openapi, streaming); string(a.body) != "data: [DONE]\n\n" {
		t.Errorf("%q", a.body)
	}
}
