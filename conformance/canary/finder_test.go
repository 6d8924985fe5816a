package canary_test

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base32"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
)

// kind says where a canary may be.
type kind int

const (
	credential kind = iota // nowhere but where it is sent to
	content                // in what was asked to hold prompts and answers
	shown                  // in records by design: users, metadata, ids
)

// window is how many characters of a canary in a row are too many.
const window = 8

// canary is a text that is planted in one place.
type canary struct {
	name  string
	kind  kind
	value string
	long  int // the window, where 8 characters would also be there by chance
}

// flock is the canaries of a test. Their values follow from the seed, so that a child
// process has the same.
type flock struct {
	seed string

	mu     sync.Mutex
	birds  map[string]canary
	finder *finder                  // nil when there is a new one
	at     map[string]*bytes.Buffer // what each place was sent
}

// newFlock is one without canaries. What was seen of them counts at the end of the test,
// see [uses].
func newFlock(t *testing.T, seed string) *flock {
	f := &flock{seed: seed, birds: map[string]canary{}, at: map[string]*bytes.Buffer{}}
	t.Cleanup(func() { sightings.note(f) })
	return f
}

// plant returns the canary of that name.
func (f *flock) plant(k kind, name string) string {
	sum := sha256.Sum256([]byte(f.seed + "/" + name))
	return f.known(k, name, base32.StdEncoding.EncodeToString(sum[:15]), window)
}

// known makes a canary of a value that comes from elsewhere.
func (f *flock) known(k kind, name, value string, long int) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, ok := f.birds[name]; !ok {
		f.birds[name], f.finder = canary{name, k, value, long}, nil
	}
	return value
}

func (f *flock) secret(name string) string { return f.plant(credential, name) }
func (f *flock) text(name string) string   { return f.plant(content, name) }
func (f *flock) open(name string) string   { return f.plant(shown, name) }

// witness notes what reached a place that canaries are for.
func (f *flock) witness(place, what string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.at[place] == nil {
		f.at[place] = new(bytes.Buffer)
	}
	f.at[place].WriteString(what)
	f.at[place].WriteByte('\n')
}

// seen is all that was witnessed, anywhere.
func (f *flock) seen() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var b strings.Builder
	for _, place := range slices.Sorted(maps.Keys(f.at)) {
		b.Write(f.at[place].Bytes())
	}
	return b.String()
}

// all are the canaries as they are now.
func (f *flock) all() []canary {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Collect(maps.Values(f.birds))
}

// find returns the canaries in a text, by name, with where they are.
func (f *flock) find(text string) map[string]string {
	f.mu.Lock()
	if f.finder == nil {
		f.finder = newFinder(slices.Collect(maps.Values(f.birds)))
	}
	search := f.finder
	f.mu.Unlock()
	return search.find(text)
}

// refuse checks that a text has no canary of the kinds.
func (f *flock) refuse(t *testing.T, where, text string, kinds ...kind) {
	t.Helper()
	for name, at := range f.find(text) {
		if slices.Contains(kinds, f.birds[name].kind) {
			t.Errorf("%s holds the %s: %s", where, name, at)
		}
	}
}

// want checks that a text has canaries, to see that it would be found there.
func (f *flock) want(t *testing.T, where, text string, names ...string) {
	t.Helper()
	found := f.find(text)
	for _, name := range names {
		if _, planted := f.birds[name]; !planted || found[name] == "" {
			t.Errorf("%s lacks the %s (planted: %v), in %d bytes: %.400s", where, name, planted, len(text), text)
		}
	}
}

// finder looks for pieces of canaries in every form that they may have in a text.
type finder struct {
	first [1 << 14]uint64              // which four bytes a form may begin with
	forms map[int]map[string][2]string // by length: the form, folded, to the canary and what the form is
	sizes []int
}

func newFinder(list []canary) *finder {
	f := &finder{forms: map[int]map[string][2]string{}}
	for _, c := range list {
		for i := 0; i+c.long <= len(c.value); i++ {
			for form, text := range formsOf(c.value[i : i+c.long]) {
				f.add(c.name, form, text)
			}
		}
	}
	f.sizes = slices.Sorted(maps.Keys(f.forms))
	return f
}

func (f *finder) add(name, form, text string) {
	text = fold(text)
	if f.forms[len(text)] == nil {
		f.forms[len(text)] = map[string][2]string{}
	}
	f.forms[len(text)][text] = [2]string{name, form}
	at := slot(text)
	f.first[at>>6] |= 1 << (at & 63)
}

// slot is the place of the first four bytes in the set of them.
func slot(text string) uint32 {
	v := uint32(text[0]) | uint32(text[1])<<8 | uint32(text[2])<<16 | uint32(text[3])<<24
	return v * 2654435761 >> 12
}

