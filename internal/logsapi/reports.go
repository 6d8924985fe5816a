package logsapi

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/b650d4bf/gateway/analytics"
	"github.com/b650d4bf/gateway/providers"
)

// Narrowed is a report with some members of its totals.
type Narrowed struct {
	// Name is the end of the path.
	Name string
	// Doc says what it is about.
	Doc string
	// Members are those of [analytics.Totals] that are left.
	Members []string
	// GroupBy, Every and Days hold where the request says nothing. Days is how far
	// back the report begins, at the start of a day in UTC.
	GroupBy []string
	Every   time.Duration
	Days    int
}

// Reports is the table of narrowed reports.
func Reports() []Narrowed {
	const day = 24 * time.Hour
	return []Narrowed{
		{Name: "requests", Doc: "how many calls there were", Members: []string{"requests", "errors"}},
		{Name: "tokens", Doc: "what was paid for, in tokens", Members: []string{"requests", "tokens"}},
		{Name: "cost", Doc: "what was paid", Members: []string{"requests", "cost_usd", "unpriced"}},
		{Name: "latency", Doc: "how long calls took", Members: []string{"requests", "duration_ms", "first_chunk_ms"}},
		{Name: "errors", Doc: "how many calls failed", Members: []string{"requests", "errors", "error_rate"}},
		{Name: "cache", Doc: "what the response cache did, by day", Members: []string{"requests", "cache"}, Every: day, Days: 30},
		{Name: "users", Doc: "who asked how much", Members: []string{"requests", "errors", "tokens", "cost_usd"}, GroupBy: []string{"user"}},
		{Name: "feedback", Doc: "what was said of answers", Members: []string{"requests", "feedback"}},
	}
}

// reportParams are those of a report beside conditions on fields.
func reportParams() []param {
	return []param{
		{"group_by", func(p *params, v string) error {
			if p.groupBy = []string{}; v != "" {
				p.groupBy = strings.Split(v, ",")
			}
			return nil
		}},
		{"every", func(p *params, v string) (err error) { p.every, err = readSpan("every", v); return err }},
		{"top", func(p *params, v string) (err error) { p.top, err = readCount("top", v, analytics.MaxTop); return err }},
	}
}

// report serves GET analytics.
func (q *request) report() (*Answer, error) {
	out, err := q.make(&Narrowed{})
	if err != nil {
		return nil, err
	}
	return answer(http.StatusOK, out)
}

// make makes a report with what the request says, and the defaults.
func (q *request) make(n *Narrowed) (*analytics.Report, error) {
	p, err := q.params(reportParams(), timeParams)
	if err != nil {
		return nil, err
	}
	ask := analytics.Query{From: p.From, To: p.To, Filters: p.Filters, GroupBy: p.groupBy, Every: p.every, Top: p.top}
	if ask.GroupBy == nil {
		ask.GroupBy = n.GroupBy
	}
	if ask.Every == 0 {
		ask.Every = n.Every
	}
	if ask.From.IsZero() {
		ask.From = q.usualFrom(ask.To, n.Days)
	}
	return q.source.Report(q.ctx, ask)
}

// usualFrom is where a report begins whose request does not say: a day before its
// end, at a full hour, or at the start of a day that many days back, the last one
// included.
func (q *request) usualFrom(to time.Time, days int) time.Time {
	if to.IsZero() {
		to = q.Now()
	}
	if days == 0 {
		return to.UTC().Add(-24 * time.Hour).Truncate(time.Hour)
	}
	return to.UTC().Add(-1).Truncate(24*time.Hour).AddDate(0, 0, 1-days)
}

// narrow serves GET analytics/{name}.
func (q *request) narrow() (*Answer, error) {
	all := Reports()
	i := slices.IndexFunc(all, func(n Narrowed) bool { return n.Name == q.rest })
	if i < 0 {
		names := make([]string, len(all))
		for i := range all {
			names[i] = all[i].Name
		}
		return nil, &providers.Error{
			Code: providers.ErrInvalidRequest, StatusCode: http.StatusNotFound, Message: "no such report: there are " + strings.Join(names, ", "),
		}
	}
	full, err := q.make(&all[i])
	if err != nil {
		return nil, err
	}
	out, err := all[i].of(full)
	if err != nil {
		return nil, err
	}
	return answer(http.StatusOK, out)
}

// The narrowed forms of a report and its parts.
type (
	narrowReport struct {
		From        time.Time       `json:"from"`
		To          time.Time       `json:"to"`
		Total       json.RawMessage `json:"total"`
		Groups      []narrowGroup   `json:"groups,omitempty"`
		Other       json.RawMessage `json:"other,omitempty"`
		Series      []narrowPoint   `json:"series,omitempty"`
		Approximate bool            `json:"approximate"`
	}
	narrowGroup struct {
		Key    []string        `json:"key"`
		Totals json.RawMessage `json:"totals"`
		Series []narrowPoint   `json:"series,omitempty"`
	}
	narrowPoint struct {
		Time   time.Time       `json:"time"`
		Totals json.RawMessage `json:"totals"`
	}
)

// of returns what is left of a report.
func (n *Narrowed) of(r *analytics.Report) (*narrowReport, error) {
	var err error
	totals := func(t *analytics.Totals) json.RawMessage {
		out, e := n.totals(t)
		if e != nil {
			err = e
		}
		return out
	}
	series := func(points []analytics.Point) (out []narrowPoint) {
		for i := range points {
			out = append(out, narrowPoint{points[i].Time, totals(&points[i].Totals)})
		}
		return out
	}
	out := &narrowReport{From: r.From, To: r.To, Total: totals(&r.Total), Series: series(r.Series), Approximate: r.Approximate}
	for i := range r.Groups {
		g := &r.Groups[i]
		out.Groups = append(out.Groups, narrowGroup{g.Key, totals(&g.Totals), series(g.Series)})
	}
	if r.Other != nil {
		out.Other = totals(r.Other)
	}
	return out, err
}

// totals writes the members that are left, in the order of the table. One that the
// totals leave out is null.
func (n *Narrowed) totals(t *analytics.Totals) (json.RawMessage, error) {
	whole, err := json.Marshal(t)
	if err != nil {
		return nil, err
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(whole, &members); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	for i, name := range n.Members {
		b.WriteByte("{,"[min(i, 1)])
		b.WriteString(`"` + name + `":`)
		if v, ok := members[name]; ok {
			b.Write(v)
		} else {
			b.WriteString("null")
		}
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}
