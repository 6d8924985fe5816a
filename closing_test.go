package gateway_test

import (
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/b650d4bf/gateway"
	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

// TestCloseWithinARetry closes the client in the pause before a retry: the call
// goes on with the token that there is. When that is refused, it fails as of a
// closed client, and asks no other target, which would have no token either.
func TestCloseWithinARetry(t *testing.T) {
	pause := fails(503).WithHeader("Retry-After", "3")
	for _, tt := range []struct {
		name  string
		then  vertextest.Reply
		wrong error
		asked int
	}{
		{"the token serves on", text("one"), nil, 2},
		{"the token is refused", fails(401), gateway.ErrClosed, 2},
	} {
		for name, stream := range map[string]bool{"whole": false, "streamed": true} {
			t.Run(tt.name+", "+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					srv := vertextest.New()
					defer srv.Close()
					srv.ScriptFor(first, pause, tt.then)
					c, err := gateway.ParseConfig([]byte(fallback(again(first, 1), to(second))))
					if err != nil {
						t.Fatal(err)
					}
					client, err := gateway.New(
						gateway.WithTokenSource(&tokenSource{}), gateway.WithProjectID("p"), gateway.WithRegion("global"),
						gateway.WithHTTPClient(&http.Client{Transport: srv.Transport()}), gateway.WithConfig(c),
					)
					if err != nil {
						t.Fatal(err)
					}
					time.AfterFunc(time.Second, func() { _ = client.Close() })
					answer, err := answerTo(t, client, hello(first), stream)
					if !errors.Is(err, tt.wrong) || err == nil && answer.Text() != "one" {
						t.Errorf("%v, want %v", err, tt.wrong)
					}
					if got := len(srv.Requests()); got != tt.asked {
						t.Errorf("%d requests, want %d", got, tt.asked)
					}
				})
			})
		}
	}
}
