package providers

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"math"
	"strconv"
)

// Embedder is the ability to embed. A [Provider] that has it implements this
// too.
type Embedder interface {
	// Embeddings returns one vector for each input, in the inputs' order. The
	// provider must not keep or change req.
	Embeddings(ctx context.Context, t *Target, req *EmbeddingRequest) (*EmbeddingResponse, error)
}

// EmbeddingRequest is the body of POST /v1/embeddings. A nil pointer or an empty
// value is "not given". Members that it does not name are kept in Extra.
//
// Source: https://platform.openai.com/docs/api-reference/embeddings/create,
// extended by the members marked below.
type EmbeddingRequest struct {
	// Model is a model reference: "@slug/model", "model", "publisher/model" or a
	// full resource name.
	Model string
	// Input is what to embed.
	Input EmbeddingInput
	// Dimensions is the length of the vectors; default is the model's own.
	Dimensions *int
	// EncodingFormat is "float", the default, or "base64". It is a matter of the
	// answer's JSON alone: in Go vectors are floats.
	EncodingFormat string
	// TaskType is what the vectors are for, such as "RETRIEVAL_DOCUMENT"
	// (extension).
	TaskType string
	// Title is that of the document; it goes with the task type
	// RETRIEVAL_DOCUMENT only (extension).
	Title string
	// AutoTruncate cuts texts that are too long for the model, which is the
	// platform's default. With false they are an error (extension).
	AutoTruncate *bool
	// Labels are cost-attribution labels for the platform (extension).
	Labels map[string]string
	// User is the end user's id.
	User string
	// Extra keeps the members that are not named above.
	Extra Extra
}

// The encoding formats of vectors.
const (
	EncodingFloat  = "float"
	EncodingBase64 = "base64"
)

// EmbeddingTokens is an input of texts that are given as tokens of the model's
// own, each of which gets a vector.
func EmbeddingTokens(texts ...[]int64) EmbeddingInput {
	items := make([]EmbeddingItem, len(texts))
	for i := range texts {
		items[i].Tokens = texts[i]
	}
	return EmbeddingInput{Items: items}
}

// EmbeddingInput is what to embed: one element or a list. Its JSON is a string,
// an object, an array of tokens, or an array of any of them. The zero value is
// absent.
type EmbeddingInput struct {
	// Items are the elements.
	Items []EmbeddingItem
	// Single says that the only element stands by itself, without a list around
	// it. It makes no difference but in the JSON.
	Single bool
}

// EmbeddingText is an input of one text.
func EmbeddingText(text string) EmbeddingInput {
	return EmbeddingInput{Items: []EmbeddingItem{{Text: text}}, Single: true}
}

// EmbeddingTexts is an input of several texts, each of which gets a vector.
func EmbeddingTexts(texts ...string) EmbeddingInput {
	items := make([]EmbeddingItem, len(texts))
	for i := range texts {
		items[i].Text = texts[i]
	}
	return EmbeddingInput{Items: items}
}

// EmbeddingItems is an input of elements that may hold media. The caller keeps
// items and must not change them while the input is in use.
func EmbeddingItems(items ...EmbeddingItem) EmbeddingInput { return EmbeddingInput{Items: items} }

// EmbeddingItem is one element of an input: a text, media, or both. What it holds
// is embedded together.
type EmbeddingItem struct {
	// Text is a text.
	Text string
	// Tokens is a text as tokens of the model's own, in place of Text. Models of
	// OpenAI's API and servers like it take them; the platform's do not.
	Tokens []int64
	// Image, Video, Audio and File are media, for models that embed such; File
	// is a document.
	Image, Video, Audio, File *EmbeddingMedia
	// Extra keeps the members that are not named above.
	Extra Extra
}

// IsText reports whether the item is a text and nothing else.
func (it *EmbeddingItem) IsText() bool {
	return it.Tokens == nil && it.Image == nil && it.Video == nil && it.Audio == nil && it.File == nil
}

// EmbeddingMedia is an image, a video, an audio or a document, by URL or inline.
type EmbeddingMedia struct {
	// URL is a gs:// or https URL, or a data URI.
	URL string
	// Base64 is the data itself, in place of a URL.
	Base64 string
	// MimeType is the media type, where neither URL nor data tell it.
	MimeType string
	// StartOffset and EndOffset choose a part of a video, in seconds, and
	// Interval how many seconds each of its vectors stands for.
	StartOffset, EndOffset, Interval *float64
	// Extra keeps the members that are not named above.
	Extra Extra
}

// EmbeddingResponse is the answer of POST /v1/embeddings.
type EmbeddingResponse struct {
	// Model is the model reference of the request.
	Model string
	// Data has one element for each input, in the inputs' order.
	Data []Embedding
	// Usage is the sum over all inputs; nil when the platform gave none.
	Usage *EmbeddingUsage
	// Provider is the id of the provider that answered.
	Provider string
	// EncodingFormat says how the JSON holds the vectors: "base64", or as
	// numbers. It is no member of the JSON itself.
	EncodingFormat string
	// Extra keeps the members that are not named above.
	Extra Extra
	// Meta says what the gateway did. It is no part of the JSON.
	Meta Meta
}

