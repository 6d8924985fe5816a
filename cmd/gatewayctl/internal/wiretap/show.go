package wiretap

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

const redacted = "[redacted]"

// shownHeaders are those whose values hold no secret. Of others the name alone is
// shown, so that a header nobody thought of gives nothing away.
var shownHeaders = []string{
	"Accept", "Accept-Encoding", "Alt-Svc", "Anthropic-Beta", "Anthropic-Version", "Cache-Control", "Content-Disposition",
	"Content-Encoding", "Content-Length", "Content-Type", "Date", "Retry-After", "Server", "Server-Timing", "Transfer-Encoding",
	"User-Agent", "Vary", "X-Content-Type-Options", "X-Frame-Options", "X-Goog-Api-Client", "X-Goog-Request-Params", "X-Goog-User-Project",
	"X-Request-Id", "X-Server-Timeout", "X-Xss-Protection",
}

// shownQuery are the parameters of URLs that hold no secret.
var shownQuery = []string{"alt", "api-version", "uploadType", "pageSize", "view", "updateMask", "filter"}

// secretsOf returns the values of headers that are not shown, and of what stands
// after a scheme such as Bearer.
func secretsOf(h http.Header) []string {
	var out []string
	for name, values := range h {
		if slices.Contains(shownHeaders, http.CanonicalHeaderKey(name)) {
			continue
		}
		for _, v := range values {
			for _, s := range []string{v, v[strings.LastIndexByte(v, ' ')+1:]} {
				if len(s) >= 8 { // shorter ones would tear other text apart
					out = append(out, s)
				}
			}
		}
	}
	return out
}

// redactURL is the URL without user info, and with the parameters of the query
// that are known to hold no secret.
func redactURL(u *url.URL) string {
	shown := *u
	shown.User = nil
	query := shown.Query()
	for name, values := range query {
		if slices.Contains(shownQuery, name) {
			continue
		}
		for i := range values {
			values[i] = redacted
		}
	}
	shown.RawQuery = strings.ReplaceAll(query.Encode(), url.QueryEscape(redacted), redacted)
	return shown.String()
}

// writeHeader writes the headers in the order of their names.
func writeHeader(b *strings.Builder, h http.Header) {
	for _, name := range slices.Sorted(maps.Keys(h)) {
		for _, value := range h[name] {
			if !slices.Contains(shownHeaders, http.CanonicalHeaderKey(name)) {
				value = hide(value)
			}
			fmt.Fprintf(b, "  %s: %s\n", name, value)
		}
	}
}

// hide leaves the scheme of credentials.
func hide(value string) string {
	if scheme, _, ok := strings.Cut(value, " "); ok && (strings.EqualFold(scheme, "Bearer") || strings.EqualFold(scheme, "Basic")) {
		return scheme + " " + redacted
	}
	return redacted
}

// writeBody writes a body below an empty line, JSON in lines.
func writeBody(b *strings.Builder, contentType string, body []byte) {
	if len(body) == 0 {
		return
	}
	b.WriteByte('\n')
	text := pretty(body)
	switch {
	case text != "":
	case utf8.Valid(body) && !strings.HasPrefix(contentType, "image/"):
		text = events(string(body))
	default:
		text = fmt.Sprintf("[%d bytes of %s]", len(body), contentType)
	}
	for line := range strings.SplitSeq(strings.TrimRight(shorten(text), "\r\n"), "\n") {
		b.WriteString(strings.TrimRight("  "+line, " \r") + "\n")
	}
	b.WriteByte('\n')
}

// pretty is JSON in lines, or empty for what is none.
func pretty(body []byte) string {
	var out bytes.Buffer
	if json.Indent(&out, body, "", "  ") != nil {
		return ""
	}
	return out.String()
}

// events puts the JSON of an event stream in lines.
func events(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if data, ok := strings.CutPrefix(strings.TrimRight(line, "\r"), "data: "); ok {
			if p := pretty([]byte(data)); p != "" {
				lines[i] = "data: " + p
			}
		}
	}
	return strings.Join(lines, "\n")
}

// The length from which a run of base64 is shortened, which no word of a text has,
// and what of it is left.
const longRun, shownRun = 120, 24

// signed are the parameters of URLs in a body that give access to what the URL
// names. JSON may write & as an escape.
var signed = regexp.MustCompile(`(?i)((?:[?&]|\\u0026)(?:x-goog-signature|x-amz-signature|x-amz-security-token|sig|signature|access_token|key|token)=)[^&"\s\\]+`)

// shorten keeps the beginning of long base64, and takes signatures out of URLs.
func shorten(text string) string {
	var b strings.Builder
	start := 0
	for start < len(text) {
		end := start
		for end < len(text) && isBase64(text[end]) {
			end++
		}
		switch run := text[start:end]; {
		case len(run) >= longRun:
			fmt.Fprintf(&b, "%s… [%d characters]", run[:shownRun], len(run))
		default:
			b.WriteString(run)
		}
		for start = end; start < len(text) && !isBase64(text[start]); start++ {
			b.WriteByte(text[start])
		}
	}
	return signed.ReplaceAllString(b.String(), "${1}"+redacted)
}

func isBase64(c byte) bool {
	return c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '+' || c == '/' || c == '-' || c == '_' || c == '='
}
