package pipeline

import (
	"testing"

	"github.com/b650d4bf/gateway/config"
)

// TestVisitorsKeepTheirHealthApart has the configs that HTTP clients bring count
// on keys of their own: a stranger must not cool down a target of others.
func TestVisitorsKeepTheirHealthApart(t *testing.T) {
	c, err := config.Parse([]byte(`{"provider":"@a","cb_config":{"failure_threshold":1,"cooldown_interval":1000}}`))
	if err != nil {
		t.Fatal(err)
	}
	e := withKeyed()
	own, err := NewPlan(c)
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := e.plan(&Settings{Plan: own}, &Settings{Config: c})
	if err != nil {
		t.Fatal(err)
	}
	if own.scope == theirs.scope {
		t.Error("both count on the same keys")
	}
}

func TestParamsThatChangeTheModelAlone(t *testing.T) {
	for _, tt := range []struct {
		params, model string
		more          bool
	}{
		{`{"override_params":{"model":"m"}}`, "m", false},
		{`{"override_params":{ "model" : "m" }}`, "m", false},
		{`{"override_params":{"model":"m","n":1}}`, "m", true},
		{`{"override_params":{"n":1}}`, "", true},
		{`{"override_params":{"model":"a b"}}`, "a b", true}, // never mind: the long way does the same
		{`{"override_params":{"model":"\u006d\/x"}}`, "", true},
		{`{"default_params":{"n":1},"override_params":{"model":"m"}}`, "m", true},
		{`{"drop_params":["n"]}`, "", true},
		{`{}`, "", false},
	} {
		c, err := config.Parse([]byte(tt.params))
		if err != nil {
			t.Fatal(err)
		}
		model, more := paramsOf(&c.Settings)
		if model != tt.model || more != tt.more {
			t.Errorf("%s: %q, %v, want %q, %v", tt.params, model, more, tt.model, tt.more)
		}
	}
}
