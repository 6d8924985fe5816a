package transport_test

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/b650d4bf/gateway/internal/jsonx"
	"github.com/b650d4bf/gateway/internal/transport"
	"github.com/b650d4bf/gateway/providers"
)

// spoil takes buffers from the pool and writes over them, as other calls do.
func spoil() {
	var list []*jsonx.Buffer
	for range 64 {
		b := jsonx.GetBuffer()
		b.B = b.B[:cap(b.B)]
		for i := range b.B {
			b.B[i] = '#'
		}
		list = append(list, b)
	}
	for _, b := range list {
		b.B = b.B[:0]
		b.Free()
	}
}

// TestALateTransportReadsIntactBytes has a transport answer before it has read
// the request, as HTTP/2 does when the server answers early.
func TestALateTransportReadsIntactBytes(t *testing.T) {
	text := strings.Repeat("0123456789", 5000)
	for range 20 {
		var late sync.WaitGroup
		goOn := make(chan struct{})
		var got []byte
		rt := roundTrip(func(r *http.Request) (*http.Response, error) {
			late.Go(func() {
				<-goOn
				got, _ = readBody(r)
			})
			return answer(r, http.NoBody), nil
		})
		res, err := transport.New(rt, 0).Do(t.Context(), request(t, "https://h", text, providers.Timeouts{}))
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Close()
		spoil()
		close(goOn)
		spoil()
		late.Wait()
		if string(got) != text {
			t.Fatal("the transport read what another call wrote")
		}
	}
}

// TestATransportMayCloseTheBodyWhileItReads does what HTTP/2 does with a request
// that is given up. The race detector judges it.
func TestATransportMayCloseTheBodyWhileItReads(t *testing.T) {
	text := strings.Repeat("0123456789", 50_000)
	for range 50 {
		var both sync.WaitGroup
		rt := roundTrip(func(r *http.Request) (*http.Response, error) {
			both.Go(func() {
				piece := make([]byte, 1<<16)
				for {
					n, err := r.Body.Read(piece)
					if bytes.IndexByte(piece[:n], '#') >= 0 {
						t.Error("the transport read what another call wrote")
					}
					if err != nil {
						return
					}
				}
			})
			both.Go(func() { _ = r.Body.Close() })
			return nil, errors.New("given up")
		})
		_, _ = transport.New(rt, 0).Do(t.Context(), request(t, "https://h", text, providers.Timeouts{}))
		spoil()
		both.Wait()
	}
}

func TestAClosedBodyIsNotReadAgain(t *testing.T) {
	rt := roundTrip(func(r *http.Request) (*http.Response, error) {
		_ = r.Body.Close()
		_ = r.Body.Close()
		if _, err := r.Body.Read(make([]byte, 1)); !errors.Is(err, http.ErrBodyReadAfterClose) {
			t.Errorf("read: %v", err)
		}
		if w, ok := r.Body.(io.WriterTo); !ok {
			t.Error("the body can't be written without a buffer")
		} else if _, err := w.WriteTo(io.Discard); !errors.Is(err, http.ErrBodyReadAfterClose) {
			t.Errorf("write: %v", err)
		}
		return nil, errors.New("given up")
	})
	_, err := transport.New(rt, 0).Do(t.Context(), request(t, "https://h", "body", providers.Timeouts{}))
	if e := fault(t, err); e.Sent {
		t.Error("nothing was read, so nothing was sent")
	}
}

func TestGetBodyGivesTheWholeBodyAgain(t *testing.T) {
	rt := roundTrip(func(r *http.Request) (*http.Response, error) {
		if r.ContentLength != int64(len("body")) {
			t.Errorf("length %d", r.ContentLength)
		}
		_, _ = r.Body.Read(make([]byte, 2))
		_ = r.Body.Close()
		for range 3 {
			again, err := r.GetBody()
			if err != nil {
				t.Fatal(err)
			}
			data, err := io.ReadAll(again)
			if string(data) != "body" || err != nil || again.Close() != nil {
				t.Errorf("%q %v", data, err)
			}
		}
		return answer(r, http.NoBody), nil
	})
	res, err := transport.New(rt, 0).Do(t.Context(), request(t, "https://h", "body", providers.Timeouts{}))
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Close()
}

func TestAPayloadCanBeSentAgain(t *testing.T) {
	var got []string
	rt := roundTrip(func(r *http.Request) (*http.Response, error) {
		data, err := readBody(r)
		got = append(got, string(data))
		return answer(r, http.NoBody), err
	})
	c := transport.New(rt, 0)
	q := request(t, "https://h", "body", providers.Timeouts{})
	p := q.Body
	defer p.Release()
	for range 3 {
		p.Retain()
		q.Header = http.Header{}
		res, err := c.Do(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Close()
		_ = res.Close() // idempotent, so it gives one share up
		spoil()
	}
	if !slices.Equal(got, []string{"body", "body", "body"}) {
		t.Errorf("%q", got)
	}
}

func TestARequestMayHaveNoBody(t *testing.T) {
	rt := roundTrip(func(r *http.Request) (*http.Response, error) {
		if r.Body != nil || r.ContentLength != 0 || r.Method != http.MethodGet {
			t.Errorf("%s with %v, %d bytes", r.Method, r.Body, r.ContentLength)
		}
		return answer(r, http.NoBody), nil
	})
	q := request(t, "https://h", "", providers.Timeouts{})
	q.Body.Release()
	q.Body, q.Method = nil, http.MethodGet
	res, err := transport.New(rt, 0).Do(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Close()
}
