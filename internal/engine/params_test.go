package engine

import (
	"encoding/json"
	"errors"
	"net/url"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/catalog"
	"github.com/b650d4bf/gateway/internal/jsonx"
	"github.com/b650d4bf/gateway/providers"
	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

// fill gives each field a value that is not empty.
func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem())
	case reflect.Struct:
		for _, field := range v.Fields() {
			if field.CanSet() {
				fill(field)
			}
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() != reflect.Uint8 { // raw JSON stays away
			v.Set(reflect.MakeSlice(v.Type(), 1, 1))
			fill(v.Index(0))
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(reflect.ValueOf("k"), reflect.ValueOf("v"))
	case reflect.String:
		v.SetString("x")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(1)
	case reflect.Float64:
		v.SetFloat(1)
	}
}

func TestEveryMemberOfARequestHasOneRow(t *testing.T) {
	q := new(providers.ChatCompletionRequest)
	fill(reflect.ValueOf(q).Elem())
	data, err := json.Marshal(q)
	if err != nil {
		t.Fatal(err)
	}
	members := 0
	for name := range jsonx.Members(data) {
		members++
		rows := 0
		for _, p := range params {
			if p.name == name {
				rows++
			}
		}
		if rows != 1 {
			t.Errorf("%s has %d rows, want 1", name, rows)
		}
	}
	// Both penalties share a line; Extra is no member.
	if fields := reflect.TypeFor[providers.ChatCompletionRequest]().NumField() - 1; members != fields {
		t.Errorf("%d members were encoded, and there are %d fields", members, fields)
	}
}

func TestEveryRowIsWhole(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range params {
		if seen[p.name] {
			t.Errorf("%s has two rows", p.name)
		}
		seen[p.name] = true
		if u, err := url.ParseRequestURI(p.link); err != nil || u.Scheme != "https" {
			t.Errorf("%s: link %q", p.name, p.link)
		}
		if (p.gemini == forward || p.gemini == translate) && p.wire == "" {
			t.Errorf("%s goes nowhere", p.name)
		}
		if (p.gemini == warn || p.gemini == reject) && p.note == "" {
			t.Errorf("%s gives no reason", p.name)
		}
	}
}

// TestEveryMemberOfThePlatformIsReached holds the table against the schema.
func TestEveryMemberOfThePlatformIsReached(t *testing.T) {
	unreached := map[string]string{
		"generationConfig.responseFormat": "newer than responseMimeType, which does the same",
	}
	wires := map[string]bool{}
	for _, p := range params {
		all := strings.Split(p.wire, ", ")
		parent, _, _ := strings.Cut(all[0], ".")
		wires[parent] = true
		for _, wire := range all {
			wires[wire], wires[parent+"."+wire] = true, true
		}
	}
	data, err := os.ReadFile("../../providers/vertex/vertextest/vertex-v1.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	var schema struct {
		Defs map[string]struct{ Properties map[string]any } `json:"$defs"`
	}
	if err := json.Unmarshal(data, &schema); err != nil {
		t.Fatal(err)
	}
	for definition, prefix := range map[string]string{"GenerateContentRequest": "", "GenerationConfig": "generationConfig."} {
		if len(schema.Defs[definition].Properties) == 0 {
			t.Errorf("%s has no properties", definition)
		}
		for name := range schema.Defs[definition].Properties {
			if wire := prefix + name; !wires[wire] && unreached[wire] == "" {
				t.Errorf("%s can't be reached by any member", wire)
			}
		}
	}
}

