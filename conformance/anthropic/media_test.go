package anthropic_test

import (
	"testing"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/google/go-cmp/cmp"
)

const (
	pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
	pdf   = "JVBERi0xLjQKJSVFT0YK"
)

type part struct {
	Text       string
	InlineData *struct{ MimeType, Data string }
	FileData   *struct{ MimeType, FileURI string }
}

// says is a part in one line.
func (p part) says() string {
	switch {
	case p.InlineData != nil:
		return p.InlineData.MimeType + " " + p.InlineData.Data
	case p.FileData != nil:
		return p.FileData.MimeType + " " + p.FileData.FileURI
	}
	return p.Text
}

func TestMedia(t *testing.T) {
	document := anthropic.NewDocumentBlock(anthropic.PlainTextSourceParam{Data: "héllo"})
	document.OfDocument.Title = anthropic.String("A letter")
	for _, model := range []string{flash25, flash3} {
		s := start(t)
		params := ask(model, "Look!")
		params.Messages[0].Content = append(params.Messages[0].Content,
			anthropic.NewImageBlockBase64("image/png", pixel),
			anthropic.NewImageBlock(anthropic.URLImageSourceParam{URL: "https://example.com/a.webp"}),
			anthropic.NewDocumentBlock(anthropic.Base64PDFSourceParam{Data: pdf}),
			anthropic.NewDocumentBlock(anthropic.URLPDFSourceParam{URL: "https://example.com/report"}),
			document,
			anthropic.NewSearchResultBlock([]anthropic.TextBlockParam{{Text: "found"}}, "https://example.com", "A page"),
		)
		s.answer(t, false, params)
		var got struct{ Contents []struct{ Parts []part } }
		s.sent(t, &got)
		var parts []string
		for _, p := range got.Contents[0].Parts {
			parts = append(parts, p.says())
		}
		want := []string{
			"Look!", "image/png " + pixel, "image/webp https://example.com/a.webp", "application/pdf " + pdf,
			"application/pdf https://example.com/report", "text/plain aMOpbGxv", "A page\nhttps://example.com\n\nfound",
		}
		if diff := cmp.Diff(want, parts); diff != "" {
			t.Errorf("%s: parts (-want +got):\n%s", model, diff)
		}
	}
}
