package prices

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/b650d4bf/gateway/internal/near"
)

// maxTable bounds what [ParseTable] reads, in bytes.
const maxTable = 16 << 20

// ParseTable reads a table from its JSON form:
//
//	{"rows": [{
//	  "provider": "vertex-ai", "model": "gemini-2.5-pro", "from": "2025-06-17",
//	  "source": "https://cloud.google.com/vertex-ai/generative-ai/pricing", "read": "2026-11-22",
//	  "rates": {"input": 1.25, "cached_input": 0.125, "output": 10, "grounding": 35},
//	  "variants": [
//	    {"above": 200000, "rates": {"input": 2.5, "output": 15, "cached_input": null}},
//	    {"class": "batch", "percent": 50, "only": ["input", "output"]}
//	  ]
//	}]}
//
// The members are those of [Row] and [Variant], and the rates go by the words of
// [Kind]: dollars for what [Kind.Per] says. In a variant null is [Unpriced]. Decoding
// is strict: an unknown or repeated member, a wrong type and a price with more digits
// than a [Rate] has are errors that name their path; all of them are reported at once.
// The rows of [Default] are not among those of the table: Default().With(t.Rows()...)
// has both.
func ParseTable(data []byte) (*Table, error) {
	if len(data) > maxTable {
		return nil, fmt.Errorf("prices: larger than %d MiB", maxTable>>20)
	}
	p := problems{}
	rows := p.table(bytes.TrimPrefix(data, []byte("\ufeff")))
	if err := errors.Join(p.errs...); err != nil {
		return nil, err
	}
	return NewTable(rows...)
}

// MarshalJSON writes the form that [ParseTable] reads.
func (t *Table) MarshalJSON() ([]byte, error) {
	rows := make([]json.RawMessage, 0, len(t.rows))
	for i := range t.rows {
		raw, err := json.Marshal(jsonRow(&t.rows[i]))
		if err != nil {
			return nil, err
		}
		rows = append(rows, raw)
	}
	return json.Marshal(struct {
		Rows []json.RawMessage `json:"rows"`
	}{rows})
}

type rowJSON struct {
	Provider string                     `json:"provider,omitempty"`
	Slug     string                     `json:"slug,omitempty"`
	Model    string                     `json:"model"`
	From     string                     `json:"from,omitempty"`
	Until    string                     `json:"until,omitempty"`
	Source   string                     `json:"source,omitempty"`
	Read     string                     `json:"read,omitempty"`
	Note     string                     `json:"note,omitempty"`
	Rates    map[string]json.RawMessage `json:"rates"`
	Variants []variantJSON              `json:"variants,omitempty"`
}

type variantJSON struct {
	Class    string                     `json:"class,omitempty"`
	Above    int64                      `json:"above,omitempty"`
	Regional bool                       `json:"regional,omitempty"`
	Size     string                     `json:"size,omitempty"`
	Rates    map[string]json.RawMessage `json:"rates,omitempty"`
	Percent  int                        `json:"percent,omitempty"`
	Only     []Kind                     `json:"only,omitempty"`
}

func jsonRow(r *Row) *rowJSON {
	out := &rowJSON{
		Provider: r.Provider, Slug: r.Slug, Model: r.Model, From: day(r.From), Until: day(r.Until), Source: r.Source, Read: day(r.Read),
		Note: r.Note, Rates: jsonRates(r.Rates),
	}
	for i := range r.Variants {
		v := &r.Variants[i]
		out.Variants = append(out.Variants, variantJSON{
			Class: string(v.Class), Above: v.Above, Regional: v.Regional, Size: v.Size, Rates: jsonRates(v.Rates), Percent: v.Percent, Only: v.Only,
		})
	}
	return out
}

func jsonRates(rates Rates) map[string]json.RawMessage {
	if len(rates) == 0 {
		return nil
	}
	out := make(map[string]json.RawMessage, len(rates))
	for k, rate := range rates {
		out[k.String()] = json.RawMessage(rate.text(k))
	}
	return out
}

