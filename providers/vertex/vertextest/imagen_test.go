package vertextest_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"image"
	"image/png"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

const (
	imagenPlace = "https://us-central1-aiplatform.googleapis.com/v1/projects/p/locations/us-central1/publishers/google/models/"
	rankPlace   = "https://discoveryengine.googleapis.com/v1/projects/p/locations/global/rankingConfigs/default_ranking_config:rank"
)

// drawAt posts a prediction to a model that draws.
func drawAt(t *testing.T, s *vertextest.Server, model, body string) answered {
	t.Helper()
	return post(t, s, imagenPlace+model+":predict", body)
}

// predictions reads the images of an answer.
func predictions(t *testing.T, a answered) []messagePart {
	t.Helper()
	var body struct {
		Predictions []struct{ BytesBase64Encoded, MimeType, GCSURI, Prompt string }
	}
	if a.status != http.StatusOK {
		t.Fatalf("%d %s", a.status, a.body)
	}
	if err := json.Unmarshal(a.body, &body); err != nil {
		t.Fatal(err)
	}
	var list []messagePart
	for _, p := range body.Predictions {
		one, err := json.Marshal(map[string]any{"text": p.GCSURI + p.Prompt, "inlineData": map[string]string{"mimeType": p.MimeType, "data": p.BytesBase64Encoded}})
		if err != nil {
			t.Fatal(err)
		}
		var part messagePart
		if err := json.Unmarshal(one, &part); err != nil {
			t.Fatal(err)
		}
		list = append(list, part)
	}
	return list
}

func TestImagenDrawsWhatIsAskedFor(t *testing.T) {
	s := vertextest.New()
	prompt := func(parameters string) string {
		return `{"instances":[{"prompt":"a cat"}],"parameters":{` + parameters + `}}`
	}
	for _, tt := range []struct {
		model, parameters, format string
		count                     int
		want                      image.Point
	}{
		{"imagen-4.0-generate-001", ``, "png", 4, image.Pt(256, 256)},
		{"imagen-4.0-ultra-generate-001", `"sampleCount":1,"aspectRatio":"16:9","sampleImageSize":"2K"`, "png", 1, image.Pt(512, 288)},
		{"imagen-3.0-generate-002", `"sampleCount":2,"aspectRatio":"3:4","outputOptions":{"mimeType":"image/jpeg","compressionQuality":50}`, "jpeg", 2, image.Pt(192, 256)},
	} {
		list := predictions(t, drawAt(t, s, tt.model, prompt(tt.parameters)))
		if len(list) != tt.count {
			t.Errorf("%s: %d images, want %d", tt.model, len(list), tt.count)
		}
		if size, format := decodePicture(t, list[0]); size != tt.want || format != tt.format {
			t.Errorf("%s: %s of %v", tt.model, format, size)
		}
		again := predictions(t, drawAt(t, s, tt.model, prompt(tt.parameters)))
		if diff := cmp.Diff(list, again); diff != "" {
			t.Errorf("%s draws something else each time", tt.model)
		}
		if tt.count > 1 && list[0].InlineData.Data == list[1].InlineData.Data {
			t.Errorf("%s draws the same twice", tt.model)
		}
	}
	seed := func(n string) string {
		return predictions(t, drawAt(t, s, "imagen-4.0-generate-001", prompt(`"sampleCount":1,"addWatermark":false,"seed":`+n)))[0].InlineData.Data
	}
	if seed("1") == seed("2") {
		t.Error("a seed has no effect")
	}
	stored := predictions(t, drawAt(t, s, "imagen-4.0-generate-001", prompt(`"sampleCount":1,"storageUri":"gs://b/c/","enhancePrompt":true`)))
	if want := "gs://b/c/1234567890123/sample_0.png" + "a cat, in fine detail"; stored[0].Text != want || stored[0].InlineData.Data != "" {
		t.Errorf("%q, want %q", stored[0].Text, want)
	}
	s.ScriptVerb("predict", vertextest.JSON(200, `{"predictions":[{"raiFilteredReason":"r"}]}`))
	if a := drawAt(t, s, "imagen-4.0-generate-001", prompt(``)); !strings.Contains(string(a.body), "raiFilteredReason") {
		t.Errorf("%s", a.body)
	}
}

// pictureOf returns a PNG in base64.
func pictureOf(t *testing.T, width, height int) string {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, width, height))); err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(b.Bytes())
}

