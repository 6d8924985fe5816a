package otel_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/metric"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	gatewayotel "github.com/b650d4bf/gateway/otel"
)

// exporting is an observer whose telemetry goes to a collector.
type exporting struct {
	collector *collector
	tracers   *sdktrace.TracerProvider
	meters    *metric.MeterProvider
	observer  *gatewayotel.Observer
}

func newExporting(t *testing.T, opts gatewayotel.Options) *exporting {
	t.Helper()
	c, url := newCollector(t)
	ctx := t.Context()
	spans, err := otlptracehttp.New(ctx, otlptracehttp.WithEndpointURL(url+"/v1/traces"))
	if err != nil {
		t.Fatal(err)
	}
	numbers, err := otlpmetrichttp.New(ctx, otlpmetrichttp.WithEndpointURL(url+"/v1/metrics"))
	if err != nil {
		t.Fatal(err)
	}
	e := &exporting{
		collector: c,
		tracers:   sdktrace.NewTracerProvider(sdktrace.WithBatcher(spans)),
		meters:    metric.NewMeterProvider(metric.WithReader(metric.NewPeriodicReader(numbers))),
	}
	opts.TracerProvider, opts.MeterProvider = e.tracers, e.meters
	if e.observer, err = gatewayotel.New(opts); err != nil {
		t.Fatal(err)
	}
	return e
}

// flush sends what waits, and ends the exporters.
func (e *exporting) flush(t *testing.T) {
	t.Helper()
	ctx := context.WithoutCancel(t.Context())
	if err := e.tracers.Shutdown(ctx); err != nil {
		t.Error(err)
	}
	if err := e.meters.Shutdown(ctx); err != nil {
		t.Error(err)
	}
	for _, err := range e.collector.errs {
		t.Error(err)
	}
}

func asItIs(rt http.RoundTripper) http.RoundTripper { return rt }

func TestTelemetryArrivesByOTLP(t *testing.T) {
	e := newExporting(t, gatewayotel.Options{})
	client, _ := newClient(t, e.observer, asItIs)
	ask(t.Context(), t, client)
	e.flush(t)
	if diff := cmp.Diff([]string{"chat gemini-2.5-flash CLIENT", "  attempt gemini-2.5-flash INTERNAL"}, e.collector.tree()); diff != "" {
		t.Error(diff)
	}
	if got := e.collector.attribute("chat gemini-2.5-flash", "gen_ai.provider.name"); got != "gcp.vertex_ai" {
		t.Error(got)
	}
	slices.Sort(e.collector.metrics)
	if diff := cmp.Diff([]string{
		"gateway.attempt.duration s",
		"gen_ai.client.inference.duration s",
		"gen_ai.client.inference.operation.input_tokens {token}",
		"gen_ai.client.inference.operation.output_tokens {token}",
		"gen_ai.client.inference.usage.cache_read.input_tokens {token}",
		"gen_ai.client.inference.usage.cache_write.input_tokens {token}",
		"gen_ai.client.inference.usage.input_tokens {token}",
		"gen_ai.client.inference.usage.output_tokens {token}",
		"gen_ai.client.inference.usage.reasoning.output_tokens {token}",
	}, e.collector.metrics); diff != "" {
		t.Error(diff)
	}
	if bytes.Contains(e.collector.wire.Bytes(), []byte("canary")) {
		t.Error("the prompt was sent")
	}
}

func TestContentArrivesWhenAskedFor(t *testing.T) {
	e := newExporting(t, gatewayotel.Options{Content: true})
	client, _ := newClient(t, e.observer, asItIs)
	ask(t.Context(), t, client)
	e.flush(t)
	const want = `[{"role":"user","parts":[{"type":"text","content":"canary-in-the-prompt"}]}]`
	if diff := cmp.Diff(want, e.collector.attribute("chat gemini-2.5-flash", "gen_ai.input.messages")); diff != "" {
		t.Error(diff)
	}
}

// TestTracesGoOnFromHTTP shows a trace through three processes: the span of an HTTP
// client, that of the gateway's front, the call, and the request to the platform with
// the header that carries the trace further.
func TestTracesGoOnFromHTTP(t *testing.T) {
	e := newExporting(t, gatewayotel.Options{})
	with := []otelhttp.Option{otelhttp.WithTracerProvider(e.tracers), otelhttp.WithMeterProvider(e.meters), otelhttp.WithPropagators(propagation.TraceContext{})}
	client, platform := newClient(t, e.observer, func(rt http.RoundTripper) http.RoundTripper { return otelhttp.NewTransport(rt, with...) })
	front := httptest.NewServer(otelhttp.NewHandler(client.Handler(), "front", with...))
	defer front.Close()

	ctx, parent := e.tracers.Tracer("caller").Start(t.Context(), "caller")
	body := strings.NewReader(`{"model":"gemini-2.5-flash","messages":[{"role":"user","content":"Hi."}]}`)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, front.URL+"/v1/chat/completions", body)
	if err != nil {
		t.Fatal(err)
	}
	propagation.TraceContext{}.Inject(ctx, propagation.HeaderCarrier(req.Header))
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_, err = io.Copy(io.Discard, res.Body)
	if closing := res.Body.Close(); err != nil || closing != nil || res.StatusCode != http.StatusOK {
		t.Fatal(err, closing, res.Status)
	}
	parent.End()
	e.flush(t)

	got := e.collector.tree()
	if len(got) != 5 || got[0] != "caller INTERNAL" || !strings.HasPrefix(got[1], "  ") || !strings.HasSuffix(got[1], " SERVER") ||
		got[2] != "    chat gemini-2.5-flash CLIENT" {
		t.Fatalf("%q", got)
	}
	rest := got[3:]
	slices.Sort(rest)
	if diff := cmp.Diff([]string{"      HTTP POST CLIENT", "      attempt gemini-2.5-flash INTERNAL"}, rest); diff != "" {
		t.Error(diff)
	}
	sent := platform.Requests()[0].Header.Get("Traceparent")
	if id := parent.SpanContext().TraceID().String(); !strings.Contains(sent, id) {
		t.Errorf("the platform got %q, which is not of the trace %s", sent, id)
	}
}
