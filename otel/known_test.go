package gatewayotel_test

import (
	"os"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	gatewayotel "github.com/b650d4bf/gateway/otel"
)

// convention is a name of the conventions, as their pages have it.
type convention struct{ kind, page string }

// conventions reads testdata/conventions.tsv: the names that were looked up, each
// with its type, for metrics its instrument and unit, and the page it is from.
func conventions(t *testing.T) map[string]convention {
	t.Helper()
	data, err := os.ReadFile("testdata/conventions.tsv")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]convention{}
	for line := range strings.Lines(string(data)) {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		fields := strings.Split(line, "\t")
		if len(fields) != 3 {
			t.Fatalf("%q has %d fields", line, len(fields))
		}
		out[fields[0]] = convention{fields[1], fields[2]}
	}
	return out
}

// kinds are the types of attributes, as the conventions spell them.
var kinds = map[attribute.Type]string{
	attribute.STRING: "string", attribute.STRINGSLICE: "string[]", attribute.INT64: "int", attribute.FLOAT64: "double", attribute.BOOL: "boolean",
}

// known fails for attributes and metrics that were made and are in no table, or have
// another type.
func known(t *testing.T, s *setup) {
	t.Helper()
	for _, span := range s.spans.GetSpans() {
		on := gatewayotel.OnCall
		if strings.HasPrefix(span.Name, "attempt") {
			on = gatewayotel.OnAttempt
		}
		checkAttributes(t, on, span.Attributes)
		for _, e := range span.Events {
			checkAttributes(t, gatewayotel.OnEvent, e.Attributes)
		}
	}
	for name, data := range s.metrics(t) {
		if !gatewayotel.IsMetric(name) {
			t.Errorf("the metric %s is in no table", name)
		}
		switch d := data.(type) {
		case metricdata.Sum[int64]:
			for _, p := range d.DataPoints {
				checkAttributes(t, gatewayotel.OnMetric, p.Attributes.ToSlice())
			}
		case metricdata.Histogram[int64]:
			for _, p := range d.DataPoints {
				checkAttributes(t, gatewayotel.OnMetric, p.Attributes.ToSlice())
			}
		case metricdata.Histogram[float64]:
			for _, p := range d.DataPoints {
				checkAttributes(t, gatewayotel.OnMetric, p.Attributes.ToSlice())
			}
		}
	}
}

func checkAttributes(t *testing.T, on gatewayotel.Place, list []attribute.KeyValue) {
	t.Helper()
	for _, a := range list {
		if strings.HasPrefix(string(a.Key), "gateway.metadata.") {
			continue
		}
		kind, ok := gatewayotel.KindOf(a.Key, on)
		if !ok || kind != a.Value.Type() {
			t.Errorf("%s is a %s: the table has %s (%v)", a.Key, a.Value.Type(), kind, ok)
		}
	}
}
