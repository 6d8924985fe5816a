package engine

import (
	"cmp"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/b650d4bf/gateway/internal/jsonx"
	"github.com/b650d4bf/gateway/providers"
)

// claudeService speaks the Messages method with the vendor's own service, where
// one path serves streams and whole answers, and the body says which.
//
// Source: https://platform.claude.com/docs/en/api/messages
type claudeService struct{ *claudeFamily }

func (claudeService) verb(bool) (verb, query string) { return "messages", "" }

// claudeForward is one row of the table of members that the vendor's own service
// takes as they are, and Vertex AI does not: one row for each form.
type claudeForward struct {
	name string
	kind jsonx.Kind
	// beta is the feature that the member needs; "" for none.
	beta string
	// counted says that it is taken where tokens are counted, too.
	counted bool
	link    string
}

// claudeForwards is the table.
var claudeForwards = []claudeForward{
	{"container", jsonx.String, "", false, claudeCode},
	{"container", jsonx.Object, "", false, claudeCode},
	{"mcp_servers", jsonx.Array, mcpBeta, true, claudeMCP},
	{"speed", jsonx.String, "fast-mode-2026-02-01", true, claudeFast},
	{"inference_geo", jsonx.String, "", false, claudeGeo},
	{"diagnostics", jsonx.Object, "", false, messagesPage},
	{"fallbacks", jsonx.Array, "server-side-fallback-2026-06-01", false, claudeFallback},
	{"fallbacks", jsonx.String, "server-side-fallback-2026-07-01", false, claudeFallback},
	{"fallback_credit_token", jsonx.String, "fallback-credit-2026-07-01", false, claudeFallback},
	{"compaction", jsonx.Object, "compact-2026-09-04", true, claudeCompact},
}

// kindWords say what a member must be.
var kindWords = map[jsonx.Kind]string{jsonx.String: "a string", jsonx.Object: "an object", jsonx.Array: "a list"}

// serviceMembers writes the members of the table that are given.
func (e *claudeEncoder) serviceMembers() error {
	for i := range e.extra {
		m := &e.extra[i]
		given := func(o claudeMember) bool { return o.taken && o.row == m.row }
		if m.taken || m.row == nil || m.row.own != forward || slices.ContainsFunc(e.extra[:i], given) {
			continue
		}
		row, must := findClaudeForward(m)
		if row == nil {
			if must == "" {
				continue
			}
			return providers.Invalid(m.path, "must be "+must)
		}
		if m.taken = true; e.counting && !row.counted {
			continue
		}
		e.w.Key(row.name)
		e.w.Raw(m.value)
		if row.name == "mcp_servers" && strings.Contains(string(m.value), `"tool_configuration"`) {
			e.needBeta(oldMCPBeta)
			continue
		}
		e.needBeta(row.beta)
	}
	return nil
}

// findClaudeForward returns the row for a member in its form, or what the form
// must be; neither for a member that is not in the table.
func findClaudeForward(m *claudeMember) (row *claudeForward, must string) {
	r := jsonx.NewReader(m.value)
	kind := r.Kind()
	for i := range claudeForwards {
		row := &claudeForwards[i]
		switch {
		case row.name != m.row.name:
		case row.kind == kind:
			return row, ""
		case must == "":
			must = kindWords[row.kind]
		default:
			must += " or " + kindWords[row.kind]
		}
	}
	return nil, must
}

// ownTiers are the classes of service, by the words of either schema. In the
// OpenAI schema the default is the standard class.
//
// Source: https://platform.claude.com/docs/en/api/service-tiers
var ownTiers = map[string]string{
	"auto": "auto", "priority": "auto", "standard_only": "standard_only", "standard": "standard_only", "default": "standard_only",
}

// ownTier asks the vendor's own service for a class of service.
func (e *claudeEncoder) ownTier(path, tier string) {
	word, ok := ownTiers[tier]
	if !ok {
		e.warnf(providers.WarnUnsupported, path, "left out: the platform knows auto and standard_only for these models")
		return
	}
	e.w.Key("service_tier")
	e.w.String(word)
}

// webMedia returns the reference to what the vendor's own service fetches by
// itself. The type is "" when neither the caller nor the path tells it.
func webMedia(path, ref, mime string) (media, error) {
	md, fault := (&mediaSource{ref: ref, mime: mime}).parse()
	if fault == "" {
		return md, nil
	}
	if u, err := url.Parse(ref); mime != "" || err != nil || u.Hostname() == "" {
		return media{}, providers.Invalid(path, fault)
	}
	return media{uri: ref}, nil
}

// isWeb reports whether a reference is a URL of the web.
func isWeb(ref string) bool {
	return strings.HasPrefix(ref, "https://") || strings.HasPrefix(ref, "http://")
}

// urlSource writes an image or a PDF that the vendor's own service fetches. A
// part says what it is where its type does not.
//
// Source: https://platform.claude.com/docs/en/build-with-claude/vision and
// https://platform.claude.com/docs/en/build-with-claude/pdf-support
func (e *claudeEncoder) urlSource(path string, md media, title string, p *providers.ContentPart, begin func(kind string)) error {
	var kind string
	switch {
	case slices.Contains(claudeImages, md.mime), md.mime == "" && p.Type == providers.PartImageURL:
		kind = "image"
	case md.mime == "application/pdf", md.mime == "":
		kind = "document"
	default:
		return providers.Invalid(path, "by URL Claude models read jpeg, png, gif and webp images and PDFs, and this is "+
			strconv.Quote(md.mime)+": send the data itself")
	}
	e.beginSource(kind, "url", begin)
	e.w.Key("url")
	e.w.String(md.uri)
	e.endSource(kind, title, p)
	return nil
}

// fileSource writes a file that the vendor's own service keeps. It needs no beta
// feature any more.
//
// Source: https://platform.claude.com/docs/en/build-with-claude/files
func (e *claudeEncoder) fileSource(p *providers.ContentPart, begin func(kind string)) {
	kind := "document"
	if strings.HasPrefix(canonicalType(cmp.Or(p.File.MimeType, typeOfName(p.File.Filename))), "image/") {
		kind = "image"
	}
	e.beginSource(kind, "file", begin)
	e.w.Key("file_id")
	e.w.String(p.File.FileID)
	e.endSource(kind, p.File.Filename, p)
}

func (e *claudeEncoder) beginSource(kind, from string, begin func(kind string)) {
	begin(kind)
	e.w.BeginObject()
	e.w.Key("type")
	e.w.String(kind)
	e.w.Key("source")
	e.w.BeginObject()
	e.w.Key("type")
	e.w.String(from)
}

func (e *claudeEncoder) endSource(kind, title string, p *providers.ContentPart) {
	e.w.EndObject()
	if kind == "document" {
		e.describe(title, p)
	}
	e.w.EndObject()
}
