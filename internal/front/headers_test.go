package front

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/providers"
)

func TestHeadersBecomeOverrides(t *testing.T) {
	tests := []struct {
		name   string
		header []string
		want   Overrides
	}{
		{"none", nil, Overrides{}},
		{"provider", []string{"x-gateway-provider", "vertex-ai"}, Overrides{Provider: "vertex-ai"}},
		{"provider with @", []string{"x-gateway-provider", "@vx.1_b"}, Overrides{Provider: "vx.1_b"}},
		{"strict", []string{"x-gateway-strict-compliance", "true"}, Overrides{Strict: new(true)}},
		{"not strict", []string{"x-gateway-strict-compliance", "false"}, Overrides{Strict: new(false)}},
		{"project", []string{"x-gateway-vertex-project-id", "example.com:my-p"}, Overrides{ProjectID: "example.com:my-p"}},
		{"region", []string{"x-gateway-vertex-region", "europe-west4"}, Overrides{Region: "europe-west4"}},
		{"metadata", []string{"x-gateway-metadata", `{"team":"süd","_user":"u"}`}, Overrides{Metadata: map[string]string{"team": "süd", "_user": "u"}}},
		{
			"metadata counts characters", []string{"x-gateway-metadata", `{"k":"` + strings.Repeat("é", 128) + `"}`},
			Overrides{Metadata: map[string]string{"k": strings.Repeat("é", 128)}},
		},
		{"empty metadata", []string{"x-gateway-metadata", `{}`}, Overrides{Metadata: map[string]string{}}},
		{"config", []string{"x-gateway-config", "cf-1"}, Overrides{ConfigID: "cf-1"}},
		{"trace id", []string{"x-gateway-trace-id", "a.B_1:2-3"}, Overrides{RequestID: "a.B_1:2-3"}},
		{"the longest trace id", []string{"x-gateway-trace-id", strings.Repeat("a", 128)}, Overrides{RequestID: strings.Repeat("a", 128)}},
		{"timeout", []string{"x-gateway-request-timeout", "1500"}, Overrides{Timeout: 1500 * time.Millisecond}},
		{"beta", []string{"anthropic-beta", "a,b"}, Overrides{Header: http.Header{"Anthropic-Beta": {"a,b"}}}},
		{
			"beta in both forms", []string{"anthropic-beta", "a", "x-gateway-anthropic-beta", "b"},
			Overrides{Header: http.Header{"Anthropic-Beta": {"a", "b"}}},
		},
		{
			"forwarded headers", []string{"x-gateway-forward-headers", "x-one, X-TWO,,x-absent", "X-One", "1", "X-Two", "2", "X-Two", "3", "X-Three", "4"},
			Overrides{Header: http.Header{"X-One": {"1"}, "X-Two": {"2", "3"}}},
		},
		{
			"forwarded beta goes on once",
			[]string{"x-gateway-forward-headers", "anthropic-beta", "anthropic-beta", "a", "x-gateway-anthropic-beta", "b"},
			Overrides{Header: http.Header{"Anthropic-Beta": {"a", "b"}}},
		},
		{"for the cache", []string{"x-gateway-debug", "false", "x-gateway-cache-force-refresh", "true", "x-gateway-cache-namespace", "ns"}, Overrides{Debug: new(false), CacheRefresh: true, CacheNamespace: "ns"}},
		{"others are nobody's", []string{"x-other", "1", "traceparent", "00-1"}, Overrides{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := &fake{}
			res := ask(t, Config{}, b, "POST", chatPath, hello, tt.header...)
			if res.StatusCode != 200 {
				t.Fatalf("status %d, body %s", res.StatusCode, readBody(t, res))
			}
			if len(tt.header) > 0 && len(b.overrides.Incoming) == 0 {
				t.Error("the incoming header is not told")
			}
			if got := b.overrides.Surface; got != providers.SurfaceHTTP {
				t.Errorf("the surface is %q", got)
			}
			b.overrides.Incoming, b.overrides.Surface = nil, ""
			if diff := cmp.Diff(tt.want, b.overrides); diff != "" {
				t.Errorf("overrides (-want +got):\n%s", diff)
			}
		})
	}
}

