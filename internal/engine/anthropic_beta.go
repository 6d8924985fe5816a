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

// betaFeature is one row of the table of beta features that the platform knows
// by another name, or not at all. Every other name goes as it is.
type betaFeature struct {
	// name is the feature's, without its date or with it.
	name string
	// as is the name that the platform takes; empty when it takes none.
	as   string
	note string
	link string
}

const betaPage = "https://platform.claude.com/docs/en/api/beta-headers"

// betaFeatures is the table. Config.BetaFeatures goes before it.
var betaFeatures = []betaFeature{
	{"advanced-tool-use", "tool-search-tool-2025-10-19", "", betaPage},
	{"files-api", "", "the platform takes no file ids", claudeOnVertex},
	{"skills", "", "the platform has no skills", claudeOnVertex},
	{"mcp-client", "", "the platform connects to no MCP servers", claudeOnVertex},
	{"code-execution", "", "the platform runs no code for these models", claudeOnVertex},
	{"web-fetch", "", "the platform fetches no pages for these models", claudeOnVertex},
	{"fast-mode", "", "the platform has no fast mode", claudeOnVertex},
	{"output-128k", "", "the platform does not know it", claudeOnVertex},
	{"structured-outputs", "", "it is no beta any more, and needs no header", claudeOutputs},
	{"effort", "", "it is no beta any more, and needs no header", claudeEffort},
	{"fine-grained-tool-streaming", "", "it is no beta any more, and needs no header", claudeOnVertex},
	{"token-efficient-tools", "", "the platform does not know it", claudeOnVertex},
	{"prompt-caching-scope", "", "the platform does not know it", claudeOnVertex},
	{"advisor-tool", "", "the platform has no advisor", claudeOnVertex},
	{"oauth", "", "it belongs to another way to sign in", claudeOnVertex},
	{"claude-code", "", "the platform does not know it", claudeOnVertex},
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
func (f claudeFamily) beta(name string) (as, note string) {
	for _, key := range [2]string{name, betaStem(name)} {
		if as, ok := f.betas[key]; ok {
			return as, "left out by the gateway's settings"
		}
	}
	for i := range betaFeatures {
		if row := &betaFeatures[i]; row.name == name || row.name == betaStem(name) {
			return row.as, row.note
		}
	}
	return name, ""
}

// headers writes what goes on top of the target's header: the beta features, and
// nothing in place of headers that the platform has no use for.
func (e *claudeEncoder) headers() error {
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
	as, note := e.f.beta(name)
	switch {
	case as == "":
		e.warnf(providers.WarnUnsupported, path, "left out "+quoteShort(name)+": "+note)
	case slices.Contains(e.in.noBetas, as):
		e.warnf(providers.WarnUnsupported, path, "left out "+quoteShort(name)+": the platform has refused it")
	case !slices.Contains(e.betas, as):
		e.betas = append(e.betas, as)
	}
}

// needBeta asks for a feature that a part of the request needs.
func (e *claudeEncoder) needBeta(name string) {
	if name == "" {
		return
	}
	if as, _ := e.f.beta(name); as != "" && !slices.Contains(e.in.noBetas, as) && !slices.Contains(e.betas, as) {
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
// `anthropic-beta` header.
func refusedBetas(message string) []string {
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
