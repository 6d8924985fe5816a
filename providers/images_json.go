package providers

import "github.com/b650d4bf/gateway/internal/jsonx"

// MarshalJSON encodes the request as POST /v1/images/generations and
// POST /v1/images/edits take it.
func (q ImageRequest) MarshalJSON() ([]byte, error) { return encode(q.encode) }

// UnmarshalJSON decodes a request; a wrong type is an error that names the path.
func (q *ImageRequest) UnmarshalJSON(data []byte) error {
	*q = ImageRequest{}
	return decode(data, q.decode)
}

func (q *ImageRequest) encode(w *jsonx.Writer) {
	w.BeginObject()
	w.Key("model")
	w.String(q.Model)
	w.Key("prompt")
	w.String(q.Prompt)
	putList(w, "image", q.Images, (*ImageInput).encode)
	if q.Mask != nil {
		w.Key("mask")
		q.Mask.encode(w)
	}
	putInt(w, "n", q.N)
	for _, m := range q.words() {
		putString(w, m.name, *m.value)
	}
	putInt(w, "output_compression", q.OutputCompression)
	putInt(w, "partial_images", q.PartialImages)
	if q.Stream {
		w.Key("stream")
		w.Bool(true)
	}
	if q.Seed != nil {
		w.Key("seed")
		w.Int(*q.Seed)
	}
	putMap(w, "labels", q.Labels)
	w.Members(q.Extra)
	w.EndObject()
}

// word is a member that is a string.
type word struct {
	name  string
	value *string
}

// words are the members that are strings.
func (q *ImageRequest) words() []word {
	return []word{
		{"size", &q.Size}, {"aspect_ratio", &q.AspectRatio}, {"image_size", &q.ImageSize}, {"quality", &q.Quality}, {"style", &q.Style},
		{"background", &q.Background}, {"output_format", &q.OutputFormat}, {"moderation", &q.Moderation},
		{"response_format", &q.ResponseFormat}, {"input_fidelity", &q.InputFidelity}, {"negative_prompt", &q.NegativePrompt},
		{"storage_uri", &q.StorageURI}, {"user", &q.User},
	}
}

func (q *ImageRequest) decode(r *jsonx.Reader) {
	words := q.words()
	for r.Object(); r.NextKey(); {
		switch string(r.Key()) {
		case "model":
			q.Model = r.String()
		case "prompt":
			q.Prompt = r.String()
		case "image", "images":
			q.decodeImages(r)
		case "mask":
			q.Mask = getObject(r, (*ImageInput).decode)
		case "n":
			q.N = getInt(r)
		case "output_compression":
			q.OutputCompression = getInt(r)
		case "partial_images":
			q.PartialImages = getInt(r)
		case "stream":
			q.Stream = r.Bool()
		case "seed":
			q.Seed = optional(r, r.Int)
		case "labels":
			q.Labels = getMap(r)
		default:
			if !readWord(words, r) {
				q.Extra.keep(r)
			}
		}
	}
}

// readWord reads the member that the reader stands at, if it is among words.
func readWord(words []word, r *jsonx.Reader) bool {
	key := string(r.Key())
	for _, m := range words {
		if m.name == key {
			*m.value = r.String()
			return true
		}
	}
	return false
}

// decodeImages takes one image or a list, and the two names that clients have
// for it together.
func (q *ImageRequest) decodeImages(r *jsonx.Reader) {
	if r.Kind() == jsonx.Array {
		q.Images = append(q.Images, getList(r, (*ImageInput).decode)...)
		return
	}
	if one := getObject(r, (*ImageInput).decode); one != nil {
		q.Images = append(q.Images, *one)
	}
}

// MarshalJSON encodes the image.
func (in ImageInput) MarshalJSON() ([]byte, error) { return encode(in.encode) }

// UnmarshalJSON decodes an object, or a string with the URL.
func (in *ImageInput) UnmarshalJSON(data []byte) error {
	*in = ImageInput{}
	return decode(data, in.decode)
}

func (in *ImageInput) encode(w *jsonx.Writer) {
	w.BeginObject()
	putString(w, "url", in.URL)
	putString(w, "base64", in.Base64)
	putString(w, "mime_type", in.MimeType)
	w.Members(in.Extra)
	w.EndObject()
}

// decode also takes the URL alone, and what clients name it: image_url as a
// string or an object, and b64_json.
func (in *ImageInput) decode(r *jsonx.Reader) {
	if r.Kind() == jsonx.String {
		in.URL = r.String()
		return
	}
	for r.Object(); r.NextKey(); {
		switch string(r.Key()) {
		case "url":
			in.URL = r.String()
		case "image_url":
			in.URL = imageURL(r)
		case "base64", "b64_json":
			in.Base64 = r.String()
		case "mime_type":
			in.MimeType = r.String()
		default:
			in.Extra.keep(r)
		}
	}
}

