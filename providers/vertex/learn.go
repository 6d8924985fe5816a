package vertex

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
	noIDs map[pupil]bool // models that refuse ids of calls
	// noBetas are the beta features that a model refuses to a project.
	noBetas map[betaPupil][]string
}

// pupil is who a lesson is about: a model of the platform that taught it, which
// teaches nothing about the models of another.
type pupil struct{ universe, base, publisher, name, resource string }

// betaPupil is a model in a project: some features are for some projects.
type betaPupil struct {
	pupil
	project string
}

func pupilOf(in *request) pupil {
	return pupil{in.target.UniverseDomain, in.target.BaseURL, in.model.publisher, in.model.name, in.model.resource}
}

// maxLessons bounds what is remembered, since callers choose the names of models
// and hosts. Beyond it, a call learns for itself alone.
const maxLessons = 1000

// apply corrects the facts of the model, and of what may be asked of it.
func (l *lessons) apply(in *request) {
	if in.model.family == familyClaude {
		l.mu.RLock()
		if len(l.noBetas) > 0 {
			in.noBetas = slices.Clip(l.noBetas[betaPupil{pupilOf(in), in.target.ProjectID}])
		}
		l.mu.RUnlock()
	}
	if !in.model.facts.CallIDs {
		return
	}
	l.mu.RLock()
	known := len(l.noIDs) > 0 && l.noIDs[pupilOf(in)]
	l.mu.RUnlock()
	if known {
		in.withoutIDs()
	}
}

// learn remembers that the model refuses ids of calls.
func (l *lessons) learn(in *request) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.noIDs == nil {
		l.noIDs = map[pupil]bool{}
	}
	if len(l.noIDs) < maxLessons {
		l.noIDs[pupilOf(in)] = true
	}
}

// withoutIDs gives the request facts of its own.
func (in *request) withoutIDs() {
	own := *in.model.facts
	own.CallIDs = false
	in.model.facts = &own
}

// taught makes a try, and one more after each refusal that teaches something
// about the model. A lesson is learnt once, so the tries are few.
func (p *Provider) taught(c *call, try func() error) error {
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
func (l *lessons) from(in *request, err error) *providers.Warning {
	e, ok := errors.AsType[*providers.Error](err)
	if !ok || e.StatusCode != http.StatusBadRequest {
		return nil
	}
	if in.model.family == familyClaude {
		return l.fromClaude(in, e.Message)
	}
	text := strings.ToLower(e.Message)
	switch {
	case in.model.facts.CallIDs && refusesIDs(text):
		l.learn(in)
		in.withoutIDs()
		return &providers.Warning{
			Code: providers.WarnAdjusted, Param: "messages",
			Message: "the platform refused the ids of tool calls and was asked again without them; the model's row says that it takes them",
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
	key := betaPupil{pupilOf(in), in.target.ProjectID}
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
