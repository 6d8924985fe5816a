package vertextest_test

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"strings"
	"testing"

	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

const (
	text5   = "text-embedding-005:predict"
	large1  = "gemini-embedding-001:predict"
	content = "gemini-embedding-2:embedContent"
	batch   = "gemini-embedding-2:batchEmbedContents"
	multi   = "multimodalembedding@001:predict"
)

func embedAt(t *testing.T, s *vertextest.Server, path, body string) answered {
	t.Helper()
	return post(t, s, place+"publishers/google/models/"+path, body)
}

// vectors reads the vectors of any of the answers.
func vectors(t *testing.T, a answered) [][]float64 {
	t.Helper()
	if a.status != http.StatusOK {
		t.Fatalf("%d %s", a.status, a.body)
	}
	type values struct{ Values []float64 }
	var body struct {
		Predictions []struct {
			Embeddings                    values
			TextEmbedding, ImageEmbedding []float64
			VideoEmbeddings               []struct{ Embedding []float64 }
		}
		Embedding  *values
		Embeddings []values
	}
	if err := json.Unmarshal(a.body, &body); err != nil {
		t.Fatal(err)
	}
	var list [][]float64
	for _, p := range body.Predictions {
		for _, v := range [][]float64{p.Embeddings.Values, p.TextEmbedding, p.ImageEmbedding} {
			if v != nil {
				list = append(list, v)
			}
		}
		for _, v := range p.VideoEmbeddings {
			list = append(list, v.Embedding)
		}
	}
	for _, v := range body.Embeddings {
		list = append(list, v.Values)
	}
	if body.Embedding != nil {
		list = append(list, body.Embedding.Values)
	}
	return list
}

func cosine(a, b []float64) float64 {
	var ab, aa, bb float64
	for i := range a {
		ab, aa, bb = ab+a[i]*b[i], aa+a[i]*a[i], bb+b[i]*b[i]
	}
	return ab / math.Sqrt(aa*bb)
}

func TestEmbeddingsMeanSomething(t *testing.T) {
	s := vertextest.New()
	defer s.Close()
	texts := []string{"How can I reset my password?", "I want to reset my password", "The weather in Paris is sunny today"}
	for path, one := range map[string]string{
		text5: `{"content":%q}`, large1: `{"content":%q,"task_type":"CLUSTERING"}`, batch: `{"content":{"parts":[{"text":%q}]}}`,
	} {
		var list []string
		for _, text := range texts {
			list = append(list, fmt.Sprintf(one, text))
		}
		member := "instances"
		if path == batch {
			member = "requests"
		}
		body := `{"` + member + `":[` + strings.Join(list, ",") + `]}`
		got := vectors(t, embedAt(t, s, path, body))
		if near, far := cosine(got[0], got[1]), cosine(got[0], got[2]); near < far+0.2 {
			t.Errorf("%s: %v for two that are close, %v for two that are not", path, near, far)
		}
		again := vectors(t, embedAt(t, s, path, body))
		for i := range got {
			if cosine(got[i], again[i]) < 1-1e-12 {
				t.Errorf("%s: vector %d changes", path, i)
			}
		}
	}
	plain := vectors(t, embedAt(t, s, content, `{"content":{"parts":[{"text":"reset my password"}]}}`))[0]
	asked := vectors(t, embedAt(t, s, content, `{"content":{"parts":[{"text":"task: search result | query: reset my password"}]}}`))[0]
	if c := cosine(plain, asked); c < 0.95 {
		t.Errorf("an instruction makes a vector another one: %v", c)
	}
}

