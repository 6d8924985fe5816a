package engine

import (
	"slices"
	"strings"

	"github.com/b650d4bf/gateway/internal/jsonx"
	"github.com/b650d4bf/gateway/providers"
)

// openFamily speaks the OpenAI schema to open models and self-deployed
// endpoints, and Mistral's likeness of it.
type openFamily struct{}

func (openFamily) encode(in *request, out *outgoing, buf []byte) ([]byte, error) {
	e := openEncoder{in: in, out: out, q: *in.chat, family: in.model.Family}
	for _, stage := range [...]func(*openEncoder) error{
		(*openEncoder).members,
		(*openEncoder).messages,
		(*openEncoder).tools,
		(*openEncoder).extras,
		(*openEncoder).seed,
		(*openEncoder).reasoning,
	} {
		if err := stage(&e); err != nil {
			return buf, err
		}
	}
	out.countUntold()
	return e.q.AppendJSON(buf[:0])
}

func (openFamily) verb(bool) (verb, query string) { return "/chat/completions", "" }

// mistralFamily differs from openFamily in its methods; the table of parameters
// has the rest.
type mistralFamily struct{ openFamily }

func (mistralFamily) verb(stream bool) (verb, query string) {
	if stream {
		return "streamRawPredict", ""
	}
	return "rawPredict", ""
}

// openEncoder makes the request that is sent out of the caller's, which it does
// not change: q is a copy, and so is each list of it that something is changed in.
type openEncoder struct {
	q      providers.ChatCompletionRequest
	in     *request
	out    *outgoing
	family Family
	calls  []openWait // of the last assistant turn
}

func (e *openEncoder) warnf(code, param, message string) {
	e.out.warn(code, param, message)
}

// members settles the members that have a field of their own.
func (e *openEncoder) members() error {
	q := &e.q
	switch m := &e.in.model; e.family {
	case FamilyOpen:
		q.Model = m.Publisher + "/" + m.Name
	case FamilyMistral:
		q.Model, _, _ = strings.Cut(m.Name, "@")
	case FamilyOpenAI:
		q.Model = m.Name
	default: // an endpoint's server knows its model, by a name of its own
		if q.Model = ""; m.Own {
			q.Model = m.Name
		}
	}
	if err := e.limits(); err != nil {
		return err
	}
	for i := range clearable {
		f := &clearable[i]
		row := findOpenParam(f.name)
		what := row.of(e.family)
		if what != warn && what != local || !f.given(q) {
			continue
		}
		f.clear(q)
		if what == warn && !isTextAlone(f.name, e.in.chat) {
			e.warnf(providers.WarnUnsupported, f.name, "left out: "+row.note)
		}
	}
	if len(q.Labels)+len(e.in.target.Labels) > 0 {
		q.Labels = nil
		e.out.add(labelsWarning())
	}
	q.Stream = e.in.stream
	switch options := q.StreamOptions; {
	case !q.Stream || e.family == FamilyMistral:
		q.StreamOptions = nil
	case options == nil:
		q.StreamOptions = &providers.StreamOptions{IncludeUsage: true}
	default:
		q.StreamOptions = &providers.StreamOptions{IncludeUsage: true, Extra: options.Extra}
	}
	if q.N = nil; e.in.choices > 1 {
		q.N = &e.in.choices
	}
	return nil
}

// seed gives the seed the name that Mistral's API has for it.
func (e *openEncoder) seed() error {
	seed := e.q.Seed
	if seed == nil || e.family != FamilyMistral {
		return nil
	}
	e.q.Seed = nil
	if _, given := e.q.Extra.Get("random_seed"); given {
		e.warnf(providers.WarnConflict, "seed", "left out: random_seed is given too")
		return nil
	}
	e.set("random_seed", func(w *jsonx.Writer) { w.Int(*seed) })
	return nil
}

// isTextAlone reports whether the member asks for text, which is what comes.
func isTextAlone(name string, q *providers.ChatCompletionRequest) bool {
	return name == "modalities" && len(q.Modalities) == 1 && strings.EqualFold(q.Modalities[0], "text")
}

// limits checks the token limit and gives it its name.
func (e *openEncoder) limits() error {
	q := &e.q
	name := "max_tokens"
	if q.MaxCompletionTokens != nil {
		name = "max_completion_tokens"
		q.MaxTokens, q.MaxCompletionTokens = q.MaxCompletionTokens, nil
	}
	if q.MaxTokens != nil && *q.MaxTokens < 1 {
		return providers.Invalid(name, "must be 1 or more")
	}
	if e.family == FamilyOpenAI { // whose models that reason know no other
		q.MaxTokens, q.MaxCompletionTokens = nil, q.MaxTokens
	}
	return nil
}

