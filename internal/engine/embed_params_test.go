package engine

import (
	"encoding/json"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/b650d4bf/gateway/catalog"
	"github.com/b650d4bf/gateway/internal/jsonx"
	"github.com/b650d4bf/gateway/providers"
)

func TestEveryMemberOfAnEmbeddingRequestHasOneRow(t *testing.T) {
	q := new(providers.EmbeddingRequest)
	fill(reflect.ValueOf(q).Elem())
	data, err := json.Marshal(q)
	if err != nil {
		t.Fatal(err)
	}
	members := 0
	for name := range jsonx.Members(data) {
		members++
		rows := 0
		for _, p := range embedParams {
			if p.name == name && !p.extension {
				rows++
			}
		}
		if rows != 1 {
			t.Errorf("%s has %d rows, want 1", name, rows)
		}
	}
	if fields := reflect.TypeFor[providers.EmbeddingRequest]().NumField() - 1; members != fields { // Extra is no member
		t.Errorf("%d members were encoded, and there are %d fields", members, fields)
	}
}

func TestEveryRowOfEmbeddingsIsWhole(t *testing.T) {
	seen := map[string]bool{}
	for i := range embedParams {
		p := &embedParams[i]
		if u, err := url.ParseRequestURI(p.link); err != nil || u.Scheme != "https" {
			t.Errorf("%s has the link %q", p.name, p.link)
		}
		if seen[p.name] || p.note == "" || p.name != strings.ToLower(p.name) {
			t.Errorf("%s is there twice, or without a note", p.name)
		}
		seen[p.name] = true
		for _, m := range []catalog.EmbeddingMethod{catalog.EmbedPredict, catalog.EmbedMultimodal, catalog.EmbedContent, catalog.EmbedOpenAI} {
			for _, own := range []bool{false, true} {
				at := p.at(m, own)
				if sent := at.action == forward || at.action == translate; sent != (at.wire != "") || at.action == 0 {
					t.Errorf("%s by %s, own %v: %+v", p.name, m, own, at)
				}
			}
		}
	}
	for _, task := range embedTasks {
		if canonicalTask(strings.ToLower(task.name)) != task.name {
			t.Errorf("%s is not found in lower case", task.name)
		}
	}
	for alias, name := range taskAliases {
		if name != "" && findTask(name) == nil || findTask(alias) != nil {
			t.Errorf("%s stands for %q", alias, name)
		}
	}
}

// TestNothingOfAnEmbeddingRequestVanishes sends each member to each method and
// wants it in the body, in a warning or in an error, as its row says.
func TestNothingOfAnEmbeddingRequestVanishes(t *testing.T) {
	values := map[string]string{
		"dimensions": "256", "task_type": `"CLUSTERING"`, "title": `"the-title"`, "auto_truncate": "false", "encoding_format": `"float"`,
		"labels": `{"a":"b"}`, "user": `"u"`, "parameters": `{"autoTruncate":false,"zeta":1}`, "output_dimensionality": "256",
		"input_type": `"clustering"`, "document_ocr": "true", "audio_track_extraction": "true",
	}
	models := map[string]catalog.EmbeddingMethod{
		"text-embedding-005": catalog.EmbedPredict, "multimodalembedding@001": catalog.EmbedMultimodal,
		"gemini-embedding-2": catalog.EmbedContent, "multilingual-e5-large-instruct-maas": catalog.EmbedContent,
	}
	for model, method := range models {
		for i := range embedParams {
			checkEmbedParam(t, testSite{}, model, values, &embedParams[i], embedParams[i].at(method, false))
		}
	}
	for _, model := range []string{"endpoints.e5", "api.openai.text-embedding-3-large"} {
		for i := range embedParams {
			checkEmbedParam(t, testSite{}, model, values, &embedParams[i], embedParams[i].open)
		}
	}
	for _, model := range []string{"gemini-embedding-001", "gemini-embedding-2"} {
		for i := range embedParams {
			checkEmbedParam(t, ownSite{}, model, values, &embedParams[i], embedParams[i].at("", true))
		}
	}
}

