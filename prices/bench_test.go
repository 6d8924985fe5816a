package prices_test

import (
	"context"
	"testing"
	"time"

	"github.com/b650d4bf/gateway/prices"
	"github.com/b650d4bf/gateway/providers"
)

func BenchmarkRecord(b *testing.B) {
	table := prices.Default()
	plain := counted(1000, 200)
	plain.Extra = providers.Extra(`{"traffic_type":"ON_DEMAND"}`)
	for name, r := range map[string]*providers.Record{
		"plain":  record("gemini-2.5-flash", plain),
		"dated":  record("google.gemini-2.5-flash-preview-09-2025", plain),
		"claude": record("claude-sonnet-4-6", claude(10_000, 100, 5000, `{"cache_creation_input_tokens":3000,"cache_read_input_tokens":5000,"cache_creation":{"ephemeral_5m_input_tokens":2000,"ephemeral_1h_input_tokens":1000}}`)),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if cost, _ := table.Record(r); cost == nil {
					b.Fatal("unknown")
				}
			}
		})
	}
	b.Run("in parts", func(b *testing.B) {
		r := record("gemini-2.5-flash", plain)
		b.ReportAllocs()
		for b.Loop() {
			if c := table.Cost(r); !c.Known {
				b.Fatal("unknown")
			}
		}
	})
}

func BenchmarkBudget(b *testing.B) {
	budget := budget(b, prices.BudgetOptions{Limits: []prices.Limit{
		{Name: "d", By: prices.ByUser, Window: prices.Daily, Amount: 1e18, Refuse: true}, {Name: "h", By: prices.ByAll, Window: prices.Rolling(time.Hour), Amount: 1e18},
	}})
	call := providers.Call{Operation: "chat", Metadata: map[string]string{providers.UserKey: "u"}, Start: time.Now()}
	r := providers.Record{Call: call, Meta: providers.Meta{Provider: "p", Model: "m"}, Usage: counted(1, 0)}
	b.ReportAllocs()
	for b.Loop() {
		ctx := budget.CallStart(context.Background(), call)
		if err := budget.Admit(ctx, call); err != nil {
			b.Fatal(err)
		}
		budget.CallEnd(ctx, r)
	}
}

func BenchmarkDefault(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		_ = prices.Default()
	}
}

func TestAPlainRecordAllocatesOnce(t *testing.T) {
	table, r := prices.Default(), record("gemini-2.5-flash", counted(1000, 200))
	if n := testing.AllocsPerRun(100, func() { _, _ = table.Record(r) }); n > 1 {
		t.Errorf("%v allocations", n)
	}
}