// set adds a member beyond the schema to the request.
func (e *openEncoder) set(name string, write func(w *jsonx.Writer)) {
	var w jsonx.Writer
	write(&w)
	_ = e.q.Extra.Set(name, w.Bytes()) // what a writer wrote is valid
}

// extras settles the members that have no field of their own, those within
// extra_body too.
func (e *openEncoder) extras() error {
	if len(e.in.chat.Extra) == 0 {
		return nil
	}
	if !jsonx.Valid(e.in.chat.Extra) {
		return providers.Invalid("extra", "not the text of a JSON object")
	}
	e.q.Extra = nil
	return e.flatten("", e.in.chat.Extra, 0)
}

func (e *openEncoder) flatten(path string, obj []byte, depth int) error {
	for name, value := range jsonx.Members(obj) {
		r := jsonx.NewReader(value)
		if name == "extra_body" && r.Kind() == jsonx.Object && depth < 2 {
			if err := e.flatten(path+name+".", value, depth+1); err != nil {
				return err
			}
			continue
		}
		if err := e.extra(path+name, name, value); err != nil {
			return err
		}
	}
	return nil
}

// extra forwards one member, or says why it does not.
func (e *openEncoder) extra(path, name string, value []byte) error {
	row := findOpenParam(name)
	_, twice := e.q.Extra.Get(name)
	switch {
	case string(value) == "null":
	case row != nil && !row.extension:
		e.warnf(providers.WarnConflict, path, "left out: the request has a field of its own for it")
	case row != nil && row.of(e.family) == reject:
		return providers.Invalid(path, row.note)
	case row != nil && row.of(e.family) == warn:
		e.warnf(providers.WarnUnsupported, path, "left out: "+row.note)
	case row == nil && (isGeminiParam(name) || name == "generation_config" || name == "generationConfig"):
		e.warnf(providers.WarnUnsupported, path, "left out: it is an option of Gemini")
	case row == nil && e.family == FamilyMistral:
		e.warnf(providers.WarnUnknown, path, "left out: Mistral's API does not know it")
	case twice:
		e.warnf(providers.WarnConflict, path, "left out: it is given twice")
	default:
		e.q.Extra = jsonx.AppendMember(e.q.Extra, name, value)
	}
	return nil
}

// tools settles tools and tool_choice.
func (e *openEncoder) tools() error {
	q := &e.q
	e.ownTools()
	if e.family == FamilyMistral {
		e.giveParameters()
	}
	c := q.ToolChoice
	if c == nil {
		return nil
	}
	own := *c
	switch c.Mode {
	case "validated":
		own.Mode = "auto"
		e.warnf(providers.WarnAdjusted, "tool_choice", "auto is used: validated is there for Gemini only")
	case "allowed_tools":
		if err := e.allow(c); err != nil {
			return err
		}
		own = providers.ToolChoice{Mode: c.AllowedMode}
		if own.Mode == "" {
			own.Mode = "auto"
		}
	}
	if own.Mode == "required" && e.family == FamilyMistral {
		own.Mode = "any"
	}
	q.ToolChoice = &own
	return nil
}

// allow leaves only the allowed tools, which says the same to a server that does
// not know the mode.
func (e *openEncoder) allow(c *providers.ToolChoice) error {
	kept := make([]providers.Tool, 0, len(e.q.Tools))
	for _, t := range e.q.Tools {
		if slices.Contains(c.Allowed, t.Function.Name) {
			kept = append(kept, t)
		}
	}
	if len(kept) == 0 {
		return providers.Invalid("tool_choice.allowed_tools", "names none of the tools")
	}
	e.q.Tools = kept
	return nil
}

// giveParameters gives functions without parameters an empty schema, which
// Mistral's API requires.
func (e *openEncoder) giveParameters() {
	owned := false
	for i := range e.q.Tools {
		t := &e.q.Tools[i]
		if t.Type != "function" || t.Function.Parameters != nil {
			continue
		}
		if !owned {
			e.q.Tools, owned = slices.Clone(e.q.Tools), true
			t = &e.q.Tools[i]
		}
		t.Function.Parameters = []byte(`{"type":"object","properties":{}}`)
	}
}
