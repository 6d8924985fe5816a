package vertextest_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

const place = "https://aiplatform.googleapis.com/v1/projects/p/locations/global/"

// answered is a response that has been read to its end.
type answered struct {
	status int
	header http.Header
	body   []byte
	err    error // of reading the body
}

// unary posts a body to generateContent of a model.
func unary(t *testing.T, s *vertextest.Server, model, body string) answered {
	t.Helper()
	return post(t, s, place+"publishers/google/models/"+model+":generateContent", body)
}

// stream posts a body to streamGenerateContent of a model, asking for events.
func stream(t *testing.T, s *vertextest.Server, model, body string) answered {
	t.Helper()
	return post(t, s, place+"publishers/google/models/"+model+":streamGenerateContent?alt=sse", body)
}

func newPost(t *testing.T, url, body string) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer token")
	r.Header.Set("Content-Type", "application/json")
	return r
}

func post(t *testing.T, s *vertextest.Server, url, body string) answered {
	t.Helper()
	return do(t, s, newPost(t, url, body))
}

func do(t *testing.T, s *vertextest.Server, r *http.Request) answered {
	t.Helper()
	res, err := s.Transport().RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(res.Body)
	_ = res.Body.Close()
	return answered{res.StatusCode, res.Header, b, err}
}

// message is what the tests look at in a response.
type message struct {
	Candidates []struct {
		Index        int
		FinishReason string
		AvgLogprobs  float64
		Content      struct {
			Role  string
			Parts []messagePart
		}
		GroundingMetadata  *grounding
		URLContextMetadata struct {
			URLMetadata []struct{ RetrievedURL, URLRetrievalStatus string }
		}
	}
	PromptFeedback struct{ BlockReason string }
	UsageMetadata  struct {
		PromptTokenCount, CandidatesTokenCount, ThoughtsTokenCount, TotalTokenCount, CachedContentTokenCount, ToolUsePromptTokenCount int
		TrafficType                                                                                                                   string
		PromptTokensDetails, CandidatesTokensDetails                                                                                  []struct {
			Modality   string
			TokenCount int
		}
	}
	ModelVersion, ResponseID, CreateTime string
	Error                                struct {
		Code            int
		Message, Status string
		Details         []map[string]any
	}
}

type messagePart struct {
	Text             string
	Thought          bool
	ThoughtSignature string
	FunctionCall     *struct {
		ID, Name     string
		Args         map[string]any
		WillContinue bool
		PartialArgs  []partial
	}
	InlineData          *struct{ MimeType, Data string }
	ExecutableCode      *struct{ ID, Language, Code string }
	CodeExecutionResult *struct{ ID, Outcome, Output string }
}

// partial is a piece of the arguments of a call.
type partial struct {
	JSONPath     string
	StringValue  *string
	NumberValue  *float64
	BoolValue    *bool
	NullValue    string
	WillContinue bool
}

// grounding is what an answer says it rests on.
type grounding struct {
	WebSearchQueries, RetrievalQueries []string
	SearchEntryPoint                   struct{ RenderedContent string }
	GroundingChunks                    []map[string]map[string]string
	GroundingSupports                  []struct {
		Segment struct {
			PartIndex, StartIndex, EndIndex int
			Text                            string
		}
		GroundingChunkIndices []int
		ConfidenceScores      []float64
	}
}

func (m message) parts() []messagePart {
	if len(m.Candidates) == 0 {
		return nil
	}
	return m.Candidates[0].Content.Parts
}

func (m message) text() string {
	var b strings.Builder
	for _, p := range m.parts() {
		if !p.Thought {
			b.WriteString(p.Text)
		}
	}
	return b.String()
}

// decode reads a JSON answer and, when it is a success, holds it to the schema.
func (a answered) decode(t *testing.T) message {
	t.Helper()
	var m message
	if err := json.Unmarshal(a.body, &m); err != nil {
		t.Fatalf("%v in %s", err, a.body)
	}
	if a.status == http.StatusOK {
		if err := vertextest.Check("GenerateContentResponse", a.body); err != nil {
			t.Errorf("the answer doesn't fit the schema: %v\n%s", err, a.body)
		}
	}
	return m
}

// events reads an event stream and holds each event to the schema.
func (a answered) events(t *testing.T) []message {
	t.Helper()
	if got := a.header.Get("Content-Type"); got != "text/event-stream" {
		t.Fatalf("content type %q, body %s", got, a.body)
	}
	var list []message
	for frame := range bytes.SplitSeq(bytes.TrimSuffix(a.body, []byte("\r\n\r\n")), []byte("\r\n\r\n")) {
		data, ok := bytes.CutPrefix(frame, []byte("data: "))
		if !ok {
			t.Fatalf("frame without data: %q", frame)
		}
		list = append(list, answered{status: http.StatusOK, body: data}.decode(t))
	}
	return list
}

// say is a body with one user text and more members.
func say(text string, more ...string) string {
	quoted, _ := json.Marshal(text)
	body := `{"contents":[{"role":"user","parts":[{"text":` + string(quoted) + `}]}]`
	for _, m := range more {
		body += "," + m
	}
	return body + "}"
}

// config is a generationConfig member.
func config(members string) string { return `"generationConfig":{` + members + `}` }

const weatherTool = `"tools":[{"functionDeclarations":[{"name":"get_weather","description":"Reports the weather of a place",` +
	`"parametersJsonSchema":{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}}]}]`

// schemaForm turns the JSON Schema of a declaration into a Schema message.
func schemaForm(declared string) string {
	return strings.NewReplacer("parametersJsonSchema", "parameters", `"type":"object"`, `"type":"OBJECT"`, `"type":"string"`, `"type":"STRING"`).Replace(declared)
}
