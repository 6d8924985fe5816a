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
	// resource is a full resource name, which is used as it is.
	resource string
	// facts is what the model table knows; never nil.
	facts *catalog.Model
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
	if !isPath(m.name) || !isPath(m.resource) || strings.ContainsRune(m.name, '/') {
		return model{}, badModel("a model name has letters, digits and . _ - @ only")
	}
	for i := range publishers {
		if publishers[i].name == m.publisher && publishers[i].family == familyNone {
			return model{}, badModel("models of " + m.publisher + " are not spoken by this version of the gateway")
		}
	}
	return m, nil
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
	rest := strings.TrimPrefix(ref, "publishers/")
	if pub, name, ok := strings.Cut(rest, "/models/"); ok {
		return model{publisher: pub, name: name}, nil
	}
	rest = strings.TrimPrefix(rest, "models/")
	for i := range publishers {
		p := publishers[i].name
		if len(rest) > len(p) && rest[:len(p)] == p && (rest[len(p)] == '.' || rest[len(p)] == '/') {
			return model{publisher: p, name: rest[len(p)+1:]}, nil
		}
	}
	return model{publisher: "google", name: rest}, nil
}

// splitResource checks the shape of a full resource name.
func splitResource(ref string) (model, error) {
	seg := strings.Split(ref, "/")
	ok := len(seg) == 6 && (seg[4] == "endpoints" || seg[4] == "models") ||
		len(seg) == 8 && seg[4] == "publishers" && seg[6] == "models"
	if !ok || seg[2] != "locations" {
		return model{}, badModel("a full resource name is projects/P/locations/L/endpoints/ID, " +
			"…/models/ID or …/publishers/PUBLISHER/models/ID")
	}
	m := model{publisher: "google", resource: ref}
	if len(seg) == 8 {
		m.publisher, m.name = seg[5], seg[7]
	}
	return m, nil
}

// lookup finds the facts of the model and says so when they are borrowed.
func (m *model) lookup(table *catalog.Models) []providers.Warning {
	row, known := table.Lookup(m.publisher, m.name)
	if row == nil {
		row = &catalog.Model{Publisher: m.publisher}
	}
	m.facts = row
	if known || m.name == "" {
		return nil
	}
	return []providers.Warning{{
		Code: providers.WarnUnknownModel, Param: "model",
		Message: "the model is not in the model table; the facts of " + row.Name + " are used",
	}}
}

// isPath reports whether s is made of safe path segments: no dot segments, no
// escapes, no query.
func isPath(s string) bool {
	start := 0 // of the segment
	for i := range len(s) {
		switch c := s[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9':
		case c == '-', c == '_', c == '.', c == '@', c == ':' && strings.HasPrefix(s, "projects/"):
		case c == '/':
			if isDots(s[start:i]) {
				return false
			}
			start = i + 1
		default:
			return false
		}
	}
	return !isDots(s[start:])
}

func isDots(segment string) bool { return segment == "." || segment == ".." }

func badModel(message string) error { return providers.Invalid("model", message) }
