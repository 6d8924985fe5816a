package bench_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"testing"

	"github.com/b650d4bf/gateway"
	"github.com/b650d4bf/gateway/bench/internal/plan"
)

// place is where a service is.
type place struct {
	transport http.RoundTripper // nil is the library's own
	url       string            // the root of the service; "" is the library's own
}

// client is a stock client over the place's transport.
func (p place) client() *http.Client { return &http.Client{Transport: p.transport} }

// call asks once, reads the answer to its end and notes it.
type call func(context.Context, *got) error

// library is what is compared.
type library struct {
	name string
	// schema chooses the service's answer.
	schema func(*work) []byte
	// open makes a client, and the request, which is the same each time.
	open func(testing.TB, *work, place) call
	// bytes says that the answer is read and not parsed.
	bytes bool
}

func vertexSchema(w *work) []byte { return w.vertex }
func geminiSchema(w *work) []byte { return w.gemini }
func openaiSchema(w *work) []byte { return w.openai }

// libraries are all that are compared; plan says who does what.
func libraries() []library {
	return []library{
		{name: plan.Gateway, schema: vertexSchema, open: openGateway},
		{name: plan.Floor, schema: vertexSchema, open: openFloor, bytes: true},
		{name: plan.FloorJSON, schema: vertexSchema, open: openFloorJSON},
		{name: plan.GenAI, schema: vertexSchema, open: openGenAI},
		{name: plan.OpenAI, schema: openaiSchema, open: openOpenAI},
		{name: plan.GoOpenAI, schema: openaiSchema, open: openGoOpenAI},
		{name: plan.AnyLLM, schema: geminiSchema, open: openAnyLLM},
		{name: plan.Eino, schema: vertexSchema, open: openEino},
		{name: plan.LangChain, schema: openaiSchema, open: openLangChain},
		{name: plan.Bifrost, schema: openaiSchema, open: openBifrost},
	}
}

// peer returns the library of that name.
func peer(tb testing.TB, name string) *library {
	tb.Helper()
	for _, l := range libraries() {
		if l.name == name {
			return &l
		}
	}
	tb.Fatalf("the plan names %s, which is not there", name)
	return nil
}

// fixed answers every request with the same bytes.
type fixed struct {
	ctype string
	body  []byte
	keep  bool
	sent  []byte // the last request's body, if keep is set
	url   string // and its URL
}

func (f *fixed) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Body != nil {
		if f.keep {
			f.sent, _ = io.ReadAll(req.Body)
			f.url = req.URL.String()
		} else {
			_, _ = io.Copy(io.Discard, req.Body)
		}
		_ = req.Body.Close()
	}
	return &http.Response{
		StatusCode: http.StatusOK, Status: "200 OK", Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header:        http.Header{"Content-Type": {f.ctype}},
		ContentLength: int64(len(f.body)),
		Body:          io.NopCloser(bytes.NewReader(f.body)),
		Request:       req,
	}, nil
}

// chat is the workload as our request.
func chat(w *work) *gateway.ChatCompletionRequest {
	req := &gateway.ChatCompletionRequest{Model: geminiModel}
	for i, text := range w.texts {
		switch {
		case w.image != nil:
			req.Messages = append(req.Messages, gateway.UserMessage([]gateway.ContentPart{gateway.TextPart(text), gateway.ImagePart(w.dataURI())}))
		case i%2 == 0:
			req.Messages = append(req.Messages, gateway.UserMessage(text))
		default:
			req.Messages = append(req.Messages, gateway.AssistantMessage(text))
		}
	}
	for i := range w.tools {
		req.Tools = append(req.Tools, gateway.FunctionTool(tool(i), toolText, []byte(toolSchema)))
	}
	return req
}

// newGateway is our client; without a transport it has its own.
func newGateway(tb testing.TB, p place, opts ...gateway.ClientOption) *gateway.Client {
	tb.Helper()
	opts = append(opts, gateway.WithProjectID("p"), gateway.WithRegion("us-central1"), gateway.WithAccessToken("token"))
	if p.transport != nil {
		opts = append(opts, gateway.WithHTTPClient(p.client()))
	}
	if p.url != "" {
		opts = append(opts, gateway.WithBaseURL(p.url))
	}
	c, err := gateway.New(opts...)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = c.Close() })
	return c
}

