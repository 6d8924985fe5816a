package providers

import "github.com/b650d4bf/gateway/internal/jsonx"

// Billed says what an answer is billed by beside the tokens of its [Usage], and on
// which terms. A 0 may be nothing, or not known.
type Billed struct {
	// Region is where the model was asked, such as "global" or "europe-west4"; empty
	// for providers without regions.
	Region string
	// ServiceTier is the class of service where the answer told it outside of its
	// usage.
	ServiceTier string
	// Searches counts the queries to a web search that the platform made for the
	// answer. Those of Claude are in the usage.
	Searches int
	// Maps says that places of a map service ground the answer.
	Maps bool
	// Images counts what was drawn, and ImageSize is its size in the word of the
	// answer, such as "1024x1024".
	Images    int
	ImageSize string
	// Documents counts what was ordered.
	Documents int
	// Characters counts the text that was spoken.
	Characters int
	// Media says that images, sound or videos were embedded, which the usage does not
	// count apart.
	Media bool
}

// AddChoice adds what one choice of an answer, or the last chunk of one, says of the
// searches for it.
//
// Source: https://cloud.google.com/vertex-ai/generative-ai/docs/reference/rest/v1/GroundingMetadata
func (b *Billed) AddChoice(extra Extra) {
	if len(extra) == 0 {
		return
	}
	if raw, ok := extra.Get("groundingMetadata"); ok {
		b.AddGrounding(raw)
	}
}

// AddGrounding adds what the platform's own metadata say of the searches.
func (b *Billed) AddGrounding(metadata []byte) {
	r := jsonx.NewReader(metadata)
	for r.Object(); r.NextKey(); {
		switch string(r.Key()) {
		case "webSearchQueries":
			for r.Array(); r.NextElem(); r.Skip() {
				b.Searches++
			}
		case "groundingChunks":
			for r.Array(); r.NextElem(); {
				for r.Object(); r.NextKey(); r.Skip() {
					b.Maps = b.Maps || string(r.Key()) == "maps"
				}
			}
		default:
			r.Skip()
		}
	}
}

// AddAnswer keeps the class of service that an answer told, or a chunk of it.
func (b *Billed) AddAnswer(extra Extra) {
	if len(extra) == 0 {
		return
	}
	if raw, ok := extra.Get("service_tier"); ok {
		r := jsonx.NewReader(raw)
		if tier := r.String(); r.Err() == nil {
			b.ServiceTier = tier
		}
	}
}
