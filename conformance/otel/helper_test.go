// Package otel_test sends the telemetry of calls as users do, and reads what arrives.
package otel_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	collectormetrics "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	collectortrace "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	traces "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/b650d4bf/gateway"
	gatewayotel "github.com/b650d4bf/gateway/otel"
	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

// collector receives OTLP over HTTP, as protobuf.
//
// Source: https://opentelemetry.io/docs/specs/otlp/#otlphttp
type collector struct {
	mu      sync.Mutex
	spans   []*traces.Span
	metrics []string
	wire    bytes.Buffer // all that came
	errs    []error
}

func newCollector(t *testing.T) (*collector, string) {
	t.Helper()
	c := new(collector)
	server := httptest.NewServer(c)
	t.Cleanup(server.Close)
	return c, server.URL
}

func (c *collector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	c.mu.Lock()
	defer c.mu.Unlock()
	if err == nil {
		err = c.take(r, body)
	}
	if err != nil {
		c.errs = append(c.errs, err)
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/x-protobuf")
}

func (c *collector) take(r *http.Request, body []byte) error {
	c.wire.Write(body)
	if got := r.Header.Get("Content-Type"); got != "application/x-protobuf" {
		return fmt.Errorf("%s: %s", r.URL.Path, got)
	}
	switch r.URL.Path {
	case "/v1/traces":
		var req collectortrace.ExportTraceServiceRequest
		if err := proto.Unmarshal(body, &req); err != nil {
			return err
		}
		for _, of := range req.ResourceSpans {
			for _, scope := range of.ScopeSpans {
				c.spans = append(c.spans, scope.Spans...)
			}
		}
		return nil
	case "/v1/metrics":
		var req collectormetrics.ExportMetricsServiceRequest
		if err := proto.Unmarshal(body, &req); err != nil {
			return err
		}
		for _, of := range req.ResourceMetrics {
			for _, scope := range of.ScopeMetrics {
				for _, m := range scope.Metrics {
					c.metrics = append(c.metrics, m.Name+" "+m.Unit)
				}
			}
		}
		return nil
	}
	return errors.New("there is nothing at " + r.URL.Path)
}

// tree is what arrived: each span with its kind, below its parent.
func (c *collector) tree() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []string
	var below func(parent []byte, indent string)
	below = func(parent []byte, indent string) {
		for _, s := range c.spans {
			if bytes.Equal(s.ParentSpanId, parent) {
				out = append(out, indent+s.Name+" "+strings.TrimPrefix(s.Kind.String(), "SPAN_KIND_"))
				below(s.SpanId, indent+"  ")
			}
		}
	}
	below(nil, "")
	return out
}

// attribute is the value of an attribute of the span of that name.
func (c *collector) attribute(span, key string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.spans {
		i := slices.IndexFunc(s.Attributes, func(a *common.KeyValue) bool { return a.Key == key })
		if s.Name == span && i >= 0 {
			return s.Attributes[i].Value.GetStringValue()
		}
	}
	return ""
}

// newClient is a client before the emulator.
func newClient(t *testing.T, o *gatewayotel.Observer, rt func(http.RoundTripper) http.RoundTripper) (*gateway.Client, *vertextest.Server) {
	t.Helper()
	platform := vertextest.New()
	client, err := gateway.New(
		gateway.WithProjectID("my-project"), gateway.WithRegion("us-central1"), gateway.WithAccessToken("token"),
		gateway.WithHTTPClient(&http.Client{Transport: rt(platform.Transport())}), gateway.WithObserver(o),
	)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := client.Close(); err != nil {
			t.Error(err)
		}
		platform.Close()
	})
	return client, platform
}

func ask(ctx context.Context, t *testing.T, client *gateway.Client) {
	t.Helper()
	_, err := client.Chat.Completions.Create(ctx, &gateway.ChatCompletionRequest{
		Model: "gemini-2.5-flash", Messages: []gateway.Message{gateway.UserMessage("canary-in-the-prompt")},
	})
	if err != nil {
		t.Fatal(err)
	}
}
