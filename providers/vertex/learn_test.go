package vertex_test

import (
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/providers"
)

// script answers with one body after the other, the last one again and again;
// a body that begins with a status is a refusal.
type script struct {
	answers []string
	sent    []string
}

func (s *script) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	_ = r.Body.Close()
	if err != nil {
		return nil, err
	}
	s.sent = append(s.sent, string(body))
	text := s.answers[min(len(s.sent), len(s.answers))-1]
	status := http.StatusOK
	if message, ok := strings.CutPrefix(text, "400 "); ok {
		status, text = http.StatusBadRequest, rpcError(400, "INVALID_ARGUMENT", message)
	}
	return &http.Response{StatusCode: status, Header: http.Header{}, ContentLength: -1, Request: r, Body: io.NopCloser(strings.NewReader(text))}, nil
}

const calledTool = `"messages":[{"role":"user","content":"hi"},` +
	`{"role":"assistant","tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}","thought_signature":"c2ln"}}]},` +
	`{"role":"tool","tool_call_id":"c1","content":"ok"}]`

const refusesIDs = `400 Invalid JSON payload received. Unknown name "id" at 'contents[1].parts[0].function_call': Cannot find field.`

func askAgain(t *testing.T, model string, rt http.RoundTripper, times int) []string {
	t.Helper()
	p := newProvider(t, rt)
	var outcomes []string
	for range times {
		q := decodeRequest(t, []byte(`{"model":"`+model+`",`+calledTool+`}`))
		answer, err := p.ChatCompletion(t.Context(), target(model), q)
		switch {
		case err != nil:
			outcomes = append(outcomes, "error "+string(code(err)))
		default:
			var codes []string
			for _, w := range answer.Meta.Warnings {
				codes = append(codes, w.Code)
			}
			outcomes = append(outcomes, "ok "+strings.Join(codes, " "))
		}
	}
	return outcomes
}

