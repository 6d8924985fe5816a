package config_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/config"
)

// wrong is an input with the exact text of what is wrong with it. Of some faults
// the published schema knows nothing.
type wrong struct {
	name, in, want string
	beyondSchema   bool
}

// asking is a config with one condition.
func asking(query string) string {
	return `{"strategy":{"mode":"conditional","conditions":[{"query":` + query + `,"then":"pro"}]},"targets":[{"name":"pro"}]}`
}

func lines(list ...string) string { return strings.Join(list, "\n") }

func allWrong() []wrong { return slices.Concat(wrongMembers(), wrongSettings(), wrongTree()) }

func TestMistakesAreToldWithTheirPaths(t *testing.T) {
	for _, tt := range allWrong() {
		t.Run(tt.name, func(t *testing.T) {
			c, err := config.Parse([]byte(tt.in))
			if c != nil || err == nil {
				t.Fatalf("config %v, error %v", c, err)
			}
			if diff := cmp.Diff(tt.want, err.Error()); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
			if _, ok := errors.AsType[*config.Error](err); !ok {
				t.Errorf("error of type %T", err)
			}
		})
	}
}

func TestMistakesDoNotRepeatValues(t *testing.T) {
	for _, in := range []string{
		`{"provider":"sk-secret key"}`, `{"vertex_region":"sk-secret."}`, `{"vertex_project_id":"sk-secret/"}`, `{"custom_host":"sk-secret"}`,
		`{"custom_host":"https://me:sk-secret@host.example"}`, `{"custom_host":"https://host.example?key=sk-secret"}`, `{"api_key":"sk-secret"}`,
		`{"cache":{"mode":"sk-secret"}}`, `{"forward_headers":["sk-secret "]}`, `{"drop_params":["sk-secret[0]"]}`,
		`{"guards":[{"name":"sk-secret "}]}`, `{"targets":[{"name":"sk-secret "}]}`, `{"request_timeout":"sk-secret"}`,
		asking(`{"metadata.a":{"$regex":"(sk-secret"}}`), asking(`{"metadata.a":{"$gt":"sk-secret"}}`),
	} {
		if _, err := config.Parse([]byte(in)); err == nil || strings.Contains(err.Error(), "sk-") {
			t.Errorf("%s: %v", in, err)
		}
	}
}

func TestTheListOfMistakesIsBounded(t *testing.T) {
	in := `{"forward_headers":["cookie"` + strings.Repeat(`,"cookie"`, 99) + `]}`
	_, err := config.Parse([]byte(in))
	e, ok := errors.AsType[*config.Error](err)
	if !ok {
		t.Fatal(err)
	}
	if len(e.Problems) != 50 || e.More != 50 {
		t.Errorf("%d problems and %d more, want 50 and 50", len(e.Problems), e.More)
	}
	if !strings.HasSuffix(err.Error(), "\nand 50 more") {
		t.Errorf("text ends in %q", err.Error()[len(err.Error())-40:])
	}
	want := config.Problem{Path: "forward_headers[0]", Message: "can't be forwarded: credentials live in a catalog entry"}
	if diff := cmp.Diff(want, e.Problems[0]); diff != "" {
		t.Errorf("problem (-want +got):\n%s", diff)
	}
}

func TestTextsThatAreNoConfig(t *testing.T) {
	large := `{"override_params":{"x":"` + strings.Repeat("x", config.MaxSize) + `"}}`
	for _, tt := range []struct{ name, in, want string }{
		{"too large", large, "config: larger than 1024 KiB"},
		{"not UTF-8", "{\"provider\":\"\xff\"}", "config: not valid UTF-8"},
		{"nested beyond reading", strings.Repeat("[", 2000), "config: not valid JSON at line 1, column 1001: nested too deeply"},
		{"patterns of 4 KiB and more", asking(`{"$or":[{"metadata.a":"b"}` + strings.Repeat(`,{"metadata.a":{"$regex":"`+strings.Repeat("a", 500)+`"}}`, 9) + `]}`),
			`strategy.conditions[0].query.$or[9]["metadata.a"].$regex: goes beyond the 4096 bytes that all patterns of a config may have`},
		{"257 siblings", `{"strategy":{"mode":"fallback"},"targets":[{}` + strings.Repeat(",{}", 256) + `]}`, "targets: has more than 256 elements"},
		{"a thousand levels", strings.Repeat(`{"targets":[`, 490) + "{}" + strings.Repeat("]}", 490),
			strings.Repeat("targets[0].", 7) + "targets[0]: is nested too deeply: 8 levels of targets at most, the config itself included"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := config.Parse([]byte(tt.in))
			if err == nil || err.Error() != tt.want {
				t.Errorf("error %v, want %s", err, tt.want)
			}
		})
	}
}

// editorAccepts reports whether a config's text fits the schema.
func editorAccepts(t *testing.T, text string) bool {
	t.Helper()
	var root dict
	var doc any
	if json.Unmarshal(config.Schema(), &root) != nil || json.Unmarshal([]byte(text), &doc) != nil {
		t.Fatalf("%s is no JSON", text)
	}
	return fits(t, root, root, doc)
}

// TestTheSchemaAgrees holds every example of this package against the schema.
func TestTheSchemaAgrees(t *testing.T) {
	var root dict
	if err := json.Unmarshal(config.Schema(), &root); err != nil {
		t.Fatal(err)
	}
	for _, tt := range allWrong() {
		var doc any
		if json.Unmarshal([]byte(tt.in), &doc) != nil {
			continue // no parser lets it reach a schema
		}
		if fits := fits(t, root, root, doc); fits != tt.beyondSchema {
			t.Errorf("%s: fits the schema: %v, want %v", tt.name, fits, tt.beyondSchema)
		}
	}
	for name, in := range validConfigs(t) {
		var doc any
		if err := json.Unmarshal(in, &doc); err != nil {
			t.Fatal(err)
		}
		if !fits(t, root, root, doc) {
			t.Errorf("%s: does not fit the schema", name)
		}
	}
}

// equalConfigs compares by value; queries compare by their text.
func equalConfigs(t *testing.T, what string, want, got *config.Config) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// checkRoundTrip writes a config and reads it again.
func checkRoundTrip(t *testing.T, c *config.Config) []byte {
	t.Helper()
	text, err := c.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	again, err := config.Parse(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	equalConfigs(t, "read again", c, again)
	if second, err := again.MarshalJSON(); err != nil || !bytes.Equal(text, second) {
		t.Errorf("written again: %s, %v, want %s", second, err, text)
	}
	return text
}