// fold makes ASCII letters lower case and leaves all other bytes, and the length.
func fold(text string) string {
	b := []byte(text)
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}

// formsOf is a piece of a canary in every form that it is looked for in.
func formsOf(piece string) map[string]string {
	raw := []byte(piece)
	each := func(format, between string) string {
		parts := make([]string, len(raw))
		for i, c := range raw {
			parts[i] = fmt.Sprintf(format, c)
		}
		return strings.Join(parts, between)
	}
	out := map[string]string{
		"plain": piece, "hex": hex.EncodeToString(raw), "hex with spaces": each("%02x", " "), "hex in Go": each("0x%x", ", "),
		"escapes": each(`\x%02x`, ""), "percent": each("%%%02X", ""), "JSON escapes": each(`\u%04x`, ""), "entities": each("&#%d;", ""),
		"decimal": each("%d", " "), "decimal in JSON": each("%d", ","),
		"UTF-16": each("%c", "\x00"),
	}
	if len(raw) == 8 {
		out["a word of memory"] = fmt.Sprintf("%016x", binary.LittleEndian.Uint64(raw))
	}
	for skip, from := range []int{0, 2, 3} { // what does not depend on its neighbours, for each place in three bytes
		padded := append(make([]byte, skip), raw...)
		end := len(padded) * 8 / 6
		out[fmt.Sprintf("base64 at %d", skip)] = base64.RawStdEncoding.EncodeToString(padded)[from:end]
		out[fmt.Sprintf("base64 for URLs at %d", skip)] = base64.RawURLEncoding.EncodeToString(padded)[from:end]
	}
	return out
}

// find returns the canaries by name, with their form and their surroundings. What is
// compressed is unpacked.
func (f *finder) find(text string) map[string]string {
	out := map[string]string{}
	f.search(text, out)
	for i := 0; i >= 0 && i < len(text); {
		next := strings.Index(text[i:], "\x1f\x8b\x08")
		if next < 0 {
			break
		}
		if r, err := gzip.NewReader(strings.NewReader(text[i+next:])); err == nil {
			plain, _ := io.ReadAll(r)
			f.search(string(plain), out)
		}
		i += next + 3
	}
	return out
}

func (f *finder) search(text string, out map[string]string) {
	folded := fold(text)
	for i := 0; i+window <= len(folded); i++ {
		at := slot(folded[i:])
		if f.first[at>>6]&(1<<(at&63)) == 0 {
			continue
		}
		for _, n := range f.sizes {
			if i+n > len(folded) {
				break
			}
			if hit, ok := f.forms[n][folded[i:i+n]]; ok && out[hit[0]] == "" {
				out[hit[0]] = fmt.Sprintf("as %s: %q", hit[1], text[max(0, i-90):min(len(text), i+n+40)])
			}
		}
	}
}

// TestFinder plants a canary in every form, whole and in part, and finds it.
func TestFinder(t *testing.T) {
	f := newFlock(t, t.Name())
	value := f.text("token")
	f.witness(answersPlace, value)
	quoted, err := json.Marshal(map[string]any{"a": value})
	if err != nil {
		t.Fatal(err)
	}
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err := w.Write([]byte("so " + value)); err != nil || w.Close() != nil {
		t.Fatal(err)
	}
	texts := map[string]string{
		"plain": value, "lower case": strings.ToLower(value), "the beginning": value[:8] + "…", "the end": "…" + value[len(value)-8:], "the middle": "…" + value[9:17],
		"JSON": string(quoted), "URL": url.QueryEscape(value), "hex": fmt.Sprintf("%x", value), "Go": fmt.Sprintf("%#v", []byte(value)), "bytes": fmt.Sprint([]byte(value)),
		"quoted hex": fmt.Sprintf("% x", value), "gzip": "before " + packed.String(),
		"memory": fmt.Sprintf("0x%x", binary.LittleEndian.Uint64([]byte(value[4:12]))),
	}
	for form, text := range formsOf(value[3:11]) {
		texts["form "+form] = "«" + text + "»"
	}
	for skip := range 3 {
		texts[fmt.Sprintf("base64 after %d", skip)] = base64.StdEncoding.EncodeToString([]byte("uv"[:skip] + value[:9] + "?"))
		texts[fmt.Sprintf("base64 for URLs after %d", skip)] = base64.RawURLEncoding.EncodeToString([]byte("~~"[:skip] + value[5:14]))
	}
	for name, text := range texts {
		t.Run(name, func(t *testing.T) { f.want(t, name, text, "token") })
	}
	for _, text := range []string{"", value[:7], strings.Repeat("x", 100), newFlock(t, "another").text("token")} {
		if got := f.find(text); len(got) > 0 {
			t.Errorf("%q: %v", text, got)
		}
	}
}
