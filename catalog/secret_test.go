package catalog_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/b650d4bf/gateway/catalog"
)

const canary = "CANARY-4f1d"

// secretEntry has the canary in every member that is secret.
func secretEntry() catalog.Entry {
	return catalog.Entry{
		Slug: "vx", Provider: "vertex-ai", AccessToken: canary, ServiceAccountJSON: canary, APIKey: canary,
		Headers: map[string]catalog.Secret{"x-key": canary},
	}
}

func TestSecretsNeverPrint(t *testing.T) {
	values := map[string]any{
		"secret":           catalog.Secret(canary),
		"pointer":          new(catalog.Secret(canary)),
		"entry":            secretEntry(),
		"pointer to entry": new(secretEntry()),
		"slice":            []catalog.Entry{secretEntry()},
		"map":              map[string]any{"a": secretEntry()},
		"struct":           struct{ E catalog.Entry }{secretEntry()},
	}
	bytesOf := fmt.Sprintf("%x", canary)
	for name, v := range values {
		t.Run(name, func(t *testing.T) {
			for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%t", "%T", "%c", "%U", "%o"} {
				refuse(t, verb, fmt.Sprintf(verb, v), canary, bytesOf, fmt.Sprint([]byte(canary)))
			}
			out, err := json.Marshal(v)
			if err != nil {
				t.Fatal(err)
			}
			refuse(t, "json", string(out), canary)
			var log bytes.Buffer
			for _, h := range []slog.Handler{slog.NewTextHandler(&log, nil), slog.NewJSONHandler(&log, nil)} {
				slog.New(h).Info("m", "v", v)
			}
			refuse(t, "slog", log.String(), canary)
		})
	}
}

func TestSecretForms(t *testing.T) {
	s := catalog.Secret(canary)
	if got := s.Reveal(); got != canary {
		t.Errorf("Reveal() = %q, want the value", got)
	}
	type document struct{ S catalog.Secret }
	out, err := xml.Marshal(document{s})
	if err != nil {
		t.Fatal(err)
	}
	refuse(t, "xml", string(out), canary)
	for format, want := range map[string]string{"%v": "[redacted]", "%d": "[redacted]", "%q": `"[redacted]"`, "%#v": `"[redacted]"`} {
		if got := fmt.Sprintf(format, s); got != want {
			t.Errorf("%s = %s, want %s", format, got, want)
		}
	}
	if got := fmt.Sprintf("%v", catalog.Secret("")); got != "" {
		t.Errorf("an empty secret prints %q, want nothing", got)
	}
}

func refuse(t *testing.T, how, text string, secrets ...string) {
	t.Helper()
	for _, s := range secrets {
		if strings.Contains(text, strings.Trim(s, "[]")) {
			t.Errorf("%s shows the secret: %s", how, text)
		}
	}
}
