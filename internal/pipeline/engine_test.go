package pipeline

import (
	"errors"
	"io"
	"sync"
	"testing"

	"github.com/b650d4bf/gateway/providers"
)

func TestEngineClose(t *testing.T) {
	one, two := answering(rich), &fake{name: "two", closing: errors.New("stuck")}
	one.stream = streaming(io.EOF, part(providers.Delta{Content: "x"})).stream
	e := New(one, two)
	if err := e.Close(); !errors.Is(err, two.closing) {
		t.Errorf("got %v, want what the provider says", err)
	}
	for range 2 {
		if err := e.Close(); err != nil {
			t.Errorf("closing again: %v", err)
		}
	}
	wantEqual(t, [2]int{1, 1}, [2]int{one.closed, two.closed})
	if _, err := e.Chat(t.Context(), here(), &Settings{}, ask("m")); !errors.Is(err, providers.ErrClosed) {
		t.Errorf("got %v, want ErrClosed", err)
	}
	if _, err := e.ChatStream(t.Context(), here(), &Settings{}, ask("m")); !errors.Is(err, providers.ErrClosed) {
		t.Errorf("got %v, want ErrClosed", err)
	}
	wantEqual(t, 0, one.calls)
}

// A stream that was open when the engine was closed goes on.
func TestEngineCloseLeavesOpenStreams(t *testing.T) {
	e := New(streaming(io.EOF, part(providers.Delta{Content: "a"}), part(providers.Delta{Content: "b"})))
	s, err := e.ChatStream(t.Context(), here(), &Settings{}, ask("m"))
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	out, err := s.Collect()
	if err != nil {
		t.Fatal(err)
	}
	wantEqual(t, "ab", out.Text())
}

func TestEngineIsSafeForConcurrentUse(t *testing.T) {
	p := answering(rich)
	p.stream = streaming(io.EOF, part(providers.Delta{Content: "a"}), part(providers.Delta{Content: "b"})).stream
	w := &watcher{name: "w"}
	e, client, call := New(p), watched(w), &Settings{}
	var wg sync.WaitGroup
	for i := range 64 {
		wg.Go(func() {
			if i == 63 {
				_ = e.Close()
			}
			if _, err := e.Chat(t.Context(), client, call, ask("m")); err != nil && !errors.Is(err, providers.ErrClosed) {
				t.Error(err)
			}
			s, err := e.ChatStream(t.Context(), client, call, ask("m"))
			if err != nil {
				if !errors.Is(err, providers.ErrClosed) {
					t.Error(err)
				}
				return
			}
			if _, err := s.Collect(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	wantEqual(t, [2]int{128, 128}, w.counts())
}

func TestSettingsClone(t *testing.T) {
	s := &Settings{Region: "r", Metadata: map[string]string{"a": "1"}, Observers: make([]providers.Observer, 1, 8)}
	s.Header = map[string][]string{"X-A": {"1"}}
	c := s.Clone()
	c.Region, c.Metadata["a"] = "x", "2"
	c.Header.Set("X-A", "2")
	c.Observers[0] = &watcher{}
	c.Observers = append(c.Observers, &watcher{})
	wantEqual(t, "1", s.Metadata["a"])
	wantEqual(t, "1", s.Header.Get("X-A"))
	if s.Region != "r" || s.Observers[0] != nil || s.Observers[:2][1] != nil {
		t.Error("a clone shares its settings")
	}
}

func TestCloneOfNothing(t *testing.T) {
	c := new(Settings).Clone()
	if c.Header != nil || c.Metadata != nil || len(c.Observers) > 0 {
		t.Errorf("got %+v", c)
	}
}
