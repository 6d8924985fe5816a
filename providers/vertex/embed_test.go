package vertex_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/providers"
	"github.com/b650d4bf/gateway/providers/vertex"
	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

// numbered are n texts, each of its own.
func numbered(n int) []string {
	texts := make([]string, n)
	for i := range texts {
		texts[i] = "text number " + strconv.Itoa(i)
	}
	return texts
}

func embedRequest(model string, texts ...string) *providers.EmbeddingRequest {
	return &providers.EmbeddingRequest{Model: model, Input: providers.EmbeddingTexts(texts...)}
}

// sizesOf are the numbers of inputs of the requests so far, sorted.
func sizesOf(srv *vertextest.Server) []int {
	var sizes []int
	for _, r := range srv.Requests() {
		switch r.Verb {
		case "predict":
			sizes = append(sizes, strings.Count(string(r.Body), `"content":`))
		default:
			sizes = append(sizes, strings.Count(string(r.Body), `"parts":`))
		}
	}
	slices.Sort(sizes)
	return sizes
}

// wantInOrder compares each vector with that of its text alone.
func wantInOrder(t *testing.T, p *vertex.Provider, model string, texts []string, out *providers.EmbeddingResponse) {
	t.Helper()
	if len(out.Data) != len(texts) {
		t.Fatalf("%d vectors for %d texts", len(out.Data), len(texts))
	}
	for _, i := range []int{0, 1, len(texts) / 2, len(texts) - 1} {
		alone, err := p.Embeddings(t.Context(), target(model), embedRequest(model, texts[i]))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(alone.Data[0].Embedding, out.Data[i].Embedding); diff != "" || out.Data[i].Index != i {
			t.Errorf("vector %d has index %d and is not that of its text", i, out.Data[i].Index)
		}
	}
}

func TestInputsAreSharedAmongRequests(t *testing.T) {
	long := strings.Repeat("word ", 1200) // 6000 bytes, 2001 tokens by the estimate
	for _, tt := range []struct {
		name, model string
		texts       []string
		options     []vertextest.Option
		want        []int
	}{
		{"what fits into one", "text-embedding-005", numbered(250), nil, []int{250}},
		{"one more", "text-embedding-005", numbered(251), nil, []int{1, 250}},
		{"many", "text-embedding-005", numbered(501), nil, []int{1, 250, 250}},
		{"tokens of a request", "text-embedding-005", slices.Repeat([]string{long}, 12), nil, []int{3, 9}},
		{"contents", "gemini-embedding-2", numbered(101), nil, []int{1, 100}},
		{"an open model", "multilingual-e5-small-maas", numbered(3), nil, []int{1, 1, 1}},
		{"a model with one instance", "gemini-embedding-001", numbered(12), []vertextest.Option{vertextest.WithMaxInstances(1, "gemini-embedding-001")},
			append(slices.Repeat([]int{1}, 12), 12)},
		{"a region with five instances", "text-embedding-005", numbered(12), []vertextest.Option{vertextest.WithMaxInstances(5)}, []int{2, 5, 5, 12}},
		{"a refusal among several requests", "text-embedding-005", numbered(251), []vertextest.Option{vertextest.WithMaxInstances(100)},
			[]int{1, 50, 100, 100, 250}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			srv := vertextest.New(tt.options...)
			defer srv.Close()
			p := newProvider(t, srv.Transport())
			out, err := p.Embeddings(t.Context(), target(tt.model), embedRequest(tt.model, tt.texts...))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, sizesOf(srv)); diff != "" {
				t.Errorf("inputs of the requests (-want +got)\n%s", diff)
			}
			tokens := int64(0)
			for _, text := range tt.texts {
				tokens += min(int64(len(text)/4), 2048)
			}
			if out.Usage == nil || out.Usage.PromptTokens != tokens || out.Usage.TotalTokens != tokens {
				t.Errorf("usage %+v, want the sum %d", out.Usage, tokens)
			}
			wantInOrder(t, p, tt.model, tt.texts, out)
		})
	}
}

