package prompts_test

import (
	"encoding/json"
	"strings"
	"testing"
)

func BenchmarkRender(b *testing.B) {
	long := strings.Repeat("All work and no play makes Jack a dull boy. ", 200)
	for _, bm := range []struct {
		name, content string
		given         map[string]any
	}{
		{"a greeting", quoted("Hello, {{name}} from {{city}}!"), map[string]any{"name": "Ada", "city": "London"}},
		{"a long text", quoted(long + "{{name}}" + long), map[string]any{"name": "Ada"}},
		{"a list from JSON", quoted("{{#items}}- {{name}}: {{price}}\n{{/items}}"), map[string]any{
			"items": json.RawMessage("[" + strings.Repeat(`{"name":"tea","price":3.5},`, 49) + `{"name":"tea","price":3.5}]`),
		}},
	} {
		b.Run(bm.name, func(b *testing.B) {
			lib := library(b, asking(bm.content), nil)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := lib.Render(b.Context(), "p", bm.given); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
