package gatewayotel

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/attribute"
)

const page = "../docs/telemetry.md"

// TestPage holds docs/telemetry.md against the tables.
func TestPage(t *testing.T) {
	text, err := os.ReadFile("testdata/telemetry.md")
	if err != nil {
		t.Fatal(err)
	}
	got := string(text)
	for name, lines := range map[string][]string{
		"attributes": attributeLines(false), "own": attributeLines(true), "operations": operationLines(), "providers": providerLines(),
		"errors": errorLines(), "metrics": metricLines(), "optins": optInLines(), "former": formerLines(),
	} {
		mark := "{{" + name + "}}"
		if strings.Count(got, mark) != 1 {
			t.Fatalf("%s is in the text %d times", mark, strings.Count(got, mark))
		}
		got = strings.Replace(got, mark, strings.Join(lines, "\n"), 1)
	}
	if f := flag.Lookup("update"); f != nil && f.Value.String() == "true" {
		if err := os.WriteFile(page, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s is not what the tables make: go test . -run Page -update\n%s", page, diff)
	}
}

var typeNames = map[attribute.Type]string{text: "string", texts: "strings", integer: "int", double: "double", truth: "boolean"}

func attributeLines(own bool) []string {
	var out []string
	for _, r := range attributeRows {
		if (r.page == ownPage) != own {
			continue
		}
		var on []string
		for _, p := range []struct {
			place place
			name  string
		}{{onCall, "call"}, {onAttempt, "attempt"}, {onEvent, "event"}, {onMetric, "metrics"}} {
			if r.on&p.place != 0 {
				on = append(on, p.name)
			}
		}
		out = append(out, fmt.Sprintf("| %s | %s | %s | %s |", linked(string(r.key), r.page), typeNames[r.kind], strings.Join(on, ", "), r.when))
	}
	return out
}

// linked is a name with its page.
func linked(name, page string) string {
	if page == ownPage {
		return "`" + name + "`"
	}
	return "[`" + name + "`](" + page + ")"
}

func operationLines() []string {
	var out []string
	for _, o := range operationRows {
		out = append(out, fmt.Sprintf("| `%s` | `%s` | %s |", o.own, o.name, o.note))
	}
	return out
}

func providerLines() []string {
	var out []string
	for _, p := range providerRows {
		out = append(out, fmt.Sprintf("| `%s` | `%s` |", p.own, p.name))
	}
	return append(out, fmt.Sprintf("| none was found | `%s` |", noProvider))
}

func errorLines() []string {
	var out []string
	for code, says := range errorTypes {
		out = append(out, fmt.Sprintf("| `%s` | %s |", code, says))
	}
	slices.Sort(out)
	return out
}

func metricLines() []string {
	var out []string
	for _, in := range instruments {
		if in.latest {
			out = append(out, fmt.Sprintf("| %s | %s | `%s` | %s |", linked(in.name, in.page), in.kind, in.unit, in.says))
		}
	}
	return out
}

func optInLines() []string {
	says := map[Conventions]string{
		ConventionsLatest: "the latest, as without the variable", ConventionsBoth: "both the latest and those of v1.41.0", ConventionsV141: "those of v1.41.0 alone",
	}
	var out []string
	for _, o := range optIns {
		out = append(out, fmt.Sprintf("| `%s` | %s |", o.value, says[o.means]))
	}
	return out
}

func formerLines() []string {
	var out []string
	for _, in := range instruments {
		if in.instead != "" {
			out = append(out, fmt.Sprintf("| %s | %s |", linked(in.name, in.page), in.instead))
		}
	}
	return out
}
