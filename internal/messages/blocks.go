package messages

import (
	"encoding/base64"
	"net/url"
	"path"
	"strings"

	"github.com/b650d4bf/gateway/internal/jsonx"
	"github.com/b650d4bf/gateway/providers"
)

// part reads a block of the type into a part. One that the chat schema has no
// counterpart for keeps its type and its members, for who knows them.
func part(r *jsonx.Reader, kind string) providers.ContentPart {
	switch kind {
	case providers.PartText:
		return text(r)
	case "image", "document":
		return media(r, kind)
	}
	p := providers.ContentPart{Type: kind}
	for r.Object(); r.NextKey(); {
		switch key := string(r.Key()); {
		case key == "type":
			r.Skip()
		case key == "data" && kind == providers.PartRedactedThinking:
			p.Data = r.String()
		default:
			keep(r, &p.Extra)
		}
	}
	if kind == providers.PartRedactedThinking && p.Data == "" {
		r.Failf(`"data" is required: repeat the block as it was given`)
	}
	return p
}

func text(r *jsonx.Reader) providers.ContentPart {
	p := providers.ContentPart{Type: providers.PartText}
	given := false
	for r.Object(); r.NextKey(); {
		switch string(r.Key()) {
		case "type":
			r.Skip()
		case "text":
			p.Text, given = r.String(), true
		case "citations":
			citations(r, &p)
		default:
			keep(r, &p.Extra)
		}
	}
	if !given {
		r.Failf(`"text" is required`)
	}
	return p
}

// citations keeps those that a Claude model gave. Those that the gateway made of
// another model's sources have no index, and would be refused.
func citations(r *jsonx.Reader, p *providers.ContentPart) {
	var w jsonx.Writer
	w.BeginArray()
	empty := w.Len()
	for r.Array(); r.NextElem(); {
		raw := r.Raw()
		if index, _ := jsonx.Lookup(raw, "encrypted_index"); string(index) != `""` {
			w.Raw(raw)
		}
	}
	if w.Len() > empty {
		w.EndArray()
		p.Extra = jsonx.AppendMember(p.Extra, "citations", w.Bytes())
	}
}

// media reads an image or a document. What stands beside the source, such as
// title and cache_control, is kept.
func media(r *jsonx.Reader, kind string) providers.ContentPart {
	p := providers.ContentPart{Type: kind}
	given := false
	for r.Object(); r.NextKey(); {
		switch string(r.Key()) {
		case "type":
			r.Skip()
		case "source":
			given = true
			source(r, kind, &p)
		default:
			keep(r, &p.Extra)
		}
	}
	if !given {
		r.Failf(`"source" is required`)
	}
	return p
}

// source reads where the media comes from. A document that is a list of blocks
// stays as it is.
func source(r *jsonx.Reader, kind string, p *providers.ContentPart) {
	from := typeOf(r)
	if from == "content" && kind == "document" {
		keep(r, &p.Extra)
		return
	}
	s := mediaSource{mime: peek(r, "media_type")}
	if s.mime == "" && kind == "document" {
		s.mime = "application/pdf" // the only type of documents in base64
	}
	for r.Object(); r.NextKey(); {
		switch key := string(r.Key()); {
		case key == "type":
			if from = r.String(); !s.knows(from, kind) {
				r.Failf("must be %s", sourceTypes[kind])
			}
		case key == "media_type":
			_ = r.String() // which was read ahead
		case key == "data":
			s.read(r, from)
		case key == "url" && from == "url":
			s.url = r.String()
		case key == "file_id":
			s.id = r.String()
		default:
			keep(r, &s.extra)
		}
	}
	if missing := s.missing(from, kind); missing != "" {
		r.Failf(`"%s" is required`, missing)
	}
	s.fill(from, kind, p)
}

// sourceTypes says what a source can be.
var sourceTypes = map[string]string{
	"image": "base64, url or file", "document": "base64, text, content, url or file",
}

type mediaSource struct {
	mime  string
	given bool   // there is data
	url   string // or the data as one
	id    string
	extra providers.Extra
}

// read reads the data into a data URI, in one copy.
func (s *mediaSource) read(r *jsonx.Reader, from string) {
	data := r.Bytes()
	s.given = len(data) > 0
	var b strings.Builder
	switch from {
	case "base64":
		b.Grow(len("data:;base64,") + len(s.mime) + len(data))
		b.WriteString("data:" + s.mime + ";base64,")
		b.Write(data)
	case "text":
		b.WriteString("data:text/plain;base64,")
		b.WriteString(base64.StdEncoding.EncodeToString(data))
	default:
		return
	}
	s.url = b.String()
}

func (*mediaSource) knows(from, kind string) bool {
	switch from {
	case "base64", "url", "file":
		return true
	}
	return from == "text" && kind == "document"
}

// missing names the member that the source lacks.
func (s *mediaSource) missing(from, kind string) string {
	switch {
	case from == "":
		return "type"
	case from == "url" && s.url == "":
		return "url"
	case from == "file" && s.id == "":
		return "file_id"
	case (from == "base64" || from == "text") && !s.given:
		return "data"
	case from == "base64" && s.mime == "" && kind == "image":
		return "media_type"
	}
	return ""
}

// fill makes the part.
func (s *mediaSource) fill(from, kind string, p *providers.ContentPart) {
	if kind == "image" && from != "file" {
		p.Type, p.ImageURL = providers.PartImageURL, &providers.ImageURL{URL: s.url, Extra: s.extra}
		return
	}
	f := &providers.File{Extra: s.extra}
	switch from {
	case "url":
		f.FileURL = s.url
		if !hasExtension(s.url) {
			f.MimeType = "application/pdf" // the only type of documents by URL
		}
	case "file":
		if f.FileID = s.id; kind == "image" && !strings.Contains(s.id, "/") {
			f.MimeType = "image/*" // what only the keeper of an id can tell
		}
	default:
		f.FileData = s.url
	}
	p.Type, p.File = providers.PartFile, f
}

func hasExtension(ref string) bool {
	u, err := url.Parse(ref)
	return err == nil && path.Ext(u.Path) != ""
}
