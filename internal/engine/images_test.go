package engine

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"image"
	"image/color"
	"image/png"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/catalog"
	"github.com/b650d4bf/gateway/internal/jsonx"
	"github.com/b650d4bf/gateway/providers"
)

// serviceTables are the tables of requests beside texts, with what each row says
// of the schema.
func serviceTables() map[string]struct {
	request json.Marshaler
	rows    []imageParam
} {
	image, speech, rerank := new(providers.ImageRequest), new(providers.SpeechRequest), new(providers.RerankRequest)
	fill(reflect.ValueOf(image).Elem())
	fill(reflect.ValueOf(speech).Elem())
	fill(reflect.ValueOf(rerank).Elem())
	var spoken, ranked []imageParam
	for _, p := range speechParams {
		spoken = append(spoken, imageParam{p.name, p.at, p.at, p.note, p.link, p.extension})
	}
	for _, p := range rerankParams {
		ranked = append(ranked, imageParam{p.name, p.at, p.at, p.note, p.link, p.extension})
	}
	return map[string]struct {
		request json.Marshaler
		rows    []imageParam
	}{"images": {image, imageParams}, "speech": {speech, spoken}, "rerank": {rerank, ranked}}
}

func TestEveryMemberOfAServiceRequestHasOneRow(t *testing.T) {
	for family, table := range serviceTables() {
		data, err := table.request.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		members := 0
		for name := range jsonx.Members(data) {
			members++
			rows := 0
			for _, p := range table.rows {
				if p.name == name && !p.extension {
					rows++
				}
			}
			if rows != 1 {
				t.Errorf("%s of %s has %d rows, want 1", name, family, rows)
			}
		}
		if fields := reflect.TypeOf(table.request).Elem().NumField() - 1; members != fields { // Extra is no member
			t.Errorf("%d members of %s were encoded, and there are %d fields", members, family, fields)
		}
		seen := map[string]bool{}
		for _, p := range table.rows {
			if u, err := url.ParseRequestURI(p.link); err != nil || u.Scheme != "https" {
				t.Errorf("%s of %s has the link %q", p.name, family, p.link)
			}
			if seen[p.name] || p.name != strings.ToLower(p.name) {
				t.Errorf("%s of %s is there twice", p.name, family)
			}
			seen[p.name] = true
			for _, at := range []embedPlace{p.predict, p.content} {
				if sent := at.action == forward || at.action == translate; sent != (at.wire != "") || at.action == 0 {
					t.Errorf("%s of %s: %+v", p.name, family, at)
				}
			}
		}
	}
}

// TestNothingOfAnImageRequestVanishes sends each member to each method and wants
// it in the body, in a warning or in an error, as its row says.
func TestNothingOfAnImageRequestVanishes(t *testing.T) {
	values := map[string]string{
		"n": "2", "size": `"1792x1024"`, "aspect_ratio": `"16:9"`, "image_size": `"2K"`, "quality": `"high"`, "style": `"vivid"`, "background": `"transparent"`,
		"output_format": `"jpeg"`, "output_compression": "50", "moderation": `"low"`, "input_fidelity": `"high"`, "partial_images": "1",
		"negative_prompt": `"n"`, "seed": "7", "storage_uri": `"gs://b/c"`, "labels": `{"a":"b"}`, "add_watermark": "false", "person_generation": `"allow_all"`,
		"safety_setting": `"block_none"`, "language": `"en"`, "enhance_prompt": "true", "guidance_scale": "5", "include_rai_reason": "true",
		"include_safety_attributes": "true", "edit_mode": `"EDIT_MODE_OUTPAINT"`, "base_steps": "3", "mask_mode": `"MASK_MODE_BACKGROUND"`, "mask_dilation": "0.1",
		"parameters": `{"guidanceScale":3}`, "image_config": `{"prominentPeople":"x"}`, "safety_settings": `[{"category":"a"}]`, "safety_identifier": `"s"`,
		"mask": `"gs://b/mask.png"`,
	}
	for _, model := range []string{"imagen-9", "gemini-3-pro-image"} { // of which the first one takes all that its method has
		for i := range imageParams {
			p := &imageParams[i]
			value, ok := values[p.name]
			at := p.predict
			if strings.HasPrefix(model, "gemini") {
				at = p.content
			}
			if !ok || at.action == local {
				continue
			}
			edit := p.name == "mask" || strings.HasPrefix(p.name, "mask_")
			sent, warnings, err := asked(t, model, p.name, value, edit)
			told := slices.ContainsFunc(warnings, func(w providers.Warning) bool { return w.Param == p.name })
			switch at.action {
			case warn:
				if !told || err != nil {
					t.Errorf("%s to %s: no warning in %v, %v", p.name, model, warnings, err)
				}
			case reject:
				if e, ok := failure(err); !ok || e.Param != p.name {
					t.Errorf("%s to %s: %v", p.name, model, err)
				}
			default:
				place := lastSegment(strings.Split(at.wire, ", ")[0])
				switch {
				case place == "(requests)":
					continue
				case p.name == "parameters":
					place = "guidanceScale"
				}
				if err != nil || !strings.Contains(sent, place) && !strings.Contains(sent, snake(place)) {
					t.Errorf("%s to %s is nowhere in %s, %v", p.name, model, sent, err)
				}
			}
		}
	}
}

