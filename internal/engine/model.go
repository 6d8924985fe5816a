package engine

import (
	"strings"

	"github.com/b650d4bf/gateway/catalog"
	"github.com/b650d4bf/gateway/providers"
)

// Model is a model reference that a [Site] has read.
type Model struct {
	// Publisher and Name address a published model; Name keeps its @version.
	Publisher, Name string
	// Resource is a full resource name, which is used as it is, and Location
	// the place it names.
	Resource, Location string
	// Family is the wire that the publisher's models are spoken to on, Version
	// the API version there, "" for v1.
	Family  Family
	Version string
	// Own says that the vendor's own service has the model, not Vertex AI: what
	// the two take differs.
	Own bool
	// Predictor speaks for an endpoint without chat completions; nil for others.
	Predictor *providers.Predictor

	// facts is what the model table knows; never nil. borrowed says that they
	// are those of a related model.
	facts    *catalog.Model
	borrowed bool
	// userFirst says that a conversation must begin with the user, noLabels that
	// it takes no labels.
	userFirst, noLabels bool
}

// Family is a wire that models are spoken to on.
type Family uint8

// The families.
const (
	FamilyNone     Family = iota // known, but not spoken by this version
	FamilyGemini                 // generateContent
	FamilyClaude                 // Messages
	FamilyOpen                   // chat completions of the platform's shared endpoint
	FamilyMistral                // rawPredict with a body after Mistral's API
	FamilyEndpoint               // chat completions of a server that has models of its own
	FamilyOpenAI                 // chat completions of OpenAI's own API
)

// tunedBase is the model whose facts a tuned one borrows, whose name does not
// tell what it was made from. A row named like the endpoint says it better.
const tunedBase = "gemini-2.5-flash"

// isTuned reports whether the model is addressed without a publisher.
func (m *Model) isTuned() bool {
	return strings.Count(m.Resource, "/") == 5 || m.Own && m.Resource != ""
}

// ownName is the name that the vendor's own service has for the model.
func (m *Model) ownName() string {
	if m.Resource != "" {
		return m.Resource
	}
	return "models/" + m.Name
}

// lookup finds the facts of the model and says so when they are borrowed.
func (m *Model) lookup(table *catalog.Models) []providers.Warning {
	row, known := table.Lookup(m.Publisher, m.Name)
	if (m.Family == FamilyEndpoint || m.Family == FamilyOpenAI) && !known { // its name says nothing
		m.facts = new(catalog.Model)
		return nil
	}
	if known {
		m.facts = row
		return nil
	}
	if m.isTuned() {
		if base, ok := table.Lookup(m.Publisher, tunedBase); ok {
			row = base
		}
	}
	if row == nil {
		row = &catalog.Model{Publisher: m.Publisher}
	}
	m.facts, m.borrowed = row, true
	return []providers.Warning{{
		Code: providers.WarnUnknownModel, Param: "model",
		Message: "the model is not in the model table; " + factsOf(row.Name),
	}}
}

func factsOf(name string) string {
	if name == "" {
		return "nothing is known of it"
	}
	return "the facts of " + name + " are used"
}

func badModel(message string) error { return providers.Invalid("model", message) }
