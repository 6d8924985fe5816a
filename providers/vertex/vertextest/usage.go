package vertextest

import (
	"cmp"
	"slices"
	"strings"
)

// Tokens charged for media, whatever its size, and for an explicit cache.
const (
	mediaTokens    = 258
	imageOutTokens = 1120
	cacheTokens    = 2048
)

// usage is the usageMetadata of a response, in the platform's order.
type usage struct {
	PromptTokenCount        int             `json:"promptTokenCount,omitempty"`
	CandidatesTokenCount    int             `json:"candidatesTokenCount,omitempty"`
	TotalTokenCount         int             `json:"totalTokenCount,omitempty"`
	CachedContentTokenCount int             `json:"cachedContentTokenCount,omitempty"`
	TrafficType             string          `json:"trafficType,omitempty"`
	ServiceTier             string          `json:"serviceTier,omitempty"` // at the Gemini API, in place of the type
	PromptTokensDetails     []modalityCount `json:"promptTokensDetails,omitempty"`
	CacheTokensDetails      []modalityCount `json:"cacheTokensDetails,omitempty"`
	CandidatesTokensDetails []modalityCount `json:"candidatesTokensDetails,omitempty"`
	ToolUsePromptTokenCount int             `json:"toolUsePromptTokenCount,omitempty"`
	ToolUseDetails          []modalityCount `json:"toolUsePromptTokensDetails,omitempty"`
	ThoughtsTokenCount      int             `json:"thoughtsTokenCount,omitempty"`
}

type modalityCount struct {
	Modality   string `json:"modality"`
	TokenCount int    `json:"tokenCount"`
}

// tally counts what parts cost: bytes of text, and media by modality.
type tally struct {
	bytes int
	media map[string]int
}

// tokens is the emulator's measure: a quarter of the bytes, at least one.
func tokens(bytes int) int {
	if bytes == 0 {
		return 0
	}
	return max(1, bytes/4)
}

func (t *tally) addMedia(modality string, n int) {
	if t.media == nil {
		t.media = map[string]int{}
	}
	t.media[modality] += n
}

// addPart counts one part of a prompt or of an answer.
func (t *tally) addPart(p part, perMedium int) {
	t.bytes += len(p.text()) + len(p.ExecutableCode) + len(p.CodeExecutionResult)
	if c := p.FunctionCall; c != nil {
		t.bytes += len(c.Name) + len(c.Args)
	}
	if r := p.FunctionResponse; r != nil {
		t.bytes += len(r.Name) + len(r.Response)
		for _, m := range r.Parts {
			t.addPart(m, perMedium)
		}
	}
	if p.InlineData != nil {
		t.addMedia(modalityOf(p.InlineData.MimeType), perMedium)
	}
	if p.FileData != nil {
		t.addMedia(modalityOf(p.FileData.MimeType), perMedium)
	}
}

// total is the sum of all counts.
func (t *tally) total() int {
	n := tokens(t.bytes)
	for _, m := range t.media {
		n += m
	}
	return n
}

// details lists the counts that aren't zero, by modality.
func (t *tally) details() []modalityCount {
	var list []modalityCount
	if n := tokens(t.bytes); n > 0 {
		list = append(list, modalityCount{"TEXT", n})
	}
	for _, m := range []string{"IMAGE", "VIDEO", "AUDIO", "DOCUMENT"} {
		if n := t.media[m]; n > 0 {
			list = append(list, modalityCount{m, n})
		}
	}
	return list
}

// modalityOf returns the modality that a media type is billed as.
func modalityOf(mimeType string) string {
	kind, _, _ := strings.Cut(strings.ToLower(mimeType), "/")
	switch kind {
	case "image", "video", "audio":
		return strings.ToUpper(kind)
	}
	return "DOCUMENT"
}

// promptTally counts the request.
func promptTally(r *request) tally {
	var t tally
	for _, c := range r.Contents {
		for _, p := range c.Parts {
			t.addPart(p, mediaTokens)
		}
	}
	if r.SystemInstruction != nil {
		for _, p := range r.SystemInstruction.Parts {
			t.addPart(p, mediaTokens)
		}
	}
	for _, one := range r.Tools {
		for _, raw := range one {
			t.bytes += len(canonical(raw))
		}
	}
	return t
}

// usageOf counts request and answer: thoughts are beside the candidates, the
// cache is inside the prompt, what tools fed back is beside the prompt, and the
// total is all but the cache.
func usageOf(x *exchange, answered tally, a answer) usage {
	prompt := promptTally(&x.req)
	u := usage{
		PromptTokenCount:        prompt.total(),
		CandidatesTokenCount:    answered.total(),
		TrafficType:             x.trafficType(),
		PromptTokensDetails:     prompt.details(),
		CandidatesTokensDetails: answered.details(),
		ToolUsePromptTokenCount: a.toolUse,
		ThoughtsTokenCount:      a.thoughts,
	}
	if x.target.direct {
		u.TrafficType, u.ServiceTier = "", cmp.Or(x.tier, "standard")
	}
	if a.toolUse > 0 {
		u.ToolUseDetails = []modalityCount{{"TEXT", a.toolUse}}
	}
	switch {
	case x.cached != nil: // its content is part of the request by now
		u.CachedContentTokenCount = x.cached.size.total()
		u.CacheTokensDetails = x.cached.size.details()
	case x.req.CachedContent != "":
		u.CachedContentTokenCount = cacheTokens
		u.CacheTokensDetails = []modalityCount{{"TEXT", cacheTokens}}
		u.PromptTokenCount += cacheTokens
		u.PromptTokensDetails = (&tally{bytes: prompt.bytes + 4*cacheTokens, media: prompt.media}).details()
	}
	u.TotalTokenCount = u.PromptTokenCount + u.CandidatesTokenCount + u.ToolUsePromptTokenCount + u.ThoughtsTokenCount
	return u
}

// Headers that choose how a request is served.
//
// Source: https://cloud.google.com/vertex-ai/generative-ai/docs/priority-paygo
const (
	requestTypeHeader = "X-Vertex-AI-LLM-Request-Type"
	sharedTypeHeader  = "X-Vertex-AI-LLM-Shared-Request-Type"
)

// checkTraffic refuses values that the request-type headers don't have.
func checkTraffic(x *exchange) error {
	for _, h := range []struct {
		name  string
		known []string
	}{
		{requestTypeHeader, []string{"dedicated", "shared"}},
		{sharedTypeHeader, []string{"priority", "flex"}},
	} {
		if v := x.header.Get(h.name); v != "" && !slices.Contains(h.known, v) {
			return invalid("Invalid value %q of header %s. Expected one of %s.", v, h.name, strings.Join(h.known, ", "))
		}
	}
	return nil
}

// trafficType follows the request-type headers. Without any, the project is
// taken to have no Provisioned Throughput. A region takes the header of the
// priority class and ignores it.
func (x *exchange) trafficType() string {
	if x.header.Get(requestTypeHeader) == "dedicated" {
		return "PROVISIONED_THROUGHPUT"
	}
	switch x.header.Get(sharedTypeHeader) {
	case "priority":
		if multiRegion.serves(x.target.location) {
			return "ON_DEMAND_PRIORITY"
		}
	case "flex":
		return "ON_DEMAND_FLEX"
	}
	return "ON_DEMAND"
}
