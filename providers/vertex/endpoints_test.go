package vertex_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/providers"
	"github.com/b650d4bf/gateway/providers/vertex"
)

// TestEveryFormOfAModelHasItsURL holds the URLs of chat completions, whole and
// streamed.
func TestEveryFormOfAModelHasItsURL(t *testing.T) {
	const (
		region = "https://us-central1-aiplatform.googleapis.com/v1/projects/p/locations/us-central1"
		open   = "/endpoints/openapi/chat/completions"
	)
	for _, tt := range []struct {
		ref    string
		target providers.Target
		whole  string
		stream string // the same when empty
	}{
		{ref: "gemini-2.5-flash", whole: region + "/publishers/google/models/gemini-2.5-flash:generateContent", stream: region + "/publishers/google/models/gemini-2.5-flash:streamGenerateContent?alt=sse"},
		{ref: "meta.llama-4-maverick-17b-128e-instruct-maas", whole: region + open},
		{ref: "meta/llama-4-maverick-17b-128e-instruct-maas", whole: region + open},
		{ref: "publishers/qwen/models/qwen3", whole: region + open},
		{ref: "deepseek.deepseek-v3.2-maas", whole: region + open},
		{ref: "openai.gpt-oss-120b-maas", target: providers.Target{Region: "global"}, whole: "https://aiplatform.googleapis.com/v1/projects/p/locations/global" + open},
		{ref: "moonshotai/kimi-k2-thinking-maas", target: providers.Target{Region: "us"}, whole: "https://aiplatform.us.rep.googleapis.com/v1/projects/p/locations/us" + open},
		{ref: "zai-org.glm-5-maas", target: providers.Target{Region: "eu"}, whole: "https://aiplatform.eu.rep.googleapis.com/v1/projects/p/locations/eu" + open},
		{ref: "minimaxai/minimax-m2-maas", target: providers.Target{BaseURL: "https://proxy.example/x"}, whole: "https://proxy.example/x/v1/projects/p/locations/us-central1" + open},
		{ref: "xai.grok-4.20-reasoning", target: providers.Target{UniverseDomain: "s3nsapis.fr"}, whole: "https://us-central1-aiplatform.s3nsapis.fr/v1/projects/p/locations/us-central1" + open},
		{ref: "nvidia/nemotron", whole: region + open},
		{
			ref: "projects/x/locations/eu/publishers/qwen/models/qwen3", target: providers.Target{Region: "global"},
			whole: "https://aiplatform.eu.rep.googleapis.com/v1/projects/x/locations/eu" + open,
		},
		{ref: "mistralai.codestral-2@001", whole: region + "/publishers/mistralai/models/codestral-2@001:rawPredict", stream: region + "/publishers/mistralai/models/codestral-2@001:streamRawPredict"},
		{ref: "ai21/jamba-1.5-large", whole: region + "/publishers/ai21/models/jamba-1.5-large:rawPredict", stream: region + "/publishers/ai21/models/jamba-1.5-large:streamRawPredict"},
		{
			ref:    "projects/x/locations/global/publishers/mistralai/models/m",
			whole:  "https://aiplatform.googleapis.com/v1/projects/x/locations/global/publishers/mistralai/models/m:rawPredict",
			stream: "https://aiplatform.googleapis.com/v1/projects/x/locations/global/publishers/mistralai/models/m:streamRawPredict",
		},
		{ref: "endpoints.1234567890", whole: region + "/endpoints/1234567890/chat/completions"},
		{ref: "the service.my-endpoint", whole: region + "/endpoints/my-endpoint/chat/completions"},
		{ref: "endpoints.1", target: providers.Target{BaseURL: "https://1.us-central1-2.prediction.vertexai.goog"}, whole: "https://1.us-central1-2.prediction.vertexai.goog/v1/projects/p/locations/us-central1/endpoints/1/chat/completions"},
		{ref: "endpoints.raw", whole: region + "/endpoints/raw:predict"},
		{ref: "acme.rocket", whole: region + open},
		{ref: "acme-raw/rocket@1", whole: "https://us-central1-aiplatform.googleapis.com/v1beta1/projects/p/locations/us-central1/publishers/acme.inc/models/rocket@1:rawPredict", stream: "https://us-central1-aiplatform.googleapis.com/v1beta1/projects/p/locations/us-central1/publishers/acme.inc/models/rocket@1:streamRawPredict"},
	} {
		t.Run(tt.ref, func(t *testing.T) {
			if tt.stream == "" {
				tt.stream = tt.whole
			}
			tt.target.Model, tt.target.ProjectID = tt.ref, "p"
			if tt.target.Region == "" {
				tt.target.Region = "us-central1"
			}
			rt := plays([]byte(`{}`)) // what is no answer
			p := vertex.New(vertex.Config{
				Transport:  rt,
				Publishers: []vertex.Publisher{{Name: "acme"}, {Name: "acme-raw", As: "acme.inc", Wire: vertex.WireMistral, Version: "v1beta1"}},
				Predictors: map[string]vertex.Predictor{"raw": echo()},
			})
			defer func() { _ = p.Close() }()
			q := hello(t, tt.ref)
			_, _ = p.ChatCompletion(t.Context(), &tt.target, q)
			whole := rt.url
			r, err := p.ChatCompletionStream(t.Context(), &tt.target, q)
			if err != nil {
				t.Fatal(err)
			}
			_ = r.Close()
			if diff := cmp.Diff([]string{tt.whole, tt.stream}, []string{whole, rt.url}); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestAPublisherThatCantBeOneIsUnknown(t *testing.T) {
	for _, p := range []vertex.Publisher{{Name: "acme", As: "a/b"}, {Name: "acme", Version: "v1/x"}, {Name: "acme", Wire: "smoke"}} {
		rt := plays(nil)
		own := vertex.New(vertex.Config{Transport: rt, Publishers: []vertex.Publisher{p}})
		if _, err := own.ChatCompletion(t.Context(), target("acme.x"), hello(t, "acme.x")); !errors.Is(err, providers.ErrInvalidRequest) || rt.calls > 0 {
			t.Errorf("%+v: %v after %d requests", p, err, rt.calls)
		}
	}
}

// cloud is a platform with endpoints, of which some have a host of their own.
type cloud struct {
	mu     sync.Mutex
	dns    string // of every endpoint; "" for none
	refuse int    // status of lookups; 0 for 200
	gone   bool   // the own host answers 404
	wait   time.Duration

	seen    []string
	lookups atomic.Int64
}

const (
	ownHost  = "1.us-central1-2.prediction.vertexai.goog"
	dediText = "This endpoint is a dedicated endpoint and cannot be accessed through the shared host. Please access the endpoint using its dedicated dns name"
)

func (c *cloud) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		_, _ = io.Copy(io.Discard, r.Body)
		_ = r.Body.Close()
	}
	c.mu.Lock()
	c.seen = append(c.seen, r.Method+" "+r.URL.Host)
	dns, gone := c.dns, c.gone
	c.mu.Unlock()
	status, body := http.StatusOK, okOpenAnswer
	switch {
	case r.Method == http.MethodGet:
		c.lookups.Add(1)
		if c.wait > 0 {
			select {
			case <-time.After(c.wait):
			case <-r.Context().Done():
				return nil, r.Context().Err()
			}
		}
		body = fmt.Sprintf(`{"name":"x","dedicatedEndpointEnabled":%v,"dedicatedEndpointDns":%q}`, dns != "", dns)
		if c.refuse != 0 {
			status, body = c.refuse, `{"error":{"code":403,"message":"Permission 'aiplatform.endpoints.get' denied","status":"PERMISSION_DENIED"}}`
		}
	case strings.HasSuffix(r.URL.Host, "vertexai.goog") && gone:
		status, body = http.StatusNotFound, `{"error":{"code":404,"message":"gone","status":"NOT_FOUND"}}`
	case !strings.HasSuffix(r.URL.Host, "vertexai.goog") && dns != "":
		status, body = http.StatusBadRequest, `{"error":{"code":400,"message":"`+dediText+`","status":"FAILED_PRECONDITION"}}`
	}
	return &http.Response{StatusCode: status, Body: io.NopCloser(strings.NewReader(body)), Request: r, ContentLength: -1}, nil
}

func (c *cloud) take() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	seen := c.seen
	c.seen = nil
	return seen
}

func endpointTarget() *providers.Target {
	t := target("endpoints.1")
	t.Region = "us-central1"
	return t
}

const (
	sharedHost = "us-central1-aiplatform.googleapis.com"
	postShared = "POST " + sharedHost
	getShared  = "GET " + sharedHost
	postOwn    = "POST " + ownHost
)

func TestAnEndpointsOwnHostIsLookedUpOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &cloud{dns: ownHost}
		p := newProvider(t, c)
		ask := func(want ...string) {
			t.Helper()
			_, err := p.ChatCompletion(t.Context(), endpointTarget(), hello(t, "endpoints.1"))
			if diff := cmp.Diff(want, c.take()); diff != "" || err != nil {
				t.Errorf("%v (-want +got)\n%s", err, diff)
			}
		}
		ask(postShared, getShared, postOwn)
		ask(postOwn)
		if r, err := p.ChatCompletionStream(t.Context(), endpointTarget(), hello(t, "endpoints.1")); err != nil {
			t.Error(err)
		} else {
			_ = r.Close()
		}
		c.take()
		time.Sleep(2 * time.Hour) // it may have changed since
		ask(postShared, getShared, postOwn)
		c.gone = true
		if _, err := p.ChatCompletion(t.Context(), endpointTarget(), hello(t, "endpoints.1")); !errors.Is(err, providers.ErrModelNotFound) {
			t.Errorf("%v, want %s", err, providers.ErrModelNotFound)
		}
		c.take()
		c.gone, c.dns = false, "" // it was made anew, without a host
		ask(postShared)
	})
}

