package growth

import (
	"bytes"
	stdcmp "cmp"
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Error(diff)
	}
}

// drawn is a result with what is hard to draw: lines that end at the same place, a
// zero, a figure that is missing, and names that XML has to be told about.
func drawn() *Result {
	nan := math.NaN()
	r := &Result{Series: Series{
		Name: "drawn", Title: "Things & <others>", Axis: "things",
		Metrics: []Metric{
			{Name: "time", Unit: Nanoseconds, Rule: linear, Plotted: true},
			{Name: "held", Unit: Bytes, Rule: level, Plotted: true, Flat: true},
			{Name: "goroutines", Unit: Count},
		},
	}, Lines: []Line{{Name: "one"}, {Name: "the \"same\""}, {Name: "squared"}}}
	for _, n := range []int{1, 10, 100, 1000, 10_000} {
		f := float64(n)
		r.Lines[0].Rows = append(r.Lines[0].Rows, Row{n, []float64{250 * f, 1500, 0}})
		r.Lines[1].Rows = append(r.Lines[1].Rows, Row{n, []float64{250 * f, nan, f}})
		r.Lines[2].Rows = append(r.Lines[2].Rows, Row{n, []float64{f * f, 0.3 * f * 1000, nan}})
	}
	return r
}

func TestPlot(t *testing.T) { golden(t, "plot.svg", drawn().Plot()) }

func TestSection(t *testing.T) {
	o := Origin{Date: time.Date(2026, 11, 22, 4, 0, 0, 0, time.UTC), Machine: "a machine", GoVersion: "go1.26", Commit: "abc", Args: "-only drawn"}
	golden(t, "section.md", []byte(drawn().section(o, &Run{Samples: 7})))
}

// TestPlotsOfFullSize draws as many lines and points as any series has.
func TestPlotsOfFullSize(t *testing.T) {
	r := &Result{Series: chunksSeries()}
	for _, s := range streamings() {
		l := Line{Name: s.name}
		for _, n := range (&Run{}).sizes(100_000, 0) {
			f := float64(n)
			l.Rows = append(l.Rows, Row{n, []float64{f * 1234, 1234.5 + f, 1, 1, f * 99}})
		}
		r.Lines = append(r.Lines, l)
	}
	checkPicture(t, r.Plot())
	if !bytes.Equal(r.Plot(), r.Plot()) {
		t.Error("the same result is drawn in two ways")
	}
}

