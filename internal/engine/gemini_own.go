package engine

import (
	"github.com/b650d4bf/gateway/internal/jsonx"
	"github.com/b650d4bf/gateway/providers"
)

const (
	ownPage         = "https://ai.google.dev/api/generate-content"
	ownConfigPage   = "https://ai.google.dev/api/generate-content#v1beta.GenerationConfig"
	ownTierPage     = "https://ai.google.dev/gemini-api/docs/priority-inference"
	ownCachePage    = "https://ai.google.dev/api/caching"
	ownSafetyPage   = "https://ai.google.dev/gemini-api/docs/safety-settings"
	ownImagePage    = "https://ai.google.dev/gemini-api/docs/image-generation"
	ownFilePage     = "https://ai.google.dev/gemini-api/docs/file-input-methods"
	ownMixPage      = "https://ai.google.dev/gemini-api/docs/tool-combination"
	ownLogPage      = "https://ai.google.dev/gemini-api/docs/logs-datasets"
	ownFunctionPage = "https://ai.google.dev/gemini-api/docs/function-calling"
)

// ownParams is the table of what the Gemini API, the vendor's own service, does
// with a member in another way than Vertex AI. A name with a dot is a member
// within another one. What is in no row is as in the table of parameters.
var ownParams = []param{
	{"service_tier", translate, "serviceTier", "flex, priority and standard; auto and default say nothing", ownTierPage, true},
	{"cached_content", translate, "cachedContent", "the name of a cache: cachedContents/ID, or the ID", ownCachePage, true},
	{"store", forward, "store", "whether the service logs the call, whatever the project's setting", ownLogPage, false},
	{"enable_enhanced_civic_answers", forward, "generationConfig.enableEnhancedCivicAnswers", "", ownConfigPage, false},
	{"include_server_side_tool_invocations", translate, "toolConfig.includeServerSideToolInvocations",
		"set by itself where functions stand beside tools of the service, which wants that", ownMixPage, true},
	{"stream_function_call_arguments", warn, "toolConfig.functionCallingConfig.streamFunctionCallArguments", "the service gives arguments whole", ownFunctionPage, true},
	{"model_armor_config", warn, "modelArmorConfig", "the service has no Model Armor", ownPage, false},
	{"output_config", warn, "outputConfig", "the service puts nothing into Cloud Storage; its effort says how hard to think", ownPage, false},
	{"audio_timestamp", warn, "generationConfig.audioTimestamp", "the service does not know it", ownConfigPage, false},
	{"routing_config", warn, "generationConfig.routingConfig", "the service does not know it", ownConfigPage, false},
	{"safety_settings.method", warn, "safetySettings.method", "the service goes by probability", ownSafetyPage, false},
	{"image_config.person_generation", warn, "generationConfig.imageConfig.personGeneration", "the service does not know it", ownImagePage, false},
	{"image_config.prominent_people", warn, "generationConfig.imageConfig.prominentPeople", "the service does not know it", ownImagePage, false},
	{"image_config.image_output_options", warn, "generationConfig.imageConfig.imageOutputOptions", "the service does not know it", ownImagePage, false},
}

// ownParts is the table of what the service does with a content part in another
// way than Vertex AI.
var ownParts = []param{
	{"image_url", translate, "inlineData, fileData", "as on Vertex AI, but for gs://, which is refused: https, also a signed URL or one of the Files API, YouTube or a data URI", ownFilePage, false},
	{"file", translate, "inlineData, fileData", "file_data, file_url, or file_id as files/ID of the Files API", ownFilePage, false},
	{"tool_call", forward, "toolCall", "in content_blocks, as it came: a call of a tool of the service", ownMixPage, false},
	{"tool_response", forward, "toolResponse", "in content_blocks, as it came: what the tool gave", ownMixPage, false},
}

var ownRows, ownWires = indexParams(ownParams)

// findParam returns the row of a member of a request to the model; one that is
// not a field of the schema is found in either case style.
func (m *Model) findParam(name string) *param {
	if m.Own {
		if p := ownRows[name]; p != nil {
			return p
		}
	}
	return findParam(name)
}

// findWire returns the row of a path in the request to the model.
func (m *Model) findWire(path string) *param {
	if m.Own {
		if p := ownWires[path]; p != nil {
			return p
		}
	}
	return findWire(path)
}

// ownNested are the members whose own members the service does not all take.
var ownNested = map[string]bool{"safetySettings": true, "generationConfig.imageConfig": true}

// taken returns the value of a member without what the service does not take of
// it, and tells of that.
func (e *geminiEncoder) taken(m *member) []byte {
	if !e.m.Own || !ownNested[m.wire] {
		return m.value
	}
	r := jsonx.NewReader(m.value)
	if r.Kind() != jsonx.Array {
		return e.without(m.path, m.wire, m.value)
	}
	var w jsonx.Writer
	w.BeginArray()
	for r.Array(); r.NextElem(); {
		w.Raw(e.without(m.path, m.wire, r.Raw()))
	}
	w.EndArray()
	return w.Bytes()
}

// without returns an object without the members that the service does not take.
func (e *geminiEncoder) without(path, wire string, obj []byte) []byte {
	for name := range jsonx.Members(obj) {
		p := ownWires[wire+"."+camel(name)]
		if p == nil {
			continue
		}
		e.out.warnOnce(p.name, providers.WarnUnsupported, path+"."+name, "left out: "+p.note)
		obj = jsonx.DeleteMember(obj, name)
	}
	return obj
}

// geminiTiers are the classes of service that the body names.
//
// Source: https://ai.google.dev/gemini-api/docs/priority-inference and
// https://ai.google.dev/gemini-api/docs/flex-inference
var geminiTiers = map[string]bool{"auto": false, "default": false, "standard": true, "flex": true, "priority": true}

// ownTier asks for a class of service in the body.
func (e *geminiEncoder) ownTier(path, tier string) {
	switch named, known := geminiTiers[tier]; {
	case !known:
		e.warnf(providers.WarnUnsupported, path, "left out: the service knows priority, flex, standard, auto and default")
	case named && e.purpose == toAnswer:
		e.w.Key("serviceTier")
		e.w.String(tier)
	}
}

// wantsInvocations returns what the request says of telling the calls of the
// service's own tools, nil for nothing.
func (e *geminiEncoder) wantsInvocations(c *toolSelection) (*bool, error) {
	raw, path := c.told, c.path+".includeServerSideToolInvocations"
	if !e.m.Own {
		if raw != nil {
			e.warnf(providers.WarnUnsupported, path, "left out: only the Gemini API has it")
		}
		return nil, nil //nolint:nilnil // most requests say nothing
	}
	if own, at := e.take("include_server_side_tool_invocations"); own != nil {
		raw, path = own, at
	}
	if raw == nil {
		return nil, nil //nolint:nilnil // likewise
	}
	r := jsonx.NewReader(raw)
	told := r.Bool()
	switch {
	case r.End() != nil:
		return nil, providers.Invalid(path, "must be true or false")
	case len(e.q.Tools) == 0 && !e.wantsTools():
		e.warnf(providers.WarnUnsupported, path, "left out: there are no tools")
	}
	return &told, nil
}

// tells reports whether the calls of the service's own tools are told. It wants
// them to be, where functions stand beside such tools.
//
// Source: https://ai.google.dev/gemini-api/docs/tool-combination
func (p *platformEncoder) tells(told *bool) bool {
	if told != nil {
		return *told
	}
	return (p.functions || p.declares) && len(p.written) > 0
}
