package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"
)

// asker makes the call of a job and feeds what comes of it to the answer. A caller
// that leaves, as its job has it, returns nil.
type asker interface {
	ask(ctx context.Context, j *job, a *answer) error
	// code is the gateway's word for an error, "" for what is none of its.
	code(err error) string
}

// refusal is an error that came over HTTP.
type refusal struct {
	status        int
	code, message string
}

func (r *refusal) Error() string {
	return fmt.Sprintf("status %d, %s: %s", r.status, r.code, r.message)
}

// send makes a request.
func send(ctx context.Context, c *http.Client, url string, body []byte, headers map[string]string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	for name, value := range headers {
		req.Header.Set(name, value)
	}
	return c.Do(req)
}

// viaFront asks the gateway's HTTP front, in the schema of OpenAI.
type viaFront struct {
	client *http.Client
	urls   map[string]string // of the front, by protocol
	key    string
	proto  string // "mix", h1 or h2
}

// answerJSON is a chunk or a whole answer.
type answerJSON struct {
	Choices []struct {
		Delta        messageJSON `json:"delta"`
		Message      messageJSON `json:"message"`
		FinishReason string      `json:"finish_reason"`
	} `json:"choices"`
	Usage *struct {
		Prompt     int64 `json:"prompt_tokens"`
		Completion int64 `json:"completion_tokens"`
		Total      int64 `json:"total_tokens"`
	} `json:"usage"`
	Error *struct {
		Code    string `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

type messageJSON struct {
	Content   string `json:"content"`
	ToolCalls []struct {
		Index    int `json:"index"`
		Function struct {
			Arguments string `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
	Blocks []struct {
		Delta struct { // of a chunk
			Thinking string `json:"thinking"`
		} `json:"delta"`
		Thinking string `json:"thinking"` // of a whole answer
	} `json:"content_blocks"`
}

// requestJSON is the body of a chat completion.
func requestJSON(j *job) ([]byte, error) {
	req := map[string]any{
		"model":    "@" + j.Proto + "/" + j.model(),
		"messages": []map[string]string{{"role": "user", "content": j.prompt()}},
	}
	if !j.Unary {
		req["stream"], req["stream_options"] = true, map[string]bool{"include_usage": true}
	}
	if j.Shape == shapeTools {
		req["tools"] = json.RawMessage(`[{"type":"function","function":` + toolJSON + `}]`)
	}
	if j.Shape == shapeThinking {
		req["thinking"] = map[string]any{"type": "enabled", "budget_tokens": thinkingBudget}
		req["max_tokens"] = 2 * thinkingBudget
	}
	return json.Marshal(req)
}

const (
	toolName   = "record"
	toolSchema = `{"type":"object","properties":{"piece":{"type":"string"}},"required":["piece"]}`
	toolJSON   = `{"name":"` + toolName + `","description":"Keeps a piece.","parameters":` + toolSchema + `}`
	// thinkingBudget is the least that Claude takes.
	thinkingBudget = 1024
)

func (f *viaFront) ask(ctx context.Context, j *job, a *answer) error {
	body, err := requestJSON(j)
	if err != nil {
		return err
	}
	proto := f.proto
	if proto != h1 && proto != h2 {
		proto = []string{h2, h1}[j.Mark[markDigits-1]&1]
	}
	res, err := send(ctx, f.client, f.urls[proto]+"/v1/chat/completions", body, map[string]string{
		"x-gateway-api-key": f.key, "x-gateway-strict-compliance": strconv.FormatBool(j.Shape != shapeThinking),
	})
	if err != nil {
		return err
	}
	defer res.Body.Close()
	a.hit = res.Header.Get("x-gateway-cache-status") == "hit"
	if j.Unary || res.StatusCode != http.StatusOK {
		return f.whole(res, a)
	}
	return eachLine(res.Body, func(line []byte, seen time.Time) (bool, error) { return f.line(line, seen, a) })
}

func (f *viaFront) whole(res *http.Response, a *answer) error {
	text, err := io.ReadAll(res.Body)
	if err != nil {
		return err
	}
	seen := time.Now()
	var whole answerJSON
	if err := json.Unmarshal(text, &whole); err != nil {
		return err
	}
	if whole.Error != nil || res.StatusCode != http.StatusOK {
		r := &refusal{status: res.StatusCode}
		if whole.Error != nil {
			r.code, r.message = whole.Error.Code, whole.Error.Message
		}
		return r
	}
	for _, c := range whole.Choices {
		a.message(&c.Message, seen)
		a.finish = c.FinishReason
	}
	a.usage(&whole)
	a.done = true
	return nil
}

// line takes a line of the event stream; false ends the reading.
func (f *viaFront) line(line []byte, seen time.Time, a *answer) (bool, error) {
	text, ok := bytes.CutPrefix(line, []byte("data: "))
	switch {
	case !ok:
		return true, nil
	case a.done:
		a.fail("an event after [DONE]: %q", text)
		return true, nil
	case string(text) == "[DONE]":
		a.done = true
		return true, nil
	}
	var chunk answerJSON
	if err := json.Unmarshal(text, &chunk); err != nil {
		return false, fmt.Errorf("an event that is no JSON: %w", err)
	}
	if chunk.Error != nil {
		return false, &refusal{status: http.StatusOK, code: chunk.Error.Code, message: chunk.Error.Message}
	}
	for _, c := range chunk.Choices {
		a.message(&c.Delta, seen)
		if c.FinishReason != "" {
			a.finish = c.FinishReason
		}
	}
	a.usage(&chunk)
	return !a.leaves(), nil
}

// message takes a message or a part of one.
func (a *answer) message(m *messageJSON, seen time.Time) {
	for _, b := range m.Blocks {
		a.thought(b.Thinking+b.Delta.Thinking, seen)
	}
	a.text(m.Content, seen)
	for i, c := range m.ToolCalls {
		a.argument(max(i, c.Index), c.Function.Arguments, seen)
	}
}

func (a *answer) usage(chunk *answerJSON) {
	if u := chunk.Usage; u != nil {
		a.use(u.Prompt, u.Completion)
		if u.Total != u.Prompt+u.Completion {
			a.fail("the usage %+v does not add up", *u)
		}
	}
}

// leaves reports whether the caller has seen as much as it wants.
func (a *answer) leaves() bool { return a.job.Leave > 0 && a.next > a.job.Leave }

func (*viaFront) code(err error) string { return codeOf(err) }

// eachLine reads lines until there are no more or f has enough.
func eachLine(r io.Reader, f func(line []byte, seen time.Time) (bool, error)) error {
	in := bufio.NewReaderSize(r, 2048)
	var long []byte
	for {
		line, err := in.ReadSlice('\n')
		if err == bufio.ErrBufferFull { //nolint:errorlint // ReadSlice returns it as it is
			long = append(long, line...)
			continue
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		seen := time.Now()
		if len(long) > 0 {
			line = append(long, line...)
			long = long[:0]
		}
		if line = bytes.TrimRight(line, "\r\n"); len(line) > 0 {
			if more, err := f(line, seen); !more {
				return err
			}
		}
	}
}
