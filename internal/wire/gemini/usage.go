package gemini

import "github.com/b650d4bf/gateway/internal/jsonx"

// Usage is usageMetadata.
type Usage struct {
	Prompt, Candidates, Total, Thoughts, ToolUsePrompt, Cached int64
	PromptDetails, CandidatesDetails                           Modalities
	HasTotal                                                   bool
	// Counted says that it holds any token count: early chunks may hold only
	// the traffic type.
	Counted     bool
	TrafficType string
	// ServiceTier is the class of service at the vendor's own service.
	ServiceTier string
}

// Modalities are the tokens of a list of ModalityTokenCount, by modality.
type Modalities struct {
	Text, Image, Video, Audio, Document int64
}

func (u *Usage) decode(r *jsonx.Reader) {
	for r.Object(); r.NextKey(); {
		if r.Null() {
			continue
		}
		switch string(r.Key()) {
		case "promptTokenCount":
			u.count(r, &u.Prompt)
		case "candidatesTokenCount":
			u.count(r, &u.Candidates)
		case "totalTokenCount":
			u.HasTotal = true
			u.count(r, &u.Total)
		case "thoughtsTokenCount":
			u.count(r, &u.Thoughts)
		case "toolUsePromptTokenCount":
			u.count(r, &u.ToolUsePrompt)
		case "cachedContentTokenCount":
			u.count(r, &u.Cached)
		case "promptTokensDetails":
			u.PromptDetails.decode(r)
		case "candidatesTokensDetails":
			u.CandidatesDetails.decode(r)
		case "trafficType":
			u.TrafficType = enum(r, trafficNumbers, "ON_DEMAND")
		case "serviceTier":
			u.ServiceTier = enum(r, nil, "standard")
		default:
			r.Skip()
		}
	}
}

func (u *Usage) count(r *jsonx.Reader, n *int64) {
	u.Counted = true
	*n = r.LooseInt()
}

// decode adds the rows of a list up.
func (m *Modalities) decode(r *jsonx.Reader) {
	for r.Array(); r.NextElem(); {
		var row *int64
		var n int64
		for r.Object(); r.NextKey(); {
			switch string(r.Key()) {
			case "modality":
				row = m.row(enum(r, modalityNumbers, "TEXT"))
			case "tokenCount":
				n = r.LooseInt()
			default:
				r.Skip()
			}
		}
		if row != nil {
			*row += n
		}
	}
}

// row is where a modality is counted, nil for one that is not known.
func (m *Modalities) row(name string) *int64 {
	switch name {
	case "TEXT":
		return &m.Text
	case "IMAGE":
		return &m.Image
	case "VIDEO":
		return &m.Video
	case "AUDIO":
		return &m.Audio
	case "DOCUMENT":
		return &m.Document
	}
	return nil
}

// trafficNumbers are the enum numbers of UsageMetadata.TrafficType, and
// modalityNumbers those of Modality.
var (
	trafficNumbers  = []string{"", "ON_DEMAND", "PROVISIONED_THROUGHPUT"}
	modalityNumbers = []string{"", "TEXT", "IMAGE", "VIDEO", "AUDIO", "DOCUMENT"}
)