func TestForwardedHeadersAreCopies(t *testing.T) {
	o, in := Overrides{}, http.Header{"X-One": {"1"}}
	if problem := setForward(&o, in, "x-one"); problem != "" {
		t.Fatal(problem)
	}
	in["X-One"][0] = "changed"
	if got := o.Header.Get("X-One"); got != "1" {
		t.Errorf("X-One = %q", got)
	}
}

func TestWrongHeaders(t *testing.T) {
	long := strings.Repeat("a", 129)
	tests := []struct{ name, header, value, message string }{
		{"provider without a name", "x-gateway-provider", "@", "slug"},
		{"provider with a slash", "x-gateway-provider", "@vx/m", "slug"},
		{"strict in another case", "x-gateway-strict-compliance", "True", "true or false"},
		{"strict as a number", "x-gateway-strict-compliance", "1", "true or false"},
		{"project that leads elsewhere", "x-gateway-vertex-project-id", "p/locations/x", "project"},
		{"region that is a host", "x-gateway-vertex-region", "evil.example/x", "location"},
		{"region that is empty", "x-gateway-vertex-region", "", "location"},
		{"metadata that is no JSON", "x-gateway-metadata", "team=search", "object of strings"},
		{"metadata that is a list", "x-gateway-metadata", `["a"]`, "object of strings"},
		{"metadata that is null", "x-gateway-metadata", `null`, "object of strings"},
		{"metadata with a number", "x-gateway-metadata", `{"a":1}`, "object of strings"},
		{"metadata with a null", "x-gateway-metadata", `{"a":null}`, "object of strings"},
		{"metadata with a tail", "x-gateway-metadata", `{"a":"b"} x`, "object of strings"},
		{"metadata that is cut", "x-gateway-metadata", `{"a":"b"`, "object of strings"},
		{"metadata that is too long", "x-gateway-metadata", `{"a":"` + long + `","b":"c"}`, "128 characters"},
		{"trace id with a space", "x-gateway-trace-id", "a b", "characters"},
		{"trace id with a line break", "x-gateway-trace-id", "a\r\nset-cookie: b", "characters"},
		{"trace id with an escape sequence", "x-gateway-trace-id", "a\x1b[2J", "characters"},
		{"trace id that is too long", "x-gateway-trace-id", long, "128"},
		{"trace id that is empty", "x-gateway-trace-id", "", "1 to 128"},
		{"timeout of nothing", "x-gateway-request-timeout", "0", "milliseconds"},
		{"timeout below nothing", "x-gateway-request-timeout", "-1", "milliseconds"},
		{"timeout with a unit", "x-gateway-request-timeout", "5s", "milliseconds"},
		{"timeout that overflows", "x-gateway-request-timeout", "9223372036854775807", "milliseconds"},
		{"refresh", "x-gateway-cache-force-refresh", "yes", "true or false"},
		{"debug", "x-gateway-debug", "0", "true or false"},
		{"namespace", "x-gateway-cache-namespace", "", "empty"},
		{"beta that is empty", "anthropic-beta", "", "feature"},
		{"beta with a control character", "x-gateway-anthropic-beta", "a\x00", "feature"},
		{"config id", "x-gateway-config", "a b", "the id of a config"},
		{"config that is no JSON", "x-gateway-config", "{", "not valid JSON"},
		{"config with a mistake", "x-gateway-config", `{"targets":[{"weigth":1}]}`, "targets[0].weigth"},
		{"config with a host", "x-gateway-config", `{"targets":[{"custom_host":"https://evil.example"}]}`, "targets[0].custom_host"},
		{"custom host", "x-gateway-custom-host", "https://x.example", "base_url"},
		{"forwarding by a bad name", "x-gateway-forward-headers", "x one", "header names"},
		{"misspelt", "x-gateway-strict-complience", "true", `did you mean "x-gateway-strict-compliance"?`},
		{"misspelt region", "x-gateway-vertex-regoin", "us", `did you mean "x-gateway-vertex-region"?`},
		{"unknown", "x-gateway-zzz", "1", "no such header"},
		{"authorization by another scheme", "authorization", "Basic a2V5", "Bearer TOKEN"},
		{"authorization with two tokens", "authorization", "Bearer a b", "Bearer TOKEN"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			checkWrongHeader(t, tt.header, tt.message, tt.header, tt.value)
		})
	}
	t.Run("given twice", func(t *testing.T) {
		checkWrongHeader(t, "x-gateway-provider", "more than once", "x-gateway-provider", "a", "x-gateway-provider", "b")
	})
	t.Run("of several the first by name", func(t *testing.T) {
		for range 20 {
			checkWrongHeader(t, "x-gateway-debug", "", "x-gateway-trace-id", "", "x-gateway-debug", "", "x-gateway-metadata", "")
		}
	})
}

