package supply_test

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/licensecheck"
)

const page = root + "/docs/supply-chain.md"

// allowed are the licences, by their names in SPDX, that ask for no more than
// their text and the names of the authors.
var allowed = []string{"Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "MIT"}

// covered is how much of a file, in per cent of its words, has to be the text of
// licences. The rest are names and years.
const covered = 75

// licenceFile takes the files in which authors write licences.
var licenceFile = regexp.MustCompile(`(?i)^(un)?licen[cs]e([-._].*)?$|^copying([-._].*)?$`)

// licences returns the names of the licences that lie beside the linked packages
// of a module, and above them in the module. It notes the readings that it used.
func licences(m *module, used map[string]bool) ([]string, error) {
	dirs, found := map[string]bool{}, map[string]bool{}
	for _, dir := range m.dirs {
		for ; len(dir) >= len(m.Dir) && !dirs[dir]; dir = filepath.Dir(dir) {
			dirs[dir] = true
		}
	}
	for _, dir := range slices.Sorted(maps.Keys(dirs)) {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			if !e.Type().IsRegular() || filepath.Ext(e.Name()) == ".go" || !licenceFile.MatchString(e.Name()) {
				continue
			}
			text, err := os.ReadFile(filepath.Join(dir, e.Name()))
			if err != nil {
				return nil, err
			}
			ids, err := read(m, strings.TrimPrefix(filepath.Join(dir, e.Name()), m.Dir), text, used)
			if err != nil {
				return nil, err
			}
			for _, id := range ids {
				found[id] = true
			}
		}
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("%s has no file with a licence", m.Path)
	}
	return slices.Sorted(maps.Keys(found)), nil
}

// read returns the licences of one file of a module.
func read(m *module, name string, text []byte, used map[string]bool) ([]string, error) {
	file, sum := m.Path+filepath.ToSlash(name), fmt.Sprintf("%x", sha256.Sum256(text))
	i := slices.IndexFunc(readings, func(r reading) bool { return r.file == file && r.sum == sum })
	if i >= 0 {
		used[sum] = true
		return readings[i].licences, nil
	}
	ids, err := recognize(text)
	if err != nil {
		return nil, fmt.Errorf("%s of %s: %w; if it is harmless it needs a row in readings_test.go with the sum %s", file, m.Version, err, sum)
	}
	return ids, nil
}

// recognize returns the licences of a text, all of which are allowed.
func recognize(text []byte) ([]string, error) {
	var ids []string
	c := licensecheck.Scan(text)
	for _, m := range c.Match {
		if m.IsURL {
			continue
		}
		if !slices.Contains(allowed, m.ID) {
			return nil, fmt.Errorf("the licence %s is not among %s", m.ID, strings.Join(allowed, ", "))
		}
		ids = append(ids, m.ID)
	}
	if len(ids) == 0 || c.Percent < covered {
		return nil, fmt.Errorf("%.0f %% of the text is known as %v", c.Percent, ids)
	}
	return ids, nil
}

// row is a line of the page's table.
type row struct {
	module, licence, by, purpose string
}

func (r row) String() string {
	return fmt.Sprintf("| [%s](https://pkg.go.dev/%[1]s) | %s | %s | %s |", r.module, r.licence, r.by, r.purpose)
}

var rowPattern = regexp.MustCompile(`(?m)^\| \[([^\]]+)\]\(https://pkg\.go\.dev/[^)]*\) \| (.*) \| (.*) \| (.*) \|$`)

// rows reads the table.
func rows(text string) []row {
	var all []row
	for _, m := range rowPattern.FindAllStringSubmatch(text, -1) {
		all = append(all, row{m[1], m[2], m[3], m[4]})
	}
	return all
}

// core is all that a row says of a module that the core links: what stands on the
// core links it too, or less of it.
const core = "gateway"

