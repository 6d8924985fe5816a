package gateway_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway"
	"github.com/b650d4bf/gateway/catalog"
	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

// The models of the scenarios, which transcripts call by these names.
const (
	first  = "gemini-2.5-flash"
	second = "gemini-3-flash"
	third  = "anthropic.claude-sonnet-4-5@20250929"
	fourth = "gpt-5-mini" // of OpenAI's own API
)

var modelNames = map[string]string{first: "first", second: "second", "claude-sonnet-4-5@20250929": "third", fourth: "fourth"}

// vendors is a catalog with two places of the platform and another service.
const vendors = `{"providers":{` +
	`"eu":{"provider":"vertex-ai","project_id":"p-eu","region":"europe-west4","access_token":"t-eu"},` +
	`"us":{"provider":"vertex-ai","project_id":"p-us","region":"us-east5","access_token":"t-us"},` +
	`"oai":{"provider":"openai","api_key":"sk-1"}}%s}`

// scenario is a config, what the platform does, who calls when, and all that can
// be seen of it. It runs whole and streamed, which must look the same.
//
// asked has the requests: model, time since the start, and where it went unless
// that is the client's own place. saw has a line for each call: the answer, or the
// code of the error with a !, when it came, and the trail. Its entries are the
// target, #n for the nth retry, +d for a wait, and what came of it.
type scenario struct {
	name    string
	config  string // the client's; "" for none
	catalog string // "" for none
	client  []gateway.ClientOption
	script  map[string][]vertextest.Reply
	calls   []call // one call at the start unless it has some
	more    func(*vertextest.Request) string
	closed  bool // the client is closed before
	whole   bool // not streamed too
	stream  bool // streamed only
	random  bool // times are by chance, and left out

	asked, saw string
}

// call is one call of a scenario.
type call struct {
	at     time.Duration
	edit   func(*gateway.ChatCompletionRequest)
	opts   []gateway.RequestOption
	cancel time.Duration // after which the caller has had enough; 0 for never
	leave  bool          // a stream is closed after its first chunk
	more   func(*gateway.ChatCompletion) string
}

func to(model string, more ...string) string {
	return `{"override_params":{"model":"` + model + `"}` + strings.Join(append([]string{""}, more...), ",") + `}`
}

func at(provider string, more ...string) string {
	return `{"provider":"` + provider + `"` + strings.Join(append([]string{""}, more...), ",") + `}`
}

func fallback(targets ...string) string {
	return `{"strategy":{"mode":"fallback"},"targets":[` + strings.Join(targets, ",") + `]}`
}

func fallbackOn(codes string, targets ...string) string {
	return `{"strategy":{"mode":"fallback","on_status_codes":[` + codes + `]},"targets":[` + strings.Join(targets, ",") + `]}`
}

func script(model string, replies ...vertextest.Reply) map[string][]vertextest.Reply {
	return map[string][]vertextest.Reply{strings.TrimPrefix(model, "anthropic."): replies}
}

// scripts is a script of all these, in turns of a model and its replies.
func scripts(of ...map[string][]vertextest.Reply) map[string][]vertextest.Reply {
	out := map[string][]vertextest.Reply{}
	for _, one := range of {
		for model, replies := range one {
			out[model] = append(out[model], replies...)
		}
	}
	return out
}

// fails is an error with this status, whose word does not matter.
func fails(status int) vertextest.Reply {
	return vertextest.Error(status, "FAILED", "it failed")
}

func text(s string) vertextest.Reply { return vertextest.Text(s) }

func runScenarios(t *testing.T, list []scenario) {
	t.Helper()
	for i := range list {
		s := &list[i]
		if !s.stream {
			t.Run(s.name, func(t *testing.T) { synctest.Test(t, func(t *testing.T) { s.run(t, false) }) })
		}
		if !s.whole {
			t.Run(s.name+", streamed", func(t *testing.T) { synctest.Test(t, func(t *testing.T) { s.run(t, true) }) })
		}
	}
}

// hosted tells the emulator which host a request was for.
type hosted struct{ http.RoundTripper }

const seenHost = "X-Seen-Host"

func (h hosted) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set(seenHost, r.URL.Host)
	return h.RoundTripper.RoundTrip(r)
}

