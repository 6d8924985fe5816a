package front

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/b650d4bf/gateway/internal/near"
	"github.com/b650d4bf/gateway/providers"
)

const (
	headerPrefix  = "X-Gateway-"
	headerAPIKey  = "X-Gateway-Api-Key"
	anthropicBeta = "Anthropic-Beta"

	headerAnthropicKey = "X-Api-Key"
	authorization      = "authorization"
)

// Header is one request header that the front reads.
type Header struct {
	// Name is in lower case.
	Name string
	// Value shows the shape of the value.
	Value string
	// Does says what the header does.
	Does string
	// Note says what else is worth knowing; may be empty.
	Note string
	// Link leads to the source of the header where that is not this gateway.
	Link string

	// list allows the header to be given more than once.
	list bool
	// set takes a value in and returns what is wrong with it, or "". nil is a
	// header that is read elsewhere.
	set setter
}

// setter takes the value of a header of the request in into o.
type setter func(o *Overrides, in http.Header, value string) (problem string)

// Headers returns the request headers that the front reads. A header with the
// prefix x-gateway- that is not among them is refused. The caller owns the
// slice.
func Headers() []Header {
	return slices.Concat(accessHeaders(), targetHeaders(), callHeaders(), cacheHeaders())
}

// accessHeaders say who asks.
func accessHeaders() []Header {
	return []Header{
		{
			Name: "x-gateway-api-key", Value: "KEY",
			Does: "Shows the gateway's own API key.",
			Note: "Needed when the gateway has keys, unless the key comes as Authorization.",
		},
		{
			Name: "x-api-key", Value: "KEY",
			Does: "Shows the gateway's own API key, on the paths of Anthropic's schema.",
			Note: "It is what Anthropic's clients send, and goes no further.",
			Link: "https://platform.claude.com/docs/en/api/overview",
		},
		{
			Name: "x-goog-api-key", Value: "KEY",
			Does: "Shows the gateway's own API key, on the paths of Google's schema.",
			Note: "It is what Google's clients send, and goes no further. key in the query is taken likewise, which proxies may log.",
			Link: "https://ai.google.dev/gemini-api/docs/api-key",
		},
		{
			Name: authorization, Value: "Bearer TOKEN",
			Does: "Carries the platform's access token, used where nothing else has credentials.",
			Note: "A value that is one of the gateway's API keys is taken as that key and goes no further.",
			Link: "https://www.rfc-editor.org/rfc/rfc6750#section-2.1",
		},
	}
}

// targetHeaders say where a call goes.
func targetHeaders() []Header {
	return []Header{
		{
			Name: "x-gateway-provider", Value: "@slug",
			Does: "Chooses the catalog entry, or the provider by its id.",
			Note: "The @ may be left out. A slug in the body's model wins.",
			set:  setProvider,
		},
		{
			Name: "x-gateway-vertex-project-id", Value: "PROJECT",
			Does: "Sets the platform project, by id or number.",
			set:  setProject,
		},
		{
			Name: "x-gateway-vertex-region", Value: "REGION",
			Does: "Sets the platform location, such as europe-west4, global, us or eu.",
			set:  setRegion,
		},
		{
			Name: "x-gateway-config", Value: `ID | {"targets":[…]}`,
			Does: "Chooses a config of the catalog by its id, or is one, as JSON.",
			Note: "A config that comes this way can't set custom_host: credentials would go there.",
			set:  setConfig,
		},
		{
			Name: "x-gateway-custom-host", Value: "URL",
			Does: "Is refused: a client must not choose the host that credentials go to.",
			set:  refuse("the custom host must be set in the catalog entry's base_url"),
		},
	}
}

