package engine

import (
	"strings"

	"github.com/b650d4bf/gateway/providers"
)

// explain names the member of the request that became what the platform
// refuses, and says what helps.
func explain(e *providers.Error, s *rpcStatus) {
	path := s.field
	if unknown := unknownField(s.message); unknown != "" {
		path = unknown
	}
	if path == "" {
		return
	}
	p := memberBehind(path)
	if p == nil {
		e.Param = path
		return
	}
	e.Param = p.name
	if p.gemini == forward || p.gemini == translate {
		e.Message += " (" + path + " is what " + p.name + " becomes for this model: leave it out, or correct the model's row with WithModels)"
	}
}

// unknownField reads the path out of the platform's sentence about a member that
// it does not know: Unknown name "x" at 'a.b': Cannot find field.
func unknownField(message string) string {
	_, rest, ok := strings.Cut(message, `Unknown name "`)
	if !ok {
		return ""
	}
	name, rest, ok := strings.Cut(rest, `"`)
	if !ok || strings.ContainsAny(name, " '") {
		return ""
	}
	if at, ok := strings.CutPrefix(rest, " at '"); ok {
		if parent, _, ok := strings.Cut(at, "'"); ok && parent != "" {
			return parent + "." + name
		}
	}
	return name
}

// memberBehind returns the row whose place in the platform's request holds the
// path, which may be in either case style; the closest one wins.
func memberBehind(path string) *param {
	path = camel(strings.ReplaceAll(path, "._", "."))
	var found *param
	longest := 0
	for i := range params {
		parent := ""
		for wire := range strings.SplitSeq(params[i].wire, ", ") {
			if !strings.Contains(wire, ".") {
				wire = parent + wire
			} else if parent == "" {
				parent = wire[:strings.LastIndexByte(wire, '.')+1]
			}
			if len(wire) > longest && within(path, wire) {
				found, longest = &params[i], len(wire)
			}
		}
	}
	return found
}

// within reports whether the path is the place, or lies below it.
func within(path, place string) bool {
	rest, ok := strings.CutPrefix(path, place)
	return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
}
