package vault

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// numbered is the i-th of many keys.
func numbered(i int) Key {
	return Key{"vertex-ai/gemini-3/p", "call_" + strconv.Itoa(i), "get_weather", `{"city":"Paris","unit":"celsius"}`}
}

func TestGet(t *testing.T) {
	put := Key{"gemini-3/p", "call_1", "get_weather", `{"city":"Paris","days":2}`}
	tests := []struct {
		name string
		get  Key
		want bool
	}{
		{"the same", put, true},
		{"arguments spelt anew", Key{put.Issuer, put.ID, put.Name, `{ "days": 2.0, "city": "\u0050aris" }`}, true},
		{"another issuer", Key{"gemini-2/p", put.ID, put.Name, put.Arguments}, false},
		{"another id", Key{put.Issuer, "call_2", put.Name, put.Arguments}, false},
		{"another tool", Key{put.Issuer, put.ID, "get_time", put.Arguments}, false},
		{"other arguments", Key{put.Issuer, put.ID, put.Name, `{"city":"Rome","days":2}`}, false},
		{"no arguments", Key{put.Issuer, put.ID, put.Name, ""}, false},
		{"no issuer", Key{"", put.ID, put.Name, put.Arguments}, false},
		{"no id", Key{put.Issuer, "", put.Name, put.Arguments}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			v := New(Limits{})
			v.Put(put, "c2ln+/==")
			got, ok := v.Get(tt.get)
			want := Stats{Entries: 1, Bytes: 8 + overhead, Stored: 1}
			text := ""
			if tt.want {
				text, want.Restored = "c2ln+/==", 1
			} else {
				want.Missed = 1
			}
			if got != text || ok != tt.want {
				t.Errorf("got %q, %v, want %q", got, ok, text)
			}
			if diff := cmp.Diff(want, v.Stats()); diff != "" {
				t.Errorf("stats (-want +got):\n%s", diff)
			}
		})
	}
}

func TestPut(t *testing.T) {
	k := numbered(1)
	signature := func(n int) string { return strings.Repeat("s", n) }
	tests := []struct {
		name  string
		run   func(v *Vault)
		want  string // under k
		stats Stats  // without what Get counts
	}{
		{"nothing", func(v *Vault) { v.Put(k, "") }, "", Stats{}},
		{"nothing over something", func(v *Vault) { v.Put(k, "a"); v.Put(k, "") }, "a", Stats{Entries: 1, Bytes: 1 + overhead, Stored: 1}},
		{"the same again", func(v *Vault) { v.Put(k, "a"); v.Put(k, "a") }, "a", Stats{Entries: 1, Bytes: 1 + overhead, Stored: 1, Replaced: 1}},
		{"the later wins", func(v *Vault) { v.Put(k, "a"); v.Put(k, "later") }, "later", Stats{Entries: 1, Bytes: 5 + overhead, Stored: 1, Replaced: 1}},
		{"no id", func(v *Vault) { v.Put(Key{Issuer: k.Issuer}, "a") }, "", Stats{Refused: 1}},
		{"no issuer", func(v *Vault) { v.Put(Key{ID: k.ID}, "a") }, "", Stats{Refused: 1}},
		{"as long as may be", func(v *Vault) { v.Put(k, signature(1000)) }, signature(1000), Stats{Entries: 1, Bytes: 1000 + overhead, Stored: 1}},
		{"too long", func(v *Vault) { v.Put(k, signature(1001)) }, "", Stats{Refused: 1}},
		{"too long over one that was not", func(v *Vault) { v.Put(k, "a"); v.Put(k, signature(1001)) }, "", Stats{Stored: 1, Evicted: 1, Refused: 1}},
		{"a longer one over another makes room", func(v *Vault) {
			for i := range 7 {
				v.Put(numbered(10+i), signature(900))
			}
			v.Put(k, "a")
			v.Put(k, signature(1000))
		}, signature(1000), Stats{Entries: 7, Bytes: 6*(900+overhead) + 1000 + overhead, Stored: 8, Replaced: 1, Evicted: 1}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			v := New(Limits{Bytes: 8000})
			tt.run(v)
			if diff := cmp.Diff(tt.stats, v.Stats()); diff != "" {
				t.Errorf("stats (-want +got):\n%s", diff)
			}
			if got, _ := v.Get(k); got != tt.want {
				t.Errorf("got %.20q, want %.20q", got, tt.want)
			}
		})
	}
}

