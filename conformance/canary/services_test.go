package canary_test

import (
	"context"
	"fmt"
	"io"
	"iter"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/b650d4bf/gateway"
	"github.com/b650d4bf/gateway/logs"
)

// lines are a batch with canaries.
func (s *scene) lines() string {
	line := func(id, model string) string {
		return `{"custom_id":"` + id + `","method":"POST","url":"/v1/chat/completions","body":` + strings.NewReplacer("\n", "", "\t", "").Replace(s.chatBody(model)) + "}\n"
	}
	return line("one", "gemini-2.5-flash") + line("two", "gemini-2.5-flash") + `{"custom_id":"three","method":"POST","url":"/v1/chat/completions","body":{"model":7,"` + s.text("member of a line") + `":1}}`
}

// drain is the first error of a list.
func drain[T any](list iter.Seq2[T, error]) error {
	for _, err := range list {
		if err != nil {
			return err
		}
	}
	return nil
}

func read(r io.ReadCloser, err error) error {
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, r)
	_ = r.Close()
	return err
}

// serve uses files, batches and the platform's context caching, in Go and over HTTP, each
// after the emulator has taken what it builds on. From the call of a step on, the requests
// with the numbers of fails get the answers of the mode.
func (s *scene) serve(ctx context.Context, hasty *gateway.Client, fails func() func()) map[string]error {
	c, out := s.client, map[string]error{}
	step := func(name string, do func() error) {
		end := fails()
		out[name] = do()
		end()
	}
	file, err := c.Files.Create(ctx, &gateway.FileRequest{File: strings.NewReader(s.lines()), Filename: "a.jsonl", Purpose: gateway.PurposeBatch})
	if err != nil {
		return map[string]error{"setup of files": err}
	}
	batch, err := c.Batches.Create(ctx, &gateway.BatchRequest{InputFileID: file.ID, Endpoint: gateway.BatchChat, IdempotencyKey: "first"})
	if err != nil {
		return map[string]error{"setup of batches": err}
	}
	kept := &gateway.CachedContentRequest{Model: "@token/gemini-2.5-flash", TTL: time.Hour,
		Messages: []gateway.Message{gateway.SystemMessage(s.text("system text of cached content")), gateway.UserMessage(strings.Repeat(s.text("cached content")+" ", 800))}}
	cached, err := c.Caches.Create(ctx, kept)
	if err != nil {
		return map[string]error{"setup of caches": err}
	}
	c = hasty
	step("file", func() error {
		_, err := c.Files.Create(ctx, &gateway.FileRequest{File: strings.NewReader(s.lines()), Filename: "b.jsonl", Purpose: gateway.PurposeBatch})
		return err
	})
	step("file's state", func() error { _, err := c.Files.Get(ctx, file.ID); return err })
	step("file's content", func() error { return read(c.Files.Content(ctx, file.ID)) })
	step("files", func() error { return drain(c.Files.List(ctx, gateway.ListQuery{})) })
	step("batch", func() error {
		_, err := c.Batches.Create(ctx, &gateway.BatchRequest{InputFileID: file.ID, Endpoint: gateway.BatchChat, IdempotencyKey: "second"})
		return err
	})
	step("batch's state", func() error { _, err := c.Batches.Get(ctx, batch.ID); return err })
	step("batch's results", func() error { return drain(c.Batches.Results(ctx, batch.ID)) })
	step("batches", func() error { return drain(c.Batches.List(ctx, gateway.ListQuery{})) })
	step("batch's end", func() error { _, err := c.Batches.Cancel(ctx, batch.ID); return err })
	step("cached content", func() error { _, err := c.Caches.Create(ctx, kept); return err })
	step("cached content's state", func() error { _, err := c.Caches.Get(ctx, cached.Name); return err })
	step("cached contents", func() error { return drain(c.Caches.List(ctx)) })
	step("cached content's time", func() error {
		_, err := c.Caches.Extend(ctx, cached.Name, gateway.CachedContentExpiry{TTL: 2 * time.Hour})
		return err
	})
	step("cached content's end", func() error { return c.Caches.Delete(ctx, cached.Name) })
	step("file's end", func() error { return c.Files.Delete(ctx, file.ID) })
	return out
}