// licenceRows makes the table out of what is linked. What a module is for is a
// person's to say, and is taken over.
func licenceRows(t *testing.T, before []row) []row {
	t.Helper()
	used := map[string]bool{}
	by, licence := map[string][]string{}, map[string]string{}
	for _, s := range everything {
		for _, m := range sorted(linked(t, s)) {
			if m.isOwn() {
				continue
			}
			ids, err := licences(m, used)
			if err != nil {
				t.Error(err)
			}
			by[m.Path] = append(by[m.Path], s.name)
			if l := strings.Join(ids, " AND "); licence[m.Path] == "" {
				licence[m.Path] = l
			} else if licence[m.Path] != l {
				t.Errorf("%s: two versions have the licences %s and %s", m.Path, l, licence[m.Path])
			}
		}
	}
	for _, r := range readings {
		if !used[r.sum] {
			t.Errorf("%s: no linked version has the file that was read, take the row out", r.file)
		}
	}
	var out []row
	for _, path := range slices.Sorted(maps.Keys(by)) {
		r := row{module: path, licence: licence[path], by: strings.Join(by[path], ", ")}
		if slices.Contains(by[path], core) {
			r.by = core
		}
		if i := slices.IndexFunc(before, func(b row) bool { return b.module == path }); i >= 0 {
			r.purpose = before[i].purpose
		}
		if strings.TrimSpace(r.purpose) == "" {
			t.Errorf("%s: write into its row what it is for", path)
		}
		out = append(out, r)
	}
	return out
}

// TestLicences finds the licences of all that is linked and compares them with the
// page's table; -update writes them there.
func TestLicences(t *testing.T) {
	asked(t)
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	have := rows(string(text))
	want := licenceRows(t, have)
	t.Logf("%d modules", len(want))
	if *update {
		writeRows(t, string(text), want)
		return
	}
	if diff := cmp.Diff(want, have, cmp.AllowUnexported(row{})); diff != "" {
		t.Errorf("docs/supply-chain.md is not what is linked; go -C conformance/supply test -run Licences . -update (-linked +page):\n%s", diff)
	}
}

// writeRows puts the rows where those of the text are.
func writeRows(t *testing.T, text string, list []row) {
	t.Helper()
	at := rowPattern.FindAllStringIndex(text, -1)
	if at == nil {
		t.Fatal("the page has no row that says where the table is")
	}
	var lines []string
	for _, r := range list {
		lines = append(lines, r.String())
	}
	text = text[:at[0][0]] + strings.Join(lines, "\n") + text[at[len(at)-1][1]:]
	if err := os.WriteFile(page, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestLicencesThatAreRefused(t *testing.T) {
	mit := sample(t, "mit.txt")
	tests := []struct {
		name, text, want, err string
	}{
		{"allowed", mit, "MIT", ""},
		{"copyleft", sample(t, "gpl.txt"), "", "the licence GPL-3.0-or-later is not among Apache-2.0, BSD-2-Clause, BSD-3-Clause, ISC, MIT"},
		{"allowed, and copyleft after it", mit + "\n\n" + sample(t, "gpl.txt"), "", "the licence GPL-3.0-or-later is not among Apache-2.0, BSD-2-Clause, BSD-3-Clause, ISC, MIT"},
		{"unknown", "All rights reserved. Ask first, and pay afterwards.", "", "0 % of the text is known as []"},
		{"allowed, with more that is unknown", mit + strings.Repeat(" But only on the days that the author likes.", 40), "", "32 % of the text is known as [MIT]"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			ids, err := recognize([]byte(tt.text))
			var have string
			if err != nil {
				have = err.Error()
			}
			if diff := cmp.Diff([]string{tt.want, tt.err}, []string{strings.Join(ids, " "), have}); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestModuleWithoutALicence(t *testing.T) {
	dir := t.TempDir()
	if _, err := licences(&module{Path: "example.com/m", Dir: dir, dirs: []string{dir}}, nil); err == nil {
		t.Error("a module without any licence passes")
	}
}

// sample returns a file of testdata.
func sample(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
