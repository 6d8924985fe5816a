package chaos_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway"
	"github.com/b650d4bf/gateway/logs"
)

// row is a fault and what must come of it.
type row struct {
	id    string // for the tests; its first word is the group
	fault string
	// out are the codes of the errors that may come out; "answer" is the right
	// answer, whole.
	out []string
	// sent is Error.Sent: whether the platform may bill.
	sent sentness
	// least and most are how many requests of one call the platform may have read.
	least, most int
	// note says more.
	note string
	// hidden says that the trail has fewer entries than the platform read requests:
	// those that the transport, or a new token, repeated are one attempt.
	hidden bool
	// leaves says that the caller goes, and the log knows why better than he does.
	leaves bool
}

type sentness string

const (
	notSent sentness = "no"
	maySent sentness = "yes"
	either  sentness = "either"
)

const right = "answer"

// judge holds an outcome against the row.
func (r *row) judge(o outcome) error {
	if o.err == nil {
		if o.text != wholeText || o.finish != "stop" || o.tokens != wholeTokens {
			return fmt.Errorf("no error, and %q, finish %q, %d tokens", o.text, o.finish, o.tokens)
		}
		if !slices.Contains(r.out, right) {
			return errors.New("an answer, where none can be")
		}
		return nil
	}
	var e *gateway.Error
	switch {
	case !errors.As(o.err, &e):
		if r.leaves && o.front {
			return nil // it is the raw client that ended the wait
		}
		return fmt.Errorf("%T %w", o.err, o.err)
	case !slices.Contains(r.out, string(e.Code)):
		return fmt.Errorf("%q, want one of %q: %w", e.Code, r.out, e)
	case !strings.HasPrefix(wholeText, o.text):
		return fmt.Errorf("what came is %q", o.text)
	case !o.front && r.sent != either && e.Sent != (r.sent == maySent):
		return fmt.Errorf("sent is %v, want %q: %w", e.Sent, r.sent, e)
	}
	return nil
}

// count holds the number of requests that the platform read against the row and
// the trail.
func (r *row) count(asked int, record *logs.Record) error {
	if asked < r.least || asked > r.most {
		return fmt.Errorf("%d requests, want %d to %d", asked, r.least, r.most)
	}
	tried := 0
	for i := range record.Attempts {
		if record.Attempts[i].Skipped == "" {
			tried++
		}
	}
	// What was tried may not have arrived.
	if !r.hidden && tried < asked {
		return fmt.Errorf("%d requests, and a trail of %d", asked, tried)
	}
	return nil
}

var used sync.Map // ids of rows

// rowsUsed is an error when a run of all tests held nothing against a row.
func rowsUsed() error {
	for _, name := range []string{"test.run", "test.skip", "test.list"} {
		if f := flag.Lookup(name); f != nil && f.Value.String() != "" {
			return nil
		}
	}
	var errs []error
	for i := range table {
		if _, ok := used.Load(table[i].id); !ok {
			errs = append(errs, fmt.Errorf("row %q was held against nothing", table[i].id))
		}
	}
	return errors.Join(errs...)
}

// of returns the row of an id.
func of(t *testing.T, id string) *row {
	t.Helper()
	for i := range table {
		if table[i].id == id {
			return &table[i]
		}
	}
	t.Fatalf("no row %q", id)
	return nil
}

const page = "../../docs/faults.md"

var update = flag.Bool("update", false, "write docs/faults.md anew")

// TestPage keeps the table of docs/faults.md that of the suite.
func TestPage(t *testing.T) {
	data, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	const begin, end = "<!-- table -->\n", "<!-- end of table -->\n"
	before, rest, ok := strings.Cut(string(data), begin)
	have, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatalf("%s has no place for the table", page)
	}
	want := rendered()
	if *update {
		if err := os.WriteFile(page, []byte(before+begin+want+end+after), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(want, have); diff != "" {
		t.Errorf("%s is not the suite's table (-want +got, -update writes it anew)\n%s", page, diff)
	}
}

// rendered is the table as Markdown.
func rendered() string {
	var b strings.Builder
	group := ""
	for i := range table {
		r := &table[i]
		if g, _, _ := strings.Cut(r.id, "/"); g != group {
			group = g
			fmt.Fprintf(&b, "\n## %s\n\n| fault | what comes out | billed | requests |\n|---|---|---|---|\n", groups[g])
		}
		out := make([]string, len(r.out))
		for i, code := range r.out {
			if out[i] = "`" + code + "`"; code == right {
				out[i] = "the right answer"
			}
		}
		text := strings.Join(out, ", ")
		if r.note != "" {
			text += "; " + r.note
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", r.fault, text, r.billed(), r.requests())
	}
	return b.String() + "\n"
}

func (r *row) billed() string {
	if len(r.out) == 1 && r.out[0] == right {
		return "yes"
	}
	return string(r.sent)
}

func (r *row) requests() string {
	if r.least == r.most {
		return fmt.Sprint(r.most)
	}
	return fmt.Sprintf("%d to %d", r.least, r.most)
}

// TestRowsAreApart keeps ids unique and groups together.
func TestRowsAreApart(t *testing.T) {
	seen, last := map[string]bool{}, ""
	for i := range table {
		g, _, ok := strings.Cut(table[i].id, "/")
		if !ok || groups[g] == "" || seen[table[i].id] || g != last && seen[g] {
			t.Errorf("row %d, %q", i, table[i].id)
		}
		seen[table[i].id], seen[g], last = true, true, g
	}
}
