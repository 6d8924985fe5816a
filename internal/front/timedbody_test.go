package front

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/b650d4bf/gateway/providers"
)

// pipes is a listener of connections that know no time but that of the test.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

func (p *pipes) Addr() net.Addr { return &net.TCPAddr{} }

// servePipes serves in a bubble. dial connects; end waits until nothing is left.
func servePipes(t *testing.T, srv *http.Server) (dial func() net.Conn, end func()) {
	t.Helper()
	p := &pipes{conns: make(chan net.Conn), closed: make(chan struct{})}
	srv.ReadHeaderTimeout = time.Minute // and IdleTimeout, which is that where it is none
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := srv.Serve(p); !errors.Is(err, http.ErrServerClosed) {
			t.Errorf("%v", err)
		}
	}()
	dial = func() net.Conn {
		client, server := net.Pipe()
		p.conns <- server
		return client
	}
	return dial, func() {
		_ = srv.Close()
		<-done
	}
}

// head is a request with a body of n bytes.
func head(method, path string, n int, header ...string) string {
	return fmt.Sprintf("%s %s HTTP/1.1\r\nHost: h\r\nContent-Length: %d\r\n%s\r\n", method, path, n, strings.Join(append(header, ""), "\r\n"))
}

// answerOf reads an answer, with its body.
func answerOf(t *testing.T, in *bufio.Reader) (*http.Response, string) {
	t.Helper()
	res, err := http.ReadResponse(in, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	return res, readBody(t, res)
}

func say(t *testing.T, c net.Conn, text string) {
	t.Helper()
	if _, err := io.WriteString(c, text); err != nil {
		t.Error(err)
	}
}

// keeper is a backend that keeps files, and takes its time for each piece.
type keeper struct {
	fake
	pause time.Duration
	got   strings.Builder
}

func (k *keeper) CreateFile(ctx context.Context, req *providers.FileRequest, _ *Overrides) (*providers.FileObject, error) {
	p := make([]byte, 512)
	for {
		n, err := req.File.Read(p)
		k.got.Write(p[:n])
		if errors.Is(err, io.EOF) {
			return &providers.FileObject{ID: "file-1"}, req.Trailer(req)
		}
		if err != nil {
			return nil, errors.Join(ctx.Err(), err)
		}
		time.Sleep(k.pause)
	}
}

func (k *keeper) CancelBatch(context.Context, string, *Overrides) (*providers.Batch, error) {
	return nil, errors.New("a batch was canceled")
}

const (
	fileForm  = "--b\r\nContent-Disposition: form-data; name=\"purpose\"\r\n\r\nbatch\r\n--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"f\"\r\n\r\n"
	fileClose = "\r\n--b--\r\n"
)

// TestBodiesThatStop has clients that send a part of a body and stay, on every way
// that a body takes.
func TestBodiesThatStop(t *testing.T) {
	const form = "Content-Type: multipart/form-data; boundary=b"
	tests := []struct {
		name, method, path, sent string
		header                   []string
		status                   int
		want                     string
	}{
		{"nothing", "POST", chatPath, "", nil, 408, `"code":"timeout"`},
		{"a completion", "POST", chatPath, `{"model":`, nil, 408, `"code":"timeout"`},
		{"gzip", "POST", chatPath, zip(t, hello)[:20], []string{"Content-Encoding: gzip"}, 408, `"code":"timeout"`},
		{"gzip within its header", "POST", chatPath, zip(t, hello)[:4], []string{"Content-Encoding: gzip"}, 408, `"code":"timeout"`},
		{"a message", "POST", "/v1/messages", `{"model":`, nil, 408, `"type":"timeout_error"`},
		{"Google's schema", "POST", "/v1beta/models/m:generateContent", `{"contents":`, nil, 408, `"status":"DEADLINE_EXCEEDED"`},
		{"a prompt", "POST", "/v1/prompts/p/completions", `{`, nil, 408, `"code":"timeout"`},
		{"a batch", "POST", "/v1/batches", `{`, nil, 408, `"code":"timeout"`},
		{"feedback", "POST", "/v1/feedback", `{`, nil, 408, `"code":"timeout"`},
		{"a form of an image", "POST", editPath, "--b\r\nContent-", []string{form}, 408, `"code":"timeout"`},
		{"a form of a file, before it", "POST", "/v1/files", fileForm[:60], []string{form}, 408, `"code":"timeout"`},
		{"a form of a file, within it", "POST", "/v1/files", fileForm + "x", []string{form}, 408, `"code":"timeout"`},
		{"a form of a file, behind it", "POST", "/v1/files", fileForm + "x\r\n--b\r\n", []string{form}, 408, `"code":"timeout"`},
		{"a form of a file, behind all of it", "POST", "/v1/files", fileForm + "x" + fileClose, []string{form}, 200, `file-1`},
		{"a body that means nothing", "GET", "/v1/models", `{`, nil, 408, `"code":"timeout"`},
		{"a body that means nothing either", "POST", "/v1/batches/b/cancel", `{`, nil, 408, `"code":"timeout"`},
		{"a wrong key", "POST", chatPath, `{`, []string{"X-Gateway-Api-Key: wrong"}, 401, `"code":"authentication_failed"`},
		{"no such path", "POST", "/v1/none", `{`, nil, 404, `"code":"invalid_request"`},
		{"a wrong type", "POST", chatPath, `{`, []string{"Content-Type: text/plain"}, 415, `"param":"content-type"`},
		{"a question what there is", "OPTIONS", chatPath, `{`, nil, 204, ``},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				k := &keeper{}
				dial, end := servePipes(t, &http.Server{Handler: New(Config{Keys: []string{"key"}}, k)})
				defer end()
				c := dial()
				begin := time.Now()
				header := tt.header
				if tt.status != 401 {
					header = append([]string{"X-Gateway-Api-Key: key"}, header...)
				}
				say(t, c, head(tt.method, tt.path, 1000, header...)+tt.sent)
				in := bufio.NewReader(c)
				res, body := answerOf(t, in)
				if res.StatusCode != tt.status || !strings.Contains(body, tt.want) || !res.Close {
					t.Errorf("status %d, closed %v, %s", res.StatusCode, res.Close, body)
				}
				if _, err := in.ReadByte(); !errors.Is(err, io.EOF) {
					t.Errorf("the connection is open: %v", err)
				}
				if took := time.Since(begin); took > bodyIdle+2*time.Second || took < bodyIdle-time.Second {
					t.Errorf("after %v", took)
				}
				if k.calls > 0 {
					t.Error("the backend was called")
				}
			})
		})
	}
}