// asked returns what is sent for the member, or goes to a conversation.
func asked(t *testing.T, model, name, value string, edit bool) (string, []providers.Warning, error) {
	t.Helper()
	body := `{"model":"` + model + `","prompt":"p","` + name + `":` + value + `}`
	if edit {
		body = strings.TrimSuffix(body, "}") + `,"image":"gs://b/a.png"}`
	}
	if name == "mask_dilation" {
		body = strings.TrimSuffix(body, "}") + `,"mask_mode":"m"}`
	}
	if name == "output_compression" {
		body = strings.TrimSuffix(body, "}") + `,"output_format":"jpeg"}`
	}
	q := new(providers.ImageRequest)
	if err := q.UnmarshalJSON([]byte(body)); err != nil {
		t.Fatal(err)
	}
	d := newDrawing(t, q)
	if err := d.prepare(); err != nil {
		return "", nil, err
	}
	if d.row.Method == catalog.ImageContent {
		chat, err := d.chat()
		if err != nil {
			t.Fatal(err)
		}
		if d.q.Seed != nil {
			chat.Seed = d.q.Seed
		}
		data, err := chat.MarshalJSON()
		return string(data), d.warnings, err
	}
	labels, err := d.labelsOf(d.q.Labels, nil)
	if err != nil {
		t.Fatal(err)
	}
	var w jsonx.Writer
	err = d.body(&w, 0, d.count, labels)
	return string(w.Bytes()), d.warnings, err
}

func newDrawing(tb testing.TB, q *providers.ImageRequest) *drawing {
	tb.Helper()
	p := New(Config{}, testSite{})
	tb.Cleanup(func() { _ = p.Close() })
	own := *q
	return &drawing{p: p, t: &providers.Target{Model: q.Model}, q: &own}
}

func TestSizesBecomeTheNearestShape(t *testing.T) {
	for _, tt := range []struct {
		model, size, ratio, edge string
		adjusted                 bool
	}{
		{"imagen-4.0-generate-001", "1024x1024", "1:1", "", false},
		{"imagen-4.0-generate-001", "256x256", "1:1", "", true},
		{"imagen-4.0-generate-001", "2048x2048", "1:1", "2K", false},
		{"imagen-4.0-generate-001", "1536x1024", "4:3", "", true},
		{"imagen-4.0-generate-001", "1024x1792", "9:16", "", true},
		{"imagen-4.0-generate-001", "3840x2160", "16:9", "2K", true},
		{"imagen-3.0-generate-002", "4096x4096", "1:1", "", true},
		{"gemini-3.1-flash-image", "512x512", "1:1", "512", false},
		{"gemini-3.1-flash-image", "256x1024", "1:4", "512", true},
		{"gemini-3-pro-image", "4096x4096", "1:1", "4K", false},
		{"gemini-2.5-flash-image", "1536x1024", "3:2", "", true},
		{"gemini-2.5-flash-image", "auto", "", "", false},
	} {
		d := newDrawing(t, &providers.ImageRequest{Model: tt.model, Prompt: "p", Size: tt.size})
		if err := d.prepare(); err != nil {
			t.Fatal(err)
		}
		if d.ratio != tt.ratio || d.size != tt.edge || (len(d.warnings) > 0) != tt.adjusted {
			t.Errorf("%s of %s is %q %q, warnings %v", tt.size, tt.model, d.ratio, d.size, d.warnings)
		}
	}
	for _, size := range []string{"1024", "x", "0x1", "1x0", "-1x1", "1x1x1", "99999999x1", "1024X1024", "1e3x1"} {
		d := newDrawing(t, &providers.ImageRequest{Model: "imagen-4.0-generate-001", Prompt: "p", Size: size})
		if e, ok := failure(d.prepare()); !ok || e.Param != "size" {
			t.Errorf("%s: %v", size, e)
		}
	}
}

func TestADilationNeedsAMask(t *testing.T) {
	d := newDrawing(t, &providers.ImageRequest{
		Model: "imagen-3.0-capability-001", Prompt: "p", Images: []providers.ImageInput{{URL: "gs://b/a.png"}}, Extra: providers.Extra(`{"mask_dilation":0.1}`),
	})
	if err := d.prepare(); err != nil || len(d.warnings) != 1 || d.warnings[0].Param != "mask_dilation" {
		t.Errorf("%v, %v", err, d.warnings)
	}
}