func TestVaultWithoutRoom(t *testing.T) {
	v := New(Limits{Bytes: overhead})
	v.Put(numbered(1), "a")
	if diff := cmp.Diff(Stats{Refused: 1}, v.Stats()); diff != "" {
		t.Errorf("stats (-want +got):\n%s", diff)
	}
}

func TestDefaults(t *testing.T) {
	want := Limits{DefaultEntries, DefaultBytes, DefaultTTL}
	for _, given := range []Limits{{}, {-1, -1, -1}, want} {
		if diff := cmp.Diff(want, New(given).limits); diff != "" {
			t.Errorf("limits of %+v (-want +got):\n%s", given, diff)
		}
	}
}

func TestNilVault(t *testing.T) {
	var v *Vault
	v.Put(numbered(1), "a")
	if got, ok := v.Get(numbered(1)); got != "" || ok {
		t.Errorf("got %q, %v", got, ok)
	}
	if got := v.Stats(); got != (Stats{}) {
		t.Errorf("stats %+v", got)
	}
}

func TestAge(t *testing.T) {
	const ttl = time.Hour
	synctest.Test(t, func(t *testing.T) {
		v := New(Limits{TTL: ttl})
		v.Put(numbered(1), "restored")
		v.Put(numbered(2), "put again")
		v.Put(numbered(3), "left alone")
		time.Sleep(ttl - time.Nanosecond)
		v.Get(numbered(1))
		v.Put(numbered(2), "put again")
		time.Sleep(time.Nanosecond)
		for i, want := range []bool{true, true, false} {
			if _, ok := v.Get(numbered(i + 1)); ok != want {
				t.Errorf("signature %d is there: %v, want %v", i+1, ok, want)
			}
		}
		time.Sleep(ttl)
		want := Stats{Stored: 3, Replaced: 1, Expired: 3, Restored: 3, Missed: 1}
		if diff := cmp.Diff(want, v.Stats()); diff != "" {
			t.Errorf("stats (-want +got):\n%s", diff)
		}
		v.Put(numbered(1), "anew")
		if got, _ := v.Get(numbered(1)); got != "anew" {
			t.Errorf("got %q after all had expired", got)
		}
	})
}

// model is a vault that is easy to believe: a list, the entry used last first.
type model struct {
	limits Limits
	list   []modelEntry
	stats  Stats
}

type modelEntry struct {
	key       int
	signature string
	used      time.Time
}

func (m *model) find(key int) int {
	m.list = slices.DeleteFunc(m.list, func(e modelEntry) bool {
		old := time.Since(e.used) >= m.limits.TTL
		if old {
			m.stats.Expired++
		}
		return old
	})
	return slices.IndexFunc(m.list, func(e modelEntry) bool { return e.key == key })
}

func (m *model) put(key int, signature string) {
	i := m.find(key)
	if i >= 0 {
		m.list = slices.Delete(m.list, i, i+1)
	}
	switch {
	case int64(len(signature)) > m.limits.Bytes/8:
		m.stats.Refused++
		if i >= 0 {
			m.stats.Evicted++
		}
		return
	case i >= 0:
		m.stats.Replaced++
	default:
		m.stats.Stored++
	}
	m.list = slices.Insert(m.list, 0, modelEntry{key, signature, time.Now()})
	for len(m.list) > m.limits.Entries || m.bytes() > m.limits.Bytes {
		m.list = m.list[:len(m.list)-1]
		m.stats.Evicted++
	}
}

