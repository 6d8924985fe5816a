package config_test

import (
	"encoding/json"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/config"
	"github.com/b650d4bf/gateway/internal/testkit"
)

// validConfigs returns the inputs of the golden files by name.
func validConfigs(t testing.TB) map[string][]byte {
	t.Helper()
	paths, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatal("no golden files", err)
	}
	out := make(map[string][]byte)
	for _, path := range paths {
		out[strings.TrimSuffix(filepath.Base(path), ".txtar")] = testkit.ReadArchive(t, path).Get("in.json")
	}
	return out
}

// TestValidConfigs writes each golden config as the gateway has it, and its
// nodes with their effective settings.
func TestValidConfigs(t *testing.T) {
	for name, in := range validConfigs(t) {
		t.Run(name, func(t *testing.T) {
			c, err := config.Parse(in)
			if err != nil {
				t.Fatal(err)
			}
			if err := c.Validate(); err != nil {
				t.Errorf("Validate: %v", err)
			}
			text := checkRoundTrip(t, c)
			var nodes strings.Builder
			effective := map[string]config.Settings{}
			for path, target := range c.All() {
				parent := strings.TrimSuffix(path[:max(0, strings.LastIndex(path, "targets["))], ".")
				s := target.Settings.Under(effective[parent])
				effective[path] = s
				line, err := (&config.Config{Settings: s}).MarshalJSON()
				if err != nil {
					t.Fatal(err)
				}
				nodes.WriteString(path + ": " + string(line) + "\n")
			}
			path := filepath.Join("testdata", name+".txtar")
			testkit.Golden(t, path, testkit.ReadArchive(t, path), []string{"out.json", "nodes"},
				map[string][]byte{"out.json": append(text, '\n'), "nodes": []byte(nodes.String())})
		})
	}
}

func TestParseKeepsNothingOfItsInput(t *testing.T) {
	in := []byte(`{"override_params":{"a":1},"strategy":{"mode":"conditional","conditions":[{"query":{"metadata.a":"b"},"then":"t"}]},"targets":[{"name":"t"}]}`)
	want, err := config.Parse(in)
	if err != nil {
		t.Fatal(err)
	}
	other := append([]byte{}, in...)
	got, err := config.Parse(other)
	if err != nil {
		t.Fatal(err)
	}
	for i := range other {
		other[i] = 'x'
	}
	equalConfigs(t, "after the input changed", want, got)
	if !got.Strategy.Conditions[0].Query.Match(&config.Call{Meta: map[string]string{"a": "b"}}) {
		t.Error("the query changed with the input")
	}
}

func TestParseTakesAByteOrderMark(t *testing.T) {
	if _, err := config.Parse([]byte("\ufeff {\"request_timeout\":1}\n")); err != nil {
		t.Error(err)
	}
}