func TestAnEndpointWithoutItsOwnHostCostsNoLookup(t *testing.T) {
	c := new(cloud)
	p := newProvider(t, c)
	for range 3 {
		if _, err := p.ChatCompletion(t.Context(), endpointTarget(), hello(t, "endpoints.1")); err != nil {
			t.Fatal(err)
		}
	}
	if c.lookups.Load() != 0 {
		t.Errorf("%d lookups", c.lookups.Load())
	}
}

func TestABaseURLWinsOverTheLookup(t *testing.T) {
	c := &cloud{dns: ownHost}
	at := endpointTarget()
	at.BaseURL = "https://psc.internal"
	_, err := newProvider(t, c).ChatCompletion(t.Context(), at, hello(t, "endpoints.1"))
	if diff := cmp.Diff([]string{"POST psc.internal"}, c.take()); diff != "" || !errors.Is(err, providers.ErrInvalidRequest) {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
}

func TestALookupThatFailsLeavesTheRefusal(t *testing.T) {
	for name, c := range map[string]*cloud{
		"no permission":      {dns: ownHost, refuse: http.StatusForbidden},
		"a foreign host":     {dns: "evil.example"},
		"a host with a port": {dns: "x.vertexai.goog:1"},
		"no host":            {dns: " "},
	} {
		t.Run(name, func(t *testing.T) {
			p := newProvider(t, c)
			for range 2 { // the second one does not ask again
				_, err := p.ChatCompletion(t.Context(), endpointTarget(), hello(t, "endpoints.1"))
				var e *providers.Error
				if !errors.As(err, &e) || e.NativeStatus != "FAILED_PRECONDITION" ||
					!strings.Contains(e.Message, "aiplatform.endpoints.get") || !strings.Contains(e.Message, "base URL") {
					t.Errorf("%v", err)
				}
			}
			if diff := cmp.Diff([]string{postShared, getShared, postShared}, c.take()); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestOneOfManyCallersLooksUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &cloud{dns: ownHost, wait: time.Second}
		p := newProvider(t, c)
		impatient, cancel := context.WithTimeout(t.Context(), time.Second/2)
		defer cancel()
		var wg sync.WaitGroup
		var failed atomic.Int64
		for i := range 20 {
			ctx := t.Context()
			if i%2 == 0 {
				ctx = impatient
			}
			wg.Go(func() {
				if _, err := p.ChatCompletion(ctx, endpointTarget(), hello(t, "endpoints.1")); err != nil {
					failed.Add(1)
				}
			})
		}
		wg.Wait()
		if n := c.lookups.Load(); n > 2 || failed.Load() != 10 {
			t.Errorf("%d lookups, %d failed, want at most 2 and the 10 that had no time", n, failed.Load())
		}
	})
}

func TestAMissingPermissionIsNamed(t *testing.T) {
	rt := plays([]byte(`{"error":{"code":403,"message":"Permission 'aiplatform.endpoints.predict' denied on resource","status":"PERMISSION_DENIED"}}`))
	rt.status = http.StatusForbidden
	_, err := newProvider(t, rt).ChatCompletion(t.Context(), endpointTarget(), hello(t, "endpoints.1"))
	if !errors.Is(err, providers.ErrPermission) || !strings.Contains(err.Error(), "roles/aiplatform.user") {
		t.Errorf("%v", err)
	}
}