func TestImagenEdits(t *testing.T) {
	s := vertextest.New()
	raw := func(width, height int) string {
		return `{"referenceType":"REFERENCE_TYPE_RAW","referenceId":1,"referenceImage":{"bytesBase64Encoded":"` + pictureOf(t, width, height) + `"}}`
	}
	mask := func(config string) string {
		return `{"referenceType":"REFERENCE_TYPE_MASK","referenceId":2,"referenceImage":{"bytesBase64Encoded":"` + pictureOf(t, 8, 4) + `"},"maskImageConfig":{` + config + `}}`
	}
	edit := func(references ...string) string {
		return `{"instances":[{"prompt":"a hat","referenceImages":[` + strings.Join(references, ",") + `]}],"parameters":{"sampleCount":1,"editMode":"EDIT_MODE_INPAINT_INSERTION"}}`
	}
	const own = `"maskMode":"MASK_MODE_USER_PROVIDED","dilation":0.1`
	list := predictions(t, drawAt(t, s, "imagen-3.0-capability-001", edit(raw(8, 4), mask(own))))
	if size, _ := decodePicture(t, list[0]); size != image.Pt(256, 128) {
		t.Errorf("an edit of %v", size)
	}
	bare := `{"referenceType":"REFERENCE_TYPE_MASK","referenceId":2,"maskImageConfig":{"maskMode":"MASK_MODE_FOREGROUND"}}`
	if a := drawAt(t, s, "imagen-3.0-capability-001", edit(raw(8, 4), bare)); a.status != 200 {
		t.Errorf("%d %s", a.status, a.body)
	}
	for name, body := range map[string]string{
		"no image":               edit(),
		"two images":             edit(raw(8, 4), raw(8, 4)),
		"a mask of another size": edit(raw(8, 8), mask(own)),
		"a mask without a mode":  edit(raw(8, 4), mask(``)),
		"a mask that is missing": edit(raw(8, 4), strings.Replace(bare, "FOREGROUND", "USER_PROVIDED", 1)),
		"too much dilation":      edit(raw(8, 4), mask(`"maskMode":"MASK_MODE_USER_PROVIDED","dilation":2`)),
		"no id":                  edit(strings.Replace(raw(8, 4), `"referenceId":1,`, "", 1)),
		"another kind":           edit(strings.Replace(raw(8, 4), "RAW", "ODD", 1)),
		"not base64":             edit(`{"referenceType":"REFERENCE_TYPE_RAW","referenceId":1,"referenceImage":{"bytesBase64Encoded":"?"}}`),
		"no picture":             edit(`{"referenceType":"REFERENCE_TYPE_RAW","referenceId":1,"referenceImage":{"bytesBase64Encoded":"AAAA"}}`),
		"a URL":                  edit(`{"referenceType":"REFERENCE_TYPE_RAW","referenceId":1,"referenceImage":{"gcsUri":"https://x/a.png"}}`),
	} {
		if a := drawAt(t, s, "imagen-3.0-capability-001", body); a.status != 400 {
			t.Errorf("%s: %d %s", name, a.status, a.body)
		}
	}
}

func TestImagesThatThePlatformRefuses(t *testing.T) {
	s := vertextest.New()
	for _, tt := range []struct {
		model, parameters string
		status            int
	}{
		{"imagen-4.0-generate-001", `"sampleCount":0`, 400},
		{"imagen-4.0-generate-001", `"sampleCount":5`, 400},
		{"imagen-4.0-generate-001", `"aspectRatio":"3:2"`, 400},
		{"imagen-4.0-generate-001", `"sampleImageSize":"4K"`, 400},
		{"imagen-3.0-generate-002", `"sampleImageSize":"2K"`, 400},
		{"imagen-4.0-generate-001", `"negativePrompt":"rain"`, 400},
		{"imagen-3.0-fast-generate-001", `"negativePrompt":"rain"`, 200},
		{"imagen-4.0-generate-001", `"seed":1`, 400},
		{"imagen-4.0-generate-001", `"seed":0,"addWatermark":false`, 400},
		{"imagen-4.0-generate-001", `"personGeneration":"ALLOW_ALL"`, 400},
		{"imagen-4.0-generate-001", `"safetySetting":"none"`, 400},
		{"imagen-4.0-generate-001", `"outputOptions":{"mimeType":"image/webp"}`, 400},
		{"imagen-4.0-generate-001", `"outputOptions":{"compressionQuality":101}`, 400},
		{"imagen-4.0-generate-001", `"storageUri":"b/c"`, 400},
		{"imagen-4.0-generate-001", `"editMode":"EDIT_MODE_DEFAULT"`, 400},
		{"imagen-4.0-generate-001", `"sample_count":1`, 400},
		{"imagen-4.0-generate-001", `"zeta":1`, 400},
		{"imagen-4.0-generate-001", `"sampleCount":"1"`, 400},
		{"imagen-9.0-generate-001", ``, 404},
		{"imagen-4.0-generate-odd", ``, 404},
	} {
		if a := drawAt(t, s, tt.model, `{"instances":[{"prompt":"a"}],"parameters":{`+tt.parameters+`}}`); a.status != tt.status {
			t.Errorf("%s %s: %d %s", tt.model, tt.parameters, a.status, a.body)
		}
	}
	for _, body := range []string{`{}`, `{"instances":[]}`, `{"instances":[{"prompt":" "}]}`, `{"instances":[{"prompt":"a"},{"prompt":"b"}]}`,
		`{"instances":[{"prompt":"a","x":1}]}`, `{"instances":[{"prompt":"a"}],"x":1}`, `[`} {
		if a := drawAt(t, s, "imagen-4.0-generate-001", body); a.status != 400 {
			t.Errorf("%s: %d %s", body, a.status, a.body)
		}
	}
	if a := post(t, s, place+"publishers/google/models/imagen-4.0-generate-001:predict", `{"instances":[{"prompt":"a"}]}`); a.status != 404 {
		t.Errorf("%d in global", a.status)
	}
	lax := vertextest.New(vertextest.WithoutChecks())
	for _, body := range []string{`{"instances":[{}],"parameters":{"sampleCount":1000000000}}`, `{"instances":[{}],"parameters":{"sampleCount":-1}}`} {
		if a := drawAt(t, lax, "imagen-3.0-capability-001", body); a.status != 200 {
			t.Errorf("%d %s", a.status, a.body)
		}
	}
}