// serviceCalls are requests of the front about files, batches and cached content.
func (s *scene) serviceCalls() []call {
	const edge = "edge"
	form := "--" + edge + "\r\nContent-Disposition: form-data; name=\"purpose\"\r\n\r\nbatch\r\n--" + edge + "\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.jsonl\"\r\nContent-Type: application/jsonl\r\n\r\n" +
		s.lines() + "\r\n--" + edge + "--\r\n"
	return []call{
		{"HTTP file", "/v1/files", form, map[string]string{"Content-Type": "multipart/form-data; boundary=" + edge}},
		{"HTTP files", "/v1/files", "", nil}, {"HTTP batches", "/v1/batches", "", nil}, {"HTTP cached contents", "/v1/cached_contents", "", nil},
		{"HTTP batch", "/v1/batches", `{"input_file_id":"file-YS5qc29ubA","endpoint":"/v1/chat/completions","completion_window":"24h","metadata":{"order":"` + s.open("metadata of the request") + `"}}`, nil},
		{"HTTP cached content", "/v1/cached_contents", `{"model":"@token/gemini-2.5-flash","ttl_seconds":600,"messages":[{"role":"user","content":"` + s.text("cached content") + `"}]}`, nil},
	}
}

// TestErrorsOfServices has files, batches and cached content fail in many ways, at the
// first of their requests, and at later ones.
func TestErrorsOfServices(t *testing.T) {
	for name, fails := range failures() {
		for at := range int64(3) {
			if !slices.Contains([]string{"400", "echo of 401", "escaped echo of 401", "garbage", "garbage in JSON", "cut stream", "error in a stream"}, name) || at > 0 && name != "400" {
				continue // those that are tried again take seconds for each call
			}
			t.Run(fmt.Sprint(name, " at ", at), func(t *testing.T) {
				t.Parallel()
				f := newFlock(t, t.Name())
				k := openSinks(t, logs.Options{})
				s := sceneOf(t, f, gateway.WithLog(k.log), gateway.WithLogger(k.logger(&k.own)), gateway.WithBucket("gs://bucket/team"))
				hasty, err := s.client.With(gateway.WithTimeouts(gateway.Timeouts{FirstByte: 50 * time.Millisecond, Idle: 50 * time.Millisecond, Total: time.Second}))
				if err != nil {
					t.Fatal(err)
				}
				var failing atomic.Bool
				var n atomic.Int64
				s.platform.mode = func(q *http.Request, sent string) (*http.Response, error) {
					if failing.Load() && n.Add(1) > at {
						return fails(q, sent)
					}
					return s.platform.next.RoundTrip(q)
				}
				hidden := []kind{credential, content}
				if isEcho(name) {
					hidden = hidden[:1]
				}
				broken := 0
				for what, err := range s.serve(t.Context(), hasty, func() func() {
					n.Store(0)
					failing.Store(true)
					return func() { failing.Store(false) }
				}) {
					if strings.HasPrefix(what, "setup") {
						t.Fatalf("%s: %v", what, err)
					}
					if err != nil {
						broken++
					}
					s.refuse(t, what, seenOf(err), hidden...)
				}
				failing.Store(true)
				h := hasty.Handler(gateway.WithAPIKeys(s.secret("API key of the front")))
				for _, c := range s.serviceCalls() {
					n.Store(0)
					w := s.send(t.Context(), h, c, s.secret("API key of the front"))
					if w.Code >= 400 {
						broken++
					}
					s.refuse(t, c.name, shownByFront(w), hidden...)
				}
				if at == 0 && broken < 12 {
					t.Errorf("only %d calls failed", broken)
				}
				for where, text := range k.texts(t) {
					s.refuse(t, where, text, credential, content)
				}
			})
		}
	}
}
