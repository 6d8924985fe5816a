package prices

import (
	"bytes"
	"strconv"
	"strings"
	"time"

	"github.com/b650d4bf/gateway/providers"
)

// Use is what one call used. [Table.Cost] makes one of a record; make one yourself
// for what has no record, such as a line of a batch.
type Use struct {
	// Provider, Slug and Model are those of [providers.Meta].
	Provider, Slug, Model string
	// Time is when; prices have days.
	Time time.Time
	// Region is where the model was asked. Empty is "global".
	Region string
	// Class is the class of service. What the Usage says of it wins, unless it is
	// [Standard].
	Class Class
	// Size is that of the images.
	Size string
	// Usage counts the tokens; nil when nobody did.
	Usage *providers.Usage
	// Searches, Maps, Images, Documents, Characters and Media are those of
	// [providers.Billed].
	Searches   int
	Maps       bool
	Images     int
	Documents  int
	Characters int
	Media      bool
}

// useOf returns what a record says.
func useOf(r *providers.Record) Use {
	b := &r.Billed
	return Use{
		Class: Class(b.ServiceTier), Media: b.Media, Provider: r.Meta.Provider, Slug: r.Meta.Slug, Model: r.Meta.Model, Time: r.Start, Region: b.Region, Size: b.ImageSize, Usage: r.Usage,
		Searches: b.Searches, Maps: b.Maps, Images: b.Images, Documents: b.Documents, Characters: b.Characters,
	}
}

// regional reports whether the call went to a region.
func (u *Use) regional() bool {
	region := u.Region
	if strings.HasPrefix(u.Model, "projects/") {
		if _, named := reference(u.Model); named != "" {
			region = named
		}
	}
	return region != "" && region != "global"
}

// nothing reports whether nothing was counted.
func (u *Use) nothing() bool {
	return u.Usage == nil && u.Searches == 0 && !u.Maps && u.Images == 0 && u.Documents == 0 && u.Characters == 0
}

// counts are what a call used, before it is known what has prices of its own.
type counts struct {
	class                           Class
	prompt, completion              int64 // all tokens
	cached, cachedAudio             int64
	cacheWrite, writeHour           int64
	audioIn, imageIn, videoIn       int64
	reasoning, audioOut, imageOut   int64
	images, searches, maps          int64
	codeRuns, documents, characters int64
	audioTold                       bool // cachedAudio is known
	resident                        bool // the call had to stay in a country
	media                           bool // the prompt has media, which the usage does not tell apart
	bad                             bool // a counter makes no sense
}

// documentsPerQuery is how many documents one query may order.
//
// Source: https://cloud.google.com/generative-ai-app-builder/pricing
const documentsPerQuery = 100

// count reads the use.
func (u *Use) count(c *counts) {
	c.class = classOf(string(u.Class))
	c.media = u.Media
	c.images, c.searches, c.characters = int64(u.Images), int64(u.Searches), int64(u.Characters)
	c.documents = (int64(u.Documents) + documentsPerQuery - 1) / documentsPerQuery
	if u.Maps {
		c.maps = 1
	}
	if u.Usage != nil {
		c.usage(u.Usage)
	}
	for _, n := range [...]int64{
		c.prompt, c.completion, c.cached, c.cachedAudio, c.cacheWrite, c.writeHour, c.audioIn, c.imageIn, c.videoIn,
		c.reasoning, c.audioOut, c.imageOut, c.images, c.searches, c.codeRuns, c.documents, c.characters,
	} {
		c.bad = c.bad || n < 0
	}
}

func (c *counts) usage(u *providers.Usage) {
	c.prompt, c.completion = u.PromptTokens, u.CompletionTokens
	c.cached, c.audioIn = u.PromptTokensDetails.CachedTokens, u.PromptTokensDetails.AudioTokens
	c.reasoning, c.audioOut = u.CompletionTokensDetails.ReasoningTokens, u.CompletionTokensDetails.AudioTokens
	if extra := u.PromptTokensDetails.Extra; len(extra) > 0 {
		c.imageIn, c.videoIn = c.number(extra, "image_tokens"), c.number(extra, "video_tokens")
		_, c.audioTold = extra.Get("cached_audio_tokens")
		c.cachedAudio = c.number(extra, "cached_audio_tokens")
	}
	if extra := u.CompletionTokensDetails.Extra; len(extra) > 0 {
		c.imageOut = c.number(extra, "image_tokens")
	}
	if len(u.Extra) > 0 && !usual(u.Extra) {
		c.extra(u.Extra)
	}
}

// The extras of a usual call, which have nothing to read.
var (
	onDemand = []byte(`{"traffic_type":"ON_DEMAND"}`)
	standard = []byte(`{"service_tier":"standard"}`)
)

func usual(extra []byte) bool { return bytes.Equal(extra, onDemand) || bytes.Equal(extra, standard) }

