package engine

import (
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/catalog"
	"github.com/b650d4bf/gateway/providers"
)

// ownModel is a model at the vendor's own service.
func ownModel(name string) *Model {
	facts, _ := catalog.DefaultModels().Lookup("google", name)
	return &Model{Publisher: "google", Name: name, Family: FamilyGemini, Own: true, facts: facts}
}

func encodeOwn(t *testing.T, name string, members ...string) (string, []providers.Warning, error) {
	t.Helper()
	body, warnings, err := encodeFor(ownModel(name), requestOf(t, members))
	return string(body), warnings, err
}

func TestEveryRowOfTheServiceIsWhole(t *testing.T) {
	for _, rows := range [][]param{ownParams, ownParts} {
		seen := map[string]bool{}
		for _, p := range rows {
			if u, err := url.ParseRequestURI(p.link); err != nil || u.Host != "ai.google.dev" {
				t.Errorf("%s: link %q", p.name, p.link)
			}
			if seen[p.name] || p.wire == "" || p.gemini == warn && p.note == "" {
				t.Errorf("%s is there twice, goes nowhere, or gives no reason", p.name)
			}
			seen[p.name] = true
			if parent, _, nested := strings.Cut(p.name, "."); nested && (p.gemini != warn || !ownNested[findParam(parent).wire]) {
				t.Errorf("%s is not looked for", p.name)
			}
		}
	}
	for i := range platformTools {
		p := &platformTools[i]
		if (p.link == "") != (p.at == atOwn) || (p.ownLink == "") != (p.at == atVertex) || len(p.own) > 0 && p.at == atVertex || len(p.options) > 0 && p.at == atOwn {
			t.Errorf("%s: where it is, and its pages, differ", p.wire)
		}
	}
	for kind, limit := range ownMediaLimits {
		if u, err := url.ParseRequestURI(limit.link); limit.name != "" && (err != nil || u.Host != "ai.google.dev") {
			t.Errorf("%d: link %q", kind, limit.link)
		}
	}
}

// ownExamples has values for rows that examples has none for.
var ownExamples = map[string]struct{ value, beside string }{
	"cached_content":                       {`"cachedContents/1"`, ""},
	"store":                                {`false`, ""},
	"enable_enhanced_civic_answers":        {`true`, ""},
	"include_server_side_tool_invocations": {`true`, `"tools":[{"type":"web_search"}]`},
	"stream_function_call_arguments":       {`true`, `"tools":[{"type":"function","function":{"name":"f"}}]`},
	"output_config":                        {`{"output_uri_prefix":"gs://b/p"}`, ""},
	"safety_settings.method":               {`[{"category":"c","threshold":"OFF","method":"SEVERITY"}]`, ""},
	"image_config.person_generation":       {`{"aspect_ratio":"1:1","person_generation":"ALLOW_ALL"}`, ""},
	"image_config.prominent_people":        {`{"aspect_ratio":"1:1","prominentPeople":"x"}`, ""},
	"image_config.image_output_options":    {`{"aspect_ratio":"1:1","imageOutputOptions":{"mimeType":"image/png"}}`, ""},
}

func TestEveryRowOfTheServiceDoesWhatItSays(t *testing.T) {
	for _, p := range ownParams {
		t.Run(p.name, func(t *testing.T) {
			x, ok := ownExamples[p.name]
			if !ok {
				x, ok = examples[p.name]
			}
			if !ok {
				t.Fatal("no example")
			}
			name, _, nested := strings.Cut(p.name, ".")
			body, warnings, err := encodeOwn(t, "gemini-2.5-flash-image", x.beside, memberOf(name, x.value))
			if err != nil {
				t.Fatal(err)
			}
			warned := slices.ContainsFunc(warnings, func(w providers.Warning) bool {
				return snake(w.Param) == p.name && strings.HasPrefix(w.Message, "left out: ")
			})
			sent := strings.Contains(body, `"`+lastSegment(p.wire)+`"`)
			if warned != (p.gemini == warn) || sent == warned {
				t.Errorf("sent %v, warnings %v: %s", sent, warnings, body)
			}
			if nested && !strings.Contains(body, `"`+camel(name)+`"`) {
				t.Errorf("the rest of %s is gone: %s", p.name, body)
			}
		})
	}
}

