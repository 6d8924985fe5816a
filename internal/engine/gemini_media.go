package engine

import (
	"strings"

	"github.com/b650d4bf/gateway/internal/jsonx"
	"github.com/b650d4bf/gateway/providers"
)

// isMediaPart reports whether parts of the type hold media.
func isMediaPart(kind string) bool {
	return kind == providers.PartImageURL || kind == providers.PartInputAudio || kind == providers.PartFile
}

// mediaPart writes a part that holds media, with its modifiers.
func (e *geminiEncoder) mediaPart(role string, i, j int, p *providers.ContentPart) error {
	md, err := e.readMedia(i, j, p)
	if err != nil {
		return err
	}
	mods, err := e.modifiers(i, j, p)
	if err != nil {
		return err
	}
	e.fitModifiers(role, &md, &mods)
	e.part(role)
	e.media(&md)
	e.writeModifiers(&mods)
	e.endPart(p.Signature)
	return nil
}

// resultRemedy says what a tool's result may hold.
func resultRemedy(media bool) string {
	if media {
		return "a tool result takes text, image_url, input_audio and file"
	}
	return "this model takes only text in a tool result: send media in a user message after it"
}

// resultPart writes media within a tool's result, which has no modifiers there.
func (e *geminiEncoder) resultPart(i, j int, p *providers.ContentPart) error {
	md, err := e.readMedia(i, j, p)
	if err != nil {
		return err
	}
	if kind := kindOf(md.mime); !md.given && (kind == kindAudio || kind == kindVideo) {
		return providers.Invalid(partPath(i, j, ""), "a tool result takes images, PDF and text, and this is "+md.mime+
			": send it in a user message after the result, or give mime_type to send it all the same")
	}
	mods, err := e.modifiers(i, j, p)
	if err != nil {
		return err
	}
	for _, path := range []string{mods.levelPath, mods.videoPath} {
		if path != "" {
			e.warnf(providers.WarnUnsupported, path, "left out: media in a tool result takes none")
		}
	}
	e.w.BeginObject()
	e.media(&md)
	e.w.EndObject()
	return nil
}

// media writes inlineData or fileData.
func (e *geminiEncoder) media(md *media) {
	if md.uri != "" {
		e.w.Key("fileData")
		e.w.BeginObject()
		if md.mime != "" {
			e.w.Key("mimeType")
			e.w.String(md.mime)
		}
		e.w.Key("fileUri")
		e.w.String(md.uri)
		e.w.EndObject()
		return
	}
	e.makeRoom(md.base64)
	e.w.Key("inlineData")
	e.w.BeginObject()
	e.w.Key("mimeType")
	e.w.String(md.mime)
	e.w.Key("data")
	e.w.Verbatim(md.base64)
	e.w.EndObject()
}

// readMedia reads the media of a part and holds it to what the model takes.
func (e *geminiEncoder) readMedia(i, j int, p *providers.ContentPart) (media, error) {
	src, fault := e.source(i, j, p)
	if fault != "" {
		return media{}, providers.Invalid(partPath(i, j, src.member), fault)
	}
	src.own = e.m.Own
	md, fault := src.parse()
	if fault != "" {
		return media{}, providers.Invalid(partPath(i, j, src.member), fault)
	}
	if !md.given && !e.m.facts.OfficeFiles && kindOf(md.mime) == kindOffice {
		return media{}, providers.Invalid(partPath(i, j, src.member), "this model reads no office documents: convert the file to PDF")
	}
	return md, e.admit(func() string { return partPath(i, j, "") }, &md)
}

// source finds the media that a part names.
func (e *geminiEncoder) source(i, j int, p *providers.ContentPart) (mediaSource, string) {
	switch p.Type {
	case providers.PartInputAudio:
		return audioSource(p.InputAudio, e.m.Own)
	case providers.PartFile:
		return e.fileSource(i, j, p.File)
	}
	s := mediaSource{member: "image_url.url"}
	if p.ImageURL == nil || p.ImageURL.URL == "" {
		return s, "a URL is required"
	}
	s.ref, s.mime = p.ImageURL.URL, p.ImageURL.MimeType
	return s, ""
}

func audioSource(a *providers.InputAudio, own bool) (mediaSource, string) {
	s := mediaSource{member: "input_audio.data", bare: true, audio: true, own: own}
	if a == nil || a.Data == "" {
		return s, "audio is required: base64, a data URI or " + s.urls()
	}
	s.ref, s.format = a.Data, audioFormats[strings.ToLower(a.Format)]
	s.mime = extraText(a.Extra, "mime_type")
	return s, ""
}

func (e *geminiEncoder) fileSource(i, j int, f *providers.File) (mediaSource, string) {
	s := mediaSource{member: "file", bare: true}
	if f == nil {
		return s, e.noFile()
	}
	s.mime, s.name = f.MimeType, f.Filename
	for _, m := range []struct{ member, value string }{
		{"file.file_data", f.FileData}, {"file.file_url", f.FileURL}, {"file.file_id", f.FileID},
	} {
		switch {
		case m.value == "":
		case s.ref != "":
			e.warnf(providers.WarnConflict, partPath(i, j, m.member), "left out: "+s.member+" is given too")
		default:
			s.ref, s.member = m.value, m.member
		}
	}
	switch {
	case s.ref == "":
		return s, e.noFile()
	case s.member == "file.file_id" && e.m.Own:
		return ownFile(s)
	case s.member == "file.file_id" && !strings.HasPrefix(s.ref, "gs://"):
		return s, "the platform keeps no uploaded files: give a gs:// URL, or the content as file_data"
	}
	s.bare = s.member == "file.file_data"
	return s, ""
}

// noFile says what is missing of a file.
func (e *geminiEncoder) noFile() string {
	if e.m.Own {
		return "a file is required: give file_data, file_url, or files/ID of the Files API as file_id"
	}
	return "a file is required: give file_data, file_url, or a gs:// URL as file_id"
}

// extraText returns a member that is text, "" when there is none, and the JSON
// of one that is something else.
func extraText(extra providers.Extra, name string) string {
	if len(extra) == 0 {
		return ""
	}
	raw, _ := extra.Get(name)
	r := jsonx.NewReader(raw)
	switch r.Kind() {
	case jsonx.String:
		return r.String()
	case jsonx.Null:
		return ""
	}
	return string(raw)
}
