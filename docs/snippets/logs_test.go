package snippets_test

import (
	"context"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"go.opentelemetry.io/otel"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/b650d4bf/gateway"
	"github.com/b650d4bf/gateway/analytics"
	"github.com/b650d4bf/gateway/logs"
	gatewayotel "github.com/b650d4bf/gateway/otel"
	"github.com/b650d4bf/gateway/prices"
	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

// TestGuideExistingCode is the way from an SDK to a cached, logged and traced call.
func TestGuideExistingCode(t *testing.T) {
	spans := tracetest.NewSpanRecorder()
	otel.SetTracerProvider(sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(spans)))
	platform := vertextest.New()
	defer platform.Close()
	platform.Script(vertextest.Text(reply))
	emulated := []gateway.ClientOption{
		gateway.WithAccessToken("token"), gateway.WithHTTPClient(&http.Client{Transport: platform.Transport()}),
	}
	mux := http.NewServeMux()
	build := func() (*openai.Client, *gateway.Client, error) {
		// snippet existing/after
		record, err := logs.New(logs.Options{Store: logs.NewMemory(0), Prices: prices.Default()})
		if err != nil {
			return nil, nil, err
		}
		traces, err := gatewayotel.New(gatewayotel.Options{})
		if err != nil {
			return nil, nil, err
		}
		client, err := gateway.New(append(emulated, // nothing, on the real platform
			gateway.WithProjectID("my-project"), gateway.WithRegion("global"),
			gateway.WithCache(gateway.Cache{Mode: gateway.CacheSimple, MaxAge: time.Hour}),
			gateway.WithLog(record), gateway.WithObserver(traces))...)
		if err != nil {
			return nil, nil, err
		}
		sdk := openai.NewClient(option.WithHTTPClient(&http.Client{Transport: client.RoundTripper()}))
		mux.Handle("/dashboard/", http.StripPrefix("/dashboard", client.Dashboard()))
		// end
		return &sdk, client, nil
	}
	sdk, client, err := build()
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		answer, err := sdk.Chat.Completions.New(t.Context(), openai.ChatCompletionNewParams{
			Model: "gemini-2.5-flash", Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage(question)},
		})
		if err != nil {
			t.Fatal(err)
		}
		expect(t, reply, answer.Choices[0].Message.Content, nil)
	}
	if err := client.Logs().Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	page, err := client.Logs().Store().Query(t.Context(), logs.Query{})
	if err != nil || len(page.Records) != 2 {
		t.Fatalf("%d records, %v", len(page.Records), err)
	}
	for i, want := range []string{"Cache Hit", "Cache Miss"} { // the newest first
		r := page.Records[i]
		if r.CacheStatus != want || r.Cost == nil || r.Surface != logs.SurfaceTransport {
			t.Errorf("record %d: %s, cost %v, surface %s; want %s", i, r.CacheStatus, r.Cost, r.Surface, want)
		}
	}
	if saved := page.Records[0].Saved; saved == nil || *saved != *page.Records[1].Cost {
		t.Errorf("the hit saved %v, the miss cost %v", saved, page.Records[1].Cost)
	}
	if n := len(spans.Ended()); n != 3 { // two calls, one request
		t.Errorf("%d spans, want 3", n)
	}
	answer := httptest.NewRecorder()
	mux.ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/dashboard/", nil))
	if answer.Code != http.StatusOK || !strings.Contains(answer.Body.String(), "<html") {
		t.Errorf("the dashboard answers %d", answer.Code)
	}
	if err := client.Logs().Close(t.Context()); err != nil {
		t.Error(err)
	}
	if err := client.Close(); err != nil {
		t.Error(err)
	}
}

func TestGuideLogsAndCosts(t *testing.T) {
	log.SetOutput(io.Discard)
	defer log.SetOutput(os.Stderr)
	file := t.TempDir() + "/calls.jsonl"
	open := func() (*logs.Log, error) {
		// snippet logs/open
		store, err := logs.OpenFile(file, logs.FileOptions{})
		if err != nil {
			return nil, err
		}
		record, err := logs.New(logs.Options{
			Store:  store,
			Prices: prices.Default(),
			// Content: true, to keep prompts and answers too
		})
		if err != nil {
			return nil, err
		}
		// end
		t.Cleanup(func() { _ = store.Close() })
		return record, nil
	}
	record, err := open()
	if err != nil {
		t.Fatal(err)
	}
	budget, err := func() (*prices.Budget, error) {
		// snippet logs/budget
		budget, err := prices.NewBudget(prices.BudgetOptions{
			Limits: []prices.Limit{{
				Name: "per team", By: prices.ByMetadata("team"), Window: prices.Monthly,
				Amount: 50 * prices.Dollar, Refuse: true,
			}},
			Shares:  []int{80, 100},
			OnShare: func(c prices.Crossing) { log.Print(c.Limit, " ", c.Value, ": ", c.Spent, " of ", c.Amount, " USD") },
		})
		if err != nil {
			return nil, err
		}
		// end
		return budget, nil
	}()
	if err != nil {
		t.Fatal(err)
	}
	platform := vertextest.New()
	defer platform.Close()
	client, err := gateway.New(gateway.WithProjectID("p"), gateway.WithRegion("global"), gateway.WithAccessToken("token"),
		gateway.WithHTTPClient(&http.Client{Transport: platform.Transport()}), gateway.WithLog(record), gateway.WithObserver(budget))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = client.Close() }()
	answer, err := client.Chat.Completions.Create(t.Context(), ask(), gateway.WithMetadata(map[string]string{"team": "search"}))
	if err != nil {
		t.Fatal(err)
	}
	if err := record.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	look := func(ctx context.Context) (int, error) {
		// snippet logs/query
		page, err := client.Logs().Store().Query(ctx, logs.Query{
			From:    time.Now().Add(-time.Hour),
			Filters: []logs.Filter{{Field: "metadata.team", Op: logs.Eq, Values: []string{"search"}}},
		})
		if err != nil {
			return 0, err
		}
		for _, r := range page.Records {
			log.Print(r.Time, " ", r.Model, " ", r.CacheStatus, " ", r.Tokens.Total, " ", r.Cost)
		}
		// end
		return len(page.Records), nil
	}
	if n, err := look(t.Context()); n != 1 || err != nil {
		t.Errorf("%d records, %v", n, err)
	}
	sum := func(ctx context.Context) (*analytics.Report, error) {
		// snippet logs/analytics
		report, err := client.Analytics(ctx, analytics.Query{
			From: time.Now().Add(-24 * time.Hour), To: time.Now(),
			GroupBy: []string{"model", "metadata.team"},
		})
		if err != nil {
			return nil, err
		}
		for _, g := range report.Groups {
			log.Print(g.Key, g.Totals.Requests, g.Totals.Cost, g.Totals.Duration.P95, g.Totals.Cache.HitRate)
		}
		// end
		return report, nil
	}
	if r, err := sum(t.Context()); err != nil || r.Total.Requests != 1 || r.Total.Cost <= 0 {
		t.Errorf("report %+v, %v", r, err)
	}
	rate := func(ctx context.Context) error {
		// snippet logs/feedback
		return client.Feedback(ctx, logs.Feedback{RecordID: answer.Meta.RequestID, Value: 1, Comment: "right"})
		// end
	}
	if err := rate(t.Context()); err != nil {
		t.Error(err)
	}
	if err := record.Close(t.Context()); err != nil {
		t.Error(err)
	}
}
