package canary_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/attribute"
	api "go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/b650d4bf/gateway"
	gatewayotel "github.com/b650d4bf/gateway/otel"
)

// TestTelemetry reads spans with their attributes and events, and metrics.
func TestTelemetry(t *testing.T) {
	fails := failures()
	for _, name := range []string{"answers", "echo of 401", "error in a stream", "connection refused", "400"} {
		for _, keep := range []bool{false, true} {
			t.Run(fmt.Sprint(name, ", content ", keep), func(t *testing.T) {
				t.Parallel()
				spans, reader := tracetest.NewInMemoryExporter(), metric.NewManualReader()
				meters := metric.NewMeterProvider(metric.WithReader(reader))
				observer, err := gatewayotel.New(gatewayotel.Options{
					TracerProvider: sdktrace.NewTracerProvider(sdktrace.WithSyncer(spans)), MeterProvider: meters,
					Content: keep, ToolSchemas: keep, MetadataKeys: []string{"team"},
				})
				if err != nil {
					t.Fatal(err)
				}
				s := newScene(t, gateway.WithObserver(observer))
				if s.platform.mode = fails[name]; name == "answers" {
					s.script()
				}
				s.ask(t.Context(), t)
				s.sendAll(t)
				own, err := meters.Meter("own").Int64Counter("own")
				if err != nil {
					t.Fatal(err)
				}
				own.Add(t.Context(), 1, api.WithAttributes(attribute.String("team", s.open("attribute of a metric"))))
				s.witness(answersPlace, s.open("attribute of a metric"))
				var metrics metricdata.ResourceMetrics
				if err := reader.Collect(t.Context(), &metrics); err != nil {
					t.Fatal(err)
				}
				sums, err := json.Marshal(metrics)
				if err != nil {
					t.Fatal(err)
				}
				text := fmt.Sprintf("%+v", spans.GetSpans())
				for _, span := range spans.GetSpans() {
					for _, a := range span.Attributes {
						text += "\n" + string(a.Key) + "=" + a.Value.String()
					}
				}
				s.refuse(t, "spans", text, credential)
				s.refuse(t, "metrics", fmt.Sprintf("%s %+v", sums, metrics), credential, content)
				s.want(t, "metrics", string(sums), "attribute of a metric")
				s.want(t, "spans", text, "metadata")
				if !keep {
					for name, at := range s.find(text) {
						if s.birds[name].kind == content && !strings.HasPrefix(name, "stop ") { // these are parameters
							t.Errorf("spans hold the %s: %s", name, at)
						}
					}
				} else {
					s.want(t, "spans", text, "prompt", "system text", "tool argument")
				}
			})
		}
	}
}
