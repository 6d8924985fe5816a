package vertextest

import (
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Anthropic's own API is the Messages API with the model in the body and an API
// key in the header.
//
// Source: https://platform.claude.com/docs/en/api/overview
const (
	messagesVerb = "messages"
	countVerb    = "messages/count_tokens"

	// ownVersion is the version that the header has to name.
	ownVersion = "2023-06-01"
)

// parseClaudePath reads a path of Anthropic's own API.
func parseClaudePath(path string) (target, bool) {
	verb, ok := strings.CutPrefix(path, "/v1/")
	if !ok || verb != messagesVerb && verb != countVerb {
		return target{}, false
	}
	return target{version: "v1", publisher: "anthropic", verb: verb, own: true}, true
}

// checkCredentials wants the credentials of whose API it is.
func (x *exchange) checkCredentials() error {
	if x.route.wire == wireOpenAI {
		return x.checkOpenAIKey(x.checkToken())
	}
	if !x.route.own {
		return x.checkToken()
	}
	key, version := x.header.Get("X-Api-Key"), x.header.Get("Anthropic-Version")
	switch {
	case x.cfg.withoutAuth:
	case key == "":
		return ownError(http.StatusUnauthorized, "authentication_error", "x-api-key header is required")
	case len(x.cfg.tokens) > 0 && !slices.Contains(x.cfg.tokens, key):
		return ownError(http.StatusUnauthorized, "authentication_error", "invalid x-api-key")
	}
	switch version {
	case ownVersion:
		return nil
	case "":
		return claudeInvalid("anthropic-version: header is required")
	}
	return claudeInvalid("anthropic-version: %q is not a valid version", version)
}

func ownError(code int, kind, message string) error {
	return &statusError{Code: code, Status: kind, Message: message, own: true}
}

// ownTypes are the types of errors by their status.
//
// Source: https://platform.claude.com/docs/en/api/errors
var ownTypes = map[int]string{
	http.StatusBadRequest: "invalid_request_error", http.StatusUnauthorized: "authentication_error", http.StatusPaymentRequired: "billing_error",
	http.StatusForbidden: "permission_error", http.StatusNotFound: "not_found_error", http.StatusRequestEntityTooLarge: "request_too_large",
	http.StatusTooManyRequests: "rate_limit_error", http.StatusInternalServerError: "api_error", http.StatusGatewayTimeout: "timeout_error",
	statusOverloaded: "overloaded_error",
}

// ownStatus turns an error of Google's platform into Anthropic's.
func ownStatus(st *statusError) *statusError {
	if st.own {
		return st
	}
	kind, ok := ownTypes[st.Code]
	if !ok {
		kind = "api_error"
	}
	return &statusError{Code: st.Code, Status: kind, Message: st.Message, own: true}
}

// tellRetry says by a header what a RetryInfo does.
func tellRetry(h http.Header, st *statusError) {
	for _, d := range st.Details {
		info, _ := d.(map[string]any)
		text, _ := info["retryDelay"].(string)
		if delay, err := time.ParseDuration(text); err == nil {
			h.Set("Retry-After", strconv.Itoa(int(math.Ceil(delay.Seconds()))))
		}
	}
}

// newID returns an id; those of the platform say so.
func (x *exchange) newID(prefix string, n uint64) string {
	id := claudeID(prefix, x.body, n)
	if x.route.own {
		return strings.Replace(id, "_vrtx_", "_", 1)
	}
	return id
}

// checkOwnClaude checks a call, like one on the platform.
func checkOwnClaude(x *exchange) error {
	if err := x.findOwn(); err != nil {
		return err
	}
	if err := x.decodeClaude("own request"); err != nil {
		return err
	}
	if !x.cfg.withoutChecks {
		if err := x.applyOwnRules(); err != nil {
			return err
		}
	}
	x.thinks = x.claude.thinks()
	x.req = x.claude.asGemini()
	x.oneCall = x.claude.ToolChoice.DisableParallel
	return nil
}

// checkOwnCount checks a call that counts.
func checkOwnCount(x *exchange) error {
	if err := x.findOwn(); err != nil {
		return err
	}
	return x.decodeClaude("own count")
}

// findOwn looks up the facts of the model in the body. A date follows a dash
// here, and may be left out.
func (x *exchange) findOwn() error {
	name := x.target.model
	if name == "" {
		return claudeInvalid("model: Field required")
	}
	at := slices.IndexFunc(x.cfg.claudes, func(m claudeFacts) bool {
		stem, _, _ := strings.Cut(m.name, "@")
		return name == servedClaude(m.name) || name == stem
	})
	if at < 0 {
		return ownError(http.StatusNotFound, "not_found_error", "model: "+name)
	}
	x.claude.facts = x.cfg.claudes[at]
	return nil
}

// ownFeatures are the beta features that members need, by the beginning of the
// feature's name.
//
// Sources: https://platform.claude.com/docs/en/agents-and-tools/mcp-connector,
// https://platform.claude.com/docs/en/build-with-claude/refusals-and-fallback and
// https://platform.claude.com/docs/en/build-with-claude/compaction
var ownFeatures = map[string]string{
	"mcp_servers": "mcp-client-", "fallbacks": "server-side-fallback-", "fallback_credit_token": "fallback-credit-", "compaction": "compact-",
}

// applyOwnRules applies what depends on the model, and on the features asked for.
func (x *exchange) applyOwnRules() error {
	body := decodeObject(x.body)
	for name, prefix := range ownFeatures {
		asked := slices.ContainsFunc(x.betas(), func(b string) bool { return strings.HasPrefix(b, prefix) })
		if _, ok := body[name]; ok && !asked {
			return claudeInvalid("%s: Extra inputs are not permitted", name)
		}
	}
	return x.applyClaudeRules()
}

// ownBetas are the values of the anthropic-beta header that Anthropic's own API
// takes beyond those of the platform.
//
// Source: https://platform.claude.com/docs/en/api/beta-headers
func ownBetas() []string {
	return []string{
		"mcp-client-2025-04-04", "mcp-client-2025-11-20", "files-api-2025-04-14", "code-execution-2025-05-22", "skills-2025-10-02",
		"fast-mode-2026-02-01", "advisor-tool-2026-03-01", "task-budgets-2026-03-13", "server-side-fallback-2026-06-01",
		"server-side-fallback-2026-07-01", "fallback-credit-2026-07-01", "structured-outputs-2025-11-13", "computer-use-2024-10-22",
	}
}
