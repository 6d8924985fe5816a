package engine

import (
	"encoding/base32"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/b650d4bf/gateway/internal/jsonx"
	"github.com/b650d4bf/gateway/providers"
)

// The most lines of one job.
//
// Sources: https://cloud.google.com/vertex-ai/generative-ai/docs/multimodal/batch-prediction-from-cloud-storage
// and https://cloud.google.com/vertex-ai/generative-ai/docs/embeddings/batch-prediction-genai-embeddings
const (
	maxBatchLines      = 200_000
	maxEmbedBatchLines = 30_000
)

// BatchLines returns the translation of the lines of a batch for the model of
// the target.
func (p *Engine) BatchLines(t *providers.Target, q *providers.BatchFormat) (providers.BatchLines, error) {
	if q.Endpoint == providers.BatchEmbeddings {
		return p.embedLines(t, q.Settings)
	}
	model, err := p.site.Model(t.Model)
	if err != nil {
		return nil, err
	}
	if model.Family != FamilyGemini && model.Family != FamilyClaude {
		return nil, badModel("batches are for models of Gemini and Claude, and for those that embed")
	}
	site, ok := p.site.(BatchSite)
	if !ok {
		return nil, badSetting("provider", p.site.Name()+" runs no batches")
	}
	if _, err := site.BatchModel(t, &model); err != nil {
		return nil, err
	}
	return &chatLines{p: p, t: t, claude: model.Family == FamilyClaude}, nil
}

// chatLines translates the lines of chat completions. A line has the very body
// that a request of its own would have, and the id beside it.
type chatLines struct {
	p      *Engine
	t      *providers.Target
	claude bool

	body []byte                // scratch
	acc  providers.Accumulator // empty between two lines
}

// MaxLines is the most lines of one job.
func (*chatLines) MaxLines() int { return maxBatchLines }

// Settings returns nil: the lines have nothing in common but the model.
func (*chatLines) Settings() []byte { return nil }

// AppendEmbedding refuses the line.
func (*chatLines) AppendEmbedding(dst []byte, _ string, _ *providers.EmbeddingRequest) ([]byte, []providers.Warning, error) {
	return dst, nil, errMixed()
}

func errMixed() error {
	return providers.Invalid("url", "the batch is for another endpoint: make one batch for each")
}

// AppendChat appends the platform's line for a chat completion.
//
// Sources: https://cloud.google.com/vertex-ai/generative-ai/docs/multimodal/batch-prediction-from-cloud-storage
// and https://cloud.google.com/vertex-ai/generative-ai/docs/partner-models/claude/batch
func (b *chatLines) AppendChat(dst []byte, id string, req *providers.ChatCompletionRequest) ([]byte, []providers.Warning, error) {
	var c call
	key := ""
	if b.claude {
		var err error
		if key, err = claudeKey(id); err != nil {
			return dst, nil, err
		}
	} else {
		own := *req
		var err error
		if own.Labels, err = joinLabels(req, id); err != nil {
			return dst, nil, err
		}
		req = &own
	}
	shares, err := b.p.prepare(b.t, req, &c, false)
	if err != nil {
		return dst, nil, err
	}
	if shares > 1 {
		return dst, nil, providers.Invalid("n", "the model gives fewer choices to one request, and a line is one: repeat the line")
	}
	if b.body, err = b.p.translator(&c.in.model).encode(&c.in, &c.out, b.body[:0]); err != nil {
		return dst, nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(c.out.header)) {
		param := "service_tier"
		if name == betaHeader {
			param = "anthropic-beta"
		}
		if len(c.out.header[name]) > 0 {
			c.out.warn(providers.WarnUnsupported, param, "left out: it is sent in a header, and a line of a batch has none")
		}
	}
	if key != "" {
		dst = append(append(append(dst, `{"custom_id":"`...), key...), `","request":`...)
	} else {
		dst = append(dst, `{"request":`...)
	}
	return append(append(dst, b.body...), '}'), c.warnings(), nil
}

// Read reads one line of the output.
func (b *chatLines) Read(line []byte, out *providers.BatchResult) error {
	l, err := readOutputLine(line)
	if err != nil {
		return err
	}
	id, audio, err := l.customID(b.claude)
	if err != nil {
		return err
	}
	out.CustomID = id
	if out.Err = l.fault(b.p.site.Name()); out.Err != nil {
		return nil
	}
	c := call{in: request{chat: new(providers.ChatCompletionRequest), target: b.t, site: b.p.site}}
	if c.in.model, c.known, err = b.p.readModel(b.t.Model); err != nil {
		return err
	}
	c.in.choices, c.out.audio = 1, audio
	c.decoder = b.p.translator(&c.in.model).newDecoder(&c.in, &c.out)
	defer c.decoder.release()
	defer func() { b.acc = providers.Accumulator{} }()
	answer, failed := c.fold(l.response, &b.acc)
	if failed != nil {
		out.Err = lineError(c.named(failed))
		return nil
	}
	answer.Provider = b.p.site.Name()
	out.Chat, out.RequestID = answer, answer.ID
	return nil
}

