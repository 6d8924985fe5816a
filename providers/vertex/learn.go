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
}

// pupil is who a lesson is about: a model of the platform that taught it, which
// teaches nothing about the models of another.
type pupil struct{ universe, base, publisher, name, resource string }

func pupilOf(in *request) pupil {
	return pupil{in.target.UniverseDomain, in.target.BaseURL, in.model.publisher, in.model.name, in.model.resource}
}

// maxLessons bounds what is remembered, since callers choose the names of models
// and hosts. Beyond it, a call learns for itself alone.
const maxLessons = 1000

// apply corrects the facts of the model.
func (l *lessons) apply(in *request) {
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