func TestMembersOfTheServiceInTheOtherPlaces(t *testing.T) {
	for name, tt := range map[string]struct {
		members, want string
		warned        []string
	}{
		"generation_config has its own rows": {
			`"generation_config":{"audio_timestamp":true,"enableEnhancedCivicAnswers":true,"top_k":1}`,
			`"generationConfig":{"enableEnhancedCivicAnswers":true,"topK":1}`, []string{"generation_config.audio_timestamp"},
		},
		"extra_body": {
			`"extra_body":{"google":{"routing_config":{"autoMode":{}},"store":true}}`, `"store":true`, []string{"extra_body.google.routing_config"},
		},
		"the effort of an output_config": {
			`"output_config":{"effort":"low"}`, `"thinkingConfig":{"thinkingBudget":1024}`, nil,
		},
		"settings by category": {
			`"safety_settings":{"HARM_CATEGORY_HARASSMENT":"OFF"}`, `"safetySettings":[{"category":"HARM_CATEGORY_HARASSMENT","threshold":"OFF"}]`, nil,
		},
		"a class by default":   {`"service_tier":"auto"`, `"contents"`, nil},
		"an unknown class":     {`"service_tier":"dedicated"`, `"contents"`, []string{"service_tier"}},
		"labels go as they do": {`"labels":{"a":"b"}`, `"labels":{"a":"b"}`, nil},
		"told without tools":   {`"include_server_side_tool_invocations":true`, `"contents"`, []string{"include_server_side_tool_invocations"}},
		"functions beside search": {
			`"tools":[{"type":"function","function":{"name":"f"}},{"type":"web_search","exclude_domains":["a"]}]`,
			`"toolConfig":{"includeServerSideToolInvocations":true}`, []string{"tools[1].exclude_domains"},
		},
		"functions beside search, told not to": {
			`"tools":[{"type":"function","function":{"name":"f"}},{"type":"web_search"}],"includeServerSideToolInvocations":false`,
			`"googleSearch":{}}]}`, nil,
		},
		"functions alone": {`"tools":[{"type":"function","function":{"name":"f"}}]`, `"functionDeclarations":[{"name":"f"}]}]}`, nil},
		"a tool of Vertex AI": {
			`"tools":[{"type":"enterprise_web_search"},{"type":"retrieval"},{"type":"file_search","file_search_store_names":["fileSearchStores/a"]}]`,
			`"tools":[{"fileSearch":{"fileSearchStoreNames":["fileSearchStores/a"]}}]`, []string{"tools[0].type", "tools[1].type"},
		},
		"a function with the name of such a tool": {
			`"tools":[{"type":"function","function":{"name":"retrieval"}}]`, `"functionDeclarations":[{"name":"retrieval"}]`, nil,
		},
		"servers in the service's form": {
			`"google":{"tools":[{"mcp_servers":[{"name":"a_b","streamableHttpTransport":{"url":"https://x.y","headers":{"x_y":"z"}}}]}]}`,
			`"tools":[{"mcpServers":[{"name":"a_b","streamableHttpTransport":{"url":"https://x.y","headers":{"x_y":"z"}}}]}]`, nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			body, warnings, err := encodeOwn(t, "gemini-2.5-flash", tt.members)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(body, tt.want) {
				t.Errorf("%s\nwant %s", body, tt.want)
			}
			var warned []string
			for _, w := range warnings {
				warned = append(warned, w.Param)
			}
			if diff := cmp.Diff(tt.warned, warned); diff != "" {
				t.Errorf("%v\n%s", warnings, diff)
			}
		})
	}
}

func TestVertexAIKnowsNothingOfTheServicesMembers(t *testing.T) {
	body, warnings, err := encodeMembers(t, `"store":true`, `"include_server_side_tool_invocations":true`, `"enable_enhanced_civic_answers":true`,
		`"google":{"tools":[{"mcpServers":[]},{"fileSearch":{}}]}`, `"tools":[{"type":"function","function":{"name":"file_search"}},{"type":"url_context"}]`)
	if err != nil || len(warnings) != 5 {
		t.Errorf("%v %v", err, warnings)
	}
	if strings.Contains(body, "includeServerSide") || !strings.Contains(body, `[{"name":"file_search"}]`) {
		t.Error(body)
	}
}

