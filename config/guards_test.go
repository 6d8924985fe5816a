package config_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/config"
)

func TestGuardsByTheirNames(t *testing.T) {
	c, err := config.Parse([]byte(`{"guards":[{"name":"pii"},{"name":"a"}],"strategy":{"mode":"fallback"},"targets":[
		{"guards":[{"name":"pii","mode":"observe"}]},{"targets":[{"guards":[{"name":"toxicty"}]}]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"pii", "a", "toxicty"}, c.GuardNames()); d != "" {
		t.Errorf("names (-want +got)\n%s", d)
	}
	for _, tt := range []struct {
		known []string
		want  []string
	}{
		{[]string{"a", "pii", "toxicty"}, nil},
		{[]string{"a", "pii", "toxicity"}, []string{
			`targets[1].targets[0].guards[0].name: no guard of that name is registered: "toxicty" (did you mean "toxicity"?)`,
		}},
		{nil, []string{
			`guards[0].name: no guard of that name is registered: "pii"`,
			`guards[1].name: no guard of that name is registered: "a"`,
			`targets[0].guards[0].name: no guard of that name is registered: "pii"`,
			`targets[1].targets[0].guards[0].name: no guard of that name is registered: "toxicty"`,
		}},
	} {
		got := ""
		if err := c.CheckGuards(tt.known); err != nil {
			got = err.Error()
		}
		if d := cmp.Diff(strings.Join(tt.want, "\n"), got); d != "" {
			t.Errorf("known %v (-want +got)\n%s", tt.known, d)
		}
	}
}
