package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// certificate is where the files of the certificate for this machine are.
type certificate struct{ Cert, Key string }

// writeCertificate makes one that is its own authority.
func writeCertificate(dir string) (certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return certificate{}, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(48 * time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return certificate{}, err
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return certificate{}, err
	}
	c := certificate{filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")}
	return c, errors.Join(
		os.WriteFile(c.Cert, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert}), 0o600),
		os.WriteFile(c.Key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}), 0o600),
	)
}

// servers serve one handler over both protocols.
type servers struct {
	urls    map[string]string // by protocol
	list    []*http.Server
	running sync.WaitGroup
}

// serve listens on two free ports of this machine. A connection over HTTP/2 takes so
// many streams.
func serve(h http.Handler, c certificate, streams int) (*servers, error) {
	s := &servers{urls: map[string]string{}}
	for _, proto := range []string{h1, h2} {
		var lc net.ListenConfig
		l, err := lc.Listen(context.Background(), "tcp", "127.0.0.1:0")
		if err != nil {
			return nil, errors.Join(err, s.close())
		}
		server := &http.Server{Handler: h, ReadHeaderTimeout: time.Minute, HTTP2: &http.HTTP2Config{MaxConcurrentStreams: streams}}
		s.list = append(s.list, server)
		if proto == h1 {
			s.urls[proto] = "http://" + l.Addr().String()
			s.running.Go(func() { _ = server.Serve(l) }) // ends with close
			continue
		}
		s.urls[proto] = "https://" + l.Addr().String()
		s.running.Go(func() { _ = server.ServeTLS(l, c.Cert, c.Key) }) // ends with close
	}
	return s, nil
}

// close waits a little for requests under way, and ends what is left.
func (s *servers) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	var errs []error
	for _, server := range s.list {
		errs = append(errs, server.Shutdown(ctx), server.Close())
	}
	s.running.Wait()
	return errors.Join(errs...)
}

// newHTTPClient is a plain client that trusts the certificate and keeps all of its
// connections. Buffers are small: there are thousands.
func newHTTPClient(c certificate) (*http.Client, error) {
	text, err := os.ReadFile(c.Cert)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		return nil, errors.New("the certificate can't be read")
	}
	return &http.Client{Transport: &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS13}, ForceAttemptHTTP2: true,
		MaxIdleConnsPerHost: 1 << 20, IdleConnTimeout: 5 * time.Minute, DisableCompression: true,
	}}, nil
}
