package gateway_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/b650d4bf/gateway"
)

// The benchmarks put each workload beside its floor: a stock net/http request
// with a prebuilt body whose answer is read and not parsed. Both go over a
// RoundTripper that answers from memory, so that nothing but the library is on
// the bill. Compare the two of one run; absolute figures move with the machine.

// fixed answers every request with the same bytes.
type fixed struct {
	ctype string
	body  []byte
	sent  []byte // a copy of the last request body, kept when keep is set
	keep  bool
}

func (f *fixed) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Body != nil {
		if f.keep {
			f.sent, _ = io.ReadAll(req.Body)
		} else {
			_, _ = io.Copy(io.Discard, req.Body)
		}
		_ = req.Body.Close()
	}
	return &http.Response{
		StatusCode: 200, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header:        http.Header{"Content-Type": {f.ctype}},
		ContentLength: int64(len(f.body)),
		Body:          io.NopCloser(bytes.NewReader(f.body)),
		Request:       req,
	}, nil
}

// workload is one benchmark: what is asked and what comes back.
type workload struct {
	name   string
	req    *gateway.ChatCompletionRequest
	ctype  string
	answer []byte
}

func unaryAnswer(text string) []byte {
	quoted, _ := json.Marshal(text)
	return fmt.Appendf(nil, `{"candidates":[{"content":{"role":"model","parts":[{"text":%s}]},"finishReason":"STOP","avgLogprobs":-0.1}],`+
		`"usageMetadata":{"promptTokenCount":8,"candidatesTokenCount":12,"totalTokenCount":20,"trafficType":"ON_DEMAND"},`+
		`"modelVersion":"gemini-2.5-flash","createTime":"2026-11-01T00:00:00.000000Z","responseId":"abcDEF123456"}`, quoted)
}

func streamAnswer(chunks int) []byte {
	var b bytes.Buffer
	for i := range chunks {
		finish := ""
		if i == chunks-1 {
			finish = `,"finishReason":"STOP"`
		}
		fmt.Fprintf(&b, `data: {"candidates":[{"content":{"role":"model","parts":[{"text":"piece %d of the answer "}]}%s}],`+
			`"usageMetadata":{"promptTokenCount":8,"candidatesTokenCount":%d,"totalTokenCount":%d,"trafficType":"ON_DEMAND"},`+
			`"modelVersion":"gemini-2.5-flash","responseId":"abcDEF123456"}`+"\r\n\r\n", i, finish, i, i+8)
	}
	return b.Bytes()
}

// thoughtfulAnswer is a stream of thoughts, text and calls whose arguments come
// in pieces.
func thoughtfulAnswer(chunks int) []byte {
	var b bytes.Buffer
	for i := range chunks {
		var part, finish string
		switch n := i % 10; {
		case i < chunks/4:
			part = fmt.Sprintf(`{"text":"thought %d about it ","thought":true}`, i)
		case i < chunks/2:
			part = fmt.Sprintf(`{"text":"piece %d of the answer "}`, i)
		case n == 0:
			part = fmt.Sprintf(`{"functionCall":{"id":"c%d","name":"book","willContinue":true},"thoughtSignature":"c2lnbmF0dXJl"}`, i)
		case n == 9:
			part = `{"functionCall":{}}`
		default:
			part = fmt.Sprintf(`{"functionCall":{"partialArgs":[{"jsonPath":"$.days[%d].name","stringValue":"day %d"}],"willContinue":true}}`, n-1, i)
		}
		if i == chunks-1 {
			finish = `,"finishReason":"STOP"`
		}
		fmt.Fprintf(&b, `data: {"candidates":[{"content":{"role":"model","parts":[%s]}%s}],`+
			`"usageMetadata":{"promptTokenCount":8,"thoughtsTokenCount":250,"candidatesTokenCount":%d,"totalTokenCount":%d,"trafficType":"ON_DEMAND"},`+
			`"modelVersion":"gemini-3.5-flash","responseId":"abcDEF123456"}`+"\r\n\r\n", part, finish, i, i+258)
	}
	return b.Bytes()
}

// conversation has 40 messages of history, 64 KB in all, and 8 tools.
func conversation() *gateway.ChatCompletionRequest {
	req := &gateway.ChatCompletionRequest{Model: "gemini-2.5-flash"}
	line := strings.Repeat("The quick brown fox says \"hello\" to the lazy dog.\n", 32)
	for i := range 40 {
		if i%2 == 0 {
			req.Messages = append(req.Messages, gateway.UserMessage(line))
		} else {
			req.Messages = append(req.Messages, gateway.AssistantMessage(line))
		}
	}
	req.Messages = append(req.Messages, gateway.UserMessage("And now?"))
	for i := range 8 {
		req.Tools = append(req.Tools, gateway.FunctionTool(fmt.Sprintf("tool_%d", i), "does a thing with its arguments",
			[]byte(`{"type":"object","properties":{"city":{"type":"string","description":"a city"},"days":{"type":"integer"},"unit":{"type":"string","enum":["c","f"]}},"required":["city"]}`)))
	}
	return req
}