// checkWrongHeader sends a request that is refused for the header name.
func checkWrongHeader(t *testing.T, name, message string, header ...string) {
	t.Helper()
	b := &fake{}
	res := ask(t, Config{}, b, "POST", chatPath, hello, header...)
	e := readEnvelope(t, res)
	if res.StatusCode != 400 || e.Error.Code != "invalid_request" || e.param() != name {
		t.Errorf("status %d, code %q, param %q, want 400 for %q", res.StatusCode, e.Error.Code, e.param(), name)
	}
	if !strings.Contains(e.Error.Message, name) || !strings.Contains(e.Error.Message, message) {
		t.Errorf("message %q, want %q and %q in it", e.Error.Message, name, message)
	}
	if b.calls != 0 {
		t.Error("the backend was called")
	}
}

func TestHeadersThatAreNeverForwarded(t *testing.T) {
	for _, name := range []string{
		"Authorization", "authorization", "cookie", "Set-Cookie", "host", "connection", "keep-alive", "proxy-authorization",
		"Proxy-Connection", "te", "trailer", "transfer-encoding", "upgrade", "content-length", "content-type",
		"Content-Encoding", "accept-encoding", "expect", "x-gateway-api-key", "X-Gateway-Provider", "anthropic-version",
		"x-goog-api-key", "x-api-key", "metadata-flavor", "X-Aws-Ec2-Metadata-Token",
		"X-Goog-User-Project", "x-http-method-override", "X-HTTP-Method", "x-method-override",
	} {
		t.Run(name, func(t *testing.T) {
			checkWrongHeader(t, "x-gateway-forward-headers", strings.ToLower(name)+" can't be forwarded",
				"x-gateway-forward-headers", "x-one, "+name)
		})
	}
}

func TestHeaderTable(t *testing.T) {
	var names []string
	for _, h := range Headers() {
		names = append(names, h.Name)
		if h.Name != strings.ToLower(h.Name) || h.Value == "" || !strings.HasSuffix(h.Does, ".") {
			t.Errorf("row %q: name in lower case, value and a sentence are required", h.Name)
		}
		elsewhere := strings.Contains(h.Name, "api-key") || h.Name == authorization || h.Name == "anthropic-version"
		if (h.set == nil) != elsewhere {
			t.Errorf("row %q: set is nil: %v", h.Name, h.set == nil)
		}
	}
	slices.Sort(names)
	want := []string{
		"anthropic-beta", "anthropic-version", "authorization", "x-api-key", "x-gateway-anthropic-beta", "x-gateway-api-key",
		"x-gateway-cache-force-refresh", "x-gateway-cache-namespace", "x-gateway-config", "x-gateway-custom-host",
		"x-gateway-debug", "x-gateway-forward-headers", "x-gateway-metadata", "x-gateway-provider",
		"x-gateway-request-timeout", "x-gateway-strict-compliance", "x-gateway-trace-id",
		"x-gateway-vertex-project-id", "x-gateway-vertex-region", "x-goog-api-key",
	}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
}
