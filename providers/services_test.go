package providers_test

import (
	"encoding/base64"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/providers"
)

// The documents of this table come out byte for byte as they go in.
func TestServicesKeepEveryByte(t *testing.T) {
	all := recoders()
	for _, tt := range []struct{ kind, doc string }{
		{"ImageRequest", `{"model":"m","prompt":"p","image":[{"url":"gs://b/a.png","mime_type":"image/png","x":1}],"mask":{"base64":"AA=="},"n":2,` +
			`"size":"1x1","aspect_ratio":"1:1","image_size":"2K","quality":"high","style":"vivid","background":"opaque","output_format":"png",` +
			`"moderation":"low","response_format":"url","input_fidelity":"high","negative_prompt":"n","storage_uri":"gs://b","user":"u",` +
			`"output_compression":0,"partial_images":0,"stream":true,"seed":-1,"labels":{"a":"b"},"zeta":1.50,"alpha":[ 1 ]}`},
		{"ImageResponse", `{"created":7,"data":[{"b64_json":"AA==","revised_prompt":"p","text":"t"},{"url":"gs://b/a.png"}],"background":"opaque",` +
			`"output_format":"png","quality":"high","size":"1x1","provider":"vertex-ai","usage":{"input_tokens":1,"output_tokens":2,"total_tokens":3,` +
			`"input_tokens_details":{"text_tokens":1,"image_tokens":0},"x":1},"z":3}`},
		{"SpeechRequest", `{"voice":"Kore","model":"m","input":"i","instructions":"s","response_format":"wav","stream_format":"audio","language_code":"de-DE",` +
			`"user":"u","speed":1.5,"labels":{"a":"b"},"zeta":1.50}`},
		{"RerankRequest", `{"model":"m","query":"q","documents":["a",{"id":"1","title":"t","text":"b","url":"u"}],"top_n":1,"return_documents":false,` +
			`"labels":{"a":"b"},"user":"u","zeta":1.50}`},
		{"RerankResponse", `{"object":"list","model":"m","results":[{"index":1,"relevance_score":0.5,"document":{"text":"b"},"x":1}],"provider":"vertex-ai","z":3}`},
	} {
		t.Run(tt.kind, func(t *testing.T) {
			got, err := all[tt.kind]([]byte(tt.doc))
			if err != nil {
				t.Fatal(err)
			}
			wantEqual(t, tt.doc, string(got))
		})
	}
}

func TestImagesComeInTheFormsThatClientsHave(t *testing.T) {
	want := []providers.ImageInput{{URL: "u"}}
	for _, doc := range []string{
		`{"image":"u"}`, `{"image":["u"]}`, `{"image":{"url":"u"}}`, `{"images":[{"image_url":"u"}]}`, `{"images":[{"image_url":{"url":"u","detail":"high"}}]}`,
	} {
		if diff := cmp.Diff(want, decode[providers.ImageRequest](t, doc).Images); diff != "" {
			t.Errorf("%s (-want +got)\n%s", doc, diff)
		}
	}
	q := decode[providers.ImageRequest](t, `{"image":[{"b64_json":"AA=="},"v"],"images":["w"],"mask":null}`)
	if diff := cmp.Diff([]providers.ImageInput{{Base64: "AA=="}, {URL: "v"}, {URL: "w"}}, q.Images); diff != "" || q.Mask != nil {
		t.Errorf("(-want +got)\n%s", diff)
	}
	deep := `{"images":[` + strings.Repeat(`{"image_url":`, 100_000) + `"u"` + strings.Repeat(`}`, 100_000) + `]}`
	if new(providers.ImageRequest).UnmarshalJSON([]byte(deep)) == nil {
		t.Error("a nest of URLs was read")
	}
}

