package front

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/providers"
)

func TestMetaHeaders(t *testing.T) {
	tests := []struct {
		name string
		meta providers.Meta
		want http.Header
	}{
		{"nothing known", providers.Meta{}, http.Header{"X-Gateway-Cache-Status": {"disabled"}, "X-Gateway-Attempts": {"0"}}},
		{"without slug", providers.Meta{Provider: "vertex-ai", Model: "m"}, http.Header{
			"X-Gateway-Cache-Status": {"disabled"}, "X-Gateway-Attempts": {"0"}, "X-Gateway-Model": {"m"},
			"X-Gateway-Provider": {"vertex-ai"}, "X-Gateway-Target": {"vertex-ai/m"},
		}},
		{"text beyond ASCII", providers.Meta{Model: "m\u00fc"}, http.Header{
			"X-Gateway-Cache-Status": {"disabled"}, "X-Gateway-Attempts": {"0"}, "X-Gateway-Model": {"m??"},
		}},
		{"text that would break a header", providers.Meta{Slug: "s", Model: "m\r\nSet-Cookie: ü\x1b"}, http.Header{
			"X-Gateway-Cache-Status": {"disabled"}, "X-Gateway-Attempts": {"0"}, "X-Gateway-Model": {"m??Set-Cookie: ???"},
			"X-Gateway-Provider": {"s"}, "X-Gateway-Target": {"@s/m??Set-Cookie: ???"},
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := http.Header{}
			setMeta(h, &tt.meta)
			if diff := cmp.Diff(tt.want, h); diff != "" {
				t.Errorf("header (-want +got):\n%s", diff)
			}
		})
	}
}

func TestHeaderTextIsCut(t *testing.T) {
	if got := len(headerText(strings.Repeat("a", 9999))); got != maxHeaderText {
		t.Errorf("length %d", got)
	}
}

func TestWarnings(t *testing.T) {
	warn := func(n, size int) []providers.Warning {
		list := make([]providers.Warning, n)
		for i := range list {
			list[i] = providers.Warning{Code: "c", Message: strings.Repeat("w", size)}
		}
		return list
	}
	tests := []struct {
		name     string
		warnings []providers.Warning
		shown    int
		last     string
	}{
		{"one", warn(1, 5), 1, "wwwww"},
		{"all that fit", warn(30, 80), 30, strings.Repeat("w", 80)},
		{"more than fit", warn(100, 80), 38, "63 more"},
		{"one that is too long alone", warn(1, 5000), 1, "1 more"},
		{"a long one amid others", append(warn(1, 5000), warn(2, 5)...), 3, "1 more"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			text := warningsText(tt.warnings)
			var got []providers.Warning
			if err := json.Unmarshal([]byte(text), &got); err != nil || len(text) > maxWarnings {
				t.Fatalf("%d bytes, %v: %s", len(text), err, text)
			}
			if len(got) != tt.shown || got[len(got)-1].Message != tt.last {
				t.Errorf("%d entries, the last %q, want %d, %q", len(got), got[len(got)-1].Message, tt.shown, tt.last)
			}
		})
	}
}

func TestWarningsAreASCII(t *testing.T) {
	want := []providers.Warning{{Code: "c", Param: `a["é"]`, Message: "líne\r\n\t\"\\\x00\x7f 😀 \u2028"}}
	text := warningsText(want)
	if strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r >= 0x7f }) {
		t.Errorf("not printable ASCII: %q", text)
	}
	var got []providers.Warning
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
}
