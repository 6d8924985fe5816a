package vertex

import (
	"cmp"
	"slices"
	"strings"

	"github.com/b650d4bf/gateway/catalog"
	"github.com/b650d4bf/gateway/internal/engine"
	"github.com/b650d4bf/gateway/internal/place"
	"github.com/b650d4bf/gateway/providers"
)

// publisher is one row of the publisher table: whose models exist, on which
// wire they are spoken to, under which name there, and by which API version.
type publisher struct {
	name    string
	family  engine.Family
	as      string // "" when it is the name
	version string // "" for v1
	source  string
}

const (
	partnerPages = "https://cloud.google.com/vertex-ai/generative-ai/docs/partner-models/"
	maasPages    = "https://cloud.google.com/vertex-ai/generative-ai/docs/maas/"
	maasPage     = "https://cloud.google.com/vertex-ai/generative-ai/docs/open-models/use-maas"
)

// publishers lists whose prefix counts as one: "qwen.x" is a model of qwen,
// while "gemini-2.5-flash" has no prefix although it has a dot.
var publishers = []publisher{
	{"google", engine.FamilyGemini, "", "", "https://cloud.google.com/vertex-ai/generative-ai/docs/models"},
	{"anthropic", engine.FamilyClaude, "", "", partnerPages + "claude"},
	{"meta", engine.FamilyOpen, "", "", partnerPages + "llama"},
	{"mistralai", engine.FamilyMistral, "", "", partnerPages + "mistral"},
	{"ai21", engine.FamilyMistral, "", "", partnerPages + "ai21"},
	{"qwen", engine.FamilyOpen, "", "", maasPages + "qwen"},
	{"deepseek-ai", engine.FamilyOpen, "", "", maasPages + "deepseek"},
	{"deepseek", engine.FamilyOpen, "deepseek-ai", "", maasPages + "deepseek"},
	{"openai", engine.FamilyOpen, "", "", maasPages + "openai"},
	{"moonshotai", engine.FamilyOpen, "", "", maasPage},
	{"moonshot-ai", engine.FamilyOpen, "moonshotai", "", maasPage},
	{"zai-org", engine.FamilyOpen, "", "", maasPage},
	{"minimaxai", engine.FamilyOpen, "", "", maasPage},
	{"minimax", engine.FamilyOpen, "minimaxai", "", maasPage},
	{"xai", engine.FamilyOpen, "", "", partnerPages + "use-partner-models"},
	{"nvidia", engine.FamilyOpen, "", "", maasPage},
}

// endpointPrefixes mark a self-deployed endpoint.
var endpointPrefixes = []string{"endpoints.", "the service."}

// parseModel reads a model reference without its slug:
//
//	gemini-2.5-flash                         a model of google
//	claude-opus-4-6                          of the only publisher whose rows know it
//	google.gemini-2.5-flash                  with its publisher
//	google/gemini-2.5-flash                  likewise
//	publishers/google/models/gemini-…        likewise
//	anthropic.claude-sonnet-4-5@20250929     a model of anthropic; -20250929 is understood too
//	qwen.qwen3-coder-…                       a model of another publisher
//	endpoints.NAME, the service.NAME         a self-deployed endpoint
//	projects/P/locations/L/endpoints/ID      a tuned Gemini, used as it is
//	projects/P/locations/L/…/models/ID       likewise
//
// Rows of more win over those of the table of publishers. The table of models
// tells the publisher of a name without one, and the wire of a model that is not
// spoken to as the others of its publisher.
func parseModel(ref string, models *catalog.Models, more ...publisher) (engine.Model, error) {
	for _, p := range endpointPrefixes {
		if name, ok := strings.CutPrefix(ref, p); ok {
			return endpointModel(name)
		}
	}
	rows := publishers
	if len(more) > 0 {
		rows = slices.Concat(more, publishers)
	}
	m, err := splitModel(ref, rows, models)
	if err != nil {
		return engine.Model{}, err
	}
	if !isSegment(m.Name) {
		return engine.Model{}, badModel("a model name has letters, digits and . _ - @ only")
	}
	for i := range rows {
		p := &rows[i]
		if p.name != m.Publisher {
			continue
		}
		if p.family == engine.FamilyNone {
			return engine.Model{}, badModel("models of " + m.Publisher + " are not spoken by this version of the gateway")
		}
		m.Family, m.Version = p.family, p.version
		if m.Family == engine.FamilyClaude && m.Resource == "" {
			m.Name = claudeName(m.Name)
		}
		if p.as != "" {
			m.Publisher = p.as
		}
		return m, chooseWire(&m, models)
	}
	return engine.Model{}, badModel("the publisher is not a known one: use google, or add it to the table of publishers")
}

// chooseWire takes the wire that the model's own row names, if it does. What a
// tuned model was made from is not known.
func chooseWire(m *engine.Model, models *catalog.Models) error {
	row, known := models.Lookup(m.Publisher, m.Name)
	if !known || row.Wire == "" || m.Resource != "" && !strings.Contains(m.Resource, "/publishers/") {
		return nil
	}
	family, ok := wires[Wire(row.Wire)]
	if !ok {
		return badPlace("models", "the row of "+row.Name+" names a wire that is none of openai, mistral and gemini")
	}
	m.Family = family
	return nil
}

// splitModel takes a reference apart. Without a table of models, a name without a
// publisher is google's.
func splitModel(ref string, rows []publisher, models *catalog.Models) (engine.Model, error) {
	if strings.HasPrefix(ref, "projects/") {
		return splitResource(ref)
	}
	if rest, ok := strings.CutPrefix(ref, "publishers/"); ok {
		pub, name, _ := strings.Cut(rest, "/models/")
		return engine.Model{Publisher: pub, Name: name}, nil
	}
	rest := strings.TrimPrefix(ref, "models/")
	for i := range rows {
		p := rows[i].name
		if len(rest) > len(p) && rest[:len(p)] == p && (rest[len(p)] == '.' || rest[len(p)] == '/') {
			return engine.Model{Publisher: p, Name: rest[len(p)+1:]}, nil
		}
	}
	m := engine.Model{Publisher: "google", Name: rest}
	if models != nil {
		m.Publisher = publisherOf(rest, rows, models)
	}
	return m, nil
}

// publisherOf returns the publisher of a model that is named without one: the
// only one whose rows know the name, else google.
func publisherOf(name string, rows []publisher, models *catalog.Models) string {
	const usual = "google"
	if _, known := models.Lookup(usual, name); known {
		return usual
	}
	found := ""
	for i := range rows {
		p := rows[i].name
		if _, known := models.Lookup(p, name); !known || p == found {
			continue
		}
		if found != "" {
			return usual
		}
		found = p
	}
	return cmp.Or(found, usual)
}

// splitResource checks the shape of a full resource name.
func splitResource(ref string) (engine.Model, error) {
	seg := strings.Split(ref, "/")
	ok := len(seg) == 6 && (seg[4] == "endpoints" || seg[4] == "models") ||
		len(seg) == 8 && seg[4] == "publishers" && seg[6] == "models"
	if !ok || seg[2] != "locations" || !place.IsProject(seg[1]) || !place.IsRegion(seg[3]) {
		return engine.Model{}, badModel("a full resource name is projects/P/locations/L/endpoints/ID, " +
			"…/models/ID or …/publishers/PUBLISHER/models/ID")
	}
	m := engine.Model{Publisher: "google", Name: seg[len(seg)-1], Resource: ref, Location: seg[3]}
	if len(seg) == 8 {
		m.Publisher = seg[5]
	}
	return m, nil
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