// examples has a value for each row, with the further members it needs.
var examples = map[string]struct{ value, beside string }{
	"messages":                   {`[{"role":"user","content":"other"}]`, ""},
	"max_tokens":                 {`5`, ""},
	"max_completion_tokens":      {`5`, ""},
	"temperature":                {`0`, ""},
	"top_p":                      {`0.5`, ""},
	"top_k":                      {`3`, ""},
	"n":                          {`2`, ""},
	"stop":                       {`"x"`, ""},
	"seed":                       {`0`, ""},
	"presence_penalty":           {`0`, ""},
	"frequency_penalty":          {`0`, ""},
	"logprobs":                   {`true`, ""},
	"top_logprobs":               {`2`, `"logprobs":true`},
	"stream":                     {`true`, ""},
	"stream_options":             {`{"include_usage":true}`, ""},
	"tools":                      {`[{"type":"function","function":{"name":"f"}}]`, ""},
	"tool_choice":                {`"required"`, `"tools":[{"type":"function","function":{"name":"f"}}]`},
	"parallel_tool_calls":        {`false`, `"tools":[{"type":"function","function":{"name":"f"}}]`},
	"response_format":            {`{"type":"json_schema","json_schema":{"name":"x","schema":{"type":"object"}}}`, ""},
	"reasoning_effort":           {`"low"`, ""},
	"thinking":                   {`{"type":"enabled"}`, ""},
	"modalities":                 {`["text"]`, ""},
	"labels":                     {`{"a":"b"}`, ""},
	"user":                       {`"u"`, ""},
	"safety_settings":            {`[{"category":"HARM_CATEGORY_HARASSMENT","threshold":"OFF"}]`, ""},
	"cached_content":             {`"projects/p/locations/l/cachedContents/1"`, ""},
	"model_armor_config":         {`{"prompt_template_name":"x"}`, ""},
	"output_config":              {`{"output_uri_prefix":"gs://b/p"}`, ""},
	"image_config":               {`{"aspect_ratio":"16:9"}`, ""},
	"media_resolution":           {`"MEDIA_RESOLUTION_LOW"`, ""},
	"speech_config":              {`{"language_code":"en-US"}`, ""},
	"audio_timestamp":            {`true`, ""},
	"routing_config":             {`{"manual_mode":{"model_name":"x"}}`, ""},
	"audio_transcription_config": {`{"language_codes":["en-US"]}`, ""},
	"translation_config":         {`{"target_language_code":"de"}`, ""},
	"enable_affective_dialog":    {`true`, ""},
	"continuation_token":         {`"dG9rZW4="`, ""},
	"audio":                      {`{"voice":"alloy"}`, ""},
	"service_tier":               {`"flex"`, ""},
	"metadata":                   {`{"a":"b"}`, ""},
	"store":                      {`true`, ""},
	"logit_bias":                 {`{"1":2}`, ""},
	"prediction":                 {`{"type":"content"}`, ""},
	"verbosity":                  {`"low"`, ""},
	"web_search_options":         {`{}`, ""},
	"thinking_config":            {`{"include_thoughts":true,"thinking_budget":100}`, ""},
	"thought_tag_marker":         {`"think"`, ""},
	"google.tools":               {`[{"url_context":{}}]`, ""},
	"functions":                  {`[{"name":"f"}]`, ""},
	"system_instruction":         {`{"parts":[{"text":"x"}]}`, ""},
	"contents":                   {`[{"parts":[{"text":"x"}]}]`, ""},
	"tool_config":                {`{"function_calling_config":{"mode":"ANY"}}`, `"tools":[{"type":"function","function":{"name":"f"}}]`},
	"function_call":              {`"auto"`, ""},
	"prompt_cache_key":           {`"k"`, ""},
	"safety_identifier":          {`"s"`, ""},
}

// encodeFor encodes a request to the model.
func encodeFor(m *Model, q *providers.ChatCompletionRequest) ([]byte, []providers.Warning, error) {
	return encodeWith(geminiFamily{}, m, q)
}

func encodeWith(f geminiFamily, m *Model, q *providers.ChatCompletionRequest) ([]byte, []providers.Warning, error) {
	var out outgoing
	choices, _, err := shareChoices(q.N, m.facts.MaxCandidates)
	if err != nil {
		return nil, nil, err
	}
	in := request{site: testSite{}, chat: q, target: &providers.Target{ProjectID: "p", Region: "global"}, model: *m, choices: choices}
	body, err := f.encode(&in, &out, nil)
	return body, out.warnings, err
}