// The labels that carry the id of a line of Gemini's, whose output repeats the
// request and has no other place for it. An id that is a label is one as it is;
// any other is in base 32, in pieces.
//
// Source: https://cloud.google.com/vertex-ai/generative-ai/docs/multimodal/add-labels-to-api-calls
const (
	labelID      = "gateway_id"
	labelPiece   = "gateway_id_"
	labelAudio   = "gateway_audio"
	labelPrefix  = "gateway_"
	maxLabel     = 63
	pieceBytes   = maxLabel * 5 / 8
	maxIDPieces  = 16
	maxBatchID   = pieceBytes * maxIDPieces
	claudePrefix = "b32-"
	maxClaudeID  = 64
)

// smallBase32 is the alphabet of base 32 that labels can have.
func smallBase32() *base32.Encoding {
	return base32.NewEncoding("0123456789abcdefghijklmnopqrstuv").WithPadding(base32.NoPadding)
}

// joinLabels returns the labels of a line, with its id.
func joinLabels(req *providers.ChatCompletionRequest, id string) (map[string]string, error) {
	labels := make(map[string]string, len(req.Labels)+1)
	maps.Copy(labels, req.Labels)
	for key := range labels {
		if strings.HasPrefix(key, labelPrefix) {
			return nil, providers.Invalid("labels", "labels that begin with "+labelPrefix+" are the gateway's in a batch")
		}
	}
	if format, ok := req.Extra.Get("audio"); ok {
		if wav, _ := jsonx.Lookup(format, "format"); string(wav) == `"wav"` {
			labels[labelAudio] = "wav"
		}
	}
	if id != "" && isLabel(id) {
		labels[labelID] = id
		return labels, nil
	}
	if len(id) > maxBatchID {
		return nil, providers.Invalid("custom_id", "must have at most "+strconv.Itoa(maxBatchID)+" bytes")
	}
	for i := 0; id != ""; i++ {
		n := min(len(id), pieceBytes)
		labels[labelPiece+strconv.Itoa(i)] = smallBase32().EncodeToString([]byte(id[:n]))
		id = id[n:]
	}
	if len(labels) > maxLabels {
		return nil, providers.Invalid("labels", "with those that carry the custom_id there are more than 64: use fewer, or a shorter custom_id")
	}
	return labels, nil
}

// splitLabels reads the id back.
func splitLabels(raw []byte) (id, audio string, ok bool) {
	pieces := map[string]string{}
	r := jsonx.NewReader(raw)
	if r.Kind() != jsonx.Object {
		return "", "", false
	}
	for r.Object(); r.NextKey(); {
		switch key := string(r.Key()); {
		case key == labelID:
			id, ok = r.String(), true
		case key == labelAudio:
			audio = r.String()
		case strings.HasPrefix(key, labelPiece):
			pieces[key] = r.String()
		default:
			r.Skip()
		}
	}
	if r.End() != nil {
		return "", "", false
	}
	for i := range len(pieces) {
		piece, err := smallBase32().DecodeString(pieces[labelPiece+strconv.Itoa(i)])
		if err != nil || len(piece) == 0 {
			return "", "", false
		}
		id, ok = id+string(piece), true
	}
	return id, audio, ok && utf8.ValidString(id)
}

// claudeKey is the id as a line of Claude's has it.
//
// Source: https://platform.claude.com/docs/en/api/creating-message-batches
func claudeKey(id string) (string, error) {
	if id != "" && len(id) <= maxClaudeID && !strings.HasPrefix(id, claudePrefix) && !strings.ContainsFunc(id, func(c rune) bool {
		return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '_' && c != '-'
	}) {
		return id, nil
	}
	key := claudePrefix + smallBase32().EncodeToString([]byte(id))
	if len(key) > maxClaudeID {
		return "", providers.Invalid("custom_id", "models of Claude take at most 64 letters, digits, _ and -, or 37 bytes of anything else")
	}
	return key, nil
}

// claudeID reads the id back.
func claudeID(key string) (string, bool) {
	coded, ok := strings.CutPrefix(key, claudePrefix)
	if !ok {
		return key, key != ""
	}
	id, err := smallBase32().DecodeString(coded)
	return string(id), err == nil && utf8.Valid(id)
}
