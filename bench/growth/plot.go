package growth

import (
	"cmp"
	"fmt"
	"html"
	"math"
	"slices"
	"strings"
)

// The picture, in pixels. Lines are named at their right ends, so that no legend
// has to be matched by colour.
const (
	width      = 760.0
	left       = 78.0
	right      = 214.0
	top        = 38.0
	plotHeight = 250.0
	bottom     = 52.0
	headHeight = 34.0
	labelStep  = 30.0
	panelStep  = top + plotHeight + bottom
	plotWidth  = width - left - right
)

// style has colours for light and dark, of equal contrast; pictures are shown as
// images, which see the reader's preference and not the page's style.
const style = `<style>
text{font:12px system-ui,-apple-system,"Segoe UI",sans-serif;fill:#1f2328}
.h{font-size:15px;font-weight:600}.p{font-weight:600}.s{fill:#59636e;font-size:11px}
.bg{fill:#fff}.g{stroke:#dde2e7;stroke-width:1}.a{stroke:#8c959f;stroke-width:1;fill:none}
.r{stroke:#59636e;stroke-width:1.3;stroke-dasharray:6 4;fill:none}.e{stroke:#8c959f;stroke-width:.8;fill:none}
.l{stroke-width:2;fill:none;stroke-linejoin:round}
.c0{stroke:#0b62c4}.c1{stroke:#b3530a}.c2{stroke:#0a7a50}.c3{stroke:#8b3fb0}.c4{stroke:#b8263c}.c5{stroke:#5b6570}
.m0{fill:#0b62c4}.m1{fill:#b3530a}.m2{fill:#0a7a50}.m3{fill:#8b3fb0}.m4{fill:#b8263c}.m5{fill:#5b6570}
@media(prefers-color-scheme:dark){text{fill:#e6edf3}.s{fill:#9aa4af}.bg{fill:#0d1117}.g{stroke:#262d36}.a,.e{stroke:#6e7681}.r{stroke:#9aa4af}
.c0{stroke:#6cb0ff}.c1{stroke:#f0a05a}.c2{stroke:#4fcf9b}.c3{stroke:#cf9bf0}.c4{stroke:#ff8a95}.c5{stroke:#b0b8c0}
.m0{fill:#6cb0ff}.m1{fill:#f0a05a}.m2{fill:#4fcf9b}.m3{fill:#cf9bf0}.m4{fill:#ff8a95}.m5{fill:#b0b8c0}}
</style>
`

const colours = 6

// curve is a line of a panel, with what stands beside its end.
type curve struct {
	name, note string
	colour     int
	points     []Point
}

// panel is one figure by size, both in logarithms.
type panel struct {
	title, axis string
	unit        Unit
	flat        bool
	curves      []curve
}

// Plot returns the picture of a series: a panel for each plotted figure. The same
// result gives the same bytes.
func (r *Result) Plot() []byte {
	panels := r.panels()
	var b strings.Builder
	height := headHeight + panelStep*float64(len(panels))
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %.0f" width="%.0f" height="%.0f" role="img" aria-labelledby="t d">`+"\n",
		width, height, width, height)
	fmt.Fprintf(&b, "<title id=\"t\">%s</title>\n<desc id=\"d\">%s</desc>\n", html.EscapeString(r.Title), html.EscapeString(describe(panels)))
	b.WriteString(style)
	fmt.Fprintf(&b, `<rect class="bg" width="%.0f" height="%.0f"/>`+"\n", width, height)
	fmt.Fprintf(&b, `<text class="h" x="%.0f" y="22">%s</text>`+"\n", 14.0, html.EscapeString(r.Title))
	for i := range panels {
		panels[i].draw(&b, headHeight+panelStep*float64(i)+top)
	}
	b.WriteString("</svg>\n")
	return []byte(b.String())
}

// panels returns what is plotted. Sizes and figures of zero have no logarithm and
// are left out.
func (r *Result) panels() []panel {
	var out []panel
	for j, m := range r.Metrics {
		if !m.Plotted {
			continue
		}
		p := panel{title: m.Name, axis: r.Axis, unit: m.Unit, flat: m.Flat}
		for i := range r.Lines {
			points := slices.DeleteFunc(r.Lines[i].Points(j), func(p Point) bool { return p.X <= 0 || p.Y <= 0 })
			if len(points) == 0 {
				continue
			}
			note := ""
			if k, err := Exponent(points); err == nil {
				note = "exponent " + ratio(k)
			}
			p.curves = append(p.curves, curve{r.Lines[i].Name, note, i % colours, points})
		}
		if len(p.curves) > 0 {
			out = append(out, p)
		}
	}
	return out
}

