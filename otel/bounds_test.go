package gatewayotel_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/b650d4bf/gateway"
	gatewayotel "github.com/b650d4bf/gateway/otel"
	"github.com/b650d4bf/gateway/providers"
	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

// TestTextsOfCallersAreBounded checks that what callers write neither swells spans nor
// makes them such that exporters drop a whole batch, as they do for text that is not
// UTF-8.
func TestTextsOfCallersAreBounded(t *testing.T) {
	const most = 1100
	long := strings.Repeat("ä\xff", 100000)
	s := newSetup(t, gatewayotel.Options{})
	s.end(t, gatewayotel.Options{MetadataKeys: []string{"team"}, ConversationKey: "id"}, providers.Record{
		Call: providers.Call{
			Operation: "chat", Model: long, Prompt: long, ConfigID: long, Metadata: map[string]string{"team": long, "id": long},
			Parameters: &providers.Parameters{Stop: strings.Split(strings.Repeat(long[:4000]+",", 500), ","), ReasoningEffort: long, EncodingFormat: long},
		},
		ResponseID: long, ResponseModel: long,
		Meta: providers.Meta{Model: long, Attempts: []providers.Attempt{{Provider: "vertex-ai", Model: long, Target: long}}},
	})
	check := func(name attribute.Key, v string) {
		if len(v) > most || !utf8.ValidString(v) {
			t.Errorf("%s has %d bytes: %.20q", name, len(v), v)
		}
	}
	for _, span := range s.spans.GetSpans() {
		check("the name", span.Name)
		for _, a := range span.Attributes {
			if a.Value.Type() != attribute.STRINGSLICE {
				check(a.Key, a.Value.String())
				continue
			}
			list := a.Value.AsStringSlice()
			if len(list) > 16 {
				t.Errorf("%s has %d texts", a.Key, len(list))
			}
			for _, v := range list {
				check(a.Key, v)
			}
		}
	}
}

// TestUnknownModelsMakeNoSeries checks that callers can't make a series of metrics out
// of each name that they think of.
func TestUnknownModelsMakeNoSeries(t *testing.T) {
	s := newSetup(t, gatewayotel.Options{})
	for i := range 20 {
		req := ask("hi")
		if req.Model = fmt.Sprintf("@nowhere/m%d", i); i%2 == 0 {
			req.Model = fmt.Sprintf("gemini-m%d", i)
			s.platform.Script(vertextest.Error(404, "NOT_FOUND", "Publisher Model was not found"))
		}
		if _, err := s.client.Chat.Completions.Create(t.Context(), req); err == nil || errors.Is(err, gateway.ErrConnection) {
			t.Fatal(err)
		}
	}
	for name, data := range s.metrics(t) {
		n := 0
		switch d := data.(type) {
		case metricdata.Histogram[float64]:
			n = len(d.DataPoints)
		case metricdata.Histogram[int64]:
			n = len(d.DataPoints)
		case metricdata.Sum[int64]:
			n = len(d.DataPoints)
		default:
			t.Errorf("%s is a %T", name, data)
		}
		if n > 2 {
			t.Errorf("%s has %d series", name, n)
		}
	}
}
