package front

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"slices"
	"strings"

	"github.com/b650d4bf/gateway/internal/jsonx"
	"github.com/b650d4bf/gateway/providers"
)

// ImageBackend draws.
type ImageBackend interface {
	// Images draws; a request with images is to change them.
	Images(ctx context.Context, req *providers.ImageRequest, o *Overrides) (*providers.ImageResponse, error)
}

// imageGenerations serves POST /v1/images/generations.
func (c *call) imageGenerations() error {
	req := new(providers.ImageRequest)
	if err := c.readRequest(req); err != nil {
		return err
	}
	if len(req.Images) > 0 {
		return providers.Invalid("image", "an image is given: use /v1/images/edits to change it")
	}
	return c.draw(req)
}

// imageEdits serves POST /v1/images/edits, whose body is a form with files, as
// OpenAI's clients send it, or JSON.
func (c *call) imageEdits() error {
	req := new(providers.ImageRequest)
	boundary, isForm := formBoundary(c.r.Header["Content-Type"])
	var err error
	if isForm {
		err = c.readForm(boundary, req)
	} else {
		err = c.readRequest(req)
	}
	switch {
	case err != nil:
		return err
	case len(req.Images) == 0:
		return providers.Invalid("image", "an image is required: it is what is changed")
	}
	return c.draw(req)
}

func (c *call) draw(req *providers.ImageRequest) error {
	out, err := c.backend.Images(c.r.Context(), req, &c.o)
	if err != nil {
		return err
	}
	return c.writeAnswer(out, &out.Meta)
}

// formBoundary returns the boundary of a form with files.
func formBoundary(values []string) (boundary string, ok bool) {
	if len(values) != 1 {
		return "", false
	}
	kind, params, err := mime.ParseMediaType(values[0])
	if err != nil || kind != "multipart/form-data" {
		return "", false
	}
	return params["boundary"], true
}

// maxFields bounds the fields of a form.
const maxFields = 100

// readForm reads a form into req.
func (c *call) readForm(boundary string, req *providers.ImageRequest) error {
	if boundary == "" {
		return errNoBoundary()
	}
	buf := jsonx.GetBuffer()
	defer buf.Free() // decoding copies what it keeps
	if err := c.readBytes(buf); err != nil {
		return err
	}
	body, err := formJSON(buf.B, boundary)
	if err != nil {
		return err
	}
	if err := req.UnmarshalJSON(body); err != nil {
		return badField(err)
	}
	return nil
}

// badField tells a mistake in a field; the decoder quotes no values.
func badField(err error) error {
	var e *jsonx.Error
	if !errors.As(err, &e) {
		return providers.Invalid("", "the form is not a request of the OpenAI schema")
	}
	return providers.Invalid(e.Path, "in the form: "+e.Msg)
}

// formJSON returns the JSON that means the same as a form: files are images, and
// the values of fields are what they look like where the schema has no string.
func formJSON(form []byte, boundary string) ([]byte, error) {
	in := newForm(bytes.NewReader(form), boundary)
	var (
		body   []byte
		images jsonx.Writer
		count  int
		names  []string // of fields that come once
	)
	images.BeginArray()
	for fields := 0; ; fields++ {
		part, err := in.NextPart()
		if err == io.EOF { //nolint:errorlint // one that is wrapped is of a form that was cut
			break
		}
		if err != nil || fields == maxFields {
			return nil, badForm()
		}
		name := strings.TrimSuffix(part.FormName(), "[]")
		value, err := io.ReadAll(part)
		if err != nil {
			return nil, badForm()
		}
		file := part.FileName() != ""
		switch {
		case name == "":
			return nil, providers.Invalid("", "a field of the form has no name")
		case slices.Contains(names, name):
			return nil, errTwice(name)
		case name == "image" || name == "images":
			count++
			writeFile(&images, part, value, file)
		case name == "mask":
			var w jsonx.Writer
			writeFile(&w, part, value, file)
			body = jsonx.AppendMember(body, name, w.Bytes())
		case file:
			return nil, providers.Invalid(name, "is a file: files are image and mask")
		default:
			body = jsonx.AppendMember(body, name, fieldJSON(name, value))
		}
		if name != "image" && name != "images" {
			names = append(names, name)
		}
	}
	images.EndArray()
	if count > 0 {
		body = jsonx.AppendMember(body, "image", images.Bytes())
	}
	if body == nil {
		return nil, badForm()
	}
	return body, nil
}

// errTwice refuses a field of which one value would be lost.
func errTwice(name string) error {
	return providers.Invalid(headerText(name), "the form has the field more than once: give it one value")
}

func errNoBoundary() error {
	return invalid(http.StatusBadRequest, "content-type", "content-type: the form has no boundary")
}

func badForm() error {
	return invalid(http.StatusBadRequest, "", "the body is not a whole form, or has too many fields")
}

// writeFile writes an image as JSON has it: a file, or a field with a URL.
func writeFile(w *jsonx.Writer, part *multipart.Part, value []byte, file bool) {
	if !file {
		w.StringBytes(value)
		return
	}
	w.BeginObject()
	w.Key("base64")
	w.String(base64.StdEncoding.EncodeToString(value))
	// What clients say of files they know nothing of says nothing.
	if kind, _, err := mime.ParseMediaType(part.Header.Get("Content-Type")); err == nil && strings.HasPrefix(kind, "image/") {
		w.Key("mime_type")
		w.String(kind)
	}
	w.EndObject()
}

// formStrings are the members that are strings, whatever their text looks like.
var formStrings = map[string]bool{
	"model": true, "prompt": true, "size": true, "aspect_ratio": true, "image_size": true, "quality": true, "style": true, "background": true,
	"output_format": true, "moderation": true, "response_format": true, "input_fidelity": true, "negative_prompt": true, "storage_uri": true,
	"user": true,
}

// fieldJSON returns the value of a field: JSON where it is some other than a
// string, else its text.
func fieldJSON(name string, value []byte) []byte {
	text := bytes.TrimSpace(value)
	if !formStrings[name] && len(text) > 0 && text[0] != '"' && jsonx.Valid(text) {
		return text
	}
	var w jsonx.Writer
	w.StringBytes(value)
	return w.Bytes()
}
