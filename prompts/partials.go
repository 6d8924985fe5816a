package prompts

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/b650d4bf/gateway/catalog"
)

// Partials are texts that templates share, by their names. A template takes one in
// with {{> name}}, with the variables that it sees itself. The last line break of
// a text does not count, so that a file can end as files do. Partials have no
// versions: what a version of a prompt is made of is fixed when it is read.
type Partials map[string]string

// includes makes the templates of partials as they are asked for.
type includes struct {
	texts Partials
	made  map[[2]string]*template // by name and indent
	open  []string                // being made, the outermost first
}

func newIncludes(texts Partials) *includes {
	return &includes{texts: texts, made: map[[2]string]*template{}}
}

// get returns the partial with each of its lines behind the indent.
func (s *includes) get(name, indent string) (*template, error) {
	key := [2]string{name, indent}
	if t := s.made[key]; t != nil {
		return t, nil
	}
	text, ok := s.texts[name]
	switch {
	case !ok:
		return nil, fmt.Errorf("there is no partial %q%s", name, hint(catalog.Near(name, slices.Sorted(maps.Keys(s.texts)))))
	case slices.Contains(s.open, name):
		return nil, fmt.Errorf("partial %q is within itself: %s", name, strings.Join(append(s.open, name), " > "))
	case len(s.open) == maxSections:
		return nil, fmt.Errorf("more than %d partials are within each other", maxSections)
	case len(text) > maxText:
		return nil, fmt.Errorf("partial %q is over %d bytes", name, maxText)
	}
	s.open = append(s.open, name)
	t, err := parse(indented(text, indent), true, s.get)
	s.open = s.open[:len(s.open)-1]
	if err != nil {
		return nil, fmt.Errorf("partial %q: %w", name, err)
	}
	s.made[key] = t
	return t, nil
}

// indented returns the text without its last line break, and with the indent
// before each line that is not empty.
func indented(text, indent string) string {
	text = strings.TrimSuffix(strings.TrimSuffix(text, "\n"), "\r")
	if indent == "" {
		return text
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		if strings.TrimRight(line, "\r\n") != "" {
			b.WriteString(indent)
		}
		b.WriteString(line)
	}
	return b.String()
}

// hint asks whether one of the names is meant.
func hint(names []string) string {
	if len(names) == 0 {
		return ""
	}
	quoted := make([]string, len(names))
	for i, n := range names {
		quoted[i] = fmt.Sprintf("%q", n)
	}
	return " (did you mean " + strings.Join(quoted, " or ") + "?)"
}
