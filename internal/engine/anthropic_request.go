package engine

import (
	"strings"
	"sync"

	"github.com/b650d4bf/gateway/internal/jsonx"
	"github.com/b650d4bf/gateway/providers"
)

// claudeVersion is the version of the Messages method that the platform speaks.
//
// Source: https://platform.claude.com/docs/en/build-with-claude/claude-on-vertex-ai
const claudeVersion = "vertex-2023-10-16"

// claudeFamily speaks the Messages method of Claude models, over rawPredict.
type claudeFamily struct {
	rooms *sync.Pool        // of *claudeRoom, empty; nil keeps none
	betas map[string]string // Config.BetaFeatures
}

func (claudeFamily) verb(stream bool) (verb, query string) {
	if stream {
		return "streamRawPredict", ""
	}
	return "rawPredict", ""
}

func (f claudeFamily) encode(in *request, out *outgoing, buf []byte) ([]byte, error) {
	e := f.encoder(in, out)
	e.w.Reset(buf)
	err := e.request()
	out.countUntold()
	return e.w.Bytes(), err
}

func (f claudeFamily) encoder(in *request, out *outgoing) claudeEncoder {
	return claudeEncoder{f: f, q: in.chat, m: &in.model, in: in, out: out}
}

// claudeEncoder writes one Messages body straight from the request.
type claudeEncoder struct {
	w   jsonx.Writer
	f   claudeFamily
	q   *providers.ChatCompletionRequest
	m   *Model
	in  *request
	out *outgoing

	counting bool // the tokens are asked for, and no answer

	role    string              // of the open turn, "" when none is open
	block   string              // type of the last block
	last    int                 // index of the message that wrote it
	spoke   string              // role of the last block
	calls   []string            // ids of the last assistant turn's calls, as they are sent
	used    map[string]struct{} // ids of calls so far
	marks   []cacheMark
	foreign bool // the assistant message being written is of another family
	mute    bool // it says nothing behind the part being written

	limit  int    // max_tokens
	think  string // thinking.type; "" when it is not sent
	budget int    // thinking.budget_tokens; 0 when it is not sent
	show   string // thinking.display; "" when it is not sent
	effort string // output_config.effort; "" when it is not sent
	format []byte // output_config.format in the platform's own form
	task   []byte // output_config.task_budget; nil when it is not sent
	choice string // tool_choice.type; "" when it is not sent

	betas  []string
	needed int            // betas that the parts of the request need, which are the first
	extra  []claudeMember // members beyond the schema
}

func (e *claudeEncoder) warnf(code, param, message string) {
	e.out.warn(code, param, message)
}

// claudeStages write the members of a request after its head, in this order.
var claudeStages = [...]func(*claudeEncoder) error{
	(*claudeEncoder).tools,
	(*claudeEncoder).system,
	(*claudeEncoder).messages,
	(*claudeEncoder).thinking,
	(*claudeEncoder).outputConfig,
	(*claudeEncoder).parameters,
	(*claudeEncoder).serviceTier,
	(*claudeEncoder).extras,
	(*claudeEncoder).headers,
}

func (e *claudeEncoder) request() error {
	if err := e.collect(); err != nil {
		return err
	}
	if err := e.plan(); err != nil {
		return err
	}
	e.w.BeginObject()
	if e.m.Own {
		e.w.Key("model")
		e.w.String(e.m.Name)
	} else {
		e.w.Key("anthropic_version")
		e.w.String(claudeVersion)
	}
	if e.in.stream {
		e.w.Key("stream")
		e.w.Bool(true)
	}
	e.w.Key("max_tokens")
	e.w.Int(int64(e.limit))
	for _, stage := range claudeStages {
		if err := stage(e); err != nil {
			return err
		}
	}
	e.leftovers()
	e.w.EndObject()
	e.dropMarks()
	return e.w.Err()
}