// describe tells who does not see the picture what is in it.
func describe(panels []panel) string {
	var b strings.Builder
	for _, p := range panels {
		fmt.Fprintf(&b, "%s by %s, both axes logarithmic.", p.title, p.axis)
		for _, c := range p.curves {
			first, last := c.points[0], c.points[len(c.points)-1]
			fmt.Fprintf(&b, " %s: %s at %s, %s at %s", c.name, figure(first.Y, p.unit), figure(first.X, Count), figure(last.Y, p.unit), figure(last.X, Count))
			if c.note != "" {
				fmt.Fprintf(&b, ", %s", c.note)
			}
			b.WriteByte('.')
		}
		b.WriteByte(' ')
	}
	return strings.TrimSpace(b.String())
}

// axes says where sizes and figures are. Those of the axes are logarithms to ten.
type axes struct{ x0, x1, y0, y1, top float64 }

func (a *axes) x(v float64) float64 { return left + (math.Log10(v)-a.x0)/(a.x1-a.x0)*plotWidth }
func (a *axes) y(v float64) float64 {
	return a.top + plotHeight - (math.Log10(v)-a.y0)/(a.y1-a.y0)*plotHeight
}

// reference is the dashed line: below all others, so that it hides none, by a
// third of the lowest at the right end or, where it is level, of all.
func (p *panel) reference() (at Point) {
	at.Y = math.Inf(1)
	for _, c := range p.curves {
		last := c.points[len(c.points)-1]
		at.X = max(at.X, last.X)
		if !p.flat {
			at.Y = min(at.Y, last.Y)
			continue
		}
		for _, q := range c.points {
			at.Y = min(at.Y, q.Y)
		}
	}
	at.Y *= 0.6
	return at
}

// scale has room for all points and the reference: whole decades upwards, and at
// least one.
func (p *panel) scale(top float64) axes {
	at := p.reference()
	least, most := at.Y, at.Y
	x0, x1 := math.Inf(1), at.X
	for _, c := range p.curves {
		for _, q := range c.points {
			least, most, x0 = min(least, q.Y), max(most, q.Y), min(x0, q.X)
		}
	}
	a := axes{x0: math.Floor(math.Log10(x0)), x1: math.Log10(x1), y0: math.Floor(math.Log10(least)), y1: math.Ceil(math.Log10(most)), top: top}
	if a.x1 <= a.x0 {
		a.x1 = a.x0 + 1
	}
	if a.y1 <= a.y0 {
		a.y1 = a.y0 + 1
	}
	return a
}

func (p *panel) draw(b *strings.Builder, top float64) {
	a := p.scale(top)
	fmt.Fprintf(b, "<g>\n"+`<text class="p" x="%.0f" y="%.0f">%s</text>`+"\n", left, top-12, html.EscapeString(p.title))
	p.grid(b, &a)
	end := p.reference()
	labels := []label{{name: "linear", y: a.y(end.Y)}}
	x, y := a.x(end.X), a.y(end.Y)
	if p.flat {
		labels[0].name = "level"
		fmt.Fprintf(b, `<path class="r" d="M%.1f %.1fH%.1f"/>`+"\n", left, y, x)
	} else { // from where it enters the picture
		begin := max(a.x0, a.x1-(math.Log10(end.Y)-a.y0))
		fmt.Fprintf(b, `<path class="r" d="M%.1f %.1fL%.1f %.1f"/>`+"\n",
			a.x(math.Pow(10, begin)), a.y(end.Y*math.Pow(10, begin-a.x1)), x, y)
	}
	for _, c := range p.curves {
		drawCurve(b, &a, c)
		last := c.points[len(c.points)-1]
		labels = append(labels, label{name: c.name, note: c.note, x: a.x(last.X), y: a.y(last.Y), colour: c.colour, coloured: true})
	}
	drawLabels(b, labels, top)
	b.WriteString("</g>\n")
}

