package vertex_test

import (
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/b650d4bf/gateway/providers"
)

// Quotas and front ends refuse on every wire in Google's form, and models in
// their own: whatever says how long to wait is read on each.
func TestRetryAfterOnEveryWire(t *testing.T) {
	forms := []struct {
		name   string
		header http.Header
		body   string
		want   time.Duration
	}{
		{"seconds", http.Header{"Retry-After": {"7"}}, `{"error":{"code":429,"message":"m","status":"RESOURCE_EXHAUSTED"}}`, 7 * time.Second},
		{"milliseconds", http.Header{"Retry-After-Ms": {"1500"}}, `{"error":{"code":429,"message":"m"}}`, 1500 * time.Millisecond},
		{"RetryInfo", nil, rpcError(429, "RESOURCE_EXHAUSTED", "m", `{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"34.5s"}`), 34500 * time.Millisecond},
		{"RetryInfo in a list", nil, "[" + rpcError(429, "RESOURCE_EXHAUSTED", "m", `{"retryDelay":"3s"}`) + "]", 3 * time.Second},
		{"the models' own form", http.Header{"Retry-After": {"2"}}, `{"type":"error","error":{"type":"rate_limit_error","message":"m"}}`, 2 * time.Second},
		{"the form of OpenAI", http.Header{"Retry-After": {"3"}}, `{"error":{"message":"m","type":"requests","code":"rate_limit_exceeded"}}`, 3 * time.Second},
		{"no envelope", http.Header{"Retry-After-Ms": {"40"}}, `{"detail":"slow down"}`, 40 * time.Millisecond},
		{"no JSON", http.Header{"Retry-After": {"4"}}, "<html>", 4 * time.Second},
	}
	for _, model := range []string{"gemini-3.5-flash", "anthropic/claude-sonnet-4-5", "meta/llama-4-maverick-17b-128e-instruct-maas", "mistralai/mistral-medium-3"} {
		for _, tt := range forms {
			t.Run(model+" "+tt.name, func(t *testing.T) {
				p := plays([]byte(tt.body))
				p.status, p.header = http.StatusTooManyRequests, tt.header
				provider := newProvider(t, p)
				_, err := provider.ChatCompletion(t.Context(), target(model), hello(t, model))
				checkWait(t, err, tt.want)
				_, err = provider.ChatCompletionStream(t.Context(), target(model), hello(t, model))
				checkWait(t, err, tt.want)
			})
		}
	}
}

func checkWait(t *testing.T, err error, want time.Duration) {
	t.Helper()
	e, ok := errors.AsType[*providers.Error](err)
	if !ok || e.RetryAfter != want || e.StatusCode != http.StatusTooManyRequests {
		t.Errorf("%v, want a 429 that asks for %v", err, want)
	}
}

func TestQuotasThatAreUsedUpAreToldApart(t *testing.T) {
	const message = "You exceeded your current quota."
	for _, tt := range []struct {
		name, detail string
		want         providers.Code
	}{
		{"a minute's", `{"violations":[{"quotaId":"GenerateContentPaidTierInputTokensPerModelPerMinute"}]}`, providers.ErrRateLimited},
		{"a day's", `{"violations":[{"quotaId":"PerMinute"},{"quotaId":"GenerateRequestsPerDayPerProjectPerModel-FreeTier"}]}`, providers.ErrQuotaExceeded},
		{"a day's, in ErrorInfo", `{"reason":"RATE_LIMIT_EXCEEDED","metadata":{"quota_limit":"GenerateRequestsPerDayPerProject"}}`, providers.ErrQuotaExceeded},
		{"violations that are no list", `{"violations":7}`, providers.ErrRateLimited},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := refused(t, 429, nil, rpcError(429, "RESOURCE_EXHAUSTED", message, tt.detail))
			if e.Code != tt.want || !errors.Is(e, providers.ErrRateLimited) {
				t.Errorf("%v, want %s", e, tt.want)
			}
		})
	}
}
