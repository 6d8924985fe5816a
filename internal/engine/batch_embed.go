package engine

import (
	"github.com/b650d4bf/gateway/catalog"
	"github.com/b650d4bf/gateway/internal/jsonx"
	"github.com/b650d4bf/gateway/internal/wire/embed"
	"github.com/b650d4bf/gateway/providers"
)

// embedLines translates the lines of embeddings. What is a parameter of a
// request is one of the whole job here, so that it has to be the same in all.
type embedLines struct {
	p        *Engine
	t        *providers.Target
	settings []byte // nil before the first line
	w        jsonx.Writer
}

func (p *Engine) embedLines(t *providers.Target, settings []byte) (*embedLines, error) {
	e := &embedding{p: p, t: t, q: &providers.EmbeddingRequest{Model: t.Model}}
	if err := e.findModel(); err != nil {
		return nil, err
	}
	site, ok := p.site.(BatchSite)
	if !ok {
		return nil, badSetting("provider", p.site.Name()+" runs no batches")
	}
	if e.row.Method != catalog.EmbedPredict {
		return nil, badModel("batches of embeddings are for models of texts that have the method predict, such as text-embedding-005")
	}
	if _, err := site.BatchModel(t, &e.model); err != nil {
		return nil, err
	}
	return &embedLines{p: p, t: t, settings: settings}, nil
}

// MaxLines is the most lines of one job.
func (*embedLines) MaxLines() int { return maxEmbedBatchLines }

// Settings are what the lines have in common.
func (b *embedLines) Settings() []byte { return b.settings }

// AppendChat refuses the line.
func (*embedLines) AppendChat(dst []byte, _ string, _ *providers.ChatCompletionRequest) ([]byte, []providers.Warning, error) {
	return dst, nil, errMixed()
}

// AppendEmbedding appends the platform's line for a text: the instance that a
// request of its own would have, with the id, which the job leaves out of what
// the model sees and puts beside the answer.
//
// Sources: https://cloud.google.com/vertex-ai/generative-ai/docs/embeddings/batch-prediction-genai-embeddings
// and https://cloud.google.com/vertex-ai/docs/reference/rest/v1/projects.locations.batchPredictionJobs#InstanceConfig
func (b *embedLines) AppendEmbedding(dst []byte, id string, req *providers.EmbeddingRequest) ([]byte, []providers.Warning, error) {
	if len(req.Input.Items) != 1 {
		return dst, nil, providers.Invalid("input", "a line of a batch has one input: give each a line of its own")
	}
	e := &embedding{p: b.p, t: b.t, q: req, items: req.Input.Items}
	if err := e.prepare(); err != nil {
		return dst, nil, err
	}
	if e.media != nil {
		return dst, nil, providers.Invalid("input", "a batch takes texts alone")
	}
	settings := b.common(e)
	if b.settings != nil && string(settings) != string(b.settings) {
		return dst, nil, providers.Invalid("dimensions", "dimensions, auto_truncate, encoding_format and parameters must be those of the first line: "+
			"the platform has them for a job as a whole")
	}
	b.settings = settings
	w := &b.w
	w.Reset(w.Bytes())
	w.BeginObject()
	w.Key("custom_id")
	w.String(id)
	w.Key("content")
	w.String(e.items[0].Text)
	putText(w, "task_type", e.parameter())
	putText(w, "title", e.title)
	w.EndObject()
	e.countUntold()
	return append(dst, w.Bytes()...), e.warnings, w.Err()
}

// common writes what a job has for all lines: the parameters of the platform,
// and what the answers are made with.
func (b *embedLines) common(e *embedding) []byte {
	var w jsonx.Writer
	w.BeginObject()
	w.Key("parameters")
	w.BeginObject()
	putNumber(&w, "outputDimensionality", e.dimensions)
	e.rest(&w)
	w.EndObject()
	putText(&w, "encoding_format", e.q.EncodingFormat)
	w.EndObject()
	return w.Bytes()
}

// embedParameters are the parameters of a job, an object or nil.
func embedParameters(settings []byte) []byte {
	raw, _ := jsonx.Lookup(settings, "parameters")
	if !isSaid(raw) {
		return nil
	}
	return raw
}

// Read reads one line of the output.
func (b *embedLines) Read(line []byte, out *providers.BatchResult) error {
	l, err := readOutputLine(line)
	if err != nil {
		return err
	}
	if l.id == "" {
		l.id = l.inner
	}
	if out.CustomID, _, err = l.customID(false); err != nil {
		return err
	}
	if out.Err = l.fault(b.p.site.Name()); out.Err == nil {
		b.fill(line, out)
	}
	return nil
}

// fill puts the answer of a line into the result, or what is wrong with it.
func (b *embedLines) fill(line []byte, out *providers.BatchResult) {
	var err error
	if out.Embeddings, err = b.answer(line); err != nil {
		out.Err = lineError(callOf(b.p.site, b.t, "").named(err))
	}
}

// answer reads the vector of a line.
func (b *embedLines) answer(line []byte) (*providers.EmbeddingResponse, error) {
	req := &providers.EmbeddingRequest{Model: b.t.Model, Input: providers.EmbeddingText(" ")}
	e := &embedding{p: b.p, t: b.t, q: req, items: req.Input.Items, out: new(embedAnswer)}
	if err := e.findModel(); err != nil {
		return nil, err
	}
	b.restore(e)
	e.out.Model, e.out.Provider, e.out.EncodingFormat = b.t.Model, b.p.site.Name(), req.EncodingFormat
	e.out.Data = e.out.one[:]
	x := embed.Answer{Count: 1, Size: e.size()}
	r := jsonx.NewReader(line)
	x.Decode(&r)
	if err := r.End(); err != nil || len(x.Vectors) != 1 {
		return nil, answerError(providers.ErrBadResponse, "the platform's answer can't be understood")
	}
	if err := e.place(0, &x.Vectors[0]); err != nil {
		return nil, err
	}
	e.count(span{0, 1}, &x)
	e.finish()
	return &e.out.EmbeddingResponse, nil
}

// restore reads what the lines have in common.
func (b *embedLines) restore(e *embedding) {
	r := jsonx.NewReader(b.settings)
	if r.Kind() != jsonx.Object {
		return
	}
	for r.Object(); r.NextKey(); {
		switch string(r.Key()) {
		case "encoding_format":
			e.q.EncodingFormat = r.String()
		case "parameters":
			if raw, ok := jsonx.Lookup(r.Raw(), "outputDimensionality"); ok {
				n := jsonx.NewReader(raw)
				e.dimensions = int(n.Int())
			}
		default:
			r.Skip()
		}
	}
}
