package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/b650d4bf/gateway/bench/internal/plan"
)

// samples is a run of the group in which the library at place i took i+1 µs, twice.
func samples(g *plan.Group) []byte {
	var b bytes.Buffer
	b.WriteString("goos: linux\ngoarch: amd64\npkg: x\ncpu: y\n")
	for range 2 {
		for _, row := range g.Rows {
			for i, lib := range row.Libs {
				suffix := ""
				if row.Parallel {
					suffix = "-2"
				}
				fmt.Fprintf(&b, "%s/%s=%s/lib=%s%s \t 100\t %d ns/op\t %d cpu-ns/op\t %d B/op\t %d allocs/op\n",
					g.Bench, g.Key, row.Name, lib, suffix, (i+1)*1000, (i+1)*500, (i+1)*4096, 10*(i+1))
			}
		}
	}
	return b.Bytes()
}

// everything is a run of all groups.
func everything(t *testing.T) map[string]results {
	t.Helper()
	out := map[string]results{}
	for _, g := range plan.Groups() {
		r, err := read(samples(&g))
		if err != nil {
			t.Fatal(err)
		}
		out[g.Name] = r
	}
	return out
}

// page returns the page of the repository.
func page(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../../docs/performance.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

var when = about{
	date: "1 December 2026", commit: "0123456789ab", version: "1.26.8", system: "linux/amd64", model: "a processor",
	command: "go -C bench run ./cmd/measure", benchtime: "1s", processors: 2, count: 2,
}

func TestThePageHasEachSectionOnce(t *testing.T) {
	if err := checkMarkers(page(t)); err != nil {
		t.Error(err)
	}
}

func TestFillWritesTheSectionsAndNothingElse(t *testing.T) {
	before := page(t)
	after, err := fill(before, when, everything(t))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(after, "Not measured yet") {
		t.Error("a section was left out")
	}
	inner := regexp.MustCompile(`(?s)(<!-- measured:\w+ -->).*?(<!-- /measured:\w+ -->)`)
	if inner.ReplaceAllString(before, "$1$2") != inner.ReplaceAllString(after, "$1$2") {
		t.Error("the text outside the markers changed")
	}
	for _, want := range []string{
		"1 December 2026, commit 0123456789ab, Go 1.26.8, linux/amd64, a processor, 2 processors, 2 rounds of 1s: `go -C bench run ./cmd/measure`.",
		"[memory.txt](performance/memory.txt) and [cache.txt](performance/cache.txt)",
		"| | small | bigresp | conv40 | image1m | stream1000, per chunk | embed768 | parallel |",
		"| gateway | 0.50x | 0.50x | 0.50x | 0.50x | 0.50x | 0.50x | 0.50x |", // ours is first, the floor second
		"| gateway | 1.00 µs ± ? | 1.00 µs ± ? | 1.00 µs ± ? | 1.00 µs ± ? | 1 ns ± ? | 1.00 µs ± ? | 1.00 µs ± ? |",
		"| eino-gemini | 80 ± ? | 80 ± ? | 80 ± ? | – | 0.08 ± ? | – | 80 ± ? |",
		"| small | at most 2x the time of the floor | 0.50x | kept |",
		"| small | at least 9x faster than go-genai | 4.00x | **missed** |",
		"| cache hit, small | at most 5 allocations | 10 | **missed** |",
		"| small | at most 1.15x the processor time of the floor | 0.50x | kept |",
	} {
		if !strings.Contains(after, want) {
			t.Errorf("the page lacks: %s", want)
		}
	}
	if again, err := fill(after, when, everything(t)); err != nil || again != after {
		t.Errorf("filled twice the page is another, %v", err)
	}
}

func TestFillLeavesWhatWasNotRun(t *testing.T) {
	before := page(t)
	whole := everything(t)
	delete(whole, "cache")
	after, err := fill(before, when, whole)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"targets", "cache"} { // the targets are of both groups
		begin, end := markers(name)
		_, rest, _ := strings.Cut(after, begin)
		if body, _, _ := strings.Cut(rest, end); strings.Contains(body, "1 December 2026") {
			t.Errorf("%s was written without its results", name)
		}
	}
}

func TestMissingDataIsAnError(t *testing.T) {
	for _, g := range plan.Groups() {
		for _, unit := range []string{wall, allocs, "a whole sample"} {
			whole := everything(t)
			row := g.Rows[len(g.Rows)-1]
			if g.Name == "search" {
				row = g.Rows[0] // the last is for -long
			}
			lib := row.Libs[len(row.Libs)-1]
			at := sampled{row.Name, lib, unit}
			if unit == "a whole sample" {
				at.unit = wall
				whole[g.Name][at] = whole[g.Name][at][:1]
			} else {
				delete(whole[g.Name], at)
			}
			_, err := fill(page(t), when, whole)
			if err == nil || !strings.Contains(err.Error(), row.Name+" of "+lib) {
				t.Errorf("%s without %s: %v", g.Name, unit, err)
			}
		}
	}
}

func TestRowsThatAreLongMayBeLeftOut(t *testing.T) {
	whole := everything(t)
	for s := range whole["search"] {
		if s.row == "1000000" {
			delete(whole["search"], s)
		}
	}
	after, err := fill(page(t), when, whole)
	if err != nil || strings.Contains(after, "| 1000000") {
		t.Errorf("the row of -long is there, or missed: %v", err)
	}
}

