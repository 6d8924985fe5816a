package chaos_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/oauth2"

	"github.com/b650d4bf/gateway"
)

// newTokens points the application-default credentials to a metadata server of the
// test's own, over a socket. The handler gets the number of the request for a
// token, from 1.
func newTokens(t *testing.T, answer func(w http.ResponseWriter, r *http.Request, n int)) *atomic.Int64 {
	t.Helper()
	var asked atomic.Int64
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Metadata-Flavor", "Google")
		if !strings.HasSuffix(r.URL.Path, "/token") {
			http.NotFound(w, r)
			return
		}
		answer(w, r, int(asked.Add(1)))
	}))
	t.Cleanup(srv.Close)
	t.Setenv("GCE_METADATA_HOST", srv.Listener.Addr().String())
	t.Setenv("GOOGLE_APPLICATION_CREDENTIALS", "")
	t.Setenv("HOME", t.TempDir())
	return &asked
}

func giveToken(w io.Writer, n, seconds int) {
	_, _ = fmt.Fprintf(w, `{"access_token":"token%d","expires_in":%d,"token_type":"Bearer"}`, n, seconds)
}

// TestTokens is about an endpoint of tokens that has trouble, and a platform that
// does not take what came from there.
func TestTokens(t *testing.T) {
	good := func(w http.ResponseWriter, _ *http.Request, n int) { giveToken(w, n, 3600) }
	status := func(code int) func(http.ResponseWriter, *http.Request, int) {
		return func(w http.ResponseWriter, _ *http.Request, _ int) { w.WriteHeader(code) }
	}
	says := func(text string) func(http.ResponseWriter, *http.Request, int) {
		return func(w http.ResponseWriter, _ *http.Request, _ int) { _, _ = io.WriteString(w, text) }
	}
	for name, row := range map[string]struct {
		id     string
		tokens func(http.ResponseWriter, *http.Request, int)
		taken  string // the only token that the platform takes; empty for all
		least  int    // requests for a token
		most   int
	}{
		"revoked":  {"token/revoked", good, "Bearer token2", 2, 2},
		"refused":  {"token/refused", good, "Bearer none", 2, 2},
		"short":    {"token/short", func(w http.ResponseWriter, _ *http.Request, n int) { giveToken(w, n, 1) }, "", 1, 20},
		"500":      {"token/down", status(500), "", 1, 6},
		"401":      {"token/down", status(401), "", 1, 6},
		"garbage":  {"token/down", says("\x00{"), "", 1, 6},
		"empty":    {"token/down", says(`{"access_token":"","expires_in":3600}`), "", 1, 6},
		"no life":  {"token/down", says(`{"access_token":"t","expires_in":-1}`), "", 1, 6},
		"hijacked": {"token/down", func(http.ResponseWriter, *http.Request, int) { panic(http.ErrAbortHandler) }, "", 1, 12},
		"slow": {"token/slow", func(w http.ResponseWriter, _ *http.Request, n int) {
			time.Sleep(500 * time.Millisecond)
			giveToken(w, n, 3600)
		}, "", 1, 1},
	} {
		t.Run(name, func(t *testing.T) {
			asked := newTokens(t, row.tokens)
			p := newPlatform(t)
			k := kitOf(t, p.url)
			p.always(func(w *wire, n int) {
				if row.taken != "" && w.header.Get("Authorization") != row.taken {
					refusal(401)(w, n)
					return
				}
				answer(geminiUnary)(w, n)
			})
			k.call(of(t, row.id), surfaces[0], newMark())
			if n := int(asked.Load()); n < row.least || n > row.most {
				t.Errorf("%d requests for a token, want %d to %d", n, row.least, row.most)
			}
			if row.id == "token/short" {
				for range 3 {
					time.Sleep(600 * time.Millisecond) // the life of a token is on the wall clock
					k.call(of(t, row.id), surfaces[0], newMark())
				}
				if asked.Load() < 2 {
					t.Error("a token was used beyond its end")
				}
			}
			k.settle(p.count)
			p.left(k)
		})
	}
}

// TestTokensThatNeverCome hold a call up to its deadline and no longer.
func TestTokensThatNeverCome(t *testing.T) {
	late := newLate()
	newTokens(t, func(_ http.ResponseWriter, r *http.Request, _ int) {
		late.expire()
		<-r.Context().Done()
	})
	p := newPlatform(t)
	k := kitOf(t, p.url)
	k.callUnder(late, patience, of(t, "token/hangs"), surfaces[0], newMark())
	k.settle(p.count)
	_ = k.client.Close()
}

// agedToken is a source whose tokens are those of a clock that was an hour behind.
type agedToken struct{}

func (agedToken) Token() (*oauth2.Token, error) {
	return &oauth2.Token{AccessToken: "t", Expiry: time.Now().Add(-time.Hour)}, nil
}

func TestTokensOfThePast(t *testing.T) {
	p := newPlatform(t)
	k := kitOf(t, p.url, gateway.WithTokenSource(agedToken{}))
	p.always(answer(geminiUnary))
	k.call(of(t, "token/past"), surfaces[0], newMark())
	k.settle(p.count)
}
