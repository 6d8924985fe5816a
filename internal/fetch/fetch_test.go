package fetch

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// loopback are the addresses of the tests' servers.
var loopback = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}

// serve starts a server and returns its URL, with the settings that let it be
// fetched from.
func serve(t *testing.T, h http.HandlerFunc) (string, Config) {
	t.Helper()
	s := httptest.NewUnstartedServer(h)
	s.EnableHTTP2 = true
	s.StartTLS()
	t.Cleanup(s.Close)
	roots := x509.NewCertPool()
	roots.AddCert(s.Certificate())
	return s.URL, Config{Networks: loopback, Ports: []int{portOf(t, s.URL)}, RootCAs: roots}
}

func portOf(t *testing.T, ref string) int {
	t.Helper()
	u, err := url.Parse(ref)
	if err != nil {
		t.Fatal(err)
	}
	port, err := strconv.Atoi(u.Port())
	if err != nil {
		t.Fatal(err)
	}
	return port
}

// get fetches with a fetcher of the test's own.
func get(t *testing.T, cfg Config, urls ...string) ([]Document, error) {
	t.Helper()
	f := New(cfg)
	defer f.CloseIdle()
	return f.Get(t.Context(), urls)
}

// wantFault checks the kind of a failure, and part of what it says.
func wantFault(t *testing.T, err error, kind Kind, index int, part string) {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) || e.Kind != kind || e.Index != index || !strings.Contains(e.Message, part) {
		t.Errorf("%+v, want kind %d of URL %d that says %q", err, kind, index, part)
	}
	if e != nil && (strings.Contains(e.Error(), "secret") || strings.Contains(fmt.Sprint(e.Err), "secret")) {
		t.Errorf("%v holds the URL", e)
	}
}

func TestFilesAreFetchedInOrder(t *testing.T) {
	at, cfg := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "Text/Plain; charset=utf-8")
		_, _ = w.Write([]byte(r.URL.String()))
	})
	var urls []string
	var want []Document
	for i := range 20 {
		path := "/" + strconv.Itoa(i) + "?q=%2F"
		urls = append(urls, at+path+"#fragment")
		want = append(want, Document{Type: "text/plain", Data: []byte(path)})
	}
	got, err := get(t, cfg, urls...)
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
	if got, err := get(t, cfg); len(got) != 0 || err != nil {
		t.Errorf("of no URL: %v %v", got, err)
	}
}

