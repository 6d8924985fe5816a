package sqlitelogs_test

import (
	"strconv"
	"testing"

	"github.com/b650d4bf/gateway/logs"
)

func BenchmarkWrite100(b *testing.B) {
	s := fresh(b)
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		batch := records(100)
		for i := range batch {
			batch[i].ID = strconv.Itoa(n)
			n++
		}
		must(b, s.Write(b.Context(), batch))
	}
}

func BenchmarkQuery(b *testing.B) {
	s := fresh(b)
	must(b, s.Write(b.Context(), records(10_000)))
	for name, q := range map[string]logs.Query{
		"newest":   {},
		"by user":  {Filters: []logs.Filter{{Field: "user", Op: logs.In, Values: []string{"nobody"}}}},
		"by entry": {Filters: []logs.Filter{{Field: "metadata.team", Op: logs.In, Values: []string{"nobody"}}}},
		"search":   {Search: "nowhere"},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_, err := s.Query(b.Context(), q)
				must(b, err)
			}
		})
	}
}
