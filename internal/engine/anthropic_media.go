package engine

import (
	"encoding/base64"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/b650d4bf/gateway/internal/jsonx"
	"github.com/b650d4bf/gateway/providers"
)

// claudeImages are the media types of images that the platform reads.
//
// Source: https://platform.claude.com/docs/en/build-with-claude/vision
var claudeImages = []string{"image/jpeg", "image/png", "image/gif", "image/webp"}

// claudeParts are the types of parts in the platform's own form, which go as
// they are.
//
// Source: https://platform.claude.com/docs/en/api/messages
var claudeParts = []string{"image", "document", "search_result"}

// uploadPart is the type of a file for the container that code runs in, which
// the vendor's own service has.
//
// Source: https://platform.claude.com/docs/en/agents-and-tools/tool-use/code-execution-tool
const uploadPart = "container_upload"

// referencePart is the type of a part in a tool's result that names a tool which
// was found, where the caller searches for tools itself.
//
// Source: https://platform.claude.com/docs/en/agents-and-tools/tool-use/tool-search-tool#custom-tool-search-implementation
const referencePart = "tool_reference"

// isNative reports whether a part of message i goes as it is.
func (e *claudeEncoder) isNative(i int, kind string) bool {
	switch kind {
	case uploadPart:
		return e.m.Own
	case referencePart:
		return e.q.Messages[i].Role == providers.RoleTool
	}
	return slices.Contains(claudeParts, kind)
}

// userPart writes a part of a user message, or of a tool's result. begin is
// called before the block with its type.
func (e *claudeEncoder) userPart(i, j int, p *providers.ContentPart, begin func(kind string)) error {
	at := contentSpot(i, j)
	switch {
	case p.Type == providers.PartText:
		if strings.TrimSpace(p.Text) == "" {
			if p.Text != "" {
				e.warnf(providers.WarnDroppedBlock, at.path(""), "left out: the platform takes no blank text")
			}
			return nil
		}
		begin(p.Type)
		e.w.BeginObject()
		e.w.Key("type")
		e.w.String(p.Type)
		e.w.Key("text")
		e.w.String(p.Text)
		e.w.EndObject()
	case p.Type == providers.PartImageURL:
		if p.ImageURL == nil || p.ImageURL.URL == "" {
			return providers.Invalid(partPath(i, j, "image_url.url"), "a URL is required")
		}
		md, err := e.inline(partPath(i, j, "image_url.url"), p.ImageURL.URL, p.ImageURL.MimeType)
		if err != nil {
			return err
		}
		if err := e.source(partPath(i, j, "image_url"), md, "", p, begin); err != nil {
			return err
		}
	case p.Type == providers.PartFile && p.File != nil:
		if err := e.file(i, j, p, begin); err != nil {
			return err
		}
	case e.isNative(i, p.Type):
		return e.nativePart(at.path(""), p, begin)
	case p.Type == providers.PartThinking, p.Type == providers.PartRedactedThinking:
		e.warnf(providers.WarnDroppedBlock, at.path(""), "left out: only an assistant message holds thinking")
		return nil
	case p.Type == providers.PartInputAudio:
		return providers.Invalid(at.path("type"), "Claude models hear no audio: send the text of it, or use a Gemini model")
	default:
		return providers.Invalid(at.path("type"), "content parts of type "+strconv.Quote(p.Type)+
			" are not supported for this model: use text, image_url or file")
	}
	if raw, ok := p.Extra.Get("cache_control"); ok {
		e.mark(at.path("cache_control"), raw, true)
	}
	return nil
}

// inline returns the data that a data URI holds, or that a URL leads to where
// the gateway may fetch it: Vertex AI takes no URLs for these models. The
// vendor's own service fetches those of the web by itself.
func (e *claudeEncoder) inline(path, ref, mime string) (media, error) {
	if e.m.Own && isWeb(ref) {
		return webMedia(path, ref, mime)
	}
	md, fault := (&mediaSource{ref: ref, mime: mime}).parse()
	if fault == "" && md.uri == "" {
		return md, nil
	}
	if !isWeb(ref) && !strings.HasPrefix(ref, "gs://") {
		return media{}, providers.Invalid(path, fault)
	}
	if e.in.fetch == nil {
		if e.m.Own {
			return media{}, providers.Invalid(path, "the platform reads no Cloud Storage: give an https URL, or the data itself as a data URI such as data:image/png;base64,…")
		}
		return media{}, providers.Invalid(path, noURLs)
	}
	if md, fault = e.in.fetch(ref, mime); fault != "" {
		return media{}, providers.Invalid(path, fault)
	}
	return md, nil
}

