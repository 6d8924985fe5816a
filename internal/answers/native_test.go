package answers

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/cache"
	"github.com/b650d4bf/gateway/providers"
)

func TestNativeIsKept(t *testing.T) {
	for _, want := range []*Native{
		{Events: [][]byte{[]byte("{ }\n")}},
		{
			Events: [][]byte{[]byte(`{"a":1}`), []byte(`{"b":"é"}`)},
			Facts: providers.NativeFacts{
				ID: "r", Model: "v", FinishReason: "stop", NativeFinishReason: "STOP", Sources: true, Searches: 2, Maps: true,
				Usage: &providers.Usage{PromptTokens: 3, CompletionTokens: 5, TotalTokens: 8, Extra: providers.Extra(`{"traffic_type":"ON_DEMAND"}`)},
			},
		},
	} {
		kept := Kept{Took: 3 * time.Millisecond, Warnings: []providers.Warning{{Code: "c", Message: "m"}}}
		body := EncodeNative(&kept, want)
		got, k, err := DecodeNative(body)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got) + cmp.Diff(kept, k); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		for n := range body {
			if _, _, err := DecodeNative(body[:n]); !errors.Is(err, cache.ErrCorrupt) {
				t.Errorf("%d bytes: %v", n, err)
			}
		}
	}
}

func TestNativeKeys(t *testing.T) {
	base := providers.NativeRequest{Model: "m", Method: providers.NativeGenerate, Body: []byte(`{"a":1,"b":[2]}`)}
	key := func(change func(*providers.NativeRequest)) cache.Key {
		q := base
		change(&q)
		return Key(&Scope{Operation: "o", Target: new(providers.Target)}, &q, WriteNative)
	}
	want := key(func(*providers.NativeRequest) {})
	for name, change := range map[string]func(*providers.NativeRequest){
		"white space":     func(q *providers.NativeRequest) { q.Body = []byte("{ \"a\": 1,\n\"b\":[2]}") },
		"labels":          func(q *providers.NativeRequest) { q.Body = []byte(`{"labels":{"x":"y"},"a":1,"b":[2]}`) },
		"a model's alias": func(q *providers.NativeRequest) { q.Model = "@slug/m" }, // which the target has
	} {
		if key(change) != want {
			t.Errorf("%s: another key", name)
		}
	}
	for name, change := range map[string]func(*providers.NativeRequest){
		"a member": func(q *providers.NativeRequest) { q.Body = []byte(`{"a":2,"b":[2]}`) },
		"a method": func(q *providers.NativeRequest) { q.Method = providers.NativeStream },
		"beta":     func(q *providers.NativeRequest) { q.Beta = true },
	} {
		if key(change) == want {
			t.Errorf("%s: the same key", name)
		}
	}
}

func TestNativeRules(t *testing.T) {
	half := 0.5
	tests := []struct {
		name, body string
		rules      Rules
		out        bool
	}{
		{"a plain one", `{"contents":[]}`, Rules{}, false},
		{"functions", `{"tools":[{"functionDeclarations":[]},{"function_declarations":[]}]}`, Rules{}, false},
		{"a search", `{"tools":[{"functionDeclarations":[]},{"googleSearch":{}}]}`, Rules{}, true},
		{"a search that is no list", `{"tools":{"googleSearch":{}}}`, Rules{}, true},
		{"a search in a second list", `{"tools":[],"tools":[{"googleSearch":{}}]}`, Rules{}, true},
		{"functions that are no list", `{"tools":{"functionDeclarations":{"name":"f"}}}`, Rules{}, false},
		{"a search that may be kept", `{"tools":[{"googleSearch":{}}]}`, Rules{PlatformTools: true}, false},
		{"a low temperature", `{"generationConfig":{"temperature":0.5}}`, Rules{MaxTemperature: &half}, false},
		{"a high one", `{"generationConfig":{"temperature":0.6}}`, Rules{MaxTemperature: &half}, true},
		{"none", `{}`, Rules{MaxTemperature: &half}, true},
		{"a file", `{"contents":[{"parts":[{"fileData":{"fileUri":"gs://a/b"}}]}]}`, Rules{}, false},
		{"a file that may change", `{"contents":[{"parts":[{"fileData":{"fileUri":"gs://a/b"}}]}]}`, Rules{RemoteMediaOff: true}, true},
		{"a file that is no list", `{"contents":{"parts":{"file_data":{"fileUri":"gs://a/b"}}}}`, Rules{RemoteMediaOff: true}, true},
		{"a file within many lists", strings.Repeat(`{"a":[`, 400) + `{"fileData":1}` + strings.Repeat(`]}`, 400), Rules{RemoteMediaOff: true}, true},
		{"no file", `{"contents":[{"parts":[{"text":"fileData"}]}]}`, Rules{RemoteMediaOff: true}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			why := tt.rules.Native(&providers.NativeRequest{Method: providers.NativeGenerate, Body: []byte(tt.body)})
			if (why != "") != tt.out {
				t.Errorf("%q", why)
			}
		})
	}
	answers := []struct {
		name   string
		method string
		facts  providers.NativeFacts
		rules  Rules
		out    bool
	}{
		{"whole", providers.NativeStream, providers.NativeFacts{FinishReason: "stop", NativeFinishReason: "STOP"}, Rules{}, false},
		{"a call", providers.NativeGenerate, providers.NativeFacts{FinishReason: "tool_calls", NativeFinishReason: "STOP"}, Rules{}, false},
		{"without a reason", providers.NativeGenerate, providers.NativeFacts{}, Rules{}, true},
		{"a count", providers.NativeCount, providers.NativeFacts{}, Rules{}, false},
		{"another reason", providers.NativeGenerate, providers.NativeFacts{FinishReason: "stop", NativeFinishReason: "OTHER"}, Rules{}, true},
		{"a limit", providers.NativeGenerate, providers.NativeFacts{FinishReason: "length", NativeFinishReason: "MAX_TOKENS"}, Rules{}, true},
		{"a limit that may be kept", providers.NativeGenerate, providers.NativeFacts{FinishReason: "length", NativeFinishReason: "MAX_TOKENS"}, Rules{Truncated: true}, false},
		{"blocked", providers.NativeGenerate, providers.NativeFacts{FinishReason: "content_filter"}, Rules{}, true},
		{"sources", providers.NativeGenerate, providers.NativeFacts{FinishReason: "stop", NativeFinishReason: "STOP", Sources: true}, Rules{}, true},
	}
	for _, tt := range answers {
		t.Run(tt.name, func(t *testing.T) {
			if why := tt.rules.NativeAnswer(tt.method, &tt.facts); (why != "") != tt.out {
				t.Errorf("%q", why)
			}
		})
	}
}

// FuzzNative checks that no kept answer breaks the reader.
func FuzzNative(f *testing.F) {
	f.Add(EncodeNative(&Kept{}, &Native{Events: [][]byte{[]byte(`{}`)}, Facts: providers.NativeFacts{Usage: new(providers.Usage)}}))
	f.Add([]byte("\x01n\x00\x00"))
	f.Fuzz(func(t *testing.T, body []byte) {
		a, _, err := DecodeNative(body)
		if err == nil && (a == nil || len(a.Events) == 0) {
			t.Error("an answer without events")
		}
		if err != nil && !errors.Is(err, cache.ErrCorrupt) {
			t.Errorf("error %v", err)
		}
	})
}
