package engine

import (
	"slices"
	"strconv"
	"strings"

	"github.com/b650d4bf/gateway/internal/jsonx"
	"github.com/b650d4bf/gateway/providers"
)

// platformEncoder writes the tools that the platform runs itself, each as a
// tool of its own.
type platformEncoder struct {
	*geminiEncoder
	functions bool            // function declarations were written
	declares  bool            // so were some in the platform's own form
	written   []*platformTool // the tools so far
	place     []byte          // retrievalConfig, raw
}

// write writes all of them: those in tools, those in the platform's own form,
// and the search that web_search_options asks for.
func (p *platformEncoder) write() error {
	for i := range p.q.Tools {
		t := &p.q.Tools[i]
		if p.isFunction(t) || !p.allowed(toolName(t)) {
			continue
		}
		if err := p.tool(i, t); err != nil {
			return err
		}
	}
	if raw, path := p.take("google.tools"); raw != nil {
		if err := p.native(path, raw); err != nil {
			return err
		}
	}
	if raw, path := p.take("web_search_options"); raw != nil {
		p.begin(toolRows["web_search"], path)
		p.end()
		for name := range jsonx.Members(raw) {
			p.warnf(providers.WarnUnknown, path+"."+name, "left out: the platform's search does not know it")
		}
	}
	return p.check()
}

// tool writes one entry of tools that is no function to declare.
func (p *platformEncoder) tool(i int, t *providers.Tool) error {
	path := "tools[" + strconv.Itoa(i) + "]"
	row := p.m.has(askedFor(t))
	switch {
	case row != nil:
	case t.Type == "" && len(t.Extra) > 0: // {"googleSearch":{}}
		return p.nativeTool(path, t.Extra)
	case p.m.Own && askedFor(t) != nil:
		p.warnf(providers.WarnUnsupported, path+".type", "left out: only Vertex AI has this tool")
		return nil
	default:
		p.warnf(providers.WarnUnsupported, path+".type", "left out: tools of this type are not known")
		return nil
	}
	if slices.Contains(p.written, p.instead(row)) {
		p.warnf(providers.WarnConflict, path, "left out: the tool is given twice")
		return nil
	}
	p.begin(row, path)
	if namesFunction(t) {
		p.options(row, path+".function.parameters", t.Function.Parameters, maxWrapped)
	} else {
		p.options(row, path, t.Extra, maxWrapped)
	}
	p.end()
	return nil
}

// begin opens the tool; options go in until end.
func (p *platformEncoder) begin(row *platformTool, path string) {
	if own := p.instead(row); own != row {
		p.warnf(providers.WarnAdjusted, path, "this model searches by "+own.wire+", which is used instead")
		row = own
	}
	p.written = append(p.written, row)
	p.w.BeginObject()
	p.w.Key(row.wire)
	p.w.BeginObject()
}

func (p *platformEncoder) end() {
	p.w.EndObject()
	p.w.EndObject()
}

// instead returns the kind of search that the model has, where the caller asks
// for the other.
func (p *platformEncoder) instead(row *platformTool) *platformTool {
	switch {
	case p.m.borrowed:
	case row.wire == "googleSearch" && p.m.facts.RetrievalOnly:
		return toolRows["googleSearchRetrieval"]
	case row.wire == "googleSearchRetrieval" && !p.m.facts.RetrievalOnly:
		return toolRows["googleSearch"]
	}
	return row
}

// maxWrapped is enough for {"google_maps":{"parameters":{…}}}.
const maxWrapped = 2

// options writes the tool's options out of an object that may hold them one by
// one, or within a member with the tool's own name; wrapped says how many of
// those may lie within each other.
func (p *platformEncoder) options(row *platformTool, path string, obj []byte, wrapped int) {
	row = p.instead(row)
	for name, value := range jsonx.Members(obj) {
		r := jsonx.NewReader(value)
		switch {
		case string(value) == "null":
		case wrapped > 0 && r.Kind() == jsonx.Object && (name == "parameters" || p.m.platformTool(name) != nil):
			p.options(row, path+"."+name, value, wrapped-1)
		case row.takes(p.m.Own, name):
			writeMember(&p.w, camel(name), value)
		case row.wire == "googleMaps" && camel(name) == "retrievalConfig":
			p.place = value
		case !slices.Contains(schemaWords, name):
			p.warnf(providers.WarnUnknown, path+"."+name, "left out: the tool has no such option")
		}
	}
}

// native writes a list of tools in the platform's own form.
func (p *platformEncoder) native(path string, raw []byte) error {
	r := jsonx.NewReader(raw)
	if r.Kind() != jsonx.Array {
		return providers.Invalid(path, "must be a list of tools")
	}
	r.Array()
	for i := 0; r.NextElem(); i++ {
		if r.Kind() != jsonx.Object {
			return providers.Invalid(path+"["+strconv.Itoa(i)+"]", "must be an object such as {\"googleSearch\":{}}")
		}
		if err := p.nativeTool(path+"["+strconv.Itoa(i)+"]", r.Raw()); err != nil {
			return err
		}
	}
	return nil
}

// nativeTool writes one tool in the platform's own form. Function declarations
// go as they are: the names in their schemas are the caller's.
func (p *platformEncoder) nativeTool(path string, obj []byte) error {
	for name, value := range jsonx.Members(obj) {
		switch row := p.m.platformTool(name); {
		case camel(name) == "functionDeclarations":
			p.declares = true
			p.w.BeginObject()
			p.w.Key("functionDeclarations")
			p.w.Raw(value)
			p.w.EndObject()
		case camel(name) == mcpServers.wire && p.m.Own: // a list, with headers that are the caller's
			p.written = append(p.written, mcpServers)
			p.w.BeginObject()
			p.w.Key(mcpServers.wire)
			p.w.Raw(value)
			p.w.EndObject()
		case row == nil || row.wire != camel(name):
			p.warnf(providers.WarnUnknown, path+"."+name, "left out: the platform has no such tool")
		default:
			p.begin(row, path)
			p.options(row, path+"."+name, value, maxWrapped)
			p.end()
		}
	}
	return nil
}

// check finds kinds of tools that the model does not take together. It is asked
// for: by default the platform judges, whose rules change.
func (p *platformEncoder) check() error {
	if !p.in.oneTool || p.m.facts.MixesTools {
		return nil
	}
	var kinds []string
	if p.functions || p.declares {
		kinds = append(kinds, "functions")
	}
	searches := true
	for _, t := range p.written {
		kinds = append(kinds, t.wire)
		searches = searches && t.search
	}
	if len(kinds) < 2 || searches && kinds[0] != "functions" {
		return nil
	}
	return &providers.Error{
		Code: providers.ErrOneToolOnly, Param: "tools",
		Message: "this model takes one kind of tool at a time, and there are " + strings.Join(kinds, ", ") +
			": leave one in, or use a model of Gemini 3 or later",
	}
}