// TestMistakesMadeInGo judges what has no text, and what a text can't hold.
func TestMistakesMadeInGo(t *testing.T) {
	nan, one := math.NaN(), 1.0
	two := []config.Target{{}, {}}
	long, err := config.ParseQuery([]byte(`{"metadata.a":{"$regex":"` + strings.Repeat("a", 500) + `"}}`))
	if err != nil {
		t.Fatal(err)
	}
	cycle := make([]config.Target, 1)
	cycle[0].Targets = cycle
	for _, tt := range []struct {
		name string
		c    config.Config
		want string
	}{
		{"nothing", config.Config{}, ""},
		{"a fraction of a second", config.Config{Settings: config.Settings{Cache: &config.Cache{Mode: config.CacheSimple, MaxAge: 90*time.Second + 1}}},
			"cache.max_age: is not a whole number of seconds"},
		{"a fraction of a millisecond", config.Config{Settings: config.Settings{RequestTimeout: time.Microsecond}},
			"request_timeout: is not a whole number of milliseconds"},
		{"a time below 0", config.Config{Settings: config.Settings{RequestTimeout: -time.Second}},
			"request_timeout: must be a whole number of milliseconds from 1 to 86400000"},
		{"too many attempts", config.Config{Settings: config.Settings{Retry: &config.Retry{Attempts: 6}}},
			"retry.attempts: must be a whole number from 0 to 5"},
		{"an empty retry", config.Config{Settings: config.Settings{Retry: &config.Retry{}}}, ""},
		{"no statuses", config.Config{Settings: config.Settings{Retry: &config.Retry{OnStatusCodes: []int{}}}},
			"retry.on_status_codes: is empty: give at least one, or leave it out"},
		{"a status of 0", config.Config{Settings: config.Settings{Retry: &config.Retry{OnStatusCodes: []int{0}}}},
			"retry.on_status_codes[0]: must be a whole number from 100 to 599"},
		{"an empty hedge", config.Config{Settings: config.Settings{Hedge: &config.Hedge{}}},
			"hedge.after: is missing: How long the first request is waited for"},
		{"params that are no JSON", config.Config{Settings: config.Settings{OverrideParams: json.RawMessage(`{"a":`)}},
			"override_params: must be an object"},
		{"params that are empty", config.Config{Settings: config.Settings{DefaultParams: json.RawMessage{}}},
			"default_params: must be an object"},
		{"params that are null", config.Config{Settings: config.Settings{DefaultParams: json.RawMessage("null")}},
			"default_params: must be an object"},
		{"params that are no UTF-8", config.Config{Settings: config.Settings{DefaultParams: json.RawMessage("{\"a\":\"\xff\"}")}},
			"default_params: is not valid UTF-8"},
		{"an empty name of a header", config.Config{Settings: config.Settings{ForwardHeaders: []string{""}}},
			"forward_headers[0]: is empty: give a value or leave it out"},
		{"a weight that is no number", config.Config{Strategy: &config.Strategy{Mode: config.ModeLoadbalance}, Targets: []config.Target{{Weight: &nan}}},
			"targets[0].weight: must be a number from 0 to 1000000000"},
		{"a weight for nothing", config.Config{Targets: []config.Target{{Weight: &one}}},
			"targets[0].weight: has a meaning below a loadbalance strategy only"},
		{"no strategy", config.Config{Targets: two}, `strategy: is missing: say how the 2 targets are used, such as {"mode":"fallback"}`},
		{"a condition of nothing", config.Config{
			Strategy: &config.Strategy{Mode: config.ModeConditional, Conditions: []config.Condition{{Query: &config.Query{}}}},
			Targets:  two,
		}, lines("strategy.conditions[0].query: is missing: What must hold of the request",
			"strategy.conditions[0].then: is missing: The name of the target, one beside the strategy")},
		{"a field of nothing", config.Config{
			Strategy: &config.Strategy{Mode: config.ModeLoadbalance, Sticky: &config.Sticky{HashFields: []config.Field{{}}}}, Targets: two,
		}, `strategy.sticky.hash_fields[0]: must be "metadata.KEY", "params.NAME" or "headers.NAME"`},
		{"a header in small letters", config.Config{
			Strategy: &config.Strategy{Mode: config.ModeLoadbalance, Sticky: &config.Sticky{
				HashFields: []config.Field{{Source: config.FromHeaders, Path: []string{"x-a"}}},
			}}, Targets: two,
		}, "strategy.sticky.hash_fields[0]: must have the header's name in canonical form, such as X-Team"},
		{"patterns of 4 KiB and more", config.Config{
			Strategy: &config.Strategy{Mode: config.ModeConditional, Conditions: slices.Repeat([]config.Condition{{Query: long, Then: "a"}}, 9)},
			Targets:  []config.Target{{Name: "a"}},
		}, "strategy.conditions[8].query: goes beyond the 4096 bytes that all patterns of a config may have"},
		{"a tree in a circle", config.Config{Targets: cycle},
			strings.Repeat("targets[0].", 7) + "targets[0]: is nested too deeply: 8 levels of targets at most, the config itself included"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			text := ""
			err := tt.c.Validate()
			if err != nil {
				text = err.Error()
			}
			if diff := cmp.Diff(tt.want, text); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
			if _, marshalErr := tt.c.MarshalJSON(); (marshalErr == nil) != (err == nil) {
				t.Errorf("MarshalJSON: %v", marshalErr)
			}
			if err == nil {
				checkRoundTrip(t, &tt.c)
			}
		})
	}
}

