package engine

import (
	"bytes"
	"slices"

	"github.com/b650d4bf/gateway/internal/jsonx"
	"github.com/b650d4bf/gateway/internal/wire/gemini"
	"github.com/b650d4bf/gateway/providers"
)

// nativeLook reads of an answer what logs, limits and the cache need. It changes
// nothing, and what it can't read of an answer that is JSON is no fault.
type nativeLook struct {
	method   string
	stream   bool
	res      gemini.Response
	id       string
	model    string
	usage    gemini.Usage
	tokens   int64 // of a prediction's inputs
	blocked  bool
	calls    bool // a function is called
	sources  bool
	searches int
	maps     bool
	open     []int  // indexes of candidates without a finish reason
	done     []int  // of those that have one
	begun    bool   // there was a candidate
	first    string // the first candidate's finish reason
	native   string // or another one's that did not just stop
}

// whole reads a whole answer. An error in the place of one is returned.
func (l *nativeLook) whole(body []byte) error {
	r := jsonx.NewReader(body)
	if r.Kind() != jsonx.Object {
		return unreadable(0, body)
	}
	switch l.method {
	case providers.NativeGenerate, providers.NativeEmbed, providers.NativeBatchEmbed:
		return l.object(body)
	}
	if !jsonx.Valid(body) {
		return unreadable(0, body)
	}
	if raw, ok := errorMember(body); ok {
		return nativeFault(raw)
	}
	if l.method == providers.NativePredict {
		l.predictions(body)
	}
	return nil
}

// event reads one event of a stream.
func (l *nativeLook) event(data []byte) error {
	r := jsonx.NewReader(data)
	if r.Kind() == jsonx.Array { // an error in a list
		r.Array()
		if r.NextElem() {
			data = r.Raw()
		}
	}
	if r := jsonx.NewReader(data); r.Kind() != jsonx.Object {
		return unreadable(0, data)
	}
	return l.object(data)
}

// nativeFault is an error that came in the place of an answer.
func nativeFault(raw []byte) error {
	e := rawError(0, raw)
	e.Sent = true
	var s rpcStatus
	if r := jsonx.NewReader(raw); r.Kind() == jsonx.Object {
		if s.decode(&r); s.message != "" {
			e.Message, e.Param = s.message, s.field
		}
	}
	return e
}

func (l *nativeLook) object(data []byte) error {
	r := jsonx.NewReader(data)
	res := &l.res
	if res.Decode(&r); r.End() != nil && !jsonx.Valid(data) {
		return answerError(providers.ErrBadResponse, "the platform's answer is not valid JSON")
	}
	if res.Error != nil {
		return nativeFault(res.Error)
	}
	if res.ResponseID != "" {
		l.id = res.ResponseID
	}
	if res.ModelVersion != "" {
		l.model = res.ModelVersion
	}
	if res.HasUsage && res.Usage.Counted {
		l.usage = res.Usage
	}
	l.blocked = l.blocked || res.Feedback.BlockReason != ""
	for i := range res.Candidates {
		l.candidate(&res.Candidates[i])
	}
	return nil
}

func (l *nativeLook) candidate(c *gemini.Candidate) {
	l.begun = true
	unfinished := c.FinishReason == "" || c.FinishReason == "FINISH_REASON_UNSPECIFIED"
	if at := slices.Index(l.open, c.Index); at < 0 && unfinished && !slices.Contains(l.done, c.Index) {
		l.open = append(l.open, c.Index)
	} else if at >= 0 && !unfinished {
		l.open = slices.Delete(l.open, at, at+1)
	}
	for i := range c.Parts {
		l.calls = l.calls || c.Parts[i].Kind == gemini.KindFunctionCall
	}
	if len(c.GroundingMetadata) > len("{}") || len(c.URLContextMetadata) > len("{}") || len(c.CitationMetadata) > len("{}") {
		l.sources = true
	}
	if len(c.GroundingMetadata) > len("{}") {
		var b providers.Billed
		b.AddGrounding(c.GroundingMetadata)
		l.searches, l.maps = max(l.searches, b.Searches), l.maps || b.Maps // events repeat what they said
	}
	if unfinished {
		return
	}
	if l.stream {
		l.done = append(l.done, c.Index)
	}
	if c.Index == 0 || l.first == "" {
		l.first = c.FinishReason
	}
	if l.native == "" || l.native == "STOP" {
		l.native = c.FinishReason
	}
}

// ended reports whether a stream came to its end: every candidate did, or the
// prompt was blocked.
func (l *nativeLook) ended() bool { return len(l.open) == 0 && (l.begun || l.blocked) }

// predictions adds up the tokens of the inputs of an embedding model.
//
// Source: https://cloud.google.com/vertex-ai/generative-ai/docs/model-reference/text-embeddings-api
func (l *nativeLook) predictions(body []byte) {
	raw, _ := jsonx.Lookup(body, "predictions")
	if len(raw) == 0 || !bytes.Contains(raw, []byte("token_count")) {
		return
	}
	r := jsonx.NewReader(raw)
	if r.Kind() != jsonx.Array {
		return
	}
	for r.Array(); r.NextElem(); {
		one := r.Raw()
		for _, name := range [...]string{"embeddings", "statistics", "token_count"} {
			one, _ = jsonx.Lookup(one, name)
		}
		if n := jsonx.NewReader(one); n.Kind() == jsonx.Number {
			l.tokens += int64(n.Float())
		}
	}
}

// facts are what was read so far.
func (l *nativeLook) facts() providers.NativeFacts {
	f := providers.NativeFacts{ID: l.id, Model: l.model, NativeFinishReason: l.native, Sources: l.sources, Searches: l.searches, Maps: l.maps}
	switch {
	case l.usage.Counted:
		f.Usage = usage(new(providers.Usage), &l.usage)
	case l.tokens > 0:
		f.Usage = &providers.Usage{PromptTokens: l.tokens, TotalTokens: l.tokens}
	}
	switch {
	case l.blocked && l.first == "":
		f.FinishReason = providers.FinishContentFilter
	case l.first == "":
	case finishReasons[l.first] != "":
		f.FinishReason = finishReasons[l.first]
	case l.calls:
		f.FinishReason = providers.FinishToolCalls
	default:
		f.FinishReason = providers.FinishStop
	}
	return f
}
