package gatewayotel_test

import (
	"errors"
	"os"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"

	gatewayotel "github.com/b650d4bf/gateway/otel"
	"github.com/b650d4bf/gateway/providers"
)

func TestTheEnvironmentChoosesConventions(t *testing.T) {
	tests := []struct {
		value string
		want  gatewayotel.Conventions
	}{
		{"", gatewayotel.ConventionsLatest},
		{"http,database", gatewayotel.ConventionsLatest},
		{"gen_ai_latest_experimental", gatewayotel.ConventionsLatest},
		{"gen_ai/v1.41", gatewayotel.ConventionsV141},
		{"http, gen_ai/v1.41 ,database/dup", gatewayotel.ConventionsV141},
		{"gen_ai/dup", gatewayotel.ConventionsBoth},
		{"gen_ai/v1.41,gen_ai/dup", gatewayotel.ConventionsBoth},
		{"gen_ai/v1.41,gen_ai_latest_experimental", gatewayotel.ConventionsLatest},
		{"gen_ai/v1.36", gatewayotel.ConventionsLatest},
	}
	for _, tt := range tests {
		t.Run(tt.value, func(t *testing.T) {
			t.Setenv("OTEL_SEMCONV_STABILITY_OPT_IN", tt.value)
			if diff := cmp.Diff(tt.want, gatewayotel.ConventionsFromEnv()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestOptionsOverrideTheEnvironment(t *testing.T) {
	t.Setenv("OTEL_SEMCONV_STABILITY_OPT_IN", "gen_ai/v1.41")
	s := newSetup(t, gatewayotel.Options{Conventions: gatewayotel.ConventionsLatest})
	s.chat(t, ask("Hi."))
	if _, ok := s.metrics(t)["gen_ai.client.inference.duration"]; !ok {
		t.Error("the former names are used")
	}
}

func TestWrongOptionsAreRefused(t *testing.T) {
	tests := []struct {
		name, param string
		opts        gatewayotel.Options
	}{
		{"conventions", "conventions", gatewayotel.Options{Conventions: "1.30"}},
		{"a negative limit", "max_content", gatewayotel.Options{MaxContent: -1}},
		{"an empty key", "metadata_keys", gatewayotel.Options{MetadataKeys: []string{"a", ""}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := gatewayotel.New(tt.opts)
			e, ok := errors.AsType[*providers.Error](err)
			if !ok || e.Param != tt.param || e.Code != providers.ErrInvalidConfig {
				t.Error(err)
			}
		})
	}
}

func TestDefaultsAreTheGlobalProviders(t *testing.T) {
	o, err := gatewayotel.New(gatewayotel.Options{})
	if err != nil || o == nil {
		t.Fatal(err)
	}
	o.CallEnd(o.CallStart(t.Context(), providers.Call{Operation: "chat"}), providers.Record{})
}

// codes are the codes of errors that the contract declares.
func codes(t *testing.T) []providers.Code {
	t.Helper()
	source, err := os.ReadFile("../providers/error.go")
	if err != nil {
		t.Fatal(err)
	}
	var out []providers.Code
	for _, m := range regexp.MustCompile(`(?m)^\tErr\w+ +Code = "(\w+)"`).FindAllSubmatch(source, -1) {
		out = append(out, providers.Code(m[1]))
	}
	if len(out) < 20 {
		t.Fatalf("%d codes in the contract", len(out))
	}
	return out
}