func TestLengthsOfVectors(t *testing.T) {
	s := vertextest.New()
	defer s.Close()
	for _, tt := range []struct {
		path, body string
		dims       int
		unit       bool
	}{
		{text5, `{"instances":[{"content":"a b c"}]}`, 768, true},
		{text5, `{"instances":[{"content":"a b c"}],"parameters":{"outputDimensionality":64}}`, 64, true},
		{large1, `{"instances":[{"content":"a b c"}]}`, 3072, true},
		{large1, `{"instances":[{"content":"a b c"}],"parameters":{"outputDimensionality":768}}`, 768, false},
		{content, `{"content":{"parts":[{"text":"a b c"}]},"embedContentConfig":{"outputDimensionality":256}}`, 256, true},
		{multi, `{"instances":[{"text":"a"}],"parameters":{"dimension":128}}`, 128, true},
	} {
		v := vectors(t, embedAt(t, s, tt.path, tt.body))[0]
		length := 0.0
		for _, f := range v {
			length += f * f
		}
		if unit := math.Abs(length-1) < 1e-4; len(v) != tt.dims || unit != tt.unit {
			t.Errorf("%s %s: %d elements, length² %v", tt.path, tt.body, len(v), length)
		}
	}
	if got := vectors(t, embedAt(t, s, multi, `{"instances":[{"text":"a","image":{"gcsUri":"gs://b/a"},"video":{"gcsUri":"gs://b/v",`+
		`"videoSegmentConfig":{"startOffsetSec":0,"endOffsetSec":12,"intervalSec":5}}}]}`)); len(got) != 5 {
		t.Errorf("%d vectors of a text, an image and three parts of a video", len(got))
	}
}

// embedRefusals are bodies that the platform refuses, with words of the reason.
func embedRefusals() []struct{ path, body, want string } {
	many := strings.TrimSuffix(strings.Repeat(`{"content":"a"},`, 251), ",")
	long := strings.Repeat("word ", 2000)
	longs := strings.TrimSuffix(strings.Repeat(fmt.Sprintf(`{"content":%q},`, long), 9), ",")
	return []struct{ path, body, want string }{
		{text5, `{"instances":[]}`, "no instances"},
		{text5, `{"instances":[` + many + `]}`, "250 instance(s) is allowed per prediction. Actual: 251"},
		{text5, `{"instances":[` + longs + `]}`, "supports up to 20000"},
		{text5, fmt.Sprintf(`{"instances":[{"content":%q}],"parameters":{"autoTruncate":false}}`, long), "input token count is 2500"},
		{text5, `{"instances":[{"content":""}]}`, "empty"},
		{text5, `{"instances":[{}]}`, "content"},
		{text5, `{"instances":[{"content":"a","taskType":"CLUSTERING"}]}`, "taskType"},
		{text5, `{"instances":[{"content":"a","task_type":"clustering"}]}`, "task_type"},
		{text5, `{"instances":[{"content":"a","title":"t"}]}`, "title"},
		{text5, `{"instances":[{"content":"a"}],"parameters":{"output_dimensionality":3}}`, "output_dimensionality"},
		{text5, `{"instances":[{"content":"a"}],"parameters":{"outputDimensionality":769}}`, "outputDimensionality"},
		{text5, `{"contents":[]}`, "contents"},
		{content, `{"content":{"parts":[{"text":"a"}]},"embedContentConfig":{"taskType":"CLUSTERING"}}`, "taskType"},
		{content, `{"content":{"parts":[{"text":"a"}]},"embedContentConfig":{"outputDimensionality":100}}`, "outputDimensionality"},
		{content, `{"content":{"parts":[]}}`, "empty"},
		{content, `{"content":{"parts":[{"fileData":{"fileUri":"gs://b/a.png"}}]}}`, "mime_type"},
		{batch, `{"requests":[]}`, "no instances"},
		{multi, `{"instances":[{"text":"a"},{"text":"b"}]}`, "1 instance(s) is allowed"},
		{multi, `{"instances":[{"text":"a"}],"parameters":{"dimension":300}}`, "128 256 512 1408"},
		{multi, `{"instances":[{"text":"a"}],"parameters":{"outputDimensionality":128}}`, "outputDimensionality"},
		{multi, `{"instances":[{"video":{"gcsUri":"gs://b/v"}}],"parameters":{"dimension":128}}`, "1408 only"},
		{multi, `{"instances":[{"image":{"gcsUri":"https://h/a"}}]}`, "gs://"},
		{multi, `{"instances":[{"image":{"bytesBase64Encoded":"%"}}]}`, "Base64"},
		{"text-embedding-005:embedContent", `{"content":{"parts":[{"text":"a"}]}}`, "not supported"},
		{"gemini-embedding-2:predict", `{"instances":[{"content":"a"}]}`, "not supported"},
	}
}

