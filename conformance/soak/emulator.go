package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// firstPiece is how long the platform takes to begin.
const firstPiece = 50 * time.Millisecond

// emulator is a platform that answers as the prompts say: streamGenerateContent and
// generateContent of Gemini, streamRawPredict and rawPredict of Claude.
//
// Source: https://cloud.google.com/vertex-ai/generative-ai/docs/reference/rest/v1/projects.locations.publishers.models/streamGenerateContent
// and https://docs.claude.com/en/docs/build-with-claude/streaming
type emulator struct {
	open, asked, pieces, left, strange atomic.Int64
}

// emulatorCounts are what an emulator saw.
type emulatorCounts struct {
	// Open counts the answers under way, Asked those ever begun, Left those that the
	// client went away from, Strange the requests that no job makes.
	Open, Asked, Pieces, Left, Strange int64
}

func (e *emulator) counts() emulatorCounts {
	return emulatorCounts{e.open.Load(), e.asked.Load(), e.pieces.Load(), e.left.Load(), e.strange.Load()}
}

// askedBody is what the request bodies of both families have in common here.
type askedBody struct {
	Contents []struct {
		Parts []struct {
			Text string `json:"text"`
		} `json:"parts"`
	} `json:"contents"`
	Messages []struct {
		Content json.RawMessage `json:"content"`
	} `json:"messages"`
	Stream bool `json:"stream"`
}

// readJob finds the job in a request.
func readJob(r *http.Request) (*job, error) {
	body, err := io.ReadAll(io.LimitReader(r.Body, 1<<20))
	if err != nil {
		return nil, err
	}
	var b askedBody
	if err := json.Unmarshal(body, &b); err != nil {
		return nil, err
	}
	var text string
	switch {
	case len(b.Contents) > 0 && len(b.Contents[0].Parts) > 0:
		text = b.Contents[0].Parts[0].Text
	case len(b.Messages) > 0:
		var blocks []struct {
			Text string `json:"text"`
		}
		if json.Unmarshal(b.Messages[0].Content, &text) != nil && json.Unmarshal(b.Messages[0].Content, &blocks) == nil && len(blocks) > 0 {
			text = blocks[0].Text
		}
	}
	j, err := parsePrompt(text)
	if err != nil {
		return nil, err
	}
	_, verb, _ := strings.Cut(r.URL.Path, ":")
	switch verb {
	case "streamGenerateContent", "generateContent":
		j.Family, j.Unary = gemini, verb == "generateContent"
	case "streamRawPredict", "rawPredict":
		j.Family, j.Unary = claude, verb == "rawPredict"
	default:
		return nil, fmt.Errorf("the verb %q", verb)
	}
	if j.Family == claude && b.Stream == j.Unary {
		return nil, fmt.Errorf("%s with stream %v", verb, b.Stream)
	}
	return j, nil
}

func (e *emulator) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	e.open.Add(1)
	defer e.open.Add(-1)
	e.asked.Add(1)
	j, err := readJob(r)
	if err != nil {
		if r.Context().Err() == nil {
			e.strange.Add(1)
		}
		http.Error(w, "soak: "+err.Error(), http.StatusBadRequest)
		return
	}
	if !sleep(r.Context(), firstPiece) {
		e.left.Add(1)
		return
	}
	switch {
	case j.Fault == faultRefuse:
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusTooManyRequests)
		_, _ = io.WriteString(w, `{"error":{"code":429,"message":"Resource exhausted. Please try again later.","status":"RESOURCE_EXHAUSTED"}}`)
	case j.Unary:
		if !sleep(r.Context(), j.Pace) {
			e.left.Add(1)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, wireOf(j).whole())
		e.pieces.Add(int64(j.Pieces))
	default:
		w.Header().Set("Content-Type", "text/event-stream")
		if !e.stream(w, r, j) {
			e.left.Add(1)
		}
	}
}

// stream writes the events of an answer at the job's pace. It returns false when
// the client went away.
func (e *emulator) stream(w http.ResponseWriter, r *http.Request, j *job) bool {
	out, wire := http.NewResponseController(w), wireOf(j)
	for n := 1; n <= j.Pieces; n++ {
		if n > 1 && !sleep(r.Context(), j.Pace) {
			return false
		}
		if j.Fault == faultCut && n > j.Pieces/2 {
			return cut(w, r)
		}
		if _, err := io.WriteString(w, wire.events(n, time.Now())); err != nil {
			return false
		}
		if out.Flush() != nil {
			return false
		}
		e.pieces.Add(1)
	}
	return true
}

// cut ends an answer before its end: over HTTP/1.1 by closing the connection, over
// HTTP/2, where others share it, by ending the stream without a finish reason.
func cut(w http.ResponseWriter, r *http.Request) bool {
	if r.ProtoMajor != 1 {
		return true
	}
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return true
	}
	return conn.Close() == nil
}

// sleep waits. It returns false when the client goes away before.
func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// wire writes the answer to a job in the form of a family.
type wire interface {
	// events are those of piece n, with what begins and ends the answer.
	events(n int, now time.Time) string
	// whole is the answer at once.
	whole() string
}

func wireOf(j *job) wire {
	if j.Family == claude {
		return claudeWire{j}
	}
	return geminiWire{j}
}

// kind says whether piece n is a thought, text or the argument of a call.
func (j *job) kind(n int) string {
	switch {
	case n <= j.Thoughts:
		return shapeThinking
	case n > j.Pieces-j.Calls:
		return shapeTools
	}
	return shapeText
}

type geminiWire struct{ *job }

