package chaos_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/b650d4bf/gateway"
	"github.com/b650d4bf/gateway/providers"
)

const (
	geminiModel = "gemini-2.5-flash"
	claudeModel = "anthropic.claude-sonnet-5"
	embedModel  = "text-embedding-005"

	wholeText   = "One two three four."
	wholeTokens = 9
)

// recorded is an answer as the platform gives it.
type recorded struct {
	kind   string // of the content
	pieces []string
}

// The answers, which say the same.
var (
	geminiUnary = &recorded{"application/json; charset=UTF-8", []string{
		`{"candidates":[{"content":{"role":"model","parts":[{"text":"One two `, `three four."}]},"finishReason":"STOP"}],` +
			`"usageMetadata":{"promptTokenCount":5,"candidatesTokenCount":4,"totalTokenCount":9},"responseId":"r1"}`,
	}}
	geminiStream = &recorded{"text/event-stream", []string{
		`data: {"candidates":[{"content":{"role":"model","parts":[{"text":"One two "}]}}],"responseId":"r1"}` + "\r\n\r\n",
		`data: {"candidates":[{"content":{"role":"model","parts":[{"text":"three four."}]},"finishReason":"STOP"}],` +
			`"usageMetadata":{"promptTokenCount":5,"candidatesTokenCount":4,"totalTokenCount":9},"responseId":"r1"}` + "\r\n\r\n",
	}}
	claudeUnary = &recorded{"application/json", []string{
		`{"id":"msg_1","type":"message","role":"assistant","model":"claude-sonnet-5","content":[{"type":"text","text":"One two `,
		`three four."}],"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":5,"output_tokens":4}}`,
	}}
	claudeStream = &recorded{"text/event-stream", []string{
		"event: message_start\n" + `data: {"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant",` +
			`"model":"claude-sonnet-5","content":[],"stop_reason":null,"usage":{"input_tokens":5,"output_tokens":1}}}` + "\n\n",
		"event: content_block_start\n" + `data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}` + "\n\n",
		"event: content_block_delta\n" + `data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"One two "}}` + "\n\n",
		"event: content_block_delta\n" + `data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"three four."}}` + "\n\n",
		"event: content_block_stop\n" + `data: {"type":"content_block_stop","index":0}` + "\n\n",
		"event: message_delta\n" + `data: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":4}}` + "\n\n",
		"event: message_stop\n" + `data: {"type":"message_stop"}` + "\n\n",
	}}
	embedUnary = &recorded{"application/json", []string{
		`{"predictions":[{"embeddings":{"values":[0.5,0.25],`, `"statistics":{"token_count":9,"truncated":false}}}]}`,
	}}
)

// body is the answer without its frame.
func (a *recorded) body() string { return strings.Join(a.pieces, "") }

// bytes frames the answer: by its length, on a connection that stays; in chunks,
// and by the end of the connection.
func (a *recorded) bytes(framing string, header ...string) []byte {
	head := "HTTP/1.1 200 OK\r\nContent-Type: " + a.kind + "\r\n"
	for _, h := range header {
		head += h + "\r\n"
	}
	switch framing {
	case "length":
		return []byte(head + "Content-Length: " + strconv.Itoa(len(a.body())) + "\r\n\r\n" + a.body())
	case "chunked":
		out := head + "Transfer-Encoding: chunked\r\n\r\n"
		for _, p := range a.pieces {
			out += fmt.Sprintf("%x\r\n%s\r\n", len(p), p)
		}
		return []byte(out + "0\r\n\r\n")
	}
	return []byte(head + "Connection: close\r\n\r\n" + a.body())
}

// surface is one way to ask.
type surface struct {
	name   string
	answer *recorded // what fits
	stream bool
	ask    func(ctx context.Context, k *kit, mark string, opts []gateway.RequestOption) outcome
}

// surfaces are the ways to ask in Go.
var surfaces = []surface{
	{"gemini", geminiUnary, false, create(geminiModel)},
	{"gemini stream", geminiStream, true, createStream(geminiModel)},
	{"claude", claudeUnary, false, create(claudeModel)},
	{"claude stream", claudeStream, true, createStream(claudeModel)},
	{"embeddings", embedUnary, false, embed},
}

func request(model, mark string) *gateway.ChatCompletionRequest {
	return &gateway.ChatCompletionRequest{
		Model: model, User: mark, Messages: []gateway.Message{gateway.UserMessage("Count to four, " + mark + ".")},
	}
}

func create(model string) func(context.Context, *kit, string, []gateway.RequestOption) outcome {
	return func(ctx context.Context, k *kit, mark string, opts []gateway.RequestOption) outcome {
		out, err := k.client.Chat.Completions.Create(ctx, request(model, mark), opts...)
		if err != nil {
			return outcome{err: err}
		}
		return ofCompletion(out)
	}
}

func ofCompletion(out *gateway.ChatCompletion) outcome {
	o := outcome{text: out.Text()}
	if len(out.Choices) > 0 {
		o.finish = out.Choices[0].FinishReason
	}
	if out.Usage != nil {
		o.tokens = int(out.Usage.TotalTokens)
	}
	return o
}

