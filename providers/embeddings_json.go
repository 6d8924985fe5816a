package providers

import "github.com/b650d4bf/gateway/internal/jsonx"

// MarshalJSON encodes the request as POST /v1/embeddings takes it.
func (q EmbeddingRequest) MarshalJSON() ([]byte, error) { return encode(q.encode) }

// UnmarshalJSON decodes a request; a wrong type is an error that names the path.
func (q *EmbeddingRequest) UnmarshalJSON(data []byte) error {
	*q = EmbeddingRequest{}
	return decode(data, q.decode)
}

func (q *EmbeddingRequest) encode(w *jsonx.Writer) {
	w.BeginObject()
	w.Key("model")
	w.String(q.Model)
	w.Key("input")
	q.Input.encode(w)
	putInt(w, "dimensions", q.Dimensions)
	putString(w, "encoding_format", q.EncodingFormat)
	putString(w, "task_type", q.TaskType)
	putString(w, "title", q.Title)
	putBool(w, "auto_truncate", q.AutoTruncate)
	putMap(w, "labels", q.Labels)
	putString(w, "user", q.User)
	w.Members(q.Extra)
	w.EndObject()
}

func (q *EmbeddingRequest) decode(r *jsonx.Reader) {
	for r.Object(); r.NextKey(); {
		switch string(r.Key()) {
		case "model":
			q.Model = r.String()
		case "input":
			q.Input.decode(r)
		case "dimensions":
			q.Dimensions = getInt(r)
		case "encoding_format":
			q.EncodingFormat = r.String()
		case "task_type":
			q.TaskType = r.String()
		case "title":
			q.Title = r.String()
		case "auto_truncate":
			q.AutoTruncate = optional(r, r.Bool)
		case "labels":
			q.Labels = getMap(r)
		case "user":
			q.User = r.String()
		default:
			q.Extra.keep(r)
		}
	}
}

// MarshalJSON encodes what UnmarshalJSON decodes.
func (in EmbeddingInput) MarshalJSON() ([]byte, error) { return encode(in.encode) }

// UnmarshalJSON decodes a string, an object, an array of tokens, or an array of
// any of them.
func (in *EmbeddingInput) UnmarshalJSON(data []byte) error {
	*in = EmbeddingInput{}
	return decode(data, in.decode)
}

func (in *EmbeddingInput) encode(w *jsonx.Writer) {
	switch {
	case len(in.Items) == 1 && in.Single:
		in.Items[0].encode(w)
	case in.Items == nil:
		w.Null()
	default:
		list(w, in.Items, (*EmbeddingItem).encode)
	}
}

func (in *EmbeddingInput) decode(r *jsonx.Reader) {
	*in = EmbeddingInput{}
	switch r.Kind() {
	case jsonx.Array:
		in.decodeList(r)
	case jsonx.String, jsonx.Object:
		in.Items, in.Single = make([]EmbeddingItem, 1), true
		in.Items[0].decode(r)
	case jsonx.Null:
		r.Null()
	default:
		r.Failf("expected a string, an object or an array")
	}
}

// decodeList reads an array of elements, or one of tokens, which is an element by
// itself.
func (in *EmbeddingInput) decodeList(r *jsonx.Reader) {
	in.Items = []EmbeddingItem{}
	for r.Array(); r.NextElem(); {
		switch number := r.Kind() == jsonx.Number; {
		case number && len(in.Items) == 0:
			in.Items, in.Single = []EmbeddingItem{{Tokens: []int64{r.Int()}}}, true
		case number && in.Single:
			in.Items[0].Tokens = append(in.Items[0].Tokens, r.Int())
		case number, in.Single:
			r.Failf("expected tokens alone, or none: a list is of one kind")
		default:
			var it EmbeddingItem
			it.decode(r)
			in.Items = append(in.Items, it)
		}
	}
}

// getTokens reads an array of tokens, which is not nil when it is empty.
func getTokens(r *jsonx.Reader) []int64 {
	list := []int64{}
	for r.Array(); r.NextElem(); {
		if r.Kind() != jsonx.Number {
			r.Failf("expected a token, which is a whole number")
			return nil
		}
		list = append(list, r.Int())
	}
	return list
}

// MarshalJSON encodes a string, or an object where there is more than a text.
func (it EmbeddingItem) MarshalJSON() ([]byte, error) { return encode(it.encode) }

// UnmarshalJSON decodes a string, an object or an array of tokens.
func (it *EmbeddingItem) UnmarshalJSON(data []byte) error {
	*it = EmbeddingItem{}
	return decode(data, it.decode)
}

