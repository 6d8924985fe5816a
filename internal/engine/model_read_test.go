package engine

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// countingSite counts how often references are read.
type countingSite struct {
	testSite
	read atomic.Int32
}

func (s *countingSite) Model(ref string) (Model, error) {
	s.read.Add(1)
	if ref == "none" {
		return Model{}, badModel("no model")
	}
	return s.testSite.Model(ref)
}

// TestModelsAreReadOnce asks for the same models again, also all at once.
func TestModelsAreReadOnce(t *testing.T) {
	site := new(countingSite)
	p := New(Config{}, site)
	for _, ref := range []string{"gemini-2.5-flash", "gemini-9-new", "anthropic/claude-opus-4-6", "endpoints/own"} {
		site.read.Store(0)
		first, told, err := p.readModel(ref)
		if err != nil {
			t.Fatal(err)
		}
		var group sync.WaitGroup
		for range 8 {
			group.Go(func() {
				again, toldAgain, err := p.readModel(ref)
				same := cmp.Equal(again, first, cmp.AllowUnexported(Model{})) && cmp.Equal(toldAgain, told)
				if err != nil || !same {
					t.Errorf("%s: %+v with %v (%v), before it was %+v with %v", ref, again, toldAgain, err, first, told)
				}
			})
		}
		group.Wait()
		if n := site.read.Load(); n != 1 {
			t.Errorf("%s was read %d times", ref, n)
		}
	}
}

// TestReadModelsAreBounded asks for more models than are remembered, and for one that
// is none: errors are not remembered, since they may be long.
func TestReadModelsAreBounded(t *testing.T) {
	site := new(countingSite)
	p := New(Config{}, site)
	for range 2 {
		for i := range maxReadModels + 10 {
			ref := fmt.Sprint("gemini-", i)
			if m, _, err := p.readModel(ref); err != nil || m.Name != ref || m.facts == nil {
				t.Fatalf("%s: %+v, %v", ref, m, err)
			}
		}
		if _, _, err := p.readModel("none"); err == nil {
			t.Fatal("no error")
		}
	}
	kept := 0
	p.read.byRef.Range(func(any, any) bool { kept++; return true })
	if kept != maxReadModels {
		t.Errorf("%d models are kept, want %d", kept, maxReadModels)
	}
	if got, want := int(site.read.Load()), maxReadModels+2*10+2; got != want {
		t.Errorf("%d were read, want %d", got, want)
	}
}