// imageURL reads a URL, or an object that has it as its url.
func imageURL(r *jsonx.Reader) (url string) {
	if r.Kind() != jsonx.Object {
		return r.String()
	}
	for r.Object(); r.NextKey(); {
		if string(r.Key()) == "url" {
			url = r.String()
			continue
		}
		r.Skip()
	}
	return url
}

// AppendJSON appends the answer's JSON to dst.
func (a *ImageResponse) AppendJSON(dst []byte) ([]byte, error) {
	w := writer(dst)
	a.encode(&w)
	return append(dst, w.Bytes()...), w.Err()
}

// MarshalJSON encodes the answer.
func (a ImageResponse) MarshalJSON() ([]byte, error) { return encode(a.encode) }

// UnmarshalJSON decodes an answer.
func (a *ImageResponse) UnmarshalJSON(data []byte) error {
	*a = ImageResponse{}
	return decode(data, a.decode)
}

func (a *ImageResponse) words() []word {
	return []word{
		{"background", &a.Background}, {"output_format", &a.OutputFormat}, {"quality", &a.Quality}, {"size", &a.Size}, {"provider", &a.Provider},
	}
}

func (a *ImageResponse) encode(w *jsonx.Writer) {
	w.BeginObject()
	w.Key("created")
	w.Int(a.Created)
	w.Key("data")
	list(w, a.Data, (*Image).encode)
	for _, m := range a.words() {
		putString(w, m.name, *m.value)
	}
	if a.Usage != nil {
		w.Key("usage")
		a.Usage.encode(w)
	}
	w.Members(a.Extra)
	w.EndObject()
}

func (a *ImageResponse) decode(r *jsonx.Reader) {
	words := a.words()
	for r.Object(); r.NextKey(); {
		switch string(r.Key()) {
		case "created":
			a.Created = r.Int()
		case "data":
			a.Data = getList(r, (*Image).decode)
		case "usage":
			a.Usage = getObject(r, (*ImageUsage).decode)
		default:
			if !readWord(words, r) {
				a.Extra.keep(r)
			}
		}
	}
}

func (i *Image) encode(w *jsonx.Writer) {
	w.BeginObject()
	putString(w, "b64_json", i.B64JSON)
	putString(w, "url", i.URL)
	putString(w, "revised_prompt", i.RevisedPrompt)
	w.Members(i.Extra)
	w.EndObject()
}

func (i *Image) decode(r *jsonx.Reader) {
	words := []word{{"b64_json", &i.B64JSON}, {"url", &i.URL}, {"revised_prompt", &i.RevisedPrompt}}
	for r.Object(); r.NextKey(); {
		if !readWord(words, r) {
			i.Extra.keep(r)
		}
	}
}

// MarshalJSON encodes the counts.
func (u ImageUsage) MarshalJSON() ([]byte, error) { return encode(u.encode) }

// UnmarshalJSON decodes counts.
func (u *ImageUsage) UnmarshalJSON(data []byte) error {
	*u = ImageUsage{}
	return decode(data, u.decode)
}

func (u *ImageUsage) encode(w *jsonx.Writer) {
	w.BeginObject()
	w.Key("input_tokens")
	w.Int(u.InputTokens)
	w.Key("output_tokens")
	w.Int(u.OutputTokens)
	w.Key("total_tokens")
	w.Int(u.TotalTokens)
	putTokens(w, "input_tokens_details", u.InputTokensDetails)
	putTokens(w, "output_tokens_details", u.OutputTokensDetails)
	w.Members(u.Extra)
	w.EndObject()
}

func putTokens(w *jsonx.Writer, key string, t *ImageTokens) {
	if t == nil {
		return
	}
	w.Key(key)
	w.BeginObject()
	w.Key("text_tokens")
	w.Int(t.TextTokens)
	w.Key("image_tokens")
	w.Int(t.ImageTokens)
	w.Members(t.Extra)
	w.EndObject()
}

func (u *ImageUsage) decode(r *jsonx.Reader) {
	for r.Object(); r.NextKey(); {
		switch string(r.Key()) {
		case "input_tokens":
			u.InputTokens = r.Int()
		case "output_tokens":
			u.OutputTokens = r.Int()
		case "total_tokens":
			u.TotalTokens = r.Int()
		case "input_tokens_details":
			u.InputTokensDetails = getObject(r, (*ImageTokens).decode)
		case "output_tokens_details":
			u.OutputTokensDetails = getObject(r, (*ImageTokens).decode)
		default:
			u.Extra.keep(r)
		}
	}
}

func (t *ImageTokens) decode(r *jsonx.Reader) {
	for r.Object(); r.NextKey(); {
		switch string(r.Key()) {
		case "text_tokens":
			t.TextTokens = r.Int()
		case "image_tokens":
			t.ImageTokens = r.Int()
		default:
			t.Extra.keep(r)
		}
	}
}

// MarshalJSON encodes the image.
func (i Image) MarshalJSON() ([]byte, error) { return encode(i.encode) }

// UnmarshalJSON decodes an image.
func (i *Image) UnmarshalJSON(data []byte) error {
	*i = Image{}
	return decode(data, i.decode)
}