func TestMarkers(t *testing.T) {
	for name, text := range map[string]string{
		"none":             "no markers",
		"one":              "<!-- measured:x -->",
		"two sections":     "<!-- measured:x --><!-- /measured:x --><!-- measured:x --><!-- /measured:x -->",
		"in another order": "<!-- /measured:x --><!-- measured:x -->",
	} {
		if _, err := replace(text, "x", "new"); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	got, err := replace("a <!-- measured:x -->old<!-- /measured:x --> b", "x", "new\n")
	if want := "a <!-- measured:x -->\nnew\n<!-- /measured:x --> b"; err != nil || got != want {
		t.Errorf("%q, %v", got, err)
	}
}

func TestUnits(t *testing.T) {
	for _, tt := range []struct {
		v    float64
		unit string
		want string
	}{
		{17, wall, "17 ns"}, {17.25, wall, "17.2 ns"}, {950, cpu, "950 ns"}, {1000, wall, "1.00 µs"}, {7400, wall, "7.40 µs"},
		{63_250, wall, "63.2 µs"}, {199_000, wall, "199 µs"}, {1_543_000, cpu, "1.54 ms"}, {2.5e9, wall, "2.50 s"}, {7e12, wall, "7000 s"},
		{0, heap, "0 B"}, {999, heap, "999 B"}, {4096, heap, "4.10 KB"}, {3_400_000, heap, "3.40 MB"},
		{27, allocs, "27"}, {2.027, allocs, "2.03"}, {0, allocs, "0"},
	} {
		if got := write(tt.v, tt.unit); got != tt.want {
			t.Errorf("%v %s: %q, want %q", tt.v, tt.unit, got, tt.want)
		}
	}
}

func TestFiguresAreMedians(t *testing.T) {
	r := results{{"small", "gateway", wall}: {100, 104, 101, 103, 102, 900}}
	f, err := r.figure(sampled{"small", "gateway", wall}, 6)
	if err != nil || f.median != 102.5 || f.within == "" || f.within == "∞" {
		t.Errorf("%+v, %v", f, err)
	}
	same := results{{"small", "gateway", allocs}: {27, 27, 27, 27, 27, 27}}
	if f, err = same.figure(sampled{"small", "gateway", allocs}, 6); err != nil || interval(f) != "" {
		t.Errorf("%+v, %v", f, err)
	}
}

func TestTargetsCompareWhatWasMeasured(t *testing.T) {
	at := sampled{"stream1000", plan.Gateway, allocs}
	for v, want := range map[float64]string{2000: "| 2 | kept |", 2001: "| 2.00 | **missed** |"} {
		got, err := verdicts([]target{{group: "memory", row: "stream1000", unit: allocs, limit: 2}}, map[string]results{"memory": {at: {v}}}, 1)
		if err != nil || !strings.Contains(got, want) {
			t.Errorf("%v: %s, %v", v, got, err)
		}
	}
}

func TestOnlyChoosesAndSaysWhatIsWhole(t *testing.T) {
	for _, tt := range []struct {
		args  []string
		pairs int
		whole []string
	}{
		{[]string{"-only", "^memory/small/"}, 9, nil},
		{[]string{"-only", "^cache/"}, 4, []string{"cache"}},
		{[]string{"-only", "^search/"}, 14, []string{"search"}},
		{[]string{"-only", "^search/", "-long"}, 17, []string{"search"}},
		{[]string{"-only", "^nothing"}, 0, nil},
		{nil, 102, []string{"memory", "cache", "loopback", "vectors", "search"}},
	} {
		o, err := parse(tt.args, &bytes.Buffer{})
		if err != nil {
			t.Fatal(err)
		}
		pairs, whole := 0, []string(nil)
		for _, g := range selected(o) {
			for _, row := range g.Rows {
				pairs += len(row.Libs)
			}
			if g.whole {
				whole = append(whole, g.Name)
			}
		}
		if pairs != tt.pairs || strings.Join(whole, " ") != strings.Join(tt.whole, " ") {
			t.Errorf("%v: %d, %v; want %d, %v", tt.args, pairs, whole, tt.pairs, tt.whole)
		}
	}
}

func TestWhatLibrariesPrintIsNoResult(t *testing.T) {
	out := "goos: linux\nsomething is said\nBenchmarkX/workload=small/lib=y\nBenchmarkX/workload=small/lib=y 100 7 ns/op\nPASS\n"
	want := "goos: linux\nBenchmarkX/workload=small/lib=y 100 7 ns/op\n"
	if got := string(benchmarkFormat([]byte(out))); got != want {
		t.Errorf("%q", got)
	}
}

func TestSaveKeepsTheResultsBesideThePage(t *testing.T) {
	out := filepath.Join(t.TempDir(), "performance.md")
	if err := save(out, "memory", []byte("x")); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(strings.TrimSuffix(out, ".md") + "/memory.txt"); err != nil || string(got) != "x" {
		t.Errorf("%q, %v", got, err)
	}
}

func TestBadFlagsAreErrors(t *testing.T) {
	for _, args := range [][]string{{"-count", "0"}, {"-only", "("}, {"more"}, {"-nothing"}} {
		if _, err := parse(args, &bytes.Buffer{}); err == nil {
			t.Errorf("%v: no error", args)
		}
	}
}
