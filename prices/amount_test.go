package prices_test

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/b650d4bf/gateway/prices"
)

func TestAmountsAreDollarsWithAllTheirDigits(t *testing.T) {
	for _, tt := range []struct {
		amount prices.Amount
		want   string
	}{
		{0, "0"}, {prices.Dollar, "1"}, {123 * prices.NanoDollar, "0.000000123"}, {-1500 * prices.NanoDollar, "-0.0000015"},
		{12*prices.Dollar + 5e8, "12.5"}, {math.MinInt64, "-9223372036.854775808"},
	} {
		t.Run(tt.want, func(t *testing.T) {
			b, err := json.Marshal(tt.amount)
			if err != nil || string(b) != tt.want {
				t.Fatalf("Marshal = %s, %v; want %s", b, err, tt.want)
			}
			if tt.amount == math.MinInt64 {
				return
			}
			var back prices.Amount
			if err := json.Unmarshal(b, &back); err != nil || back != tt.amount {
				t.Errorf("Unmarshal = %d, %v; want %d", back, err, tt.amount)
			}
		})
	}
}

func TestWhatIsNoAmountIsRefused(t *testing.T) {
	for _, in := range []string{"", "free", "NaN", "Inf", "1e10", `"1"`} {
		if a, err := prices.ParseAmount(in); err == nil {
			t.Errorf("ParseAmount(%q) = %v, want an error", in, a)
		}
	}
}