// checkPicture asks of a picture what any reader needs.
func checkPicture(t *testing.T, svg []byte) {
	t.Helper()
	if len(svg) >= 30_000 {
		t.Errorf("%d bytes, 30,000 at most", len(svg))
	}
	for _, want := range []string{"<title id=\"t\">", "<desc id=\"d\">", `role="img"`, "prefers-color-scheme:dark", "viewBox"} {
		if !bytes.Contains(svg, []byte(want)) {
			t.Errorf("it has no %s", want)
		}
	}
	for _, bad := range []string{"NaN", "Inf", "%!"} {
		if bytes.Contains(svg, []byte(bad)) {
			t.Errorf("it has %s", bad)
		}
	}
	for d := xml.NewDecoder(bytes.NewReader(svg)); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

func TestLabelsKeepTheirDistance(t *testing.T) {
	for name, ys := range map[string][]float64{
		"all at one place": {100, 100, 100, 100, 100, 100, 100},
		"at the bottom":    {250, 249, 248, 251, 250},
		"at the top":       {-20, -5, 0, 1},
		"far apart":        {10, 80, 200},
	} {
		t.Run(name, func(t *testing.T) {
			var labels []label
			for _, y := range ys {
				labels = append(labels, label{y: y})
			}
			slices.SortFunc(labels, func(p, q label) int { return stdcmp.Compare(p.y, q.y) })
			places := place(labels, 0)
			for i, y := range places {
				if y < 0 || y > plotHeight+8 || i > 0 && y < places[i-1]+labelStep {
					t.Errorf("places are %v", places)
				}
			}
			if name == "far apart" && !cmp.Equal(places, ys) {
				t.Errorf("places are %v, want those of the ends, %v", places, ys)
			}
		})
	}
}

func TestFigure(t *testing.T) {
	for _, c := range []struct {
		v    float64
		unit Unit
		want string
	}{
		{0, Count, "0"}, {0.004, Count, "<0.01"}, {0.5, Count, "0.5"}, {1, Count, "1"}, {12.34, Count, "12.3"}, {999.6, Count, "1,000"},
		{1_000_000, Count, "1,000,000"}, {20_500, Count, "20,500"}, {math.NaN(), Bytes, "–"},
		{0.25, Nanoseconds, "0.25 ns"}, {999.9, Nanoseconds, "1 µs"}, {1234, Nanoseconds, "1.23 µs"}, {2e9, Nanoseconds, "2 s"}, {3e12, Nanoseconds, "3,000 s"},
		{1000, Bytes, "1 kB"}, {15_488, Bytes, "15.5 kB"}, {999_999, Bytes, "1 MB"}, {123e9, Bytes, "123 GB"},
	} {
		if got := figure(c.v, c.unit); got != c.want {
			t.Errorf("%v: %q, want %q", c.v, got, c.want)
		}
	}
}

func TestReplaceSection(t *testing.T) {
	page := "a\n<!-- x -->\nold\n<!-- end of x -->\nb\n<!-- y -->\nkept\n<!-- end of y -->\n"
	got, err := replaceSection(page, "x", "new\n")
	if diff := cmp.Diff(strings.Replace(page, "old", "new", 1), got); diff != "" || err != nil {
		t.Error(diff, err)
	}
	for _, broken := range []string{"", "<!-- x -->\n", "<!-- end of x -->\n<!-- x -->\n"} {
		if _, err := replaceSection(broken, "x", "new"); err == nil {
			t.Errorf("%q has a section", broken)
		}
	}
}

// TestThePageHasEverySeries looks at what is in the repository.
func TestThePageHasEverySeries(t *testing.T) {
	page, err := os.ReadFile("../../docs/growth.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range All() {
		if _, err := replaceSection(string(page), s.Name, ""); err != nil {
			t.Error(err)
		}
		svg, err := os.ReadFile(filepath.Join("../../docs/growth", s.Name+".svg"))
		if err != nil {
			t.Fatal(err)
		}
		checkPicture(t, svg)
	}
	if strings.Contains(string(page), "figures mean nothing") {
		t.Error("the page is of a quick run")
	}
}

func TestMainWritesWhatItIsTold(t *testing.T) {
	dir := t.TempDir()
	page, err := os.ReadFile("../../docs/growth.md")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "growth.md"), page, 0o600); err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	if code := Main(t.Context(), []string{"-quick", "-only", "tools", "-out", dir}, &out, &errs); code == exitUsage || !strings.Contains(out.String(), "tools") {
		t.Fatalf("code %d\n%s\n%s", code, &out, &errs)
	}
	got, err := os.ReadFile(filepath.Join(dir, "growth.md"))
	if err != nil || !strings.Contains(string(got), "`go -C bench run ./cmd/growth -quick -only tools -out ") || strings.Count(string(got), "figures mean nothing") != 1 {
		t.Errorf("%v\n%s", err, got)
	}
	svg, err := os.ReadFile(filepath.Join(dir, "growth", "tools.svg"))
	if err != nil {
		t.Fatal(err)
	}
	checkPicture(t, svg)
}

func TestMainRefuses(t *testing.T) {
	for _, args := range [][]string{{"-only", "nothing"}, {"-what"}, {"-samples", "0"}} {
		var out, errs bytes.Buffer
		if code := Main(t.Context(), args, &out, &errs); code != exitUsage || errs.Len() == 0 || out.Len() > 0 {
			t.Errorf("%q: code %d, %q, %q", args, code, &out, &errs)
		}
	}
	var out, errs bytes.Buffer
	if code := Main(t.Context(), []string{"-quick", "-only", "tools", "-out", t.TempDir()}, &out, &errs); code != exitFailed || !strings.Contains(errs.String(), "growth.md") {
		t.Errorf("without a page: code %d, %q", code, &errs)
	}
	o, err := parse([]string{"-quick"}, io.Discard)
	if err != nil || o.out != "" {
		t.Errorf("a quick run writes to %q, %v", o.out, err)
	}
}
