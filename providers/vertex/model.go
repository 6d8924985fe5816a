package vertex

import (
	"slices"
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
	// family is the wire that the publisher's models are spoken to on, version
	// the API version there, "" for v1.
	family  familyID
	version string
	// facts is what the model table knows; never nil. borrowed says that they
	// are those of a related model.
	facts    *catalog.Model
	borrowed bool
	// userFirst says that a conversation must begin with the user.
	userFirst bool
}

// publisher is one row of the publisher table: whose models exist, on which
// wire they are spoken to, under which name there, and by which API version.
type publisher struct {
	name    string
	family  familyID
	as      string // "" when it is the name
	version string // "" for v1
	source  string
}

type familyID uint8

const (
	familyNone familyID = iota // known, but not spoken by this version
	familyGemini
	familyClaude
)

const (
	partnerPages = "https://cloud.google.com/vertex-ai/generative-ai/docs/partner-models/"
	maasPages    = "https://cloud.google.com/vertex-ai/generative-ai/docs/maas/"
	maasPage     = "https://cloud.google.com/vertex-ai/generative-ai/docs/open-models/use-maas"
)

// publishers lists whose prefix counts as one: "qwen.x" is a model of qwen,
// while "gemini-2.5-flash" has no prefix although it has a dot.
var publishers = []publisher{
	{"google", familyGemini, "", "", "https://cloud.google.com/vertex-ai/generative-ai/docs/models"},
	{"anthropic", familyClaude, "", "", partnerPages + "claude"},
	{"meta", familyOpen, "", "", partnerPages + "llama"},
	{"mistralai", familyMistral, "", "", partnerPages + "mistral"},
	{"ai21", familyMistral, "", "", partnerPages + "ai21"},
	{"qwen", familyOpen, "", "", maasPages + "qwen"},
	{"deepseek-ai", familyOpen, "", "", maasPages + "deepseek"},
	{"deepseek", familyOpen, "deepseek-ai", "", maasPages + "deepseek"},
	{"openai", familyOpen, "", "", maasPages + "openai"},
	{"moonshotai", familyOpen, "", "", maasPage},
	{"moonshot-ai", familyOpen, "moonshotai", "", maasPage},
	{"zai-org", familyOpen, "", "", maasPage},
	{"minimaxai", familyOpen, "", "", maasPage},
	{"minimax", familyOpen, "minimaxai", "", maasPage},
	{"xai", familyOpen, "", "", partnerPages + "use-partner-models"},
	{"nvidia", familyOpen, "", "", maasPage},
}

// endpointPrefixes mark a self-deployed endpoint.
var endpointPrefixes = []string{"endpoints.", "the service."}

// parseModel reads a model reference without its slug:
//
//	gemini-2.5-flash                         a model of google
//	google.gemini-2.5-flash                  with its publisher
//	google/gemini-2.5-flash                  likewise
//	publishers/google/models/gemini-…        likewise
//	anthropic.claude-sonnet-4-5@20250929     a model of anthropic; -20250929 is understood too
//	qwen.qwen3-coder-…                       a model of another publisher
//	endpoints.NAME, the service.NAME         a self-deployed endpoint
//	projects/P/locations/L/endpoints/ID      a tuned Gemini, used as it is
//	projects/P/locations/L/…/models/ID       likewise
//
// Rows of more win over those of the table.
func parseModel(ref string, more ...publisher) (model, error) {
	for _, p := range endpointPrefixes {
		if name, ok := strings.CutPrefix(ref, p); ok {
			return endpointModel(name)
		}
	}
	rows := publishers
	if len(more) > 0 {
		rows = slices.Concat(more, publishers)
	}
	m, err := splitModel(ref, rows)
	if err != nil {
		return model{}, err
	}
	if !isSegment(m.name) {
		return model{}, badModel("a model name has letters, digits and . _ - @ only")
	}
	for i := range rows {
		p := &rows[i]
		if p.name != m.publisher {
			continue
		}
		if p.family == familyNone {
			return model{}, badModel("models of " + m.publisher + " are not spoken by this version of the gateway")
		}
		m.family, m.version = p.family, p.version
		if m.family == familyClaude && m.resource == "" {
			m.name = claudeName(m.name)
		}
		if p.as != "" {
			m.publisher = p.as
		}
		return m, nil
	}
	return model{}, badModel("the publisher is not a known one: use google, or add it to the table of publishers")
}

func splitModel(ref string, rows []publisher) (model, error) {
	if strings.HasPrefix(ref, "projects/") {
		return splitResource(ref)
	}
	if rest, ok := strings.CutPrefix(ref, "publishers/"); ok {
		pub, name, _ := strings.Cut(rest, "/models/")
		return model{publisher: pub, name: name}, nil
	}
	rest := strings.TrimPrefix(ref, "models/")
	for i := range rows {
		p := rows[i].name
		if len(rest) > len(p) && rest[:len(p)] == p && (rest[len(p)] == '.' || rest[len(p)] == '/') {
			return model{publisher: p, name: rest[len(p)+1:]}, nil
		}
	}
	return model{publisher: "google", name: rest}, nil
}

// Publisher returns who published the model of a reference without its slug,
// such as "google"; "" for one that is no reference.
func (p *Provider) Publisher(ref string) string {
	m, err := parseModel(ref, p.publishers...)
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
	if m.family == familyEndpoint && !known { // its name says nothing
		m.facts = new(catalog.Model)
		return nil
	}
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
		Message: "the model is not in the model table; " + factsOf(row.Name),
	}}
}

func factsOf(name string) string {
	if name == "" {
		return "nothing is known of it"
	}
	return "the facts of " + name + " are used"
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
