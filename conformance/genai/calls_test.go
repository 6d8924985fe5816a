package genai_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/genai"

	"github.com/b650d4bf/gateway"
	"github.com/b650d4bf/gateway/providers"
	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

func TestErrors(t *testing.T) {
	tests := []struct {
		name, model string
		config      *genai.GenerateContentConfig
		reply       vertextest.Reply
		code        int
		status      string
		says        string
		sent        int
	}{
		{"a quota", flash25, nil, vertextest.RateLimited(7 * time.Second), 429, "RESOURCE_EXHAUSTED", "Resource exhausted", 1},
		{"no room", flash25, nil, vertextest.Error(503, "UNAVAILABLE", "Later"), 503, "UNAVAILABLE", "Later", 1},
		{"no permission", flash25, nil, vertextest.Error(403, "PERMISSION_DENIED", "No"), 403, "PERMISSION_DENIED", "No", 1},
		{"what the platform refuses", flash25, &genai.GenerateContentConfig{Temperature: genai.Ptr[float32](9)}, vertextest.Auto(), 400, "INVALID_ARGUMENT", "temperature", 1},
		{"a model that is not there", "gemini-0", nil, vertextest.Auto(), 404, "NOT_FOUND", "gemini-0", 1},
		{"a model of another family", "anthropic/claude-haiku-4-5", nil, vertextest.Auto(), 400, "INVALID_ARGUMENT", "Google's own schema", 0},
		{"an unknown slug", "@none/gemini", nil, vertextest.Auto(), 404, "NOT_FOUND", "none", 0},
		{"a header that is none", flash25, with("x-gateway-nonsense", "1"), vertextest.Auto(), 400, "INVALID_ARGUMENT", "no such header", 0},
		{"params in other names", flash25, with("x-gateway-config", "changed"), vertextest.Auto(), 400, "FAILED_PRECONDITION", "OpenAI's names", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			everyWay(t, func(t *testing.T, s *stage, c *genai.Client) {
				for _, streamed := range []bool{false, true} {
					s.platform.Reset()
					s.platform.Script(tt.reply)
					var err error
					if streamed {
						_, _, err = collect(t.Context(), c, tt.model, genai.Text("Hi"), tt.config)
					} else {
						_, err = c.Models.GenerateContent(t.Context(), tt.model, genai.Text("Hi"), tt.config)
					}
					wantError(t, err, tt.code, tt.status, tt.says)
					if n := len(s.platform.Requests()); n != tt.sent {
						t.Errorf("%d requests", n)
					}
				}
			})
		})
	}
}

// The details of the platform's errors come through.
func TestErrorDetails(t *testing.T) {
	everyWay(t, func(t *testing.T, s *stage, c *genai.Client) {
		s.platform.Script(vertextest.RateLimited(7 * time.Second))
		_, err := c.Models.GenerateContent(t.Context(), flash25, genai.Text("Hi"), nil)
		e, ok := errors.AsType[genai.APIError](err)
		if !ok || !slices.ContainsFunc(e.Details, func(d map[string]any) bool { return d["retryDelay"] == "7s" }) {
			t.Errorf("%v", err)
		}
	})
}

// What the platform has no answer to is no error to the client, which reads why.
func TestBlockedPrompt(t *testing.T) {
	everyWay(t, func(t *testing.T, s *stage, c *genai.Client) {
		s.platform.Script(vertextest.Blocked("PROHIBITED_CONTENT"), vertextest.Blocked("PROHIBITED_CONTENT"))
		got, err := c.Models.GenerateContent(t.Context(), flash25, genai.Text("Hi"), nil)
		if err != nil || got.PromptFeedback == nil || got.PromptFeedback.BlockReason != genai.BlockedReasonProhibitedContent {
			t.Errorf("%+v, %v", got, err)
		}
		parts, _, err := collect(t.Context(), c, flash25, genai.Text("Hi"), nil)
		if err != nil || len(parts) != 1 || parts[0].PromptFeedback == nil {
			t.Errorf("%+v, %v", parts, err)
		}
	})
}