func TestWrongServiceRequestsNameTheMember(t *testing.T) {
	type checked interface {
		UnmarshalJSON(data []byte) error
		Validate() error
	}
	kinds := map[string]func() checked{
		"images": func() checked { return new(providers.ImageRequest) },
		"speech": func() checked { return new(providers.SpeechRequest) },
		"rerank": func() checked { return new(providers.RerankRequest) },
	}
	for _, tt := range []struct{ kind, doc, param string }{
		{"images", `{"prompt":"p"}`, "model"},
		{"images", `{"model":"m","prompt":" "}`, "prompt"},
		{"images", `{"model":"m","prompt":"p","n":0}`, "n"},
		{"images", `{"model":"m","prompt":"p","n":11}`, "n"},
		{"images", `{"model":"m","prompt":"p","output_compression":101}`, "output_compression"},
		{"images", `{"model":"m","prompt":"p","response_format":"png"}`, "response_format"},
		{"images", `{"model":"m","prompt":"p","stream":true}`, "stream"},
		{"images", `{"model":"m","prompt":"p","mask":"u"}`, "mask"},
		{"images", `{"model":"m","prompt":"p","storage_uri":"https://x"}`, "storage_uri"},
		{"images", `{"model":"m","prompt":"p","image":{}}`, "image"},
		{"images", `{"model":"m","prompt":"p","image":["u",{"url":"u","base64":"AA=="}]}`, "image[1]"},
		{"images", `{"model":"m","prompt":"p","images":[{"file_id":"f"}]}`, "image.file_id"},
		{"images", `{"model":"m","prompt":"p","image":"u","mask":{"mime_type":"image/png"}}`, "mask"},
		{"speech", `{"input":"i","voice":"v"}`, "model"},
		{"speech", `{"model":"m","input":"","voice":"v"}`, "input"},
		{"speech", `{"model":"m","input":"i"}`, "voice"},
		{"speech", `{"model":"m","input":"i","voice":{}}`, "voice"},
		{"speech", `{"model":"m","input":"i","voice":"v","speed":0.2}`, "speed"},
		{"speech", `{"model":"m","input":"i","voice":"v","speed":4.1}`, "speed"},
		{"speech", `{"model":"m","input":"i","voice":"v","response_format":"ogg"}`, "response_format"},
		{"speech", `{"model":"m","input":"i","voice":"v","stream_format":"json"}`, "stream_format"},
		{"rerank", `{"query":"q","documents":["a"]}`, "model"},
		{"rerank", `{"model":"m","query":" ","documents":["a"]}`, "query"},
		{"rerank", `{"model":"m","query":"q"}`, "documents"},
		{"rerank", `{"model":"m","query":"q","documents":[]}`, "documents"},
		{"rerank", `{"model":"m","query":"q","documents":["a",""]}`, "documents[1]"},
		{"rerank", `{"model":"m","query":"q","documents":[{"id":"1"}]}`, "documents[0]"},
		{"rerank", `{"model":"m","query":"q","documents":["a"],"top_n":0}`, "top_n"},
		{"rerank", `{"model":"m","query":"q","documents":["a"],"top_n":-1}`, "top_n"},
		{"rerank", `{"model":"m","query":"q","documents":[` + strings.Repeat(`"a",`, 10_000) + `"a"]}`, "documents"},
	} {
		q := kinds[tt.kind]()
		if err := q.UnmarshalJSON([]byte(tt.doc)); err != nil {
			t.Fatal(err)
		}
		e, ok := errors.AsType[*providers.Error](q.Validate())
		if !ok || e.Param != tt.param || e.Code != providers.ErrInvalidRequest || e.Message == "" {
			t.Errorf("%s %.80s: %v, want %s", tt.kind, tt.doc, e, tt.param)
		}
	}
	for _, tt := range []struct{ kind, doc, path string }{
		{"images", `{"n":"2"}`, "n"}, {"images", `{"prompt":["p"]}`, "prompt"}, {"images", `{"size":1024}`, "size"},
		{"images", `{"images":[{"image_url":3}]}`, "images[0].image_url"}, {"images", `{"labels":{"a":1}}`, "labels.a"}, {"images", `[]`, ""},
		{"speech", `{"voice":3}`, "voice"}, {"speech", `{"speed":"1"}`, "speed"}, {"rerank", `{"documents":[1]}`, "documents[0]"},
		{"rerank", `{"documents":"a"}`, "documents"}, {"rerank", `{"return_documents":1}`, "return_documents"},
	} {
		err := kinds[tt.kind]().UnmarshalJSON([]byte(tt.doc))
		if err == nil || !strings.Contains(err.Error(), tt.path) {
			t.Errorf("%s %s: %v, want %q in it", tt.kind, tt.doc, err, tt.path)
		}
	}
	two := providers.SpeechRequest{Model: "m", Input: "i", Extra: providers.Extra(`{"speechConfig":{}}`)}
	if err := two.Validate(); err != nil {
		t.Error(err)
	}
}

func TestBytesOfADrawnImage(t *testing.T) {
	png := "\x89PNG\r\n\x1a\n...."
	packed := base64.StdEncoding.EncodeToString([]byte(png))
	for _, i := range []providers.Image{{B64JSON: packed}, {URL: "data:image/png;base64," + packed}} {
		if data, mime, err := i.Bytes(); err != nil || string(data) != png || mime != "image/png" {
			t.Errorf("%q, %s, %v", data, mime, err)
		}
	}
	for _, i := range []providers.Image{{}, {B64JSON: "?"}, {URL: "gs://b/a.png"}, {URL: "data:image/png,x"}} {
		if _, _, err := i.Bytes(); !errors.Is(err, providers.ErrInvalidRequest) {
			t.Errorf("%+v: %v", i, err)
		}
	}
	in := providers.ImageBytes("image/png", []byte(png))
	if in.Base64 != packed || in.MimeType != "image/png" {
		t.Errorf("%+v", in)
	}
}

func FuzzServices(f *testing.F) {
	for _, doc := range []string{
		`{"model":"m","prompt":"p","image":[{"url":"u"},"v"],"mask":{"b64_json":"AA=="},"n":2,"seed":1,"x":1}`, `{"images":[{"image_url":{"url":"u"}}]}`,
		`{"created":1,"data":[{"b64_json":"AA==","x":1}],"usage":{"input_tokens_details":{}}}`,
		`{"model":"m","input":"i","voice":{"id":"v"},"speed":1e300,"x":[]}`, `{"model":"m","query":"q","documents":["a",{"title":"t"}],"top_n":1}`,
		`{"results":[{"index":1,"relevance_score":1e-5,"document":"a"}]}`, `{"documents":[null]}`, `null`,
	} {
		f.Add([]byte(doc))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		stable[providers.ImageRequest](t, data)
		stable[providers.ImageResponse](t, data)
		stable[providers.SpeechRequest](t, data)
		stable[providers.RerankRequest](t, data)
		stable[providers.RerankResponse](t, data)
		var q providers.ImageRequest
		if q.UnmarshalJSON(data) == nil {
			_ = q.Validate()
		}
	})
}
