package gateway_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway"
	"github.com/b650d4bf/gateway/catalog"
	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

const (
	nativePath   = "/v1beta/models/gemini-2.5-flash:generateContent"
	nativeStream = "/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse"
	nativeHello  = `{"contents":[{"role":"user","parts":[{"text":"Hi"}]}]}`
)

// postNative asks in the process and returns the answer with all of its body.
func postNative(t *testing.T, c *gateway.Client, path string, header ...string) (*http.Response, string, error) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://gateway.example"+path, strings.NewReader(nativeHello))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	res, err := c.RoundTripper().RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	data, err := io.ReadAll(res.Body)
	return res, string(data), err
}

func TestNativeBytes(t *testing.T) {
	const answer = "{\n  \"candidates\": [ {\"content\":{\"parts\":[{\"text\":\"\\u00e9\"}]}, \"finishReason\": \"STOP\"} ],\n  \"future\": 1.50\n}\n\n"
	c, platform := newClient(t, gateway.WithProjectID("p"), gateway.WithRegion("global"), gateway.WithCache(gateway.Cache{Mode: "simple"}))
	platform.Script(vertextest.JSON(200, answer))
	for _, status := range []string{"miss", "hit"} {
		res, body, err := postNative(t, c, nativePath)
		if err != nil || body != answer || res.Header.Get("X-Gateway-Cache-Status") != status {
			t.Errorf("%s: %q, %v", res.Header.Get("X-Gateway-Cache-Status"), body, err)
		}
	}
	if got := string(platform.Requests()[0].Body); got != nativeHello {
		t.Errorf("sent %s", got)
	}
	const stream = "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"\\u00e9\"}]}}],\"z\":1,\"a\":2}\r\n\r\ndata: {\"candidates\":[{\"finishReason\":\"STOP\"}]}\r\n\r\n"
	platform.Script(vertextest.Raw(200, "text/event-stream", stream))
	for _, status := range []string{"miss", "hit"} {
		res, body, err := postNative(t, c, nativeStream)
		if err != nil || body != stream || res.Header.Get("X-Gateway-Cache-Status") != status {
			t.Errorf("%s: %q, %v", res.Header.Get("X-Gateway-Cache-Status"), body, err)
		}
	}
}

// Equal calls at once share one request; a whole answer and a stream do not.
func TestNativeCallsShare(t *testing.T) {
	c, platform := newClient(t, gateway.WithProjectID("p"), gateway.WithRegion("global"), gateway.WithCache(gateway.Cache{Mode: "simple"}))
	platform.Script(vertextest.Text("once").After(100 * time.Millisecond))
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			if _, body, err := postNative(t, c, nativePath); err != nil || !strings.Contains(body, "once") {
				t.Errorf("%s, %v", body, err)
			}
		})
	}
	group.Wait()
	if n := len(platform.Requests()); n != 1 {
		t.Errorf("%d requests", n)
	}
}

// What a target can't be asked is said before anything is sent.
func TestNativeTargets(t *testing.T) {
	entries, err := catalog.Parse([]byte(`{"providers":{
		"oa":{"provider":"openai","api_key":"k","base_url":"https://platform.example"},
		"vx":{"provider":"vertex-ai","project_id":"p","region":"global","access_token":"t","base_url":"https://platform.example"}},
		"configs":{
			"guarded":{"provider":"@vx","guards":[{"name":"judge"}]},
			"mixed":{"strategy":{"mode":"fallback","on_status_codes":[400]},"targets":[{"provider":"@oa"},{"provider":"@vx"}]},
			"by_model":{"strategy":{"mode":"conditional","conditions":[{"query":{"params.model":{"$eq":"gemini-2.5-flash"}},"then":"v"}]},"targets":[{"name":"v","provider":"@vx"}]}
		}}`))
	if err != nil {
		t.Fatal(err)
	}
	judge := gateway.Guard{Name: "judge", Request: func(context.Context, *gateway.ChatCompletionRequest) (*gateway.ChatCompletionRequest, error) {
		return nil, errors.New("no")
	}}
	c, platform := newClient(t, gateway.WithCatalog(entries), gateway.WithNamedGuards(judge), gateway.WithCache(gateway.Cache{Mode: "simple"}))
	tests := []struct {
		name, path string
		header     []string
		status     int
		says       string
	}{
		{"another schema", strings.Replace(nativePath, "models/", "models/@oa/", 1), nil, 400, "does not speak Google's own schema"},
		{"a target with guards", nativePath, []string{"x-gateway-config", "guarded"}, 400, "the guard judge"},
		{"a stream from a target with guards", nativeStream, []string{"x-gateway-config", "guarded"}, 400, "the guard judge"},
		{"a fallback past what can't be asked", nativePath, []string{"x-gateway-config", "mixed"}, 200, "candidates"},
		{"a condition on the model", nativePath, []string{"x-gateway-config", "by_model"}, 200, "candidates"},
		{"another model", "/v1beta/models/gemini-3.8-flash:generateContent", []string{"x-gateway-config", "by_model"}, 400, "none holds"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			before := len(platform.Requests())
			res, body, err := postNative(t, c, tt.path, tt.header...)
			if err != nil || res.StatusCode != tt.status || !strings.Contains(body, tt.says) {
				t.Errorf("%d %s, %v", res.StatusCode, body, err)
			}
			if sent := len(platform.Requests()) > before; sent && tt.status != 200 {
				t.Error("the platform was asked")
			}
		})
	}
}

