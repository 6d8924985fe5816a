package weigh

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/b650d4bf/gateway/providers"
)

func TestTokens(t *testing.T) {
	const mega = 2_400_000
	payload := strings.Repeat("iVBORw0K", mega/8)
	text := strings.Repeat("words ", mega/6)
	plain := base64.StdEncoding.EncodeToString([]byte(text))
	chat := func(part string) string {
		return `{"model":"m","messages":[{"role":"user","content":[{"type":"text","text":"What is it?"},` + part + `]}]}`
	}
	const media = mediaTokens + 50 // and the little around it
	for _, tt := range []struct {
		name, in    string
		least, most int64
	}{
		{"an image by data URI", chat(`{"type":"image_url","image_url":{"url":"data:image/png;base64,` + payload + `"}}`), mediaTokens, media},
		{"two images", chat(`{"image_url":{"url":"data:image/png;base64,` + payload + `"}},{"image_url":{"url":"data:image/png;base64,` + payload + `"}}`), 2 * mediaTokens, 2 * media},
		{"an image with escaped slashes", chat(`{"image_url":{"url":"data:image\/png;base64,\/9j\/` + payload + `"}}`), mediaTokens, media},
		{"audio", chat(`{"type":"input_audio","input_audio":{"data":"` + payload + `","format":"wav"}}`), mediaTokens, media},
		{"a file", chat(`{"type":"file","file":{"file_data":"data:application/pdf;base64,` + payload + `"}}`), mediaTokens, media},
		{"an input of embeddings", `{"model":"m","input":[{"image":{"base64":"` + payload + `"}}]}`, mediaTokens, media},
		{"Google's own form", `{"contents":[{"parts":[{"inlineData":{"mimeType":"image/png","data":"` + payload + `"}}]}]}`, mediaTokens, media},
		{"a list of images", `{"image":["data:image/png;base64,` + payload + `"]}`, mediaTokens, media},
		{"a small image", chat(`{"image_url":{"url":"data:image/png;base64,` + payload[:20_000] + `"}}`), mediaTokens, media},
		{"text", chat(`{"type":"text","text":"` + text + `"}`), mega / bytesPerToken, mega/bytesPerToken + 50},
		{"text that looks like media", chat(`{"type":"text","text":"data:image/png;base64,` + payload + `"}`), mega / bytesPerToken, mega/bytesPerToken + 50},
		{"text in a member of media", chat(`{"type":"file","file":{"file_data":"` + text + `"}}`), mega / bytesPerToken, mega/bytesPerToken + 50},
		{"a file of text", chat(`{"type":"file","file":{"file_data":"data:text/plain;base64,` + plain + `"}}`), mega / bytesPerToken, mega},
		{"an image beside text", chat(`{"text":"` + text + `"},{"image_url":{"url":"data:image/png;base64,` + payload + `"}}`), mega/bytesPerToken + mediaTokens, mega/bytesPerToken + media},
		{"a short text", `{"model":"m"}`, 4, 4},
		{"JSON that ends early", chat(`{"image_url":{"url":"data:image/png;base64,` + payload + `"}}`)[:mega], mega / bytesPerToken, mega/bytesPerToken + 50},
		{"JSON with more behind it", chat(`{"image_url":{"url":"data:image/png;base64,`+payload+`"}}`) + "}", mega / bytesPerToken, mega/bytesPerToken + 50},
		{"JSON that is too deep", strings.Repeat("[", mega), mega / bytesPerToken, mega/bytesPerToken + 50},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := Tokens([]byte(tt.in)); got < tt.least || got > tt.most {
				t.Errorf("%d tokens, want %d to %d", got, tt.least, tt.most)
			}
		})
	}
}

// FuzzTokens takes any text: the estimate is never more than that of the text, but
// for media.
func FuzzTokens(f *testing.F) {
	payload := strings.Repeat("QUJD", 600)
	f.Add(`{"messages":[{"content":[{"image_url":{"url":"data:image/png;base64,` + payload + `"}}]}]}`)
	f.Add(`{"data":["` + payload + `",{"data":null}],"url":"` + payload)
	f.Fuzz(func(t *testing.T, in string) {
		n := Tokens([]byte(in))
		if n < 1 || n > int64(len(in)/bytesPerToken)+1 {
			t.Errorf("%d tokens of %d bytes", n, len(in))
		}
	})
}

func BenchmarkTokens(b *testing.B) {
	part := providers.ImagePart("data:image/png;base64," + strings.Repeat("QUJD", 600_000))
	req := providers.ChatCompletionRequest{Model: "m", Messages: []providers.Message{providers.UserMessage([]providers.ContentPart{part})}}
	data, err := req.AppendJSON(nil)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if Tokens(data) > 1000 {
			b.Fatal("weighed as text")
		}
	}
}
