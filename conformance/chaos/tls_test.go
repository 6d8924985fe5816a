package chaos_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/binary"
	"errors"
	"io"
	"math/big"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/b650d4bf/gateway"
)

// authority signs certificates for a test.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	pool *x509.CertPool
}

// leafOptions say what is wrong with a certificate.
type leafOptions struct {
	otherHost, expired bool
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	of := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "chaos"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-48 * time.Hour), NotAfter: time.Now().Add(48 * time.Hour), KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, of, of, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	a := &authority{key: key, pool: x509.NewCertPool()}
	if a.cert, err = x509.ParseCertificate(der); err != nil {
		t.Fatal(err)
	}
	a.pool.AddCert(a.cert)
	return a
}

func (a *authority) leaf(t *testing.T, o leafOptions) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	of := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "platform"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-48 * time.Hour), NotAfter: time.Now().Add(24 * time.Hour), KeyUsage: x509.KeyUsageDigitalSignature,
	}
	if o.otherHost {
		of.IPAddresses, of.DNSNames = nil, []string{"elsewhere.example"}
	}
	if o.expired {
		of.NotAfter = time.Now().Add(-24 * time.Hour)
	}
	der, err := x509.CreateCertificate(rand.Reader, of, a.cert, key.Public(), a.key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// TestTLS is about handshakes: none of their failures sends anything.
func TestTLS(t *testing.T) {
	for _, row := range []struct {
		id      string
		leaf    leafOptions
		trusted bool
		max     uint16
	}{
		{id: "tls/host", leaf: leafOptions{otherHost: true}, trusted: true},
		{id: "tls/expired", leaf: leafOptions{expired: true}, trusted: true},
		{id: "tls/authority"},
		{id: "tls/old", trusted: true, max: tls.VersionTLS10},
	} {
		t.Run(row.id, func(t *testing.T) {
			t.Parallel()
			ca := newAuthority(t)
			p := startPlatform(t, &tls.Config{
				Certificates: []tls.Certificate{ca.leaf(t, row.leaf)}, MinVersion: tls.VersionTLS10, MaxVersion: row.max,
			})
			p.always(answer(geminiUnary))
			k := newKit(t, p.url, trusting(t, ca, row.trusted))
			for _, s := range surfaces {
				k.call(of(t, row.id), s, newMark())
			}
			k.settle(p.count)
			p.left(k)
		})
	}
}

// trusting is the transport of a client that trusts the authority, or the
// library's own, which trusts that of the machine.
func trusting(t *testing.T, ca *authority, trusted bool) gateway.ClientOption {
	if !trusted {
		return gateway.WithTimeouts(gateway.Timeouts{Connect: patience})
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: ca.pool}, ForceAttemptHTTP2: true}
	t.Cleanup(transport.CloseIdleConnections)
	return gateway.WithHTTPClient(&http.Client{Transport: transport})
}

// TestTLSHandshakesCut ends the connection after some bytes of a handshake.
func TestTLSHandshakesCut(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t)
	secure := &tls.Config{Certificates: []tls.Certificate{ca.leaf(t, leafOptions{})}, MinVersion: tls.VersionTLS12}
	each(6, func(worker int) {
		p := newPlatform(t)
		k := newKit(t, "https"+p.url[4:], trusting(t, ca, true))
		for cut := worker * 3; cut < 600; cut += 18 {
			p.onConn(func(w *wire) {
				c := tls.Server(&cutConn{Conn: w.Conn, left: cut}, secure)
				_ = c.HandshakeContext(context.Background())
				ends[cut%2].run(w)
			})
			k.call(of(t, "tls/cut"), surfaces[cut%len(surfaces)], newMark())
		}
		k.settle(p.count)
	})
}

// cutConn writes so many bytes.
type cutConn struct {
	net.Conn
	left int
}

func (c *cutConn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p[:min(len(p), c.left)])
	if c.left -= n; err == nil && n < len(p) {
		err = io.ErrShortWrite
	}
	return n, err
}

// TestTLSSomethingElse has no TLS on the other side.
func TestTLSSomethingElse(t *testing.T) {
	t.Parallel()
	p := newPlatform(t)
	k := newKit(t, "https"+p.url[4:], gateway.WithTimeouts(gateway.Timeouts{Connect: 3 * time.Second}))
	p.onConn(func(w *wire) { w.say(refused(400)); w.hold() })
	k.call(of(t, "tls/plain"), surfaces[0], newMark())
	p.onConn(func(w *wire) { w.hold() })
	k.call(of(t, "tls/silent"), surfaces[0], newMark())
	k.settle(p.count)
	p.left(k)
}

// TestConnecting is about addresses that lead nowhere.
func TestConnecting(t *testing.T) {
	closed := newPlatform(t)
	_ = closed.listener.Close()
	refuses := closed.url
	for _, row := range []struct{ id, url string }{
		{"connect/refused", refuses},
		{"connect/no answer", "https://192.0.2.1"}, // https://www.rfc-editor.org/rfc/rfc5737
		{"connect/unknown name", "https://chaos.invalid"},
		{"connect/lookup", "https://chaos.invalid"},
		{"connect/lookup refused", "https://chaos.invalid"},
	} {
		t.Run(row.id, func(t *testing.T) {
			t.Parallel()
			dialer := &net.Dialer{Timeout: 2 * time.Second}
			switch row.id {
			case "connect/unknown name":
				dialer.Resolver = resolver(t, 3) // NXDOMAIN
			case "connect/lookup refused":
				dialer.Resolver = resolver(t, 5) // REFUSED
			case "connect/lookup":
				dialer.Resolver = resolver(t, -1)
			}
			transport := &http.Transport{DialContext: dialer.DialContext}
			k := newKit(t, row.url, gateway.WithHTTPClient(&http.Client{Transport: transport}))
			each(len(surfaces), func(i int) { k.call(of(t, row.id), surfaces[i], newMark()) })
			k.settle(nil)
		})
	}
}

// resolver asks a server of names that gives every question the code, or no answer
// when it is negative.
func resolver(t *testing.T, code int) *net.Resolver {
	t.Helper()
	server, err := (&net.ListenConfig{}).ListenPacket(t.Context(), "udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		buf := make([]byte, 1<<10)
		for {
			n, from, err := server.ReadFrom(buf)
			if errors.Is(err, net.ErrClosed) {
				return
			}
			if err != nil || code < 0 || n < 12 {
				continue
			}
			flags := binary.BigEndian.Uint16(buf[2:]) | 1<<15 | 1<<7 | uint16(code)
			binary.BigEndian.PutUint16(buf[2:], flags)
			binary.BigEndian.PutUint16(buf[10:], 0) // no additional records
			_, _ = server.WriteTo(question(buf[:n]), from)
		}
	}()
	t.Cleanup(func() { _ = server.Close(); <-done })
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "udp", server.LocalAddr().String())
	}}
}

// question cuts a message after its question.
func question(m []byte) []byte {
	at := 12
	for at < len(m) && m[at] != 0 {
		at += int(m[at]) + 1
	}
	return m[:min(at+5, len(m))]
}
