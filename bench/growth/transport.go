package growth

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync/atomic"

	"github.com/b650d4bf/gateway"
)

// platform answers every request from memory, so that nothing but the library,
// and net/http as its client, is on the bill. Streams are written as they are
// read, one event at a time, and take no memory of their own.
type platform struct {
	// body is the whole answer, or the stream is.
	body   []byte
	stream *script

	asked atomic.Int64
}

// RoundTrip implements [http.RoundTripper].
func (p *platform) RoundTrip(req *http.Request) (*http.Response, error) {
	p.asked.Add(1)
	if req.Body != nil {
		if _, err := io.Copy(io.Discard, req.Body); err != nil {
			return nil, err
		}
		if err := req.Body.Close(); err != nil {
			return nil, err
		}
	}
	res := &http.Response{
		StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Content-Type": {"application/json"}}, ContentLength: int64(len(p.body)), Request: req,
	}
	if p.stream != nil {
		res.Header.Set("Content-Type", "text/event-stream")
		res.ContentLength = -1
		res.Body = &events{script: *p.stream}
	} else {
		res.Body = io.NopCloser(bytes.NewReader(p.body))
	}
	return res, nil
}

// script writes event i of n.
type script struct {
	n     int
	event func(dst []byte, i, n int) []byte
}

// events is the body of a stream.
type events struct {
	script

	at   int
	text []byte
	rest []byte
}

// Read gives what is left of an event, or the next one.
func (e *events) Read(p []byte) (int, error) {
	if len(e.rest) == 0 {
		if e.at >= e.n {
			return 0, io.EOF
		}
		e.text = e.event(e.text[:0], e.at, e.n)
		e.rest = e.text
		e.at++
	}
	n := copy(p, e.rest)
	e.rest = e.rest[n:]
	return n, nil
}

// Close implements [io.Closer].
func (*events) Close() error { return nil }

// newClient returns a client of the platform.
func newClient(p *platform, more ...gateway.ClientOption) (*gateway.Client, error) {
	return gateway.New(append([]gateway.ClientOption{
		gateway.WithProjectID("p"), gateway.WithRegion("us-central1"), gateway.WithAccessToken("token"),
		gateway.WithHTTPClient(&http.Client{Transport: p}),
	}, more...)...)
}

// The models that are asked, one of each way of speaking.
const (
	gemini = "gemini-2.5-flash"
	signed = "gemini-3.1-pro" // its calls have to come with signatures
	claude = "anthropic.claude-sonnet-5"
)

const (
	geminiAnswer = `{"candidates":[{"content":{"role":"model","parts":[{"text":"Hello, world!"}]},"finishReason":"STOP"}],` +
		`"usageMetadata":{"promptTokenCount":8,"candidatesTokenCount":12,"totalTokenCount":20},"modelVersion":"gemini","responseId":"r1"}`
	claudeAnswer = `{"id":"msg_1","type":"message","role":"assistant","model":"claude-sonnet-5","content":[{"type":"text","text":"Hello, world!"}],` +
		`"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":8,"output_tokens":12}}`
)

// answerOf is what the platform says in the name of the model.
func answerOf(model string) []byte {
	if model == claude {
		return []byte(claudeAnswer)
	}
	return []byte(geminiAnswer)
}

// caller asks for whole answers and counts those that are right.
type caller struct {
	client   *gateway.Client
	platform *platform
	answered int64
}

func newCaller(model string) (*caller, error) {
	p := &platform{body: answerOf(model)}
	client, err := newClient(p)
	return &caller{client: client, platform: p}, err
}

var errAnswer = errors.New("growth: the answer is not the one that was given")

func (c *caller) ask(ctx context.Context, req *gateway.ChatCompletionRequest) error {
	out, err := c.client.Chat.Completions.Create(ctx, req)
	if err != nil {
		return err
	}
	if len(out.Choices) != 1 || out.Choices[0].FinishReason != "stop" || out.Choices[0].Message.Content.Text() != "Hello, world!" {
		return errAnswer
	}
	c.answered++
	return nil
}

// textEvent is a piece of text as Gemini streams it.
func textEvent(b []byte, i, n int) []byte {
	b = append(b, `data: {"candidates":[{"content":{"role":"model","parts":[{"text":"piece of the answer "}]}`...)
	return geminiEnd(b, i, n)
}

// geminiEnd ends an event of Gemini.
func geminiEnd(b []byte, i, n int) []byte {
	if i == n-1 {
		b = append(b, `,"finishReason":"STOP"`...)
	}
	b = append(b, `}],"usageMetadata":{"promptTokenCount":8,"candidatesTokenCount":`...)
	b = strconv.AppendInt(b, int64(i), 10)
	b = append(b, `,"totalTokenCount":`...)
	b = strconv.AppendInt(b, int64(i)+8, 10)
	return append(b, `},"modelVersion":"gemini","responseId":"r1"}`+"\r\n\r\n"...)
}

// mixedEvent is a stream of thoughts, then text, then calls with ten pieces each.
func mixedEvent(b []byte, i, n int) []byte {
	b = append(b, `data: {"candidates":[{"content":{"role":"model","parts":[`...)
	calls := n / 20 * 10
	switch at := i - (n - calls); {
	case i < n/4:
		b = append(b, `{"text":"thought about it ","thought":true}`...)
	case at < 0:
		b = append(b, `{"text":"piece of the answer "}`...)
	case at%10 == 0:
		b = fmt.Appendf(b, `{"functionCall":{"id":"c%d","name":"book","willContinue":true},"thoughtSignature":"c2lnbmF0dXJl"}`, i)
	case at%10 == 9:
		b = append(b, `{"functionCall":{}}`...)
	default:
		b = fmt.Appendf(b, `{"functionCall":{"partialArgs":[{"jsonPath":"$.days[%d].name","stringValue":"day"}],"willContinue":true}}`, at%10-1)
	}
	return geminiEnd(append(b, `]}`...), i, n)
}

// callEvent is one call whose one argument comes in all the pieces.
func callEvent(b []byte, i, n int) []byte {
	b = append(b, `data: {"candidates":[{"content":{"role":"model","parts":[`...)
	switch {
	case n == 1:
		b = append(b, `{"functionCall":{"id":"c","name":"write","args":{"text":"piece"}}}`...)
	case i == 0:
		b = append(b, `{"functionCall":{"id":"c","name":"write","willContinue":true}}`...)
	case i == n-1:
		b = append(b, `{"functionCall":{}}`...)
	default:
		b = append(b, `{"functionCall":{"partialArgs":[{"jsonPath":"$.text","stringValue":"piece of the text ","willContinue":true}],"willContinue":true}}`...)
	}
	return geminiEnd(append(b, `]}`...), i, n)
}

// claudeEvent is a piece of text as Claude streams it.
func claudeEvent(b []byte, i, n int) []byte {
	if i == 0 {
		b = append(b, "event: message_start\n"+`data: {"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"claude-sonnet-5",`+
			`"content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":8,"output_tokens":1}}}`+"\n\n"...)
		b = append(b, "event: content_block_start\n"+`data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`+"\n\n"...)
	}
	b = append(b, "event: content_block_delta\n"+`data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"piece of the answer "}}`+"\n\n"...)
	if i == n-1 {
		b = append(b, "event: content_block_stop\n"+`data: {"type":"content_block_stop","index":0}`+"\n\n"...)
		b = append(b, "event: message_delta\n"+`data: {"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":12}}`+"\n\n"...)
		b = append(b, "event: message_stop\n"+`data: {"type":"message_stop"}`+"\n\n"...)
	}
	return b
}
