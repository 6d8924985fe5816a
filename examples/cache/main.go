// Cache answers what was asked before without a model: the same request, whole or
// as a stream, and one that means the same. It shows what parts tenants from each
// other, why a request missed, and how answers are replaced and deleted.
//
//	go -C examples run ./cache
//
// The platform is an emulator in the same process. With GOOGLE_CLOUD_PROJECT set,
// the calls go to the real one (GOOGLE_CLOUD_LOCATION, default global;
// GATEWAY_MODEL, default gemini-3-flash-preview).
package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"time"

	"github.com/b650d4bf/gateway"
	"github.com/b650d4bf/gateway/cache"
	"github.com/b650d4bf/gateway/examples/internal/demo"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Stdout, os.Getenv); err != nil {
		fmt.Fprintln(os.Stderr, "cache:", err)
		stop()
		os.Exit(1)
	}
}

// run shows everything on out.
func run(ctx context.Context, out io.Writer, getenv func(string) string) error {
	// A store of one's own could be shared by processes; this one is in memory.
	store, err := cache.NewMemory(cache.MemoryConfig{MaxBytes: 16 << 20})
	if err != nil {
		return err
	}
	defer func() { _ = store.Close() }()
	client, err := gateway.New(append(demo.Options(getenv),
		gateway.WithCacheStore(store),
		// The default threshold is 0.95; the vectors of the emulator know letters alone.
		gateway.WithCache(gateway.Cache{Mode: gateway.CacheSemantic, MaxAge: time.Hour, Threshold: 0.8}),
	)...)
	if err != nil {
		return err
	}
	defer func() { _ = client.Close() }()
	d := &show{client: client, page: demo.NewPage(out, getenv), model: cmp.Or(getenv("GATEWAY_MODEL"), "gemini-3-flash-preview")}
	for _, step := range []func(context.Context) error{d.same, d.tenants, d.why, d.manage} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// show asks, and prints what part the cache had.
type show struct {
	client *gateway.Client
	page   demo.Page
	model  string
}

func (d *show) request(question string) *gateway.ChatCompletionRequest {
	return &gateway.ChatCompletionRequest{Model: d.model, Messages: []gateway.Message{
		gateway.SystemMessage("You are terse."), gateway.UserMessage(question),
	}}
}

func (d *show) ask(ctx context.Context, question string, opts ...gateway.RequestOption) error {
	answer, err := d.client.Chat.Completions.Create(ctx, d.request(question), opts...)
	if err != nil {
		return err
	}
	d.page.Say(answer.Meta.CacheStatus.String(), question)
	return nil
}

// same asks the same again, as a stream too, and what means the same.
func (d *show) same(ctx context.Context) error {
	d.page.Title("1  The same, and what means the same")
	for range 2 {
		if err := d.ask(ctx, "How do I feed my cat?"); err != nil {
			return err
		}
	}
	stream, err := d.client.Chat.Completions.CreateStream(ctx, d.request("How do I feed my cat?"))
	if err != nil {
		return err
	}
	pieces := 0
	for _, err := range stream.Chunks() {
		if err != nil {
			return err
		}
		pieces++
	}
	d.page.Say(stream.Meta().CacheStatus.String(), fmt.Sprintf("How do I feed my cat? (as a stream of %d chunks)", pieces))
	// The last one is as similar, and asks for something else.
	for _, question := range []string{"How can I feed my cat?", "How do I feed my dog?"} {
		if err := d.ask(ctx, question); err != nil {
			return err
		}
	}
	return nil
}

// tenants asks for two tenants, by metadata and by namespace.
func (d *show) tenants(ctx context.Context) error {
	d.page.Title("2  Two tenants, and a namespace that they share")
	for _, tenant := range []string{"red", "blue"} {
		metadata := gateway.WithMetadata(map[string]string{"tenant": tenant})
		if err := d.ask(ctx, "How do I feed my cat?", metadata); err != nil {
			return err
		}
		if err := d.ask(ctx, "How do I feed my cat?", metadata, gateway.WithCacheNamespace("pets")); err != nil {
			return err
		}
	}
	return nil
}

// why asks the cache what it would do, and why.
func (d *show) why(ctx context.Context) error {
	d.page.Title("3  Why did it miss?")
	req := d.request("How do I feed my cat?")
	req.Temperature = new(0.5)
	got, err := d.client.ResponseCache.Inspect(ctx, req)
	if err != nil {
		return err
	}
	d.page.Say(got.Status.String(), "the nearest entry differs in: "+strings.Join(got.Differs, ", "))
	if got, err = d.client.ResponseCache.Inspect(ctx, d.request("How do I not feed my cat?")); err != nil {
		return err
	}
	for _, s := range got.Similar[:min(1, len(got.Similar))] {
		d.page.Say(got.Status.String(), fmt.Sprintf("an entry is %.2f similar, and refused: %s", s.Similarity, s.Refused))
	}
	return nil
}

// manage replaces and deletes answers.
func (d *show) manage(ctx context.Context) error {
	d.page.Title("4  Replace and delete")
	if err := d.ask(ctx, "How do I feed my cat?", gateway.WithCacheForceRefresh()); err != nil {
		return err
	}
	n, err := d.client.ResponseCache.DeleteNamespace(ctx, "pets")
	if err != nil {
		return err
	}
	s := d.client.ResponseCache.Stats()
	d.page.Say("", fmt.Sprintf("deleted %d of a namespace; %d hits, %d semantic, %d misses; %d entries are left", n, s.Hits, s.SemanticHits, s.Misses, s.Store.Entries))
	return nil
}