// perDollar is how many units of a [Rate] are a dollar.
const perDollar = 1_000_000_000_000

// text writes the rate in dollars for what [Kind.Per] says, with all its digits.
func (r Rate) text(k Kind) string {
	if r == Unpriced {
		return "null"
	}
	q := new(big.Rat).SetFrac(new(big.Int).Mul(big.NewInt(int64(r)), big.NewInt(k.Per())), big.NewInt(perDollar))
	s := q.FloatString(12)
	return strings.TrimRight(strings.TrimRight(s, "0"), ".")
}

func day(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.DateOnly)
}

// problems collects mistakes with the paths they were found at.
type problems struct{ errs []error }

// maxProblems bounds the mistakes that are reported.
const maxProblems = 100

func (p *problems) add(path, format string, args ...any) {
	if len(p.errs) >= maxProblems {
		return
	}
	text := fmt.Sprintf(format, args...)
	if path != "" {
		text = path + ": " + text
	}
	p.errs = append(p.errs, errors.New("prices: "+text))
}

// member is one name and value of an object, in file order.
type member struct {
	name string
	raw  json.RawMessage
}

// object splits raw into its members and reports repeated and unknown ones. No
// names allow all.
func (p *problems) object(path string, raw json.RawMessage, names ...string) []member {
	dec := json.NewDecoder(bytes.NewReader(raw))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		p.add(path, "must be an object")
		return nil
	}
	var out []member
	seen := make(map[string]bool)
	for dec.More() {
		t, err := dec.Token()
		name, ok := t.(string)
		var value json.RawMessage
		if err == nil && ok {
			err = dec.Decode(&value)
		}
		switch {
		case err != nil || !ok:
			p.add(path, "must be an object")
			return nil
		case seen[name]:
			p.add(join(path, name), "is given twice")
			continue
		case len(names) > 0 && !slices.Contains(names, name):
			p.unknown(path, name, names)
			continue
		}
		seen[name] = true
		out = append(out, member{name, value})
	}
	return out
}

func (p *problems) unknown(path, name string, names []string) {
	hint := ""
	if found := near.Of(name, names); len(found) > 0 {
		hint = fmt.Sprintf(" (did you mean %q?)", found[0])
	}
	p.add(join(path, name), "unknown member%s", hint)
}

// join adds a member to a path, in part if it is long.
func join(path, name string) string {
	const most = 64
	if len(name) > most {
		name = strconv.Quote(name[:most]) + "…"
	}
	if path == "" {
		return name
	}
	return path + "." + name
}

// array splits raw into its elements.
func (p *problems) array(path string, raw json.RawMessage) []json.RawMessage {
	var out []json.RawMessage
	if err := json.Unmarshal(raw, &out); err != nil || out == nil {
		p.add(path, "must be an array")
		return nil
	}
	return out
}

func (p *problems) table(data []byte) []Row {
	dec := json.NewDecoder(bytes.NewReader(data))
	var whole json.RawMessage
	if err := dec.Decode(&whole); err != nil {
		p.add("", "not valid JSON")
		return nil
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		p.add("", "there is something after the table")
		return nil
	}
	var rows []Row
	for _, m := range p.object("", whole, "rows") {
		for i, raw := range p.array("rows", m.raw) {
			rows = append(rows, p.row(fmt.Sprintf("rows[%d]", i), raw))
		}
	}
	return rows
}

func (p *problems) row(path string, raw json.RawMessage) Row {
	var r Row
	texts := map[string]*string{"provider": &r.Provider, "slug": &r.Slug, "model": &r.Model, "source": &r.Source, "note": &r.Note}
	days := map[string]*time.Time{"from": &r.From, "until": &r.Until, "read": &r.Read}
	for _, m := range p.object(path, raw, "provider", "slug", "model", "from", "until", "source", "read", "note", "rates", "variants") {
		at := join(path, m.name)
		switch {
		case texts[m.name] != nil:
			p.value(at, m.raw, texts[m.name], "a string")
		case days[m.name] != nil:
			*days[m.name] = p.day(at, m.raw)
		case m.name == "rates":
			r.Rates = p.rates(at, m.raw, false)
		default:
			for i, one := range p.array(at, m.raw) {
				r.Variants = append(r.Variants, p.variant(fmt.Sprintf("%s[%d]", at, i), one))
			}
		}
	}
	return r
}