const noURLs = "the platform takes no URL for Claude models: send the data itself, as a data URI such as data:image/png;base64,…, " +
	"or let the gateway fetch it with WithMediaFetch"

// source writes an image or a document.
func (e *claudeEncoder) source(path string, md media, title string, p *providers.ContentPart, begin func(kind string)) error {
	if md.uri != "" {
		return e.urlSource(path, md, title, p, begin)
	}
	mime := md.mime
	kind := "document"
	switch {
	case slices.Contains(claudeImages, mime):
		kind = "image"
	case mime != "application/pdf" && mime != "text/plain":
		return providers.Invalid(path, "Claude models read jpeg, png, gif and webp images, PDFs and text, and this is "+strconv.Quote(mime))
	}
	text := ""
	if mime == "text/plain" {
		var ok bool
		if text, ok = decodeText(md.base64); !ok {
			return providers.Invalid(path, "the document is not text in UTF-8")
		}
	}
	from := "base64"
	if mime == "text/plain" {
		from = "text"
	}
	e.beginSource(kind, from, begin)
	e.w.Key("media_type")
	e.w.String(mime)
	e.w.Key("data")
	if mime == "text/plain" {
		e.w.String(text)
	} else {
		e.base64(md.base64)
	}
	e.endSource(kind, title, p)
	return nil
}

// describe writes what is said of a document beside its source.
func (e *claudeEncoder) describe(title string, p *providers.ContentPart) {
	if raw, ok := p.Extra.Get("title"); ok {
		e.w.Key("title")
		e.w.Raw(raw)
	} else if title != "" {
		e.w.Key("title")
		e.w.String(title)
	}
	for _, name := range documentMembers[1:] {
		if raw, ok := p.Extra.Get(name); ok {
			e.w.Key(name)
			e.w.Raw(raw)
		}
	}
}

// documentMembers are the members of a document that a part may have.
//
// Source: https://platform.claude.com/docs/en/build-with-claude/citations
var documentMembers = []string{"title", "context", "citations"}

// base64 writes base64 in the standard alphabet and with its padding, which the
// platform insists on.
func (e *claudeEncoder) base64(data string) {
	if strings.ContainsAny(data, "-_") {
		data = strings.NewReplacer("-", "+", "_", "/").Replace(data)
	}
	pad := ""
	switch len(data) % 4 {
	case 2:
		pad = "=="
	case 3:
		pad = "="
	}
	e.w.Verbatim(data, pad)
}

// decodeText decodes base64 in either alphabet to text.
func decodeText(data string) (string, bool) {
	data = strings.NewReplacer("-", "+", "_", "/").Replace(strings.TrimRight(data, "="))
	text, err := base64.RawStdEncoding.DecodeString(data)
	return string(text), err == nil && utf8.Valid(text)
}

// file writes a file part as a document, or as an image.
func (e *claudeEncoder) file(i, j int, p *providers.ContentPart, begin func(kind string)) error {
	f := p.File
	at := partPath(i, j, "file")
	var md media
	var err error
	switch {
	case f.FileID != "" && e.m.Own:
		e.fileSource(p, begin)
		return nil
	case f.FileID != "":
		return providers.Invalid(at+".file_id", "the platform keeps no files for Claude models: give file_data")
	case f.FileURL != "":
		md, err = e.inline(at+".file_url", f.FileURL, f.MimeType)
	case f.FileData == "":
		return providers.Invalid(at, "file_data is required: a data URI, or base64 with mime_type")
	default:
		md, err = fileData(at+".file_data", f)
	}
	if err != nil {
		return err
	}
	return e.source(at, md, f.Filename, p, begin)
}