func TestEmbeddingsThatThePlatformRefuses(t *testing.T) {
	s := vertextest.New()
	defer s.Close()
	for _, tt := range embedRefusals() {
		got := embedAt(t, s, tt.path, tt.body)
		if m := got.decode(t); got.status != http.StatusBadRequest || !strings.Contains(m.Error.Message, tt.want) {
			t.Errorf("%s %.120s: %d %s, want %q in it", tt.path, tt.body, got.status, m.Error.Message, tt.want)
		}
	}
	for _, path := range []string{"text-embedding-999:predict", "imagen-4:predict", "gemini-embedding-9:embedContent"} {
		if got := embedAt(t, s, path, `{}`); got.status != http.StatusNotFound {
			t.Errorf("%s: %d %s", path, got.status, got.body)
		}
	}
}

func TestLongTextsAreCut(t *testing.T) {
	s := vertextest.New()
	defer s.Close()
	long := strings.Repeat("word ", 2000) // 2500 tokens
	body := fmt.Sprintf(`{"instances":[{"content":%q},{"content":"a"}]%%s}`, long)
	got := embedAt(t, s, text5, fmt.Sprintf(body, ""))
	if text := strings.Join(strings.Fields(string(got.body)), ""); !strings.Contains(text, `"token_count":2048,"truncated":true`) ||
		!strings.Contains(text, `"token_count":1,"truncated":false`) {
		t.Errorf("%d: %.200s", got.status, text)
	}
	got = embedAt(t, s, text5, fmt.Sprintf(body, `,"parameters":{"autoTruncate":false}`))
	if m := got.decode(t); got.status != http.StatusBadRequest || !strings.Contains(m.Error.Message, "input token count is 2500") {
		t.Errorf("%d %s", got.status, m.Error.Message)
	}
}

func TestScriptedEmbeddings(t *testing.T) {
	s := vertextest.New(vertextest.WithMaxInstances(1, "text-embedding-005"))
	defer s.Close()
	s.ScriptVerb("predict", vertextest.JSON(200, `{"predictions":[]}`))
	s.Script(vertextest.Text("not for embeddings"))
	if got := embedAt(t, s, text5, `{"instances":[{"content":"a"}]}`); string(got.body) != `{"predictions":[]}` || s.Pending() != 1 {
		t.Errorf("%s, %d pending", got.body, s.Pending())
	}
	if got := embedAt(t, s, text5, `{"instances":[{"content":"a"},{"content":"b"}]}`); got.status != http.StatusBadRequest {
		t.Errorf("%d", got.status)
	}
	if got := embedAt(t, s, large1, `{"instances":[{"content":"a"},{"content":"b"}]}`); got.status != http.StatusOK {
		t.Errorf("%d", got.status)
	}
}

// FuzzEmbed holds the emulator to answer any body, with vectors or a refusal.
func FuzzEmbed(f *testing.F) {
	for _, r := range embedRefusals() {
		if len(r.body) < 4096 {
			f.Add(r.path, r.body)
		}
	}
	f.Add(batch, `{"requests":[{"content":{"parts":[{"text":"a"}]}},{"content":{"parts":[{"inlineData":{"mimeType":"image/png","data":"AA=="}}]}}]}`)
	f.Add(multi, `{"instances":[{"video":{"gcsUri":"gs://b/v","videoSegmentConfig":{"endOffsetSec":1e9,"intervalSec":-1}}}]}`)
	s, unchecked := vertextest.New(), vertextest.New(vertextest.WithoutChecks())
	f.Fuzz(func(t *testing.T, path, body string) {
		for _, known := range []string{text5, content, batch, multi} {
			for _, srv := range []*vertextest.Server{s, unchecked} {
				if got := embedAt(t, srv, known, body); got.status != http.StatusOK && got.status != http.StatusBadRequest {
					t.Fatalf("%s: %d %s", known, got.status, got.body)
				}
				srv.Reset()
			}
		}
		r := newPost(t, place, body)
		r.URL.Path = "/v1/projects/p/locations/us/publishers/google/models/" + path
		if got := do(t, s, r); got.status >= http.StatusInternalServerError {
			t.Fatalf("%d %s", got.status, got.body)
		}
	})
}
