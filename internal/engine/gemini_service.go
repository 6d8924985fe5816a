package engine

import (
	"errors"
	"net/http"

	"github.com/b650d4bf/gateway/internal/jsonx"
	"github.com/b650d4bf/gateway/providers"
)

// cachedContent writes the resource name of the cache that the request goes on
// from. The cache holds the system message and the tools, and the platform
// refuses them beside it.
//
// Source: https://cloud.google.com/vertex-ai/generative-ai/docs/context-cache/context-cache-use
func (e *geminiEncoder) cachedContent() error {
	raw, path := e.take("cached_content")
	if raw == nil {
		return nil
	}
	r := jsonx.NewReader(raw)
	name := r.String()
	switch {
	case r.Err() != nil || name == "":
		return providers.Invalid(path, "must be the name of a cache, such as cachedContents/ID")
	case e.m.facts.NoExplicitCache && !e.m.borrowed:
		return providers.Invalid(path, "this model takes no cache by name: send the content itself, whose prefix the platform caches by itself")
	case e.systems > 0 || len(e.q.Tools) > 0 || e.tooled:
		return providers.Invalid(path, "system messages and tools belong into the cache: leave them out of a request that uses one")
	}
	site, ok := e.in.site.(CacheSite)
	if !ok {
		return providers.Invalid(path, e.in.site.Name()+" keeps no contents by name: send the content itself")
	}
	full, err := site.CacheName(e.in.target, e.m, name)
	if e, ok := errors.AsType[*providers.Error](err); ok && e.Param == "name" {
		return providers.Invalid(path, e.Message)
	}
	if err != nil {
		return err
	}
	if e.purpose == toCount {
		e.warnf(providers.WarnUnsupported, path, "left out: the tokens of the cached content are not counted")
		return nil
	}
	e.w.Key("cachedContent")
	e.w.String(full)
	return nil
}

// serviceTiers maps service_tier to the header that asks for it. The OpenAI
// words priority and flex are classes of pay-as-you-go; dedicated and shared
// choose between provisioned throughput and pay-as-you-go.
//
// Source: https://cloud.google.com/vertex-ai/generative-ai/docs/priority-paygo
// and https://cloud.google.com/vertex-ai/generative-ai/docs/provisioned-throughput/use-provisioned-throughput
var serviceTiers = map[string]string{
	"auto": "", "default": "", "standard": "",
	"priority": "X-Vertex-Ai-Llm-Shared-Request-Type", "flex": "X-Vertex-Ai-Llm-Shared-Request-Type",
	"dedicated": "X-Vertex-Ai-Llm-Request-Type", "shared": "X-Vertex-Ai-Llm-Request-Type",
}

// serviceTier asks for a class of service by a header.
func (e *geminiEncoder) serviceTier() error {
	raw, path := e.take("service_tier")
	if raw == nil {
		return nil
	}
	r := jsonx.NewReader(raw)
	tier := r.String()
	header, ok := serviceTiers[tier]
	switch {
	case r.Err() != nil:
		return providers.Invalid(path, "must be a string")
	case e.m.Own:
		e.ownTier(path, tier)
	case !ok:
		e.warnf(providers.WarnUnsupported, path, "left out: the platform knows priority, flex, dedicated, shared, auto and default")
	case header != "":
		e.out.header = http.Header{header: {tier}}
		e.warnRegionalTier(path, tier)
	}
	return nil
}

// warnRegionalTier tells that a region takes the header and ignores it.
func (e *geminiEncoder) warnRegionalTier(path, tier string) {
	region := e.in.target.Region
	if e.m.Location != "" {
		region = e.m.Location
	}
	if tier == "priority" && region != "global" && region != "us" && region != "eu" {
		e.warnf(providers.WarnUnsupported, path, "the platform ignores it in a single region: use global, us or eu")
	}
}
