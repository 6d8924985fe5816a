package providers

import (
	"context"
	"encoding/base64"
	"net/http"
	"strconv"
	"strings"
)

// ImageGenerator is the ability to draw. A [Provider] that has it implements
// this too.
type ImageGenerator interface {
	// Images draws what req asks for; one with images is asked to change them.
	// The provider must not keep or change req.
	Images(ctx context.Context, t *Target, req *ImageRequest) (*ImageResponse, error)
}

// ImageRequest is the body of POST /v1/images/generations and, with Images, of
// POST /v1/images/edits. A nil pointer or an empty value is "not given". Members
// that it does not name are kept in Extra: what becomes of each is told in
// docs/images.md.
//
// Source: https://platform.openai.com/docs/api-reference/images, extended by
// the members marked below.
type ImageRequest struct {
	// Model is a model reference: "@slug/model", "model", "publisher/model" or a
	// full resource name.
	Model string
	// Prompt says what to draw, or what to change.
	Prompt string
	// Images are what an edit begins with, and Mask says which part of the first
	// one may change: where it is transparent. A mask without transparency has
	// the platform's own meaning, white for what may change.
	Images []ImageInput
	Mask   *ImageInput
	// N is how many images are wanted, from 1 to 10; default 1.
	N *int
	// Size is "WIDTHxHEIGHT" or "auto". The nearest shape that the model draws is
	// taken, with a warning where it is another.
	Size string
	// AspectRatio, such as "16:9", and ImageSize, such as "2K", say it in the
	// platform's words, and win over Size (extension).
	AspectRatio, ImageSize string
	// Quality, Style and Background are words of the OpenAI schema, such as
	// "high", "vivid" and "transparent".
	Quality, Style, Background string
	// OutputFormat is "png", the default, or "jpeg".
	OutputFormat string
	// OutputCompression is the quality of a JPEG, from 0 to 100.
	OutputCompression *int
	// Moderation is "auto" or "low".
	Moderation string
	// ResponseFormat is "b64_json", the default, or "url". The platforms have no
	// https URLs: see [Image].
	ResponseFormat string
	// InputFidelity is "high" or "low".
	InputFidelity string
	// PartialImages and Stream ask for a streamed answer, which there is none of.
	PartialImages *int
	Stream        bool
	// NegativePrompt says what must not be drawn (extension).
	NegativePrompt string
	// Seed makes images repeatable; further images of a call have the next
	// numbers (extension).
	Seed *int64
	// StorageURI is a folder of Cloud Storage, gs://bucket/folder, that the
	// platform puts the images in, in place of the answer (extension).
	StorageURI string
	// Labels are cost-attribution labels for the platform (extension).
	Labels map[string]string
	// User is the end user's id.
	User string
	// Extra keeps the members that are not named above.
	Extra Extra
}

// The response formats of images.
const (
	ImageFormatBase64 = "b64_json"
	ImageFormatURL    = "url"
)

// ImageInput is an image that is sent along, by URL or inline.
type ImageInput struct {
	// URL is a gs:// or https URL, or a data URI.
	URL string
	// Base64 is the data itself, in place of a URL.
	Base64 string
	// MimeType is the media type, where neither URL nor data tell it.
	MimeType string
	// Extra keeps the members that are not named above.
	Extra Extra
}

// ImageBytes is an image that is sent along. The type is one such as
// "image/png"; "" leaves it to the first bytes.
func ImageBytes(mimeType string, data []byte) ImageInput {
	return ImageInput{Base64: base64.StdEncoding.EncodeToString(data), MimeType: mimeType}
}

// ImageResponse holds the images.
type ImageResponse struct {
	// Created is in Unix seconds.
	Created int64
	// Data are the images. There are fewer than asked for where the platform
	// filtered some out, which a warning tells.
	Data []Image
	// Background, OutputFormat, Quality and Size say what was drawn, as far as
	// that is known.
	Background, OutputFormat, Quality, Size string
	// Usage is the sum over all requests; nil when the platform gave none.
	Usage *ImageUsage
	// Provider is the id of the provider that answered.
	Provider string
	// Extra keeps the members that are not named above.
	Extra Extra
	// Meta says what the gateway did. It is no part of the JSON.
	Meta Meta
}

