package engine

import (
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/b650d4bf/gateway/providers"
)

// partExamples has, for each row, a message that has the member, and one that
// does not.
var partExamples = map[string][2]string{
	"text":                  {`{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}`, `{"role":"user","content":[{"type":"text","text":"a"}]}`},
	"refusal":               {`{"role":"assistant","content":[{"type":"refusal","refusal":"No."}]}`, ``},
	"image_url":             {`{"role":"user","content":[{"type":"image_url","image_url":{"url":"gs://b/a.png"}}]}`, ``},
	"input_audio":           {`{"role":"user","content":[{"type":"input_audio","input_audio":{"data":"UklGRg==","format":"wav"}}]}`, ``},
	"file":                  {`{"role":"user","content":[{"type":"file","file":{"file_id":"gs://b/a.pdf"}}]}`, ``},
	"search_result":         {`{"role":"user","content":[{"type":"search_result","source":"s","title":"t","content":[{"type":"text","text":"a"}]}]}`, ``},
	"document":              {`{"role":"user","content":[{"type":"document","title":"t","source":{"type":"content","content":"a"}}]}`, ``},
	"mime_type":             {`{"role":"user","content":[{"type":"image_url","image_url":{"url":"gs://b/a.png","mime_type":"image/webp"}}]}`, `{"role":"user","content":[{"type":"image_url","image_url":{"url":"gs://b/a.png"}}]}`},
	"detail":                {`{"role":"user","content":[{"type":"image_url","image_url":{"url":"gs://b/a.png","detail":"low"}}]}`, `{"role":"user","content":[{"type":"image_url","image_url":{"url":"gs://b/a.png"}}]}`},
	"media_resolution":      {`{"role":"user","content":[{"type":"image_url","media_resolution":"ultra_high","image_url":{"url":"gs://b/a.png"}}]}`, `{"role":"user","content":[{"type":"image_url","image_url":{"url":"gs://b/a.png"}}]}`},
	"video_metadata":        {`{"role":"user","content":[{"type":"image_url","video_metadata":{"fps":2},"image_url":{"url":"gs://b/a.mp4"}}]}`, `{"role":"user","content":[{"type":"image_url","image_url":{"url":"gs://b/a.mp4"}}]}`},
	"thinking":              {`{"role":"assistant","content":[{"type":"thinking","thinking":"t","signature":"c2ln"},{"type":"text","text":"a"}]}`, `{"role":"assistant","content":[{"type":"text","text":"a"}]}`},
	"redacted_thinking":     {`{"role":"assistant","content":[{"type":"redacted_thinking","data":"t"},{"type":"text","text":"a"}]}`, `{"role":"assistant","content":[{"type":"text","text":"a"}]}`},
	"signature":             {`{"role":"assistant","content_blocks":[{"type":"text","text":"a","signature":"c2ln"}]}`, `{"role":"assistant","content_blocks":[{"type":"text","text":"a"}]}`},
	"extra_content.google":  {`{"role":"assistant","content":"a","extra_content":{"google":{"thought_signature":"c2ln"}}}`, `{"role":"assistant","content":"a"}`},
	"executable_code":       {`{"role":"assistant","content_blocks":[{"type":"executable_code","executableCode":{"language":"PYTHON","code":"1"}}]}`, ``},
	"code_execution_result": {`{"role":"assistant","content_blocks":[{"type":"code_execution_result","codeExecutionResult":{"outcome":"OUTCOME_OK"}}]}`, ``},
}

func TestEveryPartDoesWhatItSays(t *testing.T) {
	encode := func(t *testing.T, message string) (string, []providers.Warning) {
		t.Helper()
		list := `{"role":"user","content":"q"},` + message
		if message == "" {
			list = `{"role":"user","content":"q"}`
		}
		body, warnings, err := encodeMembersFor(t, "gemini-3.5-flash", `"messages":[`+list+`]`)
		if err != nil {
			t.Fatal(err)
		}
		return body, warnings
	}
	for _, p := range contentParts {
		t.Run(p.name, func(t *testing.T) {
			x, ok := partExamples[p.name]
			if !ok {
				t.Fatal("no example")
			}
			if u, err := url.ParseRequestURI(p.link); err != nil || u.Scheme != "https" {
				t.Errorf("link %q", p.link)
			}
			with, warnings := encode(t, x[0])
			without, _ := encode(t, x[1])
			sent := p.gemini == forward || p.gemini == translate
			if changed := with != without; changed != sent || (len(warnings) > 0) == sent {
				t.Errorf("changed: %v, warnings %v\n%s\n%s", changed, warnings, with, without)
			}
			named := slices.ContainsFunc(strings.Split(p.wire, ", "), func(wire string) bool { return strings.Contains(with, `"`+wire+`":`) })
			if sent && !named {
				t.Errorf("no %s in %s", p.wire, with)
			}
		})
	}
}
