package vertex_test

import (
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"

	"github.com/b650d4bf/gateway/providers"
	"github.com/b650d4bf/gateway/providers/vertex"
)

const megabyte = 1 << 20

// drain is a transport that reads the body as a socket does, in small pieces,
// and keeps nothing but its length.
type drain struct {
	piece []byte
	sent  int
}

func newDrain() *drain { return &drain{piece: make([]byte, 32<<10)} }

func (d *drain) RoundTrip(r *http.Request) (*http.Response, error) {
	d.sent = 0
	for {
		n, err := r.Body.Read(d.piece)
		d.sent += n
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
	}
	if err := r.Body.Close(); err != nil {
		return nil, err
	}
	return &http.Response{
		StatusCode: http.StatusOK, ContentLength: -1, Request: r,
		Body: io.NopCloser(strings.NewReader(okAnswer)),
	}, nil
}

// pictures is a request with inline images of so many bytes of base64 each, and
// text behind them.
func pictures(sizes ...int) *providers.ChatCompletionRequest {
	var parts []providers.ContentPart
	for _, n := range sizes {
		parts = append(parts, providers.ImagePart("data:image/png;base64,"+strings.Repeat("iVBO", n/4)))
	}
	parts = append(parts, providers.TextPart(strings.Repeat("What is this? ", 1000)))
	return &providers.ChatCompletionRequest{
		Model:    "gemini-3.5-flash",
		Messages: []providers.Message{providers.UserMessage(parts)},
	}
}

// TestInlineMediaIsCopiedOnce counts the bytes allocated on the way from the
// request to the socket. With the caller's own string they are at most 2.2
// times the payload.
func TestInlineMediaIsCopiedOnce(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	for _, sizes := range [][]int{
		{20 * megabyte},
		{megabyte, 2 * megabyte, 3 * megabyte, 6 * megabyte, 8 * megabyte},
		{80 << 10, 80 << 10, 20 * megabyte},
	} {
		q := pictures(sizes...)
		payload := 0
		for _, n := range sizes {
			payload += n
		}
		d := newDrain()
		p := vertex.New(vertex.Config{Transport: d, MaxInlineBytes: 64 * megabyte})
		least := ^uint64(0)
		for range 3 { // other tests' leftovers count once at most
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			if _, err := p.ChatCompletion(t.Context(), target(q.Model), q); err != nil {
				t.Fatal(err)
			}
			runtime.ReadMemStats(&after)
			least = min(least, after.TotalAlloc-before.TotalAlloc)
		}
		if d.sent < payload {
			t.Errorf("%d bytes were sent, and the payload has %d", d.sent, payload)
		}
		if all := uint64(payload) + least; float64(all) > 2.2*float64(payload) {
			t.Errorf("%v: %.2f times the payload", sizes, float64(all)/float64(payload))
		}
	}
}

// BenchmarkInlineImage sends 20 MB of base64. B/op is to stay near its size: one
// copy.
func BenchmarkInlineImage(b *testing.B) {
	for _, n := range []int{1, 20} {
		b.Run(fmt.Sprintf("%dMB", n), func(b *testing.B) {
			q := pictures(n * megabyte)
			p := vertex.New(vertex.Config{Transport: newDrain(), MaxInlineBytes: 64 * megabyte})
			b.SetBytes(int64(n * megabyte))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := p.ChatCompletion(b.Context(), target(q.Model), q); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
