package vertex_test

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/internal/testkit"
	"github.com/b650d4bf/gateway/internal/testkit/outcome"
	"github.com/b650d4bf/gateway/providers"
	"github.com/b650d4bf/gateway/providers/vertex"
)

// files are what the tests' web server has, with its types.
var files = map[string]struct{ kind, data string }{
	"/cat":      {"image/png", "\x89PNG\r\n\x1a\n"},
	"/odd.png":  {"application/octet-stream", "GIF89a"},
	"/doc.pdf":  {"application/pdf", "%PDF-1.7"},
	"/note":     {"text/markdown", "# Hi"},
	"/raw":      {"application/octet-stream", "plain words"},
	"/dog.jpg":  {"text/html", "<html>sign in</html>"},
	"/page":     {"image/png", "<html>sorry</html>"},
	"/song.mp3": {"audio/mpeg", "ID3\x03"},
	"/zip":      {"application/zip", "PK\x03\x04\x00\xff"},
	"/nothing":  {"image/png", ""},
}

// web starts a web server and returns its URL, the settings with which it may be
// fetched from, and the number of requests so far.
func web(t *testing.T) (string, *vertex.MediaFetch, *atomic.Int64) {
	t.Helper()
	asked := new(atomic.Int64)
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		if r.URL.Path == "/slow" {
			<-r.Context().Done()
			return
		}
		f, ok := files[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", f.kind)
		_, _ = w.Write([]byte(f.data))
	}))
	s.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError) // of handshakes that are broken off
	s.StartTLS()
	t.Cleanup(s.Close)
	u, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	port, err := strconv.Atoi(u.Port())
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(s.Certificate())
	return s.URL, &vertex.MediaFetch{Networks: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, Ports: []int{port}, RootCAs: roots}, asked
}

func fetching(t *testing.T, m *vertex.MediaFetch, rt http.RoundTripper) *vertex.Provider {
	t.Helper()
	p := vertex.New(vertex.Config{Transport: rt, MediaFetch: m})
	t.Cleanup(func() { _ = p.Close() })
	return p
}

const claude5 = "anthropic.claude-sonnet-5"

// asks is a request with one user message of these parts.
func asks(t *testing.T, parts ...string) *providers.ChatCompletionRequest {
	t.Helper()
	return decodeRequest(t, []byte(`{"model":"`+claude5+`","messages":[{"role":"user","content":[`+strings.Join(parts, ",")+`]}]}`))
}

func TestMediaIsFetchedForClaude(t *testing.T) {
	at, settings, asked := web(t)
	q := decodeRequest(t, []byte(`{"model":"`+claude5+`","n":2,"messages":[{"role":"user","content":[
		{"type":"image_url","image_url":{"url":"`+at+`/cat"},"cache_control":{"type":"ephemeral"}},
		{"type":"image_url","image_url":{"url":"`+at+`/odd.png"}},
		{"type":"image_url","image_url":{"url":"`+at+`/cat"}},
		{"type":"file","file":{"file_url":"`+at+`/doc.pdf","filename":"doc"}},
		{"type":"image_url","image_url":{"url":"`+at+`/note"}},
		{"type":"file","file":{"file_url":"`+at+`/raw"}},
		{"type":"document","source":{"type":"url","url":"`+at+`/doc.pdf"},"title":"D","surprise":1,"cache_control":{"type":"ephemeral"}},
		{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBORw0KGgo="}}]},
		{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}]},
		{"role":"tool","tool_call_id":"c","content":[{"type":"image_url","image_url":{"url":"`+at+`/cat"}}]}]}`))
	const (
		png = `{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgo="}`
		pdf = `{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"JVBERi0xLjc="}`
		txt = `{"type":"document","source":{"type":"text","media_type":"text/plain","data":`
	)
	want := `[{"role":"user","content":[` + png + `,"cache_control":{"type":"ephemeral"}},` +
		`{"type":"image","source":{"type":"base64","media_type":"image/gif","data":"R0lGODlh"}},` + png + `},` + pdf + `,"title":"doc"},` +
		txt + `"# Hi"}},` + txt + `"plain words"}},` + pdf + `,"title":"D","cache_control":{"type":"ephemeral"}},` + png + `}]},` +
		`{"role":"assistant","content":[{"type":"tool_use","id":"c","name":"f","input":{}}]},` +
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":[` + png + `}]}]}]`
	rt := plays([]byte(okMessage))
	p := fetching(t, settings, rt)
	answer, err := p.ChatCompletion(t.Context(), target(claude5), q)
	if err != nil {
		t.Fatal(err)
	}
	wantMessages(t, want, rt.sent)
	if err := testkit.CheckClaudeBody(claude5, rt.sent); err != nil {
		t.Error(err)
	}
	if asked.Load() != 5 || rt.calls != 2 {
		t.Errorf("%d files were asked for and %d requests sent, want each file once and 2 requests", asked.Load(), rt.calls)
	}
	const warned = "unknown_parameter | messages[0].content[6].surprise | left out: the platform does not know it\n"
	if diff := cmp.Diff(warned, outcome.WarningLines(answer.Meta.Warnings)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}

	counts := plays([]byte(countedClaude))
	if _, err := fetching(t, settings, counts).CountTokens(t.Context(), target(claude5), q); err != nil {
		t.Error(err)
	}
	wantMessages(t, want, counts.sent)
}

