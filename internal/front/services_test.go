package front

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/textproto"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/providers"
)

const (
	drawPath  = "/v1/images/generations"
	editPath  = "/v1/images/edits"
	speakPath = "/v1/audio/speech"
	rankPath  = "/v1/rerank"
)

// field is one field of a form: a value, or a file with a type.
type field struct{ name, value, file, kind string }

// form returns a form and its content type.
func form(t *testing.T, fields ...field) (body, kind string) {
	t.Helper()
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for _, f := range fields {
		h := textproto.MIMEHeader{}
		head := `form-data; name="` + f.name + `"`
		if f.file != "" {
			head += `; filename="` + f.file + `"`
			h.Set("Content-Type", f.kind)
		}
		h.Set("Content-Disposition", head)
		part, err := w.CreatePart(h)
		if err == nil {
			_, err = io.WriteString(part, f.value)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String(), w.FormDataContentType()
}

// submit posts a form.
func submit(t *testing.T, cfg Config, b Backend, body, kind string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, editPath, strings.NewReader(body))
	r.Header.Set("Content-Type", kind)
	w := httptest.NewRecorder()
	New(cfg, b).ServeHTTP(w, r)
	return w
}

func drawn() fakeServices {
	return fakeServices{drawn: &providers.ImageResponse{Created: 7, Data: []providers.Image{{B64JSON: "AA=="}}, Meta: providers.Meta{
		Provider: "vertex-ai", Warnings: []providers.Warning{{Code: "c", Param: "size", Message: "m"}},
	}}}
}

func TestImagesOfEitherKindOfBody(t *testing.T) {
	body, kind := form(t,
		field{name: "model", value: "m"}, field{name: "prompt", value: "12"}, field{name: "n", value: "2"}, field{name: "size", value: "1024x1024"},
		field{name: "image[]", value: "PNG", file: "a.png", kind: "image/png"}, field{name: "image[]", value: "raw", file: "b", kind: "application/octet-stream"},
		field{name: "image", value: "gs://b/c.png"}, field{name: "mask", value: "M", file: "m.png", kind: "image/png; x=y"},
		field{name: "output_compression", value: "50"}, field{name: "user", value: "7"}, field{name: "stream", value: "false"}, field{name: "seed", value: "-3"},
		field{name: "parameters", value: `{"a":[1]}`}, field{name: "zeta", value: "one two"}, field{name: "add_watermark", value: "true"},
	)
	b := &fake{fakeServices: drawn()}
	w := submit(t, Config{}, b, body, kind)
	want := &providers.ImageRequest{
		Model: "m", Prompt: "12", N: new(2), Size: "1024x1024", OutputCompression: new(50), User: "7", Seed: new(int64(-3)),
		Images: []providers.ImageInput{{Base64: "UE5H", MimeType: "image/png"}, {Base64: "cmF3"}, {URL: "gs://b/c.png"}},
		Mask:   &providers.ImageInput{Base64: "TQ==", MimeType: "image/png"},
		Extra:  providers.Extra(`{"parameters":{"a":[1]},"zeta":"one two","add_watermark":true}`),
	}
	if diff := cmp.Diff(want, b.image); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if got := w.Body.String(); w.Code != 200 || got != `{"created":7,"data":[{"b64_json":"AA=="}]}` || !strings.Contains(w.Header().Get(headerWarnings), `"size"`) {
		t.Errorf("%d %s %v", w.Code, got, w.Header())
	}
	b = &fake{fakeServices: drawn()}
	if res := ask(t, Config{}, b, "POST", editPath, `{"model":"m","prompt":"p","image":"u"}`); res.StatusCode != 200 || b.image.Images[0].URL != "u" {
		t.Errorf("%d, %+v", res.StatusCode, b.image)
	}
	b = &fake{fakeServices: drawn()}
	if res := ask(t, Config{}, b, "POST", drawPath, `{"model":"m","prompt":"p"}`); res.StatusCode != 200 || b.image.Prompt != "p" {
		t.Errorf("%d, %+v", res.StatusCode, b.image)
	}
}

func TestImageBodiesThatAreRefused(t *testing.T) {
	file := field{name: "image", value: "x", file: "a.png", kind: "image/png"}
	whole, kind := form(t, field{name: "model", value: "m"}, file)
	many := make([]field, maxFields+1)
	for i := range many {
		many[i] = field{name: "f" + strconv.Itoa(i), value: "x"}
	}
	forms := map[string]struct {
		fields []field
		param  string
	}{
		"no image":                 {[]field{{name: "model", value: "m"}}, "image"},
		"a number that is none":    {[]field{file, {name: "n", value: "two"}}, "n"},
		"a flag that is none":      {[]field{file, {name: "stream", value: "maybe"}}, "stream"},
		"an object for a number":   {[]field{file, {name: "seed", value: "{}"}}, "seed"},
		"a file of another name":   {[]field{file, {name: "prompt", value: "x", file: "p.txt", kind: "text/plain"}}, "prompt"},
		"a field without a name":   {[]field{file, {value: "x"}}, ""},
		"labels that are a text":   {[]field{file, {name: "labels", value: "a"}}, "labels"},
		"too many fields":          {many, ""},
		"no fields":                {nil, ""},
		"a fraction of an image":   {[]field{file, {name: "n", value: "1.5"}}, "n"},
		"a compression with words": {[]field{file, {name: "output_compression", value: "50%"}}, "output_compression"},
	}
	for name, tt := range forms {
		body, kind := form(t, tt.fields...)
		b := &fake{fakeServices: drawn()}
		w := submit(t, Config{}, b, body, kind)
		if got := paramOf(t, w.Body.Bytes()); w.Code != 400 || got != tt.param || b.image != nil {
			t.Errorf("%s: %d %s", name, w.Code, w.Body)
		}
	}
	for name, tt := range map[string]struct {
		body, kind string
		max        int64
		status     int
	}{
		"a form that is cut":     {whole[:len(whole)-30], kind, 0, 400},
		"a form without its end": {whole, "multipart/form-data", 0, 400},
		"another boundary":       {whole, "multipart/form-data; boundary=x", 0, 400},
		"a form that is long":    {whole, kind, 10, 413},
		"another form":           {"a=b", "application/x-www-form-urlencoded", 0, 415},
	} {
		if w := submit(t, Config{MaxBody: tt.max}, &fake{fakeServices: drawn()}, tt.body, tt.kind); w.Code != tt.status {
			t.Errorf("%s: %d %s", name, w.Code, w.Body)
		}
	}
	for _, tt := range []struct{ path, body, param string }{
		{drawPath, `{"model":"m","prompt":"p","image":"u"}`, "image"}, {editPath, `{"model":"m","prompt":"p"}`, "image"}, {drawPath, `{"n":"x"}`, "n"},
		{speakPath, `{"speed":"fast"}`, "speed"}, {rankPath, `{"documents":[1]}`, "documents[0]"},
	} {
		res := ask(t, Config{}, &fake{fakeServices: drawn()}, "POST", tt.path, tt.body)
		data, _ := io.ReadAll(res.Body)
		if res.StatusCode != 400 || paramOf(t, data) != tt.param {
			t.Errorf("%s: %d %s", tt.body, res.StatusCode, data)
		}
	}
}

// paramOf returns the member that an error is about.
func paramOf(t *testing.T, body []byte) string {
	t.Helper()
	var e struct{ Error struct{ Param *string } }
	if err := json.Unmarshal(body, &e); err != nil {
		t.Fatalf("%v in %s", err, body)
	}
	if e.Error.Param == nil {
		return ""
	}
	return *e.Error.Param
}

func TestFailuresOfServicesHaveTheEnvelope(t *testing.T) {
	refused := providers.Invalid("model", "m")
	for path, body := range map[string]string{
		drawPath: `{"model":"m","prompt":"p"}`, speakPath: `{"model":"m","input":"i","voice":"v"}`, rankPath: `{"model":"m","query":"q","documents":["a"]}`,
	} {
		res := ask(t, Config{}, &fake{fakeServices: fakeServices{failure: refused}}, "POST", path, body)
		if data, _ := io.ReadAll(res.Body); res.StatusCode != 400 || paramOf(t, data) != "model" {
			t.Errorf("%s: %d %s", path, res.StatusCode, data)
		}
		if res := ask(t, Config{}, &fake{}, "GET", path, ""); res.StatusCode != 405 || res.Header.Get("Allow") != "POST, OPTIONS" {
			t.Errorf("%s: %d", path, res.StatusCode)
		}
	}
	res := ask(t, Config{}, &fake{fakeServices: fakeServices{failure: refused}}, "POST", speakPath, `{"response_format":"pcm"}`)
	if res.StatusCode != 400 {
		t.Errorf("%d of a stream that does not begin", res.StatusCode)
	}
}

// utterance is speech in pieces, which ends in err.
type utterance struct {
	pieces []string
	err    error
	closed bool
}

func (u *utterance) Read(p []byte) (int, error) {
	if len(u.pieces) == 0 {
		return 0, u.err
	}
	n := copy(p, u.pieces[0])
	u.pieces = u.pieces[1:]
	return n, nil
}

func (u *utterance) Close() error       { u.closed = true; return nil }
func (*utterance) ContentType() string  { return "audio/pcm" }
func (*utterance) Meta() providers.Meta { return providers.Meta{Provider: "vertex-ai"} }

func TestSpeechComesAsBytes(t *testing.T) {
	file := fakeServices{spoken: &providers.SpeechResponse{Data: []byte("RIFF"), ContentType: "audio/wav"}}
	res := ask(t, Config{}, &fake{fakeServices: file}, "POST", speakPath, `{"model":"m"}`)
	if data, _ := io.ReadAll(res.Body); string(data) != "RIFF" || res.Header.Get("Content-Type") != "audio/wav" || res.Header.Get("Content-Length") != "4" {
		t.Errorf("%q %v", data, res.Header)
	}
	for _, tt := range []struct {
		err   error
		whole bool
	}{{io.EOF, true}, {errors.New("cut"), false}} {
		u := &utterance{pieces: []string{"one", "two"}, err: tt.err}
		srv := httptest.NewServer(New(Config{}, &fake{fakeServices: fakeServices{speech: u}}))
		res, err := srv.Client().Post(srv.URL+speakPath, "application/json", strings.NewReader(`{"response_format":"pcm"}`)) //nolint:noctx // of the test's own server
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(res.Body)
		_ = res.Body.Close()
		srv.Close()
		if string(data) != "onetwo" || (err == nil) != tt.whole || !u.closed || res.Header.Get(headerProvider) != "vertex-ai" {
			t.Errorf("%q, %v, %v", data, err, res.Header)
		}
	}
}

func TestRerankOverHTTP(t *testing.T) {
	b := &fake{fakeServices: fakeServices{ranked: &providers.RerankResponse{Model: "m", Results: []providers.RerankResult{{Index: 1, RelevanceScore: 0.25}}}}}
	res := ask(t, Config{}, b, "POST", rankPath, `{"model":"m","query":"q","documents":["a",{"text":"b","id":"1"}],"top_n":1}`)
	data, _ := io.ReadAll(res.Body)
	if want := `{"object":"list","model":"m","results":[{"index":1,"relevance_score":0.25}]}`; string(data) != want || len(b.ranking.Documents) != 2 {
		t.Errorf("%s, %+v", data, b.ranking)
	}
}

func FuzzForm(f *testing.F) {
	f.Add([]byte("--x\r\nContent-Disposition: form-data; name=\"n\"\r\n\r\n2\r\n--x\r\nContent-Disposition: form-data; name=\"image[]\"; filename=\"a\"\r\n\r\nPNG\r\n--x--\r\n"))
	f.Add([]byte("--x\r\nContent-Disposition: form-data; name=\"\xff\"\r\n\r\n\xff\r\n--x--\r\n"))
	f.Fuzz(func(t *testing.T, form []byte) {
		body, err := formJSON(form, "x")
		if err != nil {
			return
		}
		if !json.Valid(body) {
			t.Fatalf("%q became %q", form, body)
		}
		_ = new(providers.ImageRequest).UnmarshalJSON(body)
	})
}