// Embedding is what became of one input.
type Embedding struct {
	// Index is the input's place.
	Index int
	// Embedding is the vector, with the precision that the platform gave: that
	// of the text, else of the image, else of the video's first part, where the
	// model gives one for each.
	Embedding []float64
	// ImageEmbedding and VideoEmbeddings are the vectors of the input's media,
	// from models that embed each by itself (extension).
	ImageEmbedding  []float64
	VideoEmbeddings []VideoEmbedding
	// Extra keeps the members that are not named above.
	Extra Extra
}

// VideoEmbedding is the vector of one part of a video.
type VideoEmbedding struct {
	// Index is the part's place.
	Index int
	// Embedding is the vector.
	Embedding []float64
	// StartOffset and EndOffset are the part's bounds, in seconds.
	StartOffset, EndOffset float64
}

// EmbeddingUsage counts tokens.
type EmbeddingUsage struct {
	PromptTokens, TotalTokens int64
	// Extra keeps the platform's own counters.
	Extra Extra
}

// Base64 returns the vector as the encoding format "base64" has it: the base64 of
// its elements as little-endian floats of 32 bits.
func (e *Embedding) Base64() string { return string(appendVector64(nil, e.Embedding)) }

// appendVector64 appends the base64 of the vector.
func appendVector64(dst []byte, vector []float64) []byte {
	var block [3 * 256]byte // each 3 bytes are 4 characters, so that blocks join
	const floats = len(block) / 4
	for len(vector) > 0 {
		n := min(len(vector), floats)
		for i, f := range vector[:n] {
			binary.LittleEndian.PutUint32(block[4*i:], math.Float32bits(float32(f)))
		}
		dst = base64.StdEncoding.AppendEncode(dst, block[:4*n])
		vector = vector[n:]
	}
	return dst
}

// parseVector64 reads what appendVector64 writes.
func parseVector64(text string) ([]float64, bool) {
	data, err := base64.StdEncoding.DecodeString(text)
	if err != nil || len(data)%4 != 0 {
		return nil, false
	}
	vector := make([]float64, len(data)/4)
	for i := range vector {
		vector[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:])))
	}
	return vector, true
}

// Validate checks what no provider could send: the model is there, something to
// embed, no empty text, each media by URL or inline, and the encoding format is
// known. The error is an [ErrInvalidRequest] that names the member.
func (q *EmbeddingRequest) Validate() error {
	if q.Model == "" {
		return Invalid("model", `a model is required, such as "text-embedding-005" or "@slug/model"`)
	}
	if len(q.Input.Items) == 0 {
		return Invalid("input", "something to embed is required: a text, or a list of texts")
	}
	for i := range q.Input.Items {
		if member, fault := q.Input.Items[i].fault(); fault != "" {
			return Invalid(q.Input.path(i)+member, fault)
		}
	}
	if q.Dimensions != nil && *q.Dimensions < 1 {
		return Invalid("dimensions", "must be positive: leave it out for the model's own")
	}
	switch q.EncodingFormat {
	case "", EncodingFloat, EncodingBase64:
		return nil
	}
	return Invalid("encoding_format", "unknown encoding format "+strconv.Quote(clip(q.EncodingFormat))+`: use "float" or "base64"`)
}

// path is where an element stands.
func (in *EmbeddingInput) path(i int) string {
	if in.Single && len(in.Items) == 1 {
		return "input"
	}
	return "input[" + strconv.Itoa(i) + "]"
}

// fault says what is wrong with an element, and with which member of it.
func (it *EmbeddingItem) fault() (member, message string) {
	if it.Tokens != nil {
		return it.tokenFault()
	}
	if it.IsText() {
		if it.Text == "" {
			return "", "there is nothing to embed: give a text that is not empty, or an image, video, audio or file"
		}
		return "", ""
	}
	for _, m := range [...]struct {
		name  string
		media *EmbeddingMedia
	}{{".image", it.Image}, {".video", it.Video}, {".audio", it.Audio}, {".file", it.File}} {
		if m.media != nil && (m.media.URL == "") == (m.media.Base64 == "") {
			return m.name, "give one of url and base64"
		}
	}
	return "", ""
}

// tokenFault says what is wrong with an element of tokens.
func (it *EmbeddingItem) tokenFault() (member, message string) {
	switch {
	case len(it.Tokens) == 0:
		return "", "there is nothing to embed: the list of tokens is empty"
	case it.Text != "", it.Image != nil, it.Video != nil, it.Audio != nil, it.File != nil:
		return "", "tokens stand alone: give text and media in elements of their own"
	}
	for i, n := range it.Tokens {
		if n < 0 {
			return "[" + strconv.Itoa(i) + "]", "a token is not negative"
		}
	}
	return "", ""
}

// InputPath returns the path of the input's element, as errors and warnings name
// it.
func (q *EmbeddingRequest) InputPath(i int) string { return q.Input.path(i) }
