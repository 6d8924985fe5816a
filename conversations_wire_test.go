package gateway_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/b650d4bf/gateway"
	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

// familyOf names the family that a model belongs to: what its signatures are
// good for, and the schema it is spoken to in.
func familyOf(model string) string {
	switch vendor, _, _ := strings.Cut(model, "."); vendor {
	case "anthropic":
		return "claude"
	case "mistralai":
		return "mistral"
	case "meta", "deepseek-ai":
		return "open"
	}
	return "gemini"
}

// wiretap is the way to the platform. It notes the signatures that come back.
type wiretap struct {
	platform *vertextest.Server
	issued   map[string]map[string]bool // by family
}

var signatureMember = regexp.MustCompile(`"(?:thoughtSignature|signature)": ?"([^"]+)"`)

func (w *wiretap) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := w.platform.Transport().RoundTrip(r)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(res.Body)
	if closed := res.Body.Close(); err == nil {
		err = closed
	}
	res.Body = io.NopCloser(bytes.NewReader(body))
	family := "gemini"
	if strings.Contains(r.URL.Path, "/publishers/anthropic/") {
		family = "claude"
	}
	if w.issued == nil {
		w.issued = map[string]map[string]bool{"gemini": {}, "claude": {}}
	}
	for _, found := range signatureMember.FindAllSubmatch(body, -1) {
		w.issued[family][string(found[1])] = true
	}
	return res, err
}

// transcript is a conversation as the body of a request has it, in the words of no
// family.
type transcript struct {
	lines      []string
	thinking   []string // text and signature
	signatures []string // of each call
	ids        bool     // calls have ids
	open       []string // ids of the last turn's calls
	calls      int
}

// say adds what somebody said; what one says in a row is one thing.
func (s *transcript) say(who, what string) {
	if what == "" {
		return
	}
	last := len(s.lines) - 1
	if last >= 0 && strings.HasPrefix(s.lines[last], who+": ") && who != "system" {
		s.lines[last] += what
		return
	}
	s.lines = append(s.lines, who+": "+what)
}

// call adds a call. Calls are told by their number, since ids change.
func (s *transcript) call(t *testing.T, id, name, args, signature string) {
	t.Helper()
	s.lines = append(s.lines, fmt.Sprintf("call %d: %s %s", s.calls, name, compact(t, args)))
	s.signatures = append(s.signatures, signature)
	s.open = append(s.open, id)
	s.calls++
}

// begin begins the turn of a model.
func (s *transcript) begin() { s.open = nil }

// result adds the result of the call with the id.
func (s *transcript) result(t *testing.T, id, text string) {
	t.Helper()
	at := slices.Index(s.open, id)
	if at < 0 {
		t.Errorf("a result of %q, which none of %q is", id, s.open)
		return
	}
	s.open[at] = "answered " + strconv.Itoa(at)
	if strings.HasPrefix(text, "{") {
		text = compact(t, text)
	}
	s.lines = append(s.lines, fmt.Sprintf("result %d: %s", s.calls-len(s.open)+at, text))
}

// sorted puts the results of a turn in the order of the calls.
func (s *transcript) sorted() transcript {
	isResult := func(l string) bool { return strings.HasPrefix(l, "result ") }
	for i := 0; i < len(s.lines); i++ {
		end := i
		for end < len(s.lines) && isResult(s.lines[end]) {
			end++
		}
		slices.Sort(s.lines[i:end])
		i = max(i, end-1)
	}
	return *s
}

