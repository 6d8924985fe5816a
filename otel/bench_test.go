package gatewayotel_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	metricnoop "go.opentelemetry.io/otel/metric/noop"
	"go.opentelemetry.io/otel/sdk/metric"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	tracenoop "go.opentelemetry.io/otel/trace/noop"

	"github.com/b650d4bf/gateway"
	gatewayotel "github.com/b650d4bf/gateway/otel"
)

// fixed answers every request with the same bytes.
type fixed string

func (f fixed) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Body != nil {
		_ = req.Body.Close()
	}
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(string(f))), Request: req,
	}, nil
}

const answer = `{"candidates":[{"content":{"role":"model","parts":[{"text":"Hello."}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":3,"candidatesTokenCount":2,"totalTokenCount":5},"responseId":"r"}`

// drop takes spans and keeps none.
type drop struct{}

func (drop) ExportSpans(context.Context, []sdktrace.ReadOnlySpan) error { return nil }
func (drop) Shutdown(context.Context) error                             { return nil }

// BenchmarkChat shows what an observer adds to a call.
func BenchmarkChat(b *testing.B) {
	sdk := gatewayotel.Options{
		TracerProvider: sdktrace.NewTracerProvider(sdktrace.WithSyncer(drop{})),
		MeterProvider:  metric.NewMeterProvider(metric.WithReader(metric.NewManualReader())),
	}
	content := sdk
	content.Content = true
	for _, bb := range []struct {
		name string
		opts *gatewayotel.Options
	}{
		{"without", nil},
		{"noop", &gatewayotel.Options{TracerProvider: tracenoop.NewTracerProvider(), MeterProvider: metricnoop.NewMeterProvider()}},
		{"sdk", &sdk},
		{"sdk and content", &content},
	} {
		b.Run(bb.name, func(b *testing.B) {
			opts := []gateway.ClientOption{
				gateway.WithProjectID("p"), gateway.WithRegion("global"), gateway.WithAccessToken("t"),
				gateway.WithHTTPClient(&http.Client{Transport: fixed(answer)}),
			}
			if bb.opts != nil {
				observer, err := gatewayotel.New(*bb.opts)
				if err != nil {
					b.Fatal(err)
				}
				opts = append(opts, gateway.WithObserver(observer))
			}
			client, err := gateway.New(opts...)
			if err != nil {
				b.Fatal(err)
			}
			defer func() { _ = client.Close() }()
			req := ask("Say hello.")
			b.ReportAllocs()
			for b.Loop() {
				if _, err := client.Chat.Completions.Create(context.Background(), req); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