func TestFilesOfTheService(t *testing.T) {
	part := func(inner string) string { return `"messages":[{"role":"user","content":[` + inner + `]}]` }
	for name, tt := range map[string]struct{ inner, want, fault string }{
		"a file by its name": {`{"type":"file","file":{"file_id":"files/abc-1"}}`,
			`"fileData":{"fileUri":"https://generativelanguage.googleapis.com/v1beta/files/abc-1"}`, ""},
		"a file by its URI": {`{"type":"image_url","image_url":{"url":"https://generativelanguage.googleapis.com/v1beta/files/abc"}}`,
			`"fileData":{"fileUri":"https://generativelanguage.googleapis.com/v1beta/files/abc"}`, ""},
		"a file with its type": {`{"type":"file","file":{"file_id":"files/abc","mime_type":"video/mp4"},"video_metadata":{"fps":2}}`,
			`"fileData":{"mimeType":"video/mp4","fileUri":"https://generativelanguage.googleapis.com/v1beta/files/abc"},"videoMetadata":{"fps":2}`, ""},
		"a part of a file": {`{"type":"file","file":{"file_id":"files/abc"},"video_metadata":{"fps":2}}`, `files/abc"},"videoMetadata":{"fps":2}`, ""},
		"a signed URL": {`{"type":"image_url","image_url":{"url":"https://s3.example/a.png?X-Amz-Signature=1"}}`,
			`"fileData":{"mimeType":"image/png","fileUri":"https://s3.example/a.png?X-Amz-Signature=1"}`, ""},
		"YouTube":              {`{"type":"image_url","image_url":{"url":"https://youtu.be/x"}}`, `"fileUri":"https://youtu.be/x"`, ""},
		"a URL without a type": {`{"type":"image_url","image_url":{"url":"https://x.y/a"}}`, "", "media type"},
		"Cloud Storage":        {`{"type":"image_url","image_url":{"url":"gs://b/a.png"}}`, "", "registered with the Files API"},
		"Cloud Storage by id":  {`{"type":"file","file":{"file_id":"gs://b/a.png"}}`, "", "registered with the Files API"},
		"a file of OpenAI":     {`{"type":"file","file":{"file_id":"file-abc"}}`, "", "files/ID"},
		"a name with a query":  {`{"type":"file","file":{"file_id":"files/a?b"}}`, "", "files/ID"},
		"no file":              {`{"type":"file","file":{}}`, "", "files/ID"},
		"no scheme":            {`{"type":"image_url","image_url":{"url":"a.png"}}`, "", "give an https URL, or"},
		"not base64":           {`{"type":"input_audio","input_audio":{"data":"a b","format":"wav"}}`, "", "or an https URL"},
	} {
		t.Run(name, func(t *testing.T) {
			body, _, err := encodeOwn(t, "gemini-3.5-flash", part(tt.inner))
			switch {
			case tt.fault != "":
				if err == nil || !strings.Contains(err.Error(), tt.fault) || strings.Contains(err.Error(), "a gs:// or") {
					t.Errorf("%v, want %s", err, tt.fault)
				}
			case err != nil || !strings.Contains(body, tt.want):
				t.Errorf("%v %s\nwant %s", err, body, tt.want)
			}
		})
	}
}

func TestMediaLimitsOfTheService(t *testing.T) {
	picture := func(size int) string {
		return `"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,` + strings.Repeat("A", size/3*4) + `"}}]}]`
	}
	if _, _, err := encodeOwn(t, "gemini-3.5-flash", picture(30*mebibyte)); err != nil {
		t.Errorf("an image of 30 MB: %v", err)
	}
	_, _, err := encodeOwn(t, "gemini-3.5-flash", picture(76*mebibyte))
	if err == nil || !strings.Contains(err.Error(), "75.00 MB") || !strings.Contains(err.Error(), "upload the file with the Files API") {
		t.Errorf("an image of 76 MB: %v", err)
	}
	result := `"messages":[{"role":"user","content":"x"},{"role":"assistant","tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}]},` +
		`{"role":"tool","tool_call_id":"c","content":"x","extra_content":{"google":{"parts":[{"fileData":{"mimeType":"image/png","fileUri":"gs://b/a"}}]}}}]`
	if _, _, err := encodeOwn(t, "gemini-3.5-flash", result); err == nil || !strings.Contains(err.Error(), "Files API") {
		t.Errorf("an object in a result: %v", err)
	}
}

func TestCallsOfTheServicesToolsGoBackToItAlone(t *testing.T) {
	const history = `"messages":[{"role":"user","content":"x"},{"role":"assistant","content":"a","content_blocks":[` +
		`{"type":"tool_call","signature":"c2ln","toolCall":{"toolType":"FILE_SEARCH","args":{"b":1,"a":2},"id":"1"}},` +
		`{"type":"tool_response","toolResponse":{"toolType":"FILE_SEARCH","id":"1"}},{"type":"text","text":"a"}]},{"role":"user","content":"y"}]`
	const want = `{"role":"model","parts":[{"toolCall":{"toolType":"FILE_SEARCH","args":{"b":1,"a":2},"id":"1"},"thoughtSignature":"c2ln"},` +
		`{"toolResponse":{"toolType":"FILE_SEARCH","id":"1"}},{"text":"a"}]}`
	body, warnings, err := encodeOwn(t, "gemini-3.5-flash", history)
	if err != nil || len(warnings) > 0 || !strings.Contains(body, want) {
		t.Errorf("%v %v %s", err, warnings, body)
	}
	body, warnings, err = encodeMembersFor(t, "gemini-3.5-flash", history)
	if err != nil || len(warnings) != 2 || strings.Contains(body, "toolCall") {
		t.Errorf("on Vertex AI: %v %v %s", err, warnings, body)
	}
}

// namedSite is a site with another name.
type namedSite struct {
	testSite
	name string
}

func (s namedSite) Name() string { return s.name }

func TestTheIssuerOfSignaturesTellsServicesApart(t *testing.T) {
	issuer := func(site, slug, project string, own bool) string {
		in := request{site: namedSite{name: site}, target: &providers.Target{Slug: slug, ProjectID: project}, model: Model{Own: own}}
		return in.issuer()
	}
	vertex := issuer("vertex-ai", "", "p", false)
	service := issuer("google", "a", "p", true)
	if service == vertex || service == issuer("google", "b", "p", true) || vertex == issuer("vertex-ai", "", "q", false) {
		t.Error("issuers are not told apart")
	}
	if service != issuer("google", "a", "q", true) {
		t.Error("the service knows no projects")
	}
}
