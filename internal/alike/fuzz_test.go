package alike_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/b650d4bf/gateway/internal/alike"
)

func FuzzConflict(f *testing.F) {
	for _, p := range [][2]string{
		{"How do I turn the light off?", "don't"}, {"3 pm on May 3rd, 2024", "2024-05-03T15:00"}, {"$1.5 million", "v1.2.3 -5 °C"}, {"'a' \"b c\" `d", "«e» 「f」"},
		{"如何重置密码", "パスワード"}, {"كيف ١٢", "ёлка не"}, {"\xff\xfe", "l'eau qu'on"}, {"one hundred and two thousand", "second second"}, {"may May 5 am", "pm"}, {"-", "'s"},
		{"Summarize https://", "Summarize https:/// now"},
	} {
		f.Add(p[0], p[1])
	}
	for _, p := range rows(f) {
		f.Add(p[2], p[3])
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		ab, found := alike.Conflict(a, b)
		ba, back := alike.Conflict(b, a)
		if found != back || found != (ab != "") || back != (ba != "") {
			t.Errorf("%q, %q: %v %q one way, %v %q the other", a, b, found, ab, back, ba)
		}
		if got, same := alike.Conflict(a, strings.Clone(a)); same {
			t.Errorf("%q is in conflict with itself: %s", a, got)
		}
		if got, same := alike.Conflict(a, " "+a+" "); same && got != alike.Length {
			t.Errorf("%q is in conflict with itself and spaces: %s", a, got)
		}
		if n := alike.Tokens(a); n < 0 || n == 0 && a != "" {
			t.Errorf("%q has %d tokens", a, n)
		}
	})
}

// Texts of the pairs with words left out and swapped are nearly sentences, which
// fuzzing seldom finds.
func TestBrokenSentences(t *testing.T) {
	for _, row := range rows(t) {
		for _, text := range row[2:] {
			words := strings.Fields(text)
			for i := range words {
				less := strings.Join(slices.Delete(slices.Clone(words), i, i+1), " ")
				other := slices.Clone(words)
				other[i], other[0] = other[0], other[i]
				for _, changed := range []string{less, strings.Join(other, " ")} {
					if _, there := alike.Conflict(text, changed); !there {
						continue
					}
					if _, back := alike.Conflict(changed, text); !back {
						t.Errorf("%q and %q are in conflict one way only", text, changed)
					}
				}
			}
		}
	}
}

// hostile are texts that make bad scanners slow.
var hostile = map[string]func(n int) string{
	"one word":         func(n int) string { return strings.Repeat("a", n) },
	"quotation marks":  func(n int) string { return strings.Repeat(`"'`+"`“„«「", n/16) },
	"apostrophes":      func(n int) string { return strings.Repeat(" 'a'b", n/5) },
	"backticks":        func(n int) string { return strings.Repeat(" `", n/2) },
	"numbers":          func(n int) string { return strings.Repeat("1,", n/2) },
	"hundreds":         func(n int) string { return strings.Repeat("hundred and ", n/12) },
	"turns":            func(n int) string { return strings.Repeat("turn ", n/5) },
	"dots":             func(n int) string { return strings.Repeat("a.", n/2) },
	"months":           func(n int) string { return strings.Repeat("may 5 ", n/6) },
	"prefixes":         func(n int) string { return strings.Repeat("what is the best way ", n/21) },
	"different words":  func(n int) string { return strings.Repeat("zq ", n/6) + strings.Repeat("qz ", n/6) },
	"Chinese":          func(n int) string { return strings.Repeat("怎么样才", n/12) },
	"invalid UTF-8":    func(n int) string { return strings.Repeat("\xff", n) },
	"prepositions":     func(n int) string { return numbered("of w", n/9) },
	"owners":           func(n int) string { return numbered("w's x", n/10) },
	"negations":        func(n int) string { return numbered("not w", n/10) },
	"slashes":          func(n int) string { return strings.Repeat("a/", n/2) },
	"combining accent": func(n int) string { return strings.Repeat("e\u0301", n/3) },
}

// numbered is n times the text, each with a number of its own.
func numbered(text string, n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(text)
		for j := i; j > 0; j /= 26 {
			b.WriteByte('a' + byte(j%26))
		}
		b.WriteByte(' ')
	}
	return b.String()
}

func TestHostileTextsTakeLinearTime(t *testing.T) {
	for name, text := range hostile {
		t.Run(name, func(t *testing.T) {
			const generous = 2 * time.Second // a square of the length takes minutes
			long := text(alike.MaxBytes)
			start := time.Now()
			alike.Conflict(long, text(alike.MaxBytes/2)+" b")
			alike.Conflict(long, "c "+text(alike.MaxBytes-8))
			alike.Tokens(text(1 << 20))
			if took := time.Since(start); took > generous {
				t.Errorf("took %v", took)
			}
			if got, found := alike.Conflict(text(1<<20), text(1<<20-64)); !found || got != alike.Length {
				t.Errorf("1 MB: %v %q, want a conflict of %q", found, got, alike.Length)
			}
		})
	}
}

func BenchmarkConflict(b *testing.B) {
	const one = "How do I reset the password of my account at the bank when I have 3 cards and lost 1? "
	for name, n := range map[string]int{"100B": 100, "2KB": 2 << 10, "64KB": 64 << 10} {
		b.Run(name, func(b *testing.B) {
			text := strings.Repeat(one, n/len(one)+1)[:n-10]
			other := "Please, " + strings.ToUpper(text[:1]) + text[1:]
			b.ReportAllocs()
			b.SetBytes(int64(2 * n))
			for b.Loop() {
				alike.Conflict(text, other)
			}
		})
	}
}
