package vertex

import (
	"strings"

	"github.com/b650d4bf/gateway/catalog"
	"github.com/b650d4bf/gateway/providers"
)

// model is a parsed model reference.
type model struct {
	// publisher and name address a published model; name keeps its @version.
	publisher, name string
	// resource is a full resource name, which is used as it is, and location
	// the place it names.
	resource, location string
	// facts is what the model table knows; never nil. borrowed says that they
	// are those of a related model.
	facts    *catalog.Model
	borrowed bool
}

// publisher is one row of the publisher table: whose models exist, on which
// wire they are spoken to and by which API version.
type publisher struct {
	name   string
	family familyID
	source string
}

type familyID uint8

const (
	familyNone familyID = iota // known, but not spoken by this version
	familyGemini
)

const gardenPage = "https://cloud.google.com/vertex-ai/generative-ai/docs/model-garden/explore-models"

// publishers lists whose prefix counts as one: "qwen.x" is a model of qwen,
// while "gemini-2.5-flash" has no prefix although it has a dot.
var publishers = []publisher{
	{"google", familyGemini, "https://cloud.google.com/vertex-ai/generative-ai/docs/models"},
	{"anthropic", familyNone, "https://cloud.google.com/vertex-ai/generative-ai/docs/partner-models/claude"},
	{"meta", familyNone, "https://cloud.google.com/vertex-ai/generative-ai/docs/partner-models/llama"},
	{"mistralai", familyNone, "https://cloud.google.com/vertex-ai/generative-ai/docs/partner-models/mistral"},
	{"qwen", familyNone, gardenPage},
	{"deepseek-ai", familyNone, gardenPage},
	{"deepseek", familyNone, gardenPage},
	{"openai", familyNone, gardenPage},
	{"moonshotai", familyNone, gardenPage},
	{"zai-org", familyNone, gardenPage},
	{"minimaxai", familyNone, gardenPage},
	{"xai", familyNone, gardenPage},
	{"ai21", familyNone, gardenPage},
	{"nvidia", familyNone, gardenPage},
}

// endpointPrefixes mark a self-deployed endpoint.
var endpointPrefixes = []string{"endpoints.", "the service."}

// parseModel reads a model reference without its slug:
//
//	gemini-2.5-flash                         a model of google
//	google.gemini-2.5-flash                  with its publisher
//	google/gemini-2.5-flash                  likewise
//	publishers/google/models/gemini-…        likewise
//	projects/P/locations/L/endpoints/ID      a tuned Gemini, used as it is
//	projects/P/locations/L/…/models/ID       likewise
func parseModel(ref string) (model, error) {
	m, err := splitModel(ref)
	if err != nil {
		return model{}, err
	}
	if !isSegment(m.name) {
		return model{}, badModel("a model name has letters, digits and . _ - @ only")
	}
	for i := range publishers {
		if publishers[i].name != m.publisher {
			continue
		}
		if publishers[i].family == familyNone {
			return model{}, badModel("models of " + m.publisher + " are not spoken by this version of the gateway")
		}
		return m, nil
	}
	return model{}, badModel("the publisher is not a known one: use google")
}

func splitModel(ref string) (model, error) {
	for _, p := range endpointPrefixes {
		if strings.HasPrefix(ref, p) {
			return model{}, badModel("self-deployed endpoints are not spoken by this version of the gateway; " +
				"a tuned Gemini is addressed as projects/P/locations/L/endpoints/ID")
		}
	}
	if strings.HasPrefix(ref, "projects/") {
		return splitResource(ref)
	}
	if rest, ok := strings.CutPrefix(ref, "publishers/"); ok {
		pub, name, _ := strings.Cut(rest, "/models/")
		return model{publisher: pub, name: name}, nil
	}
	rest := strings.TrimPrefix(ref, "models/")
	for i := range publishers {
		p := publishers[i].name
		if len(rest) > len(p) && rest[:len(p)] == p && (rest[len(p)] == '.' || rest[len(p)] == '/') {
			return model{publisher: p, name: rest[len(p)+1:]}, nil
		}
	}
	return model{publisher: "google", name: rest}, nil
}

// Publisher returns who published the model of a reference without its slug,
// such as "google"; "" for one that is no reference.
func (*Provider) Publisher(ref string) string {
	m, err := splitModel(ref)
	if err != nil {
		return ""
	}
	return m.publisher
}

// splitResource checks the shape of a full resource name.
func splitResource(ref string) (model, error) {
	seg := strings.Split(ref, "/")
	ok := len(seg) == 6 && (seg[4] == "endpoints" || seg[4] == "models") ||
		len(seg) == 8 && seg[4] == "publishers" && seg[6] == "models"
	if !ok || seg[2] != "locations" || !isProject(seg[1]) || !isRegion(seg[3]) {
		return model{}, badModel("a full resource name is projects/P/locations/L/endpoints/ID, " +
			"…/models/ID or …/publishers/PUBLISHER/models/ID")
	}
	m := model{publisher: "google", name: seg[len(seg)-1], resource: ref, location: seg[3]}
	if len(seg) == 8 {
		m.publisher = seg[5]
	}
	return m, nil
}

// tunedBase is the model whose facts a tuned one borrows, whose name does not
// tell what it was made from. A row named like the endpoint says it better.
const tunedBase = "gemini-2.5-flash"

// isTuned reports whether the model is addressed without a publisher.
func (m *model) isTuned() bool { return strings.Count(m.resource, "/") == 5 }

// lookup finds the facts of the model and says so when they are borrowed.
func (m *model) lookup(table *catalog.Models) []providers.Warning {
	row, known := table.Lookup(m.publisher, m.name)
	if known {
		m.facts = row
		return nil
	}
	if m.isTuned() {
		if base, ok := table.Lookup(m.publisher, tunedBase); ok {
			row = base
		}
	}
	if row == nil {
		row = &catalog.Model{Publisher: m.publisher}
	}
	m.facts, m.borrowed = row, true
	return []providers.Warning{{
		Code: providers.WarnUnknownModel, Param: "model",
		Message: "the model is not in the model table; the facts of " + row.Name + " are used",
	}}
}

// isSegment reports whether s is one safe path segment: no dot segment, no
// escape, no query, and no colon, which would begin a verb.
func isSegment(s string) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9':
		case c == '-', c == '_', c == '.', c == '@':
		default:
			return false
		}
	}
	return s != "" && s != "." && s != ".."
}

func badModel(message string) error { return providers.Invalid("model", message) }
