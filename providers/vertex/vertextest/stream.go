package vertextest

import (
	"encoding/json"
	"net/http"
	"strings"
)

// wordsPerChunk is how many words a chunk of a stream has after the first one,
// which has one.
const wordsPerChunk = 3

// chunks splits a whole answer into deltas. The last chunk has the finishReason
// and the usage of the whole; earlier ones have a running count or, before
// Gemini 3, the traffic type alone.
func (a answer) chunks(x *exchange, whole generateResponse) []generateResponse {
	if len(whole.Candidates) == 0 {
		return []generateResponse{whole}
	}
	var (
		list  []generateResponse
		shown tally
	)
	for _, c := range whole.Candidates {
		for _, delta := range splitCandidate(x, c) {
			one := whole
			one.Candidates = []candidate{delta}
			if delta.Content != nil {
				shown.addVisible(delta.Content.Parts)
			}
			one.UsageMetadata = usage{TrafficType: whole.UsageMetadata.TrafficType, ServiceTier: whole.UsageMetadata.ServiceTier}
			if x.rules.runningUsage {
				one.UsageMetadata = usageOf(x, shown, answer{thoughts: a.thoughts})
			}
			list = append(list, one)
		}
	}
	list[len(list)-1].UsageMetadata = whole.UsageMetadata
	return list
}

// splitCandidate returns the deltas of one candidate: a thought, a call or an
// image whole, a text by words, sound by words too. The signature of a text
// comes in a final part with empty text; calls and images on models that sign
// are followed by an unsigned one. What the answer rests on comes last.
func splitCandidate(x *exchange, c candidate) []candidate {
	var parts []part
	if c.Content != nil {
		parts = x.splitParts(c.Content.Parts)
		last := parts[len(parts)-1]
		if x.rules.signatures && last.Text == nil && !(x.streamsArgs() && last.FunctionCall != nil) {
			parts = append(parts, part{Text: new("")})
		}
	}
	deltas := make([]candidate, 0, len(parts))
	for _, p := range parts {
		deltas = append(deltas, candidate{Index: c.Index, Content: &content{Role: "model", Parts: []part{p}}})
	}
	if len(deltas) == 0 {
		deltas = append(deltas, candidate{Index: c.Index})
	}
	last := &deltas[len(deltas)-1]
	last.FinishReason, last.LogprobsResult = c.FinishReason, c.LogprobsResult
	last.GroundingMetadata, last.URLContextMetadata = c.GroundingMetadata, c.URLContextMetadata
	return deltas
}

// streamsArgs reports whether arguments are streamed too.
func (x *exchange) streamsArgs() bool {
	return x.rules.streamsArgs && x.req.ToolConfig.FunctionCallingConfig.StreamArguments
}

// splitParts splits what can come in pieces.
func (x *exchange) splitParts(parts []part) []part {
	var out []part
	for _, p := range parts {
		switch {
		case p.FunctionCall != nil && x.streamsArgs():
			out = append(out, splitCall(p)...)
			continue
		case p.isSpeech():
			out = append(out, splitSpeech(p)...)
			continue
		case p.Text == nil, p.Thought:
			out = append(out, p)
			continue
		}
		for _, piece := range pieces(*p.Text) {
			out = append(out, part{Text: &piece})
		}
		if p.ThoughtSignature != "" {
			out = append(out, part{Text: new(""), ThoughtSignature: p.ThoughtSignature})
		}
	}
	return out
}

// pieces cuts a text into one word and then a few at a time; spaces stay with
// the word that follows them.
func pieces(text string) []string {
	all := words(text)
	if len(all) < 2 {
		return []string{text}
	}
	out := []string{all[0]}
	for all = all[1:]; len(all) > 0; {
		n := min(wordsPerChunk, len(all))
		out = append(out, strings.Join(all[:n], ""))
		all = all[n:]
	}
	return out
}

// words cuts a text before each run of spaces that a word follows.
func words(text string) []string {
	var (
		out   []string
		start int
		blank = true // nothing but space since start
	)
	for i, r := range text {
		isSpace := r == ' ' || r == '\n' || r == '\t'
		if isSpace && !blank {
			out = append(out, text[start:i])
			start = i
		}
		blank = isSpace
	}
	if blank && len(out) > 0 {
		out[len(out)-1] += text[start:]
		return out
	}
	if start < len(text) {
		out = append(out, text[start:])
	}
	return out
}

// renderStream frames the chunks as events, or as one JSON array without alt=sse.
func renderStream(x *exchange, chunks []generateResponse) (response, error) {
	res := response{status: http.StatusOK, header: sseHeader()}
	if !x.sse {
		res.header = jsonHeader()
	}
	for i, c := range chunks {
		body, err := json.Marshal(c)
		if err != nil {
			return response{}, err
		}
		if x.sse {
			res.events = append(res.events, sseEvent(spaced(body)))
			continue
		}
		element := strings.TrimSuffix(string(pretty(body)), "\n")
		open, end := ",\r\n", "\n"
		if i == 0 {
			open = "["
		}
		if i == len(chunks)-1 {
			end = "\n]\n"
		}
		res.events = append(res.events, []byte(open+element+end))
	}
	return res, nil
}
