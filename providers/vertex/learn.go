package vertex

import (
	"errors"
	"net/http"
	"strings"
	"sync"

	"github.com/b650d4bf/gateway/providers"
)

// lessons are facts about models that the platform's refusals have taught, in
// which it differs from the model table. They last as long as the provider.
type lessons struct {
	mu    sync.RWMutex
	facts map[string]lesson // by the model's key
}

// lesson is what was learnt of one model.
type lesson struct {
	noIDs      bool // it refuses ids of calls
	schemaForm bool // it refuses JSON Schema
	userFirst  bool // it wants the conversation to begin with the user
}

// teach corrects the facts of the model.
func (l lesson) teach(m *model) {
	m.userFirst = m.userFirst || l.userFirst
	if !(l.noIDs && m.facts.CallIDs || l.schemaForm && !m.facts.SchemaForm) {
		return
	}
	own := *m.facts
	own.CallIDs = own.CallIDs && !l.noIDs
	own.SchemaForm = own.SchemaForm || l.schemaForm
	m.facts = &own
}

// key is what lessons about a model are kept by.
func (m *model) key() string { return m.publisher + "/" + m.name + m.resource }

// apply corrects the facts of the model by what was learnt of it.
func (l *lessons) apply(m *model) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	if len(l.facts) > 0 {
		l.facts[m.key()].teach(m)
	}
}

// keep adds what was learnt of the model, and corrects its facts.
func (l *lessons) keep(m *model, learn func(*lesson)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.facts == nil {
		l.facts = map[string]lesson{}
	}
	own := l.facts[m.key()]
	learn(&own)
	l.facts[m.key()] = own
	own.teach(m)
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
	m := &in.model
	switch {
	case m.facts.CallIDs && refusesIDs(text):
		l.keep(m, func(own *lesson) { own.noIDs = true })
		return &providers.Warning{
			Code: providers.WarnAdjusted, Param: "messages",
			Message: "the platform refused the ids of tool calls and was asked again without them; the model's row says that it takes them",
		}
	case !m.facts.SchemaForm && refusesJSONSchema(text):
		l.keep(m, func(own *lesson) { own.schemaForm = true })
		return &providers.Warning{
			Code: providers.WarnAdjusted, Param: memberOfSchema(text),
			Message: "the platform refused JSON Schema and was asked again with a schema message; the model's row says that it takes JSON Schema",
		}
	case !m.userFirst && modelBegins(in.chat.Messages) && refusesModelFirst(text):
		l.keep(m, func(own *lesson) { own.userFirst = true })
		return &providers.Warning{
			Code: providers.WarnAdjusted, Param: "messages",
			Message: "the platform refused a conversation that the assistant begins, and was asked again with a user turn before it",
		}
	case !in.distrust && m.facts.NeedsSignatures && refusesSignature(text):
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