func (m *model) get(key int) string {
	i := m.find(key)
	if i < 0 {
		m.stats.Missed++
		return ""
	}
	m.stats.Restored++
	e := m.list[i]
	e.used = time.Now()
	m.list = slices.Insert(slices.Delete(m.list, i, i+1), 0, e)
	return e.signature
}

func (m *model) bytes() (n int64) {
	for _, e := range m.list {
		n += int64(len(e.signature)) + overhead
	}
	return n
}

func (m *model) report() Stats {
	m.find(-1)
	m.stats.Entries, m.stats.Bytes = len(m.list), m.bytes()
	return m.stats
}

func TestAgainstModel(t *testing.T) {
	tests := map[string]Limits{
		"entries bind": {Entries: 10, Bytes: 1 << 20, TTL: time.Hour},
		"bytes bind":   {Entries: 1000, Bytes: 6000, TTL: time.Hour},
		"age binds":    {Entries: 1000, Bytes: 1 << 20, TTL: 20 * time.Second},
		"all bind":     {Entries: 12, Bytes: 5000, TTL: 30 * time.Second},
		"one entry":    {Entries: 1, Bytes: 5000, TTL: time.Hour},
	}
	for name, limits := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				seed := rand.Uint64()
				t.Logf("seed %d", seed)
				rnd := rand.New(rand.NewPCG(seed, 0))
				v, m := New(limits), &model{limits: limits}
				for step := range 5000 {
					key, signature := rnd.IntN(40), strings.Repeat("s", 1+rnd.IntN(800))
					switch rnd.IntN(8) {
					case 0, 1, 2:
						v.Put(numbered(key), signature)
						m.put(key, signature)
					case 3:
						time.Sleep(time.Duration(rnd.IntN(10)) * time.Second)
					case 4:
						if diff := cmp.Diff(m.report(), v.Stats()); diff != "" {
							t.Fatalf("stats at step %d (-model +got):\n%s", step, diff)
						}
					default:
						got, ok := v.Get(numbered(key))
						if want := m.get(key); got != want || ok != (want != "") {
							t.Fatalf("got %d bytes, %v at step %d, want %d bytes", len(got), ok, step, len(want))
						}
					}
				}
				s := v.Stats()
				if diff := cmp.Diff(m.report(), s); diff != "" {
					t.Fatalf("stats (-model +got):\n%s", diff)
				}
				if n := s.Stored - s.Evicted - s.Expired; n != int64(s.Entries) {
					t.Errorf("%d entries by the counters, %d are there", n, s.Entries)
				}
			})
		})
	}
}

func TestConcurrentUse(t *testing.T) {
	const workers, rounds, keys = 8, 2000, 64
	v := New(Limits{Entries: keys / 2})
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			rnd := rand.New(rand.NewPCG(uint64(w), 1))
			for range rounds {
				i := rnd.IntN(keys)
				switch rnd.IntN(5) {
				case 0:
					if s := v.Stats(); s.Entries > keys/2 || int64(s.Entries) != s.Stored-s.Evicted {
						t.Errorf("stats %+v", s)
					}
				case 1, 2:
					v.Put(numbered(i), fmt.Sprintf("%d of %d", i, w))
				default:
					if got, ok := v.Get(numbered(i)); ok && !strings.HasPrefix(got, strconv.Itoa(i)+" ") {
						t.Errorf("got %q for %d", got, i)
					}
				}
			}
		})
	}
	wg.Wait()
}