// checkEmbedParam sends a member to a model and wants it where its place says.
func checkEmbedParam(t *testing.T, site Site, model string, values map[string]string, p *embedParam, at embedPlace) {
	t.Helper()
	if p.name == "model" || p.name == "input" {
		return
	}
	body := `{"model":"` + model + `","input":"hello","` + p.name + `":` + values[p.name] + `}`
	if p.name == "title" {
		body = strings.TrimSuffix(body, "}") + `,"task_type":"RETRIEVAL_DOCUMENT"}`
	}
	sent, warnings := embedded(t, site, body)
	mention := slices.ContainsFunc(warnings, func(w providers.Warning) bool {
		return strings.HasPrefix(w.Param, p.name) || p.name == "title" && w.Param == "task_type" || p.name == "input_type" && w.Param == "task_type"
	})
	leaf := `"` + lastSegment(at.wire) + `"`
	switch at.action {
	case warn:
		if !mention {
			t.Errorf("%s to %s: no warning in %v", p.name, model, warnings)
		}
	case forward, translate:
		prefixed := strings.Contains(sent, "task: clustering | query: hello") || strings.Contains(sent, "title: the-title | text: hello")
		if !strings.Contains(sent, leaf) && !prefixed {
			t.Errorf("%s to %s is nowhere in %s", p.name, model, sent)
		}
	}
}

// ownSite is a vendor's own service.
type ownSite struct{ testSite }

func (s ownSite) EmbeddingModel(ref string) (Model, bool, error) {
	m, err := s.Model(ref)
	m.Own = true
	return m, true, err
}

// embedded returns what is sent for the request, with the warnings.
func embedded(t *testing.T, site Site, body string) (string, []providers.Warning) {
	t.Helper()
	q := new(providers.EmbeddingRequest)
	if err := q.UnmarshalJSON([]byte(body)); err != nil {
		t.Fatal(err)
	}
	if err := q.Validate(); err != nil {
		t.Fatal(err)
	}
	p := New(Config{}, site)
	defer func() { _ = p.Close() }()
	e := &embedding{p: p, t: &providers.Target{Model: q.Model}, q: q, items: q.Input.Items}
	if err := e.prepare(); err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	var w jsonx.Writer
	if err := e.body(&w, span{0, 1}); err != nil {
		t.Fatal(err)
	}
	return string(w.Bytes()), e.warnings
}

func FuzzEmbeddingBody(f *testing.F) {
	for _, body := range []string{
		`{"model":"text-embedding-005","input":["a","b"],"task_type":"x","parameters":{"dimension":1,"":2},"z":1}`,
		`{"model":"gemini-embedding-2","input":[{"text":"a","image":{"url":"data:,"},"video":{"url":"gs://b/a.mp4","start_offset":1e300}}],"task_type":"retrieval-document","title":"\""}`,
		`{"model":"multimodalembedding@001","input":{"image":{"base64":"AA=="},"video":{"url":"gs://b/a","interval":-1}},"dimensions":128}`,
		`{"model":"endpoints.e5","input":["a",[1,2]],"input_type":"x","output_dimensionality":1,"z":{}}`, `{"model":"api.openai.e","input":[1],"encoding_format":"base64"}`,
		`{"model":"a/b","input":"x","taskType":5,"autoTruncate":null,"document_ocr":{}}`,
	} {
		f.Add([]byte(body))
	}
	platform, service := New(Config{}, testSite{}), New(Config{}, ownSite{})
	f.Fuzz(func(t *testing.T, body []byte) {
		q := new(providers.EmbeddingRequest)
		if q.UnmarshalJSON(body) != nil || q.Validate() != nil {
			return
		}
		for _, p := range []*Engine{platform, service} {
			checkEmbedSpans(t, p, q, body)
		}
	})
}

// checkEmbedSpans writes the bodies of all requests that a call takes.
func checkEmbedSpans(t *testing.T, p *Engine, q *providers.EmbeddingRequest, body []byte) {
	t.Helper()
	e := &embedding{p: p, t: &providers.Target{Model: q.Model}, q: q, items: q.Input.Items}
	if e.prepare() != nil {
		return
	}
	at := 0
	for _, s := range e.plan(span{0, len(e.items)}) {
		if s.from != at || s.len() < 1 {
			t.Fatalf("the spans have a gap at %d: %v", at, s)
		}
		at = s.to
		var w jsonx.Writer
		if err := e.body(&w, s); err != nil {
			t.Fatal(err)
		}
		if !json.Valid(w.Bytes()) {
			t.Fatalf("%s became %s", body, w.Bytes())
		}
	}
	if at != len(e.items) {
		t.Fatalf("%d of %d inputs have a span", at, len(e.items))
	}
}
