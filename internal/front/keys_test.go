package front

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestKeyringMatch(t *testing.T) {
	k := newKeyring([]string{"key-one", "", "key-two", "key-two"})
	for key, want := range map[string]bool{
		"key-one": true, "key-two": true,
		"": false, "key": false, "key-onekey-two": false, "Key-one": false, "key-one ": false,
	} {
		if got := k.match(key); got != want {
			t.Errorf("match(%q) = %v, want %v", key, got, want)
		}
	}
	if len(k.sums) != 3 || !k.on {
		t.Errorf("%d digests, on %v, want those of the keys that are not empty", len(k.sums), k.on)
	}
}

func TestAPIKeys(t *testing.T) {
	keys := []string{"key-one", "key-two"}
	tests := []struct {
		name   string
		keys   []string
		header []string
		status int
		token  string
	}{
		{"no keys needed", nil, nil, 200, ""},
		{"a key that is not needed is ignored", nil, []string{"x-gateway-api-key", "any"}, 200, ""},
		{"a token without keys", nil, []string{"Authorization", "Bearer tok.1"}, 200, "tok.1"},
		{"the scheme in lower case", nil, []string{"Authorization", "bearer tok"}, 200, "tok"},
		{"a bare scheme is no token", nil, []string{"Authorization", "Bearer "}, 200, ""},
		{"missing", keys, nil, 401, ""},
		{"wrong", keys, []string{"x-gateway-api-key", "key-three"}, 401, ""},
		{"empty", keys, []string{"x-gateway-api-key", ""}, 401, ""},
		{"right", keys, []string{"x-gateway-api-key", "key-one"}, 200, ""},
		{"the second one", keys, []string{"x-gateway-api-key", "key-two"}, 200, ""},
		{"given twice", keys, []string{"x-gateway-api-key", "key-one", "x-gateway-api-key", "key-one"}, 401, ""},
		{"as Authorization", keys, []string{"Authorization", "Bearer key-two"}, 200, ""},
		{"a token is no key", keys, []string{"Authorization", "Bearer tok"}, 401, ""},
		{"key and token", keys, []string{"x-gateway-api-key", "key-one", "Authorization", "Bearer tok"}, 200, "tok"},
		{"key and another key", keys, []string{"x-gateway-api-key", "key-one", "Authorization", "Bearer key-two"}, 200, ""},
		{"a wrong key is not mended", keys, []string{"x-gateway-api-key", "no", "Authorization", "Bearer key-one"}, 401, ""},
		{"two Authorization headers", keys, []string{"Authorization", "Bearer key-one", "Authorization", "Bearer tok"}, 401, ""},
		{"a lost setting does not open the door", []string{""}, []string{"x-gateway-api-key", ""}, 401, ""},
		{"nor for no header at all", []string{""}, nil, 401, ""},
		{"nor for a bare scheme", []string{""}, []string{"Authorization", "Bearer"}, 401, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := &fake{}
			res := ask(t, Config{Keys: tt.keys}, b, "POST", chatPath, hello, tt.header...)
			if res.StatusCode != tt.status {
				t.Fatalf("status %d, want %d", res.StatusCode, tt.status)
			}
			if diff := cmp.Diff(tt.token, b.overrides.Token); diff != "" {
				t.Errorf("token (-want +got):\n%s", diff)
			}
			if tt.status == 401 && b.calls > 0 {
				t.Error("the backend was called")
			}
		})
	}
}

func TestWithoutKeyNothingElseIsRevealed(t *testing.T) {
	cfg := Config{Keys: []string{"key-one"}}
	want := ""
	for _, tt := range []struct{ name, method, path, body, header, value string }{
		{"a good request", "POST", chatPath, hello, "", ""},
		{"an unknown path", "POST", "/v2", hello, "", ""},
		{"a wrong method", "PUT", chatPath, hello, "", ""},
		{"a wrong body", "POST", chatPath, "{", "", ""},
		{"a wrong header", "POST", chatPath, hello, "X-Gateway-Nonsense", "1"},
		{"a wrong key", "GET", "/v1/models/m", "", "X-Gateway-Api-Key", "key-two"},
		{"a wrong scheme", "GET", "/v1/models", "", "Authorization", "Basic a2V5LW9uZQ=="},
	} {
		t.Run(tt.name, func(t *testing.T) {
			res := ask(t, cfg, &fake{}, tt.method, tt.path, tt.body, tt.header, tt.value)
			if res.StatusCode != 401 || res.Header.Get("Www-Authenticate") == "" || res.Header.Get("Allow") != "" {
				t.Errorf("status %d, header %v", res.StatusCode, res.Header)
			}
			body := readBody(t, res)
			if want == "" {
				want = body
			}
			if diff := cmp.Diff(want, body); diff != "" {
				t.Errorf("differs from the first (-first +got):\n%s", diff)
			}
		})
	}
}
