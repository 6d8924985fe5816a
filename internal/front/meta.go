package front

import (
	"cmp"
	"net/http"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/b650d4bf/gateway/internal/jsonx"
	"github.com/b650d4bf/gateway/providers"
)

// The response headers, in the spelling of net/http.
const (
	headerCacheStatus = "X-Gateway-Cache-Status"
	headerProvider    = "X-Gateway-Provider" // the slug, or the provider id where there is none
	headerModel       = "X-Gateway-Model"
	headerTarget      = "X-Gateway-Target"   // @slug/model, or provider/model
	headerAttempts    = "X-Gateway-Attempts" // how many requests were sent
	headerRequestID   = "X-Gateway-Request-Id"
	headerPrompt      = "X-Gateway-Prompt"   // id@version, absent without a stored prompt
	headerWarnings    = "X-Gateway-Warnings" // a JSON array, absent when empty
	headerAnthropicID = "Request-Id"         // the same id, where Anthropic's clients look for it
)

const (
	// maxWarnings bounds the warnings header in bytes: common proxies refuse
	// answers whose headers exceed 8 KiB, or even 4.
	maxWarnings = 4 << 10
	// moreRoom is kept free of that for the entry that counts the rest.
	moreRoom = 80
	// maxHeaderText bounds every other header in bytes.
	maxHeaderText = 512
)

// setMeta tells in headers what the gateway did.
func setMeta(h http.Header, m *providers.Meta) {
	h.Set(headerCacheStatus, headerText(string(cmp.Or(m.CacheStatus, providers.CacheDisabled))))
	h.Set(headerAttempts, strconv.Itoa(requests(m.Attempts)))
	if m.RequestID != "" {
		h.Set(headerRequestID, headerText(m.RequestID))
	}
	if m.Model != "" {
		h.Set(headerModel, headerText(m.Model))
	}
	if name := cmp.Or(m.Slug, m.Provider); name != "" {
		h.Set(headerProvider, headerText(name))
		if m.Slug != "" {
			name = "@" + name
		}
		h.Set(headerTarget, headerText(name+"/"+m.Model))
	}
	if m.Prompt != "" {
		h.Set(headerPrompt, headerText(m.Prompt+"@"+m.PromptVersion))
	}
	if len(m.Warnings) > 0 {
		h.Set(headerWarnings, warningsText(m.Warnings))
	}
}

// requests counts what was sent: a trail also has the targets passed over, and
// those that were not reached for a mistake in what they are told.
func requests(trail []providers.Attempt) int {
	n := 0
	for i := range trail {
		if a := &trail[i]; a.Skipped == "" && (a.Provider != "" || a.Code == "") {
			n++
		}
	}
	return n
}

// headerText makes s fit for a header: a byte that is not printable ASCII
// becomes a question mark, and what is too long is cut.
func headerText(s string) string {
	s = s[:min(len(s), maxHeaderText)]
	for i := range len(s) {
		if !isPrintable(s[i]) {
			return replaceUnprintable(s)
		}
	}
	return s
}

func isPrintable(c byte) bool { return ' ' <= c && c < 0x7f }

func replaceUnprintable(s string) string {
	b := []byte(s)
	for i, c := range b {
		if !isPrintable(c) {
			b[i] = '?'
		}
	}
	return string(b)
}

// warningsText is a JSON array of the warnings in ASCII. Those it has no room
// for are counted in a last entry.
func warningsText(warnings []providers.Warning) string {
	text, left := []byte{'['}, 0
	var one jsonx.Writer
	for i := range warnings {
		one.Reset(one.Bytes())
		encodeWarning(&one, &warnings[i])
		before := len(text)
		text = appendASCII(text, one.Bytes())
		if len(text) > maxWarnings-moreRoom {
			text = text[:before]
			left++
			continue
		}
		text = append(text, ',')
	}
	if left > 0 {
		one.Reset(one.Bytes())
		encodeWarning(&one, &providers.Warning{Code: "more_warnings", Message: strconv.Itoa(left) + " more"})
		text = append(append(text, one.Bytes()...), ',')
	}
	text[len(text)-1] = ']'
	return string(text)
}

func encodeWarning(w *jsonx.Writer, warning *providers.Warning) {
	w.BeginObject()
	w.Key("code")
	w.String(warning.Code)
	if warning.Param != "" {
		w.Key("param")
		w.String(warning.Param)
	}
	w.Key("message")
	w.String(warning.Message)
	w.EndObject()
}

// appendASCII appends JSON with everything but printable ASCII escaped. Such
// bytes are found in strings alone.
func appendASCII(dst, json []byte) []byte {
	var units [2]uint16
	for i := 0; i < len(json); {
		if isPrintable(json[i]) {
			dst = append(dst, json[i])
			i++
			continue
		}
		r, n := utf8.DecodeRune(json[i:])
		i += n
		for _, u := range utf16.AppendRune(units[:0], r) {
			dst = appendUnit(dst, u)
		}
	}
	return dst
}

// appendUnit appends the escape of one UTF-16 unit.
func appendUnit(dst []byte, u uint16) []byte {
	const hex = "0123456789abcdef"
	return append(dst, '\\', 'u', hex[u>>12], hex[u>>8&15], hex[u>>4&15], hex[u&15])
}
