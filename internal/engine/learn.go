package engine

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/b650d4bf/gateway/providers"
)

// lessons are facts about models that the platform's refusals have taught, in
// which it differs from the model table. They last as long as the provider.
type lessons struct {
	mu    sync.RWMutex
	facts map[pupil]lesson
	// noBetas are the beta features that a model refuses to a project.
	noBetas map[betaPupil][]string
	most    map[string]int  // by location and model: inputs of one request for vectors
	raw     map[string]bool // endpoints that give vectors by raw predictions
}

// inputs returns how many inputs a request for vectors may have, which is known
// when nothing was learnt.
func (l *lessons) inputs(key string, known int) int {
	l.mu.RLock()
	defer l.mu.RUnlock()
	if n, ok := l.most[key]; ok {
		return min(n, known)
	}
	return known
}

// setInputs keeps how many inputs a request for vectors may have. Of several
// numbers the least one counts.
func (l *lessons) setInputs(key string, n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.most == nil {
		l.most = map[string]int{}
	}
	if old, ok := l.most[key]; !ok && len(l.most) < maxLessons || ok && n < old {
		l.most[key] = n
	}
}

// pupil is who a lesson is about: a model of the platform that taught it, which
// teaches nothing about the models of another.
type pupil struct{ universe, base, publisher, name, resource string }

// betaPupil is a model in a project, or with the key of a catalog entry: some
// features are for some of them.
type betaPupil struct {
	pupil
	project, slug string
}

func betaPupilOf(in *request) betaPupil {
	p := betaPupil{pupil: pupilOf(in), project: in.target.ProjectID}
	if in.model.Own {
		p.slug = in.target.Slug
	}
	return p
}

func pupilOf(in *request) pupil {
	return pupil{in.target.UniverseDomain, in.target.BaseURL, in.model.Publisher, in.model.Name, in.model.Resource}
}

// maxLessons bounds what is remembered, since callers choose the names of models
// and hosts. Beyond it, a call learns for itself alone.
const maxLessons = 1000

// lesson is what was learnt of one model.
type lesson struct {
	noIDs      bool // it refuses ids of calls
	schemaForm bool // it refuses JSON Schema
	userFirst  bool // it wants the conversation to begin with the user
	noLabels   bool // it refuses labels
}

// teach corrects the facts of the model.
func (l lesson) teach(m *Model) {
	m.userFirst, m.noLabels = m.userFirst || l.userFirst, m.noLabels || l.noLabels
	if !(l.noIDs && m.facts.CallIDs || l.schemaForm && !m.facts.SchemaForm) {
		return
	}
	own := *m.facts
	own.CallIDs = own.CallIDs && !l.noIDs
	own.SchemaForm = own.SchemaForm || l.schemaForm
	m.facts = &own
}

// apply corrects the facts of the model by what was learnt of it, and what may
// be asked of it.
func (l *lessons) apply(in *request) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	if len(l.noBetas) > 0 && in.model.Family == FamilyClaude {
		in.noBetas = slices.Clip(l.noBetas[betaPupilOf(in)])
	}
	if len(l.facts) > 0 {
		l.facts[pupilOf(in)].teach(&in.model)
	}
}

// keep adds what was learnt of the model, and corrects its facts.
func (l *lessons) keep(in *request, learn func(*lesson)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.facts == nil {
		l.facts = map[pupil]lesson{}
	}
	own, known := l.facts[pupilOf(in)]
	learn(&own)
	if known || len(l.facts) < maxLessons {
		l.facts[pupilOf(in)] = own
	}
	own.teach(&in.model)
}

// taught makes a try, and one more after each refusal that teaches something
// about the model. A lesson is learnt once, so the tries are few.
func (p *Engine) taught(c *call, try func() error) error {
	for {
		err := try()
		lesson := p.learnt.from(&c.in, err)
		if lesson == nil {
			return err
		}
		c.known = append(slices.Clip(c.known), *lesson) // other shares have it too
	}
}

