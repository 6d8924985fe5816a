package growth

import (
	"context"
	"fmt"
	"math"
)

// Unit is what a figure counts.
type Unit int

// The units of figures.
const (
	Nanoseconds Unit = iota
	Bytes
	Count
)

// Rule is how a figure may grow. A zero limit is none.
type Rule struct {
	// Exponent is the most that the fitted exponent may be.
	Exponent float64
	// Rise is how many times the figure of a smaller size a figure may be, of
	// sizes from From on; 0 means from the upper half of the range on.
	Rise float64
	From float64
}

// The rules. A fit has its noise, which the 15 % allow for; so has a level cost.
var (
	linear = Rule{Exponent: 1.15}
	level  = Rule{Rise: 2}
)

// Metric is a figure of a series.
type Metric struct {
	Name string
	Unit Unit
	Rule Rule
	// Plotted has it in the picture, where Flat has it beside a level line and not
	// beside one that grows with the size.
	Plotted, Flat bool
}

// Row is one size, with its figures in the order of the metrics; NaN for none.
type Row struct {
	Size   int
	Values []float64
}

// Line is one way of doing what the series is about.
type Line struct {
	Name string
	Rows []Row
	// Rules are by the name of a metric, in place of the metric's own.
	Rules map[string]Rule
	// Asked counts what was asked for, and Answered the whole and right answers.
	Asked, Answered int64
}

// Points returns the curve of a figure, without the sizes that have none.
func (l *Line) Points(metric int) []Point {
	var out []Point
	for _, r := range l.Rows {
		if v := r.Values[metric]; !math.IsNaN(v) {
			out = append(out, Point{float64(r.Size), v})
		}
	}
	return out
}

// Series is what grows, with the figures that are taken of it.
type Series struct {
	// Name is that of the section and of the picture, Title is for people, and
	// Axis says what is counted.
	Name, Title, Axis string
	Metrics           []Metric
	measure           func(context.Context, *Run) ([]Line, error)
}

// Result is a measured series.
type Result struct {
	Series
	Lines []Line
}

// All returns the series in the order of the page.
func All() []Series {
	return []Series{historySeries(), toolsSeries(), chunksSeries(), parallelSeries(), entriesSeries(), semanticSeries()}
}

// Verdict is what became of one curve.
type Verdict struct {
	Line, Metric string
	Rule         Rule
	// Exponent is NaN where none can be fitted, and Rise where there is no limit.
	Exponent, Rise float64
	OK             bool
}

// Judge holds every curve to its rule.
func (r *Result) Judge() []Verdict {
	var out []Verdict
	for i := range r.Lines {
		l := &r.Lines[i]
		for j, m := range r.Metrics {
			points := l.Points(j)
			if len(points) == 0 {
				continue
			}
			rule := m.Rule
			if own, ok := l.Rules[m.Name]; ok {
				rule = own
			}
			out = append(out, judge(l.Name, m.Name, rule, points))
		}
	}
	return out
}

func judge(line, metric string, rule Rule, points []Point) Verdict {
	v := Verdict{Line: line, Metric: metric, Rule: rule, Exponent: math.NaN(), Rise: math.NaN(), OK: true}
	if k, err := Exponent(points); err == nil {
		v.Exponent = k
	}
	if rule.Exponent > 0 {
		v.OK = v.Exponent <= rule.Exponent // a curve without one is not
	}
	if rule.Rise > 0 {
		from := rule.From
		if from == 0 {
			from = upperHalf(points)[0].X
		}
		v.Rise = Rise(points, from)
		v.OK = v.OK && v.Rise <= rule.Rise
	}
	return v
}

// String says what is wrong, for a verdict that is not OK.
func (v Verdict) String() string {
	return fmt.Sprintf("%s, %s: exponent %s, rise %s; must be %s", v.Line, v.Metric, ratio(v.Exponent), ratio(v.Rise), v.Rule)
}

// String says what a rule asks for.
func (r Rule) String() string {
	switch {
	case r.Exponent > 0:
		return fmt.Sprintf("exponent ≤ %.2f", r.Exponent)
	case r.Rise > 0 && r.From > 0:
		return fmt.Sprintf("rise ≤ %.1f from %.0f on", r.Rise, r.From)
	case r.Rise > 0:
		return fmt.Sprintf("rise ≤ %.1f", r.Rise)
	}
	return "any"
}

// ratio writes a number with two digits after the point, and – for none.
func ratio(f float64) string {
	if math.IsNaN(f) {
		return "–"
	}
	if math.Abs(f) < 0.005 {
		f = 0 // never -0.00
	}
	return fmt.Sprintf("%.2f", f)
}
