package logs_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/logs"
	"github.com/b650d4bf/gateway/providers"
)

// A sink that is idle has all that comes, however large it is.
func TestLargeRecordsDoNotWaitUntilThereIsNoRoom(t *testing.T) {
	for _, tt := range []struct {
		name    string
		sizes   []int // of the requests, in turn
		calls   int
		dropped int64
	}{
		{name: "many", sizes: []int{10_000}, calls: 100},
		{name: "two fill it", sizes: []int{48_000}, calls: 20},
		{name: "each is more than half", sizes: []int{60_000}, calls: 20},
		{name: "one finds no room beside a small one", sizes: []int{30_000, 80_000, 80_000}, calls: 3, dropped: 1},
		{name: "one is larger than the queue", sizes: []int{10, 200_000, 10}, calls: 3, dropped: 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := new(sink)
				l := open(t, logs.Options{Sinks: []logs.Sink{s}, Content: true, MaxContent: 1 << 20, QueueBytes: 100_000, FlushInterval: time.Minute})
				for i := range tt.calls {
					text := strings.Repeat("x", tt.sizes[i%len(tt.sizes)])
					see(l, called(fmt.Sprint(i)), &providers.CallContent{Request: []byte(`"` + text + `"`)})
					time.Sleep(2 * time.Millisecond)
				}
				end(t, l)
				if got := l.Stats(); got.Written != int64(tt.calls)-tt.dropped || got.Dropped != tt.dropped {
					t.Errorf("%d written, %d dropped; want %d dropped", got.Written, got.Dropped, tt.dropped)
				}
			})
		})
	}
}

// A sink that is stuck keeps Flush waiting, and no other sink from writing.
func TestFlushHasAllSinksWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		stuck, fine := &sink{do: func(context.Context) error { <-release; return nil }}, new(sink)
		l := open(t, logs.Options{Sinks: []logs.Sink{stuck, fine}, FlushInterval: time.Hour})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		see(l, called("a"), nil)
		if err := l.Flush(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Flush: %v", err)
		}
		see(l, called("b"), nil) // which no Flush asks for
		synctest.Wait()
		if got := fine.ids(); !slices.Equal([]string{"a"}, got) {
			t.Errorf("the other sink has %v", got)
		}
		close(release)
		flush(t, l)
		if diff := cmp.Diff([][]string{{"a", "b"}, {"a", "b"}}, [][]string{stuck.ids(), fine.ids()}); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
		end(t, l)
	})
}
