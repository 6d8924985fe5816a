package gateway_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway"
	"github.com/b650d4bf/gateway/logs"
	"github.com/b650d4bf/gateway/prices"
	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

// TestNativeCallsAreLogged checks the records of calls in Google's own schema: their
// cost, and their content in that schema, a stream as the list of its events.
func TestNativeCallsAreLogged(t *testing.T) {
	store := logs.NewMemory(0)
	log, err := logs.New(logs.Options{Store: store, Prices: prices.Default(), Content: true})
	if err != nil {
		t.Fatal(err)
	}
	const answer = `{"candidates":[{"content":{"role":"model","parts":[{"text":"Hi"}]},"finishReason":"STOP",` +
		`"groundingMetadata":{"webSearchQueries":["a","b"]}}],"usageMetadata":{"promptTokenCount":1000,"candidatesTokenCount":100,"totalTokenCount":1100}}`
	c, platform := newClient(t, gateway.WithProjectID("p"), gateway.WithRegion("global"), gateway.WithLog(log))
	platform.Script(vertextest.JSON(200, answer), vertextest.Text("Hi there."))
	if _, _, err := postNative(t, c, nativePath); err != nil {
		t.Fatal(err)
	}
	_, events, err := postNative(t, c, nativeStream)
	if err != nil {
		t.Fatal(err)
	}
	if err := log.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	page, err := store.Query(t.Context(), logs.Query{})
	if err != nil || len(page.Records) != 2 {
		t.Fatalf("%d records, %v", len(page.Records), err)
	}
	whole, err := store.Get(t.Context(), page.Records[1].ID)
	if err != nil {
		t.Fatal(err)
	}
	// 1000 tokens at 0.30 and 100 at 2.50 dollars a million, and a grounded answer at 35 a thousand.
	if whole.Operation != "native.generateContent" || whole.Cost == nil || whole.Cost.String() != "0.03555" {
		t.Errorf("%s costs %v", whole.Operation, whole.Cost)
	}
	if whole.Content == nil || string(whole.Content.Response) != answer || !strings.Contains(string(whole.Content.Request), `"contents"`) {
		t.Errorf("content %+v", whole.Content)
	}
	streamed, err := store.Get(t.Context(), page.Records[0].ID)
	if err != nil || !streamed.Stream || streamed.Content == nil {
		t.Fatalf("%+v, %v", streamed, err)
	}
	var data []string
	for line := range strings.SplitSeq(events, "\n") {
		if d, ok := strings.CutPrefix(line, "data: "); ok {
			data = append(data, strings.TrimRight(d, "\r"))
		}
	}
	if diff := cmp.Diff("["+strings.Join(data, ",")+"]", string(streamed.Content.Response)); diff != "" {
		t.Errorf("the stream's content (-sent +kept):\n%s", diff)
	}
}

// TestABudgetHoldsForNativeCalls checks that a limit that is used up ends them before
// anything is sent, whole and streamed.
func TestABudgetHoldsForNativeCalls(t *testing.T) {
	budget, err := prices.NewBudget(prices.BudgetOptions{Limits: []prices.Limit{{
		Name: "all", By: prices.ByAll, Window: prices.Daily, Amount: 1, Refuse: true,
	}}})
	if err != nil {
		t.Fatal(err)
	}
	c, platform := newClient(t, gateway.WithProjectID("p"), gateway.WithRegion("global"), gateway.WithObserver(budget))
	if _, err := c.Chat.Completions.Create(t.Context(), &gateway.ChatCompletionRequest{
		Model: "gemini-2.5-flash", Messages: []gateway.Message{gateway.UserMessage("Hi")},
	}); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{nativePath, nativeStream} {
		res, body, err := postNative(t, c, path)
		if err != nil || res.StatusCode != 429 || !strings.Contains(body, "RESOURCE_EXHAUSTED") {
			t.Errorf("%s: %d %s, %v", path, res.StatusCode, body, err)
		}
	}
	if n := len(platform.Requests()); n != 1 {
		t.Errorf("%d requests, want 1", n)
	}
	_, err = c.Chat.Completions.Create(t.Context(), &gateway.ChatCompletionRequest{
		Model: "gemini-2.5-flash", Messages: []gateway.Message{gateway.UserMessage("Hi")},
	})
	if !errors.Is(err, gateway.ErrQuotaExceeded) {
		t.Errorf("a chat: %v", err)
	}
}
