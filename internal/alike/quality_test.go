package alike_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/internal/alike"
	"github.com/b650d4bf/gateway/internal/testkit"
	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

const (
	page      = "../../docs/semantic-cache-quality.md"
	heldOut   = "held:"
	embedding = "http://emulator/v1/projects/p/locations/us-central1/publishers/google/models/text-embedding-005:predict"
)

// pair is a row of testdata/pairs.tsv.
type pair struct {
	kind     string // without the prefix for those that were written after the rules
	held     bool
	same     bool
	a, b     string
	conflict bool
	cosine   float64
}

// rows are the columns of testdata/pairs.tsv: kind, whether the texts mean the
// same, and both of them.
func rows(tb testing.TB) (out [][]string) {
	tb.Helper()
	raw, err := os.ReadFile("testdata/pairs.tsv")
	if err != nil {
		tb.Fatal(err)
	}
	for i, line := range strings.Split(strings.TrimSpace(string(raw)), "\n") {
		columns := strings.Split(line, "\t")
		if len(columns) != 4 {
			tb.Fatalf("line %d has %d columns", i+1, len(columns))
		}
		if i > 0 {
			out = append(out, columns)
		}
	}
	return out
}

// readPairs reads the labelled pairs and lets the guard judge each.
func readPairs(t *testing.T) []pair {
	t.Helper()
	var out []pair
	for _, row := range rows(t) {
		p := pair{same: row[1] == "true", a: row[2], b: row[3]}
		p.kind, p.held = strings.CutPrefix(row[0], heldOut)
		_, p.conflict = alike.Conflict(p.a, p.b)
		out = append(out, p)
	}
	return out
}

// measure lets the emulator's vectors judge each pair.
func measure(t *testing.T, pairs []pair) []pair {
	t.Helper()
	var texts []string
	for i := range pairs {
		texts = append(texts, pairs[i].a, pairs[i].b)
	}
	vectors := embed(t, texts)
	for i := range pairs {
		pairs[i].cosine = cosine(vectors[2*i], vectors[2*i+1])
	}
	return pairs
}

// embed asks the emulator for vectors.
func embed(t *testing.T, texts []string) (out [][]float64) {
	t.Helper()
	s := vertextest.New()
	defer s.Close()
	for chunk := range slices.Chunk(texts, 200) {
		type instance struct {
			Content string `json:"content"`
		}
		var ask struct {
			Instances []instance `json:"instances"`
		}
		for _, text := range chunk {
			ask.Instances = append(ask.Instances, instance{text})
		}
		body, err := json.Marshal(ask)
		if err != nil {
			t.Fatal(err)
		}
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, embedding, bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer token")
		r.Header.Set("Content-Type", "application/json")
		res, err := s.Transport().RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		var answer struct {
			Predictions []struct {
				Embeddings struct{ Values []float64 }
			}
		}
		err = json.NewDecoder(res.Body).Decode(&answer)
		res.Body.Close()
		if err != nil || len(answer.Predictions) != len(chunk) {
			t.Fatalf("%d: %v, %d vectors of %d", res.StatusCode, err, len(answer.Predictions), len(chunk))
		}
		for _, p := range answer.Predictions {
			out = append(out, p.Embeddings.Values)
		}
	}
	return out
}

func cosine(a, b []float64) float64 {
	var ab, aa, bb float64
	for i := range a {
		ab, aa, bb = ab+a[i]*b[i], aa+a[i]*a[i], bb+b[i]*b[i]
	}
	return ab / math.Sqrt(aa*bb)
}

// rate is how many of some pairs share an answer.
type rate struct{ shared, of int }

func (r rate) String() string {
	return fmt.Sprintf("%d of %d (%s %%)", r.shared, r.of, strconv.FormatFloat(r.percent(), 'f', 1, 64))
}

func (r rate) percent() float64 { return 100 * float64(r.shared) / float64(max(r.of, 1)) }

// rates counts what is shared at a threshold, of pairs that should and that should not.
func rates(pairs []pair, threshold float64, guarded bool, take func(*pair) bool) (hits, falseHits rate) {
	for i := range pairs {
		p := &pairs[i]
		if !take(p) {
			continue
		}
		r := &falseHits
		if p.same {
			r = &hits
		}
		r.of++
		if p.cosine >= threshold && (!guarded || !p.conflict) {
			r.shared++
		}
	}
	return hits, falseHits
}

var thresholds = []struct {
	name  string
	least float64
}{{"every pair counts as similar", -2}, {"cosine 0.80", 0.80}, {"cosine 0.90", 0.90}, {"cosine 0.95", 0.95}}

func isHeld(p *pair) bool  { return p.held }
func isTuned(p *pair) bool { return !p.held }

