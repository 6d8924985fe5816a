package cache_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/cache"
)

func whole() *cache.Entry {
	return &cache.Entry{
		Key: cache.Key{1, 2, 3}, Body: []byte(`{"a":1}`), Created: time.UnixMilli(1_700_000_000_123), Expires: time.UnixMilli(1_700_000_060_123),
		Namespace: "tenant", Operation: "chat", Model: "gemini-2.5-flash", Parts: []cache.Part{{Name: "model", Sum: 7}, {Name: "messages", Sum: 1 << 63}},
		Group: cache.Key{9}, Vector: []float32{0.6, -0.8}, Text: "hello",
	}
}

func TestEntryComesBackAsItWas(t *testing.T) {
	for name, e := range map[string]*cache.Entry{"whole": whole(), "bare": {Created: time.UnixMilli(1), Expires: time.UnixMilli(2)}} {
		t.Run(name, func(t *testing.T) {
			data, err := e.AppendBinary([]byte("before"))
			if err != nil {
				t.Fatal(err)
			}
			got, err := cache.ParseEntry(data[len("before"):])
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(e, got); diff != "" {
				t.Errorf("the entry differs (-want +got):\n%s", diff)
			}
		})
	}
}

func TestChangedEntryIsCorrupt(t *testing.T) {
	data, err := whole().AppendBinary(nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range data {
		if _, err := cache.ParseEntry(data[:i]); !errors.Is(err, cache.ErrCorrupt) {
			t.Errorf("cut at %d: %v", i, err)
		}
		data[i] ^= 1
		if _, err := cache.ParseEntry(data); !errors.Is(err, cache.ErrCorrupt) {
			t.Errorf("changed at %d: %v", i, err)
		}
		data[i] ^= 1
	}
}

func TestKeyIsReadAsWritten(t *testing.T) {
	k := cache.Key{0xab, 31: 0xcd}
	if got, err := cache.ParseKey(k.String()); err != nil || got != k {
		t.Errorf("got %v, %v", got, err)
	}
	for _, bad := range []string{"", "ab", k.String() + "00", k.String()[:63], "x" + k.String()[1:]} {
		if _, err := cache.ParseKey(bad); err == nil {
			t.Errorf("%q is no key", bad)
		}
	}
}

func FuzzEntry(f *testing.F) {
	data, err := whole().AppendBinary(nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Fuzz(func(t *testing.T, data []byte) {
		e, err := cache.ParseEntry(data)
		if err != nil {
			if !errors.Is(err, cache.ErrCorrupt) {
				t.Errorf("the error is no ErrCorrupt: %v", err)
			}
			return
		}
		again, err := e.AppendBinary(nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := cache.ParseEntry(again); err != nil {
			t.Error(err)
		}
	})
}
