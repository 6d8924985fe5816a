package inflight

import (
	"context"
	"errors"
	"io"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

type (
	group = Group[string, int]
	work  = Work[string, int]
)

func TestManyShareOneWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g group
		var runs atomic.Int64
		var all sync.WaitGroup
		for range 1000 {
			all.Go(func() {
				f, _ := g.Join(t.Context(), "k", 0, func(bool) work {
					return func(context.Context, *Flight[string, int]) (int, error) {
						runs.Add(1)
						time.Sleep(time.Second)
						return 7, nil
					}
				})
				defer f.Leave()
				if v, err := f.Wait(t.Context()); v != 7 || err != nil {
					t.Error(v, err)
				}
			})
		}
		all.Wait()
		if runs.Load() != 1 || g.Open() != 0 {
			t.Errorf("%d runs, %d open", runs.Load(), g.Open())
		}
	})
}

func TestWorkEndsWhenAllHaveLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g group
		ended := make(chan error, 1)
		ctx, cancel := context.WithCancel(t.Context())
		begin := func(bool) work {
			return func(ctx context.Context, _ *Flight[string, int]) (int, error) {
				<-ctx.Done()
				ended <- ctx.Err()
				return 0, ctx.Err()
			}
		}
		one, leads := g.Join(ctx, "k", 0, begin)
		two, other := g.Join(t.Context(), "k", 0, begin)
		if !leads || other || one != two {
			t.Fatal("they don't share")
		}
		cancel()
		if _, err := one.Wait(ctx); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		one.Leave()
		synctest.Wait()
		select {
		case err := <-ended:
			t.Fatalf("the work ended with %v while one waits", err)
		default:
		}
		two.Leave()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
}

func TestPanicsAndExitsAreErrors(t *testing.T) {
	for name, bad := range map[string]func(){"panic": func() { panic("secret") }, "exit": runtime.Goexit} {
		t.Run(name, func(t *testing.T) {
			var g group
			f, _ := g.Join(t.Context(), "k", 0, func(bool) work {
				return func(context.Context, *Flight[string, int]) (int, error) {
					bad()
					return 1, nil
				}
			})
			defer f.Leave()
			if _, err := f.Wait(t.Context()); !errors.Is(err, ErrPanicked) {
				t.Error(err)
			}
			if g.Open() != 0 {
				t.Error("others may join")
			}
		})
	}
}

// TestSettledWorkIsLookedForElsewhere sees to it that no one who missed the result
// elsewhere, just before it was put there, begins the work anew unwarned.
func TestSettledWorkIsLookedForElsewhere(t *testing.T) {
	var g group
	done := func(fresh *bool) func(bool) work {
		return func(f bool) work {
			if fresh != nil {
				*fresh = f
			}
			return func(context.Context, *Flight[string, int]) (int, error) { return 1, nil }
		}
	}
	epoch := g.Epoch()
	one, _ := g.Join(t.Context(), "k", epoch, done(nil))
	if _, err := one.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	joined, leads := g.Join(t.Context(), "k", epoch, done(nil))
	if leads || joined != one {
		t.Error("a result that is not settled is not shared")
	}
	kept := 0
	one.Settle(func() { kept++ })
	joined.Settle(func() { kept++ })
	if kept != 1 {
		t.Errorf("it was kept %d times", kept)
	}
	fresh := false
	late, leads := g.Join(t.Context(), "k", epoch, done(&fresh))
	if !leads || !fresh {
		t.Errorf("leads %v, fresh %v", leads, fresh)
	}
	for _, f := range []*Flight[string, int]{one, joined, late} {
		f.Leave()
	}
}

func TestBeginGivesTheResultEarly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g group
		f, _ := g.Join(t.Context(), "k", 0, func(bool) work {
			return func(_ context.Context, f *Flight[string, int]) (int, error) {
				f.Begin(1)
				time.Sleep(time.Second)
				return 2, errors.New("late")
			}
		})
		if v, err := f.Wait(t.Context()); v != 1 || err != nil || g.Open() != 1 {
			t.Error(v, err, g.Open())
		}
		time.Sleep(2 * time.Second)
		if v, err := f.Wait(t.Context()); v != 1 || err != nil || g.Open() != 0 {
			t.Error(v, err, g.Open())
		}
		f.Leave()
	})
}

func TestLogIsReadFromTheBeginning(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l Log[int]
		var all sync.WaitGroup
		for i := range 50 {
			all.Go(func() {
				time.Sleep(time.Duration(i) * 100 * time.Millisecond)
				for n := 0; ; n++ {
					v, err := l.At(t.Context(), n, nil)
					if errors.Is(err, io.EOF) {
						if n != 10 {
							t.Errorf("%d items", n)
						}
						return
					}
					if v != n || err != nil {
						t.Error(v, err)
						return
					}
				}
			})
		}
		for n := range 10 {
			l.Add(n)
			time.Sleep(300 * time.Millisecond)
		}
		l.End(io.EOF)
		l.End(errors.New("twice"))
		all.Wait()
		var empty Log[int]
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := empty.At(ctx, 0, nil); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		left := make(chan struct{})
		close(left)
		if _, err := empty.At(t.Context(), 0, left); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
}
