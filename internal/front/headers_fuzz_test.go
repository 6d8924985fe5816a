package front

import (
	"net/http"
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzHeaders gives any header any value, with another one that may be sent on. What is
// taken in keeps to its grammar: names that make URLs have no slash, nothing that goes on
// has a line break, and what never goes on does not.
func FuzzHeaders(f *testing.F) {
	for _, h := range Headers() {
		f.Add(h.Name, h.Value, "X-A", "1")
	}
	f.Add("x-gateway-forward-headers", "x-a, cookie", "Cookie", "a=b")
	f.Add("x-gateway-forward-headers", "x-goog-user-project", "X-Goog-User-Project", "other")
	f.Add("x-gateway-forward-headers", "x-\u0130", "X-I", "\r\nX-Injected: 1")
	f.Add("x-gateway-provider", "@..", "X-A", "")
	f.Add("x-gateway-vertex-region", "us-central1.evil.example/", "X-A", "")
	f.Add("x-gateway-metadata", `{"a":"\ud800","a":"b\u0000"}`, "X-A", "")
	f.Add("x-gateway-request-timeout", "9223372036854775807", "X-A", "")
	rules := headerRules()
	f.Fuzz(func(t *testing.T, name, value, other, text string) {
		rule, ok := rules[http.CanonicalHeaderKey(name)]
		if !ok || strings.ContainsAny(value+text, "\r\n\x00") { // net/http has refused it
			return
		}
		in := http.Header{}
		in.Add(name, value)
		in.Add(other, text)
		var o Overrides
		if err := rule.read(&o, in, in[http.CanonicalHeaderKey(name)]); err != nil {
			if strings.ContainsAny(err.Error(), "\r\n\x1b") {
				t.Errorf("an error of several lines: %q", err)
			}
			return
		}
		for _, word := range []string{o.Provider, o.ProjectID, o.Region, o.RequestID, o.ConfigID} {
			if strings.ContainsAny(word, "/\\?#% ") || strings.ContainsFunc(word, func(r rune) bool { return r < ' ' || r >= 0x7f }) {
				t.Errorf("%s: %q is taken for a name", name, word)
			}
		}
		if o.Timeout < 0 || o.Config != nil && o.ConfigID != "" {
			t.Errorf("%s: %q: %+v", name, value, o)
		}
		for k, v := range o.Metadata {
			if !utf8.ValidString(k) || utf8.RuneCountInString(v) > maxMetadataValue {
				t.Errorf("metadata %q: %q", k, v)
			}
		}
		for k := range o.Header {
			if isKept(strings.ToLower(k)) || !isFieldName(k) {
				t.Errorf("%q is sent on", k)
			}
		}
	})
}
