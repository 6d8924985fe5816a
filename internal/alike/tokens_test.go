package alike_test

import (
	"strings"
	"testing"

	"github.com/b650d4bf/gateway/internal/alike"
)

func TestTokensAreBounded(t *testing.T) {
	// Real counts are those of cl100k_base and o200k_base, the larger one, by github.com/tiktoken-go/tokenizer 0.7.0.
	tests := []struct {
		name, text string
		real       int
	}{
		{"nothing", "", 0},
		{"a sentence", "How do I reset my password?", 7},
		{"a long word", "internationalization", 2},
		{"letters in no order", "xqzjkvwpth", 7},
		{"digits", "1234567890", 4},
		{"capitals", "HELLO THERE", 3},
		{"Chinese", "如何重置密码", 5},
		{"spaces", "a    b", 3},
		{"JSON", `{"a":[1,2],"b":null}`, 11},
		{"emoji", "👍🏽", 6},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := alike.Tokens(tt.text); got < tt.real || got > len(tt.text) {
				t.Errorf("%d tokens, want between %d and %d", got, tt.real, len(tt.text))
			}
		})
	}
}

func TestWhatFits(t *testing.T) {
	const limit = 2048
	english := strings.Repeat("the quick brown fox jumps over the lazy dog and sleeps again ", 100)
	tests := []struct {
		name, text string
		want       bool
	}{
		{"as many bytes as tokens", strings.Repeat("#", limit), true},
		{"a byte more", strings.Repeat("#", limit+1), false},
		{"prose of twice the bytes", english[:4000], true},
		{"prose of three times the bytes", english[:6000], false},
		{"letters that become words when they are made compatible", strings.Repeat("\ufdfa", 100), false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := alike.Fits(tt.text, limit); got != tt.want {
				t.Errorf("%d bytes, at most %d tokens: fits %v, want %v", len(tt.text), alike.Tokens(tt.text), got, tt.want)
			}
		})
	}
}
