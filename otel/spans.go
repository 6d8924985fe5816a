package gatewayotel

import (
	"net"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"go.opentelemetry.io/otel/attribute"

	"github.com/b650d4bf/gateway/providers"
)

// list gathers attributes.
type list []attribute.KeyValue

// The bounds of what callers and platforms write, but for content: bytes of a text,
// and texts of a list.
const maxText, maxTexts = 1024, 16

// short is a text within its bound. What is not UTF-8 is replaced: exporters drop a
// whole batch for it.
func short(v string) string {
	if len(v) > maxText {
		end := maxText
		for end > 0 && !utf8.RuneStart(v[end]) {
			end--
		}
		v = v[:end] + "…"
	}
	return strings.ToValidUTF8(v, "?") // which is no longer
}

// text adds a string, unless it is empty, and count a number, unless it is 0.
func (l *list) text(k attribute.Key, v string) {
	if v != "" {
		*l = append(*l, k.String(short(v)))
	}
}

func (l *list) count(k attribute.Key, n int64) {
	if n != 0 {
		*l = append(*l, k.Int64(n))
	}
}

// flag adds a truth, and nothing for a falsehood.
func (l *list) flag(k attribute.Key, v bool) {
	if v {
		*l = append(*l, k.Bool(true))
	}
}

func (l *list) number(k attribute.Key, v *float64) {
	if v != nil {
		*l = append(*l, k.Float64(*v))
	}
}

func (l *list) seconds(k attribute.Key, d time.Duration) {
	if d > 0 {
		*l = append(*l, k.Float64(d.Seconds()))
	}
}

func (l *list) texts(k attribute.Key, v []string) {
	if len(v) > 0 {
		*l = append(*l, k.StringSlice(v))
	}
}

// server adds the address of a server, which is "host:port".
func (l *list) server(address string) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return
	}
	*l = append(*l, keyServer.String(host))
	if n, err := strconv.Atoi(port); err == nil {
		*l = append(*l, keyPort.Int(n))
	}
}

// asked is what is known of a call when it begins.
func (o *Observer) asked(c *providers.Call) []attribute.KeyValue {
	l := make(list, 0, 16)
	l.flag(keyStream, c.Stream)
	l.text(keyPromptName, c.Prompt)
	l.text(keyPromptVersion, c.PromptVersion)
	l.text(keyRequestID, c.ID)
	l.text(keySurface, c.Surface)
	l.text(keyConfig, c.ConfigID)
	l.text(keyKey, c.KeyID)
	if k := o.opts.ConversationKey; k != "" {
		l.text(keyConversation, c.Metadata[k])
	}
	for _, k := range o.opts.MetadataKeys {
		l.text(attribute.Key(metadataPrefix+k), c.Metadata[k])
	}
	if p := c.Parameters; p != nil {
		l.parameters(p)
	}
	return l
}

// parameters adds what the request asked for.
func (l *list) parameters(p *providers.Parameters) {
	l.count(keyMaxTokens, int64(p.MaxTokens))
	l.count(keyTopK, int64(p.TopK))
	l.count(keyDimensions, int64(p.Dimensions))
	if p.Choices > 1 {
		l.count(keyChoices, int64(p.Choices))
	}
	l.number(keyTemperature, p.Temperature)
	l.number(keyTopP, p.TopP)
	l.number(keyPresence, p.PresencePenalty)
	l.number(keyFrequency, p.FrequencyPenalty)
	if p.Seed != nil {
		*l = append(*l, keySeed.Int64(*p.Seed))
	}
	stops := slices.Clone(p.Stop[:min(len(p.Stop), maxTexts)])
	for i := range stops {
		stops[i] = short(stops[i])
	}
	l.texts(keyStop, stops)
	l.text(keyReasoning, p.ReasoningEffort)
	l.text(keyOutputType, p.OutputType)
	if p.EncodingFormat != "" {
		*l = append(*l, keyEncoding.StringSlice([]string{short(p.EncodingFormat)}))
	}
}

// answered is what is known of a call when it has ended.
func (o *Observer) answered(s *state, r *providers.Record) []attribute.KeyValue {
	m := &r.Meta
	l := make(list, 0, 32)
	model := modelOf(r)
	l.text(keyProvider, o.provider(m.Provider, m.Slug))
	l.text(keyRequestModel, model)
	if bare(r.Call.Model) != model {
		l.text(keyAsked, r.Call.Model)
	}
	l.text(keySlug, m.Slug)
	l.text(keyResponseID, r.ResponseID)
	l.text(keyResponseModel, r.ResponseModel)
	l.texts(keyFinishReasons, reasons(s, r))
	l.seconds(keyFirstChunk, r.FirstChunk)
	l.text(keyError, errorOf(r.Err))
	if a := last(r); a != nil {
		l.server(a.Server)
	}
	l.ways(m)
	l.cache(r)
	if !spared(r) && r.Usage != nil {
		o.usage(&l, r.Usage)
	}
	return l
}