func (g geminiWire) part(n int, now time.Time) string {
	text := piece(g.Mark, n, now)
	switch g.kind(n) {
	case shapeThinking:
		return `{"text":"` + text + `","thought":true}`
	case shapeTools:
		part := `{"functionCall":{"name":"record","args":{"piece":"` + text + `"}}`
		if n == g.Pieces-g.Calls+1 {
			part += `,"thoughtSignature":"` + signature(g.Mark) + `"`
		}
		return part + `}`
	}
	return `{"text":"` + text + `"}`
}

func (g geminiWire) wrap(parts string, last bool) string {
	out := `{"candidates":[{"content":{"role":"model","parts":[` + parts + `]}`
	usage := `{"trafficType":"ON_DEMAND"}`
	if last {
		out += `,"finishReason":"STOP"`
		usage = fmt.Sprintf(`{"promptTokenCount":%d,"candidatesTokenCount":%d,"thoughtsTokenCount":%d,"totalTokenCount":%d,"trafficType":"ON_DEMAND"}`,
			g.promptTokens(), g.visibleTokens(), g.thoughtTokens(), g.promptTokens()+g.visibleTokens()+g.thoughtTokens())
	}
	return out + `,"index":0}],"usageMetadata":` + usage + `,"modelVersion":"gemini-2.5-flash","responseId":"` + g.Mark + `"}`
}

func (g geminiWire) events(n int, now time.Time) string {
	return "data: " + g.wrap(g.part(n, now), n == g.Pieces) + "\r\n\r\n"
}

func (g geminiWire) whole() string {
	parts := make([]string, g.Pieces)
	for i := range parts {
		parts[i] = g.part(i+1, time.Now())
	}
	return g.wrap(strings.Join(parts, ","), true)
}

// signature is what a model signs a part with: base64, and opaque.
func signature(mark string) string { return "c29hay" + mark + "AA" }

type claudeWire struct{ *job }

// event is one of a stream.
func event(name, members string) string {
	return "event: " + name + "\ndata: {\"type\":\"" + name + "\"" + members + "}\n\n"
}

// block is the index of the content block that piece n belongs to.
func (c claudeWire) block(n int) int {
	index := 0
	for i := 2; i <= n; i++ {
		if c.kind(i) != c.kind(i-1) {
			index++
		}
	}
	return index
}

func (c claudeWire) start() string {
	return fmt.Sprintf(`{"id":"msg_vrtx_%s","type":"message","role":"assistant","model":"claude-sonnet-4-5","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":%d,"output_tokens":1}}`,
		c.Mark, c.promptTokens())
}

func (c claudeWire) stop() string {
	if c.Calls > 0 {
		return "tool_use"
	}
	return "end_turn"
}

func (c claudeWire) events(n int, now time.Time) string {
	var b strings.Builder
	if n == 1 {
		b.WriteString(event("message_start", `,"message":`+c.start()))
	}
	kind, index := c.kind(n), `,"index":`+strconv.Itoa(c.block(n))
	opens, closes := n == 1 || c.kind(n-1) != kind, n == c.Pieces || c.kind(n+1) != kind
	delta := func(members string) {
		b.WriteString(event("content_block_delta", index+`,"delta":{`+members+`}`))
	}
	text := piece(c.Mark, n, now)
	switch kind {
	case shapeThinking:
		if opens {
			b.WriteString(event("content_block_start", index+`,"content_block":{"type":"thinking","thinking":"","signature":""}`))
		}
		delta(`"type":"thinking_delta","thinking":"` + text + `"`)
		if closes {
			delta(`"type":"signature_delta","signature":"` + signature(c.Mark) + `"`)
		}
	case shapeTools:
		before, after := "", ""
		if opens {
			b.WriteString(event("content_block_start", index+`,"content_block":{"type":"tool_use","id":"toolu_vrtx_`+c.Mark+`","name":"record","input":{}}`))
			before = `{\"piece\":\"`
		}
		if closes {
			after = `\"}`
		}
		delta(`"type":"input_json_delta","partial_json":"` + before + text + after + `"`)
	default:
		if opens {
			b.WriteString(event("content_block_start", index+`,"content_block":{"type":"text","text":""}`))
		}
		delta(`"type":"text_delta","text":"` + text + `"`)
	}
	if closes {
		b.WriteString(event("content_block_stop", index))
	}
	if n == c.Pieces {
		b.WriteString(event("message_delta", fmt.Sprintf(`,"delta":{"stop_reason":%q,"stop_sequence":null},"usage":{"output_tokens":%d}`,
			c.stop(), c.visibleTokens()+c.thoughtTokens())))
		b.WriteString(event("message_stop", ""))
	}
	return b.String()
}

func (c claudeWire) whole() string {
	texts := map[string]string{} // by kind
	for n := 1; n <= c.Pieces; n++ {
		texts[c.kind(n)] += piece(c.Mark, n, time.Now())
	}
	var blocks []string
	if texts[shapeThinking] != "" {
		blocks = append(blocks, `{"type":"thinking","thinking":"`+texts[shapeThinking]+`","signature":"`+signature(c.Mark)+`"}`)
	}
	if texts[shapeText] != "" {
		blocks = append(blocks, `{"type":"text","text":"`+texts[shapeText]+`"}`)
	}
	if texts[shapeTools] != "" {
		blocks = append(blocks, `{"type":"tool_use","id":"toolu_vrtx_`+c.Mark+`","name":"record","input":{"piece":"`+texts[shapeTools]+`"}}`)
	}
	return fmt.Sprintf(`{"id":"msg_vrtx_%s","type":"message","role":"assistant","model":"claude-sonnet-4-5","content":[%s],"stop_reason":%q,"stop_sequence":null,"usage":{"input_tokens":%d,"output_tokens":%d}}`,
		c.Mark, strings.Join(blocks, ","), c.stop(), c.promptTokens(), c.visibleTokens()+c.thoughtTokens())
}