func (it *EmbeddingItem) encode(w *jsonx.Writer) {
	if it.Tokens != nil {
		w.BeginArray()
		for _, n := range it.Tokens {
			w.Int(n)
		}
		w.EndArray()
		return
	}
	if it.IsText() && len(it.Extra) == 0 {
		w.String(it.Text)
		return
	}
	w.BeginObject()
	putString(w, "text", it.Text)
	putMedia(w, "image", it.Image)
	putMedia(w, "video", it.Video)
	putMedia(w, "audio", it.Audio)
	putMedia(w, "file", it.File)
	w.Members(it.Extra)
	w.EndObject()
}

func (it *EmbeddingItem) decode(r *jsonx.Reader) {
	switch r.Kind() {
	case jsonx.String:
		it.Text = r.String()
		return
	case jsonx.Object:
	case jsonx.Array:
		it.Tokens = getTokens(r)
		return
	default:
		r.Failf("expected a string, an object or an array of tokens")
		return
	}
	for r.Object(); r.NextKey(); {
		switch string(r.Key()) {
		case "text":
			it.Text = r.String()
		case "image":
			it.Image = getObject(r, (*EmbeddingMedia).decode)
		case "video":
			it.Video = getObject(r, (*EmbeddingMedia).decode)
		case "audio":
			it.Audio = getObject(r, (*EmbeddingMedia).decode)
		case "file":
			it.File = getObject(r, (*EmbeddingMedia).decode)
		default:
			it.Extra.keep(r)
		}
	}
}

func putMedia(w *jsonx.Writer, key string, m *EmbeddingMedia) {
	if m != nil {
		w.Key(key)
		m.encode(w)
	}
}

// MarshalJSON encodes the media.
func (m EmbeddingMedia) MarshalJSON() ([]byte, error) { return encode(m.encode) }

// UnmarshalJSON decodes an object, or a string with the URL.
func (m *EmbeddingMedia) UnmarshalJSON(data []byte) error {
	*m = EmbeddingMedia{}
	return decode(data, m.decode)
}

func (m *EmbeddingMedia) encode(w *jsonx.Writer) {
	w.BeginObject()
	putString(w, "url", m.URL)
	putString(w, "base64", m.Base64)
	putString(w, "mime_type", m.MimeType)
	putFloat(w, "start_offset", m.StartOffset)
	putFloat(w, "end_offset", m.EndOffset)
	putFloat(w, "interval", m.Interval)
	w.Members(m.Extra)
	w.EndObject()
}

// decode also takes the URL alone.
func (m *EmbeddingMedia) decode(r *jsonx.Reader) {
	if r.Kind() == jsonx.String {
		m.URL = r.String()
		return
	}
	for r.Object(); r.NextKey(); {
		switch string(r.Key()) {
		case "url":
			m.URL = r.String()
		case "base64":
			m.Base64 = r.String()
		case "mime_type":
			m.MimeType = r.String()
		case "start_offset":
			m.StartOffset = optional(r, r.Float)
		case "end_offset":
			m.EndOffset = optional(r, r.Float)
		case "interval":
			m.Interval = optional(r, r.Float)
		default:
			m.Extra.keep(r)
		}
	}
}

// AppendJSON appends the answer's JSON to dst.
func (a *EmbeddingResponse) AppendJSON(dst []byte) ([]byte, error) {
	w := writer(dst)
	a.encode(&w)
	return append(dst, w.Bytes()...), w.Err()
}

// MarshalJSON encodes the answer.
func (a EmbeddingResponse) MarshalJSON() ([]byte, error) { return encode(a.encode) }

// UnmarshalJSON decodes an answer. Vectors may be in either format.
func (a *EmbeddingResponse) UnmarshalJSON(data []byte) error {
	*a = EmbeddingResponse{}
	return decode(data, a.decode)
}

func (a *EmbeddingResponse) encode(w *jsonx.Writer) {
	v := vectorWriter{w: w, packed: a.EncodingFormat == EncodingBase64}
	w.BeginObject()
	w.Key("object")
	w.String("list")
	w.Key("data")
	w.BeginArray()
	for i := range a.Data {
		v.embedding(&a.Data[i])
	}
	w.EndArray()
	w.Key("model")
	w.String(a.Model)
	if a.Usage != nil {
		w.Key("usage")
		a.Usage.encode(w)
	}
	putString(w, "provider", a.Provider)
	w.Members(a.Extra)
	w.EndObject()
}