// fileData reads a data URI, or bare base64 whose type is given, or told by the
// name of the file or by its first bytes.
func fileData(at string, f *providers.File) (media, error) {
	md, fault := (&mediaSource{ref: f.FileData, mime: f.MimeType, name: f.Filename, bare: true}).parse()
	switch {
	case fault != "":
		return media{}, providers.Invalid(at, fault)
	case md.uri != "":
		return media{}, providers.Invalid(at, "neither a data URI nor base64")
	}
	return md, nil
}

// nativePart writes an image, document or search result in the platform's own
// form.
func (e *claudeEncoder) nativePart(path string, p *providers.ContentPart, begin func(kind string)) error {
	source, _ := p.Extra.Get("source")
	raw, _ := jsonx.Lookup(source, "type")
	switch ref := sourceURL(source); {
	case e.m.Own:
	case ref != "" && e.in.fetch != nil:
		return e.fetchedPart(path, ref, p, begin)
	case string(raw) == `"url"`:
		return providers.Invalid(path+".source", noURLs)
	case string(raw) == `"file"`:
		return providers.Invalid(path+".source", "the platform takes no file ids for Claude models: send the data itself")
	}
	mark, _ := p.Extra.Get("cache_control")
	own := *p
	own.Extra = jsonx.DeleteMember(own.Extra, "cache_control")
	block, err := own.MarshalJSON()
	if err != nil {
		return providers.Invalid(path, "not the text of a JSON object")
	}
	begin(p.Type)
	e.w.Raw(block)
	e.mark(path+".cache_control", mark, true)
	return nil
}

// fetchedPart writes an image or a document in the platform's own form with the
// data in place of its URL.
func (e *claudeEncoder) fetchedPart(path, ref string, p *providers.ContentPart, begin func(kind string)) error {
	md, err := e.inline(path+".source.url", ref, "")
	if err != nil {
		return err
	}
	if isImage := kindOf(md.mime) == kindImage; isImage != (p.Type == "image") {
		return providers.Invalid(path+".source.url", "leads to "+quoteShort(md.mime)+", which is no "+p.Type)
	}
	if err := e.source(path+".source", md, "", p, begin); err != nil {
		return err
	}
	mark, _ := p.Extra.Get("cache_control")
	e.mark(path+".cache_control", mark, true)
	known := []string{"source", "cache_control"}
	if p.Type == "document" {
		known = append(known, documentMembers...)
	}
	e.out.unknown(path, p.Extra, known...)
	return nil
}

// system writes the system messages, from any position, as one list of blocks.
func (e *claudeEncoder) system() error {
	start := e.w.Len()
	e.w.Key("system")
	e.w.BeginArray()
	open := e.w.Len()
	for i := range e.q.Messages {
		m := &e.q.Messages[i]
		if m.Role != providers.RoleSystem && m.Role != providers.RoleDeveloper {
			continue
		}
		before := e.w.Len()
		if parts := m.Content.Parts(); parts == nil {
			e.systemText(contentSpot(i, -1), m.Content.Text(), nil)
		} else {
			for j := range parts {
				if parts[j].Type != providers.PartText {
					return providers.Invalid(partPath(i, j, "type"), "a system message takes only text")
				}
				e.systemText(contentSpot(i, j), parts[j].Text, parts[j].Extra)
			}
		}
		if raw, ok := m.Extra.Get("cache_control"); ok && e.w.Len() > before && !e.marked() {
			e.mark(messagePath(i, "cache_control"), raw, false)
		}
	}
	if e.w.Len() == open {
		e.w.Truncate(start)
		return nil
	}
	e.w.EndArray()
	return nil
}

func (e *claudeEncoder) systemText(at spot, text string, extra providers.Extra) {
	if strings.TrimSpace(text) == "" {
		return
	}
	e.w.BeginObject()
	e.w.Key("type")
	e.w.String("text")
	e.w.Key("text")
	e.w.String(text)
	e.w.EndObject()
	if raw, ok := extra.Get("cache_control"); ok {
		e.mark(at.path("cache_control"), raw, false)
	}
}