// A stream that is closed while it is read elsewhere ends both.
func TestNativeStreamIsClosed(t *testing.T) {
	c, platform := newClient(t, gateway.WithProjectID("p"), gateway.WithRegion("global"), gateway.WithCache(gateway.Cache{Mode: "simple"}))
	platform.Script(vertextest.Text(strings.Repeat("word ", 500)).Paced(5 * time.Millisecond))
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://gateway.example"+nativeStream, strings.NewReader(nativeHello))
	if err != nil {
		t.Fatal(err)
	}
	res, err := c.RoundTripper().RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	go func() {
		_, err := io.Copy(io.Discard, res.Body)
		done <- err
	}()
	time.Sleep(30 * time.Millisecond)
	if err := res.Body.Close(); err != nil {
		t.Error(err)
	}
	if err := <-done; err == nil {
		t.Error("the stream ended well")
	}
	platform.Script(vertextest.Text("anew"))
	if _, body, err := postNative(t, c, nativeStream); err != nil || !strings.Contains(body, "anew") {
		t.Errorf("%q, %v", body, err)
	}
}

// discard is a response that nobody reads.
type discard struct{ header http.Header }

func (d *discard) Header() http.Header         { return d.header }
func (d *discard) Write(p []byte) (int, error) { return len(p), nil }
func (d *discard) WriteHeader(int)             {}
func (d *discard) Flush()                      {}

// BenchmarkNative puts the way through the gateway beside a reverse proxy of the
// standard library, which does nothing but pass bytes on.
func BenchmarkNative(b *testing.B) {
	var stream strings.Builder
	for i := range 100 {
		fmt.Fprintf(&stream, "data: {\"candidates\":[{\"content\":{\"role\":\"model\",\"parts\":[{\"text\":\"word %d \"}]}}],\"modelVersion\":\"gemini-2.5-flash\"}\r\n\r\n", i)
	}
	stream.WriteString("data: {\"candidates\":[{\"finishReason\":\"STOP\"}],\"usageMetadata\":{\"promptTokenCount\":9,\"candidatesTokenCount\":99,\"totalTokenCount\":108}}\r\n\r\n")
	large := `{"contents":[{"role":"user","parts":[{"inlineData":{"mimeType":"image/png","data":"` + strings.Repeat("QUJD", 1<<18) + `"}}]}]}`
	whole := []byte(`{"candidates":[{"content":{"role":"model","parts":[{"text":"` + strings.Repeat("word ", 200) + `"}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":9,"totalTokenCount":209}}`)
	for _, w := range []struct {
		name, path, body, ctype string
		answer                  []byte
	}{
		{"whole", nativePath, nativeHello, "application/json", whole},
		{"stream of 101 events", nativeStream, nativeHello, "text/event-stream", []byte(stream.String())},
		{"1 MiB in", nativePath, large, "application/json", whole},
	} {
		transport := &fixed{ctype: w.ctype, body: w.answer}
		client, err := gateway.New(gateway.WithProjectID("p"), gateway.WithRegion("global"), gateway.WithAccessToken("token"), gateway.WithHTTPClient(&http.Client{Transport: transport}))
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { _ = client.Close() })
		to := &url.URL{Scheme: "https", Host: "platform.example"}
		for _, side := range []struct {
			name    string
			handler http.Handler
		}{
			{"gateway", client.Handler()},
			{"proxy", &httputil.ReverseProxy{Transport: transport, Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to) }}},
		} {
			b.Run(w.name+"/"+side.name, func(b *testing.B) {
				b.ReportAllocs()
				b.SetBytes(int64(len(w.body) + len(w.answer)))
				for b.Loop() {
					r := httptest.NewRequest(http.MethodPost, w.path, bytes.NewReader([]byte(w.body)))
					side.handler.ServeHTTP(&discard{http.Header{}}, r)
				}
			})
		}
	}
}

// TestNativeAllocations bounds what the way through the gateway adds for each event of
// a stream.
func TestNativeAllocations(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	measure := func(events int) float64 {
		body := strings.Repeat("data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"a\"}]}}]}\r\n\r\n", events) + "data: {\"candidates\":[{\"finishReason\":\"STOP\"}]}\r\n\r\n"
		client := benchClient(t, &fixed{ctype: "text/event-stream", body: []byte(body)})
		handler := client.Handler()
		return testing.AllocsPerRun(20, func() {
			handler.ServeHTTP(&discard{http.Header{}}, httptest.NewRequest(http.MethodPost, nativeStream, strings.NewReader(nativeHello)))
		})
	}
	few, many := measure(10), measure(510)
	if each := (many - few) / 500; each > 2 {
		t.Errorf("%.1f allocations for each event", each)
	}
	if diff := cmp.Diff(true, few < 400); diff != "" {
		t.Errorf("%.0f allocations for a short stream", few)
	}
}