// encodeMembers encodes a request to gemini-2.5-flash with the members.
func encodeMembers(t *testing.T, members ...string) (string, []providers.Warning, error) {
	t.Helper()
	return encodeMembersFor(t, "gemini-2.5-flash", members...)
}

// requestOf is a request that has the members, and says hi unless they say more.
func requestOf(t *testing.T, members []string) *providers.ChatCompletionRequest {
	t.Helper()
	text := `{"model":"m"`
	if !slices.ContainsFunc(members, func(m string) bool { return strings.HasPrefix(m, `"messages"`) }) {
		members = append([]string{`"messages":[{"role":"user","content":"hi"}]`}, members...)
	}
	for _, m := range members {
		if m != "" {
			text += "," + m
		}
	}
	q := new(providers.ChatCompletionRequest)
	if err := json.Unmarshal([]byte(text+"}"), q); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return q
}

func encodeMembersFor(t *testing.T, name string, members ...string) (string, []providers.Warning, error) {
	t.Helper()
	q := requestOf(t, members)
	facts, _ := catalog.DefaultModels().Lookup("google", name)
	m := Model{Publisher: "google", Name: name, facts: facts}
	body, warnings, err := encodeFor(&m, q)
	if err == nil {
		if err := vertextest.Check("GenerateContentRequest", body); err != nil {
			t.Errorf("%s: %v", body, err)
		}
	}
	return string(body), warnings, err
}

// hasPath reports whether the object has a value at the dotted path.
func hasPath(obj, path string) bool {
	raw := []byte(obj)
	for name := range strings.SplitSeq(path, ".") {
		var ok bool
		if raw, ok = jsonx.Lookup(raw, name); !ok {
			return false
		}
	}
	return true
}

func TestEveryRowDoesWhatItSays(t *testing.T) {
	for _, p := range params {
		switch p.name {
		case "model": // its place is the path: see the tests of endpoints
			continue
		case "stream_function_call_arguments": // not for this model: see the scenarios
			continue
		}
		t.Run(p.name, func(t *testing.T) {
			x, ok := examples[p.name]
			if !ok {
				t.Fatal("no example")
			}
			model := "gemini-2.5-flash"
			if p.name == "image_config" { // for models that draw
				model = "gemini-2.5-flash-image"
			}
			before, _, err := encodeMembersFor(t, model, x.beside)
			if err != nil {
				t.Fatal(err)
			}
			after, warnings, err := encodeMembersFor(t, model, x.beside, memberOf(p.name, x.value))
			checkAction(t, &p, before, after, warnings, err)
			if p.gemini == forward {
				camel, _, err := encodeMembersFor(t, model, `"`+lastSegment(p.wire)+`":`+x.value)
				if diff := cmp.Diff(after, camel); diff != "" || err != nil {
					t.Errorf("in the platform's case style: %v\n%s", err, diff)
				}
			}
		})
	}
}

// memberOf is a member of a request; a dot in the name stands for an object.
func memberOf(name, value string) string {
	if outer, inner, ok := strings.Cut(name, "."); ok {
		return `"` + outer + `":{` + memberOf(inner, value) + `}`
	}
	return `"` + name + `":` + value
}