// TestBodiesThatAreSlow come in pieces.
func TestBodiesThatAreSlow(t *testing.T) {
	tests := []struct {
		name          string
		pause         time.Duration
		pieces, bytes int
		readTimeout   time.Duration
		status        int
		after         time.Duration
	}{
		{"within the limit", 20 * time.Second, 2, 1, 0, 200, 40 * time.Second},
		{"many, fast enough", time.Second, 55, 1, 0, 200, 55 * time.Second},
		{"one pause too long", 31 * time.Second, 1, 1, 0, 408, 30 * time.Second},
		{"below the rate", 20 * time.Second, 10, 1, 0, 408, 60 * time.Second},
		{"above the rate", time.Second, 80, 2 << 10, 0, 200, 80 * time.Second},
		{"a server with a limit of its own", 31 * time.Second, 4, 1, 5 * time.Minute, 200, 124 * time.Second},
		{"beyond the server's own", 31 * time.Second, 20, 1, 5 * time.Minute, 408, 5 * time.Minute},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				dial, end := servePipes(t, &http.Server{Handler: New(Config{}, &fake{}), ReadTimeout: tt.readTimeout})
				defer end()
				c := dial()
				begin, sent := time.Now(), make(chan struct{})
				go func() {
					defer close(sent)
					piece := strings.Repeat(" ", tt.bytes)
					_, err := io.WriteString(c, head("POST", chatPath, len(piece)*tt.pieces+len(hello)))
					for i := 0; i < tt.pieces && err == nil; i++ {
						time.Sleep(tt.pause)
						_, err = io.WriteString(c, piece)
					}
					if err == nil {
						_, _ = io.WriteString(c, hello)
					}
				}()
				res, body := answerOf(t, bufio.NewReader(c))
				if res.StatusCode != tt.status {
					t.Errorf("status %d, %s", res.StatusCode, body)
				}
				if took := time.Since(begin); took > tt.after+time.Second || took < tt.after-2*time.Second {
					t.Errorf("after %v, want %v", took, tt.after)
				}
				_ = c.Close()
				<-sent
			})
		})
	}
}

// patient is a backend that takes an hour for each thing it says.
type patient struct {
	fake
	ctx  context.Context
	said int
	gone chan time.Time // when it noticed that the client had left
}

func (p *patient) ChatStream(ctx context.Context, _ *providers.ChatCompletionRequest, _ *Overrides) (Stream, error) {
	p.ctx = ctx
	time.Sleep(time.Hour)
	return p, ctx.Err()
}

func (p *patient) Recv() (*providers.ChatCompletionChunk, error) {
	select {
	case <-time.After(time.Hour):
		p.said++
		return textChunk("a"), nil
	case <-p.ctx.Done():
		p.gone <- time.Now()
		return nil, p.ctx.Err()
	}
}

func (p *patient) Meta() providers.Meta { return providers.Meta{} }
func (p *patient) Close() error         { return nil }

// clientOf speaks HTTP of that version.
func clientOf(dial func() net.Conn, major int) *http.Client {
	tr := &http.Transport{
		DialContext: func(context.Context, string, string) (net.Conn, error) { return dial(), nil },
		Protocols:   new(http.Protocols),
	}
	tr.Protocols.SetHTTP1(major == 1)
	tr.Protocols.SetUnencryptedHTTP2(major == 2)
	return &http.Client{Transport: tr}
}

func bothProtocols() *http.Protocols {
	p := new(http.Protocols)
	p.SetHTTP1(true)
	p.SetUnencryptedHTTP2(true)
	return p
}

