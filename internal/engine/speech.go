package engine

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"mime"
	"net/http"
	"strings"

	"github.com/b650d4bf/gateway/internal/jsonx"
	"github.com/b650d4bf/gateway/providers"
)

var _ providers.SpeechSynthesizer = (*Engine)(nil)

// Speech speaks the input and returns all of it, as a file.
//
// Source: https://cloud.google.com/vertex-ai/generative-ai/docs/speech/text-to-speech
func (p *Engine) Speech(ctx context.Context, t *providers.Target, req *providers.SpeechRequest) (*providers.SpeechResponse, error) {
	s := &speaking{p: p, q: req}
	chat, err := s.chat(t)
	if err != nil {
		return nil, err
	}
	a, err := p.ChatCompletion(ctx, t, chat)
	if err != nil {
		return nil, s.relocated(err)
	}
	var audio *providers.Audio
	if len(a.Choices) > 0 {
		audio = a.Choices[0].Message.Audio
	}
	if audio == nil || audio.Data == "" {
		return nil, s.silent(a)
	}
	pcm, err := audio.Bytes()
	if err != nil {
		return nil, s.broken()
	}
	head := s.head(audio.MimeType)
	s.tell(a.Meta.Warnings)
	out := &providers.SpeechResponse{Data: append(head, pcm...), ContentType: s.kind, Usage: a.Usage, Provider: p.site.Name()}
	if len(head) > 0 {
		fitHeader(out.Data, len(pcm))
	}
	out.Meta.Warnings = s.warnings
	return out, nil
}

// SpeechStream speaks the input and returns once the platform has begun to
// answer. The header of a WAV file that is streamed has no length.
func (p *Engine) SpeechStream(ctx context.Context, t *providers.Target, req *providers.SpeechRequest) (providers.SpeechReader, error) {
	s := &speaking{p: p, q: req}
	chat, err := s.chat(t)
	if err != nil {
		return nil, err
	}
	chunks, err := p.ChatCompletionStream(ctx, t, chat)
	if err != nil {
		return nil, s.relocated(err)
	}
	return &speechReader{s: s, chunks: chunks}, nil
}

// speaking is one call for speech.
type speaking struct {
	p    *Engine
	q    *providers.SpeechRequest
	wav  bool
	kind string // the media type of the answer
	remarks
}

// chat is the conversation that speaks the input.
func (s *speaking) chat(t *providers.Target) (*providers.ChatCompletionRequest, error) {
	if err := s.check(t); err != nil {
		return nil, err
	}
	chat := new(providers.ChatCompletionRequest)
	further, config, err := s.readExtra()
	if err != nil {
		return nil, err
	}
	if further != nil {
		if err := chat.UnmarshalJSON(further); err != nil {
			return nil, providers.Invalid("", "a member of the request has a value of the wrong kind: "+err.Error())
		}
	}
	text := s.q.Input
	if how := strings.TrimRight(strings.TrimSpace(s.q.Instructions), ".:; "); how != "" {
		text = how + ": " + text
	}
	chat.Model, chat.Labels, chat.User = s.q.Model, s.q.Labels, s.q.User
	chat.Messages = []providers.Message{providers.UserMessage(text)}
	chat.Modalities = []string{"audio"}
	chat.Extra = jsonx.AppendMember(chat.Extra, "speech_config", config)
	return chat, nil
}

// check finds what is wrong before anything is sent.
func (s *speaking) check(t *providers.Target) error {
	q := s.q
	m, err := s.p.site.Model(t.Model)
	if err != nil {
		return err
	}
	row, known := s.p.models.Lookup(m.Publisher, m.Name)
	if m.Family != FamilyGemini || known && !row.Gives("AUDIO") {
		return badModel(m.Name + " does not speak: use a model such as gemini-2.5-flash-tts")
	}
	switch q.ResponseFormat {
	case providers.SpeechPCM:
	case "":
		s.wav = true
		s.warn(providers.WarnAdjusted, "response_format", "the platform gives no mp3, which is the schema's default: wav is used")
	case providers.SpeechWAV:
		s.wav = true
	default:
		return providers.Invalid("response_format", "the platform gives no "+q.ResponseFormat+`: use "wav" or "pcm"`)
	}
	if q.StreamFormat == "sse" {
		return providers.Invalid("stream_format", `speech comes as bytes, not as events: use "audio", or leave it out`)
	}
	if q.Speed != nil && *q.Speed != 1 {
		s.warn(providers.WarnUnsupported, "speed", "left out: the platform has no such parameter; say it in instructions")
	}
	return nil
}

// readExtra returns the members for the chat completion, and the voice.
func (s *speaking) readExtra() (further, config []byte, err error) {
	q := s.q
	for name, value := range q.Extra.All() {
		_, common := ownChat[name]
		switch name {
		case "speech_config", "speechConfig":
			if r := jsonx.NewReader(value); r.Kind() != jsonx.Object {
				return nil, nil, providers.Invalid(name, "must be an object")
			}
			config = value
			continue
		}
		switch {
		case !common && name != "speech_config" && findParam(name) != nil:
			further = jsonx.AppendMember(further, name, value)
		case !saysNothing(value):
			s.warnOnce(name, providers.WarnUnknown, name, "left out: the platform does not know it")
		}
	}
	if config != nil {
		for _, m := range []struct{ name, value string }{{"voice", q.Voice}, {"language_code", q.LanguageCode}} {
			if m.value != "" {
				s.warn(providers.WarnConflict, m.name, "left out: speech_config is given too, which wins")
			}
		}
		return further, config, nil
	}
	var w jsonx.Writer
	w.BeginObject()
	putText(&w, "languageCode", q.LanguageCode)
	for _, key := range []string{"voiceConfig", "prebuiltVoiceConfig"} {
		w.Key(key)
		w.BeginObject()
	}
	putText(&w, "voiceName", s.voice())
	for range 3 {
		w.EndObject()
	}
	return further, w.Bytes(), nil
}

