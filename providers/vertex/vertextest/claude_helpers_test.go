package vertextest_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

// claudeMessage is what the tests look at in a message of a Claude.
type claudeMessage struct {
	ID, Type, Role, Model string
	Content               []claudeBlock
	StopReason            string          `json:"stop_reason"`
	StopSequence          *string         `json:"stop_sequence"`
	StopDetails           json.RawMessage `json:"stop_details"`
	Usage                 claudeUsage
	InputTokens           int         `json:"input_tokens"` // of a count
	Error                 claudeFault // or Google's
	RequestID             string      `json:"request_id"`
}

type claudeFault struct {
	Type, Message, Status string
	Code                  int
}

type claudeBlock struct {
	Type, Text, Thinking, Signature, Data, ID, Name string
	Input                                           json.RawMessage
	Citations                                       []struct{ URL, Title string }
	Content                                         json.RawMessage
}

type claudeUsage struct {
	InputTokens   int            `json:"input_tokens"`
	OutputTokens  int            `json:"output_tokens"`
	CacheCreation int            `json:"cache_creation_input_tokens"`
	CacheRead     int            `json:"cache_read_input_tokens"`
	ByTTL         map[string]int `json:"cache_creation"`
	Details       map[string]int `json:"output_tokens_details"`
	ServerToolUse map[string]int `json:"server_tool_use"`
}

func (m claudeMessage) text() string {
	var b strings.Builder
	for _, c := range m.Content {
		b.WriteString(c.Text)
	}
	return b.String()
}

// kinds lists the types of the blocks.
func (m claudeMessage) kinds() string {
	list := make([]string, len(m.Content))
	for i, c := range m.Content {
		list[i] = c.Type
	}
	return strings.Join(list, " ")
}

func claudeURL(model, verb string) string {
	return place + "publishers/anthropic/models/" + model + ":" + verb
}

// claudeBody is a body with messages and more members.
func claudeBody(messages string, more ...string) string {
	body := `{"anthropic_version":"vertex-2023-10-16","messages":[` + messages + `]`
	if !strings.Contains(strings.Join(more, ","), `"max_tokens"`) {
		body += `,"max_tokens":4096`
	}
	for _, m := range more {
		body += "," + m
	}
	return body + "}"
}

// asks is a user message of one text.
func asks(text string) string {
	quoted, _ := json.Marshal(text)
	return `{"role":"user","content":[{"type":"text","text":` + string(quoted) + `}]}`
}

// says is an assistant message of the given blocks.
func says(blocks string) string { return `{"role":"assistant","content":[` + blocks + `]}` }

const claudeWeather = `"tools":[{"name":"get_weather","description":"Reports the weather of a place",` +
	`"input_schema":{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}}]`

// claude posts to rawPredict.
func claude(t *testing.T, s *vertextest.Server, model, body string) (answered, claudeMessage) {
	t.Helper()
	a := post(t, s, claudeURL(model, "rawPredict"), body)
	return a, a.claude(t)
}

func (a answered) claude(t *testing.T) claudeMessage {
	t.Helper()
	var m claudeMessage
	if err := json.Unmarshal(a.body, &m); err != nil {
		t.Fatalf("%v in %s", err, a.body)
	}
	return m
}

// claudeEvent is an event of a stream.
type claudeEvent struct {
	Type         string
	Index        int
	Message      claudeMessage
	ContentBlock claudeBlock `json:"content_block"`
	Delta        struct {
		Type, Text, Thinking, Signature string
		PartialJSON                     string `json:"partial_json"`
		StopReason                      string `json:"stop_reason"`
		StopSequence                    string `json:"stop_sequence"`
		Citation                        *struct{ URL string }
	}
	Usage claudeUsage
	Error claudeFault
}

// claudeStream posts to streamRawPredict and reads the events.
func claudeStream(t *testing.T, s *vertextest.Server, model, body string) []claudeEvent {
	t.Helper()
	body = strings.TrimSuffix(body, "}") + `,"stream":true}`
	a := post(t, s, claudeURL(model, "streamRawPredict"), body)
	if got := a.header.Get("Content-Type"); a.status != http.StatusOK || got != "text/event-stream; charset=utf-8" {
		t.Fatalf("status %d, type %q, body %s", a.status, got, a.body)
	}
	var list []claudeEvent
	for frame := range bytes.SplitSeq(bytes.TrimSuffix(a.body, []byte("\n\n")), []byte("\n\n")) {
		head, data, ok := bytes.Cut(frame, []byte("\ndata: "))
		var e claudeEvent
		if err := json.Unmarshal(data, &e); err != nil || !ok || string(head) != "event: "+e.Type {
			t.Fatalf("frame %q: %v", frame, err)
		}
		list = append(list, e)
	}
	return list
}

// join puts a message together from its events, as SDKs do.
func join(t *testing.T, events []claudeEvent) claudeMessage {
	t.Helper()
	m := events[0].Message
	var input strings.Builder
	for _, e := range events {
		switch e.Type {
		case "content_block_start":
			if e.Index != len(m.Content) {
				t.Fatalf("block %d comes as the %dth", e.Index, len(m.Content))
			}
			m.Content = append(m.Content, e.ContentBlock)
			input.Reset()
		case "content_block_delta":
			b := &m.Content[e.Index]
			b.Text += e.Delta.Text
			b.Thinking += e.Delta.Thinking
			b.Signature += e.Delta.Signature
			input.WriteString(e.Delta.PartialJSON)
			if c := e.Delta.Citation; c != nil {
				b.Citations = append(b.Citations, struct{ URL, Title string }{URL: c.URL})
			}
		case "content_block_stop":
			if input.Len() > 0 {
				m.Content[e.Index].Input = json.RawMessage(input.String())
			}
		case "message_delta":
			m.StopReason, m.Usage = e.Delta.StopReason, e.Usage
			if e.Delta.StopSequence != "" {
				m.StopSequence = &e.Delta.StopSequence
			}
		}
	}
	return m
}