// A stream that breaks is an error to the client, and no short answer.
func TestBrokenStream(t *testing.T) {
	const words = "one two three four five six seven eight nine ten"
	tests := []struct {
		name  string
		reply vertextest.Reply
		code  int
	}{
		{"by its end", vertextest.Text(words).CutAfterEvents(2), 502},
		{"within an event", vertextest.Text(words).CutAfter(700), 502},
		{"by an error", vertextest.Text(words).FailAfterEvents(2, 503, "UNAVAILABLE", "Later"), 503},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			everyWay(t, func(t *testing.T, s *stage, c *genai.Client) {
				s.platform.Script(tt.reply)
				parts, text, err := collect(t.Context(), c, flash25, genai.Text("Count!"), nil)
				if len(parts) == 0 || !strings.HasPrefix(words, text) {
					t.Errorf("%d parts: %q", len(parts), text)
				}
				wantError(t, err, tt.code, "UNAVAILABLE", "")
			})
		})
	}
}

func TestCancel(t *testing.T) {
	everyWay(t, func(t *testing.T, s *stage, c *genai.Client) {
		s.platform.Script(vertextest.Text(strings.Repeat("word ", 1000)).Paced(20 * time.Millisecond))
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var last error
		for _, err := range c.Models.GenerateContentStream(ctx, flash25, genai.Text("Count!"), nil) {
			last = err
			cancel()
		}
		if !errors.Is(last, context.Canceled) {
			t.Errorf("error %v", last)
		}
		s.platform.Script(vertextest.Text("late").After(time.Minute))
		ctx, cancel = context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		if _, err := c.Models.GenerateContent(ctx, flash25, genai.Text("Hi"), nil); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v", err)
		}
	})
}

func TestFallback(t *testing.T) {
	everyWay(t, func(t *testing.T, s *stage, c *genai.Client) {
		for _, config := range []string{"twice", "again"} {
			for _, streamed := range []bool{false, true} {
				s.platform.Reset()
				s.platform.Script(vertextest.Overloaded(), vertextest.Text("second"))
				var text, attempts string
				if streamed {
					parts, all, err := collect(t.Context(), c, flash25, genai.Text("Hi"), with("x-gateway-config", config))
					if err != nil {
						t.Fatal(err)
					}
					text, attempts = all, parts[0].SDKHTTPResponse.Headers.Get("X-Gateway-Attempts")
				} else {
					got, err := c.Models.GenerateContent(t.Context(), flash25, genai.Text("Hi"), with("x-gateway-config", config))
					if err != nil {
						t.Fatal(err)
					}
					text, attempts = got.Text(), got.SDKHTTPResponse.Headers.Get("X-Gateway-Attempts")
				}
				if text != "second" || attempts != "2" {
					t.Errorf("%s, streamed=%v: %q after %s attempts", config, streamed, text, attempts)
				}
				list := s.platform.Requests()
				if want := map[string]string{"twice": "q", "again": "p"}[config]; len(list) != 2 || list[1].Project != want {
					t.Errorf("%s: asked %d, the last in %s", config, len(list), list[len(list)-1].Project)
				}
			}
		}
	})
}

func TestBalance(t *testing.T) {
	s := start(t)
	c := s.connect(t, ways[0])
	seen := map[string]int{}
	for range 40 {
		if _, err := c.Models.GenerateContent(t.Context(), flash25, genai.Text("Hi"), with("x-gateway-config", "spread")); err != nil {
			t.Fatal(err)
		}
	}
	for _, r := range s.platform.Requests() {
		seen[r.Project+" "+r.Location]++
	}
	if seen["p global"] == 0 || seen["q europe-west4"] == 0 || len(seen) != 2 {
		t.Errorf("asked %v", seen)
	}
}