// voice is the platform's name of the voice.
func (s *speaking) voice() string {
	for _, v := range voiceNames {
		if strings.EqualFold(s.q.Voice, v.name) {
			s.warn(providers.WarnAdjusted, "voice", v.voice+" speaks for "+v.name+": the platform has voices of its own")
			return v.voice
		}
	}
	return s.q.Voice
}

// head returns what stands before the samples, and finds the media type of the
// answer.
func (s *speaking) head(given string) []byte {
	header, plain := wavHeader(given)
	switch {
	case plain && s.wav:
		s.kind = "audio/wav"
		return header
	case plain:
		s.kind = "audio/pcm"
		if _, params, err := mime.ParseMediaType(given); err == nil && params["rate"] != "" {
			s.kind = mime.FormatMediaType("audio/pcm", map[string]string{"rate": params["rate"]})
		}
		return nil
	}
	if s.kind = given; s.kind == "" {
		s.kind = "application/octet-stream"
	}
	s.warn(providers.WarnAdjusted, "response_format", "the platform gave "+clipped(s.kind)+", which is passed on as it is")
	return nil
}

// fitHeader puts the length of the samples into the header of a WAV file.
func fitHeader(file []byte, samples int) {
	const header, riff = 44, 8
	if samples > math.MaxUint32-header {
		return
	}
	binary.LittleEndian.PutUint32(file[4:], uint32(samples+header-riff))
	binary.LittleEndian.PutUint32(file[header-4:], uint32(samples))
}

// tell takes over the warnings of the conversation.
func (s *speaking) tell(list []providers.Warning) {
	for _, w := range list {
		w.Param = spokenPath(w.Param)
		s.add(w)
	}
	s.countUntold()
}

// silent is the error for an answer without sound.
func (s *speaking) silent(a *providers.ChatCompletion) error {
	e := answerError(providers.ErrEmptyResponse, "the answer has no audio")
	if len(a.Choices) > 0 && a.Choices[0].FinishReason == providers.FinishContentFilter {
		e = answerError(providers.ErrContentFilter, "the speech was held back: "+a.Choices[0].NativeFinishReason)
	}
	e.Provider = s.p.site.Name()
	return e
}

func (s *speaking) broken() error {
	e := answerError(providers.ErrBadResponse, "the audio is not base64")
	e.Provider = s.p.site.Name()
	return e
}

// relocated names the member of the speech request that an error of the
// conversation is about.
func (s *speaking) relocated(err error) error {
	e, ok := failure(err)
	if !ok {
		return err
	}
	at := spokenPath(e.Param)
	if at == "" && e.StatusCode == http.StatusBadRequest && strings.Contains(e.Message, "Voice name") {
		at = "voice"
	}
	if at == e.Param {
		return err
	}
	own := *e
	own.Param = at
	return &own
}

// spokenPath returns the path within the speech request.
func spokenPath(path string) string {
	if strings.HasPrefix(path, "messages") {
		return "input"
	}
	return path
}

// speechReader turns the chunks of a conversation into sound.
type speechReader struct {
	s      *speaking
	chunks providers.ChunkReader
	begun  bool // a piece with sound was there
	finish *providers.ChatCompletion
	told   bool
	err    error
}

// Recv returns the next piece. The first one comes with the first sound.
func (r *speechReader) Recv() (*providers.SpeechChunk, error) {
	for r.err == nil {
		chunk, err := r.chunks.Recv()
		if err != nil {
			r.err = r.end(err)
			break
		}
		piece, err := r.piece(chunk)
		if err != nil {
			r.err = err
			break
		}
		if piece != nil {
			return piece, nil
		}
	}
	return nil, r.err
}

// end is how the stream ends.
func (r *speechReader) end(err error) error {
	if errors.Is(err, io.EOF) && !r.begun {
		a := r.finish
		if a == nil {
			a = new(providers.ChatCompletion)
		}
		return r.s.silent(a)
	}
	return r.s.relocated(err)
}

// piece returns the sound of a chunk, nil for a chunk that says nothing.
func (r *speechReader) piece(c *providers.ChatCompletionChunk) (*providers.SpeechChunk, error) {
	if c.Meta != nil && !r.told {
		r.told = true
		r.s.tell(c.Meta.Warnings)
	}
	out := &providers.SpeechChunk{Usage: c.Usage}
	for i := range c.Choices {
		choice := &c.Choices[i]
		if choice.FinishReason != "" {
			r.finish = &providers.ChatCompletion{Choices: []providers.Choice{
				{FinishReason: choice.FinishReason, NativeFinishReason: choice.NativeFinishReason},
			}}
		}
		audio := choice.Delta.Audio
		if audio == nil || audio.Data == "" {
			continue
		}
		if !r.begun {
			out.Data = r.s.head(audio.MimeType)
			out.ContentType, out.Warnings = r.s.kind, r.s.warnings
			r.begun = true
		}
		var err error
		if out.Data, err = base64.StdEncoding.AppendDecode(out.Data, []byte(audio.Data)); err != nil {
			return nil, r.s.broken()
		}
	}
	if out.Data == nil && (out.Usage == nil || !r.begun) {
		return nil, nil //nolint:nilnil // there is nothing to give out yet
	}
	return out, nil
}

// Close ends the stream.
func (r *speechReader) Close() error { return r.chunks.Close() }