// open makes the emulator and the client of a scenario.
func (s *scenario) open(t *testing.T) (*gateway.Client, *vertextest.Server) {
	t.Helper()
	srv := vertextest.New()
	t.Cleanup(srv.Close)
	for model, replies := range s.script {
		srv.ScriptFor(model, replies...)
	}
	opts := []gateway.ClientOption{
		gateway.WithProjectID("p"), gateway.WithRegion("global"), gateway.WithAccessToken("t"),
		gateway.WithHTTPClient(&http.Client{Transport: hosted{srv.Transport()}}),
	}
	if s.catalog != "" {
		list, err := catalog.Parse([]byte(s.catalog))
		if err != nil {
			t.Fatal(err)
		}
		opts = append(opts, gateway.WithCatalog(list))
	}
	if s.config != "" {
		c, err := gateway.ParseConfig([]byte(s.config))
		if err != nil {
			t.Fatal(err)
		}
		opts = append(opts, gateway.WithConfig(c))
	}
	client, err := gateway.New(append(opts, s.client...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return client, srv
}

func (s *scenario) run(t *testing.T, stream bool) {
	client, srv := s.open(t)
	calls := s.calls
	if len(calls) == 0 {
		calls = make([]call, 1)
	}
	if s.closed {
		_ = client.Close()
	}
	begin, saw := time.Now(), make([]string, len(calls))
	var all sync.WaitGroup
	for i := range calls {
		all.Go(func() {
			time.Sleep(calls[i].at)
			saw[i] = s.outcome(calls[i].run(t, client, stream), begin)
		})
	}
	all.Wait()
	var asked []string
	for _, r := range srv.Requests() {
		asked = append(asked, s.request(&r, begin))
	}
	if d := gocmp.Diff(s.asked, strings.Join(asked, " ")); d != "" {
		t.Errorf("asked (-want +got)\n%s", d)
	}
	if d := gocmp.Diff(s.saw, strings.Join(saw, "\n")); d != "" {
		t.Errorf("saw (-want +got)\n%s", d)
	}
}

func answerTo(t *testing.T, client *gateway.Client, req *gateway.ChatCompletionRequest, stream bool, opts ...gateway.RequestOption) (*gateway.ChatCompletion, error) {
	t.Helper()
	if !stream {
		return client.Chat.Completions.Create(t.Context(), req, opts...)
	}
	s, err := client.Chat.Completions.CreateStream(t.Context(), req, opts...)
	if err != nil {
		return nil, err
	}
	return s.Collect()
}

// clock writes a time without what a pause may add by chance.
func (s *scenario) clock(prefix string, d time.Duration) string {
	if s.random {
		return ""
	}
	return prefix + d.Truncate(10*time.Millisecond).String()
}

func (s *scenario) request(r *vertextest.Request, begin time.Time) string {
	out := cmp.Or(modelNames[r.Model], r.Model) + s.clock("@", r.Time.Sub(begin))
	if place := r.Project + "/" + r.Location; place != "p/global" && place != "/" {
		out += "(" + place + ")"
	}
	if host := r.Header.Get(seenHost); !strings.HasSuffix(host, "aiplatform.googleapis.com") {
		out += "(" + host + ")"
	}
	if s.more != nil {
		out += "[" + s.more(r) + "]"
	}
	return out
}

// result is what a caller got.
type result struct {
	answer *gateway.ChatCompletion
	err    error
	more   string
}

func (c *call) run(t *testing.T, client *gateway.Client, stream bool) result {
	ctx := t.Context()
	if c.cancel > 0 {
		limited, cancel := context.WithCancel(ctx)
		defer cancel()
		defer time.AfterFunc(c.cancel, cancel).Stop()
		ctx = limited
	}
	req := &gateway.ChatCompletionRequest{Model: first, Messages: []gateway.Message{gateway.UserMessage("Hello")}}
	if c.edit != nil {
		c.edit(req)
	}
	var r result
	if stream {
		r = c.stream(ctx, client, req)
	} else {
		r.answer, r.err = client.Chat.Completions.Create(ctx, req, c.opts...)
	}
	if c.more != nil && r.err == nil {
		r.more = c.more(r.answer)
	}
	return r
}

func (c *call) stream(ctx context.Context, client *gateway.Client, req *gateway.ChatCompletionRequest) (r result) {
	s, err := client.Chat.Completions.CreateStream(ctx, req, c.opts...)
	if err != nil {
		return result{err: err}
	}
	if !c.leave {
		r.answer, r.err = s.Collect()
		return r
	}
	if _, err = s.Recv(); err == nil {
		err = s.Close()
	}
	return result{answer: &gateway.ChatCompletion{Meta: s.Meta()}, err: err}
}

func (s *scenario) outcome(r result, begin time.Time) string {
	var out string
	var trail []gateway.Attempt
	if e, ok := errors.AsType[*gateway.Error](r.err); ok {
		out, trail = "!"+string(e.Code), e.Attempts
		if e.Sent {
			out += ", sent"
		}
		if e.Partial != nil {
			out += fmt.Sprintf(", partial %q", e.Partial.Text())
		}
	} else if r.err != nil {
		out = r.err.Error()
	} else {
		out, trail = r.answer.Text(), r.answer.Meta.Attempts
		if strings.HasPrefix(out, "Hello") {
			out = "hello" // the emulator's own greeting
		}
	}
	if r.more != "" {
		out += " [" + r.more + "]"
	}
	out += s.clock("@", time.Since(begin))
	for i := range trail {
		out += "; " + s.entry(&trail[i])
	}
	return out
}

func (s *scenario) entry(a *gateway.Attempt) string {
	out := cmp.Or(strings.ReplaceAll(a.Target, "targets", ""), "-")
	if a.Retry > 0 {
		out += fmt.Sprintf("#%d", a.Retry)
	}
	if a.Wait >= 10*time.Millisecond {
		out += s.clock("+", a.Wait)
	}
	if a.Hedged {
		out += " hedged"
	}
	switch {
	case a.Skipped != "":
		return out + " skipped " + string(a.Skipped)
	case a.Code == "":
		return out + " ok"
	case a.StatusCode != 0 && a.StatusCode != http.StatusOK:
		return out + fmt.Sprintf(" %d", a.StatusCode)
	}
	return out + " " + string(a.Code)
}

// count makes n calls at the same time, or one after the other.
func count(n int, apart time.Duration, one call) []call {
	calls := slices.Repeat([]call{one}, n)
	for i := range calls {
		calls[i].at += time.Duration(i) * apart
	}
	return calls
}

func vendorsWith(more string) string { return fmt.Sprintf(vendors, more) }

func repeat(r vertextest.Reply, n int) []vertextest.Reply {
	return slices.Repeat([]vertextest.Reply{r}, n)
}

// dailyQuota says that the quota of the day is used up.
func dailyQuota() vertextest.Reply {
	return vertextest.Error(429, "RESOURCE_EXHAUSTED", "Quota exceeded.", map[string]any{
		"@type":      "type.googleapis.com/google.rpc.QuotaFailure",
		"violations": []any{map[string]any{"subject": "p", "description": "GenerateRequestsPerDayPerProjectPerModel"}},
	})
}