func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC() // what pools hold goes at the second
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func TestMemoryUnderChurn(t *testing.T) {
	const bound = 4 << 20
	tests := []struct {
		name   string
		length func(rnd *rand.Rand) int
		puts   int
	}{
		{"short signatures", func(*rand.Rand) int { return 8 }, 40_000},
		{"signatures of all sizes", func(rnd *rand.Rand) int { return 1 + rnd.IntN(16<<10) }, 2000},
		{"long signatures", func(*rand.Rand) int { return 200 << 10 }, 200},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			rnd := rand.New(rand.NewPCG(1, 2))
			before := heap()
			v := New(Limits{Bytes: bound})
			arguments := `{"text":"` + strings.Repeat("prompt ", 60) + `"}`
			for i := range tt.puts {
				// The signature is cut from an answer that must not be kept.
				answer := strings.Repeat("A", tt.length(rnd)+4<<10)
				v.Put(Key{"i", strconv.Itoa(i), "f", arguments}, answer[:len(answer)-4<<10])
			}
			held := heap() - before
			s := v.Stats()
			if s.Bytes > bound || s.Bytes < bound*3/4 {
				t.Errorf("the vault counts %d bytes, want up to %d", s.Bytes, bound)
			}
			if held > bound*5/4 {
				t.Errorf("%d entries take %d bytes of memory, want up to %d and a quarter", s.Entries, held, bound)
			}
			t.Logf("%d entries, %d bytes counted, %d held", s.Entries, s.Bytes, held)
			runtime.KeepAlive(v)
		})
	}
}

// nested has members out of order, so that they are sorted, and escapes.
const nested = `{"to":"ann@example.com","body":"Dear Ann,\n\nsee you.","at":{"hour":9,"day":"2026-11-21"},"cc":["bob","cy"],"priority":1.5}`

func TestAllocations(t *testing.T) {
	if raceEnabled {
		t.Skip("the pool is not reliable under the race detector")
	}
	v := New(Limits{Entries: 100})
	held, absent := numbered(1), numbered(2)
	held.Arguments, absent.Arguments = nested, nested
	keys := make([]Key, 4000)
	for i := range keys {
		keys[i] = numbered(1000 + i)
		v.Put(keys[i], "warm")
	}
	next := 0
	tests := []struct {
		name string
		run  func()
		want float64
	}{
		{"put", func() { v.Put(keys[next%len(keys)], "signature"); next++ }, 2},
		{"put again", func() { v.Put(held, "signature") }, 0},
		{"get", func() { v.Get(held) }, 0},
		{"miss", func() { v.Get(absent) }, 0},
		{"stats", func() { v.Stats() }, 0},
	}
	v.Put(held, "signature")
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.name != "put" {
				v.Put(held, "signature")
			}
			if got := testing.AllocsPerRun(1000, tt.run); got > tt.want {
				t.Errorf("%v allocations, want %v", got, tt.want)
			}
		})
	}
}

func BenchmarkPut(b *testing.B) {
	v := New(Limits{})
	signature := strings.Repeat("s", 1000)
	k := numbered(1)
	ids := make([]string, 1<<17)
	for i := range ids {
		ids[i] = "call_" + strconv.Itoa(i)
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		k.ID = ids[i%len(ids)]
		v.Put(k, signature)
	}
}

func BenchmarkGet(b *testing.B) {
	for name, arguments := range map[string]string{
		"small": numbered(1).Arguments, "nested": nested, "64K": `{"b":"` + strings.Repeat("text ", 13_000) + `","a":1}`,
	} {
		b.Run(name, func(b *testing.B) {
			v := New(Limits{})
			k := numbered(1)
			k.Arguments = arguments
			v.Put(k, "signature")
			b.ReportAllocs()
			for b.Loop() {
				v.Get(k)
			}
		})
	}
}

// BenchmarkParallel gives back ten signatures for each that it takes.
func BenchmarkParallel(b *testing.B) {
	v := New(Limits{})
	keys := make([]Key, 1000)
	for i := range keys {
		keys[i] = numbered(i)
		v.Put(keys[i], "signature")
	}
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for i := 0; pb.Next(); i++ {
			if k := keys[i%len(keys)]; i%11 == 0 {
				v.Put(k, "signature")
			} else {
				v.Get(k)
			}
		}
	})
}
