package fetch

import (
	"bufio"
	"bytes"
	"context"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

// FuzzAnswer has a server that answers with any bytes, the same each time. What is
// fetched is no larger than the bound and has the type that is told, and no connection
// is asked for to anywhere that a check of the URL refuses.
func FuzzAnswer(f *testing.F) {
	for _, s := range []string{
		"HTTP/1.1 200 OK\r\nContent-Type: Text/Plain; a\r\nContent-Length: 2\r\n\r\nab",
		"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nabc", "HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n\x1f\x8b",
		"HTTP/1.1 302 Found\r\nLocation: http://169.254.169.254/\r\n\r\n", "HTTP/1.1 302 Found\r\nLocation: //2852039166/\r\n\r\n", "HTTP/1.1 307 X\r\nLocation: https://a@[::ffff:7f00:1]/\r\n\r\n",
		"HTTP/1.1 302 Found\r\nLocation: gopher://x\r\n\r\n", "HTTP/1.1 307 X\r\nLocation: https://a]/\r\n\r\n", "HTTP/1.1 302 Found\r\nLocation: /\r\n\r\n", "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n\r\n" + strings.Repeat("a", 2000), "HTTP/1.1 101 X\r\n\r\n",
	} {
		f.Add([]byte(s))
	}
	const most = 1000
	f.Fuzz(func(t *testing.T, raw []byte) {
		fetcher := New(Config{MaxBytes: most, Timeout: 5 * time.Second})
		var mu sync.Mutex
		var dialled []string
		var servers sync.WaitGroup
		fetcher.rt.DialTLSContext = func(_ context.Context, _, address string) (net.Conn, error) {
			mu.Lock()
			dialled = append(dialled, address)
			mu.Unlock()
			here, there := net.Pipe()
			servers.Go(func() {
				defer func() { _ = there.Close() }()
				if _, err := http.ReadRequest(bufio.NewReader(there)); err == nil {
					_, _ = there.Write(raw)
				}
			})
			return here, nil
		}
		docs, err := fetcher.Get(t.Context(), []string{"https://example.com/a"})
		fetcher.CloseIdle()
		servers.Wait()
		if err == nil {
			if len(docs) != 1 || len(docs[0].Data) > most || docs[0].Type != strings.ToLower(strings.TrimSpace(docs[0].Type)) || !bytes.Contains(raw, []byte(" 200")) {
				t.Errorf("%+v of %q", docs, raw)
			}
		} else if strings.ContainsAny(err.Error(), "\r\n\x1b\x00") {
			t.Errorf("%q", err)
		}
		if len(dialled) == 0 || len(dialled) > fetcher.cfg.MaxRedirects+2 {
			t.Errorf("%d connections", len(dialled))
		}
		for _, address := range dialled {
			host, port, err := net.SplitHostPort(address)
			if a := net.ParseIP(host); err != nil || port != "443" || a != nil && (a.IsPrivate() || a.IsLoopback() || a.IsLinkLocalUnicast() || a.IsUnspecified()) {
				t.Errorf("%q is dialled: %v", address, err)
			}
		}
	})
}
