package gateway_test

import (
	"crypto/x509"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/b650d4bf/gateway"
)

// TestMediaFetch asks a Claude model about a picture on the web, in both schemas,
// with and without leave to fetch it.
func TestMediaFetch(t *testing.T) {
	web := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "image/png")
		_, _ = w.Write([]byte("\x89PNG\r\n\x1a\n"))
	}))
	defer web.Close()
	u, err := url.Parse(web.URL)
	if err != nil {
		t.Fatal(err)
	}
	port, err := strconv.Atoi(u.Port())
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(web.Certificate())
	own := gateway.MediaFetch{Networks: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, Ports: []int{port}, RootCAs: roots}

	const model = "anthropic.claude-sonnet-4-5@20250929"
	chat := &gateway.ChatCompletionRequest{Model: model, Messages: []gateway.Message{
		gateway.UserMessage([]gateway.ContentPart{gateway.ImagePart(web.URL + "/cat.png")}),
	}}
	message := []byte(`{"model":"` + model + `","max_tokens":64,"messages":[{"role":"user","content":[
		{"type":"image","source":{"type":"url","url":"` + web.URL + `/cat.png"}}]}]}`)
	for name, tt := range map[string]struct {
		opts []gateway.ClientOption
		says string // "" when it is fetched
	}{
		"off":               {nil, "WithMediaFetch"},
		"on":                {[]gateway.ClientOption{gateway.WithMediaFetch(own)}, ""},
		"on, for the world": {[]gateway.ClientOption{gateway.WithMediaFetch(gateway.MediaFetch{Ports: own.Ports})}, "no public address"},
	} {
		t.Run(name, func(t *testing.T) {
			client, platform := emulated(tt.opts...)
			defer client.Close()
			_, chatErr := client.Chat.Completions.Create(t.Context(), chat)
			_, messageErr := client.Messages.Create(t.Context(), message)
			for param, err := range map[string]error{"messages[0].content[0].image_url.url": chatErr, "messages[0].content[0].source": messageErr} {
				var e *gateway.Error
				switch {
				case tt.says == "" && err != nil:
					t.Error(err)
				case tt.says != "" && (!errors.As(err, &e) || e.Code != gateway.ErrInvalidRequest || e.Param != param || !strings.Contains(e.Message, tt.says)):
					t.Errorf("%v, want an error about %s that says %q", err, param, tt.says)
				}
			}
			if sent := len(platform.Requests()); (sent == 2) != (tt.says == "") {
				t.Errorf("%d requests were sent", sent)
			}
		})
	}
}