// callHeaders say how a call is made.
func callHeaders() []Header {
	return []Header{
		{
			Name: "x-gateway-strict-compliance", Value: "true | false",
			Does: "false adds thinking, signatures, grounding and safety ratings to the answer.",
			Note: "The default is true.",
			set:  setStrict,
		},
		{
			Name: "x-gateway-metadata", Value: `{"team":"search"}`,
			Does: "Attaches metadata to the call for logs and observers.",
			Note: "A JSON object of strings of at most 128 characters.",
			set:  setMetadata,
		},
		{
			Name: "x-gateway-trace-id", Value: "ID",
			Does: "Sets the request id of logs and of the answer's x-gateway-request-id.",
			Note: "1 to 128 of the characters A-Z a-z 0-9 . _ : -",
			set:  setRequestID,
		},
		{
			Name: "x-gateway-request-timeout", Value: "MILLISECONDS",
			Does: "Bounds the whole call, a stream included.",
			set:  setTimeout,
		},
		{
			Name: "x-gateway-forward-headers", Value: "name, name",
			Does: "Lists headers of the request that go on to the platform.",
			Note: "Credentials, cookies and headers about the connection or the body can't be named.",
			list: true, set: setForward,
		},
		{
			Name: "x-gateway-anthropic-beta", Value: "feature, feature",
			Does: "Asks for beta features of Claude models.",
			Note: "The same as anthropic-beta; both are sent on when both are given.",
			Link: "https://docs.anthropic.com/en/api/beta-headers",
			list: true, set: setBeta,
		},
		{
			Name: "anthropic-version", Value: "2023-06-01",
			Does: "Is what Anthropic's clients send; it is not read, and goes no further.",
			Note: "The platform has a version of its own.",
			Link: "https://platform.claude.com/docs/en/api/versioning",
		},
		{
			Name: "anthropic-beta", Value: "feature, feature",
			Does: "Asks for beta features of Claude models.",
			Link: "https://docs.anthropic.com/en/api/beta-headers",
			list: true, set: setBeta,
		},
	}
}

// cacheHeaders are for the response cache.
func cacheHeaders() []Header {
	return []Header{
		{
			Name: "x-gateway-cache-force-refresh", Value: "true | false",
			Does: "true has a new answer made and kept, in place of those in the response cache.",
			Note: noCache, set: setRefresh,
		},
		{
			Name: "x-gateway-cache-namespace", Value: "NAME",
			Does: "Partitions the response cache by this name alone, and by who asks: API keys and tokens never share answers.",
			Note: noCache, set: setNamespace,
		},
		{
			Name: "x-gateway-debug", Value: "true | false",
			Does: "false keeps the call out of the response cache, and its prompt and answer out of the log.",
			set:  setDebug,
		},
	}
}

const noCache = "No effect where no config, client or target has a cache."

// headerRules returns the table by canonical name.
func headerRules() map[string]Header {
	rules := map[string]Header{}
	for _, h := range Headers() {
		if h.Name != authorization {
			rules[http.CanonicalHeaderKey(h.Name)] = h
		}
	}
	return rules
}

// readHeaders takes the headers into the overrides, in the order of their
// names, so that of several mistakes always the same one is told.
func (c *call) readHeaders() error {
	names := make([]string, 0, 8)
	for name := range c.r.Header {
		if strings.HasPrefix(name, headerPrefix) || name == anthropicBeta {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		rule, ok := c.headers[name]
		if !ok {
			return c.unknownHeader(name)
		}
		if err := rule.read(&c.o, c.r.Header, c.r.Header[name]); err != nil {
			return err
		}
	}
	return nil
}

func (h *Header) read(o *Overrides, in http.Header, values []string) error {
	if h.set == nil {
		return nil
	}
	if len(values) > 1 && !h.list {
		return badHeader(h.Name, "given more than once")
	}
	for _, v := range values {
		if problem := h.set(o, in, v); problem != "" {
			return badHeader(h.Name, problem)
		}
	}
	return nil
}

// badHeader tells what is wrong with a header, without its value.
func badHeader(name, problem string) error {
	return providers.Invalid(name, name+": "+problem)
}

// unknownHeader names the header that was probably meant: a misspelt one that
// is passed over in silence would do something else than was asked.
func (c *call) unknownHeader(name string) error {
	name = strings.ToLower(name[:min(len(name), 64)])
	problem := "the gateway has no such header"
	if meant := nearest(name, c.headers); meant != "" {
		problem += " (did you mean " + strconv.Quote(meant) + "?)"
	}
	return badHeader(name, problem)
}

// nearest returns the header whose name is closest after the prefix, if any is
// close.
func nearest(name string, rules map[string]Header) string {
	prefix := strings.ToLower(headerPrefix)
	var own []string
	for _, rule := range rules {
		if rest, ok := strings.CutPrefix(rule.Name, prefix); ok {
			own = append(own, rest)
		}
	}
	alike := near.Of(name[len(prefix):], own)
	if len(alike) == 0 {
		return ""
	}
	return prefix + alike[0]
}
