package answers

import (
	"slices"
	"strings"

	"github.com/b650d4bf/gateway/providers"
)

// Rules say which answers are kept. The zero Rules keep those alone that another
// caller could have got at another time.
type Rules struct {
	// Truncated also keeps answers that ended with the length limit.
	Truncated bool
	// PlatformTools also keeps answers to requests with tools that the platform
	// runs, such as web_search, url_context and code_execution, and answers that
	// rest on sources.
	PlatformTools bool
	// Stateful also keeps answers to requests with members for state at the
	// provider.
	Stateful bool
	// RemoteMediaOff keeps no answers to requests that name media by URL.
	RemoteMediaOff bool
	// MaxTemperature keeps no answers to requests with a higher temperature, or
	// with none; nil is no limit.
	MaxTemperature *float64
	// MaxBytes bounds a kept answer.
	MaxBytes int
}

// DefaultMaxBytes bounds a kept answer where the rules don't.
const DefaultMaxBytes = 16 << 20

// Fits reports whether a kept answer is within the limit.
func (r *Rules) Fits(body []byte) bool {
	limit := r.MaxBytes
	if limit == 0 {
		limit = DefaultMaxBytes
	}
	return len(body) <= limit
}

// statefulMembers are members of requests that read or write state at a provider.
//
// Source: https://platform.openai.com/docs/api-reference/responses/create and
// https://platform.openai.com/docs/api-reference/chat/create
var statefulMembers = []string{"previous_response_id", "conversation", "container", "background"}

// Request says why a request is kept out of the cache; "" when it is not.
func (r *Rules) Request(q *providers.ChatCompletionRequest) string {
	if !r.PlatformTools {
		for i := range q.Tools {
			if isPlatformTool(&q.Tools[i]) {
				return "tools[" + itoa(i) + "]: the platform runs it, and its result may be another one each time"
			}
		}
		for _, name := range []string{"web_search_options", "google"} {
			if _, ok := q.Extra.Get(name); ok && (name != "google" || hasGoogleTools(q.Extra)) {
				return name + ": the platform searches, and the result may be another one each time"
			}
		}
	}
	if !r.Stateful {
		for _, name := range statefulMembers {
			if _, ok := q.Extra.Get(name); ok {
				return name + ": the answer depends on state at the provider"
			}
		}
		if v, ok := q.Extra.Get("store"); ok && string(v) == "true" {
			return "store: the answer is state at the provider"
		}
	}
	if r.MaxTemperature != nil && (q.Temperature == nil || *q.Temperature > *r.MaxTemperature) {
		return "temperature: is higher than the rules allow"
	}
	if r.RemoteMediaOff && remoteMedia(q) {
		return "messages: media by URL may change, and the rules keep such requests out"
	}
	return ""
}

// hasGoogleTools reports whether the platform's own member asks for its tools.
func hasGoogleTools(extra providers.Extra) bool {
	raw, _ := extra.Get("google")
	_, ok := providers.Extra(raw).Get("tools")
	return ok
}

// platformNames are functions that stand for tools of the platform.
var platformNames = []string{
	"web_search", "google_search", "googleSearch", "web_search_retrieval", "google_search_retrieval", "googleSearchRetrieval",
	"enterprise_web_search", "enterpriseWebSearch", "google_maps", "googleMaps", "url_context", "urlContext", "code_execution",
	"codeExecution", "code_interpreter", "web_search_preview", "file_search", "vertex_ai_search", "retrieval", "computer_use", "computerUse",
	"web_fetch", "mcp",
}

// isPlatformTool reports whether the platform runs the tool itself. A function of
// the caller's with one of those names counts as one, as it does to translators.
func isPlatformTool(t *providers.Tool) bool {
	return t.Type != "function" && t.Type != "" && t.Type != "custom" || slices.Contains(platformNames, t.Function.Name)
}

// remoteMedia reports whether a message has media by a URL that is fetched later.
func remoteMedia(q *providers.ChatCompletionRequest) bool {
	return slices.ContainsFunc(q.Messages, func(m providers.Message) bool {
		return slices.ContainsFunc(m.Content.Parts(), func(p providers.ContentPart) bool {
			return p.ImageURL != nil && !strings.HasPrefix(p.ImageURL.URL, "data:") ||
				p.File != nil && (p.File.FileURL != "" && !strings.HasPrefix(p.File.FileURL, "data:") || p.File.FileID != "")
		})
	})
}

// sourceMembers are members of choices that say an answer rests on sources.
var sourceMembers = []string{"groundingMetadata", "urlContextMetadata"}

// Answer says why an answer is not kept; "" when it is.
func (r *Rules) Answer(c *providers.ChatCompletion) string {
	if len(c.Choices) == 0 {
		return "the answer has no choice"
	}
	for i := range c.Choices {
		ch := &c.Choices[i]
		switch ch.FinishReason {
		case providers.FinishStop, providers.FinishToolCalls:
			if !isWhole(ch.NativeFinishReason) {
				return "the answer is not whole: the platform gives another reason for its end than that it was done"
			}
		case providers.FinishLength:
			if !r.Truncated {
				return "the answer ended with the length limit"
			}
		default:
			return "the answer is not whole: its finish reason is not stop or tool_calls"
		}
		if r.PlatformTools {
			continue
		}
		if hasSources(ch.Extra) || cites(&ch.Message) {
			return "the answer rests on sources that were looked up"
		}
	}
	return ""
}

// wholeReasons are the platforms' own words, in lower case, for an answer that ended
// by itself. The schema has few words, so that others, such as OTHER, NO_IMAGE and
// pause_turn, are "stop" in it too.
//
// Source: https://cloud.google.com/vertex-ai/generative-ai/docs/reference/rest/v1/GenerateContentResponse#FinishReason,
// https://docs.anthropic.com/en/api/handling-stop-reasons and
// https://platform.openai.com/docs/api-reference/chat/object
var wholeReasons = []string{
	"stop", "end_turn", "stop_sequence", "tool_use", "tool_calls", "function_call", "eos", "eos_token", "end_of_text",
}

// isWhole reports whether the platform's own reason, if it gives one, says that the
// answer ended by itself.
func isWhole(native string) bool {
	return native == "" || slices.Contains(wholeReasons, strings.ToLower(native))
}

// hasSources reports whether a choice has such a member that says anything.
func hasSources(extra providers.Extra) bool {
	return len(extra) > 0 && slices.ContainsFunc(sourceMembers, func(name string) bool {
		raw, ok := extra.Get(name)
		return ok && string(raw) != "{}" && string(raw) != "null"
	})
}

// cites reports whether a message names sources from the web.
func cites(m *providers.Message) bool {
	return slices.ContainsFunc(m.Annotations, func(a providers.Annotation) bool { return a.Type == providers.AnnotationURLCitation })
}

// Calls reports whether an answer calls tools: its arguments are made of the very
// words of the request, so that it is never found by meaning.
func Calls(c *providers.ChatCompletion) bool {
	return slices.ContainsFunc(c.Choices, func(ch providers.Choice) bool { return len(ch.Message.ToolCalls) > 0 })
}
