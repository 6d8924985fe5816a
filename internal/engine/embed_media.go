package engine

import (
	"slices"
	"strconv"
	"strings"

	"github.com/b650d4bf/gateway/catalog"
	"github.com/b650d4bf/gateway/providers"
)

// embedMedia is one medium of an input, ready to be written.
type embedMedia struct {
	kind string // image, video, audio or file
	media
	source *providers.EmbeddingMedia
}

// embedKinds are the kinds of media in the order they are written in, with what
// their types begin with.
var embedKinds = []struct {
	name, types string
	of          func(*providers.EmbeddingItem) *providers.EmbeddingMedia
}{
	{"image", "image/", func(it *providers.EmbeddingItem) *providers.EmbeddingMedia { return it.Image }},
	{"video", "video/", func(it *providers.EmbeddingItem) *providers.EmbeddingMedia { return it.Video }},
	{"audio", "audio/", func(it *providers.EmbeddingItem) *providers.EmbeddingMedia { return it.Audio }},
	{"file", "", func(it *providers.EmbeddingItem) *providers.EmbeddingMedia { return it.File }},
}

// readMedia reads the media of all inputs.
func (e *embedding) readMedia() error {
	for i := range e.items {
		it := &e.items[i]
		if it.Tokens != nil && !e.isOpen() {
			return providers.Invalid(e.q.InputPath(i), "tokens can't be embedded by "+e.model.Name+", they are another model's: send the text")
		}
		if it.IsText() || it.Tokens != nil {
			continue
		}
		if e.media == nil {
			e.media = make([][]embedMedia, len(e.items))
		}
		for k := range embedKinds {
			if source := embedKinds[k].of(it); source != nil {
				m, err := e.readMedium(i, k, source)
				if err != nil {
					return err
				}
				e.media[i] = append(e.media[i], m)
			}
		}
		if e.prefix() != "" && it.Text == "" {
			e.warnOnce("task_type", providers.WarnUnsupported, e.q.InputPath(i), "has no text that the instruction of the task type could stand before")
		}
	}
	return nil
}

func (e *embedding) readMedium(i, kind int, source *providers.EmbeddingMedia) (embedMedia, error) {
	name, path := embedKinds[kind].name, e.q.InputPath(i)+"."+embedKinds[kind].name
	if !slices.Contains(e.row.Media, name) {
		return embedMedia{}, providers.Invalid(path, e.model.Name+" embeds "+strings.Join(append([]string{"text"}, e.row.Media...), ", ")+" only")
	}
	for extra := range source.Extra.All() {
		e.warnOnce(name+"."+extra, providers.WarnUnknown, path+"."+extra, "left out: the platform does not know it")
	}
	m := embedMedia{kind: name, source: source}
	var fault string
	if e.row.Method == catalog.EmbedMultimodal && strings.HasPrefix(source.URL, "gs://") {
		m.media = media{uri: source.URL, mime: source.MimeType} // the platform looks at the object itself
	} else {
		from := mediaSource{member: name, ref: source.URL + source.Base64, mime: source.MimeType, bare: source.URL == "", audio: name == "audio", own: e.model.Own}
		m.media, fault = from.parse()
	}
	switch types := embedKinds[kind].types; {
	case fault != "":
	case m.mime != "" && !strings.HasPrefix(m.mime, types):
		fault = "the media type " + strconv.Quote(clipped(m.mime)) + " does not fit: it must begin with " + types
	case e.row.Method == catalog.EmbedMultimodal && m.uri != "" && !strings.HasPrefix(m.uri, "gs://"):
		fault = "give a gs:// URL or base64: " + e.model.Name + " fetches nothing from the web"
	default:
		fault = e.checkVideo(path, &m)
	}
	if fault != "" {
		return embedMedia{}, providers.Invalid(path, fault)
	}
	return m, nil
}

// checkVideo checks the part of a video that is chosen.
func (e *embedding) checkVideo(path string, m *embedMedia) string {
	s := m.source
	if s.StartOffset == nil && s.EndOffset == nil && s.Interval == nil {
		if m.kind == "video" {
			return e.checkVideoSize()
		}
		return ""
	}
	switch {
	case m.kind != "video":
		e.warnOnce(m.kind+" part", providers.WarnUnsupported, path, "start_offset, end_offset and interval are left out: they are of videos")
		return ""
	case s.StartOffset != nil && *s.StartOffset < 0, s.EndOffset != nil && *s.EndOffset < 0,
		s.StartOffset != nil && s.EndOffset != nil && *s.EndOffset <= *s.StartOffset:
		return "end_offset must be after start_offset, and neither negative"
	case e.row.Method == catalog.EmbedContent && s.Interval != nil:
		e.warnOnce("interval", providers.WarnUnsupported, path+".interval", "left out: "+e.model.Name+" gives one vector for all of it")
	}
	return e.checkVideoSize()
}

// checkVideoSize refuses reduced vectors of videos where the platform does.
//
// Source: https://cloud.google.com/vertex-ai/generative-ai/docs/embeddings/get-multimodal-embeddings
func (e *embedding) checkVideoSize() string {
	if e.row.Method == catalog.EmbedMultimodal && e.dimensions != 0 && e.dimensions != e.row.Dimensions {
		return "videos have vectors of " + strconv.Itoa(e.row.Dimensions) + " dimensions only: leave dimensions out"
	}
	return ""
}