// TestServersAreToldNothing has a server that sets a cookie and redirects.
func TestServersAreToldNothing(t *testing.T) {
	var heads []http.Header
	at, cfg := serve(t, func(w http.ResponseWriter, r *http.Request) {
		heads = append(heads, r.Header)
		if r.URL.Path == "/first" {
			http.SetCookie(w, &http.Cookie{Name: "a", Value: "b"})
			http.Redirect(w, r, "/second", http.StatusFound)
		}
	})
	if _, err := get(t, cfg, at+"/first?token=secret"); err != nil {
		t.Fatal(err)
	}
	want := http.Header{"User-Agent": {"b650d4bf-gateway"}, "Accept": {"*/*"}, "Accept-Encoding": {"identity"}}
	if diff := cmp.Diff([]http.Header{want, want}, heads); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestWhatIsNotFetched(t *testing.T) {
	at, cfg := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/gone":
			http.NotFound(w, r)
		case "/empty":
			w.WriteHeader(http.StatusNoContent)
		case "/zipped":
			w.Header().Set("Content-Encoding", "gzip")
		case "/loop":
			http.Redirect(w, r, "/loop", http.StatusMovedPermanently)
		case "/nowhere":
			w.WriteHeader(http.StatusFound)
		case "/to":
			w.Header().Set("Location", r.URL.Query().Get("u"))
			w.WriteHeader(http.StatusTemporaryRedirect)
		}
	})
	hosts := cfg
	hosts.Hosts = []string{"cdn.example.com", ".example.org"}
	foreign := cfg
	foreign.RootCAs = x509.NewCertPool()
	none := cfg
	none.MaxRedirects = -1
	closed := cfg
	closed.Ports = []int{1}
	for name, tt := range map[string]struct {
		cfg  Config
		url  string
		kind Kind
		says string
	}{
		"plain http":               {cfg, strings.Replace(at, "https", "http", 1), Refused, "only https"},
		"another scheme":           {cfg, "file:///etc/passwd", Refused, "only https"},
		"no URL":                   {cfg, "https://%zz", Refused, "not a valid URL"},
		"no host":                  {cfg, "https:///a", Refused, "not a valid URL"},
		"a host that is not ASCII": {cfg, "https://exämple.com/a", Refused, "not a valid URL"},
		"a host with a bracket":    {cfg, "https://a]/", Refused, "not a valid URL"},
		"a user":                   {cfg, strings.Replace(at, "//", "//me:secret@", 1), Refused, "a user in it"},
		"another port":             {cfg, "https://127.0.0.1/", Refused, "port"},
		"another host":             {hosts, at, Refused, "not one that the gateway may fetch from"},
		"a host not below":         {hosts, "https://example.org/", Refused, "not one that the gateway may fetch from"},
		"a certificate of others":  {foreign, at, Refused, "no valid certificate"},
		"nobody there":             {closed, "https://127.0.0.1:1/secret", Unreachable, "no connection to 127.0.0.1"},
		"not found":                {cfg, at + "/gone?secret", Refused, "answers with the status 404"},
		"no content":               {cfg, at + "/empty", Refused, "answers with the status 204"},
		"a content coding":         {cfg, at + "/zipped", Refused, "content coding"},
		"a loop":                   {cfg, at + "/loop", Refused, "redirects too often"},
		"any redirect":             {none, at + "/loop", Refused, "redirects too often"},
		"a redirect to nowhere":    {cfg, at + "/nowhere", Refused, "redirects to nowhere"},
		"a redirect to http":       {cfg, at + "/to?u=http://example.com/secret", Refused, "there only https"},
		"a redirect to metadata":   {cfg, at + "/to?u=https://169.254.169.254:" + strconv.Itoa(cfg.Ports[0]), Refused, "no public address"},
		"a redirect to a port":     {cfg, at + "/to?u=https://127.0.0.1:22/", Refused, "port"},
		"a redirect with a user":   {cfg, at + "/to?u=https://me:secret@127.0.0.1/", Refused, "a user in it"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := get(t, tt.cfg, tt.url)
			wantFault(t, err, tt.kind, 0, tt.says)
		})
	}
}

// TestOwnNetworksAreClosed dials the machine itself, under names and in
// spellings that a check of the URL alone would let through.
func TestOwnNetworksAreClosed(t *testing.T) {
	asked := atomic.Bool{}
	at, cfg := serve(t, func(http.ResponseWriter, *http.Request) { asked.Store(true) })
	cfg.Networks = nil
	port := strconv.Itoa(portOf(t, at))
	for _, host := range []string{
		"127.0.0.1", "localhost", "LOCALHOST.", "[::1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::]", "0.0.0.0", "127.1", "0x7f.0.0.1", "2130706433",
		"[64:ff9b::7f00:1]", "[64:ff9b:1::7f00:1]", "[2002:7f00:1::]", "[fe80::1]", "[fd20:ce::254]", "169.254.169.254", "10.0.0.1", "[::127.0.0.1]",
	} {
		_, err := get(t, cfg, "https://"+host+":"+port+"/")
		var e *Error
		if !errors.As(err, &e) || e.Kind != Refused && e.Kind != Unreachable {
			t.Errorf("%s: %v", host, err)
		}
	}
	for _, host := range []string{"127.0.0.1", "localhost"} {
		_, err := get(t, cfg, "https://"+host+":"+port+"/")
		wantFault(t, err, Refused, 0, "no public address")
	}
	if asked.Load() {
		t.Error("the server was asked")
	}
}

