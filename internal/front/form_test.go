package front

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"
)

// TestFormsThatAreCut reads every beginning of a form.
func TestFormsThatAreCut(t *testing.T) {
	const crlf = "--b\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n--b\r\nContent-Disposition: form-data; name=\"image\"; filename=\"f\"\r\n\r\nx\r\n--b--\r\n"
	for name, form := range map[string]string{"CRLF": crlf, "LF": strings.ReplaceAll(crlf, "\r\n", "\n")} {
		end := strings.LastIndex(form, "--") + 2
		for n := range len(form) + 1 {
			if form[max(0, n-1):n] == "\r" && n > end {
				continue // half an end of line, behind the form
			}
			parts := newForm(iotest.OneByteReader(strings.NewReader(form[:n])), "b")
			count, err := 0, error(nil)
			for err == nil {
				var part io.Reader
				if part, err = parts.NextPart(); err == nil {
					_, err = io.Copy(io.Discard, part)
					count++
				}
			}
			// What it is exactly is the point.
			if whole := err == io.EOF; whole != (n >= end) || whole && count != 2 {
				t.Errorf("%s, %d of %d bytes: %d parts, %v", name, n, len(form), count, err)
			}
			if _, err := formJSON([]byte(form[:n]), "b"); (err == nil) != (n >= end) {
				t.Errorf("%s, %d of %d bytes: %v", name, n, len(form), err)
			}
		}
	}
	epilogue := newForm(strings.NewReader(crlf+"an epilogue"), "b")
	for range 2 {
		if _, err := epilogue.NextPart(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := epilogue.NextPart(); !errors.Is(err, io.EOF) {
		t.Errorf("%v", err)
	}
}

// TestFieldsThatComeTwice are refused: one of their values would be lost.
func TestFieldsThatComeTwice(t *testing.T) {
	file := field{name: "image", value: "x", file: "a.png", kind: "image/png"}
	mask := field{name: "mask", value: "x", file: "m.png", kind: "image/png"}
	for name, fields := range map[string][]field{
		"prompt": {file, {name: "prompt", value: "a"}, {name: "prompt", value: "b"}},
		"mask":   {file, mask, mask},
	} {
		body, kind := imageForm(t, fields...)
		b := &fake{fakeServices: drawn()}
		if w := submit(t, Config{}, b, body, kind); w.Code != http.StatusBadRequest || paramOf(t, w.Body.Bytes()) != name || b.image != nil {
			t.Errorf("%s: %d %s", name, w.Code, w.Body)
		}
	}
	body, kind := imageForm(t, file, file, field{name: "prompt", value: "a"}, field{name: "model", value: "m"})
	b := &fake{fakeServices: drawn()}
	if w := submit(t, Config{}, b, body, kind); w.Code != http.StatusOK || len(b.image.Images) != 2 {
		t.Errorf("two images: %d %s", w.Code, w.Body)
	}
}
