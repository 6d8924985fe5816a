package engine

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

// TestWithout has servers repeat secrets as they are and in all that encoders make of
// their signs.
func TestWithout(t *testing.T) {
	const secret = `a/b+c="key"&<\d>\\e%`
	once, err := json.Marshal(secret)
	if err != nil {
		t.Fatal(err)
	}
	twice, err := json.Marshal(string(once))
	if err != nil {
		t.Fatal(err)
	}
	inner := func(b []byte) string { return string(b[1 : len(b)-1]) }
	tests := []struct{ name, text, want string }{
		{"as it is", "got " + secret + ", no", "got [redacted], no"},
		{"twice", secret + secret + `\n`, `[redacted][redacted]\n`},
		{"in JSON", `{"got":"` + inner(once) + `"}`, `{"got":"[redacted]"}`},
		{"in JSON within JSON", `{"got":"` + inner(twice) + `"}`, `{"got":"\"[redacted]\""}`},
		{"as PHP writes it", `{"got":"` + strings.ReplaceAll(inner(once), "/", `\/`) + `"}`, `{"got":"[redacted]"}`},
		{"in a URL", `?k=a%2Fb%2bc%3D%22key%22%26%3C%5Cd%3E%5C%5Ce%25&l=1`, `?k=[redacted]&l=1`},
		{"letters escaped", `\u0061/b+c=\"key\"&<\\d>\\\\e%`, `[redacted]`},
		{"a part", `a/b+c=\"key\"&`, `a/b+c=\"key\"&`},
		{"cut in an escape", `a\/b\u002`, `a\/b\u002`},
		{"other escapes", `\u00e9 \\ 100% \`, `\u00e9 \\ 100% \`},
		{"nothing", "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := without(tt.text, secret); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

// TestWithoutIsQuick gives it the texts that are the most work.
func TestWithoutIsQuick(t *testing.T) {
	start := time.Now()
	for _, text := range []string{strings.Repeat(`\`, 1<<16), strings.Repeat("a", 1<<16) + "%"} {
		without(text, strings.Repeat("a", 200)+"b")
	}
	if took := time.Since(start); took > 20*time.Second {
		t.Errorf("it took %v", took)
	}
}

func FuzzWithout(f *testing.F) {
	f.Add(`x a\/b`, "a/b secret")
	f.Add(`%61\u0062\\c`, `ab\c and more`)
	f.Fuzz(func(t *testing.T, text, secret string) {
		if len(secret) < minSecret {
			return
		}
		quoted, err := json.Marshal(secret)
		if err != nil {
			t.Skip(err)
		}
		for _, s := range []string{text + secret, text + string(quoted)} {
			bare := without(s, secret)
			if strings.Contains(bare, secret) && !strings.Contains(redacted, secret[:1]) {
				t.Errorf("%q is left in %q", secret, bare)
			}
		}
	})
}

func TestMemberPath(t *testing.T) {
	for path, want := range map[string]string{
		"": "", "messages[0].content": "messages[0].content", "generation_config.top-p": "generation_config.top-p", "contents['a']": "contents['a']",
		"tell me a secret": "", "a:b": "", `{"a"}`: "", "größe": "", "a\nb": "", strings.Repeat("a", 257): "", "Authorization:x": "",
	} {
		if got := memberPath(path); got != want {
			t.Errorf("memberPath(%q) = %q, want %q", path, got, want)
		}
	}
}