func TestPairsThatShareAnAnswer(t *testing.T) {
	pairs := readPairs(t)
	hits, falseHits := rates(pairs, -2, true, func(*pair) bool { return true })
	if hits.of < 150 || falseHits.of < 300 {
		t.Errorf("%d paraphrases and %d others, want 150 and 300", hits.of, falseHits.of)
	}
	for _, part := range []struct {
		name string
		take func(*pair) bool
		hits float64
	}{{"all", func(*pair) bool { return true }, 85}, {"worked on", isTuned, 95}, {"held out", isHeld, 75}} {
		hits, falseHits := rates(pairs, -2, true, part.take)
		t.Logf("%s: hits %v, false hits %v", part.name, hits, falseHits)
		if hits.percent() < part.hits || falseHits.percent() > 1 {
			t.Errorf("%s: hits %v, want %v %%; false hits %v, want 1 %% at most", part.name, hits, part.hits, falseHits)
		}
	}
	for i := range pairs {
		if p := &pairs[i]; p.same == p.conflict {
			reason, _ := alike.Conflict(p.a, p.b)
			t.Logf("%s: conflict %v (%s): %q, %q", p.kind, p.conflict, reason, p.a, p.b)
		}
	}
}

func TestTheQualityPageIsUpToDate(t *testing.T) {
	got := qualityPage(measure(t, readPairs(t)))
	if testkit.Updating() {
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
		t.Errorf("%s is not what the pairs say (-page +pairs, -update rewrites it)\n%s", page, diff)
	}
}

// qualityPage is the page about the rates.
func qualityPage(pairs []pair) string {
	var b strings.Builder
	fmt.Fprintf(&b, qualityHead, len(pairs))
	for _, part := range []struct {
		title string
		take  func(*pair) bool
	}{{"Pairs that the rules were worked on with", isTuned}, {"Pairs that were written after the rules, which were not changed for them", isHeld}} {
		fmt.Fprintf(&b, "## %s\n\n| similar is | hits without the guard | hits with it | false hits without the guard | false hits with it |\n|---|---|---|---|---|\n", part.title)
		for _, at := range thresholds {
			open, openFalse := rates(pairs, at.least, false, part.take)
			hits, falseHits := rates(pairs, at.least, true, part.take)
			fmt.Fprintf(&b, "| %s | %v | %v | %v | %v |\n", at.name, open, hits, openFalse, falseHits)
		}
		b.WriteString("\n")
	}
	b.WriteString("## By kind\n\nWith the guard alone, every pair counted as similar. `qualifier` is a word more in one text, `short` are a few words of all kinds.\n\n| kind | shared | of which written after the rules |\n|---|---|---|\n")
	var kinds []string
	for i := range pairs {
		if !slices.Contains(kinds, pairs[i].kind) {
			kinds = append(kinds, pairs[i].kind)
		}
	}
	for _, kind := range kinds {
		sum := func(take func(*pair) bool) rate {
			hits, falseHits := rates(pairs, -2, true, func(p *pair) bool { return p.kind == kind && take(p) })
			return rate{hits.shared + falseHits.shared, hits.of + falseHits.of}
		}
		fmt.Fprintf(&b, "| `%s` | %v | %v |\n", kind, sum(func(*pair) bool { return true }), sum(isHeld))
	}
	b.WriteString(qualityEnd)
	return b.String()
}

const qualityHead = `# How well the semantic cache tells texts apart

Similar texts share a cached answer only if their words do not contradict each other. The guard that reads the words is
[` + "`internal/alike`" + `](../internal/alike/alike.go); this page is what it does to %d labelled pairs in
[` + "`testdata/pairs.tsv`" + `](../internal/alike/testdata/pairs.tsv). ` + "`go test ./internal/alike -update`" + ` measures them and writes the page anew;
` + "`go test -v -run Pairs ./internal/alike`" + ` names the pairs that come out wrong.

**This is measured without a real embedding model.** The cosines are those of the emulator, which knows letters and no meaning; the first row of each table does
without them and shows the guard alone, which is the worst case. A live model's similarity comes on top: it takes away hits, and further false hits.

A *hit* is a paraphrase that shares the answer, a *false hit* is a pair with another meaning that does. The pairs are our own, written to trip the guard: one word, number, name
or the order changed. Real traffic has fewer of them, and paraphrases that are farther apart than ours; the same authors wrote the rules and the pairs, those of the second table too.

`

const qualityEnd = `
## What is a conflict

Texts share an answer when the same words are left of both, in an order that means the same, after politeness, articles, inflection, contractions, case, punctuation and
known synonyms are taken away. So an unknown synonym is a miss, and so is a word more. Languages with tables are English, German, French, Spanish, Italian, Portuguese, Dutch,
Russian, Arabic, Chinese and Japanese; elsewhere only case, punctuation and spaces may differ. Texts above 64 KiB are never shared unless they are the same.
`