func TestRankingMeansSomething(t *testing.T) {
	s := vertextest.New()
	a := post(t, s, rankPlace, `{"model":"semantic-ranker-default@latest","query":"capital of France","topN":2,"records":[
		{"id":"a","content":"Berlin is in Germany."},{"id":"b","title":"Paris","content":"the capital of France"},{"id":"c","title":"France"}]}`)
	var got struct{ Records []map[string]any }
	if err := json.Unmarshal(a.body, &got); err != nil || a.status != 200 {
		t.Fatalf("%d %s", a.status, a.body)
	}
	want := []map[string]any{{"id": "b", "title": "Paris", "content": "the capital of France", "score": 1.0}, {"id": "c", "title": "France", "score": 0.46}}
	if diff := cmp.Diff(want, got.Records); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	a = post(t, s, rankPlace, `{"query":"x","records":[{"id":"a","content":"y"}],"ignoreRecordDetailsInResponse":true,"userLabels":{"a":"b"}}`)
	if got := string(bytes.Join(bytes.Fields(a.body), nil)); got != `{"records":[{"id":"a","score":0.0001}]}` {
		t.Errorf("%s", got)
	}
}

func TestRankingsThatThePlatformRefuses(t *testing.T) {
	s := vertextest.New()
	records := func(n int) string {
		list := make([]string, n)
		for i := range list {
			list[i] = `{"id":"` + strings.Repeat("x", i+1) + `","content":"c"}`
		}
		return `{"query":"q","records":[` + strings.Join(list, ",") + `]}`
	}
	for name, body := range map[string]string{
		"no query": `{"records":[{"id":"a","content":"c"}]}`, "no records": records(0), "too many": records(201),
		"no id": `{"query":"q","records":[{"content":"c"}]}`, "an id twice": `{"query":"q","records":[{"id":"a","content":"c"},{"id":"a","content":"c"}]}`,
		"nothing to read": `{"query":"q","records":[{"id":"a"}]}`, "a score": `{"query":"q","records":[{"id":"a","content":"c","score":1}]}`,
		"another model": `{"model":"m","query":"q","records":[{"id":"a","content":"c"}]}`, "an unknown member": `{"query":"q","top_n":1,"records":[{"id":"a","content":"c"}]}`,
		"an unknown member of a record": `{"query":"q","records":[{"id":"a","text":"c"}]}`, "a text for a number": `{"query":"q","topN":"1","records":[]}`, "no JSON": `{`,
	} {
		if a := post(t, s, rankPlace, body); a.status != 400 {
			t.Errorf("%s: %d %s", name, a.status, a.body)
		}
	}
	if a := post(t, s, rankPlace, records(200)); a.status != 200 {
		t.Errorf("%d %s", a.status, a.body)
	}
	for _, url := range []string{strings.Replace(rankPlace, "global", "us-central1", 1), strings.Replace(rankPlace, "default_ranking_config", "other", 1)} {
		if a := post(t, s, url, records(1)); a.status != 404 {
			t.Errorf("%s: %d %s", url, a.status, a.body)
		}
	}
	r := newPost(t, rankPlace, records(1))
	r.Header.Del("Authorization")
	if a := do(t, s, r); a.status != 401 {
		t.Errorf("%d without a token", a.status)
	}
}

func FuzzImagenAndRank(f *testing.F) {
	f.Add(`{"instances":[{"prompt":"a","referenceImages":[{"referenceType":"REFERENCE_TYPE_RAW","referenceId":1,"referenceImage":{"bytesBase64Encoded":"AAAA"}}]}],"parameters":{"sampleCount":1}}`)
	f.Add(`{"query":"q","records":[{"id":"a","content":"c"}],"topN":-1}`)
	f.Fuzz(func(t *testing.T, body string) {
		for _, s := range []*vertextest.Server{vertextest.New(), vertextest.New(vertextest.WithoutChecks())} {
			for _, url := range []string{imagenPlace + "imagen-4.0-generate-001:predict", imagenPlace + "imagen-3.0-capability-001:predict", rankPlace} {
				if a := post(t, s, url, body); a.status >= 500 {
					t.Fatalf("%s: %d %s", body, a.status, a.body)
				}
			}
			s.Close()
		}
	})
}
