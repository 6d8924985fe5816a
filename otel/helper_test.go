package gatewayotel_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/b650d4bf/gateway"
	gatewayotel "github.com/b650d4bf/gateway/otel"
	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

// setup is a client with an observer, before the emulator.
type setup struct {
	platform *vertextest.Server
	client   *gateway.Client
	spans    *tracetest.InMemoryExporter
	tracers  *sdktrace.TracerProvider
	meters   *metric.MeterProvider
	reader   *metric.ManualReader
	start    time.Time
}

// newSetup makes a setup. It works in a bubble, where its times are always the same.
func newSetup(t *testing.T, opts gatewayotel.Options, more ...gateway.ClientOption) *setup {
	t.Helper()
	s := &setup{platform: vertextest.New(), spans: tracetest.NewInMemoryExporter(), reader: metric.NewManualReader(), start: time.Now()}
	s.tracers = sdktrace.NewTracerProvider(sdktrace.WithSyncer(s.spans))
	opts.TracerProvider = s.tracers
	s.meters = metric.NewMeterProvider(metric.WithReader(s.reader))
	opts.MeterProvider = s.meters
	observer, err := gatewayotel.New(opts)
	if err != nil {
		t.Fatal(err)
	}
	s.client, err = gateway.New(append([]gateway.ClientOption{
		gateway.WithProjectID("my-project"), gateway.WithRegion("us-central1"), gateway.WithAccessToken("token"),
		gateway.WithHTTPClient(&http.Client{Transport: s.platform.Transport()}), gateway.WithObserver(observer),
	}, more...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.client.Close(); err != nil {
			t.Error(err)
		}
		s.platform.Close()
	})
	return s
}

func ask(text string) *gateway.ChatCompletionRequest {
	return &gateway.ChatCompletionRequest{Model: "gemini-2.5-flash", Messages: []gateway.Message{gateway.UserMessage(text)}}
}

// chat asks and wants an answer.
func (s *setup) chat(t *testing.T, req *gateway.ChatCompletionRequest, opts ...gateway.RequestOption) *gateway.ChatCompletion {
	t.Helper()
	out, err := s.client.Chat.Completions.Create(t.Context(), req, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// tree writes the spans as text, children below their parents, with times since the
// setup was made.
func (s *setup) tree() string {
	var b strings.Builder
	s.branch(&b, trace.SpanID{}, "")
	return b.String()
}

func (s *setup) branch(b *strings.Builder, parent trace.SpanID, indent string) {
	for _, span := range s.sorted() {
		if span.Parent.SpanID() != parent {
			continue
		}
		fmt.Fprintf(b, "%s%s (%s) %v to %v", indent, span.Name, span.SpanKind, span.StartTime.Sub(s.start), span.EndTime.Sub(s.start))
		if span.Status.Description != "" {
			fmt.Fprintf(b, " %s: %s", span.Status.Code, span.Status.Description)
		}
		b.WriteString("\n")
		writeAttributes(b, indent+"    ", span.Attributes)
		for _, e := range span.Events {
			fmt.Fprintf(b, "%s  * %s at %v\n", indent, e.Name, e.Time.Sub(s.start))
			writeAttributes(b, indent+"      ", e.Attributes)
		}
		s.branch(b, span.SpanContext.SpanID(), indent+"  ")
	}
}

// sorted are the spans by their beginnings.
func (s *setup) sorted() tracetest.SpanStubs {
	spans := s.spans.GetSpans()
	slices.SortStableFunc(spans, func(a, b tracetest.SpanStub) int { return a.StartTime.Compare(b.StartTime) })
	return spans
}

// masked are attributes that are never the same.
var masked = map[attribute.Key]bool{"gateway.request.id": true, "gen_ai.response.id": true}

func writeAttributes(b *strings.Builder, indent string, list []attribute.KeyValue) {
	list = slices.Clone(list)
	slices.SortFunc(list, func(x, y attribute.KeyValue) int { return strings.Compare(string(x.Key), string(y.Key)) })
	for _, a := range list {
		value := a.Value.String()
		if masked[a.Key] {
			value = "…"
		}
		fmt.Fprintf(b, "%s%s = %s\n", indent, a.Key, value)
	}
}

// metrics collects the metrics.
func (s *setup) metrics(t *testing.T) map[string]metricdata.Aggregation {
	t.Helper()
	var all metricdata.ResourceMetrics
	if err := s.reader.Collect(context.WithoutCancel(t.Context()), &all); err != nil {
		t.Fatal(err)
	}
	out := map[string]metricdata.Aggregation{}
	for _, scope := range all.ScopeMetrics {
		if scope.Scope.Name != gatewayotel.Scope {
			t.Errorf("a scope %q", scope.Scope.Name)
		}
		for _, m := range scope.Metrics {
			out[m.Name] = m.Data
		}
	}
	return out
}

// sums writes the metrics as text: of a counter its sum, of a histogram count and sum.
func (s *setup) sums(t *testing.T) string {
	t.Helper()
	var lines []string
	for name, data := range s.metrics(t) {
		switch d := data.(type) {
		case metricdata.Sum[int64]:
			for _, p := range d.DataPoints {
				lines = append(lines, fmt.Sprintf("%s = %d%s", name, p.Value, labels(p.Attributes)))
			}
		case metricdata.Histogram[int64]:
			for _, p := range d.DataPoints {
				lines = append(lines, fmt.Sprintf("%s: %d of %d%s", name, p.Count, p.Sum, labels(p.Attributes)))
			}
		case metricdata.Histogram[float64]:
			for _, p := range d.DataPoints {
				lines = append(lines, fmt.Sprintf("%s: %d of %gs%s", name, p.Count, p.Sum, labels(p.Attributes)))
			}
		default:
			t.Errorf("%s is a %T", name, data)
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "")
}

func labels(set attribute.Set) string {
	var parts []string
	for _, a := range set.ToSlice() {
		parts = append(parts, string(a.Key)+"="+a.Value.String())
	}
	slices.Sort(parts)
	return " {" + strings.Join(parts, ", ") + "}\n"
}

// find returns an attribute of the only span of that name.
func (s *setup) find(t *testing.T, span string, key attribute.Key) (attribute.Value, bool) {
	t.Helper()
	for _, got := range s.spans.GetSpans() {
		if got.Name != span {
			continue
		}
		for _, a := range got.Attributes {
			if a.Key == key {
				return a.Value, true
			}
		}
		return attribute.Value{}, false
	}
	t.Fatalf("no span %q among\n%s", span, s.tree())
	return attribute.Value{}, false
}