// ways adds which way the call went.
func (l *list) ways(m *providers.Meta) {
	sent, hedges := 0, int64(0)
	for i := range m.Attempts {
		if m.Attempts[i].Skipped != "" {
			continue
		}
		sent++
		if m.Attempts[i].Hedged {
			hedges++
		}
	}
	*l = append(*l, keyAttempts.Int(sent))
	l.count(keyHedges, hedges)
	l.count(keyRetries, int64(m.Retry))
	l.flag(keyFallback, bool(m.Fallback))
	l.flag(keyBalanced, bool(m.LoadBalance))
	l.count(keyWarnings, int64(len(m.Warnings)))
	var denied []string
	for i := range m.Guards {
		if m.Guards[i].Denied && !slices.Contains(denied, m.Guards[i].Name) {
			denied = append(denied, m.Guards[i].Name)
		}
	}
	l.texts(keyDenied, denied)
}

// cache adds what part the response cache had.
func (l *list) cache(r *providers.Record) {
	m := &r.Meta
	l.text(keyCache, string(m.CacheStatus))
	l.flag(keyShared, m.Cache.Shared)
	if m.CacheStatus.IsHit() {
		l.seconds(keyAge, m.Cache.Age)
	}
	if m.Cache.Similarity > 0 {
		*l = append(*l, keySimilarity.Float64(m.Cache.Similarity))
	}
	if spared(r) && r.Usage != nil {
		l.count(keySavedInput, r.Usage.PromptTokens)
		l.count(keySavedOutput, r.Usage.CompletionTokens)
	}
}

// sent is what is known of a request.
func (o *Observer) sent(a *providers.Attempt, number int) []attribute.KeyValue {
	l := make(list, 0, 12)
	l.text(keyProvider, o.provider(a.Provider, a.Slug))
	l.text(keyRequestModel, a.Model)
	l.text(keySlug, a.Slug)
	l.text(keyTarget, a.Target)
	l.count(keyNumber, int64(number))
	l.count(keyStatus, int64(a.StatusCode))
	l.count(keyResend, int64(a.Retry))
	l.flag(keyHedged, a.Hedged)
	l.seconds(keyWait, a.Wait)
	l.server(a.Server)
	if a.Code != "" {
		l.text(keyError, errorType(a.Code))
	}
	return l
}

// skipped is what is known of a target that was passed over.
func skipped(a *providers.Attempt) []attribute.KeyValue {
	l := make(list, 0, 3)
	l.text(keyTarget, a.Target)
	l.text(keySkipped, string(a.Skipped))
	if a.Code != "" {
		l.text(keyError, errorType(a.Code))
	}
	return l
}

// modelOf is the model that was asked.
func modelOf(r *providers.Record) string {
	if r.Meta.Model != "" {
		return r.Meta.Model
	}
	return bare(r.Call.Model)
}

// last is the request that answered, or the last one; nil when none was sent.
func last(r *providers.Record) *providers.Attempt {
	var found *providers.Attempt
	for i := range r.Meta.Attempts {
		a := &r.Meta.Attempts[i]
		if a.Skipped == "" && (found == nil || found.Code != "" || a.Code == "") {
			found = a
		}
	}
	return found
}

// spared reports whether the answer is one that was made for another call: it has
// cost nothing.
func spared(r *providers.Record) bool { return r.Meta.CacheStatus.IsHit() || r.Meta.Cache.Shared }

// reasons are the finish reasons of all choices. A choice without one has "error"
// when the call failed after a request was sent.
//
// Source: https://github.com/open-telemetry/semantic-conventions-genai/blob/main/docs/gen-ai/client-inference.md
func reasons(s *state, r *providers.Record) []string {
	if s.op.family != inference {
		return nil
	}
	out := slices.Clone(r.FinishReasons)
	if out == nil && (r.FinishReason != "" || r.Err != nil && last(r) != nil) {
		out = []string{r.FinishReason}
	}
	for i := range out {
		if out[i] == "" {
			out[i] = "error"
		}
	}
	return out
}