func checkAction(t *testing.T, p *param, before, after string, warnings []providers.Warning, err error) {
	t.Helper()
	if p.gemini == reject {
		var e *providers.Error
		if !errors.As(err, &e) || e.Param != p.name || e.Message != p.note {
			t.Errorf("%v, want an error about %s", err, p.name)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	warned := slices.ContainsFunc(warnings, func(w providers.Warning) bool { return w.Param == p.name })
	if warned != (p.gemini == warn) || len(warnings) > 0 && !warned {
		t.Errorf("warnings %v", warnings)
	}
	if strings.HasPrefix(p.wire, "(") && p.gemini == translate {
		return // not in the body: see the tests of headers
	}
	if changed := before != after; changed != (p.gemini == forward || p.gemini == translate) {
		t.Errorf("changed: %v\n%s\n%s", changed, before, after)
	}
	if wire, _, _ := strings.Cut(p.wire, ","); (p.gemini == forward || p.gemini == translate) && !hasPath(after, wire) {
		t.Errorf("no %s in %s", wire, after)
	}
}

func TestAMemberWithAFieldOfItsOwnIsNotTakenFromExtra(t *testing.T) {
	q := &providers.ChatCompletionRequest{Messages: []providers.Message{providers.UserMessage("hi")}, Extra: providers.Extra(`{"temperature":1}`)}
	m := Model{facts: new(catalog.Model)}
	_, warnings, err := encodeFor(&m, q)
	if err != nil || len(warnings) != 1 || warnings[0].Param != "temperature" {
		t.Errorf("%v %v, want a warning about temperature", warnings, err)
	}
	q.Extra = providers.Extra(`{"a":1,]`)
	if _, _, err := encodeFor(&m, q); !errors.Is(err, providers.ErrInvalidRequest) {
		t.Errorf("%v, want %s for what is no object", err, providers.ErrInvalidRequest)
	}
}

func TestParametersOutOfRangeAreRefused(t *testing.T) {
	for _, tt := range []struct{ member, param string }{
		{`"max_tokens":0`, "max_tokens"},
		{`"max_completion_tokens":-1`, "max_completion_tokens"},
		{`"n":0`, "n"},
		{`"stop":["1","2","3","4","5","6"]`, "stop"},
		{`"top_logprobs":1`, "top_logprobs"},
		{`"logprobs":true,"top_logprobs":21`, "top_logprobs"},
		{`"logprobs":true,"top_logprobs":-1`, "top_logprobs"},
		{`"response_format":{"type":"xml"}`, "response_format.type"},
		{`"response_format":{"type":"json_schema"}`, "response_format.json_schema.schema"},
		{`"reasoning_effort":"some"`, "reasoning_effort"},
		{`"thinking":{"type":"on"}`, "thinking.type"},
		{`"thinking":{"budget_tokens":-2}`, "thinking.budget_tokens"},
		{`"tools":[{"type":"function","function":{"name":"no spaces"}}]`, "tools[0].function.name"},
		{`"tool_choice":"required"`, "tool_choice"},
		{`"tools":[{"type":"function","function":{"name":"f"}}],"tool_choice":"maybe"`, "tool_choice"},
		{`"tools":[{"type":"function","function":{"name":"f"}}],"tool_choice":{"type":"function","function":{"name":"g"}}`, "tool_choice"},
		{`"tools":[{"type":"function","function":{"name":"web_search"}}],"tool_choice":{"type":"function","function":{"name":"web_search"}}`, "tool_choice"},
		{`"tools":[{"type":"function","function":{"name":"f"}}],"tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"none","tools":[{"type":"function","function":{"name":"f"}}]}}`, "tool_choice.allowed_tools"},
		{`"tools":[{"type":"function","function":{"name":"f"}}],"tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"auto","tools":[]}}`, "tool_choice.allowed_tools"},
		{`"labels":{"Team":"a"}`, "labels"},
		{`"labels":{"1team":"a"}`, "labels"},
		{`"labels":{"":"a"}`, "labels"},
		{`"labels":{"team":"a b"}`, "labels.team"},
		{`"messages":[{"role":"user","content":[{"type":"image_url"}]}]`, "messages[0].content[0].image_url.url"},
		{`"messages":[{"role":"user","content":[{"type":"text","text":"a"},{"type":"hologram"}]}]`, "messages[0].content[1].type"},
		{`"messages":[{"role":"user","content":"a"},{"role":"system","content":[{"type":"image_url","image_url":{"url":"gs://b/a.png"}}]}]`, "messages[1].content[0].type"},
	} {
		t.Run(tt.member, func(t *testing.T) {
			_, _, err := encodeMembers(t, tt.member)
			var e *providers.Error
			if !errors.As(err, &e) || e.Code != providers.ErrInvalidRequest || e.Param != tt.param || e.Sent {
				t.Errorf("%v, want %s about %s", err, providers.ErrInvalidRequest, tt.param)
			}
		})
	}
}