// TestFetchingIsTakenOffTheTotal looks at the time that the platform is told, which
// is in whole seconds, rounded up: a limit that is just above a whole one falls
// below it as soon as anything is taken off.
func TestFetchingIsTakenOffTheTotal(t *testing.T) {
	at, settings, _ := web(t)
	const total = time.Hour + 1
	for name, part := range map[string]string{"3600": image(at + "/cat"), "3601": `{"type":"text","text":"nothing to fetch"}`} {
		for op, do := range map[string]func(*vertex.Provider, *providers.Target) error{
			"whole": func(p *vertex.Provider, to *providers.Target) error {
				_, err := p.ChatCompletion(t.Context(), to, asks(t, part))
				return err
			},
			"streamed": func(p *vertex.Provider, to *providers.Target) error {
				r, err := p.ChatCompletionStream(t.Context(), to, asks(t, part))
				if err != nil {
					return err
				}
				return r.Close()
			},
		} {
			t.Run(name+", "+op, func(t *testing.T) {
				var told string
				p := fetching(t, settings, shows(func(r *http.Request) { told = r.Header.Get("X-Server-Timeout") }))
				to := target(claude5)
				to.Timeouts.Total = total
				if err := do(p, to); err != nil {
					t.Fatal(err)
				}
				if told != name || to.Timeouts.Total != total {
					t.Errorf("the platform has %q seconds of %v, want %s", told, to.Timeouts.Total, name)
				}
			})
		}
	}
}

// shows answers well, and shows each request.
type shows func(*http.Request)

func (f shows) RoundTrip(r *http.Request) (*http.Response, error) {
	f(r)
	return plays([]byte(okMessage)).RoundTrip(r)
}

func wantMessages(t *testing.T, want string, sent []byte) {
	t.Helper()
	var body struct{ Messages json.RawMessage }
	if err := json.Unmarshal(sent, &body); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(body.Messages)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestMediaThatIsNotFetched names the member, before anything is sent.
func TestMediaThatIsNotFetched(t *testing.T) {
	at, settings, _ := web(t)
	hosts := *settings
	hosts.Hosts = []string{"cdn.example.com"}
	small := *settings
	small.MaxBytes = 7
	for _, tt := range []struct {
		name     string
		settings *vertex.MediaFetch
		part     string
		param    string
		code     providers.Code
		says     string
	}{
		{"switched off", nil, image(at + "/cat"), "image_url.url", providers.ErrInvalidRequest, "WithMediaFetch"},
		{"switched off, in the platform's form", nil, native("image", at+"/cat"), "source", providers.ErrInvalidRequest, "WithMediaFetch"},
		{"an object of Cloud Storage", settings, image("gs://b/cat.png"), "image_url.url", providers.ErrInvalidRequest, "only https URLs"},
		{"plain http", settings, image("http://example.com/cat.png"), "image_url.url", providers.ErrInvalidRequest, "only https URLs"},
		{"the process itself", new(vertex.MediaFetch{Ports: settings.Ports}), image(at + "/cat"), "image_url.url", providers.ErrInvalidRequest, "no public address"},
		{"a metadata server", settings, image("https://169.254.169.254:" + at[strings.LastIndexByte(at, ':')+1:]), "image_url.url", providers.ErrInvalidRequest, "no public address"},
		{"another host", &hosts, file(at + "/doc.pdf"), "file.file_url", providers.ErrInvalidRequest, "not one that the gateway may fetch from"},
		{"more than may be", &small, image(at + "/cat"), "image_url.url", providers.ErrTooLarge, "more than 7 bytes"},
		{"not found", settings, native("document", at+"/gone.pdf"), "source.url", providers.ErrInvalidRequest, "status 404"},
		{"nobody there", new(vertex.MediaFetch{Networks: settings.Networks, Ports: []int{1}}), image("https://127.0.0.1:1/a"), "image_url.url", providers.ErrConnection, "no connection"},
		{"a page in place of a picture", settings, image(at + "/dog.jpg"), "image_url.url", providers.ErrInvalidRequest, "text/plain, and not to"},
		{"a page that says it is a picture", settings, image(at + "/page"), "image_url.url", providers.ErrInvalidRequest, "text/plain, and not to"},
		{"another type than the given one", settings, `{"type":"image_url","image_url":{"url":"` + at + `/cat","mime_type":"image/jpeg"}}`, "image_url.url", providers.ErrInvalidRequest, "image/png, and not to"},
		{"a song", settings, image(at + "/song.mp3"), "image_url.url", providers.ErrInvalidRequest, "no jpeg, png, gif or webp"},
		{"an archive", settings, image(at + "/zip"), "image_url.url", providers.ErrInvalidRequest, "no jpeg, png, gif or webp"},
		{"an empty file", settings, image(at + "/nothing"), "image_url.url", providers.ErrInvalidRequest, "empty"},
		{"a document that is an image", settings, native("document", at+"/cat"), "source.url", providers.ErrInvalidRequest, "no document"},
		{"an image that is a document", settings, native("image", at+"/doc.pdf"), "source.url", providers.ErrInvalidRequest, "no image"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			rt := plays([]byte(okMessage))
			_, err := fetching(t, tt.settings, rt).ChatCompletion(t.Context(), target(claude5), asks(t, `{"type":"text","text":"a"}`, tt.part))
			e, _ := errors.AsType[*providers.Error](err)
			if e == nil || e.Code != tt.code || e.Param != "messages[0].content[1]."+tt.param || !strings.Contains(e.Message, tt.says) || e.Sent || rt.calls != 0 {
				t.Errorf("%+v after %d calls, want %s about %s that says %q", err, rt.calls, tt.code, tt.param, tt.says)
			}
		})
	}
}

