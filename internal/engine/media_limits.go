package engine

import (
	"strconv"
	"strings"

	"github.com/b650d4bf/gateway/providers"
)

const mebibyte = 1 << 20

// inlineSum is the most inline media of one request in bytes, decoded: with
// more, the request outgrows what every location takes.
//
// Source: https://firebase.google.com/docs/ai-logic/input-file-requirements
const inlineSum = 20 * mebibyte

// mediaLimit is a row of the limits, with its page.
type mediaLimit struct {
	name  string
	bytes int
	count int
	link  string
}

// mediaLimits holds the platform's limits by kind: the bytes of one inline file,
// decoded, and the files of one request; 0 is no limit.
//
// Left out, for the platform to judge, are limits that it does not hold to or
// that change by model and location: one audio file, one YouTube video, ten
// images by https.
var mediaLimits = [mediaKinds]mediaLimit{
	kindImage: {"image", 7 * mebibyte, 3000, imagePartPage},
	kindVideo: {"video", 0, 10, videoPartPage},
	kindPDF:   {"PDF", 50 * mebibyte, 3000, filePartPage},
	kindText:  {"text", 7 * mebibyte, 0, filePartPage},
}

// limits are what bounds the media of a request where the model is: the sum of
// what is inline, in bytes decoded, and the limits of a kind.
func (m *Model) limits(kind mediaKind) (sum int, of *mediaLimit) {
	if m.Own {
		return ownInlineSum, &ownMediaLimits[kind]
	}
	return inlineSum, &mediaLimits[kind]
}

// mediaTally is what the media of a request come to.
type mediaTally struct {
	inline     int // bytes, decoded
	count      [mediaKinds]int
	roomy      bool // the buffer has room for the whole request
	resolution resolutionTally
}

// admit counts media in, unless a limit is in the way; at is the media's place. A limit that the user
// sets replaces the documented ones in bytes.
func (e *geminiEncoder) admit(at func() string, md *media) error {
	kind := kindOf(md.mime)
	sum, limit := e.m.limits(kind)
	e.tally.count[kind]++
	if limit.count > 0 && e.tally.count[kind] > limit.count {
		return providers.Invalid(at(), "too many files: a request takes at most "+
			strconv.Itoa(limit.count)+" of kind "+limit.name)
	}
	if md.base64 == "" {
		return nil
	}
	size := decodedLen(md.base64)
	e.tally.inline += size
	switch most := e.maxInline; {
	case most > 0 && e.tally.inline > most:
		return e.tooLarge(at(), "the inline media of this request, up to this part, have "+megabytes(e.tally.inline)+
			", and the limit is set to "+megabytes(most))
	case most > 0:
		return nil
	case limit.bytes > 0 && size > limit.bytes:
		return e.tooLarge(at(), "inline "+limit.name+" data may have "+megabytes(limit.bytes)+", and this has "+megabytes(size))
	case e.tally.inline > sum:
		return e.tooLarge(at(), "the inline media of one request may have "+megabytes(sum)+
			", and up to this part they have "+megabytes(e.tally.inline))
	}
	return nil
}

func (e *geminiEncoder) tooLarge(path, message string) error {
	remedy := "put the file into Cloud Storage and give its gs:// URL"
	if e.m.Own {
		remedy = "upload the file with the Files API and give its URI"
	}
	return &providers.Error{Code: providers.ErrTooLarge, Param: path, Message: message + ": " + remedy}
}

// decodedLen returns the bytes that base64 stands for.
func decodedLen(s string) int { return len(strings.TrimRight(s, "=")) * 3 / 4 }

// megabytes writes a size for people.
func megabytes(n int) string {
	if n < mebibyte {
		return strconv.Itoa(n) + " bytes"
	}
	return strconv.FormatFloat(float64(n)/mebibyte, 'f', 2, 64) + " MB"
}

// bigPayload is the size of base64 from which room is made for the whole request
// at once. A buffer that grows piece by piece copies all that it holds each
// time.
const bigPayload = 64 << 10

// makeRoom grows the buffer for the whole request before the first big payload.
func (e *geminiEncoder) makeRoom(payload string) {
	if e.tally.roomy || len(payload) < bigPayload {
		return
	}
	e.tally.roomy = true
	text, inline := bigPayload+len(e.q.Extra), 0
	for i := range e.q.Messages {
		m := &e.q.Messages[i]
		if m.Content.Parts() == nil {
			text += len(m.Content.Text())
		}
		for _, list := range [][]providers.ContentPart{m.Content.Parts(), m.ContentBlocks} {
			for j := range list {
				n, isText := partSize(&list[j])
				if isText {
					text += n
				} else {
					inline += n
				}
			}
		}
		for j := range m.ToolCalls {
			text += len(m.ToolCalls[j].Function.Arguments) + len(m.ToolCalls[j].Function.ThoughtSignature) + 256
		}
	}
	for i := range e.q.Tools {
		text += len(e.q.Tools[i].Function.Parameters) + len(e.q.Tools[i].Function.Description) + 256
	}
	most := e.maxInline
	if most <= 0 {
		most, _ = e.m.limits(kindOther)
	}
	e.w.Grow(text + text/8 + min(inline, most/3*4+bigPayload) - min(e.w.Len(), text))
}

// partSize is the length of what a part holds, and whether that is text.
func partSize(p *providers.ContentPart) (n int, isText bool) {
	const members = 256 // names, types and brackets
	switch {
	case p.ImageURL != nil:
		return len(p.ImageURL.URL) + members, false
	case p.InputAudio != nil:
		return len(p.InputAudio.Data) + members, false
	case p.File != nil:
		return len(p.File.FileData) + members, false
	}
	return len(p.Text) + len(p.Signature) + members, true
}