func (p *problems) variant(path string, raw json.RawMessage) Variant {
	var v Variant
	for _, m := range p.object(path, raw, "class", "above", "regional", "size", "rates", "percent", "only") {
		at := join(path, m.name)
		switch m.name {
		case "class":
			p.value(at, m.raw, (*string)(&v.Class), "a string")
		case "above":
			p.value(at, m.raw, &v.Above, "a whole number")
		case "regional":
			p.value(at, m.raw, &v.Regional, "true or false")
		case "size":
			p.value(at, m.raw, &v.Size, "a string")
		case "rates":
			v.Rates = p.rates(at, m.raw, true)
		case "percent":
			p.value(at, m.raw, &v.Percent, "a whole number")
		default:
			for i, one := range p.array(at, m.raw) {
				v.Only = append(v.Only, p.kind(fmt.Sprintf("%s[%d]", at, i), one))
			}
		}
	}
	return v
}

// value decodes a value that isn't null.
func (p *problems) value(path string, raw json.RawMessage, to any, what string) {
	if err := json.Unmarshal(raw, to); err != nil || string(raw) == "null" {
		p.add(path, "must be %s", what)
	}
}

func (p *problems) day(path string, raw json.RawMessage) time.Time {
	var s string
	p.value(path, raw, &s, "a string")
	t, err := time.Parse(time.DateOnly, s)
	if err != nil && s != "" {
		p.add(path, "must be a day such as 2026-01-31")
	}
	return t
}

func (p *problems) kind(path string, raw json.RawMessage) Kind {
	var s string
	p.value(path, raw, &s, "a string")
	var k Kind
	if err := k.UnmarshalText([]byte(s)); err != nil {
		p.add(path, "is no kind of price")
	}
	return k
}

// words are those of the kinds.
func words() []string {
	out := make([]string, 0, kinds)
	for k := Input; k < kinds; k++ {
		out = append(out, k.String())
	}
	return out
}

func (p *problems) rates(path string, raw json.RawMessage, unpriced bool) Rates {
	out := make(Rates)
	for _, m := range p.object(path, raw, words()...) {
		var k Kind
		_ = k.UnmarshalText([]byte(m.name)) // it is one of the words
		if string(m.raw) == "null" && unpriced {
			out[k] = Unpriced
			continue
		}
		rate, err := parseRate(k, string(m.raw))
		if err != nil {
			p.add(join(path, m.name), "%s", err)
		}
		out[k] = rate
	}
	return out
}

// parseRate reads a number of dollars for what [Kind.Per] says, exactly.
func parseRate(k Kind, s string) (Rate, error) {
	const longest = 32
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || len(s) > longest {
		return 0, errors.New("must be a number of dollars")
	}
	if most := float64(maxRate) * float64(k.Per()) / perDollar; f < 0 || f > most || f > 0 && f < 1e-12 {
		return 0, errors.New("must be between 0 and a thousand dollars a unit")
	}
	mantissa, _, _ := strings.Cut(strings.ToLower(s), "e")
	if f == 0 && !strings.ContainsAny(mantissa, "123456789") {
		return 0, nil
	}
	if f == 0 { // too small even for what comes next
		return 0, errors.New("is too small")
	}
	q, ok := new(big.Rat).SetString(s)
	if !ok {
		return 0, errors.New("must be a number of dollars")
	}
	q.Mul(q, new(big.Rat).SetFrac64(perDollar, k.Per()))
	if !q.IsInt() || !q.Num().IsInt64() {
		return 0, fmt.Errorf("has more digits than a trillionth of a dollar for one of the %s", k.Unit())
	}
	return Rate(q.Num().Int64()), nil
}
