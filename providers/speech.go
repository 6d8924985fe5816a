package providers

import (
	"context"
	"strconv"
	"strings"

	"github.com/b650d4bf/gateway/internal/jsonx"
)

// SpeechSynthesizer is the ability to speak. A [Provider] that has it implements
// this too.
type SpeechSynthesizer interface {
	// Speech returns the spoken input as a whole. The provider must not keep or
	// change req.
	Speech(ctx context.Context, t *Target, req *SpeechRequest) (*SpeechResponse, error)
	// SpeechStream returns once the platform has begun to answer.
	SpeechStream(ctx context.Context, t *Target, req *SpeechRequest) (SpeechReader, error)
}

// SpeechReader yields a spoken answer in pieces.
type SpeechReader interface {
	// Recv returns the next piece, which belongs to the caller from then on. It
	// returns io.EOF only after the whole answer; one that was cut off ends in an
	// [Error] with [ErrStreamCut].
	Recv() (*SpeechChunk, error)
	// Close ends the stream. It is idempotent and may be called at any time.
	Close() error
}

// SpeechChunk is a piece of a spoken answer.
type SpeechChunk struct {
	// Data are the next bytes; a piece may have none.
	Data []byte
	// ContentType is the media type of all bytes; the first piece has it.
	ContentType string
	// Usage is what was used, once it is known.
	Usage *Usage
	// Warnings are those of the provider; the first piece has them.
	Warnings []Warning
}

// SpeechRequest is the body of POST /v1/audio/speech. A nil pointer or an empty
// value is "not given". Members that it does not name are kept in Extra: what
// becomes of each is told in docs/speech.md.
//
// Source: https://platform.openai.com/docs/api-reference/audio/createSpeech,
// extended by the members marked below.
type SpeechRequest struct {
	// Model is a model reference: "@slug/model", "model", "publisher/model" or a
	// full resource name.
	Model string
	// Input is what is spoken.
	Input string
	// Voice is a voice of the platform, such as "Kore", or one of OpenAI's names,
	// which stands for a similar one. It may be left out where Extra has a
	// speech_config.
	Voice string
	// Instructions say how it is spoken.
	Instructions string
	// ResponseFormat is "wav" or "pcm". Without it the answer is a WAV file, with a
	// warning: the default of the schema, mp3, is not there.
	ResponseFormat string
	// Speed is 1 where given.
	Speed *float64
	// StreamFormat is "audio" where given.
	StreamFormat string
	// LanguageCode is that of the input, such as "de-DE" (extension).
	LanguageCode string
	// Labels are cost-attribution labels for the platform (extension).
	Labels map[string]string
	// User is the end user's id (extension).
	User string
	// Extra keeps the members that are not named above.
	Extra Extra
}

// The response formats of speech.
const (
	// SpeechWAV is a WAV file.
	SpeechWAV = "wav"
	// SpeechPCM are samples of 16 bits, the low byte first, of one channel, 24,000
	// a second.
	SpeechPCM = "pcm"
)

// SpeechResponse is a spoken answer.
type SpeechResponse struct {
	// Data is the file.
	Data []byte
	// ContentType is its media type, such as "audio/wav".
	ContentType string
	// Usage counts tokens; nil when the platform gave none.
	Usage *Usage
	// Provider is the id of the provider that answered.
	Provider string
	// Meta says what the gateway did.
	Meta Meta
}

// Validate checks what no provider could send. The error is an
// [ErrInvalidRequest] that names the member.
func (q *SpeechRequest) Validate() error {
	switch {
	case q.Model == "":
		return Invalid("model", `a model is required, such as "gemini-2.5-flash-tts" or "@slug/model"`)
	case strings.TrimSpace(q.Input) == "":
		return Invalid("input", "a text is required: what to say")
	case q.Voice == "" && !q.ownVoices():
		return Invalid("voice", `a voice is required, such as "Kore"`)
	case q.Speed != nil && (*q.Speed < 0.25 || *q.Speed > 4):
		return Invalid("speed", "must be from 0.25 to 4")
	}
	switch q.ResponseFormat {
	case "", SpeechWAV, SpeechPCM, "mp3", "opus", "aac", "flac":
	default:
		return Invalid("response_format", "unknown format "+strconv.Quote(clip(q.ResponseFormat))+`: use "wav" or "pcm"`)
	}
	switch q.StreamFormat {
	case "", "audio", "sse":
		return nil
	}
	return Invalid("stream_format", "unknown format "+strconv.Quote(clip(q.StreamFormat))+`: use "audio", or leave it out`)
}

// ownVoices reports whether the voices are given in the platform's own form.
func (q *SpeechRequest) ownVoices() bool {
	_, snake := q.Extra.Get("speech_config")
	_, camel := q.Extra.Get("speechConfig")
	return snake || camel
}

// MarshalJSON encodes the request as POST /v1/audio/speech takes it.
func (q SpeechRequest) MarshalJSON() ([]byte, error) { return encode(q.encode) }

// UnmarshalJSON decodes a request; a wrong type is an error that names the path.
func (q *SpeechRequest) UnmarshalJSON(data []byte) error {
	*q = SpeechRequest{}
	return decode(data, q.decode)
}

// words are the members that are strings, but for the voice.
func (q *SpeechRequest) words() []word {
	return []word{
		{"model", &q.Model}, {"input", &q.Input}, {"instructions", &q.Instructions}, {"response_format", &q.ResponseFormat},
		{"stream_format", &q.StreamFormat}, {"language_code", &q.LanguageCode}, {"user", &q.User},
	}
}

func (q *SpeechRequest) encode(w *jsonx.Writer) {
	w.BeginObject()
	putString(w, "voice", q.Voice)
	for _, m := range q.words() {
		putString(w, m.name, *m.value)
	}
	putFloat(w, "speed", q.Speed)
	putMap(w, "labels", q.Labels)
	w.Members(q.Extra)
	w.EndObject()
}

func (q *SpeechRequest) decode(r *jsonx.Reader) {
	words := q.words()
	for r.Object(); r.NextKey(); {
		switch string(r.Key()) {
		case "voice":
			q.Voice = voiceName(r)
		case "speed":
			q.Speed = optional(r, r.Float)
		case "labels":
			q.Labels = getMap(r)
		default:
			if !readWord(words, r) {
				q.Extra.keep(r)
			}
		}
	}
}

// voiceName reads a voice: its name, or an object with its id.
func voiceName(r *jsonx.Reader) (name string) {
	if r.Kind() != jsonx.Object {
		return r.String()
	}
	for r.Object(); r.NextKey(); {
		if string(r.Key()) == "id" {
			name = r.String()
			continue
		}
		r.Skip()
	}
	return name
}