func openGateway(tb testing.TB, w *work, p place) call {
	c := newGateway(tb, p)
	if len(w.vector) > 0 {
		req := &gateway.EmbeddingRequest{Model: vectorModel, Input: gateway.EmbeddingTexts(w.texts...)}
		return func(ctx context.Context, a *got) error {
			out, err := c.Embeddings.Create(ctx, req)
			if err == nil {
				numbers(a, out.Data[0].Embedding)
			}
			return err
		}
	}
	req := chat(w)
	if !w.streams() {
		return func(ctx context.Context, a *got) error {
			out, err := c.Chat.Completions.Create(ctx, req)
			if err == nil {
				a.add(out.Text())
			}
			return err
		}
	}
	return func(ctx context.Context, a *got) error {
		s, err := c.Chat.Completions.CreateStream(ctx, req)
		if err != nil {
			return err
		}
		for {
			chunk, err := s.Recv()
			if errors.Is(err, io.EOF) {
				return nil
			}
			if err != nil {
				return err
			}
			for i := range chunk.Choices {
				a.add(chunk.Choices[i].Delta.Content)
			}
		}
	}
}

// asked is the request that our library sends for the workload: what the floors
// send without making it.
func asked(tb testing.TB, w *work, base string) (url string, body []byte) {
	tb.Helper()
	rt := &fixed{ctype: w.ctype(), body: w.vertex, keep: true}
	if err := openGateway(tb, w, place{rt, base})(tb.Context(), &got{}); err != nil {
		tb.Fatal(err)
	}
	return rt.url, rt.sent
}

// stock is what net/http costs by itself; read gets the answer's body.
func stock(tb testing.TB, w *work, p place, read func(io.Reader, *got) error) call {
	tb.Helper()
	url, body := asked(tb, w, p.url)
	hc := p.client()
	return func(ctx context.Context, a *got) error {
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
		if err != nil {
			return err
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Authorization", "Bearer token")
		res, err := hc.Do(req)
		if err != nil {
			return err
		}
		if res.StatusCode != http.StatusOK {
			return errors.Join(errors.New(res.Status), res.Body.Close())
		}
		return errors.Join(read(res.Body, a), res.Body.Close())
	}
}

func openFloor(tb testing.TB, w *work, p place) call {
	return stock(tb, w, p, func(r io.Reader, a *got) error {
		data, err := io.ReadAll(r)
		a.size = len(data)
		return err
	})
}

// said is the least of an answer that has its text.
type said struct {
	Candidates []struct {
		Content struct {
			Parts []struct {
				Text string `json:"text"`
			} `json:"parts"`
		} `json:"content"`
		FinishReason string `json:"finishReason"`
	} `json:"candidates"`
}

func (s *said) note(a *got) {
	for i := range s.Candidates {
		for _, part := range s.Candidates[i].Content.Parts {
			a.add(part.Text)
		}
	}
}

// openFloorJSON reads the answer with the standard library. The request is not made.
func openFloorJSON(tb testing.TB, w *work, p place) call {
	return stock(tb, w, p, func(r io.Reader, a *got) error {
		if w.streams() {
			return events(r, a)
		}
		data, err := io.ReadAll(r)
		if err != nil {
			return err
		}
		if len(w.vector) > 0 {
			var v predictions
			if err := json.Unmarshal(data, &v); err != nil {
				return err
			}
			numbers(a, v.vectors()[0])
			return nil
		}
		var s said
		if err := json.Unmarshal(data, &s); err != nil {
			return err
		}
		s.note(a)
		return nil
	})
}

// events reads a stream line by line.
func events(r io.Reader, a *got) error {
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		data, ok := bytes.CutPrefix(lines.Bytes(), []byte("data: "))
		if !ok {
			continue
		}
		var s said
		if err := json.Unmarshal(data, &s); err != nil {
			return err
		}
		s.note(a)
	}
	return lines.Err()
}
