package analytics

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/internal/testkit"
)

const page = "../docs/analytics.md"

// leaves lists the numbers of an object by their paths.
func leaves(t *testing.T, prefix string, raw json.RawMessage) []string {
	t.Helper()
	var members map[string]json.RawMessage
	if json.Unmarshal(raw, &members) != nil {
		return []string{prefix}
	}
	var out []string
	for name, value := range members {
		path := strings.TrimPrefix(prefix+"."+name, ".")
		if _, ok := isLatency(value); ok {
			out = append(out, path)
			continue
		}
		out = append(out, leaves(t, path, value)...)
	}
	return out
}

func isLatency(raw json.RawMessage) (Latency, bool) {
	var l Latency
	return l, strings.Contains(string(raw), `"p50"`) && !strings.Contains(string(raw[1:]), "{") && json.Unmarshal(raw, &l) == nil
}

func TestEveryNumberIsDefined(t *testing.T) {
	totals := Totals{Feedback: &FeedbackTotals{}}
	addTokens(&totals.Tokens, &totals.Tokens)
	totals.Tokens.Cached, totals.Tokens.CacheWrite, totals.Tokens.Reasoning, totals.Tokens.AudioIn, totals.Tokens.AudioOut = 1, 1, 1, 1, 1
	raw, err := json.Marshal(totals)
	if err != nil {
		t.Fatal(err)
	}
	want := leaves(t, "", raw)
	if raw, err = json.Marshal(Latency{}); err != nil {
		t.Fatal(err)
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(raw, &members); err != nil {
		t.Fatal(err)
	}
	for name := range members {
		want = append(want, "latency."+name)
	}
	var have []string
	for _, d := range Definitions() {
		if have = append(have, d.Name); d.Unit == "" || !strings.HasSuffix(d.Doc, ".") {
			t.Errorf("%s: unit %q, doc %q", d.Name, d.Unit, d.Doc)
		}
	}
	slices.Sort(want)
	slices.Sort(have)
	if d := cmp.Diff(want, have); d != "" {
		t.Errorf("the table (-numbers +rows)\n%s", d)
	}
}

func TestThePageIsUpToDate(t *testing.T) {
	var table strings.Builder
	table.WriteString("| number | unit | what it is |\n|---|---|---|\n")
	for _, d := range Definitions() {
		fmt.Fprintf(&table, "| `%s` | %s | %s |\n", d.Name, d.Unit, d.Doc)
	}
	have, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	const begin, end = "<!-- numbers -->\n", "<!-- end of numbers -->\n"
	before, rest, ok := strings.Cut(string(have), begin)
	_, behind, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatalf("%s has no place for the numbers", page)
	}
	want := before + begin + table.String() + end + behind
	if testkit.Updating() {
		if err := os.WriteFile(page, []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if d := cmp.Diff(want, string(have)); d != "" {
		t.Errorf("%s is not what the table says (-want +page, -update rewrites it)\n%s", page, d)
	}
	for _, number := range []string{fmt.Sprint(DefaultMinutes, " minutes"), fmt.Sprint(DefaultHours, " hours"), fmt.Sprint(DefaultDays, " days"), fmt.Sprint(DefaultMaxValues, " values")} {
		if !strings.Contains(string(have), number) {
			t.Errorf("%s does not say %q", page, number)
		}
	}
}
