package engine

import (
	"bytes"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/b650d4bf/gateway/internal/jsonx"
	"github.com/b650d4bf/gateway/providers"
)

// claudeMember is one member of the request that the schema has no field for.
type claudeMember struct {
	path  string // as the caller wrote it
	value []byte
	row   *claudeParam // nil when the table does not know it
	taken bool
}

// collect lists the members beyond the schema, those in extra_body too.
func (e *claudeEncoder) collect() error {
	if len(e.q.Extra) == 0 {
		return nil
	}
	if !jsonx.Valid(e.q.Extra) {
		return providers.Invalid("extra", "not the text of a JSON object")
	}
	e.flatten("", e.q.Extra)
	return nil
}

func (e *claudeEncoder) flatten(path string, obj []byte) {
	for name, value := range jsonx.Members(obj) {
		if string(value) == "null" {
			continue
		}
		r := jsonx.NewReader(value)
		if slices.Contains(wrappers, name) && r.Kind() == jsonx.Object && strings.Count(path, ".") < len(wrappers) {
			e.flatten(path+name+".", value)
			continue
		}
		m := claudeMember{path: path + name, value: value}
		if m.row = findClaudeParam(name); name == "tools" { // the field of its own was taken off before
			m.row = findClaudeParam("google.tools")
		}
		e.extra = append(e.extra, m)
	}
}

// take returns the value of the member with the row, and marks it as dealt
// with.
func (e *claudeEncoder) take(row string) (value []byte, path string) {
	for i := range e.extra {
		if m := &e.extra[i]; m.row != nil && m.row.name == row && !m.taken {
			m.taken = true
			return m.value, m.path
		}
	}
	return nil, ""
}

// extras writes the members that the platform knows by that name, and says what
// became of those that no stage has taken.
func (e *claudeEncoder) extras() error {
	e.autoCache()
	if raw, path := e.take("context_management"); raw != nil {
		r := jsonx.NewReader(raw)
		if r.Kind() != jsonx.Object {
			return providers.Invalid(path, "must be an object")
		}
		e.w.Key("context_management")
		e.w.Raw(raw)
		e.needBeta("context-management-2025-06-27")
		if bytes.Contains(raw, []byte(`"compact_20260112"`)) {
			e.needBeta("compact-2026-01-12")
		}
	}
	if e.m.Own {
		if err := e.serviceMembers(); err != nil {
			return err
		}
	}
	for i := range e.extra {
		m := &e.extra[i]
		switch {
		case m.taken, m.row != nil && m.row.name == "anthropic_beta": // see headers
		case m.row == nil:
			e.warnf(providers.WarnUnknown, m.path, "left out: the platform does not know it")
		case m.row.at(e.m.Own) == reject:
			return providers.Invalid(m.path, m.row.note)
		case m.row.at(e.m.Own) == warn:
			e.warnf(providers.WarnUnsupported, m.path, "left out: "+m.row.note)
		default:
			e.warnf(providers.WarnConflict, m.path, "left out: it is given twice, or the request has a field of its own for it")
		}
	}
	return nil
}

// autoCache writes the cache_control of the whole request.
func (e *claudeEncoder) autoCache() {
	raw, path := e.take("cache_control")
	if raw == nil {
		return
	}
	if start := e.w.Len(); e.cacheControl(path, raw) {
		e.marks = append(e.marks, cacheMark{start: start, end: e.w.Len(), path: path})
	}
}

// serviceTier asks for a class of service, on Vertex AI by a header. The classes
// of pay-as-you-go are Gemini's.
func (e *claudeEncoder) serviceTier() error {
	raw, path := e.take("service_tier")
	if raw == nil {
		return nil
	}
	r := jsonx.NewReader(raw)
	tier := r.String()
	if e.m.Own && r.Err() == nil {
		e.ownTier(path, tier)
		return nil
	}
	switch header := serviceTiers[tier]; {
	case r.Err() != nil:
		return providers.Invalid(path, "must be a string")
	case tier == "dedicated" || tier == "shared":
		e.out.header = http.Header{header: {tier}}
	case tier != "auto" && tier != "default" && tier != "standard":
		e.warnf(providers.WarnUnsupported, path, "left out: the platform knows dedicated, shared, auto and default for these models")
	}
	return nil
}

// cacheMark is a cache breakpoint in the body: the bytes from the comma to the
// end of the value.
type cacheMark struct {
	start, end int
	path       string
	message    bool // it is in a message
}

// maxCacheMarks is the most breakpoints of one request.
//
// Source: https://platform.claude.com/docs/en/build-with-claude/prompt-caching
const maxCacheMarks = 4

// mark writes the cache_control of an object that has just been ended into it.
func (e *claudeEncoder) mark(path string, raw []byte, message bool) {
	if len(raw) == 0 {
		return
	}
	end := e.w.Len() - 1
	e.w.Truncate(end)
	if e.cacheControl(path, raw) {
		e.marks = append(e.marks, cacheMark{start: end, end: e.w.Len(), path: path, message: message})
	}
	e.w.EndObject()
}

// marked reports whether the object that has just been ended has a breakpoint.
func (e *claudeEncoder) marked() bool {
	n := len(e.marks)
	return n > 0 && e.marks[n-1].end == e.w.Len()-1
}

// cacheControl writes {"type":"ephemeral"} with its time to live, and reports
// whether it did.
func (e *claudeEncoder) cacheControl(path string, raw []byte) bool {
	if string(raw) == "null" {
		return false
	}
	r := jsonx.NewReader(raw)
	if r.Kind() != jsonx.Object {
		e.warnf(providers.WarnUnknown, path, `left out: it must be {"type":"ephemeral"}, with a ttl of 5m or 1h`)
		return false
	}
	e.w.Key("cache_control")
	e.w.BeginObject()
	e.w.Key("type")
	e.w.String("ephemeral")
	for name, value := range jsonx.Members(raw) {
		switch {
		case name == "type", string(value) == "null":
		case name == "ttl" && (string(value) == `"5m"` || string(value) == `"1h"`):
			e.w.Key("ttl")
			e.w.Raw(value)
		default:
			e.warnf(providers.WarnUnknown, path+"."+name, "left out: a ttl of 5m or 1h is all that the platform knows")
		}
	}
	e.w.EndObject()
	return true
}

// dropMarks takes out the breakpoints beyond the most that the platform takes:
// first the oldest ones of messages, which later ones include.
func (e *claudeEncoder) dropMarks() {
	for excess := len(e.marks) - maxCacheMarks; excess > 0; excess-- {
		i := max(0, slices.IndexFunc(e.marks, func(m cacheMark) bool { return m.message }))
		m := e.marks[i]
		e.marks = slices.Delete(e.marks, i, i+1)
		body, size := e.w.Bytes(), m.end-m.start
		copy(body[m.start:], body[m.end:])
		e.w.Truncate(len(body) - size)
		for j := range e.marks {
			if e.marks[j].start >= m.end {
				e.marks[j].start -= size
				e.marks[j].end -= size
			}
		}
		e.warnf(providers.WarnUnsupported, m.path, "left out: the platform takes "+strconv.Itoa(maxCacheMarks)+" cache breakpoints at most")
	}
}
