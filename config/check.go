package config

import (
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/b650d4bf/gateway/internal/place"
)

const (
	lower      = "abcdefghijklmnopqrstuvwxyz"
	letters    = lower + "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	digits     = "0123456789"
	slugChars  = letters + digits + "-_."
	tokenChars = letters + digits + "!#$%&'*+-.^_`|~" // of a header name

	maxName  = 128 // bytes of a slug, a name or a project id
	maxParam = 256 // bytes of the name of a request member
)

// Patterns of the texts that the functions below judge.
const (
	namePattern     = "^[!-~]([ -~]{0,126}[!-~])?$"
	providerPattern = "^(@[A-Za-z0-9._-]+|[a-z0-9-]+)$"
	labelPattern    = "^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$"
	projectPattern  = "^[a-z0-9][a-z0-9.:-]*$"
	hostPattern     = "^[Hh][Tt][Tt][Pp][Ss]?://[^?#]+$"
	slugPattern     = "^[A-Za-z0-9._-]{1,128}$"
	tokenPattern    = "^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,128}$"
	paramPattern    = `^[^.\[\]]+(\.[^.\[\]]+)*$`
	fieldPattern    = `^(metadata\.[\s\S]|headers\.` + "[A-Za-z0-9!#$%&'*+.^_`|~-]+$" + `|params\.[^.\[\]]+(\.[^.\[\]]+){0,7}$)`
)

// oneOf is the rule of a string with listed values.
func oneOf(values []string, s string) string {
	if slices.Contains(values, s) {
		return ""
	}
	quoted := make([]string, len(values))
	for i, v := range values {
		quoted[i] = quote(v)
	}
	last := len(quoted) - 1
	return "must be " + strings.Join(quoted[:last], ", ") + " or " + quoted[last]
}

func checkName(s string) string {
	bad := strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r > '~' })
	if bad || len(s) > maxName || strings.TrimSpace(s) != s {
		return "must be printable ASCII, at most 128 bytes, without spaces around it"
	}
	return ""
}

func checkProvider(s string) string {
	slug, is := strings.CutPrefix(s, "@")
	switch {
	case is && !made(slug, slugChars):
		return "must be the slug of a catalog entry after the '@': letters, digits, '-', '_' and '.'"
	case !is && !made(s, lower+digits+"-"):
		return `must be a provider id such as "vertex-ai", or "@" and the slug of a catalog entry`
	}
	return ""
}

func checkRegion(s string) string {
	if !place.IsRegion(s) {
		return `is made of lower-case letters, digits and '-', such as "europe-west4" or "global"`
	}
	return ""
}

func checkProject(s string) string {
	if !place.IsProject(s) {
		return `must be a project id or number, such as "my-project" or "example.com:my-project"`
	}
	return ""
}

// checkHost never repeats the address: a mistaken one may hold a password.
func checkHost(s string) string {
	u, err := url.Parse(s)
	switch {
	case err != nil || u.Hostname() == "" || u.Opaque != "" || strings.ContainsFunc(s, notVisible):
		return `must be an absolute URL such as "https://host/path"`
	case u.User != nil:
		return "must not hold a user name or password: credentials live in a catalog entry"
	case strings.ContainsAny(s, "?#"):
		return "must not have a query or a fragment"
	case u.Scheme == "http" && !place.IsLoopback(u.Hostname()):
		return "plain http would send credentials in the clear: use https (http is for loopback hosts)"
	case u.Scheme != "http" && u.Scheme != "https":
		return "must begin with https://"
	}
	return ""
}

func checkGuard(s string) string {
	if !made(s, slugChars) {
		return "is made of letters, digits, '-', '_' and '.', at most 128 of them"
	}
	return ""
}

