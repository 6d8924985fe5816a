package gateway_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/b650d4bf/gateway"
	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

// TestACacheServesConversations goes the way of a cache from its creation to its
// end, as the platform has it.
func TestACacheServesConversations(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, ctx := platformClient(t, vertextest.New(vertextest.WithCacheMinimum(100))), t.Context()
		made, err := client.Caches.Create(ctx, &gateway.CachedContentRequest{
			Model: "gemini-2.5-flash", TTL: time.Hour,
			Messages: []gateway.Message{
				gateway.SystemMessage("Answer from the handbook."),
				gateway.UserMessage(strings.Repeat("All about the handbook. ", 100)),
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		ask := func() (*gateway.ChatCompletion, error) {
			q := &gateway.ChatCompletionRequest{Model: "gemini-2.5-flash", Messages: []gateway.Message{gateway.UserMessage("What is new?")}}
			if err := q.Extra.Set("cached_content", []byte(`"`+made.Name+`"`)); err != nil {
				t.Fatal(err)
			}
			return client.Chat.Completions.Create(ctx, q)
		}
		answer, err := ask()
		if err != nil {
			t.Fatal(err)
		}
		if u := answer.Usage; u.PromptTokensDetails.CachedTokens != made.Usage.TotalTokens || u.PromptTokens <= made.Usage.TotalTokens {
			t.Errorf("usage %+v of a cache with %d tokens", u, made.Usage.TotalTokens)
		}
		longer, err := client.Caches.Extend(ctx, made.Name, gateway.CachedContentExpiry{TTL: 3 * time.Hour})
		if err != nil || !longer.ExpireTime.After(made.ExpireTime) {
			t.Errorf("%v: %v, after %v", err, longer, made.ExpireTime)
		}
		listed := 0
		for c, err := range client.Caches.List(ctx) {
			if err != nil || c.Name != made.Name {
				t.Errorf("%v %v", c, err)
			}
			listed++
		}
		if listed != 1 {
			t.Errorf("%d are listed", listed)
		}
		time.Sleep(2 * time.Hour)
		if _, err := ask(); err != nil {
			t.Errorf("before its end: %v", err)
		}
		time.Sleep(2 * time.Hour)
		if _, err := ask(); !errors.Is(err, gateway.ErrCacheNotFound) {
			t.Errorf("after its end: %v", err)
		}
	})
}

func TestCountedTokensAreThoseOfTheAnswer(t *testing.T) {
	client := platformClient(t, vertextest.New())
	q := &gateway.ChatCompletionRequest{
		Model: "gemini-2.5-flash",
		Messages: []gateway.Message{
			gateway.SystemMessage("Be brief."), gateway.UserMessage([]gateway.ContentPart{gateway.TextPart("What is it?"), gateway.ImagePart("gs://b/a.png")}),
		},
		Tools: []gateway.Tool{gateway.FunctionTool("f", "does it", []byte(`{"type":"object","properties":{"a":{"type":"string"}}}`))},
	}
	count, err := client.Chat.Completions.CountTokens(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := client.Chat.Completions.Create(t.Context(), q)
	if err != nil || count.TotalTokens == 0 || count.TotalTokens != answer.Usage.PromptTokens {
		t.Errorf("%v: counted %d, used %+v", err, count.TotalTokens, answer.Usage)
	}
}

// platformClient returns a client of the emulator.
func platformClient(t *testing.T, srv *vertextest.Server) *gateway.Client {
	t.Helper()
	t.Cleanup(srv.Close)
	client, err := gateway.New(gateway.WithProjectID("p"), gateway.WithRegion("global"), gateway.WithAccessToken("token"),
		gateway.WithHTTPClient(&http.Client{Transport: srv.Transport()}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return client
}
