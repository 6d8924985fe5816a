package vertextest

import (
	"net/http"
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
	PromptTokensDetails     []modalityCount `json:"promptTokensDetails,omitempty"`
	CacheTokensDetails      []modalityCount `json:"cacheTokensDetails,omitempty"`
	CandidatesTokensDetails []modalityCount `json:"candidatesTokensDetails,omitempty"`
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
// cache is inside the prompt, and the total is prompt, candidates and thoughts.
func usageOf(x *exchange, answered tally, thoughts int) usage {
	prompt := promptTally(&x.req)
	u := usage{
		PromptTokenCount:        prompt.total(),
		CandidatesTokenCount:    answered.total(),
		TrafficType:             trafficType(x.header),
		PromptTokensDetails:     prompt.details(),
		CandidatesTokensDetails: answered.details(),
		ThoughtsTokenCount:      thoughts,
	}
	if x.req.CachedContent != "" {
		u.CachedContentTokenCount = cacheTokens
		u.CacheTokensDetails = []modalityCount{{"TEXT", cacheTokens}}
		u.PromptTokenCount += cacheTokens
		u.PromptTokensDetails = (&tally{bytes: prompt.bytes + 4*cacheTokens, media: prompt.media}).details()
	}
	u.TotalTokenCount = u.PromptTokenCount + u.CandidatesTokenCount + u.ThoughtsTokenCount
	return u
}

// trafficType follows the request-type headers. Without any, the project is
// taken to have no Provisioned Throughput.
//
// Source: https://cloud.google.com/vertex-ai/generative-ai/docs/priority-paygo
func trafficType(h http.Header) string {
	if h.Get("X-Vertex-AI-LLM-Request-Type") == "dedicated" {
		return "PROVISIONED_THROUGHPUT"
	}
	switch h.Get("X-Vertex-AI-LLM-Shared-Request-Type") {
	case "priority":
		return "ON_DEMAND_PRIORITY"
	case "flex":
		return "ON_DEMAND_FLEX"
	}
	return "ON_DEMAND"
}
