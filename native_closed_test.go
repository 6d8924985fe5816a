package gateway_test

import (
	"bufio"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/b650d4bf/gateway"
	"github.com/b650d4bf/gateway/logs"
	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

// TestAClosedNativeStreamIsCounted checks that who leaves a stream pays for what the
// platform had counted until then, and not for the first event alone.
func TestAClosedNativeStreamIsCounted(t *testing.T) {
	store := logs.NewMemory(0)
	log, err := logs.New(logs.Options{Store: store})
	if err != nil {
		t.Fatal(err)
	}
	c, platform := newClient(t, gateway.WithProjectID("p"), gateway.WithRegion("global"), gateway.WithLog(log))
	event := func(text, count string) string {
		return `{"candidates":[{"content":{"role":"model","parts":[{"text":"` + text + `"}]}}],"usageMetadata":{"promptTokenCount":5,` + count + `}}`
	}
	platform.Script(vertextest.SSE(event("a", `"totalTokenCount":5`), event("b", `"candidatesTokenCount":900,"totalTokenCount":905`), event("c", `"candidatesTokenCount":950,"totalTokenCount":955`)))
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://gateway.example"+nativeStream, strings.NewReader(nativeHello))
	if err != nil {
		t.Fatal(err)
	}
	res, err := c.RoundTripper().RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	in := bufio.NewReaderSize(io.LimitReader(res.Body, 1<<20), 16)
	for range 3 { // the first event, an empty line, and the second one
		if _, err := in.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
	}
	if err := res.Body.Close(); err != nil {
		t.Error(err)
	}
	if err := log.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	page, err := store.Query(t.Context(), logs.Query{})
	if err != nil || len(page.Records) != 1 {
		t.Fatalf("%d records, %v", len(page.Records), err)
	}
	got := page.Records[0]
	if got.Error == nil || got.Error.Code != string(gateway.ErrCanceled) || got.Tokens == nil || got.Tokens.Completion < 900 {
		t.Errorf("error %+v, tokens %+v", got.Error, got.Tokens)
	}
}