// classes are the platforms' words for a class of service.
//
// Sources: https://cloud.google.com/vertex-ai/generative-ai/docs/reference/rest/v1/GenerateContentResponse#TrafficType,
// https://ai.google.dev/gemini-api/docs/flex-inference, https://platform.claude.com/docs/en/api/service-tiers
var classes = map[string]Class{
	"ON_DEMAND": Standard, "ON_DEMAND_FLEX": Flex, "ON_DEMAND_PRIORITY": Priority, "PROVISIONED_THROUGHPUT": Provisioned,
	"standard": Standard, "default": Standard, "auto": Standard, "flex": Flex, "priority": Priority, "batch": Batch,
}

// classOf returns the class that a platform's word means. One that is not known is a
// class without prices.
func classOf(word string) Class {
	if class, ok := classes[word]; ok || word == "" {
		return class
	}
	return Class(word)
}

// extra reads the platform's own counters.
func (c *counts) extra(extra providers.Extra) {
	for name, raw := range extra.All() {
		switch name {
		case "traffic_type", "service_tier":
			if class := classOf(strings.Trim(string(raw), `"`)); class != Standard {
				c.class = class
			}
		case "speed":
			if string(raw) == `"fast"` {
				c.class = "fast"
			}
		case "inference_geo":
			c.resident = string(raw) == `"us"`
		case "billable_characters":
			c.characters = c.parse(raw)
		case "cache_creation_input_tokens":
			c.cacheWrite += c.parse(raw)
		case "cache_creation":
			c.writeHour = c.number(providers.Extra(raw), "ephemeral_1h_input_tokens")
		case "server_tool_use":
			c.searches += c.number(providers.Extra(raw), "web_search_requests")
			c.codeRuns += c.number(providers.Extra(raw), "code_execution_requests")
		}
	}
	c.cacheWrite -= c.writeHour
}

// number reads a member, 0 when it is not there.
func (c *counts) number(extra providers.Extra, name string) int64 {
	raw, ok := extra.Get(name)
	if !ok {
		return 0
	}
	return c.parse(raw)
}

func (c *counts) parse(raw []byte) int64 {
	if string(raw) == "null" {
		return 0
	}
	n, err := strconv.ParseInt(string(raw), 10, 64)
	c.bad = c.bad || err != nil
	return n
}

// units counts by kind.
type units [kinds]int64

// units lays the counts out by the kinds that a price list tells apart. The parts
// of a prompt and of a completion add up to the whole.
func (c *counts) units(s *sheet) (out units, reason Reason) {
	out[Search], out[Maps], out[CodeExecution] = c.searches, c.maps, c.codeRuns
	if s.rates[Search] == 0 && s.rates[Grounding] > 0 {
		out[Search], out[Grounding] = 0, min(c.searches, 1)
	}
	out[Rerank], out[Character] = c.documents, c.characters
	switch {
	case s.rates[Image] > 0:
		out[Image] = c.images
	case c.imageOut == 0 && c.completion == 0:
		out[Image] = c.images
	}
	if s.rates[Character] == 0 && c.prompt+c.completion > 0 {
		out[Character] = 0 // it is charged by tokens
	}
	if !c.promptUnits(s, &out) || !c.completionUnits(s, &out) || c.media {
		return out, ReasonUsage
	}
	if s.rates[Character] > 0 && s.rates[Input] == 0 {
		if out[Input] > 0 && out[Character] == 0 {
			return out, ReasonUsage
		}
		out[Input] = 0 // it is charged by characters
	}
	return out, ""
}

// promptUnits reports whether the counts of the prompt fit each other.
func (c *counts) promptUnits(s *sheet, out *units) bool {
	out[CacheWrite], out[CacheWriteHour] = c.cacheWrite, c.writeHour
	out[CachedInput] = c.cached
	fresh := c.prompt - c.cached - c.cacheWrite - c.writeHour
	if s.rates[AudioInput] > 0 && c.audioIn > 0 {
		least, most := max(0, c.cached-(c.prompt-c.audioIn)), min(c.cached, c.audioIn)
		if c.audioTold {
			least, most = c.cachedAudio, c.cachedAudio
		}
		if least != most {
			return false
		}
		out[CachedAudio], out[CachedInput] = least, c.cached-least
		out[AudioInput] = c.audioIn - least
		fresh -= out[AudioInput]
	}
	for _, m := range [...]struct {
		kind Kind
		n    int64
	}{{ImageInput, c.imageIn}, {VideoInput, c.videoIn}} {
		if s.rates[m.kind] > 0 {
			out[m.kind] = m.n
			fresh -= m.n
		}
	}
	out[Input] = fresh
	return fresh >= 0 && out[CachedInput] >= 0 && out[AudioInput] >= 0 && out[CacheWrite] >= 0
}

// completionUnits reports whether the counts of the completion fit each other.
func (c *counts) completionUnits(s *sheet, out *units) bool {
	rest := c.completion
	if s.rates[Reasoning] > 0 {
		out[Reasoning] = c.reasoning
		rest -= c.reasoning
	}
	if s.rates[Image] == 0 {
		out[ImageOutput] = c.imageOut
	}
	out[AudioOutput] = c.audioOut
	rest -= c.imageOut + c.audioOut
	out[Output] = rest
	return rest >= 0
}