func TestAddresses(t *testing.T) {
	f := New(Config{})
	wide := New(Config{Networks: []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0"), netip.MustParsePrefix("::/0")}})
	for addr, want := range map[string]struct{ public, wide bool }{
		"8.8.8.8":              {true, true},
		"2606:4700::1":         {true, true},
		"::ffff:8.8.8.8":       {true, true},
		"10.1.2.3":             {false, true},
		"172.31.0.1":           {false, true},
		"172.32.0.1":           {true, true},
		"192.168.1.1":          {false, true},
		"100.64.0.1":           {false, true},
		"127.0.0.1":            {false, true},
		"::1":                  {false, true},
		"fd00::1":              {false, true},
		"fd20:ce::254":         {false, false},
		"fd00:ec2::254":        {false, false},
		"168.63.129.16":        {false, false},
		"::ffff:168.63.129.16": {false, false},
		"100.100.100.200":      {false, false},
		"198.18.0.1":           {false, true},
		"240.0.0.1":            {false, true},
		"64:ff9b::808:808":     {false, true},
		"64:ff9b:1::1":         {false, true},
		"::8.8.8.8":            {false, true},
		"2001::1":              {false, true},
		"2001:db8::1":          {false, true},
		"2002:808:808::1":      {false, true},
		"::ffff:10.0.0.1":      {false, true},
		"169.254.169.254":      {false, false},
		"::ffff:169.254.169.1": {false, false},
		"fe80::1":              {false, false},
		"fe80::1%eth0":         {false, false},
		"2606:4700::1%eth0":    {false, false},
		"224.0.0.1":            {false, false},
		"ff02::1":              {false, false},
		"0.0.0.0":              {false, false},
		"::":                   {false, false},
	} {
		a := netip.MustParseAddr(addr)
		if got := f.mayConnect(a); got != want.public {
			t.Errorf("%s: %v, want %v", addr, got, want.public)
		}
		if got := wide.mayConnect(a); got != want.wide {
			t.Errorf("%s, with all networks open: %v, want %v", addr, got, want.wide)
		}
	}
	for _, tt := range []struct{ network, address string }{
		{"udp4", "8.8.8.8:443"}, {"tcp4", "8.8.8.8:80"}, {"tcp4", "10.0.0.1:443"}, {"tcp", "8.8.8.8"}, {"unix", "/tmp/x"},
	} {
		if f.control(tt.network, tt.address, nil) == nil {
			t.Errorf("%s %s may be dialled", tt.network, tt.address)
		}
	}
	if err := f.control("tcp4", "8.8.8.8:443", nil); err != nil {
		t.Error(err)
	}
}

func TestHosts(t *testing.T) {
	for _, tt := range []struct {
		pattern, host string
		want          bool
	}{
		{"example.com", "example.com", true},
		{"Example.com", "example.com", true},
		{"example.com", "a.example.com", false},
		{".example.com", "a.b.example.com", true},
		{".example.com", "example.com", false},
		{".example.com", ".example.com", false},
		{".example.com", "evilexample.com", false},
	} {
		if got := matches(tt.pattern, tt.host); got != tt.want {
			t.Errorf("%s of %s: %v", tt.host, tt.pattern, got)
		}
	}
}

func TestSizesAreBoundedTogether(t *testing.T) {
	at, cfg := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body := make([]byte, 600)
		if r.URL.Path == "/streamed" {
			for range 100 {
				_, _ = w.Write(body)
				_ = http.NewResponseController(w).Flush()
			}
			return
		}
		_, _ = w.Write(body)
	})
	cfg.MaxBytes = 1000
	if _, err := get(t, cfg, at); err != nil {
		t.Error(err)
	}
	_, err := get(t, cfg, at+"/streamed")
	wantFault(t, err, TooLarge, 0, "more than 1000 bytes")
	_, err = get(t, cfg, at+"/1", at+"/2")
	var e *Error
	if !errors.As(err, &e) || e.Kind != TooLarge {
		t.Errorf("two files: %v", err)
	}
	cfg.MaxBytes = 599
	_, err = get(t, cfg, at)
	wantFault(t, err, TooLarge, 0, "more than 599 bytes")
}