// Image is one image, in one of two forms.
type Image struct {
	// B64JSON is the base64 of the file.
	B64JSON string
	// URL is a data URI, or the gs:// URL of an image that the platform stored.
	URL string
	// RevisedPrompt is the prompt that the platform made of the one given, where
	// it told that.
	RevisedPrompt string
	// Extra keeps the members that are not named above: "text" is what a model
	// said beside the image.
	Extra Extra
}

// ImageUsage counts tokens.
type ImageUsage struct {
	InputTokens, OutputTokens, TotalTokens int64
	// InputTokensDetails and OutputTokensDetails break them down; nil when that
	// is not known.
	InputTokensDetails, OutputTokensDetails *ImageTokens
	// Extra keeps the platform's own counters.
	Extra Extra
}

// ImageTokens are tokens by what they stand for.
type ImageTokens struct {
	TextTokens, ImageTokens int64
	// Extra keeps the members that are not named above.
	Extra Extra
}

// Bytes returns the file, and its media type by its first bytes. An image that
// is elsewhere is an error.
func (i *Image) Bytes() (data []byte, mimeType string, err error) {
	switch {
	case i.B64JSON != "":
		if data, err = base64.StdEncoding.DecodeString(i.B64JSON); err != nil {
			return nil, "", Invalid("b64_json", "the data is not base64")
		}
	case strings.HasPrefix(i.URL, "data:"):
		if data, mimeType, err = (&ImageURL{URL: i.URL}).Bytes(); err != nil {
			return nil, "", err
		}
	case i.URL != "":
		return nil, "", Invalid("url", "the image is elsewhere: fetch what the URL points to")
	default:
		return nil, "", Invalid("b64_json", "there is no image")
	}
	if mimeType == "" {
		mimeType = http.DetectContentType(data)
	}
	return data, mimeType, nil
}

// maxImages is the most images of one call, as in the OpenAI schema.
const maxImages = 10

// Validate checks what no provider could send. The error is an
// [ErrInvalidRequest] that names the member.
func (q *ImageRequest) Validate() error {
	switch {
	case q.Model == "":
		return Invalid("model", `a model is required, such as "imagen-4.0-generate-001" or "@slug/model"`)
	case strings.TrimSpace(q.Prompt) == "":
		return Invalid("prompt", "a prompt is required: what to draw")
	case q.N != nil && (*q.N < 1 || *q.N > maxImages):
		return Invalid("n", "must be from 1 to "+strconv.Itoa(maxImages))
	case q.OutputCompression != nil && (*q.OutputCompression < 0 || *q.OutputCompression > 100):
		return Invalid("output_compression", "must be from 0 to 100")
	case q.ResponseFormat != "" && q.ResponseFormat != ImageFormatBase64 && q.ResponseFormat != ImageFormatURL:
		return Invalid("response_format", "unknown response format "+strconv.Quote(clip(q.ResponseFormat))+`: use "b64_json" or "url"`)
	case q.Stream:
		return Invalid("stream", "images are not streamed: leave stream out")
	case q.Mask != nil && len(q.Images) == 0:
		return Invalid("mask", "a mask is for an edit: give the image too")
	case q.StorageURI != "" && !strings.HasPrefix(q.StorageURI, "gs://"):
		return Invalid("storage_uri", "must be a folder of Cloud Storage, such as gs://bucket/folder")
	}
	for i := range q.Images {
		if err := q.Images[i].validate(q.ImagePath(i)); err != nil {
			return err
		}
	}
	if q.Mask != nil {
		return q.Mask.validate("mask")
	}
	return nil
}

// ImagePath returns the path of an image, as errors and warnings name it.
func (q *ImageRequest) ImagePath(i int) string {
	if len(q.Images) == 1 {
		return "image"
	}
	return "image[" + strconv.Itoa(i) + "]"
}

func (in *ImageInput) validate(path string) error {
	if (in.URL == "") != (in.Base64 == "") {
		return nil
	}
	if id, ok := in.Extra.Get("file_id"); ok && string(id) != "null" {
		return Invalid(path+".file_id", "no files are kept here: give the image as a data URI, by URL or as a form file")
	}
	return Invalid(path, "give one of url and base64")
}