// vectorWriter writes vectors in the format of their answer.
type vectorWriter struct {
	w      *jsonx.Writer
	packed bool
}

func (v *vectorWriter) embedding(e *Embedding) {
	w := v.w
	w.BeginObject()
	w.Key("object")
	w.String("embedding")
	w.Key("index")
	w.Int(int64(e.Index))
	w.Key("embedding")
	v.vector(e.Embedding)
	if e.ImageEmbedding != nil {
		w.Key("image_embedding")
		v.vector(e.ImageEmbedding)
	}
	putList(w, "video_embeddings", e.VideoEmbeddings, func(s *VideoEmbedding, w *jsonx.Writer) {
		w.BeginObject()
		w.Key("object")
		w.String("embedding")
		w.Key("index")
		w.Int(int64(s.Index))
		w.Key("embedding")
		v.vector(s.Embedding)
		w.Key("start_offset")
		w.Float(s.StartOffset)
		w.Key("end_offset")
		w.Float(s.EndOffset)
		w.EndObject()
	})
	w.Members(e.Extra)
	w.EndObject()
}

func (v *vectorWriter) vector(vector []float64) {
	if v.packed {
		v.w.Append(func(dst []byte) []byte {
			dst = append(dst, '"')
			return append(appendVector64(dst, vector), '"')
		})
		return
	}
	v.w.Floats(vector)
}

func (a *EmbeddingResponse) decode(r *jsonx.Reader) {
	for r.Object(); r.NextKey(); {
		switch string(r.Key()) {
		case "object":
			r.Skip()
		case "data":
			for r.Array(); r.NextElem(); {
				var e Embedding
				a.embedding(&e, r)
				a.Data = append(a.Data, e)
			}
		case "model":
			a.Model = r.String()
		case "usage":
			a.Usage = getObject(r, (*EmbeddingUsage).decode)
		case "provider":
			a.Provider = r.String()
		default:
			a.Extra.keep(r)
		}
	}
}

func (a *EmbeddingResponse) embedding(e *Embedding, r *jsonx.Reader) {
	for r.Object(); r.NextKey(); {
		switch string(r.Key()) {
		case "object":
			r.Skip()
		case "index":
			e.Index = int(r.Int())
		case "embedding":
			e.Embedding = a.vector(r)
		case "image_embedding":
			e.ImageEmbedding = a.vector(r)
		case "video_embeddings":
			for r.Array(); r.NextElem(); {
				var v VideoEmbedding
				a.video(&v, r)
				e.VideoEmbeddings = append(e.VideoEmbeddings, v)
			}
		default:
			e.Extra.keep(r)
		}
	}
}

func (a *EmbeddingResponse) video(v *VideoEmbedding, r *jsonx.Reader) {
	for r.Object(); r.NextKey(); {
		switch string(r.Key()) {
		case "index":
			v.Index = int(r.Int())
		case "embedding":
			v.Embedding = a.vector(r)
		case "start_offset":
			v.StartOffset = r.Float()
		case "end_offset":
			v.EndOffset = r.Float()
		default:
			r.Skip()
		}
	}
}

// vector reads a vector in either format, and notes which one it was.
func (a *EmbeddingResponse) vector(r *jsonx.Reader) []float64 {
	if r.Kind() != jsonx.String {
		return r.Floats(nil)
	}
	vector, ok := parseVector64(r.String())
	if !ok {
		r.Failf("not the base64 of floats of 32 bits")
		return nil
	}
	a.EncodingFormat = EncodingBase64
	return vector
}

// MarshalJSON encodes the counts.
func (u EmbeddingUsage) MarshalJSON() ([]byte, error) { return encode(u.encode) }

// UnmarshalJSON decodes counts.
func (u *EmbeddingUsage) UnmarshalJSON(data []byte) error {
	*u = EmbeddingUsage{}
	return decode(data, u.decode)
}

func (u *EmbeddingUsage) encode(w *jsonx.Writer) {
	w.BeginObject()
	w.Key("prompt_tokens")
	w.Int(u.PromptTokens)
	w.Key("total_tokens")
	w.Int(u.TotalTokens)
	w.Members(u.Extra)
	w.EndObject()
}

func (u *EmbeddingUsage) decode(r *jsonx.Reader) {
	for r.Object(); r.NextKey(); {
		switch string(r.Key()) {
		case "prompt_tokens":
			u.PromptTokens = r.Int()
		case "total_tokens":
			u.TotalTokens = r.Int()
		default:
			u.Extra.keep(r)
		}
	}
}
