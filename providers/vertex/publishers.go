package vertex

import "github.com/b650d4bf/gateway/internal/engine"

// Publisher is a publisher of models beyond those that the provider knows.
type Publisher struct {
	// Name is the prefix in a model reference: "acme" in acme.rocket-1 and
	// acme/rocket-1.
	Name string
	// As is its name on the platform; default Name.
	As string
	// Wire is how its models are spoken to; default [WireOpenAI].
	Wire Wire
	// Version is the API version in the path; default "v1".
	Version string
}

// Wire says how the models of a publisher are spoken to.
type Wire string

// The wires of published models.
const (
	// WireOpenAI is the chat completions of the platform's shared endpoint, which
	// serves open models.
	WireOpenAI Wire = "openai"
	// WireMistral is rawPredict with a body after Mistral's API.
	WireMistral Wire = "mistral"
	// WireGemini is generateContent.
	WireGemini Wire = "gemini"
)

var wires = map[Wire]engine.Family{"": engine.FamilyOpen, WireOpenAI: engine.FamilyOpen, WireMistral: engine.FamilyMistral, WireGemini: engine.FamilyGemini}

// Validate says what is wrong with the row.
func (p *Publisher) Validate() error {
	if !isSegment(p.Name) || p.As != "" && !isSegment(p.As) {
		return badPlace("publishers", "a publisher's name has letters, digits and . _ - @ only")
	}
	if _, ok := wires[p.Wire]; !ok {
		return badPlace("publishers", "a publisher's wire is openai, mistral or gemini")
	}
	if p.Version != "" && !isSegment(p.Version) {
		return badPlace("publishers", "a publisher's API version is one segment of a path, such as v1")
	}
	return nil
}

// publishersOf turns a caller's rows into those of the table. The models of a
// row that can't be one are not spoken to.
func publishersOf(list []Publisher) []publisher {
	rows := make([]publisher, 0, len(list))
	for _, p := range list {
		row := publisher{name: p.Name, family: wires[p.Wire], as: p.As, version: p.Version}
		if p.Validate() != nil {
			row.family = engine.FamilyNone
		}
		rows = append(rows, row)
	}
	return rows
}