func TestRefusedIDsAreLearnt(t *testing.T) {
	rt := &script{answers: []string{refusesIDs, okAnswer}}
	got := askAgain(t, "gemini-3-flash", rt, 2)
	if diff := cmp.Diff([]string{"ok " + providers.WarnAdjusted, "ok "}, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	var ids []int
	for _, body := range rt.sent {
		ids = append(ids, strings.Count(body, `"id":"c1"`))
	}
	if diff := cmp.Diff([]int{2, 0, 0}, ids); diff != "" {
		t.Errorf("ids in the bodies (-want +got)\n%s", diff)
	}
}

func TestRefusedJSONSchemaIsLearnt(t *testing.T) {
	const members = `"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object","properties":{"a":{"type":"string"}}}}}],` +
		`"response_format":{"type":"json_schema","json_schema":{"schema":{"type":"string"}}}`
	for _, tt := range []struct{ refusal, about string }{
		{`Unknown name "parametersJsonSchema" at 'tools[0].function_declarations[0]': Cannot find field.`, "tools"},
		{`Unknown name "responseJsonSchema" at 'generation_config': Cannot find field.`, "response_format"},
	} {
		rt := &script{answers: []string{"400 Invalid JSON payload received. " + tt.refusal, okAnswer}}
		p := newProvider(t, rt)
		var told []string
		for range 2 {
			answer, err := p.ChatCompletion(t.Context(), target("gemini-3-flash"), hello(t, "gemini-3-flash", members))
			if err != nil {
				t.Fatal(err)
			}
			for _, w := range answer.Meta.Warnings {
				told = append(told, w.Code+" "+w.Param)
			}
		}
		if diff := cmp.Diff([]string{providers.WarnAdjusted + " " + tt.about}, told); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
		var forms []string
		for _, body := range rt.sent {
			forms = append(forms, strconv.Itoa(strings.Count(body, "JsonSchema"))+strconv.Itoa(strings.Count(body, `"parameters":{"type":"OBJECT"`)+strings.Count(body, `"responseSchema":{"type":"STRING"`)))
		}
		if diff := cmp.Diff([]string{"20", "02", "02"}, forms); diff != "" {
			t.Errorf("forms of schemas in the bodies (-want +got)\n%s", diff)
		}
	}
}

func TestARefusedBeginningIsLearnt(t *testing.T) {
	const greeting = `"messages":[{"role":"system","content":"s"},{"role":"assistant","content":"Hi"},{"role":"user","content":"x"}]`
	const blank = `"contents":[{"role":"user","parts":[{"text":" "}]},{"role":"model"`
	for _, refusal := range []string{
		"Please ensure that the first turn of a multiturn request is a user turn.",
		"Please ensure that function call turn comes immediately after a user turn or after a function response turn.",
	} {
		rt := &script{answers: []string{"400 " + refusal, okAnswer}}
		p := newProvider(t, rt)
		for range 2 {
			answer, err := p.ChatCompletion(t.Context(), target("gemini-3-flash"), decodeRequest(t, []byte(`{"model":"gemini-3-flash",`+greeting+`}`)))
			if err != nil || len(answer.Meta.Warnings) == 0 {
				t.Fatalf("%v without a warning", err)
			}
		}
		var begun []bool
		for _, body := range rt.sent {
			begun = append(begun, strings.Contains(body, blank))
		}
		if diff := cmp.Diff([]bool{false, true, true}, begun); diff != "" {
			t.Errorf("a blank user turn (-want +got)\n%s", diff)
		}
	}
	t.Run("the user begins", func(t *testing.T) {
		rt := &script{answers: []string{"400 Please ensure that the first turn of a multiturn request is a user turn."}}
		if got := askAgain(t, "gemini-3-flash", rt, 1); len(rt.sent) != 1 || got[0] != "error invalid_request" {
			t.Errorf("%v after %d requests", got, len(rt.sent))
		}
	})
}

func TestARefusedSignatureIsReplacedOnce(t *testing.T) {
	for _, refusal := range []string{"400 Corrupted thought signature.", "400 Invalid thought signature"} {
		rt := &script{answers: []string{refusal, okAnswer}}
		got := askAgain(t, "gemini-3.8-flash", rt, 1)
		if diff := cmp.Diff([]string{"ok " + providers.WarnSignature + " " + providers.WarnSignature}, got); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
		if len(rt.sent) != 2 || !strings.Contains(rt.sent[0], "c2ln") || strings.Contains(rt.sent[1], "c2ln") ||
			!strings.Contains(rt.sent[1], "skip_thought_signature_validator") {
			t.Errorf("sent %q", rt.sent)
		}
	}
	t.Run("by none where the model insists on none", func(t *testing.T) {
		rt := &script{answers: []string{"400 Corrupted thought signature.", okAnswer}}
		got := askAgain(t, "gemini-2.5-flash", rt, 1)
		if diff := cmp.Diff([]string{"ok " + providers.WarnSignature}, got); diff != "" || strings.Contains(rt.sent[1], "thoughtSignature") {
			t.Errorf("(-want +got)\n%s\nsent %q", diff, rt.sent)
		}
	})
	t.Run("and not again", func(t *testing.T) {
		rt := &script{answers: []string{"400 Corrupted thought signature."}}
		if got := askAgain(t, "gemini-3.8-flash", rt, 1); len(rt.sent) != 2 || got[0] != "error invalid_request" {
			t.Errorf("%v after %d requests", got, len(rt.sent))
		}
	})
}

// lateReader refuses the first request and reads its body while the second one
// is on its way, as a transport may that still writes what nobody waits for.
type lateReader struct {
	script
	late chan string
}

func (l *lateReader) RoundTrip(r *http.Request) (*http.Response, error) {
	if l.late == nil {
		body := r.Body
		l.late, r.Body = make(chan string, 1), io.NopCloser(strings.NewReader(""))
		go func() {
			text, _ := io.ReadAll(body)
			_ = body.Close()
			l.late <- string(text)
		}()
	}
	return l.script.RoundTrip(r)
}

func TestASecondTryHasABodyOfItsOwn(t *testing.T) {
	rt := &lateReader{script: script{answers: []string{refusesIDs, okAnswer}}}
	if diff := cmp.Diff([]string{"ok " + providers.WarnAdjusted}, askAgain(t, "gemini-3-flash", rt, 1)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if late := <-rt.late; late != "" && strings.Count(late, `"id":"c1"`) != 2 || len(rt.sent) != 2 || strings.Contains(rt.sent[1], `"id":"c1"`) {
		t.Errorf("sent %q and %q", late, rt.sent)
	}
}

func TestEachLessonIsLearntInOneCall(t *testing.T) {
	rt := &script{answers: []string{refusesIDs, "400 Corrupted thought signature.", okAnswer}}
	want := []string{"ok " + strings.Join([]string{providers.WarnAdjusted, providers.WarnSignature, providers.WarnSignature}, " ")}
	if diff := cmp.Diff(want, askAgain(t, "gemini-3.8-flash", rt, 1)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestALessonIsOfOnePlatform(t *testing.T) {
	rt := &script{answers: []string{refusesIDs, okAnswer}}
	p := newProvider(t, rt)
	for _, base := range []string{"https://strange.example", ""} {
		to := target("gemini-3-flash")
		to.BaseURL = base
		if _, err := p.ChatCompletion(t.Context(), to, decodeRequest(t, []byte(`{"model":"gemini-3-flash",`+calledTool+`}`))); err != nil {
			t.Fatal(err)
		}
	}
	if n := strings.Count(rt.sent[2], `"id":"c1"`); n != 2 {
		t.Errorf("%d ids go to the platform itself: %s", n, rt.sent[2])
	}
}

func TestCountingLearnsToo(t *testing.T) {
	rt := &script{answers: []string{refusesIDs, `{"totalTokens":3}`}}
	q := decodeRequest(t, []byte(`{"model":"gemini-3-flash",`+calledTool+`}`))
	got, err := newProvider(t, rt).CountTokens(t.Context(), target("gemini-3-flash"), q)
	if err != nil || got.TotalTokens != 3 || len(got.Meta.Warnings) != 1 || got.Meta.Warnings[0].Code != providers.WarnAdjusted {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestOtherRefusalsAreNotAskedAgain(t *testing.T) {
	for _, refusal := range []string{"400 something else", `400 Unknown name "id" at 'labels': Cannot find field.`} {
		rt := &script{answers: []string{refusal}}
		if got := askAgain(t, "gemini-3-flash", rt, 1); len(rt.sent) != 1 || got[0] != "error invalid_request" {
			t.Errorf("%s: %v after %d requests", refusal, got, len(rt.sent))
		}
	}
}

func TestARefusedParameterIsExplained(t *testing.T) {
	for _, tt := range []struct{ message, detail, param string }{
		{`Unknown name "thinkingLevel" at 'generation_config.thinking_config': Cannot find field.`, "", "reasoning_effort"},
		{`Unknown name "presencePenalty" at 'generation_config': Cannot find field.`, "", "presence_penalty"},
		{`Unknown name "labels": Cannot find field.`, "", "labels"},
		{`Unknown name "x" at 'contents[1].parts[0]': Cannot find field.`, "", "messages"},
		{`Unknown name "surprise": Cannot find field.`, "", "surprise"},
		{"bad", "generation_config.candidate_count", "n"},
		{"bad", "tools[0].function_declarations[0].parameters", "tools"},
		{"bad", "generationConfig.responseJsonSchema.properties[0]", "response_format"},
		{`Unknown name "`, "", ""},
		{`Unknown name "a' b" at`, "", ""},
	} {
		detail := `{}`
		if tt.detail != "" {
			detail = `{"@type":"type.googleapis.com/google.rpc.BadRequest","fieldViolations":[{"field":"` + tt.detail + `"}]}`
		}
		e := refused(t, 400, nil, rpcError(400, "INVALID_ARGUMENT", tt.message, detail))
		explained := strings.Contains(e.Message, "WithModels")
		if e.Param != tt.param || explained != (tt.param != "" && tt.param != "surprise") || !strings.HasPrefix(e.Message, tt.message) {
			t.Errorf("%s %s: about %q: %s", tt.message, tt.detail, e.Param, e.Message)
		}
	}
}