// compact is JSON without spaces, its members in order.
func compact(t *testing.T, text string) string {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	out, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// scriptOf is the conversation that the caller has.
func scriptOf(t *testing.T, messages []gateway.Message) []string {
	t.Helper()
	var s transcript
	for i := range messages {
		m := &messages[i]
		switch m.Role {
		case gateway.RoleAssistant:
			s.begin()
			s.say("model", m.Content.Text())
			for j := range m.ToolCalls {
				s.call(t, strconv.Itoa(j), m.ToolCalls[j].Function.Name, m.ToolCalls[j].Function.Arguments, "")
			}
		case gateway.RoleTool:
			before := i
			for messages[before].Role != gateway.RoleAssistant {
				before--
			}
			at := slices.IndexFunc(messages[before].ToolCalls, func(c gateway.ToolCall) bool { return c.ID == m.ToolCallID })
			s.result(t, strconv.Itoa(at), m.Content.Text())
		default:
			s.say(m.Role, m.Content.Text())
			for _, p := range m.Content.Parts() {
				if p.ImageURL != nil {
					s.say(m.Role, p.ImageURL.URL)
				}
			}
		}
	}
	return s.sorted().lines
}

// transcripts read the bodies of each family.
var transcripts = map[string]func(*testing.T, []byte) transcript{
	"gemini": geminiScript, "claude": claudeScript, "open": openScript, "mistral": mistralScript,
}

func decodeBody(t *testing.T, body []byte, into any) {
	t.Helper()
	if err := json.Unmarshal(body, into); err != nil {
		t.Fatal(err)
	}
}

func geminiScript(t *testing.T, body []byte) transcript {
	t.Helper()
	type part struct {
		Text       string
		InlineData struct{ MimeType, Data string }

		FunctionCall, FunctionResponse *struct {
			ID, Name       string
			Args, Response json.RawMessage
		}
		ThoughtSignature string
	}
	var b struct {
		SystemInstruction struct{ Parts []part }
		Contents          []struct {
			Role  string
			Parts []part
		}
	}
	decodeBody(t, body, &b)
	var s transcript
	for _, p := range b.SystemInstruction.Parts {
		s.say("system", p.Text)
	}
	for _, c := range b.Contents {
		if c.Role == "model" {
			s.begin()
		}
		answered := 0
		for _, p := range c.Parts {
			switch {
			case p.FunctionCall != nil:
				s.ids = p.FunctionCall.ID != ""
				s.call(t, p.FunctionCall.ID, p.FunctionCall.Name, string(p.FunctionCall.Args), p.ThoughtSignature)
			case p.FunctionResponse != nil:
				if want := s.open[answered]; want != p.FunctionResponse.ID { // by position, and by id where there are ids
					t.Errorf("result %q of call %q", p.FunctionResponse.ID, want)
				}
				s.open[answered] = p.FunctionResponse.ID + "#"
				s.result(t, p.FunctionResponse.ID+"#", plain(p.FunctionResponse.Response))
				answered++
			case p.InlineData.Data != "":
				s.say(c.Role, "data:"+p.InlineData.MimeType+";base64,"+p.InlineData.Data)
			default:
				s.say(c.Role, p.Text)
			}
		}
	}
	return s.sorted()
}

// plain is a result as the caller gave it.
func plain(response json.RawMessage) string {
	var v map[string]any
	if json.Unmarshal(response, &v) == nil && len(v) == 1 {
		if text, ok := v["output"].(string); ok {
			return text
		}
	}
	return string(response)
}

var claudeID = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

func claudeScript(t *testing.T, body []byte) transcript {
	t.Helper()
	type block struct {
		Type, Text, Thinking, Signature, ID, Name string
		Input                                     json.RawMessage
		ToolUseID                                 string `json:"tool_use_id"`
		Content                                   string
		Source                                    struct {
			MediaType string `json:"media_type"`
			Data      string
		}
	}
	var b struct {
		System   []block
		Messages []struct {
			Role    string
			Content []block
		}
	}
	decodeBody(t, body, &b)
	var s transcript
	for _, p := range b.System {
		s.say("system", p.Text)
	}
	for _, m := range b.Messages {
		who := m.Role
		if who == "assistant" {
			who = "model"
			s.begin()
		}
		for i, p := range m.Content {
			switch p.Type {
			case "text":
				s.say(who, p.Text)
			case "image":
				s.say(who, "data:"+p.Source.MediaType+";base64,"+p.Source.Data)
			case "thinking":
				if i > 0 && m.Content[i-1].Type != "thinking" {
					t.Errorf("thinking after %s", m.Content[i-1].Type)
				}
				s.thinking = append(s.thinking, p.Thinking+" "+p.Signature)
			case "tool_use":
				if !claudeID.MatchString(p.ID) {
					t.Errorf("the id %q", p.ID)
				}
				s.call(t, p.ID, p.Name, string(p.Input), "")
			case "tool_result":
				s.result(t, p.ToolUseID, p.Content)
			}
		}
	}
	return s.sorted()
}

var mistralCall = regexp.MustCompile(`^[a-zA-Z0-9]{9}$`)

func mistralScript(t *testing.T, body []byte) transcript {
	t.Helper()
	return chatScript(t, body, func(id string) bool { return mistralCall.MatchString(id) })
}

func openScript(t *testing.T, body []byte) transcript {
	t.Helper()
	return chatScript(t, body, func(id string) bool { return id != "" })
}

// chatScript reads the OpenAI schema. Nothing of ours may be in it.
func chatScript(t *testing.T, body []byte, isID func(string) bool) transcript {
	t.Helper()
	for _, word := range []string{"signature", "content_blocks", `"type":"thinking"`, "reasoning_content"} {
		if bytes.Contains(body, []byte(word)) {
			t.Errorf("%s was sent", word)
		}
	}
	var b struct {
		Messages []struct {
			Role      string
			Content   json.RawMessage
			ToolCalls []struct {
				ID, Type string
				Function struct{ Name, Arguments string }
			} `json:"tool_calls"`
			ToolCallID string `json:"tool_call_id"`
		}
	}
	decodeBody(t, body, &b)
	var s transcript
	for _, m := range b.Messages {
		switch m.Role {
		case "assistant":
			s.begin()
			s.say("model", chatText(t, m.Content))
			for _, c := range m.ToolCalls {
				if !isID(c.ID) || c.Type != "function" {
					t.Errorf("the id %q of a %s", c.ID, c.Type)
				}
				s.call(t, c.ID, c.Function.Name, c.Function.Arguments, "")
			}
		case "tool":
			s.result(t, m.ToolCallID, chatText(t, m.Content))
		default:
			s.say(m.Role, chatText(t, m.Content))
		}
	}
	return s.sorted()
}

// chatText joins what a content says and shows.
func chatText(t *testing.T, content json.RawMessage) string {
	t.Helper()
	var text string
	if len(content) == 0 || json.Unmarshal(content, &text) == nil {
		return text
	}
	var parts []struct {
		Text     string
		ImageURL struct{ URL string } `json:"image_url"`
	}
	decodeBody(t, content, &parts)
	for _, p := range parts {
		text += p.Text + p.ImageURL.URL
	}
	return text
}
