package config_test

import (
	"fmt"

	"github.com/b650d4bf/gateway/config"
)

// Every node has its own settings and those of the nodes above.
func ExampleParse() {
	c, err := config.Parse([]byte(`{
		"strategy": {"mode": "fallback", "on_status_codes": [429, 503]},
		"override_params": {"labels": {"team": "search"}},
		"targets": [
			{"provider": "@vertex-eu"},
			{"provider": "@vertex-us", "override_params": {"model": "gemini-2.5-flash"}}
		]
	}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, t := range c.Targets {
		s := t.Settings.Under(c.Settings)
		fmt.Printf("%s %s\n", s.Provider, s.OverrideParams)
	}
	fmt.Println(c.Strategy.On(503), c.Strategy.On(400))
	// Output:
	// @vertex-eu {"labels": {"team": "search"}}
	// @vertex-us {"labels": {"team": "search"},"model": "gemini-2.5-flash"}
	// true false
}

// All mistakes are reported at once.
func ExampleParse_mistakes() {
	_, err := config.Parse([]byte(`{
		"cache": {"mode": "simple", "max_age": 30},
		"targets": [{"provider": "@vertex", "wieght": 1}, {"api_key": "…"}]
	}`))
	fmt.Println(err)
	// Output:
	// cache.max_age: must be a whole number of seconds from 60 to 7776000
	// targets[0].wieght: unknown member (did you mean "weight"?)
	// targets[1].api_key: configs hold no secrets: credentials live in a catalog entry, named by "provider": "@slug"
	// strategy: is missing: say how the 2 targets are used, such as {"mode":"fallback"}
}

func ExampleApply() {
	s := config.Settings{
		DefaultParams:  []byte(`{"temperature": 0.2}`),
		DropParams:     []string{"logprobs"},
		OverrideParams: []byte(`{"model": "gemini-2.5-flash"}`),
	}
	request, err := config.Apply([]byte(`{"model": "any", "logprobs": true, "messages": []}`), &s)
	fmt.Println(string(request), err)
	// Output:
	// {"model": "gemini-2.5-flash", "messages": [],"temperature": 0.2} <nil>
}

func ExampleQuery_Match() {
	q, err := config.ParseQuery([]byte(`{"metadata.plan": "pro", "params.max_tokens": {"$gt": 1000}}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(q.Match(&config.Call{
		Meta: map[string]string{"plan": "pro"},
		Body: []byte(`{"max_tokens": 4000}`),
	}))
	// Output:
	// true
}