// overBoth runs a test in HTTP/1 and HTTP/2, against a backend.
func overBoth(t *testing.T, b Backend, test func(t *testing.T, do func(ctx context.Context, path, kind string, body io.Reader) *http.Response)) {
	t.Helper()
	for _, major := range []int{1, 2} {
		t.Run(fmt.Sprint("HTTP/", major), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				dial, end := servePipes(t, &http.Server{Handler: New(Config{}, b), Protocols: bothProtocols()})
				defer end()
				client := clientOf(dial, major)
				defer client.CloseIdleConnections()
				test(t, func(ctx context.Context, path, kind string, body io.Reader) *http.Response {
					r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://h"+path, body)
					if err != nil {
						t.Fatal(err)
					}
					r.Header.Set("Content-Type", kind)
					res, err := client.Do(r)
					if err != nil {
						t.Fatal(err)
					}
					if res.ProtoMajor != major {
						t.Errorf("%s", res.Proto)
					}
					return res
				})
			})
		})
	}
}

const inJSON = "application/json"

// TestLongCallsHaveNoLimit has a client that waits for hours, and then leaves.
func TestLongCallsHaveNoLimit(t *testing.T) {
	p := &patient{}
	overBoth(t, p, func(t *testing.T, do func(context.Context, string, string, io.Reader) *http.Response) {
		p.gone = make(chan time.Time, 1)
		ctx, leave := context.WithCancel(t.Context())
		defer leave()
		res := do(ctx, chatPath, inJSON, strings.NewReader(helloSSE))
		in := bufio.NewReader(res.Body)
		for range 3 {
			if got := readEvent(t, in); got != event("a") {
				t.Fatalf("event %q", got)
			}
		}
		time.Sleep(time.Minute)
		left := time.Now()
		leave()
		if noticed := <-p.gone; noticed.Sub(left) > time.Second {
			t.Errorf("noticed after %v", noticed.Sub(left))
		}
		_ = res.Body.Close()
	})
}

// slowBody comes in pieces, each after a pause.
type slowBody struct {
	text  string
	size  int
	pause time.Duration
}

func (s *slowBody) Read(p []byte) (int, error) {
	if s.text == "" {
		return 0, io.EOF
	}
	time.Sleep(s.pause)
	n := copy(p, s.text[:min(s.size, len(s.text))])
	s.text = s.text[n:]
	return n, nil
}

// TestBodiesOverBoth come at once, slowly, and too slowly, and a call behind each
// has the time again.
func TestBodiesOverBoth(t *testing.T) {
	overBoth(t, &fake{}, func(t *testing.T, do func(context.Context, string, string, io.Reader) *http.Response) {
		for _, tt := range []struct {
			body   slowBody
			status int
		}{
			{slowBody{hello, 1000, 0}, 200},
			{slowBody{hello, 40, 25 * time.Second}, 200},
			{slowBody{hello, 40, 35 * time.Second}, 408},
			{slowBody{hello, 1, 5 * time.Second}, 408},
			{slowBody{hello, 1000, time.Second}, 200},
		} {
			res := do(t.Context(), chatPath, inJSON, &tt.body)
			if body := readBody(t, res); res.StatusCode != tt.status || tt.status == 408 && !strings.Contains(body, `"code":"timeout"`) {
				t.Errorf("%d bytes each %v: status %d, want %d: %s", tt.body.size, tt.body.pause, res.StatusCode, tt.status, body)
			}
			_ = res.Body.Close()
			time.Sleep(50 * time.Second) // within what connections are kept
		}
	})
}

// TestSlowKeepersOfFiles take more time for a piece than a client has, who sends on
// meanwhile.
func TestSlowKeepersOfFiles(t *testing.T) {
	k := &keeper{pause: 2 * bodyIdle}
	overBoth(t, k, func(t *testing.T, do func(context.Context, string, string, io.Reader) *http.Response) {
		k.got.Reset()
		file := strings.Repeat("0123456789", 2000)
		res := do(t.Context(), "/v1/files", "multipart/form-data; boundary=b", &slowBody{fileForm + file + fileClose, 4000, 20 * time.Second})
		if body := readBody(t, res); res.StatusCode != 200 || k.got.String() != file {
			t.Errorf("status %d, %d bytes of %d: %s", res.StatusCode, k.got.Len(), len(file), body)
		}
		_ = res.Body.Close()
	})
}

func TestWithBodyIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		whole := New(Config{}, &fake{})
		dial, end := servePipes(t, &http.Server{Handler: WithBodyIdle(whole, time.Second)})
		defer end()
		begin, c := time.Now(), dial()
		say(t, c, head("POST", chatPath, 10))
		if res, body := answerOf(t, bufio.NewReader(c)); res.StatusCode != 408 || time.Since(begin) > 2*time.Second {
			t.Errorf("status %d after %v: %s", res.StatusCode, time.Since(begin), body)
		}
		if whole.(*handler).bodyIdle != bodyIdle {
			t.Error("the handler itself has changed")
		}
	})
}