// checkHeader is the rule of a header that is sent on. Those about credentials,
// the connection or the body stay, as do the gateway's own. [RFC 9110, section
// 7.6.1] lists what belongs to a connection.
//
// [RFC 9110, section 7.6.1]: https://www.rfc-editor.org/rfc/rfc9110#section-7.6.1
func checkHeader(s string) string {
	if !made(s, tokenChars) {
		return "isn't a valid header name"
	}
	name := strings.ToLower(s)
	if holdsCredentials(name) {
		return "can't be forwarded: credentials live in a catalog entry"
	}
	switch name {
	case "host", "connection", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade", "expect", "accept-encoding":
		return "can't be forwarded: it is about the connection"
	case "anthropic-version":
		return "can't be forwarded: the platform has its own"
	case "metadata-flavor", "x-aws-ec2-metadata-token", "x-aws-ec2-metadata-token-ttl-seconds":
		return "can't be forwarded: it opens a cloud's metadata service"
	case "x-goog-user-project":
		return "can't be forwarded: who pays is a matter of the client's quota project"
	case "x-http-method-override", "x-http-method", "x-method-override":
		return "can't be forwarded: it makes another request of it"
	}
	switch {
	case strings.HasPrefix(name, "proxy-"):
		return "can't be forwarded: it is about the connection"
	case strings.HasPrefix(name, "content-"):
		return "can't be forwarded: it is about the body"
	case strings.HasPrefix(name, "x-gateway-"):
		return "can't be forwarded: it is the gateway's own"
	}
	return ""
}

// holdsCredentials reports whether a header, in lower case, is for secrets. No
// config sends one on or looks into one.
func holdsCredentials(name string) bool {
	switch name {
	case "authorization", "proxy-authorization", "cookie", "set-cookie", "x-api-key", "x-goog-api-key", "x-gateway-api-key":
		return true
	}
	return false
}

// checkParam is the rule of a request member that a config gives or drops.
func checkParam(name string) string {
	switch {
	case name == "":
		return "has an empty name"
	case len(name) > maxParam:
		return "has a name of more than 256 bytes"
	case !utf8.ValidString(name):
		return "is not valid UTF-8"
	case name == "stream":
		return "belongs to the caller: it decides the form of the answer"
	}
	return ""
}

func checkDrop(s string) string {
	if strings.ContainsAny(s, "[]") {
		return "names a member, or one of an object by its path: elements of arrays can't be dropped"
	}
	if strings.HasPrefix(s, ".") || strings.HasSuffix(s, ".") || strings.Contains(s, "..") {
		return "has an empty name in its path"
	}
	return checkParam(s)
}

// elsewhere says where the meaning of a member that configs don't have is found,
// for members that other gateways have. It is empty for others.
func elsewhere(name string) string {
	const noSecrets = `configs hold no secrets: credentials live in a catalog entry, named by "provider": "@slug"`
	if strings.HasSuffix(name, "api_key") || strings.Contains(name, "secret") {
		return noSecrets
	}
	switch name {
	case "apikey", "access_token", "token", "authorization", "credentials",
		"service_account_json", "service_account_file", "vertex_service_account_json":
		return noSecrets
	case "virtual_key":
		return `is not known here: "provider": "@slug" names a catalog entry`
	case "model":
		return "unknown member: a model goes into override_params"
	case "passthrough":
		return "unknown member: without a provider the request's own is used"
	case "prompt_id":
		return "unknown member: a config has no prompts"
	case "force_refresh", "cache_force_refresh":
		return "unknown member: a refresh is asked for by request"
	case "strict_open_ai_compliance", "strict_openai_compliance":
		return `unknown member (did you mean "strict_compliance"?)`
	case "input_guardrails", "output_guardrails", "guardrails", "before_request_hooks", "after_request_hooks",
		"input_mutators", "output_mutators":
		return "unknown member: guards names checks that the client registered"
	case "cb_config":
		return "unknown member: it stands beside the strategy, and targets inherit it"
	case "ttl":
		return "unknown member: the choice is made by hash, so nothing is remembered that could expire"
	case "failure_threshold_percentage", "minimum_requests", "failure_status_codes":
		return "unknown member: failures in a row are counted, see failure_threshold"
	}
	return ""
}

// made reports whether s has 1 to maxName bytes, all of them in chars.
func made(s, chars string) bool {
	return s != "" && len(s) <= maxName && strings.TrimLeft(s, chars) == ""
}

func notVisible(r rune) bool { return r <= ' ' || r >= 0x7f }
