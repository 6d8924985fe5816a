package config_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/b650d4bf/gateway/config"
)

func TestHeadersThatAreNotSentOn(t *testing.T) {
	for _, name := range []string{
		"Authorization", "cookie", "Set-Cookie", "x-api-key", "x-goog-api-key", "x-gateway-api-key", "X-Gateway-Forward-Headers",
		"host", "connection", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade", "expect", "accept-encoding",
		"proxy-authorization", "proxy-connection", "content-type", "Content-Length", "content-encoding",
		"anthropic-version", "metadata-flavor", "X-Aws-Ec2-Metadata-Token", "x-aws-ec2-metadata-token-ttl-seconds",
		"X-Goog-User-Project", "x-http-method-override", "x-http-method", "X-Method-Override",
	} {
		text := fmt.Sprint(problemsOf(fmt.Sprintf(`{"forward_headers":["x-a",%q]}`, name)))
		if !strings.HasPrefix(text, "[forward_headers[1]: can't be forwarded: ") {
			t.Errorf("%s: %s", name, text)
		}
	}
	if got := problemsOf(`{"forward_headers":["x-team","anthropic-beta","User-Agent","traceparent","x-contents"]}`); got != nil {
		t.Errorf("others: %q", got)
	}
}

func TestHosts(t *testing.T) {
	for host, ok := range map[string]bool{
		"https://host.example": true, "https://host.example:8443/v1/": true, "HTTPS://host.example": true, "https://[2001:db8::1]/": true,
		"http://localhost:8080": true, "http://LOCALHOST": true, "http://api.localhost/v1": true, "http://127.0.0.1": true, "http://127.9.9.9:1": true,
		"http://[::1]:80": true, "http://localhost.": true,
		"http://host.example": false, "http://localhost.example": false, "http://10.0.0.1": false, "http://0.0.0.0": false, "http://169.254.169.254": false,
		"https://": false, "https:host": false, "//host": false, "host": false, "https://u@host": false, "https://u:p@host": false,
		"https://host?": false, "https://host#": false, "https://host/%zz": false, "https://host:port": false, "unix:///run/x": false,
		"https://hóst.example": false, "https://host/\x7f": false,
	} {
		c := config.Config{Settings: config.Settings{CustomHost: host}}
		if err := c.Validate(); (err == nil) != ok {
			t.Errorf("%s: %v, want accepted: %v", host, err, ok)
		}
		if text := fmt.Sprintf(`{"custom_host":%q}`, host); ok && !editorAccepts(t, text) {
			t.Errorf("%s does not fit the schema", text)
		}
	}
}

func TestNamesThatWereMeant(t *testing.T) {
	for in, want := range map[string]string{
		`{"cache":{"mdoe":"simple"}}`: `cache.mdoe: unknown member (did you mean "mode"?)`,
		`{"cache":{"mo":"simple"}}`:   `cache.mo: unknown member`,
		`{"timeout":5}`:               `timeout: unknown member (did you mean "request_timeout"?)`,
		`{"params":{}}`:               `params: unknown member (did you mean "drop_params" or "default_params" or "override_params"?)`,
		`{"Retry":{"attempts":1}}`:    `Retry: unknown member (did you mean "retry"?)`,
		`{"x":1}`:                     `x: unknown member`,
		`{"":1}`:                      `[""]: unknown member`,
	} {
		if got := problemsOf(in); len(got) == 0 || got[0] != want {
			t.Errorf("%s: %q, want %s", in, got, want)
		}
	}
}

func TestProvidersRegionsAndProjects(t *testing.T) {
	long := strings.Repeat("a", 129)
	for in, ok := range map[string]bool{
		`"provider":"@a.B_c-1"`: true, `"provider":"vertex-ai"`: true, `"provider":"@` + long + `"`: false, `"provider":"` + long + `"`: false,
		`"provider":"@@a"`: false, `"provider":"a b"`: false,
		`"vertex_region":"us-central1"`: true, `"vertex_region":"global"`: true, `"vertex_region":"-a"`: false, `"vertex_region":"a/b"`: false,
		`"vertex_region":"US"`:        false,
		`"vertex_project_id":"12345"`: true, `"vertex_project_id":"example.com:p"`: true, `"vertex_project_id":"example:p"`: false,
		`"vertex_project_id":"a..b:p"`: false, `"vertex_project_id":"p-"`: false,
	} {
		if got := problemsOf("{" + in + "}"); (got == nil) != ok {
			t.Errorf("%s: %q, want accepted: %v", in, got, ok)
		}
		if ok && !editorAccepts(t, "{"+in+"}") {
			t.Errorf("%s does not fit the schema", in)
		}
	}
}