func createStream(model string) func(context.Context, *kit, string, []gateway.RequestOption) outcome {
	return func(ctx context.Context, k *kit, mark string, opts []gateway.RequestOption) outcome {
		req := request(model, mark)
		req.StreamOptions = &gateway.StreamOptions{IncludeUsage: true}
		s, err := k.client.Chat.Completions.CreateStream(ctx, req, opts...)
		if err != nil {
			return outcome{err: err}
		}
		defer func() { _ = s.Close() }()
		var o outcome
		for {
			chunk, err := s.Recv()
			if errors.Is(err, io.EOF) {
				return o
			}
			if err != nil {
				o.err = err
				return o
			}
			o.add(chunk)
		}
	}
}

func (o *outcome) add(c *gateway.ChatCompletionChunk) {
	for i := range c.Choices {
		if d := c.Choices[i].Delta.Content; d != "" {
			o.text += d
		}
		if f := c.Choices[i].FinishReason; f != "" {
			o.finish = f
		}
	}
	if c.Usage != nil {
		o.tokens = int(c.Usage.TotalTokens)
	}
}

// embed has the same outcome as the others when the vector is the right one.
func embed(ctx context.Context, k *kit, mark string, opts []gateway.RequestOption) outcome {
	out, err := k.client.Embeddings.Create(ctx, &gateway.EmbeddingRequest{
		Model: embedModel, User: mark, Input: gateway.EmbeddingText("Count to four, " + mark + "."),
	}, opts...)
	if err != nil {
		return outcome{err: err}
	}
	o := outcome{tokens: int(out.Usage.TotalTokens)}
	if len(out.Data) == 1 && fmt.Sprint(out.Data[0].Embedding) == "[0.5 0.25]" {
		o.text, o.finish = wholeText, "stop"
	}
	return o
}

// overFront are the ways to ask the HTTP front at the address.
func overFront(address string) []surface {
	return []surface{
		{"front, gemini", geminiUnary, false, post(address, geminiModel, false)},
		{"front, gemini stream", geminiStream, true, post(address, geminiModel, true)},
		{"front, claude stream", claudeStream, true, post(address, claudeModel, true)},
	}
}

var rawClient = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}

func frontBody(model, mark string, stream bool) string {
	extra := ""
	if stream {
		extra = `,"stream":true,"stream_options":{"include_usage":true}`
	}
	return `{"model":"` + model + `","user":"` + mark + `","messages":[{"role":"user","content":"Count to four, ` + mark + `."}]` + extra + `}`
}

func post(address, model string, stream bool) func(context.Context, *kit, string, []gateway.RequestOption) outcome {
	return func(ctx context.Context, _ *kit, mark string, _ []gateway.RequestOption) outcome {
		o := outcome{front: true}
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, address+"/v1/chat/completions", strings.NewReader(frontBody(model, mark, stream)))
		if err != nil {
			o.err = err
			return o
		}
		req.Header.Set("Content-Type", "application/json")
		res, err := rawClient.Do(req)
		if err != nil {
			o.err = err
			return o
		}
		defer func() { _ = res.Body.Close() }()
		switch {
		case res.StatusCode != http.StatusOK:
			data, _ := io.ReadAll(res.Body)
			o.err = frontError(data, res.StatusCode)
		case stream:
			o.events(res.Body)
		default:
			data, err := io.ReadAll(res.Body)
			if o.err = err; err == nil {
				o = completionOf(data)
			}
		}
		return o
	}
}

// completionOf reads the front's answer.
func completionOf(data []byte) outcome {
	var out gateway.ChatCompletion
	if err := out.UnmarshalJSON(data); err != nil {
		return outcome{front: true, err: err}
	}
	o := ofCompletion(&out)
	o.front = true
	return o
}

// errGone is what the log must have of a client that is gone.
func errGone() error { return &gateway.Error{Code: gateway.ErrCanceled, Sent: true} }

// events reads the event stream of the front.
func (o *outcome) events(body io.Reader) {
	lines := bufio.NewScanner(body)
	for lines.Scan() {
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		switch {
		case !ok:
		case data == "[DONE]":
			return
		case strings.HasPrefix(data, `{"error"`):
			o.err = frontError([]byte(data), 0)
			return
		default:
			var c gateway.ChatCompletionChunk
			if err := c.UnmarshalJSON([]byte(data)); err != nil {
				o.err = err
				return
			}
			o.add(&c)
		}
	}
	o.err = errors.Join(errors.New("the front's stream has no end"), lines.Err())
}

// frontError reads the envelope. The status must be that of the code, or the
// platform's own.
func frontError(data []byte, status int) error {
	var e struct {
		Error struct{ Code, Message string } `json:"error"`
	}
	if err := json.Unmarshal(data, &e); err != nil || e.Error.Code == "" {
		return fmt.Errorf("the front answered %d with %q", status, data)
	}
	out := &gateway.Error{Code: gateway.Code(e.Error.Code), Message: e.Error.Message}
	if want := (&providers.Error{Code: out.Code}).HTTPStatus(); status != 0 && status != want {
		return fmt.Errorf("the front answered %d to %q, want %d", status, out.Code, want)
	}
	return out
}
