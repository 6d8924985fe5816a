package vertextest

import (
	"fmt"
	"slices"
	"strings"
)

// WithCacheMinimum sets how many tokens an explicit cache needs at least. By
// default it is what the platform wants of the model's generation.
func WithCacheMinimum(n int) Option { return func(c *config) { c.cacheMinimum = &n } }

// WithoutCallIDs makes models refuse functionCall.id and functionResponse.id, as
// those before Gemini 3 do, and call functions without ids. Without names, all
// models do.
func WithoutCallIDs(models ...string) Option {
	return func(c *config) { c.withoutIDs = append(c.withoutIDs, forModels(models)) }
}

// WithRefusedField makes models refuse a member of the request as one they don't
// know, though the published schema has it. The path is that of the JSON body,
// as in generationConfig.thinkingConfig.thinkingLevel; arrays on the way have no
// step of their own, as in contents.parts.thoughtSignature. Without names, all
// models do. WithoutChecks doesn't switch this off.
func WithRefusedField(path string, models ...string) Option {
	return func(c *config) {
		c.refused = append(c.refused, refusedField{strings.Split(path, "."), forModels(models)})
	}
}

// forModels names models; empty for all.
type forModels []string

// include reports whether the models include one of that name or table row.
func (m forModels) include(name, row string) bool {
	return len(m) == 0 || slices.Contains(m, name) || slices.Contains(m, row)
}

// refusedField is a member that models refuse.
type refusedField struct {
	path   []string
	models forModels
}

// checkRefused refuses the members that options forbid.
func (x *exchange) checkRefused(body any) error {
	row, _ := lookUp(x.cfg.models, x.target.model)
	for _, f := range x.cfg.refused {
		if !f.models.include(x.target.model, row.name) {
			continue
		}
		if parent, ok := findMember(body, f.path, ""); ok {
			return unknownName(f.path[len(f.path)-1], parent)
		}
	}
	return nil
}

// findMember reports whether a path leads to a member, and where its parent is
// in the platform's spelling.
func findMember(v any, path []string, at string) (parent string, ok bool) {
	switch v := v.(type) {
	case []any:
		for i, item := range v {
			if parent, ok := findMember(item, path, fmt.Sprintf("%s[%d]", at, i)); ok {
				return parent, true
			}
		}
	case map[string]any:
		member, ok := v[path[0]]
		switch {
		case !ok:
		case len(path) == 1:
			return at, true
		default:
			return findMember(member, path[1:], join(at, snake(path[0])))
		}
	}
	return "", false
}
