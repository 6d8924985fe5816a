package canary_test

import (
	"bytes"
	"context"
	"net"
	"net/http"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/redis/rueidis"

	"github.com/b650d4bf/gateway"
	"github.com/b650d4bf/gateway/cache"
	"github.com/b650d4bf/gateway/cache/postgres"
	"github.com/b650d4bf/gateway/cache/redis"
	"github.com/b650d4bf/gateway/cache/sqlite"
)

// TestFilesOfTheResponseCache looks at the bytes of the file, and of those beside it.
// Prompts are in no entry; answers are, unless the store is sealed.
func TestFilesOfTheResponseCache(t *testing.T) {
	for _, seal := range []bool{false, true} {
		f := newFlock(t, t.Name())
		dir := t.TempDir()
		file, err := sqlite.Open(filepath.Join(dir, "answers.db"))
		if err != nil {
			t.Fatal(err)
		}
		store := cache.Store(file)
		if seal {
			if store, err = cache.NewSealed(file, []byte(f.secret("sealing key")+"01234567")); err != nil {
				t.Fatal(err)
			}
		}
		s := sceneOf(t, f, gateway.WithCacheStore(store), gateway.WithCache(gateway.Cache{Mode: gateway.CacheSimple}))
		s.script()
		for range 2 {
			if _, errs := s.ask(t.Context(), t); failed(errs) != nil {
				t.Fatal(failed(errs))
			}
			s.sendAll(t)
		}
		if seal {
			if n := store.(*cache.Sealed).Stats().Hits; n == 0 {
				t.Error("nothing was read with the sealing key")
			}
			s.witness(sealedCache, s.secret("sealing key"))
		}
		text := files(t, dir)
		if s.refuse(t, "the file", text, credential); seal {
			s.refuse(t, "the sealed file", text, content, shown)
		} else {
			s.want(t, "the file", text, "answer", "thought", "argument in the answer")
			// The emulator's Claude repeats what it is asked in its answers.
			for _, prompt := range []string{"prompt", "system text", "image", "file", "tool argument", "tool description", "embedding input", "prompt variable"} {
				if at := s.find(text)[prompt]; at != "" {
					t.Errorf("the file holds the %s: %s", prompt, at)
				}
			}
		}
		plain := &cache.Entry{Key: cache.Key{7}, Body: []byte(s.open("entry that is not sealed")), Created: time.Now(), Expires: time.Now().Add(time.Hour)}
		if err := file.Set(t.Context(), plain); err != nil {
			t.Fatal(err)
		}
		s.witness(answersPlace, string(plain.Body))
		s.want(t, "the file", files(t, dir), "entry that is not sealed") // so what is not sealed would be found
		if err := file.Close(); err != nil {
			t.Fatal(err)
		}
		s.refuse(t, "the closed file", files(t, dir), credential)
	}
}

// server takes connections, notes what it is sent, and answers each piece of that.
func server(t *testing.T, f *flock, answer func(sent []byte) []byte) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer func() { _ = c.Close() }()
				buf := make([]byte, 1<<16)
				for {
					_ = c.SetDeadline(time.Now().Add(5 * time.Second))
					n, err := c.Read(buf)
					if err != nil {
						return
					}
					f.witness(storePlace, string(buf[:n]))
					reply := answer(buf[:n])
					if _, err := c.Write(reply); err != nil || len(reply) == 0 {
						return
					}
				}
			}()
		}
	}()
	return l.Addr().String()
}

// TestPasswordsOfStores has servers refuse the passwords of their addresses, and repeat
// them.
func TestPasswordsOfStores(t *testing.T) {
	f := newFlock(t, t.Name())
	address := server(t, f, func(sent []byte) []byte {
		return bytes.Repeat([]byte("-WRONGPASS invalid username-password pair or user is disabled.\r\n"), max(1, bytes.Count(sent, []byte("\r\n*"))))
	})
	options, err := rueidis.ParseURL("redis://app:" + f.secret("password of Redis") + "@" + address + "/0")
	if err != nil {
		t.Fatal(err)
	}
	_, err = redis.Open(options)
	if err == nil {
		t.Error("Redis took the password")
	}
	f.refuse(t, "redis", seenOf(err), credential)

	address = server(t, f, func(sent []byte) []byte {
		if sent[0] == 'p' {
			said := "SFATAL\x00C28P01\x00Mpassword authentication failed for user \"app\"\x00\x00"
			return append([]byte{'E', 0, 0, 0, byte(len(said) + 4)}, said...)
		}
		return []byte{'R', 0, 0, 0, 8, 0, 0, 0, 3} // in clear text
	})
	pool, err := pgxpool.New(t.Context(), "postgres://app:"+f.secret("password of PostgreSQL")+"@"+address+"/db?sslmode=disable")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	store, err := postgres.New(pool)
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = store.Get(t.Context(), cache.Key{1})
	if err == nil {
		t.Error("PostgreSQL took the password")
	}
	f.refuse(t, "postgres", seenOf(err)+printed(store), credential)

	var (
		mu     sync.Mutex
		faults bytes.Buffer
	)
	tiered, err := cache.NewTiered(memoryStore(t), store, cache.TieredConfig{Failed: func(err error) {
		mu.Lock()
		defer mu.Unlock()
		if faults.Len() < 1<<20 { // each call has some
			faults.WriteString(seenOf(err))
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	s := sceneOf(t, f, gateway.WithCacheStore(tiered), gateway.WithCache(gateway.Cache{Mode: gateway.CacheSimple}))
	_, errs := s.ask(context.WithoutCancel(t.Context()), t)
	f.refuse(t, "calls with a broken store", seenOf(failed(errs))+printed(tiered), credential)
	_ = tiered.Close()
	f.refuse(t, "faults of the store", faults.String(), credential, content)
	f.want(t, "the servers", f.seen(), "password of Redis", "password of PostgreSQL")
}

func memoryStore(t *testing.T) *cache.Memory {
	t.Helper()
	m, err := cache.NewMemory(cache.MemoryConfig{})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestPasswordsOfProxies has a proxy with a password refuse the tunnel, and be down.
func TestPasswordsOfProxies(t *testing.T) {
	f := newFlock(t, t.Name())
	up := server(t, f, func([]byte) []byte {
		return []byte("HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n")
	})
	for _, address := range []string{up, closedPort()} {
		transport := &http.Transport{Proxy: http.ProxyURL(mustURL(t, "http://user:"+f.secret("password of a proxy")+"@"+address))}
		t.Cleanup(transport.CloseIdleConnections)
		s := sceneOf(t, f, gateway.WithHTTPClient(&http.Client{Transport: transport}))
		_, errs := s.ask(t.Context(), t)
		for what, err := range errs {
			if err == nil {
				t.Errorf("%s went well", what)
			}
			f.refuse(t, what, seenOf(err), credential, content)
		}
	}
	f.want(t, "the proxy", f.seen(), "password of a proxy")
}
