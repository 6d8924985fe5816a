package otel_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	otelprometheus "go.opentelemetry.io/otel/exporters/prometheus"
	"go.opentelemetry.io/otel/sdk/metric"

	"github.com/b650d4bf/gateway"
	gatewayotel "github.com/b650d4bf/gateway/otel"
	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

// The metrics are read by Prometheus, through the exporter of OpenTelemetry.
func Example_prometheus() {
	platform := vertextest.New()
	defer platform.Close()

	registry := prometheus.NewRegistry()
	exporter, err := otelprometheus.New(otelprometheus.WithRegisterer(registry))
	if err != nil {
		fmt.Println(err)
		return
	}
	observer, err := gatewayotel.New(gatewayotel.Options{MeterProvider: metric.NewMeterProvider(metric.WithReader(exporter))})
	if err != nil {
		fmt.Println(err)
		return
	}
	client, err := gateway.New(
		gateway.WithProjectID("my-project"), gateway.WithRegion("us-central1"), gateway.WithAccessToken("token"),
		gateway.WithHTTPClient(&http.Client{Transport: platform.Transport()}), gateway.WithObserver(observer),
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = client.Close() }()
	_, err = client.Chat.Completions.Create(context.Background(), &gateway.ChatCompletionRequest{
		Model: "gemini-2.5-flash", Messages: []gateway.Message{gateway.UserMessage("Say hello.")},
	})
	if err != nil {
		fmt.Println(err)
		return
	}

	page := httptest.NewRecorder()
	scrape := httptest.NewRequestWithContext(context.Background(), http.MethodGet, "/metrics", nil)
	promhttp.HandlerFor(registry, promhttp.HandlerOpts{}).ServeHTTP(page, scrape)
	for line := range strings.Lines(page.Body.String()) {
		if strings.HasPrefix(line, "gen_ai_client_inference_duration_seconds_count") {
			name, _, _ := strings.Cut(line, "{")
			fmt.Println(name, strings.Contains(line, `gen_ai_provider_name="gcp.vertex_ai"`), line[strings.LastIndex(line, " ")+1:])
		}
	}
	// Output: gen_ai_client_inference_duration_seconds_count true 1
}
