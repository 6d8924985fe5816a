package config_test

import (
	"testing"

	"github.com/b650d4bf/gateway/config"
)

// comparing is a query of strings, numbers and booleans that reads all of them.
const comparing = `{"metadata.plan":"pro","metadata.n":{"$gte":5},"params.max_tokens":{"$gt":10,"$lte":1000},
	"params.thinking.type":{"$in":["disabled","enabled"]},"params.stream":true,"headers.x-team":{"$ne":"red"},
	"$or":[{"params.model":"other"},{"params.temperature":0.5}]}`

func TestMatchDoesNotAllocate(t *testing.T) {
	q, err := config.ParseQuery([]byte(comparing))
	if err != nil {
		t.Fatal(err)
	}
	v := call()
	if !q.Match(v) {
		t.Fatal("does not match")
	}
	if got := testing.AllocsPerRun(100, func() { q.Match(v) }); got != 0 {
		t.Errorf("%v allocations, want none", got)
	}
}

func BenchmarkMatch(b *testing.B) {
	for name, query := range map[string]string{
		"compare": comparing, "metadata": `{"metadata.plan":"pro"}`, "regex": `{"metadata.plan":{"$regex":"^p.o$"}}`,
	} {
		b.Run(name, func(b *testing.B) {
			q, err := config.ParseQuery([]byte(query))
			if err != nil {
				b.Fatal(err)
			}
			v := call()
			b.ReportAllocs()
			for b.Loop() {
				if !q.Match(v) {
					b.Fatal("does not match")
				}
			}
		})
	}
}

func BenchmarkParse(b *testing.B) {
	in := validConfigs(b)["nested"]
	b.ReportAllocs()
	for b.Loop() {
		if _, err := config.Parse(in); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkApply(b *testing.B) {
	s := config.Settings{
		DefaultParams: []byte(`{"temperature":0.2}`), DropParams: []string{"logprobs", "thinking.deep"},
		OverrideParams: []byte(`{"model":"gemini-2.5-flash","labels":{"team":"search"}}`),
	}
	request := call().Body
	b.ReportAllocs()
	for b.Loop() {
		if _, err := config.Apply(request, &s); err != nil {
			b.Fatal(err)
		}
	}
}
