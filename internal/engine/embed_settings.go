package engine

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/b650d4bf/gateway/catalog"
	"github.com/b650d4bf/gateway/internal/jsonx"
	"github.com/b650d4bf/gateway/providers"
)

// embedSettings are what all requests of a call say beside their inputs.
type embedSettings struct {
	task, title string
	dimensions  int // 0 for the model's own
	truncate    *bool
	raw         []byte // further parameters, or further members of the config; an object or nil
}

// readSettings reads the members beside the input: the schema's own, else their
// other spellings, else those within parameters.
func (e *embedding) readSettings() error {
	q := e.q
	e.title, e.truncate = q.Title, q.AutoTruncate
	if q.Dimensions != nil {
		e.dimensions = *q.Dimensions
	}
	task := q.TaskType
	if e.isOpen() {
		if err := e.readOpen(); err != nil {
			return err
		}
		return e.checkSettings(task)
	}
	for _, source := range []struct {
		prefix string
		extra  providers.Extra
	}{{"", q.Extra}, {"parameters.", e.parameters()}} {
		if len(source.extra) == 0 {
			continue
		}
		if err := e.readExtra(source.prefix, source.extra, &task); err != nil {
			return err
		}
	}
	return e.checkSettings(task)
}

// checkSettings checks task type and dimensions.
func (e *embedding) checkSettings(task string) error {
	if err := e.checkTask(task); err != nil {
		return err
	}
	if e.dimensions != 0 && !e.row.Takes(e.dimensions) {
		return providers.Invalid("dimensions", e.model.Name+" gives vectors of "+sizes(e.row)+" dimensions, and not of "+strconv.Itoa(e.dimensions))
	}
	return nil
}

// parameters returns the object of that name, in which some callers put what the
// platform has there.
func (e *embedding) parameters() providers.Extra {
	raw, _ := e.q.Extra.Get("parameters")
	if len(raw) == 0 || raw[0] != '{' {
		return nil
	}
	return providers.Extra(raw)
}

// readExtra reads other spellings of known members, and keeps what goes on as it
// is. The first place that says something counts.
func (e *embedding) readExtra(prefix string, extra providers.Extra, task *string) error {
	for name, value := range extra.All() {
		if string(value) == "null" {
			continue
		}
		r, fine, conflict := jsonx.NewReader(value), true, false
		switch name {
		case "taskType", "input_type", "inputType", "task_type":
			other := r.String()
			if conflict = *task != "" && canonicalTask(other) != canonicalTask(*task); *task == "" {
				*task = other
			}
		case "title":
			other := r.String()
			if conflict = e.title != "" && other != e.title; e.title == "" {
				e.title = other
			}
		case "autoTruncate", "auto_truncate":
			other := r.Bool()
			if conflict = e.truncate != nil && other != *e.truncate; e.truncate == nil {
				e.truncate = &other
			}
		case "outputDimensionality", "output_dimensionality", "dimension", "dimensions":
			other := int(r.Int())
			fine = other > 0
			if conflict = e.dimensions != 0 && other != e.dimensions; e.dimensions == 0 {
				e.dimensions = other
			}
		case "parameters":
			fine = r.Kind() == jsonx.Object
			r.Skip()
		default:
			r.Skip()
			e.keepRaw(prefix, name, value)
		}
		if !fine || r.End() != nil {
			return providers.Invalid(prefix+name, "not a value of the kind that the member has")
		}
		if conflict {
			e.warn(providers.WarnConflict, prefix+name, "left out: it is given in another place too, which wins")
		}
	}
	return nil
}

// keepRaw keeps a member that goes on as it is, under the platform's name.
func (e *embedding) keepRaw(prefix, name string, value []byte) {
	if prefix != "" {
		if e.row.Method != catalog.EmbedContent {
			e.raw = jsonx.AppendMember(e.raw, name, value)
		}
		return
	}
	if p := findEmbedParam(name); p != nil && p.name != "parameters" && e.at(p).action == forward {
		e.raw = jsonx.AppendMember(e.raw, lastSegment(e.at(p).wire), value)
	}
}

// leftovers warns of what does not go to the platform.
func (e *embedding) leftovers() {
	if len(e.q.Labels) > 0 || len(e.t.Labels) > 0 {
		e.warn(providers.WarnUnsupported, "labels", "left out: the platform takes no labels for embeddings")
	}
	if e.truncate != nil && e.at(findEmbedParam("auto_truncate")).action == warn {
		e.warn(providers.WarnUnsupported, "auto_truncate", "left out: "+e.model.Name+" has no such switch")
		e.truncate = nil
	}
	for name, value := range e.q.Extra.All() {
		e.leftover(name, value)
	}
	for i := range e.items {
		for name := range e.items[i].Extra.All() {
			e.warnOnce("input."+name, providers.WarnUnknown, e.q.InputPath(i)+"."+name, "left out: the platform does not know it")
		}
	}
}

func (e *embedding) leftover(name string, value []byte) {
	p := findEmbedParam(name)
	switch {
	case saysNothing(value):
	case name == "title", name == "dimension":
	case p == nil:
		e.warn(providers.WarnUnknown, name, "left out: the platform does not know it")
	case p.name == "parameters" && e.row.Method == catalog.EmbedContent:
		for name, value := range e.parameters().All() {
			if findEmbedParam(name) == nil && name != "dimension" && !saysNothing(value) {
				e.warn(providers.WarnUnknown, "parameters."+name, "left out: the platform does not know it")
			}
		}
	case e.at(p).action == warn && p.name != "input_type" && p.name != "task_type" && p.name != "auto_truncate":
		e.warn(providers.WarnUnsupported, name, "left out: "+e.model.Name+" does not take it")
	}
}

// sizes says which lengths a model gives.
func sizes(m *catalog.EmbeddingModel) string {
	if len(m.Sizes) == 0 {
		return fmt.Sprintf("%d to %d", max(1, m.MinDimensions), m.Dimensions)
	}
	words := make([]string, len(m.Sizes))
	for i, n := range m.Sizes {
		words[i] = strconv.Itoa(n)
	}
	return strings.Join(words, ", ")
}
