package providers

import (
	"slices"
	"strings"
)

// Content is a message's content: absent, a string, or a list of parts. It
// remembers which of them it was, so that it is encoded as it was decoded. The
// zero value is absent.
type Content struct {
	kind  contentKind
	text  string
	parts []ContentPart
}

type contentKind uint8

const (
	contentAbsent contentKind = iota
	contentText
	contentParts
)

// TextContent is content that is one string.
func TextContent(text string) Content { return Content{kind: contentText, text: text} }

// PartsContent is content that is a list of parts. The caller keeps parts and
// must not change them while the content is in use.
func PartsContent(parts ...ContentPart) Content {
	return Content{kind: contentParts, parts: parts}
}

// IsAbsent reports whether there is no content at all, or a null.
func (c Content) IsAbsent() bool { return c.kind == contentAbsent }

// Parts returns the parts, or nil when the content is a string or absent.
func (c Content) Parts() []ContentPart { return c.parts }

// Text returns the string, or the concatenated text of all text parts.
func (c Content) Text() string {
	if c.kind != contentParts {
		return c.text
	}
	return textOf(c.parts)
}

// textOf returns the text of all text parts.
func textOf(parts []ContentPart) string {
	if len(parts) == 1 && parts[0].Type == PartText {
		return parts[0].Text
	}
	var b strings.Builder
	for i := range parts {
		if parts[i].Type == PartText {
			b.WriteString(parts[i].Text)
		}
	}
	return b.String()
}

// Equal reports whether two contents are the same in kind and value.
func (c Content) Equal(o Content) bool {
	return c.kind == o.kind && c.text == o.text && slices.EqualFunc(c.parts, o.parts, ContentPart.equal)
}

// ContentPart is one part of a message's content, and one content block of an
// answer. Which members count depends on Type.
type ContentPart struct {
	// Type is one of the Part constants, or another word that is kept.
	Type string
	// Text is the text of a text part.
	Text string
	// ImageURL is set on an image_url part, which carries images, PDFs, video
	// and audio alike.
	ImageURL *ImageURL
	// InputAudio is set on an input_audio part.
	InputAudio *InputAudio
	// File is set on a file part.
	File *File
	// Thinking is the reasoning text of a thinking part.
	Thinking string
	// Signature is the model's opaque signature of this part. It goes back
	// only to the family of models that issued it.
	Signature string
	// Data is the opaque content of a redacted_thinking part.
	Data  string
	Extra Extra
}

// The types of content parts.
const (
	PartText             = "text"
	PartImageURL         = "image_url"
	PartInputAudio       = "input_audio"
	PartFile             = "file"
	PartThinking         = "thinking"
	PartRedactedThinking = "redacted_thinking"
)

// ImageURL points to media: a gs:// or https URL, or a data URI.
type ImageURL struct {
	URL string
	// Detail is "low", "high" or "auto".
	Detail string
	// MimeType overrides the type that the URL suggests (extension).
	MimeType string
	Extra    Extra
}

// InputAudio is inline audio.
type InputAudio struct {
	// Data is base64.
	Data string
	// Format is "wav", "mp3" or another short name.
	Format string
	Extra  Extra
}

// File is a document, inline or by reference.
type File struct {
	FileData string
	FileID   string
	FileURL  string
	Filename string
	MimeType string
	Extra    Extra
}

func (p ContentPart) equal(o ContentPart) bool {
	return string(p.appendJSON(nil)) == string(o.appendJSON(nil))
}

// TextPart is a part with text.
func TextPart(text string) ContentPart { return ContentPart{Type: PartText, Text: text} }

// ImagePart is a part with media by URL: gs://, https or a data URI.
func ImagePart(url string) ContentPart {
	return ContentPart{Type: PartImageURL, ImageURL: &ImageURL{URL: url}}
}

// ThinkingPart is earlier reasoning with the signature it came with.
func ThinkingPart(thinking, signature string) ContentPart {
	return ContentPart{Type: PartThinking, Thinking: thinking, Signature: signature}
}

// newContent wraps a string or a list of parts.
func newContent[T string | []ContentPart](v T) Content {
	switch v := any(v).(type) {
	case string:
		return TextContent(v)
	case []ContentPart:
		return PartsContent(v...)
	}
	return Content{}
}

// SystemMessage is a system turn; its content is a string or a list of parts.
func SystemMessage[T string | []ContentPart](content T) Message {
	return Message{Role: RoleSystem, Content: newContent(content)}
}

// UserMessage is a user turn; its content is a string or a list of parts.
func UserMessage[T string | []ContentPart](content T) Message {
	return Message{Role: RoleUser, Content: newContent(content)}
}

// AssistantMessage is an assistant turn; its content is a string or a list of
// parts.
func AssistantMessage[T string | []ContentPart](content T) Message {
	return Message{Role: RoleAssistant, Content: newContent(content)}
}

// ToolMessage answers the tool call with the given id. A result that is the
// text of a JSON object reaches the model as that object.
func ToolMessage[T string | []ContentPart](toolCallID string, result T) Message {
	return Message{Role: RoleTool, ToolCallID: toolCallID, Content: newContent(result)}
}