func TestTheContextEndsAllFetches(t *testing.T) {
	entered := make(chan struct{}, 16)
	at, cfg := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		entered <- struct{}{}
		<-r.Context().Done()
	})
	f := New(cfg)
	defer f.CloseIdle()
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() {
		<-entered
		cancel(errors.New("enough"))
	}()
	_, err := f.Get(ctx, []string{at + "/a", at + "/b", at + "/c", at + "/d", at + "/e", at + "/f"})
	var e *Error
	if !errors.As(err, &e) || e.Kind != Ended || e.Err == nil || e.Err.Error() != "enough" {
		t.Errorf("%+v, want the end of the context", err)
	}
	cfg.Timeout = 50 * time.Millisecond
	_, err = get(t, cfg, at)
	wantFault(t, err, Late, 0, "did not answer within 50ms")
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}

// TestTheFirstFailureEndsTheOthers has one URL that fails while others wait.
func TestTheFirstFailureEndsTheOthers(t *testing.T) {
	at, cfg := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/bad" {
			http.NotFound(w, r)
			return
		}
		<-r.Context().Done()
	})
	begin := time.Now()
	_, err := get(t, cfg, at+"/a", at+"/b", at+"/bad", at+"/d")
	wantFault(t, err, Refused, 2, "404")
	if took := time.Since(begin); took > DefaultTimeout/2 {
		t.Errorf("the others were waited for, %v", took)
	}
}

func TestFetchesAtATimeAreBounded(t *testing.T) {
	for name, tt := range map[string]struct{ parallel, want int64 }{"of a request": {0, perRequest}, "of all": {2, 2}} {
		t.Run(name, func(t *testing.T) {
			var now atomic.Int64
			var mu sync.Mutex
			var most int64
			full := make(chan struct{})
			at, cfg := serve(t, func(_ http.ResponseWriter, r *http.Request) {
				n := now.Add(1)
				defer now.Add(-1)
				mu.Lock()
				most = max(most, n)
				mu.Unlock()
				if n == tt.want {
					select {
					case <-full:
					default:
						close(full)
					}
				}
				select { // until as many as may be are here
				case <-full:
				case <-r.Context().Done():
				}
			})
			cfg.Parallel = int(tt.parallel)
			var urls []string
			for i := range 12 {
				urls = append(urls, at+"/"+strconv.Itoa(i))
			}
			if _, err := get(t, cfg, urls...); err != nil || most != tt.want {
				t.Errorf("%d at a time, %v, want %d", most, err, tt.want)
			}
		})
	}
}

// FuzzCheck holds what may be fetched against what a URL says.
func FuzzCheck(f *testing.F) {
	for _, seed := range []string{
		"https://example.com/a.png", "https://me@example.com", "https://127.0.0.1", "https://[::1]:443/", "http://example.com", "https://example.com:8443",
		"https://example.com.", "https:example.com", "//example.com", "https://[fe80::1%25eth0]/", "https://\x00",
	} {
		f.Add(seed)
	}
	fetcher := New(Config{})
	f.Fuzz(func(t *testing.T, ref string) {
		u, err := url.Parse(ref)
		if err != nil || fetcher.check(u) != "" {
			return
		}
		if u.Scheme != "https" || u.User != nil || u.Hostname() == "" || u.Port() != "" && strings.TrimLeft(u.Port(), "0") != "443" {
			t.Errorf("%q is fetched", ref)
		}
		if a, err := netip.ParseAddr(u.Hostname()); err == nil && !isPublic(a.Unmap()) {
			t.Errorf("%q has no public address", ref)
		}
	})
}
