package engine

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/b650d4bf/gateway/internal/fetch"
	"github.com/b650d4bf/gateway/internal/jsonx"
	"github.com/b650d4bf/gateway/internal/transport"
	"github.com/b650d4bf/gateway/providers"
)

// maxFetches is the most URLs of one request that are fetched.
const maxFetches = 100

// fetchTypes are the types of files that are fetched: those that Claude models
// read.
var fetchTypes = slices.Concat(claudeImages, []string{"application/pdf", "text/plain"})

// mediaRef is a URL of a request, and the first member that names it.
type mediaRef struct{ url, path string }

// gather fetches what URLs of the request lead to, for a wire that takes none.
// It is done before anything is sent, and once for all that is sent. What it takes
// is taken off the limit on the whole call.
func (p *Engine) gather(ctx context.Context, c *call) error {
	if p.fetcher == nil || c.in.model.Family != FamilyClaude {
		return nil
	}
	refs := mediaRefs(c.in.chat)
	if len(refs) > maxFetches {
		return providers.Invalid(refs[maxFetches].path, "no more than "+strconv.Itoa(maxFetches)+" URLs of one request are fetched")
	}
	urls := make([]string, len(refs))
	for i := range refs {
		urls[i] = refs[i].url
	}
	begun := time.Now()
	if total := c.in.target.Timeouts.Total; total > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, total)
		defer cancel()
	}
	docs, err := p.fetcher.Get(ctx, urls)
	if err != nil {
		return fetchError(ctx, refs, err)
	}
	files := make(fetchedFiles, len(refs))
	for i := range refs {
		files[refs[i].url] = file{
			mime: fileType(docs[i].Data), server: canonicalType(docs[i].Type), base64: base64.StdEncoding.EncodeToString(docs[i].Data),
		}
	}
	c.in.fetch = files.media
	if len(refs) > 0 {
		c.in.target = remaining(c.in.target, begun)
	}
	return nil
}

// mediaRefs lists the URLs of the messages that may hold media, each once, and no
// more than tell that there are too many.
func mediaRefs(q *providers.ChatCompletionRequest) []mediaRef {
	var refs []mediaRef
	add := func(ref, path string) {
		isURL := strings.HasPrefix(ref, "https://") || strings.HasPrefix(ref, "http://")
		if isURL && len(refs) <= maxFetches && !slices.ContainsFunc(refs, func(r mediaRef) bool { return r.url == ref }) {
			refs = append(refs, mediaRef{ref, path})
		}
	}
	for i := range q.Messages {
		m := &q.Messages[i]
		if m.Role != providers.RoleUser && m.Role != providers.RoleTool {
			continue
		}
		parts := m.Content.Parts()
		for j := range parts {
			switch p := &parts[j]; {
			case p.Type == providers.PartImageURL && p.ImageURL != nil:
				add(p.ImageURL.URL, partPath(i, j, "image_url.url"))
			case p.Type == providers.PartFile && p.File != nil:
				add(p.File.FileURL, partPath(i, j, "file.file_url"))
			case slices.Contains(claudeParts, p.Type):
				source, _ := p.Extra.Get("source")
				add(sourceURL(source), partPath(i, j, "source.url"))
			}
		}
	}
	return refs
}

// sourceURL returns the URL of a source in the form of Claude, "" for none.
func sourceURL(source []byte) string {
	if kind, _ := jsonx.Lookup(source, "type"); string(kind) != `"url"` {
		return ""
	}
	raw, _ := jsonx.Lookup(source, "url")
	r := jsonx.NewReader(raw)
	if r.Kind() != jsonx.String {
		return ""
	}
	return r.String()
}

// fetchError names the member whose URL has failed.
func fetchError(ctx context.Context, refs []mediaRef, err error) error {
	e, ok := errors.AsType[*fetch.Error](err)
	if !ok {
		return err
	}
	codes := map[fetch.Kind]providers.Code{
		fetch.Refused: providers.ErrInvalidRequest, fetch.TooLarge: providers.ErrTooLarge,
		fetch.Unreachable: providers.ErrConnection, fetch.Late: providers.ErrTimeout,
	}
	if e.Kind == fetch.Ended {
		return transport.ContextError(ctx, false)
	}
	return &providers.Error{
		Code: codes[e.Kind], Param: refs[e.Index].path, Err: e.Err,
		Message: "the URL was not fetched: " + e.Message + ": check it, or send the data itself as a data URI",
	}
}

// file is a file that was fetched.
type file struct {
	mime   string // that it looks like, "" for none that is known
	server string // the type that its server says
	base64 string
}

// fetchedFiles are the files of one request, by their URLs. Its requests share
// them, so that they never change.
type fetchedFiles map[string]file

// media returns the file that a URL has led to, or what is wrong with it. What
// it looks like must be the type that is given. That it is text, which pages that
// say sorry are too, must also be what its server and its name say.
func (files fetchedFiles) media(ref, given string) (media, string) {
	f, ok := files[ref]
	if !ok {
		return media{}, "only https URLs are fetched: give one, or send the data itself as a data URI"
	}
	claims := []string{canonicalType(given)}
	if kindOf(f.mime) == kindText {
		claims = append(claims, typeOfPath(ref))
		if f.server != "application/octet-stream" && f.server != "binary/octet-stream" {
			claims = append(claims, f.server)
		}
	}
	wrong := slices.IndexFunc(claims, func(claim string) bool { return claim != "" && claim != f.mime })
	switch {
	case f.base64 == "":
		return media{}, "the URL leads to an empty file"
	case !slices.Contains(fetchTypes, f.mime):
		return media{}, "the URL leads to no jpeg, png, gif or webp image, no PDF and no text"
	case wrong >= 0:
		return media{}, "the URL leads to " + f.mime + ", and not to " + quoteShort(claims[wrong]) + ", as it should: check it, or correct mime_type"
	}
	return media{mime: f.mime, base64: f.base64}, ""
}

// typeOfPath infers the media type from the path of a URL.
func typeOfPath(ref string) string {
	u, err := url.Parse(ref)
	if err != nil {
		return ""
	}
	return typeOfName(u.Path)
}

// fileType tells the media type by the first bytes, or that it is text; "" for
// anything else.
func fileType(data []byte) string {
	for _, m := range magicNumbers {
		if len(data) >= len(m.pattern) && hasMagic(data, m.pattern) {
			return m.mime
		}
	}
	if utf8.Valid(data) && bytes.IndexByte(data, 0) < 0 {
		return "text/plain"
	}
	return ""
}
