// Package images is what predict answers for models that draw, without meaning.
package images

import (
	"bytes"

	"github.com/b650d4bf/gateway/internal/jsonx"
)

// Answer is one answer.
//
// Source: https://cloud.google.com/vertex-ai/generative-ai/docs/model-reference/imagen-api
type Answer struct {
	// Predictions are the images, and what stands in their place.
	Predictions []Prediction
}

// Prediction is an image, or why there is none.
type Prediction struct {
	// Data is the base64 of the file, of the type MimeType.
	Data, MimeType string
	// URI is where the platform put the file instead.
	URI string
	// Prompt is the prompt that was drawn, where it is not the one given.
	Prompt string
	// Filtered says why one or more images were held back.
	Filtered string
	// Safety is the raw list of safety attributes, or nil.
	Safety []byte
}

// Decode reads one object. A member that is null counts as not given.
func (a *Answer) Decode(r *jsonx.Reader) {
	for r.Object(); r.NextKey(); {
		if string(r.Key()) != "predictions" {
			r.Skip()
			continue
		}
		for r.Array(); r.NextElem(); {
			var p Prediction
			p.decode(r)
			a.Predictions = append(a.Predictions, p)
		}
	}
}

func (p *Prediction) decode(r *jsonx.Reader) {
	for r.Object(); r.NextKey(); {
		switch string(r.Key()) {
		case "bytesBase64Encoded":
			p.Data = r.String()
		case "mimeType":
			p.MimeType = r.String()
		case "gcsUri":
			p.URI = r.String()
		case "prompt":
			p.Prompt = r.String()
		case "raiFilteredReason":
			p.Filtered = r.String()
		case "safetyAttributes":
			p.Safety = bytes.Clone(r.Raw())
		default:
			r.Skip()
		}
	}
}
