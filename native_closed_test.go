package gateway_test

import (
	"bufio"
	"net/http"
	"strings"
	"testing"

	"github.com/b650d4bf/gateway"
	"github.com/b650d4bf/gateway/logs"
	"github.com/b650d4bf/gateway/prices"
	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

// TestANativeStreamThatIsClosedCountsWhatHadCome checks that whoever leaves a stream
// before its end still pays for the events that were read.
func TestANativeStreamThatIsClosedCountsWhatHadCome(t *testing.T) {
	c, platform := logged(t, logs.Options{Prices: prices.Default()})
	event := func(tokens string) string {
		return `{"candidates":[{"content":{"role":"model","parts":[{"text":"a"}]}}],"usageMetadata":{"promptTokenCount":1000,"candidatesTokenCount":` + tokens + `}}`
	}
	platform.Script(vertextest.SSE(event("1"), event("100"), event("200"), event("300")))
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://gateway.example"+nativeStream, strings.NewReader(nativeHello))
	if err != nil {
		t.Fatal(err)
	}
	res, err := c.RoundTripper().RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	for lines, n := bufio.NewScanner(res.Body), 0; n < 2 && lines.Scan(); {
		if strings.HasPrefix(lines.Text(), "data: ") {
			n++
		}
	}
	_ = res.Body.Close()
	got := recorded(t, c)
	if len(got) != 1 || got[0].Error == nil || got[0].Error.Code != string(gateway.ErrCanceled) {
		t.Fatalf("%+v", got)
	}
	if u := got[0].Tokens; u == nil || u.Completion < 100 {
		t.Errorf("tokens %+v, cost %v", u, got[0].Cost)
	}
}