func TestConfigsWithinOtherDocuments(t *testing.T) {
	type document struct {
		Config *config.Config `json:"config"`
	}
	var d document
	if err := json.Unmarshal([]byte(`{"config":{"retry":{"attempts":0},"targets":[{"provider":"@a"}]}}`), &d); err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(d)
	if want := `{"config":{"retry":{"attempts":0},"targets":[{"provider":"@a"}]}}`; err != nil || string(b) != want {
		t.Errorf("%s, %v, want %s", b, err, want)
	}
	kept := *d.Config
	if err := json.Unmarshal([]byte(`{"config":{"retry":{}}}`), &d); err == nil || !strings.Contains(err.Error(), "retry.attempts") {
		t.Errorf("error %v", err)
	}
	equalConfigs(t, "after a mistake", &kept, d.Config)
	if err := d.Config.UnmarshalJSON([]byte("null")); err != nil {
		t.Error(err)
	}
	equalConfigs(t, "after null", &kept, d.Config)
}

func TestTargetsAlone(t *testing.T) {
	two := 2.0
	node := config.Target{Name: "a", Weight: &two, Settings: config.Settings{Provider: "@a"}, Targets: []config.Target{{Name: "b"}}}
	b, err := json.Marshal(node)
	if want := `{"name":"a","weight":2,"provider":"@a","targets":[{"name":"b"}]}`; err != nil || string(b) != want {
		t.Errorf("target: %s, %v, want %s", b, err, want)
	}
	again := config.Target{Name: "before"}
	if err := json.Unmarshal(b, &again); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(node, again); diff != "" {
		t.Errorf("read again (-want +got):\n%s", diff)
	}
	if err := again.UnmarshalJSON([]byte(`{"name":""}`)); err == nil || again.Name != "a" {
		t.Errorf("error %v, name %q", err, again.Name)
	}
	if err := again.UnmarshalJSON([]byte("null")); err != nil || again.Name != "a" {
		t.Errorf("null: %v, name %q", err, again.Name)
	}
	node.Targets[0].Provider = "@"
	if b, err := json.Marshal(node); err == nil || !strings.Contains(err.Error(), "targets[0].provider: ") {
		t.Errorf("an invalid target: %s, %v", b, err)
	}
}

func TestConfigsAreWrittenByValueToo(t *testing.T) {
	c := config.Config{Settings: config.Settings{RequestTimeout: time.Second}}
	if b, err := json.Marshal(struct{ C config.Config }{c}); err != nil || string(b) != `{"C":{"request_timeout":1000}}` {
		t.Errorf("%s, %v", b, err)
	}
}

func TestConfigsThatNobodyCouldReadAreNotWritten(t *testing.T) {
	half := json.RawMessage(`{"x":"` + strings.Repeat("x", config.MaxSize/2) + `"}`)
	c := config.Config{Settings: config.Settings{DefaultParams: half, OverrideParams: half}}
	if b, err := c.MarshalJSON(); err == nil || err.Error() != "config: larger than 1024 KiB" {
		t.Errorf("%d bytes, %v", len(b), err)
	}
}

func TestAllStopsWhenAsked(t *testing.T) {
	c := &config.Config{Targets: []config.Target{{Targets: []config.Target{{}}}, {}}}
	var paths []string
	for path := range c.All() {
		if paths = append(paths, path); len(paths) == 3 {
			break
		}
	}
	if diff := cmp.Diff([]string{"", "targets[0]", "targets[0].targets[0]"}, paths); diff != "" {
		t.Errorf("paths (-want +got):\n%s", diff)
	}
}
