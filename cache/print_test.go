package cache_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/b650d4bf/gateway/cache"
)

// TestStoresPrintTheirNames uses verbs of all kinds: ones that do not fit go deeper than
// those that do, past pointers, to keys and answers.
func TestStoresPrintTheirNames(t *testing.T) {
	memory, err := cache.NewMemory(cache.MemoryConfig{})
	if err != nil {
		t.Fatal(err)
	}
	entry := cache.Entry{Key: cache.Key{1}, Created: time.Now(), Body: []byte("an answer"), Expires: time.Now().Add(time.Hour)}
	if err := memory.Set(t.Context(), &entry); err != nil {
		t.Fatal(err)
	}
	sealed, err := cache.NewSealed(memory, []byte("0123456789abcdef0123456789abcdef"))
	if err != nil {
		t.Fatal(err)
	}
	tiered, err := cache.NewTiered(memory, sealed, cache.TieredConfig{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tiered.Close() })
	for want, v := range map[string]any{"cache.Memory": memory, "cache.Sealed": sealed, "cache.Tiered": tiered} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
			if got := fmt.Sprintf(verb, v); got != want {
				t.Errorf("%s prints %.200s, want %s", verb, got, want)
			}
			if got := fmt.Sprintf(verb, struct{ Store any }{v}); !strings.Contains(got, want) || len(got) > 80 {
				t.Errorf("in a struct, %s prints %.200s, want %s", verb, got, want)
			}
		}
	}
}
