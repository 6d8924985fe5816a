package vertex

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/b650d4bf/gateway/catalog"
	"github.com/b650d4bf/gateway/providers"
)

// lessons are facts about models that the platform's refusals have taught, in
// which it differs from the model table. They last as long as the provider.
type lessons struct {
	mu    sync.RWMutex
	noIDs map[string]bool // by publisher/name: models that refuse ids of calls
	// noBetas are beta features that are refused, by betaKey.
	noBetas map[string][]string
}

// apply corrects the facts of the model, and of what may be asked of it.
func (l *lessons) apply(in *request) {
	m := &in.model
	if m.family == familyClaude {
		l.mu.RLock()
		if len(l.noBetas) > 0 {
			in.noBetas = slices.Clip(l.noBetas[betaKey(in)])
		}
		l.mu.RUnlock()
	}
	if !m.facts.CallIDs {
		return
	}
	l.mu.RLock()
	known := len(l.noIDs) > 0 && l.noIDs[m.publisher+"/"+m.name+m.resource]
	l.mu.RUnlock()
	if known {
		m.facts = withoutIDs(m.facts)
	}
}

func withoutIDs(facts *catalog.Model) *catalog.Model {
	own := *facts
	own.CallIDs = false
	return &own
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
		l.mu.Lock()
		if l.noIDs == nil {
			l.noIDs = map[string]bool{}
		}
		l.noIDs[in.model.publisher+"/"+in.model.name+in.model.resource] = true
		l.mu.Unlock()
		in.model.facts = withoutIDs(in.model.facts)
		return &providers.Warning{
			Code: providers.WarnAdjusted, Param: "messages",
			Message: "the platform refused the ids of tool calls and was asked again without them; the model's row says that it takes them",
		}
	case !in.distrust && in.model.facts.NeedsSignatures && refusesSignature(text):
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
		l.mu.Lock()
		if l.noBetas == nil {
			l.noBetas = map[string][]string{}
		}
		known := slices.Clip(l.noBetas[betaKey(in)])
		for _, name := range names {
			if !slices.Contains(known, name) && len(known) < maxNoBetas {
				known = append(known, name)
			}
		}
		l.noBetas[betaKey(in)] = known
		l.mu.Unlock()
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

// betaKey names the model in the project: some features are for some projects.
func betaKey(in *request) string {
	return in.model.name + in.model.resource + " " + in.target.ProjectID
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