// from looks at a refusal for something that another try can do better, and
// readies in for that try. It returns what to tell the caller, or nil when
// there is nothing to learn.
//
// Source: https://cloud.google.com/vertex-ai/generative-ai/docs/thought-signatures
// and, for labels, https://pkg.go.dev/google.golang.org/genai#GenerateContentConfig
func (l *lessons) from(in *request, err error) *providers.Warning {
	e, ok := errors.AsType[*providers.Error](err)
	if !ok || e.StatusCode != http.StatusBadRequest {
		return nil
	}
	if in.model.Family == FamilyClaude {
		return l.fromClaude(in, e.Message)
	}
	text := strings.ToLower(e.Message)
	m := &in.model
	switch {
	case m.facts.CallIDs && refusesIDs(text):
		l.keep(in, func(own *lesson) { own.noIDs = true })
		return &providers.Warning{
			Code: providers.WarnAdjusted, Param: "messages",
			Message: "the platform refused the ids of tool calls and was asked again without them; the model's row says that it takes them",
		}
	case !m.facts.SchemaForm && refusesJSONSchema(text):
		l.keep(in, func(own *lesson) { own.schemaForm = true })
		return &providers.Warning{
			Code: providers.WarnAdjusted, Param: memberOfSchema(text),
			Message: "the platform refused JSON Schema and was asked again with a schema message; the model's row says that it takes JSON Schema",
		}
	case !m.userFirst && modelBegins(in.chat.Messages) && refusesModelFirst(text):
		l.keep(in, func(own *lesson) { own.userFirst = true })
		return &providers.Warning{
			Code: providers.WarnAdjusted, Param: "messages",
			Message: "the platform refused a conversation that the assistant begins, and was asked again with a user turn before it",
		}
	case m.Own && !m.noLabels && strings.Contains(text, `unknown name "labels"`):
		l.keep(in, func(own *lesson) { own.noLabels = true })
		return &providers.Warning{
			Code: providers.WarnUnsupported, Param: "labels",
			Message: "the service refused labels, and was asked again without them",
		}
	case !in.distrust && refusesSignature(text):
		in.distrust = true
		return &providers.Warning{
			Code: providers.WarnSignature, Param: "messages",
			Message: "the platform refused a thought signature, and was asked again without those of the request",
		}
	}
	return nil
}

// fromClaude does so for Claude models.
//
// Source: https://platform.claude.com/docs/en/build-with-claude/extended-thinking
func (l *lessons) fromClaude(in *request, message string) *providers.Warning {
	names := slices.DeleteFunc(refusedBetas(message), func(name string) bool { return slices.Contains(in.noBetas, name) })
	switch {
	case len(names) > 0:
		l.learnBetas(in, names)
		in.noBetas = append(slices.Clip(in.noBetas), names...)
		return &providers.Warning{
			Code: providers.WarnUnsupported, Param: "anthropic-beta",
			Message: "the platform refused " + quoteShort(strings.Join(names, ", ")) + " and was asked again without it",
		}
	case !in.distrust && refusesThinking(strings.ToLower(message)):
		in.distrust = true
		return &providers.Warning{
			Code: providers.WarnSignature, Param: "messages",
			Message: "the platform refused thinking of an earlier turn, and was asked again without it",
		}
	}
	return nil
}

// learnBetas remembers that the model refuses the beta features to the project.
func (l *lessons) learnBetas(in *request, names []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.noBetas == nil {
		l.noBetas = map[betaPupil][]string{}
	}
	key := betaPupilOf(in)
	known := slices.Clip(l.noBetas[key])
	if known == nil && len(l.noBetas) >= maxLessons {
		return
	}
	for _, name := range names {
		if !slices.Contains(known, name) && len(known) < maxNoBetas {
			known = append(known, name)
		}
	}
	l.noBetas[key] = known
}

// maxNoBetas bounds what is remembered for a model.
const maxNoBetas = 64

// refusesThinking recognises the sentences about thinking that was not the
// model's own, or is not as it was.
func refusesThinking(text string) bool {
	return strings.Contains(text, "thinking") &&
		(strings.Contains(text, "invalid `signature`") || strings.Contains(text, "invalid signature") || strings.Contains(text, "cannot be modified"))
}

// refusesIDs recognises the platform's sentence about a member it does not
// know: Unknown name "id" at 'contents[1].parts[0].function_call'.
func refusesIDs(text string) bool {
	return strings.Contains(text, `unknown name "id"`) &&
		(strings.Contains(text, "function_call") || strings.Contains(text, "function_response"))
}

// refusesSignature recognises the sentences about a signature that is not the
// model's own. A missing one is not meant: the encoder leaves none out.
func refusesSignature(text string) bool {
	return strings.Contains(text, "invalid thought signature") || strings.Contains(text, "corrupted thought signature") ||
		strings.Contains(text, "thought signature is not valid")
}

// refusesJSONSchema recognises the sentence about a member that takes JSON
// Schema: Unknown name "parametersJsonSchema" at
// 'tools[0].function_declarations[0]'.
func refusesJSONSchema(text string) bool {
	return strings.Contains(text, `unknown name "parametersjsonschema"`) || strings.Contains(text, `unknown name "responsejsonschema"`) ||
		strings.Contains(text, `unknown name "parameters_json_schema"`) || strings.Contains(text, `unknown name "response_json_schema"`)
}

// memberOfSchema names the member whose schema the sentence is about.
func memberOfSchema(text string) string {
	if strings.Contains(text, `"parameters`) {
		return "tools"
	}
	return "response_format"
}

// refusesModelFirst recognises the sentences about a conversation that does not
// begin with the user.
func refusesModelFirst(text string) bool {
	return strings.Contains(text, "first turn of a multiturn request is a user turn") ||
		strings.Contains(text, "function call turn comes immediately after a user turn")
}

// modelBegins reports whether the assistant has the first turn.
func modelBegins(msgs []providers.Message) bool {
	for i := range msgs {
		switch m := &msgs[i]; m.Role {
		case providers.RoleAssistant:
			return true
		case providers.RoleUser:
			if hasContent(&m.Content) {
				return false
			}
		}
	}
	return false
}
