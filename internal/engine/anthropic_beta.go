package engine

import (
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/b650d4bf/gateway/internal/jsonx"
	"github.com/b650d4bf/gateway/providers"
)

// betaHeader carries the beta features that are asked of Claude models. No other
// family gets it.
const betaHeader = "Anthropic-Beta"

// betaFeature is one row of the table of beta features that Vertex AI knows by
// another name, or not at all. Every other name goes as it is.
type betaFeature struct {
	// name is the feature's, without its date or with it.
	name string
	// as is the name that Vertex AI takes; empty when it takes none.
	as   string
	note string
	// own says that the vendor's own service takes the feature as it is.
	own  bool
	link string
}

const betaPage = "https://platform.claude.com/docs/en/api/beta-headers"

// betaFeatures is the table. Config.BetaFeatures goes before it.
var betaFeatures = []betaFeature{
	{"advanced-tool-use", "tool-search-tool-2025-10-19", "", true, betaPage},
	{"files-api", "", "the platform takes no file ids", true, claudeOnVertex},
	{"skills", "", "the platform has no skills", true, claudeOnVertex},
	{"mcp-client", "", "the platform connects to no MCP servers", true, claudeOnVertex},
	{"code-execution", "", "the platform runs no code for these models", true, claudeOnVertex},
	{"web-fetch", "", "the platform fetches no pages for these models", true, claudeOnVertex},
	{"fast-mode", "", "the platform has no fast mode", true, claudeOnVertex},
	{"output-128k", "", "the platform does not know it", true, claudeOnVertex},
	{"structured-outputs", "", "it is no beta any more, and needs no header", true, claudeOutputs},
	{"effort", "", "it is no beta any more, and needs no header", true, claudeEffort},
	{"fine-grained-tool-streaming", "", "it is no beta any more, and needs no header", true, claudeOnVertex},
	{"token-efficient-tools", "", "the platform does not know it", true, claudeOnVertex},
	{"prompt-caching-scope", "", "the platform does not know it", true, claudeOnVertex},
	{"advisor-tool", "", "the platform has no advisor", true, claudeOnVertex},
	{"oauth", "", "it belongs to another way to sign in", false, claudeOnVertex},
	{"claude-code", "", "the platform does not know it", true, claudeOnVertex},
}

// betaStem takes the date off a feature's name: a-b-2025-01-31 is a-b.
func betaStem(name string) string {
	const date = len("-2025-01-31")
	if n := len(name) - date; n > 0 && strings.HasPrefix(name[n:], "-20") {
		return name[:n]
	}
	return name
}

// beta decides about one feature: the name to send, or why none is sent.
func (e *claudeEncoder) beta(name string) (as, note string) {
	for _, key := range [2]string{name, betaStem(name)} {
		if as, ok := e.f.betas[key]; ok {
			return as, "left out by the gateway's settings"
		}
	}
	for i := range betaFeatures {
		row := &betaFeatures[i]
		if row.name != name && row.name != betaStem(name) {
			continue
		}
		if e.m.Own && row.own {
			break
		}
		return row.as, row.note
	}
	return name, ""
}

// headers writes what goes on top of the target's header: the beta features, and
// nothing in place of headers that the platform has no use for.
func (e *claudeEncoder) headers() error {
	e.needed = len(e.betas)
	for _, line := range e.in.target.Header[betaHeader] {
		for name := range strings.SplitSeq(line, ",") {
			e.addBeta("anthropic-beta", strings.TrimSpace(name))
		}
	}
	if raw, path := e.take("anthropic_beta"); raw != nil {
		r := jsonx.NewReader(raw)
		if r.Kind() == jsonx.String {
			e.addBeta(path, r.String())
		} else {
			for r.Array(); r.NextElem(); {
				e.addBeta(path, r.String())
			}
		}
		if r.Err() != nil {
			return providers.Invalid(path, "must be a list of names")
		}
	}
	if e.m.Own {
		if len(e.betas) > 0 {
			e.out.header = http.Header{betaHeader: {strings.Join(e.betas, ",")}}
		}
		return nil
	}
	if len(e.betas) == 0 && e.out.header == nil {
		e.out.header = noHeaders
		return nil
	}
	h := maps.Clone(noHeaders)
	maps.Copy(h, e.out.header)
	if len(e.betas) > 0 {
		h[betaHeader] = []string{strings.Join(e.betas, ",")}
	}
	e.out.header = h
	return nil
}

// noHeaders takes the place of headers of the vendor's own platform, which mean
// nothing here. It is shared and never changed.
var noHeaders = http.Header{"Anthropic-Version": nil, "X-Api-Key": nil}

// addBeta asks for a feature, unless the platform does not have it.
func (e *claudeEncoder) addBeta(path, name string) {
	if name == "" {
		return
	}
	as, note := e.beta(name)
	switch {
	case as == "":
		e.warnf(providers.WarnUnsupported, path, "left out "+quoteShort(name)+": "+note)
	case slices.Contains(e.in.noBetas, as):
		e.warnf(providers.WarnUnsupported, path, "left out "+quoteShort(name)+": the platform has refused it")
	case slices.Contains(e.betas, as):
	case e.redates(as):
	default:
		e.betas = append(e.betas, as)
	}
}

// datedForms are features whose date says which form a member has, so that the
// caller's date takes the place of the one that was guessed.
//
// Source: https://platform.claude.com/docs/en/agents-and-tools/mcp-connector and
// https://platform.claude.com/docs/en/build-with-claude/refusals-and-fallback
var datedForms = []string{"mcp-client", "server-side-fallback"}

// redates puts a feature that the caller asks for in the place of the same one
// with another date, which a part of the request was taken to need.
func (e *claudeEncoder) redates(name string) bool {
	stem := betaStem(name)
	if !slices.Contains(datedForms, stem) {
		return false
	}
	i := slices.IndexFunc(e.betas[:e.needed], func(b string) bool { return betaStem(b) == stem })
	if i >= 0 {
		e.betas[i] = name
	}
	return i >= 0
}

// needBeta asks for a feature that a part of the request needs.
func (e *claudeEncoder) needBeta(name string) {
	if name == "" {
		return
	}
	if as, _ := e.beta(name); as != "" && !slices.Contains(e.in.noBetas, as) && !slices.Contains(e.betas, as) {
		e.betas = append(e.betas, as)
	}
}

// quoteShort quotes a name of the caller for a warning.
func quoteShort(s string) string {
	if len(s) > 60 {
		s = s[:60] + "…"
	}
	return `"` + strings.ToValidUTF8(s, "") + `"`
}

// refusedBetas reads the names out of the platform's sentence about beta
// features that it does not know: Unexpected value(s) `a`, `b` for the
// `anthropic-beta` header, or Unsupported beta header: a.
//
// Source: https://platform.claude.com/docs/en/api/beta-headers
func refusedBetas(message string) []string {
	if name, ok := strings.CutPrefix(message, "Unsupported beta header: "); ok && name != "" && !strings.ContainsAny(name, " ,`") {
		return []string{name}
	}
	_, rest, ok := strings.Cut(message, "Unexpected value(s)")
	if !ok {
		return nil
	}
	list, _, ok := strings.Cut(rest, " for the `anthropic-beta`")
	if !ok {
		return nil
	}
	var names []string
	for i, part := range strings.Split(list, "`") {
		if i%2 == 1 && part != "" {
			for name := range strings.SplitSeq(part, ",") {
				names = append(names, strings.TrimSpace(name))
			}
		}
	}
	return names
}
