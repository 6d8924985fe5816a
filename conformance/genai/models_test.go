package genai_test

import (
	"strings"
	"testing"

	"google.golang.org/genai"
)

func TestGenerate(t *testing.T) {
	everyWay(t, func(t *testing.T, s *stage, c *genai.Client) {
		got, err := c.Models.GenerateContent(t.Context(), flash25, genai.Text("Say hello."), nil)
		if err != nil {
			t.Fatal(err)
		}
		if got.Text() == "" || got.UsageMetadata == nil || got.UsageMetadata.TotalTokenCount == 0 {
			t.Errorf("answer %+v", got)
		}
		if h := got.SDKHTTPResponse.Headers; h.Get("X-Gateway-Provider") != "vx" || h.Get("X-Gateway-Model") != flash25 {
			t.Errorf("header %v", h)
		}
		_, text, err := collect(t.Context(), c, flash25, genai.Text("Say hello."), nil)
		if err != nil || text == "" {
			t.Errorf("stream %q, %v", text, err)
		}
		for _, r := range s.platform.Requests() {
			if r.Project != "p" || r.Location != "global" || !strings.Contains(r.Path, "/v1beta1/") {
				t.Errorf("asked %s", r.Path)
			}
			if r.Header.Get("X-Goog-Api-Key") != "" || r.Header.Get("Authorization") != "Bearer "+platformToken {
				t.Error("wrong credentials")
			}
		}
	})
}