// parameters writes the sampling parameters, the stop sequences and the end
// user, and warns of what the platform does not have.
func (e *claudeEncoder) parameters() error {
	e.sampling()
	e.stop()
	e.user()
	q := e.q
	for _, p := range []struct {
		name  string
		given bool
	}{
		{"seed", q.Seed != nil},
		{"presence_penalty", q.PresencePenalty != nil && *q.PresencePenalty != 0},
		{"frequency_penalty", q.FrequencyPenalty != nil && *q.FrequencyPenalty != 0},
		{"logprobs", q.Logprobs != nil && *q.Logprobs},
		{"top_logprobs", q.TopLogprobs != nil && *q.TopLogprobs > 0},
		{"modalities", len(q.Modalities) > 1 || len(q.Modalities) == 1 && !strings.EqualFold(q.Modalities[0], "text")},
		{"labels", len(q.Labels) > 0 || len(e.in.target.Labels) > 0},
	} {
		if p.given {
			e.warnf(providers.WarnUnsupported, p.name, "left out: "+findClaudeParam(p.name).note)
		}
	}
	return nil
}

// sampling writes temperature, top_p and top_k as far as the model takes them,
// and as far as they go with thinking.
//
// Source: https://platform.claude.com/docs/en/build-with-claude/extended-thinking#feature-compatibility
func (e *claudeEncoder) sampling() {
	q, facts := e.q, e.m.facts
	const refused, thinks = "left out: this model refuses it", "left out: it does not go with thinking"
	thinking := e.thinks()
	temperature := q.Temperature
	if temperature != nil {
		switch {
		case facts.RefusesSampling:
			temperature = nil
			e.warnf(providers.WarnUnsupported, "temperature", refused)
		case thinking && *temperature != 1:
			temperature = nil
			e.warnf(providers.WarnConflict, "temperature", thinks)
		case *temperature > 1:
			temperature = new(1.0)
			e.warnf(providers.WarnAdjusted, "temperature", "set to 1, the most that the platform takes")
		}
	}
	if temperature != nil {
		e.w.Key("temperature")
		e.w.Float(*temperature)
	}
	if q.TopP != nil {
		switch {
		case facts.RefusesSampling:
			e.warnf(providers.WarnUnsupported, "top_p", refused)
		case temperature != nil && facts.OneSampler:
			e.warnf(providers.WarnConflict, "top_p", "left out: this model does not take it together with temperature")
		case thinking && *q.TopP < 0.95:
			e.warnf(providers.WarnConflict, "top_p", "left out: with thinking it must be at least 0.95")
		default:
			e.w.Key("top_p")
			e.w.Float(*q.TopP)
		}
	}
	if q.TopK != nil {
		switch {
		case facts.RefusesSampling:
			e.warnf(providers.WarnUnsupported, "top_k", refused)
		case thinking:
			e.warnf(providers.WarnConflict, "top_k", thinks)
		default:
			e.w.Key("top_k")
			e.w.Int(int64(*q.TopK))
		}
	}
}

// stop writes the stop sequences. The platform refuses blank ones.
func (e *claudeEncoder) stop() {
	start := e.w.Len()
	e.w.Key("stop_sequences")
	e.w.BeginArray()
	open := e.w.Len()
	blank := false
	for _, s := range e.q.Stop {
		if strings.TrimSpace(s) == "" {
			blank = true
			continue
		}
		e.w.String(s)
	}
	if blank {
		e.warnf(providers.WarnUnsupported, "stop", "left out: the platform takes no blank stop sequence")
	}
	if e.w.Len() == open {
		e.w.Truncate(start)
		return
	}
	e.w.EndArray()
}

// user writes the end user's id.
func (e *claudeEncoder) user() {
	id := e.q.User
	if raw, path := e.take("safety_identifier"); raw != nil {
		r := jsonx.NewReader(raw)
		switch other := r.String(); {
		case r.Err() != nil || id != "" && other != id:
			e.warnf(providers.WarnConflict, path, "left out: user is given too, or it is no string")
		default:
			id = other
		}
	}
	if id == "" {
		return
	}
	e.w.Key("metadata")
	e.w.BeginObject()
	e.w.Key("user_id")
	e.w.String(id)
	e.w.EndObject()
}