func workloads() []workload {
	hello := []gateway.Message{gateway.UserMessage("Say hello to the world in one short sentence.")}
	image := "data:image/png;base64," + base64.StdEncoding.EncodeToString(bytes.Repeat([]byte("0123456789abcdef"), 1<<16))
	small := unaryAnswer("Hello, world! It is good to see you again, and I hope that all is well.")
	flash := func(m []gateway.Message) *gateway.ChatCompletionRequest {
		return &gateway.ChatCompletionRequest{Model: "gemini-2.5-flash", Messages: m}
	}
	return []workload{
		{"small", flash(hello), "application/json", small},
		{"bigresp", flash(hello), "application/json", unaryAnswer(strings.Repeat("A line of the long answer.\n", 64<<10/27))},
		{"conv40", conversation(), "application/json", small},
		{"image1m", flash([]gateway.Message{gateway.UserMessage([]gateway.ContentPart{gateway.TextPart("What is it?"), gateway.ImagePart(image)})}), "application/json", small},
		{"stream1000", flash(hello), "text/event-stream", streamAnswer(1000)},
		{"stream1000thoughts", flash(hello), "text/event-stream", thoughtfulAnswer(1000)},
	}
}

func benchClient(tb testing.TB, rt http.RoundTripper) *gateway.Client {
	tb.Helper()
	c, err := gateway.New(gateway.WithProjectID("p"), gateway.WithRegion("us-central1"), gateway.WithAccessToken("token"),
		gateway.WithHTTPClient(&http.Client{Transport: rt}))
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = c.Close() })
	return c
}

// run makes one call and reads its answer to the end.
func (w *workload) run(ctx context.Context, c *gateway.Client) error {
	if w.ctype == "application/json" {
		_, err := c.Chat.Completions.Create(ctx, w.req)
		return err
	}
	s, err := c.Chat.Completions.CreateStream(ctx, w.req)
	for err == nil {
		_, err = s.Recv()
	}
	if !errors.Is(err, io.EOF) {
		return err
	}
	return nil
}

func BenchmarkChat(b *testing.B) {
	for _, w := range workloads() {
		rt := &fixed{ctype: w.ctype, body: w.answer, keep: true}
		c := benchClient(b, rt)
		if err := w.run(b.Context(), c); err != nil {
			b.Fatal(err)
		}
		rt.keep = false
		b.Run(w.name+"/gateway", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := w.run(b.Context(), c); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(w.name+"/floor", func(b *testing.B) {
			b.ReportAllocs()
			hc := &http.Client{Transport: rt}
			for b.Loop() {
				if err := floor(b.Context(), hc, rt.sent); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// floor is what net/http costs by itself.
func floor(ctx context.Context, hc *http.Client, body []byte) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost,
		"https://us-central1-aiplatform.googleapis.com/v1/projects/p/locations/us-central1/publishers/google/models/gemini-2.5-flash:generateContent",
		bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer token")
	res, err := hc.Do(req)
	if err != nil {
		return err
	}
	_, err = io.ReadAll(res.Body)
	return errors.Join(err, res.Body.Close())
}

// vectorAnswer is the answer of predict with n vectors, whose numbers have the
// digits that the platform gives them.
func vectorAnswer(n, dims int) []byte {
	b := []byte(`{"predictions":[`)
	for i := range n {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, `{"embeddings":{"statistics":{"truncated":false,"token_count":4},"values":[`...)
		for j := range dims {
			if j > 0 {
				b = append(b, ',')
			}
			b = strconv.AppendFloat(b, float64(float32(math.Sin(float64(i*dims+j)))/32), 'g', -1, 64)
		}
		b = append(b, `]}}`...)
	}
	return append(b, `],"metadata":{"billableCharacterCount":12}}`...)
}

// BenchmarkEmbed has one vector of 768, and 250 of 3072.
func BenchmarkEmbed(b *testing.B) {
	for _, w := range []struct {
		name    string
		n, dims int
		model   string
	}{{"embed768", 1, 768, "text-embedding-005"}, {"embed250x3072", 250, 3072, "gemini-embedding-001"}} {
		rt := &fixed{ctype: "application/json", body: vectorAnswer(w.n, w.dims), keep: true}
		c := benchClient(b, rt)
		req := &gateway.EmbeddingRequest{Model: w.model, Input: gateway.EmbeddingTexts(slices.Repeat([]string{"Hello, world!"}, w.n)...)}
		if _, err := c.Embeddings.Create(b.Context(), req); err != nil {
			b.Fatal(err)
		}
		rt.keep = false
		b.Run(w.name+"/gateway", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := c.Embeddings.Create(b.Context(), req); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(w.name+"/floor", func(b *testing.B) {
			b.ReportAllocs()
			hc := &http.Client{Transport: rt}
			for b.Loop() {
				if err := floor(b.Context(), hc, rt.sent); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// TestEmbeddingAllocations holds one vector, and each further one, to its budget.
func TestEmbeddingAllocations(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates too")
	}
	allocations := func(n int) float64 {
		c := benchClient(t, &fixed{ctype: "application/json", body: vectorAnswer(n, 768)})
		req := &gateway.EmbeddingRequest{Model: "text-embedding-005", Input: gateway.EmbeddingTexts(slices.Repeat([]string{"Hello, world!"}, n)...)}
		return testing.AllocsPerRun(50, func() {
			if _, err := c.Embeddings.Create(t.Context(), req); err != nil {
				t.Fatal(err)
			}
		})
	}
	one, hundred := allocations(1), allocations(100)
	if one > 25 {
		t.Errorf("one vector takes %v allocations, 25 at most", one)
	}
	if each := (hundred - one) / 99; each > 1.2 {
		t.Errorf("each further vector takes %v allocations, 1 at most", each)
	}
}