func image(url string) string { return `{"type":"image_url","image_url":{"url":"` + url + `"}}` }

func file(url string) string { return `{"type":"file","file":{"file_url":"` + url + `"}}` }

func native(kind, url string) string {
	return `{"type":"` + kind + `","source":{"type":"url","url":"` + url + `"}}`
}

func TestTheCallersTimeEndsFetches(t *testing.T) {
	at, settings, _ := web(t)
	q := asks(t, image(at+"/slow"))
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	rt := plays([]byte(okMessage))
	if _, err := fetching(t, settings, rt).ChatCompletionStream(ctx, target(claude5), q); code(err) != providers.ErrTimeout || rt.calls != 0 {
		t.Errorf("%v, want %s", err, providers.ErrTimeout)
	}
	g := target(claude5)
	g.Timeouts.Total = 20 * time.Millisecond
	if _, err := fetching(t, settings, rt).ChatCompletion(t.Context(), g, q); code(err) != providers.ErrTimeout || rt.calls != 0 {
		t.Errorf("of the call: %v, want %s", err, providers.ErrTimeout)
	}
}

func TestTooManyURLs(t *testing.T) {
	_, settings, asked := web(t)
	parts := make([]string, 101)
	for i := range parts {
		parts[i] = image("https://example.com/" + strconv.Itoa(i))
	}
	_, err := fetching(t, settings, plays(nil)).ChatCompletion(t.Context(), target(claude5), asks(t, parts...))
	if e, _ := errors.AsType[*providers.Error](err); e == nil || e.Param != "messages[0].content[100].image_url.url" || asked.Load() != 0 {
		t.Errorf("%v", err)
	}
}

// TestOtherFamiliesFetchForThemselves leaves URLs to platforms that take them.
func TestOtherFamiliesFetchForThemselves(t *testing.T) {
	at, settings, asked := web(t)
	for _, model := range []string{"gemini-2.5-flash", "meta.llama-4-maverick-17b-128e-instruct-maas", "mistralai.mistral-medium-3"} {
		q := asks(t, `{"type":"image_url","image_url":{"url":"`+at+`/odd.png"}}`)
		q.Model = model
		rt := plays([]byte(okOpenAnswer))
		if strings.HasPrefix(model, "gemini") {
			rt = plays([]byte(okAnswer))
		}
		if _, err := fetching(t, settings, rt).ChatCompletion(t.Context(), target(model), q); err != nil || !strings.Contains(string(rt.sent), at) {
			t.Errorf("%s: %v, sent %s", model, err, rt.sent)
		}
	}
	if asked.Load() != 0 {
		t.Error("the gateway has fetched")
	}
}

func TestMediaFetchSettings(t *testing.T) {
	for name, m := range map[string]vertex.MediaFetch{
		"no host":       {Hosts: []string{""}},
		"a dot":         {Hosts: []string{"."}},
		"a URL":         {Hosts: []string{"https://example.com"}},
		"a wildcard":    {Hosts: []string{"*.example.com"}},
		"no port":       {Ports: []int{0}},
		"no network":    {Networks: []netip.Prefix{{}}},
		"negative size": {MaxBytes: -1},
		"negative time": {Timeout: -1},
		"negative room": {Parallel: -1},
	} {
		err := m.Validate()
		if e, _ := errors.AsType[*providers.Error](err); e == nil || e.Code != providers.ErrInvalidConfig || e.Param != "media_fetch" {
			t.Errorf("%s: %v", name, err)
		}
	}
	good := vertex.MediaFetch{Hosts: []string{"Example.com", ".a-b.example.org", "10.0.0.1"}, Ports: []int{443}, MaxRedirects: -1}
	if err := good.Validate(); err != nil {
		t.Error(err)
	}
}
