// Package structured turns Go types into tools and response formats, and the
// answers of models back into Go values.
//
//	type Weather struct {
//		City    string  `json:"city"`
//		Celsius float64 `json:"celsius" jsonschema:"degrees, to one decimal"`
//		Wind    *string `json:"wind" jsonschema:"null when there is none"`
//	}
//
//	weather, answer, err := structured.Create[Weather](ctx, client, req)
//
// [Format] and [Decode] are the two halves of [Create]; [Tool] and [Arguments]
// do the same for function calls. Each of them makes the schema anew, for a
// fraction of a millisecond beside a call of seconds. [Of] makes it once, and
// shows at the start of a program that a type is fit.
//
// # From a type to a schema
//
// Fields are named as encoding/json names them, and the schema lists them in the
// order of the struct, which is the order a model answers in: let a field with
// reasons stand before the verdict. The same type gives the same bytes always.
//
//   - The tag jsonschema:"…" describes a field to the model. It must not begin
//     with a word and "=".
//   - A field is required unless its tag says omitempty or omitzero.
//   - A pointer may be null. A slice or map may not: it is empty.
//   - A struct is closed: no other members. Embedded structs are flattened.
//   - A map has string keys and is open; an any or a [json.RawMessage] holds any
//     value.
//   - A named string with the method Enum() []string takes only those values;
//     see [Enum]. The keys of a map are not held to it.
//   - A [time.Time] is a string of format date-time, a []byte base64. A type
//     that reads itself from text is a string. A [time.Duration] is an integer,
//     of nanoseconds.
//   - A generic type is a type as any other.
//
// What could not come back as it was asked for is refused, with the field's
// name: recursive types, since their schema would not end; types with an
// UnmarshalJSON of their own; the option string of a json tag; two fields of one
// name; embedded fields that have a name or are no structs; channels, functions,
// complex numbers, interfaces with methods, maps whose keys are no strings.
//
// # Errors
//
// Every error is an *[gateway.Error]. Those about a type or a request are
// [gateway.ErrInvalidRequest], with the field in Param. Those about an answer
// have Sent set, since it was paid for:
//
//   - [gateway.ErrBadResponse]: the answer was cut at the token limit, calls
//     tools instead, is no JSON, or does not fit. In the last two cases
//     errors.As finds a [MismatchError] that says what is wrong and where.
//   - [gateway.ErrContentFilter]: the platform held the answer back.
//   - [gateway.ErrEmptyResponse]: there is no text.
//
// No error quotes an answer: the text of a model may hold what a log must not.
//
// # Concurrency
//
// Everything here may be used by any number of goroutines. The package keeps no
// state; a [Shape] does not change.
//
// # Caveats
//
// A format beside tools is left out for models that cannot do both, with a
// warning in the answer's Meta; text that is no JSON is then an error here.
//
// An answer is not repaired: no fences are taken off, no values converted. Ranges
// beyond those of the schema show when the value is decoded, as an int64 does.
package structured