// grid draws the axes with a line for each power of ten, and for 2 and 5 of them
// where there are few.
func (p *panel) grid(b *strings.Builder, a *axes) {
	under := a.top + plotHeight
	for _, v := range ticks(a.x0, a.x1) {
		fmt.Fprintf(b, `<path class="g" d="M%.1f %.1fV%.1f"/><text class="s" text-anchor="middle" x="%.1f" y="%.1f">%s</text>`+"\n",
			a.x(v), a.top, under, a.x(v), under+16, figure(v, Count))
	}
	for _, v := range ticks(a.y0, a.y1) {
		fmt.Fprintf(b, `<path class="g" d="M%.1f %.1fH%.1f"/><text class="s" text-anchor="end" x="%.1f" y="%.1f">%s</text>`+"\n",
			left, a.y(v), left+plotWidth, left-8, a.y(v)+4, figure(v, p.unit))
	}
	fmt.Fprintf(b, `<path class="a" d="M%.1f %.1fV%.1fH%.1f"/>`+"\n", left, a.top, under, left+plotWidth)
	fmt.Fprintf(b, `<text class="s" text-anchor="middle" x="%.1f" y="%.1f">%s</text>`+"\n", left+plotWidth/2, under+34, html.EscapeString(p.axis))
}

// ticks returns the numbers between two logarithms that are written at an axis.
func ticks(from, to float64) []float64 {
	steps := []float64{1}
	if to-from <= 2 {
		steps = []float64{1, 2, 5}
	}
	var out []float64
	for e := math.Floor(from); e <= to; e++ {
		for _, s := range steps {
			if v := s * math.Pow(10, e); math.Log10(v) <= to+1e-9 {
				out = append(out, v)
			}
		}
	}
	return out
}

// drawCurve draws a line with a mark at each point, of a shape of its own.
func drawCurve(b *strings.Builder, a *axes, c curve) {
	fmt.Fprintf(b, `<path class="l c%d" d="M`, c.colour)
	for i, q := range c.points {
		if i > 0 {
			b.WriteByte('L')
		}
		fmt.Fprintf(b, "%.1f %.1f", a.x(q.X), a.y(q.Y))
	}
	fmt.Fprintf(b, `"/><path class="m%d" d="`, c.colour)
	for _, q := range c.points {
		fmt.Fprintf(b, "M%.1f %.1f%s", a.x(q.X), a.y(q.Y), marks[c.colour])
	}
	b.WriteString("\"/>\n")
}

// marks are drawn from a point: disc, square, diamond, triangles, cross.
var marks = [colours]string{
	"m-3.2 0a3.2 3.2 0 1 0 6.4 0a3.2 3.2 0 1 0-6.4 0z", "m-3-3h6v6h-6z", "m0-4.2l4.2 4.2-4.2 4.2-4.2-4.2z",
	"m0-4l4 7h-8z", "m0 4l4-7h-8z", "m-1.2-4h2.4v2.8h2.8v2.4h-2.8v2.8h-2.4v-2.8h-2.8v-2.4h2.8z",
}

// label is the name of a line, which ends at x and y.
type label struct {
	name, note string
	x, y       float64
	colour     int
	coloured   bool
}

// place returns where labels are written that are in the order of their lines'
// ends: as near to these as the others leave them.
func place(labels []label, top float64) []float64 {
	places := make([]float64, len(labels))
	for i, l := range labels {
		places[i] = max(l.y, top)
		if i > 0 {
			places[i] = max(places[i], places[i-1]+labelStep)
		}
	}
	floor := top + plotHeight + 8
	for i := len(places) - 1; i >= 0; i-- {
		places[i] = min(places[i], floor)
		floor = places[i] - labelStep
	}
	return places
}

// drawLabels writes names at the right of the plot, with a thread to each line.
func drawLabels(b *strings.Builder, labels []label, top float64) {
	slices.SortStableFunc(labels, func(p, q label) int { return cmp.Compare(p.y, q.y) })
	places := place(labels, top)
	edge := left + plotWidth
	for i, l := range labels {
		y := places[i]
		if l.x == 0 {
			l.x = edge
		}
		fmt.Fprintf(b, `<path class="e" d="M%.1f %.1fL%.1f %.1fh6"/>`, l.x+5, l.y, edge+20, y)
		class := "r"
		if l.coloured {
			class = fmt.Sprintf("l c%d", l.colour)
		}
		fmt.Fprintf(b, `<path class="%s" d="M%.1f %.1fh12"/><text x="%.1f" y="%.1f">%s`, class, edge+28, y, edge+46, y+4, html.EscapeString(l.name))
		if l.note != "" {
			fmt.Fprintf(b, `<tspan class="s" x="%.1f" dy="13">%s</tspan>`, edge+46, html.EscapeString(l.note))
		}
		b.WriteString("</text>\n")
	}
}
