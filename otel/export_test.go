package gatewayotel

import (
	"go.opentelemetry.io/otel/attribute"

	"github.com/b650d4bf/gateway/providers"
)

// Place is where an attribute is set.
type Place = place

// The places of attributes.
const (
	OnCall    = onCall
	OnAttempt = onAttempt
	OnEvent   = onEvent
	OnMetric  = onMetric
)

// KindOf returns the type that the table has for an attribute in a place.
func KindOf(key attribute.Key, on Place) (attribute.Type, bool) {
	for _, r := range attributeRows {
		if r.key == key && r.on&on != 0 {
			return r.kind, true
		}
	}
	return attribute.EMPTY, false
}

// IsMetric reports whether a metric is in the table.
func IsMetric(name string) bool {
	for _, in := range instruments {
		if in.name == name {
			return true
		}
	}
	return false
}

// Row is a row of the table of attributes, and Instrument one of the table of metrics.
type (
	Row struct {
		Key  attribute.Key
		Kind attribute.Type
		Page string
	}
	Instrument struct {
		Name, Kind, Unit, Page string
		Former                 bool
	}
)

// Attributes returns the table of attributes.
func Attributes() []Row {
	var out []Row
	for _, r := range attributeRows {
		out = append(out, Row{r.key, r.kind, r.page})
	}
	return out
}

// Instruments returns the table of metrics.
func Instruments() []Instrument {
	var out []Instrument
	for _, in := range instruments {
		out = append(out, Instrument{in.name, in.kind, in.unit, in.page, in.former})
	}
	return out
}

// ContentAttributes makes the attributes of content within a limit.
func ContentAttributes(limit int, request, response []byte) []attribute.KeyValue {
	c := content{limit: limit, schemas: true}
	return c.attributes(providers.CallContent{Request: request, Response: response})
}

// ErrorType is the type that a code is told as.
func ErrorType(code providers.Code) string { return errorType(code) }
