package gatewayotel_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/trace"

	"github.com/b650d4bf/gateway"
	gatewayotel "github.com/b650d4bf/gateway/otel"
	"github.com/b650d4bf/gateway/providers"
	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

func TestHedgesAreCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSetup(t, gatewayotel.Options{}, withConfig(t, `{"targets": [{"name": "main", "hedge": {"after": 1000}}]}`))
		s.platform.Script(vertextest.Text("slow").After(time.Minute), vertextest.Text("quick"))
		s.chat(t, ask("Hi."))
		synctest.Wait()
		golden(t, "hedge.txt", s.tree())
		known(t, s)
	})
}

func TestAttemptsCanBeLeftOut(t *testing.T) {
	s := newSetup(t, gatewayotel.Options{NoAttempts: true})
	s.chat(t, ask("Hi."))
	if n := len(s.spans.GetSpans()); n != 1 {
		t.Errorf("%d spans", n)
	}
	if v, ok := s.find(t, "chat gemini-2.5-flash", "gateway.attempt.count"); !ok || v.AsInt64() != 1 {
		t.Errorf("%v attempts", v.AsInt64())
	}
}

func TestProvidersAndModelsHaveTheirNames(t *testing.T) {
	tests := []struct {
		provider, slug, want string
		name                 func(provider, slug string) string
	}{
		{"vertex-ai", "", "gcp.vertex_ai", nil},
		{"google", "g", "gcp.gemini", nil},
		{"anthropic", "", "anthropic", nil},
		{"openai", "", "openai", nil},
		{"openai-compatible", "mine", "openai-compatible", nil},
		{"openai-compatible", "mine", "groq", func(_, slug string) string { return map[string]string{"mine": "groq"}[slug] }},
		{"vertex-ai", "other", "gcp.vertex_ai", func(_, slug string) string { return map[string]string{"mine": "groq"}[slug] }},
		{"", "", "gateway", nil},
	}
	for _, tt := range tests {
		t.Run(tt.provider+"/"+tt.slug+" is "+tt.want, func(t *testing.T) {
			s := newSetup(t, gatewayotel.Options{ProviderName: tt.name})
			s.end(t, gatewayotel.Options{ProviderName: tt.name}, providers.Record{
				Call: providers.Call{Operation: "chat", Model: "@mine/m"},
				Meta: providers.Meta{Provider: tt.provider, Slug: tt.slug},
			})
			got, _ := s.find(t, "chat m", "gen_ai.provider.name")
			if diff := cmp.Diff(tt.want, got.AsString()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// end tells another observer of a call that began and ended as the record says.
func (s *setup) end(t *testing.T, opts gatewayotel.Options, r providers.Record) {
	t.Helper()
	opts.TracerProvider, opts.MeterProvider = s.tracers, s.meters
	o, err := gatewayotel.New(opts)
	if err != nil {
		t.Fatal(err)
	}
	r.Start = s.start
	ctx := o.CallStart(t.Context(), r.Call)
	o.CallEnd(ctx, r)
}

func TestErrorTypesAreFew(t *testing.T) {
	tests := []struct {
		name string
		err  error
		want string
	}{
		{"a code of the gateway", &providers.Error{Code: providers.ErrTimeout}, "timeout"},
		{"a code that a provider made up", &providers.Error{Code: "user-17"}, "_OTHER"},
		{"no error of the gateway", errors.New("user-17"), "_OTHER"},
		{"wrapped", errors.Join(errors.New("x"), &providers.Error{Code: providers.ErrServer}), "server_error"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newSetup(t, gatewayotel.Options{})
			s.end(t, gatewayotel.Options{}, providers.Record{Call: providers.Call{Operation: "chat", Model: "m"}, Err: tt.err})
			got, _ := s.find(t, "chat m", "error.type")
			if diff := cmp.Diff(tt.want, got.AsString()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestEveryCodeHasAType fails for a code of the contract without a row.
func TestEveryCodeHasAType(t *testing.T) {
	for _, code := range codes(t) {
		if got := gatewayotel.ErrorType(code); got != string(code) {
			t.Errorf("%s is told as %s", code, got)
		}
	}
}

func TestTokensAreByModality(t *testing.T) {
	usage := func(prompt, audio int64, extra string) *providers.Usage {
		u := &providers.Usage{PromptTokens: prompt, TotalTokens: prompt}
		u.PromptTokensDetails.AudioTokens = audio
		u.PromptTokensDetails.Extra = providers.Extra(extra)
		return u
	}
	tests := []struct {
		name  string
		usage *providers.Usage
		want  map[string]int64
	}{
		{"no count", nil, map[string]int64{"unknown": 0}},
		{"nothing", usage(0, 0, ""), map[string]int64{"unknown": 0}},
		{"not broken down", usage(10, 0, ""), map[string]int64{"unknown": 10}},
		{"audio", usage(10, 4, ""), map[string]int64{"audio": 4, "unknown": 6}},
		{"all of it", usage(10, 1, `{"text_tokens":6,"image_tokens":3}`), map[string]int64{"text": 6, "image": 3, "audio": 1}},
		{"a document too", usage(10, 0, `{"text_tokens":6,"document_tokens":4}`), map[string]int64{"text": 6, "unknown": 4}},
		{"more than there are", usage(10, 11, ""), map[string]int64{"unknown": 10}},
		{"no number", usage(10, 0, `{"text_tokens":"6"}`), map[string]int64{"unknown": 10}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newSetup(t, gatewayotel.Options{})
			s.end(t, gatewayotel.Options{}, providers.Record{Call: providers.Call{Operation: "chat", Model: "m"}, Usage: tt.usage})
			got := map[string]int64{}
			sum, ok := s.metrics(t)["gen_ai.client.inference.usage.input_tokens"].(metricdata.Sum[int64])
			if !ok || !sum.IsMonotonic {
				t.Fatal("no counter")
			}
			for _, p := range sum.DataPoints {
				v, _ := p.Attributes.Value("gen_ai.token.modality")
				got[v.AsString()] = p.Value
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestCacheWritesHaveBothNames(t *testing.T) {
	u := &providers.Usage{PromptTokens: 9, Extra: providers.Extra(`{"cache_creation_input_tokens":5}`)}
	u.PromptTokensDetails.CachedTokens = 3
	tests := []struct {
		conventions gatewayotel.Conventions
		want        []string
	}{
		{gatewayotel.ConventionsLatest, []string{"gen_ai.usage.cache_write.input_tokens"}},
		{gatewayotel.ConventionsV141, []string{"gen_ai.usage.cache_creation.input_tokens"}},
		{gatewayotel.ConventionsBoth, []string{"gen_ai.usage.cache_write.input_tokens", "gen_ai.usage.cache_creation.input_tokens"}},
	}
	for _, tt := range tests {
		t.Run(string(tt.conventions), func(t *testing.T) {
			s := newSetup(t, gatewayotel.Options{})
			s.end(t, gatewayotel.Options{Conventions: tt.conventions}, providers.Record{Call: providers.Call{Operation: "chat", Model: "m"}, Usage: u})
			var got []string
			for _, a := range s.spans.GetSpans()[0].Attributes {
				if strings.HasPrefix(string(a.Key), "gen_ai.usage.cache_") && a.Value.AsInt64() == 5 {
					got = append(got, string(a.Key))
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
			_, latest := s.metrics(t)["gen_ai.client.inference.duration"]
			_, former := s.metrics(t)["gen_ai.client.token.usage"]
			if latest != (tt.conventions != gatewayotel.ConventionsV141) || former != (tt.conventions != gatewayotel.ConventionsLatest) {
				t.Errorf("latest %v, former %v", latest, former)
			}
		})
	}
}

func TestBoundariesAreThoseOfTheConventions(t *testing.T) {
	s := newSetup(t, gatewayotel.Options{Conventions: gatewayotel.ConventionsBoth})
	s.chat(t, ask("Hi."))
	all := s.metrics(t)
	wantSeconds := []float64{0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92}
	wantTokens := []float64{1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864}
	for _, name := range []string{"gen_ai.client.inference.duration", "gen_ai.client.operation.duration"} {
		if d, ok := all[name].(metricdata.Histogram[float64]); !ok || cmp.Diff(wantSeconds, d.DataPoints[0].Bounds) != "" {
			t.Errorf("%s: %+v", name, all[name])
		}
	}
	for _, name := range []string{"gen_ai.client.inference.operation.input_tokens", "gen_ai.client.token.usage"} {
		if d, ok := all[name].(metricdata.Histogram[int64]); !ok || cmp.Diff(wantTokens, d.DataPoints[0].Bounds) != "" {
			t.Errorf("%s: %+v", name, all[name])
		}
	}
}

// TestManyAtOnce runs calls of every outcome beside each other; the race detector
// watches.
func TestManyAtOnce(t *testing.T) {
	s := newSetup(t, gatewayotel.Options{Content: true})
	const workers, each = 16, 8
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for i := range each {
				if i%2 == 0 {
					_, _ = s.client.Chat.Completions.Create(t.Context(), ask("Hi."))
					continue
				}
				stream, err := s.client.Chat.Completions.CreateStream(t.Context(), ask("Hi."))
				if err != nil {
					t.Error(err)
					return
				}
				if i%4 == 1 {
					_, _ = stream.Recv()
				} else {
					_, _ = stream.Collect()
				}
				_ = stream.Close()
			}
		})
	}
	wg.Wait()
	calls, attempts := 0, 0
	for _, span := range s.spans.GetSpans() {
		if span.SpanKind == trace.SpanKindClient {
			calls++
		} else {
			attempts++
		}
	}
	if calls != workers*each || attempts != workers*each {
		t.Errorf("%d calls, %d attempts", calls, attempts)
	}
	known(t, s)
}

func TestTwoObserversWatchOneCall(t *testing.T) {
	s := newSetup(t, gatewayotel.Options{})
	second, err := gatewayotel.New(gatewayotel.Options{TracerProvider: s.tracers, MeterProvider: s.meters, NoAttempts: true})
	if err != nil {
		t.Fatal(err)
	}
	s.chat(t, ask("Hi."), gateway.WithObserver(second))
	if n := len(s.spans.GetSpans()); n != 3 {
		t.Errorf("%d spans:\n%s", n, s.tree())
	}
}

// TestCallsOverHTTPContinueTheTrace shows that a span in the context of a request to
// the front is the parent of its call.
func TestCallsOverHTTPContinueTheTrace(t *testing.T) {
	s := newSetup(t, gatewayotel.Options{})
	ctx, server := s.tracers.Tracer("server").Start(t.Context(), "POST /v1/chat/completions", trace.WithSpanKind(trace.SpanKindServer))
	body := strings.NewReader(`{"model":"gemini-2.5-flash","messages":[{"role":"user","content":"Hi."}]}`)
	w := httptest.NewRecorder()
	s.client.Handler().ServeHTTP(w, httptest.NewRequestWithContext(ctx, http.MethodPost, "/v1/chat/completions", body))
	server.End()
	if w.Code != http.StatusOK {
		t.Fatal(w.Body)
	}
	for _, span := range s.spans.GetSpans() {
		if span.Name == "chat gemini-2.5-flash" && span.Parent.SpanID() != server.SpanContext().SpanID() {
			t.Error("the call's parent is not the span of the request")
		}
	}
	if v, _ := s.find(t, "chat gemini-2.5-flash", "gateway.surface"); v.AsString() != "http" {
		t.Error(v.AsString())
	}
}

func TestRecordsOfOthersAreLeftAlone(t *testing.T) {
	s := newSetup(t, gatewayotel.Options{})
	o, err := gatewayotel.New(gatewayotel.Options{TracerProvider: s.tracers, MeterProvider: s.meters, Content: true})
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background() // without a CallStart
	o.CallEnd(ctx, providers.Record{})
	o.CallContent(ctx, providers.Record{}, providers.CallContent{})
	o.ChunkReceived(ctx, &providers.Record{}, time.Second)
	if o.WantsContent(ctx, providers.Call{Operation: "chat"}) || len(s.spans.GetSpans()) != 0 {
		t.Error("something was made of nothing")
	}
}

func TestSpansEndWhenTheirCallsDid(t *testing.T) {
	s := newSetup(t, gatewayotel.Options{})
	s.end(t, gatewayotel.Options{}, providers.Record{Call: providers.Call{Operation: "chat", Model: "m"}, Duration: time.Hour})
	span := s.spans.GetSpans()[0]
	if got := span.EndTime.Sub(span.StartTime); got != time.Hour {
		t.Errorf("the span took %v", got)
	}
}

func TestContentIsWantedOnlyWhenAskedFor(t *testing.T) {
	for _, asked := range []bool{false, true} {
		s := newSetup(t, gatewayotel.Options{})
		o, err := gatewayotel.New(gatewayotel.Options{TracerProvider: s.tracers, MeterProvider: s.meters, Content: asked})
		if err != nil {
			t.Fatal(err)
		}
		c := providers.Call{Operation: "chat"}
		if got := o.WantsContent(o.CallStart(t.Context(), c), c); got != asked {
			t.Errorf("asked %v, wanted %v", asked, got)
		}
		c.Operation = "embeddings"
		if o.WantsContent(o.CallStart(t.Context(), c), c) {
			t.Error("the content of embeddings is wanted")
		}
	}
}