func TestAMaskIsTurnedOver(t *testing.T) {
	seen := image.NewNRGBA(image.Rect(0, 0, 3, 1))
	for x, alpha := range []uint8{0, 128, 255} {
		seen.SetNRGBA(x, 0, color.NRGBA{R: 9, A: alpha})
	}
	m, err := inverted(media{mime: "image/png", base64: encodePNG(t, seen)})
	if err != nil {
		t.Fatal(err)
	}
	raw, err := base64.StdEncoding.DecodeString(m.base64)
	if err != nil {
		t.Fatal(err)
	}
	got, err := png.Decode(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	var white []bool
	for x := range 3 {
		r, _, _, _ := got.At(x, 0).RGBA()
		white = append(white, r == 0xffff)
	}
	if diff := gocmp.Diff([]bool{true, false, false}, white); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	opaque := media{mime: "image/png", base64: encodePNG(t, image.NewGray(image.Rect(0, 0, 2, 2)))}
	if m, err = inverted(opaque); err != nil || m.base64 != opaque.base64 {
		t.Errorf("a mask without transparency was changed, %v", err)
	}
	for name, text := range map[string]string{"no PNG": "AAAA", "a cut one": opaque.base64[:60], "not base64": "?"} {
		if _, err := inverted(media{mime: "image/png", base64: text}); !codeIs(err, providers.ErrInvalidRequest) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func encodePNG(t *testing.T, img image.Image) string {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(b.Bytes())
}

func TestWrongImageRequestsNameTheMember(t *testing.T) {
	for _, tt := range []struct{ body, param string }{
		{`{"model":"imagen-4.0-generate-001","add_watermark":"yes"}`, "add_watermark"},
		{`{"model":"imagen-4.0-generate-001","guidanceScale":"5"}`, "guidanceScale"},
		{`{"model":"imagen-4.0-generate-001","parameters":[]}`, "parameters"},
		{`{"model":"imagen-4.0-generate-001","moderation":"high"}`, "moderation"},
		{`{"model":"gemini-2.5-flash-image","moderation":"high"}`, "moderation"},
		{`{"model":"imagen-4.0-generate-001","seed":0}`, "seed"},
		{`{"model":"imagen-4.0-generate-001","seed":4294967296}`, "seed"},
		{`{"model":"imagen-4.0-generate-001","image_size":"4K"}`, "image_size"},
		{`{"model":"imagen-4.0-generate-001","output_format":"gif"}`, "output_format"},
		{`{"model":"imagen-3.0-capability-001","image":["gs://b/a.png","gs://b/c.png"]}`, "image"},
		{`{"model":"imagen-3.0-capability-001","image":"gs://b/a.mp4"}`, "image"},
		{`{"model":"imagen-3.0-capability-001","image":"gs://b/a.png","mask":"data:,x"}`, "mask"},
		{`{"model":"anthropic.claude-sonnet-5"}`, "model"},
	} {
		q := new(providers.ImageRequest)
		if err := q.UnmarshalJSON([]byte(strings.Replace(tt.body, "{", `{"prompt":"p",`, 1))); err != nil {
			t.Fatal(err)
		}
		if e, ok := failure(newDrawing(t, q).prepare()); !ok || e.Param != tt.param || e.Sent {
			t.Errorf("%s: %v, want %s", tt.body, e, tt.param)
		}
	}
}

func FuzzImageBody(f *testing.F) {
	for _, body := range []string{
		`{"model":"imagen-4.0-generate-001","prompt":"p","n":3,"size":"1x9","seed":4,"parameters":{"a":1,"":2,"seed":3},"personGeneration":"X","z":1}`,
		`{"model":"imagen-3.0-capability-001","prompt":"p","image":{"b64_json":"AA=="},"mask":"data:image/png;base64,AA==","mask_mode":"m","mask_dilation":1e9}`,
		`{"model":"gemini-3-pro-image","prompt":"\"","image":["gs://b/a.png"],"image_config":{"imageSize":1},"temperature":"x","person_generation":"a"}`,
	} {
		f.Add([]byte(body))
	}
	p := New(Config{}, testSite{})
	f.Fuzz(func(t *testing.T, body []byte) {
		q := new(providers.ImageRequest)
		if q.UnmarshalJSON(body) != nil || q.Validate() != nil {
			return
		}
		d := &drawing{p: p, t: &providers.Target{Model: q.Model}, q: q}
		if d.prepare() != nil {
			return
		}
		if d.row.Method == catalog.ImageContent {
			chat, err := d.chat()
			if err != nil {
				return
			}
			if data, err := chat.MarshalJSON(); err != nil || !json.Valid(data) {
				t.Fatalf("%s became %s, %v", body, data, err)
			}
			return
		}
		labels, err := d.labelsOf(q.Labels, nil)
		if err != nil {
			return
		}
		var w jsonx.Writer
		if err := d.body(&w, 0, 1, labels); err != nil || !json.Valid(w.Bytes()) {
			t.Fatalf("%s became %s, %v", body, w.Bytes(), err)
		}
	})
}
