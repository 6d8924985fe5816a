package gateway_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway"
	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

func TestOptionsThatCanNotBe(t *testing.T) {
	for name, o := range map[string]gateway.ClientOption{
		"metadata_labels: empty":         gateway.WithMetadataLabels(""),
		"metadata_labels: upper case":    gateway.WithMetadataLabels("App_"),
		"metadata_labels: digit first":   gateway.WithMetadataLabels("1_"),
		"metadata_labels: too long":      gateway.WithMetadataLabels(strings.Repeat("a", 32)),
		"max_inline_bytes: none":         gateway.WithMaxInlineBytes(0),
		"signature_memory: entries":      gateway.WithSignatureMemory(gateway.SignatureMemory{Entries: -1}),
		"signature_memory: bytes":        gateway.WithSignatureMemory(gateway.SignatureMemory{Bytes: -1}),
		"signature_memory: time to live": gateway.WithSignatureMemory(gateway.SignatureMemory{TTL: -time.Second}),
		"media_fetch: a URL":             gateway.WithMediaFetch(gateway.MediaFetch{Hosts: []string{"https://example.com/"}}),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := gateway.New(gateway.WithProjectID("p"), gateway.WithRegion("global"), o)
			param, _, _ := strings.Cut(name, ":")
			var e *gateway.Error
			if !errors.As(err, &e) || e.Code != gateway.ErrInvalidConfig || e.Param != param {
				t.Errorf("%v, want %s about %s", err, gateway.ErrInvalidConfig, param)
			}
		})
	}
}

// metadataSeen keeps the metadata of calls.
type metadataSeen struct{ got map[string]string }

func (m *metadataSeen) CallStart(ctx context.Context, c gateway.Call) context.Context {
	m.got = c.Metadata
	return ctx
}

func (*metadataSeen) CallEnd(context.Context, gateway.Record) {}

func TestMetadataBecomesLabelsWhenAskedFor(t *testing.T) {
	for _, tt := range []struct {
		name    string
		client  []gateway.ClientOption
		call    []gateway.RequestOption
		request gateway.ChatCompletionRequest
		labels  string
		seen    map[string]string
	}{
		{"not asked for", nil, []gateway.RequestOption{gateway.WithMetadata(map[string]string{"team": "a"})},
			gateway.ChatCompletionRequest{User: "u1"}, "", map[string]string{"team": "a", "_user": "u1"}},
		{"by the client", []gateway.ClientOption{gateway.WithMetadataLabels("app_"), gateway.WithMetadata(map[string]string{"Env": "Prod"})},
			[]gateway.RequestOption{gateway.WithMetadata(map[string]string{"team": "a b"})},
			gateway.ChatCompletionRequest{User: "u1", Metadata: map[string]string{"step": "2"}, Labels: map[string]string{"own": "x"}},
			`{"own":"x","app__user":"u1","app_env":"prod","app_step":"2","app_team":"a_b"}`,
			map[string]string{"Env": "Prod", "team": "a b", "step": "2", "_user": "u1"}},
		{"by the call", nil, []gateway.RequestOption{gateway.WithMetadataLabels("x"), gateway.WithMetadata(map[string]string{"team": "a"})},
			gateway.ChatCompletionRequest{}, `{"xteam":"a"}`, map[string]string{"team": "a"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			srv := vertextest.New()
			defer srv.Close()
			var seen metadataSeen
			client, err := gateway.New(append(tt.client, gateway.WithProjectID("p"), gateway.WithRegion("global"), gateway.WithAccessToken("t"),
				gateway.WithHTTPClient(&http.Client{Transport: srv.Transport()}), gateway.WithObserver(&seen))...)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = client.Close() }()
			tt.request.Model, tt.request.Messages = "gemini-2.5-flash", []gateway.Message{gateway.UserMessage("hi")}
			if _, err := client.Chat.Completions.Create(t.Context(), &tt.request, tt.call...); err != nil {
				t.Fatal(err)
			}
			var body struct{ Labels json.RawMessage }
			if err := json.Unmarshal(srv.Requests()[0].Body, &body); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.labels, string(body.Labels)); diff != "" {
				t.Errorf("labels (-want +got)\n%s", diff)
			}
			if diff := cmp.Diff(tt.seen, seen.got); diff != "" {
				t.Errorf("metadata (-want +got)\n%s", diff)
			}
		})
	}
}

func TestOptionsReachThePlatformProvider(t *testing.T) {
	srv := vertextest.New()
	defer srv.Close()
	client, err := gateway.New(gateway.WithProjectID("p"), gateway.WithRegion("global"), gateway.WithAccessToken("t"),
		gateway.WithHTTPClient(&http.Client{Transport: srv.Transport()}), gateway.WithToolCheck(), gateway.WithMaxInlineBytes(3))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = client.Close() }()
	ask := func(q gateway.ChatCompletionRequest) error {
		q.Model = "gemini-2.5-flash"
		if q.Messages == nil {
			q.Messages = []gateway.Message{gateway.UserMessage("hi")}
		}
		_, err := client.Chat.Completions.Create(t.Context(), &q)
		return err
	}
	if err := ask(gateway.ChatCompletionRequest{Tools: []gateway.Tool{gateway.FunctionTool("f", "", nil), {Type: "web_search"}}}); !errors.Is(err, gateway.ErrOneToolOnly) {
		t.Errorf("%v, want %s", err, gateway.ErrOneToolOnly)
	}
	image := gateway.UserMessage([]gateway.ContentPart{gateway.ImagePart("data:image/png;base64,AAAAAA==")})
	if err := ask(gateway.ChatCompletionRequest{Messages: []gateway.Message{image}}); !errors.Is(err, gateway.ErrTooLarge) {
		t.Errorf("%v, want %s", err, gateway.ErrTooLarge)
	}
	if n := len(srv.Requests()); n != 0 {
		t.Errorf("%d requests were sent", n)
	}
}
