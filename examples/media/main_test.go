package main

import (
	"bytes"
	"strings"
	"testing"
)

// TestRun checks what a newcomer sees.
func TestRun(t *testing.T) {
	var out bytes.Buffer
	if err := run(t.Context(), &out, func(string) string { return "" }); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`"detail":"high"`, "258 of image", "You sent image/png",
		`"file_url":"gs://`, "258 of document", "You sent application/pdf",
		`"video_metadata":{"start_offset":10,"end_offset":15,"fps":2}`, "258 of video", "You sent video/mp4",
		`"input_audio"`, "258 of audio", "You sent audio/wav",
		"convert the file to PDF", "add an extension, or give mime_type",
		"request_too_large\n", "put the file into Cloud Storage and give its gs:// URL",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in\n%s", want, out.String())
		}
	}
	if strings.Contains(out.String(), "warning") {
		t.Errorf("something was changed or left out:\n%s", out.String())
	}
}
