package providers

import "github.com/b650d4bf/gateway/internal/jsonx"

// Audio is a spoken answer, or a piece of one.
//
// Source: https://platform.openai.com/docs/api-reference/chat/object.
type Audio struct {
	// ID names the audio; each piece of it has the same.
	ID string
	// Data is base64.
	Data string
	// ExpiresAt is in Unix seconds, 0 when the audio is not kept anywhere.
	ExpiresAt int64
	// Transcript is the spoken text, "" when the platform gave none.
	Transcript string
	// MimeType says what Data holds, such as "audio/L16;codec=pcm;rate=24000"
	// (extension, given when strict compliance is off).
	MimeType string
	Extra    Extra
}

// Annotation is a remark on a message's text.
//
// Source: https://platform.openai.com/docs/api-reference/chat/object.
type Annotation struct {
	// Type is "url_citation".
	Type        string
	URLCitation *URLCitation
	Extra       Extra
}

// URLCitation names the source of a stretch of a message's text.
type URLCitation struct {
	// StartIndex and EndIndex are the stretch in characters, which are Unicode
	// code points, of the content. The character at EndIndex is the first
	// behind it. Both are 0 when the source is not tied to a place.
	StartIndex, EndIndex int
	URL                  string
	Title                string
	Extra                Extra
}

// AnnotationURLCitation is the type of an annotation that names a source.
const AnnotationURLCitation = "url_citation"

// encodeMedia writes what a message and a delta have beside text and calls.
func encodeMedia(w *jsonx.Writer, a *Audio, annotations []Annotation) {
	if a != nil {
		w.Key("audio")
		a.encode(w)
	}
	putList(w, "annotations", annotations, (*Annotation).encode)
}

// MarshalJSON encodes the audio.
func (a Audio) MarshalJSON() ([]byte, error) { return encode(a.encode) }

// UnmarshalJSON decodes audio.
func (a *Audio) UnmarshalJSON(data []byte) error {
	*a = Audio{}
	return decode(data, a.decode)
}

func (a *Audio) encode(w *jsonx.Writer) {
	w.BeginObject()
	putString(w, "id", a.ID)
	putString(w, "data", a.Data)
	if a.ExpiresAt != 0 {
		w.Key("expires_at")
		w.Int(a.ExpiresAt)
	}
	putString(w, "transcript", a.Transcript)
	putString(w, "mime_type", a.MimeType)
	w.Members(a.Extra)
	w.EndObject()
}

func (a *Audio) decode(r *jsonx.Reader) {
	for r.Object(); r.NextKey(); {
		switch string(r.Key()) {
		case "id":
			a.ID = r.String()
		case "data":
			a.Data = r.String()
		case "expires_at":
			a.ExpiresAt = r.Int()
		case "transcript":
			a.Transcript = r.String()
		case "mime_type":
			a.MimeType = r.String()
		default:
			a.Extra.keep(r)
		}
	}
}

// MarshalJSON encodes the annotation.
func (a Annotation) MarshalJSON() ([]byte, error) { return encode(a.encode) }

// UnmarshalJSON decodes an annotation.
func (a *Annotation) UnmarshalJSON(data []byte) error {
	*a = Annotation{}
	return decode(data, a.decode)
}

func (a *Annotation) encode(w *jsonx.Writer) {
	w.BeginObject()
	w.Key("type")
	w.String(a.Type)
	if a.URLCitation != nil {
		w.Key("url_citation")
		a.URLCitation.encode(w)
	}
	w.Members(a.Extra)
	w.EndObject()
}

func (a *Annotation) decode(r *jsonx.Reader) {
	for r.Object(); r.NextKey(); {
		switch string(r.Key()) {
		case "type":
			a.Type = r.Intern(AnnotationURLCitation)
		case "url_citation":
			a.URLCitation = getObject(r, (*URLCitation).decode)
		default:
			a.Extra.keep(r)
		}
	}
}

// MarshalJSON encodes the citation.
func (c URLCitation) MarshalJSON() ([]byte, error) { return encode(c.encode) }

// UnmarshalJSON decodes a citation.
func (c *URLCitation) UnmarshalJSON(data []byte) error {
	*c = URLCitation{}
	return decode(data, c.decode)
}

func (c *URLCitation) encode(w *jsonx.Writer) {
	w.BeginObject()
	w.Key("start_index")
	w.Int(int64(c.StartIndex))
	w.Key("end_index")
	w.Int(int64(c.EndIndex))
	w.Key("url")
	w.String(c.URL)
	w.Key("title")
	w.String(c.Title)
	w.Members(c.Extra)
	w.EndObject()
}

func (c *URLCitation) decode(r *jsonx.Reader) {
	for r.Object(); r.NextKey(); {
		switch string(r.Key()) {
		case "start_index":
			c.StartIndex = int(r.Int())
		case "end_index":
			c.EndIndex = int(r.Int())
		case "url":
			c.URL = r.String()
		case "title":
			c.Title = r.String()
		default:
			c.Extra.keep(r)
		}
	}
}