func TestRenamedModel(t *testing.T) {
	everyWay(t, func(t *testing.T, s *stage, c *genai.Client) {
		if _, err := c.Models.GenerateContent(t.Context(), flash25, genai.Text("Hi"), with("x-gateway-config", "renamed")); err != nil {
			t.Fatal(err)
		}
		if r := s.platform.Requests()[0]; r.Model != flash38 {
			t.Errorf("asked %s", r.Model)
		}
	})
}

func TestCache(t *testing.T) {
	everyWay(t, func(t *testing.T, s *stage, c *genai.Client) {
		ask := func(streamed bool, config *genai.GenerateContentConfig) (text, status string) {
			t.Helper()
			if !streamed {
				got, err := c.Models.GenerateContent(t.Context(), flash25, genai.Text("Hi"), config)
				if err != nil {
					t.Fatal(err)
				}
				return got.Text(), got.SDKHTTPResponse.Headers.Get("X-Gateway-Cache-Status")
			}
			parts, text, err := collect(t.Context(), c, flash25, genai.Text("Hi"), config)
			if err != nil {
				t.Fatal(err)
			}
			return text, parts[0].SDKHTTPResponse.Headers.Get("X-Gateway-Cache-Status")
		}
		for _, streamed := range []bool{false, true} {
			s.platform.Script(vertextest.Text("one two three"), vertextest.Text("another"))
			for i, want := range []struct{ text, status string }{{"one two three", "miss"}, {"one two three", "hit"}} {
				if text, status := ask(streamed, with()); text != want.text || status != want.status {
					t.Errorf("streamed=%v, %d: %q %s", streamed, i, text, status)
				}
			}
			if text, status := ask(streamed, with("x-gateway-cache-force-refresh", "true")); text != "another" || status != "refreshed" {
				t.Errorf("streamed=%v: %q %s", streamed, text, status)
			}
			if text, status := ask(streamed, with()); text != "another" || status != "hit" {
				t.Errorf("streamed=%v: %q %s", streamed, text, status)
			}
		}
		if n := len(s.platform.Requests()); n != 4 {
			t.Errorf("%d requests", n)
		}
		// Answers that rest on searches, and those that broke, are not kept.
		s.platform.Reset()
		searching := &genai.GenerateContentConfig{Tools: []*genai.Tool{{GoogleSearch: &genai.GoogleSearch{}}}}
		for range 2 {
			if _, status := ask(true, searching); status == "hit" {
				t.Error("a search was kept")
			}
		}
		s.platform.Script(vertextest.Text("cut off here and there").CutAfterEvents(2), vertextest.Text("whole"))
		if _, _, err := collect(t.Context(), c, flash38, genai.Text("Cut?"), nil); err == nil {
			t.Error("no error")
		}
		if _, text, err := collect(t.Context(), c, flash38, genai.Text("Cut?"), nil); text != "whole" || err != nil {
			t.Errorf("%q, %v", text, err)
		}
	}, gateway.WithCache(gateway.Cache{Mode: "simple"}))
}

func TestKeys(t *testing.T) {
	s := start(t)
	for _, w := range ways[:3] {
		config := w.config(s)
		if config.APIKey != "" {
			config.APIKey = "wrong"
		} else {
			config.HTTPOptions.Headers.Set("X-Gateway-Api-Key", "wrong")
		}
		c, err := genai.NewClient(t.Context(), config)
		if err != nil {
			t.Fatal(err)
		}
		_, err = c.Models.GenerateContent(t.Context(), flash25, genai.Text("Hi"), nil)
		wantError(t, err, 401, "UNAUTHENTICATED", "x-goog-api-key")
	}
	if n := len(s.platform.Requests()); n != 0 {
		t.Errorf("%d requests", n)
	}
}

