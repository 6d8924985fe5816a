package catalog_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/catalog"
)

func TestLookupNamesNearSlugs(t *testing.T) {
	m, err := catalog.New(
		catalog.Entry{Slug: "vertex-prod", Provider: "vertex-ai"}, catalog.Entry{Slug: "vertex-test", Provider: "vertex-ai"},
		catalog.Entry{Slug: "claude", Provider: "vertex-ai"}, catalog.Entry{Slug: "x", Provider: "vertex-ai"},
	)
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		slug string
		near []string
		text string
	}{
		{"vertex", []string{"vertex-prod", "vertex-test"},
			`catalog: provider "vertex" not found (did you mean "vertex-prod" or "vertex-test"?)`},
		{"@vretex-prod", []string{"vertex-prod"}, `catalog: provider "vretex-prod" not found (did you mean "vertex-prod"?)`},
		{"Claude", []string{"claude"}, `catalog: provider "Claude" not found (did you mean "claude"?)`},
		{"@@x", []string{"x"}, `catalog: provider "@x" not found (did you mean "x"?)`},
		{"qqqqqq", nil, `catalog: provider "qqqqqq" not found`},
		{strings.Repeat("z", 999), nil, `catalog: provider "` + strings.Repeat("z", 64) + `…" not found`},
	}
	for _, tt := range tests {
		t.Run(tt.slug[:min(12, len(tt.slug))], func(t *testing.T) {
			_, err := m.Lookup(tt.slug)
			missing, ok := errors.AsType[*catalog.NotFoundError](err)
			if !ok || !errors.Is(err, catalog.ErrNotFound) {
				t.Fatalf("error is %T (%v), want *NotFoundError matching ErrNotFound", err, err)
			}
			if diff := cmp.Diff(tt.near, missing.Near); diff != "" {
				t.Errorf("near (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.text, err.Error()); diff != "" {
				t.Errorf("text (-want +got):\n%s", diff)
			}
		})
	}
}

func TestMemoryKeepsItsEntriesToItself(t *testing.T) {
	headers := map[string]catalog.Secret{"a": "1"}
	m, err := catalog.New(catalog.Entry{Slug: "vx", Provider: "p", Headers: headers})
	if err != nil {
		t.Fatal(err)
	}
	headers["a"] = "changed after New"
	e, _ := m.Lookup("vx")
	e.Headers["a"] = "changed after Lookup"
	m.Slugs()[0] = "changed"
	e, err = m.Lookup(m.Slugs()[0])
	if err != nil || e.Headers["a"].Reveal() != "1" {
		t.Errorf("entry %q, error %v: the catalog changed from outside", e.Headers["a"].Reveal(), err)
	}
}

func TestReplaceIsAllOrNothing(t *testing.T) {
	var m catalog.Memory
	if got := m.Version(); got != 0 || len(m.Slugs()) != 0 {
		t.Errorf("zero catalog: version %d, slugs %v", got, m.Slugs())
	}
	good := catalog.Entry{Slug: "a", Provider: "p"}
	if err := m.Replace(good); err != nil {
		t.Fatal(err)
	}
	if err := m.Replace(catalog.Entry{Slug: "b", Provider: "p"}, catalog.Entry{Slug: "c"}); err == nil {
		t.Error("an invalid entry is accepted")
	}
	if diff := cmp.Diff([]string{"a"}, m.Slugs()); diff != "" || m.Version() != 1 {
		t.Errorf("version %d after a refused Replace, slugs (-want +got):\n%s", m.Version(), diff)
	}
	if err := m.Replace(); err != nil || len(m.Slugs()) != 0 || m.Version() != 2 {
		t.Errorf("emptied: error %v, slugs %v, version %d", err, m.Slugs(), m.Version())
	}
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	// Renamed into place, as tools do, so that no reader sees half a file.
	temp := path + ".new"
	if err := os.WriteFile(temp, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(temp, path); err != nil {
		t.Fatal(err)
	}
}

func TestFileResolvesAndReloads(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "catalog.json")
	absolute := filepath.Join(t.TempDir(), "abs.json")
	writeFile(t, path, fmt.Sprintf(`{"providers":{
		"rel":{"provider":"p","service_account_file":"keys/k.json"},
		"abs":{"provider":"p","service_account_file":%q}}}`, absolute))
	f, err := catalog.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, slug := range f.Slugs() {
		e, _ := f.Lookup("@" + slug)
		got[slug] = e.ServiceAccountFile
	}
	want := map[string]string{"rel": filepath.Join(dir, "keys", "k.json"), "abs": absolute}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("key files (-want +got):\n%s", diff)
	}

	writeFile(t, path, `{"providers":{"rel":{"provider":"p","regoin":"x"}}}`)
	wantErr := "catalog: " + path + `: providers.rel.regoin: unknown member (did you mean "region"?)`
	if err := f.Reload(); err == nil || err.Error() != wantErr {
		t.Errorf("Reload of a bad file: %v, want %s", err, wantErr)
	}
	if f.Version() != 1 || len(f.Slugs()) != 2 {
		t.Errorf("a bad file changed the catalog: version %d, slugs %v", f.Version(), f.Slugs())
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := f.Reload(); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("Reload of a removed file: %v", err)
	}
	writeFile(t, path, `{"providers":{"new":{"provider":"p"}}}`)
	if err := f.Reload(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"new"}, f.Slugs()); diff != "" || f.Version() != 2 {
		t.Errorf("version %d, slugs (-want +got):\n%s", f.Version(), diff)
	}
}

func TestOpenErrors(t *testing.T) {
	if _, err := catalog.Open(filepath.Join(t.TempDir(), "none.json")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
	big := filepath.Join(t.TempDir(), "big.json")
	if err := os.WriteFile(big, make([]byte, 16<<20+1), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := catalog.Open(big); err == nil || !strings.Contains(err.Error(), "larger than 16 MiB") {
		t.Errorf("a huge file: %v", err)
	}
}

// TestReloadUnderLoad checks that readers see whole states only, whose version
// never goes back.
func TestReloadUnderLoad(t *testing.T) {
	path := filepath.Join(t.TempDir(), "catalog.json")
	state := func(i int) string {
		return fmt.Sprintf(`{"providers":{"a":{"provider":"p","region":"r%d"},"n%d":{"provider":"p"}}}`, i, i)
	}
	writeFile(t, path, state(0))
	f, err := catalog.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	stop := make(chan struct{})
	var readers, writers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			var last uint64
			for {
				select {
				case <-stop:
					return
				default:
				}
				version, slugs := f.Version(), f.Slugs()
				if _, err := f.Lookup("a"); err != nil || len(slugs) != 2 || version < last {
					t.Errorf("error %v, slugs %v, version %d after %d", err, slugs, version, last)
					return
				}
				last = version
			}
		})
	}
	for range 2 {
		writers.Go(func() {
			for range 25 {
				if err := f.Reload(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for i := range 25 {
		writeFile(t, path, state(i))
	}
	writers.Wait()
	close(stop)
	readers.Wait()
	if got := f.Version(); got != 51 {
		t.Errorf("version %d after 51 loads", got)
	}
}