func TestALimitIsLearntOnce(t *testing.T) {
	srv := vertextest.New(vertextest.WithMaxInstances(2))
	defer srv.Close()
	p := newProvider(t, srv.Transport())
	for range 3 {
		if _, err := p.Embeddings(t.Context(), target("gemini-embedding-001"), embedRequest("gemini-embedding-001", numbered(4)...)); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff([]int{2, 2, 2, 2, 2, 2, 4}, sizesOf(srv)); diff != "" {
		t.Errorf("inputs of the requests (-want +got)\n%s", diff)
	}
	elsewhere := target("gemini-embedding-001")
	elsewhere.Region = "europe-west4"
	srv.Reset()
	if _, err := p.Embeddings(t.Context(), elsewhere, embedRequest("gemini-embedding-001", numbered(4)...)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]int{2, 2, 4}, sizesOf(srv)); diff != "" {
		t.Errorf("in another location (-want +got)\n%s", diff)
	}
}

func TestABatchThatIsNotTakenIsAskedForInParts(t *testing.T) {
	for _, tt := range []struct {
		name   string
		reply  vertextest.Reply
		fails  providers.Code
		learns bool
	}{
		{"no such method", vertextest.HTML404(), "", true},
		{"not for the model", vertextest.Error(400, "INVALID_ARGUMENT", "batchEmbedContents is not supported for this model."), "", true},
		{"not there yet", vertextest.Error(501, "UNIMPLEMENTED", "Method not found."), "", true},
		{"no such model", vertextest.Error(404, "NOT_FOUND", "Publisher Model was not found."), providers.ErrModelNotFound, false},
		{"another mistake", vertextest.Error(400, "INVALID_ARGUMENT", "Something else."), providers.ErrInvalidRequest, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			srv := vertextest.New()
			defer srv.Close()
			srv.ScriptVerb("batchEmbedContents", tt.reply)
			p := newProvider(t, srv.Transport())
			_, err := p.Embeddings(t.Context(), target("gemini-embedding-2"), embedRequest("gemini-embedding-2", "a", "b"))
			if code(err) != tt.fails {
				t.Fatalf("%v, want %q", err, tt.fails)
			}
			want := []int{2}
			if tt.learns {
				want = []int{1, 1, 2}
			}
			if diff := cmp.Diff(want, sizesOf(srv)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestARequestWithTooManyTokensIsHalved(t *testing.T) {
	srv := vertextest.New()
	defer srv.Close()
	srv.ScriptVerb("predict", vertextest.Error(400, "INVALID_ARGUMENT",
		"Unable to submit request because the input token count is 21000 but the model supports up to 20000. Reduce the input token count and try again."))
	p := newProvider(t, srv.Transport())
	texts := slices.Repeat([]string{strings.Repeat("x", 6000)}, 8) // 16 008 tokens by the estimate
	if _, err := p.Embeddings(t.Context(), target("text-embedding-005"), embedRequest("text-embedding-005", texts...)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]int{4, 4, 8}, sizesOf(srv)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestTheInputAtFaultIsNamed(t *testing.T) {
	srv := vertextest.New(vertextest.WithMaxInstances(1))
	defer srv.Close()
	p := newProvider(t, srv.Transport())
	q := embedRequest("gemini-embedding-001", "a", strings.Repeat("x", 10_000), "c")
	q.AutoTruncate = new(false)
	_, err := p.Embeddings(t.Context(), target(q.Model), q)
	if code(err) != providers.ErrContextLength {
		t.Fatalf("%v, want %s", err, providers.ErrContextLength)
	}
	if e, _ := errors.AsType[*providers.Error](err); e.Param != "input[1]" {
		t.Errorf("%v: the member is %q", err, e.Param)
	}
}

// TestOneFailureEndsTheCall lets one of many requests fail while others wait. The
// bubble fails when a goroutine is left behind.
func TestOneFailureEndsTheCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := vertextest.New(vertextest.WithLatency(time.Second), vertextest.WithMaxInstances(1))
		defer srv.Close()
		p := newProvider(t, srv.Transport())
		if _, err := p.Embeddings(t.Context(), target("gemini-embedding-001"), embedRequest("gemini-embedding-001", "a", "b")); err != nil {
			t.Fatal(err)
		}
		srv.Reset()
		srv.ScriptVerb("predict", vertextest.RateLimited(time.Second).After(100*time.Millisecond))
		start := time.Now()
		_, err := p.Embeddings(t.Context(), target("gemini-embedding-001"), embedRequest("gemini-embedding-001", numbered(40)...))
		if code(err) != providers.ErrRateLimited || time.Since(start) >= time.Second {
			t.Errorf("%v after %v", err, time.Since(start))
		}
		if n := len(srv.Requests()); n > 8 {
			t.Errorf("%d requests were sent", n)
		}
	})
}

func TestSoManyRequestsAreUnderWayAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := vertextest.New(vertextest.WithLatency(time.Second), vertextest.WithMaxInstances(1))
		defer srv.Close()
		var now, most atomic.Int64
		rt := roundTrip(func(r *http.Request) (*http.Response, error) {
			if n := now.Add(1); n > most.Load() {
				most.Store(n)
			}
			defer now.Add(-1)
			return srv.Transport().RoundTrip(r)
		})
		p := newProvider(t, rt)
		to := target("gemini-embedding-001")
		var told []string
		to.Progress = func(done, total int) { told = append(told, fmt.Sprint(done, "/", total)) }
		start := time.Now()
		if _, err := p.Embeddings(t.Context(), to, embedRequest(to.Model, numbered(20)...)); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(start); took != 4*time.Second || most.Load() != 8 { // one of them for the refusal
			t.Errorf("%d at a time took %v", most.Load(), took)
		}
		if len(told) != 20 || told[0] != "1/20" || told[19] != "20/20" {
			t.Errorf("progress %v", told)
		}
	})
}

func TestTheCallersContextEndsAllRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := vertextest.New(vertextest.WithLatency(time.Hour))
		defer srv.Close()
		p := newProvider(t, srv.Transport())
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := p.Embeddings(ctx, target("text-embedding-005"), embedRequest("text-embedding-005", numbered(251)...))
		if code(err) != providers.ErrTimeout {
			t.Errorf("%v, want %s", err, providers.ErrTimeout)
		}
		to := target("text-embedding-005")
		to.Timeouts.Total = time.Second
		_, err = p.Embeddings(t.Context(), to, embedRequest("text-embedding-005", numbered(251)...))
		if code(err) != providers.ErrTimeout {
			t.Errorf("with a total limit: %v, want %s", err, providers.ErrTimeout)
		}
	})
}

func TestReducedVectorsHaveUnitLength(t *testing.T) {
	srv := vertextest.New()
	defer srv.Close()
	p := newProvider(t, srv.Transport())
	for _, model := range []string{"text-embedding-005", "gemini-embedding-001", "gemini-embedding-2"} {
		for _, n := range []int{0, 128, 256, 768} {
			q := embedRequest(model, "The quick brown fox")
			if n > 0 {
				q.Dimensions = new(n)
			}
			out, err := p.Embeddings(t.Context(), target(model), q)
			if err != nil {
				t.Fatal(err)
			}
			vector, sum := out.Data[0].Embedding, 0.0
			for _, f := range vector {
				sum += f * f
			}
			if n > 0 && len(vector) != n || math.Abs(math.Sqrt(sum)-1) > 1e-5 {
				t.Errorf("%s of %d: %d elements, length %v", model, n, len(vector), math.Sqrt(sum))
			}
		}
	}
}

func TestMediaOfManyInputsAreWarnedOfOnce(t *testing.T) {
	srv := vertextest.New()
	defer srv.Close()
	q := &providers.EmbeddingRequest{Model: "gemini-embedding-2", TaskType: "CLUSTERING"}
	for range 5 {
		q.Input.Items = append(q.Input.Items, providers.EmbeddingItem{
			Image: &providers.EmbeddingMedia{URL: "gs://b/a.png", Extra: providers.Extra(`{"x":1}`)}, Extra: providers.Extra(`{"y":1}`),
		})
	}
	out, err := newProvider(t, srv.Transport()).Embeddings(t.Context(), target(q.Model), q)
	if err != nil || len(out.Meta.Warnings) != 4 {
		t.Errorf("%v: %+v", err, out)
	}
}

// roundTrip is a transport made of a function.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
