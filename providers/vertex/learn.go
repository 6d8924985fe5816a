package vertex

import (
	"errors"
	"net/http"
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
	most  map[string]int  // by location and model: inputs of one request for vectors
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
	if old, ok := l.most[key]; !ok || n < old {
		l.most[key] = n
	}
}

// apply corrects the facts of the model.
func (l *lessons) apply(m *model) {
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