// Without a default of the gateway's, the path says where to ask.
func TestPlaceOfThePath(t *testing.T) {
	platform := vertextest.New()
	t.Cleanup(platform.Close)
	client, err := gateway.New(gateway.WithAccessToken("token"), gateway.WithProjectID("ours"), gateway.WithRegion("global"),
		gateway.WithHTTPClient(&http.Client{Transport: platform.Transport()}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	server := httptest.NewServer(client.Handler())
	t.Cleanup(server.Close)
	s := &stage{platform: platform, client: client, url: server.URL}
	for _, w := range ways {
		platform.Reset()
		if _, err := s.connect(t, w).Models.GenerateContent(t.Context(), flash25, genai.Text("Hi"), nil); err != nil {
			t.Fatal(err)
		}
		want := "ours global"
		if strings.HasPrefix(w.name, "vertex") && w.name != "vertex with a key" {
			want = "theirs us-central1"
		}
		if r := platform.Requests()[0]; r.Project+" "+r.Location != want {
			t.Errorf("%s: asked in %s %s", w.name, r.Project, r.Location)
		}
	}
	c := s.connect(t, ways[1])
	_, err = c.Models.GenerateContent(t.Context(), flash25, genai.Text("Hi"), with("x-gateway-vertex-project-id", "named", "x-gateway-vertex-region", "eu"))
	if list := platform.Requests(); err != nil || list[len(list)-1].Project != "named" || list[len(list)-1].Location != "eu" {
		t.Errorf("asked in %s, %v", list[len(list)-1].Project, err)
	}
}

// What is not passed on says so, in the client's own error.
func TestUnserved(t *testing.T) {
	s := start(t)
	c := s.connect(t, ways[0])
	_, err := c.Caches.Create(t.Context(), flash25, &genai.CreateCachedContentConfig{Contents: genai.Text("Long.")})
	wantError(t, err, 501, "UNIMPLEMENTED", "/v1/cached_contents")
	_, err = c.Files.Get(t.Context(), "files/abc", nil)
	wantError(t, err, 501, "UNIMPLEMENTED", "/v1/files")
	_, err = c.Files.Upload(t.Context(), strings.NewReader("text"), &genai.UploadFileConfig{MIMEType: "text/plain"})
	if err == nil || !strings.Contains(err.Error(), "501") || !strings.Contains(err.Error(), "/v1/files") { // whose error is text
		t.Errorf("error %v", err)
	}
	_, err = s.connect(t, ways[1]).Tunings.List(t.Context(), nil)
	wantError(t, err, 501, "UNIMPLEMENTED", "tune at the platform")
	_, err = c.Models.GenerateVideos(t.Context(), "veo-3.0-generate-001", "A cat.", nil, nil)
	wantError(t, err, 501, "UNIMPLEMENTED", "method")
	if _, err = c.Live.Connect(t.Context(), flash25, nil); err == nil {
		t.Error("a live session")
	}
	if n := len(s.platform.Requests()); n != 0 {
		t.Errorf("%d requests", n)
	}
}

func TestGuards(t *testing.T) {
	judge := func(mode providers.GuardMode) gateway.ClientOption {
		return gateway.WithGuards(gateway.Guard{Name: "judge", Mode: mode, Request: func(context.Context, *providers.ChatCompletionRequest) (*providers.ChatCompletionRequest, error) {
			return nil, errors.New("asked")
		}})
	}
	everyWay(t, func(t *testing.T, s *stage, c *genai.Client) {
		_, err := c.Models.GenerateContent(t.Context(), flash25, genai.Text("Hi"), nil)
		wantError(t, err, 400, "FAILED_PRECONDITION", "the guard judge")
		_, _, err = collect(t.Context(), c, flash25, genai.Text("Hi"), nil)
		wantError(t, err, 400, "FAILED_PRECONDITION", "the guard judge")
		if n := len(s.platform.Requests()); n != 0 {
			t.Errorf("%d requests", n)
		}
		if _, err = c.Models.CountTokens(t.Context(), flash25, genai.Text("Hi"), nil); err != nil {
			t.Error(err)
		}
	}, judge(providers.GuardDeny))
	everyWay(t, func(t *testing.T, _ *stage, c *genai.Client) {
		if _, err := c.Models.GenerateContent(t.Context(), flash25, genai.Text("Hi"), nil); err != nil {
			t.Error(err)
		}
	}, judge(providers.GuardObserve))
}

// watcher keeps what observers are told.
type watcher struct {
	mu   sync.Mutex
	list []providers.Record
}

func (w *watcher) CallStart(ctx context.Context, _ providers.Call) context.Context { return ctx }

func (w *watcher) CallEnd(_ context.Context, r providers.Record) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.list = append(w.list, r)
}

func TestRecords(t *testing.T) {
	for _, way := range ways {
		t.Run(way.name, func(t *testing.T) {
			w := new(watcher)
			s := start(t, gateway.WithObserver(w), gateway.WithMetadataLabels("team_"))
			c := s.connect(t, way)
			if _, err := c.Models.GenerateContent(t.Context(), flash25, genai.Text("Hi"), with("x-gateway-metadata", `{"A":"B"}`)); err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(s.sent(), `"labels":{"team_a":"b"}`) {
				t.Errorf("sent %s", s.sent())
			}
			if _, _, err := collect(t.Context(), c, flash25, genai.Text("Hi"), nil); err != nil {
				t.Fatal(err)
			}
			s.platform.Script(vertextest.Text("one two three four five six").CutAfterEvents(2))
			_, _, _ = collect(t.Context(), c, flash25, genai.Text("Hi"), nil)
			if _, err := c.Models.CountTokens(t.Context(), flash25, genai.Text("Hi"), nil); err != nil {
				t.Fatal(err)
			}
			w.mu.Lock()
			defer w.mu.Unlock()
			var got []string
			for _, r := range w.list {
				got = append(got, fmt.Sprintf("%s %v %s %v %v", r.Operation, r.Stream, r.FinishReason, r.Usage != nil, errors.Is(r.Err, providers.ErrStreamCut)))
				if r.Meta.Provider != "vertex-ai" || r.Meta.Model != flash25 || len(r.Meta.Attempts) != 1 || r.Operation == "native.generateContent" && (r.ResponseID == "" || r.ResponseModel == "") {
					t.Errorf("record %+v", r)
				}
			}
			want := []string{"native.generateContent false stop true false", "native.generateContent true stop true false", "native.generateContent true  ", "native.countTokens false  false false"}
			if len(got) != 4 || got[0] != want[0] || got[1] != want[1] || !strings.HasPrefix(got[2], want[2]) || !strings.HasSuffix(got[2], "true") || got[3] != want[3] {
				t.Errorf("records %q", got)
			}
		})
	}
}

// Many calls at once, some of which are given up, leave nothing behind.
func TestConcurrency(t *testing.T) {
	s := start(t, gateway.WithCache(gateway.Cache{Mode: "simple"}))
	list := make([]*genai.Client, 0, len(ways))
	for _, w := range ways {
		list = append(list, s.connect(t, w))
	}
	if _, err := list[0].Models.GenerateContent(t.Context(), flash25, genai.Text("Warm up."), nil); err != nil {
		t.Fatal(err)
	}
	before := runtime.NumGoroutine()
	var group sync.WaitGroup
	for i := range 60 {
		group.Go(func() {
			c, prompt := list[i%len(list)], fmt.Sprintf("Question %d.", i%7)
			for part, err := range c.Models.GenerateContentStream(t.Context(), flash25, genai.Text(prompt), nil) {
				if err != nil || part == nil {
					t.Errorf("stream: %v", err)
				}
				if i%3 == 0 {
					break
				}
			}
			if got, err := c.Models.GenerateContent(t.Context(), flash25, genai.Text(prompt), nil); err != nil || got.Text() == "" {
				t.Errorf("answer: %v", err)
			}
		})
	}
	group.Wait()
	http.DefaultClient.CloseIdleConnections()
	for _, c := range list {
		c.ClientConfig().HTTPClient.CloseIdleConnections()
	}
	for range 100 {
		if runtime.NumGoroutine() <= before+4 { // those of the server's idle connections
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	buf := make([]byte, 1<<20)
	t.Errorf("%d goroutines after %d:\n%s", runtime.NumGoroutine(), before, buf[:runtime.Stack(buf, true)])
}
