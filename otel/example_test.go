package gatewayotel_test

import (
	"context"
	"fmt"
	"net/http"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/b650d4bf/gateway"
	gatewayotel "github.com/b650d4bf/gateway/otel"
	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

// Calls become spans; a program exports them, by OTLP for example.
func Example() {
	platform := vertextest.New()
	defer platform.Close()
	platform.Script(vertextest.Text("Hello."))

	spans := tracetest.NewInMemoryExporter()
	observer, err := gatewayotel.New(gatewayotel.Options{TracerProvider: sdktrace.NewTracerProvider(sdktrace.WithSyncer(spans))})
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
	for _, span := range spans.GetSpans() {
		fmt.Println(span.SpanKind, span.Name)
		for _, a := range span.Attributes {
			if a.Key == "gen_ai.provider.name" || a.Key == "gen_ai.response.finish_reasons" {
				fmt.Println("  ", a.Key, a.Value)
			}
		}
	}
	// Output:
	// internal attempt gemini-2.5-flash
	//    gen_ai.provider.name gcp.vertex_ai
	// client chat gemini-2.5-flash
	//    gen_ai.provider.name gcp.vertex_ai
	//    gen_ai.response.finish_reasons ["stop"]
}
