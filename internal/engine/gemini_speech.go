package engine

import (
	"slices"
	"strings"

	"github.com/b650d4bf/gateway/internal/jsonx"
	"github.com/b650d4bf/gateway/providers"
)

// speech writes what kinds of answers are wanted, and the voice of a spoken
// one.
func (e *geminiEncoder) speech() error {
	raw, path := e.take("audio")
	e.modalities(raw != nil)
	if raw == nil {
		return nil
	}
	var voice, format string
	for name, value := range jsonx.Members(raw) {
		r := jsonx.NewReader(value)
		switch name {
		case "voice":
			if r.Kind() == jsonx.Object { // a voice of one's own, by its id
				id, _ := jsonx.Lookup(value, "id")
				r.Reset(id)
			}
			voice = r.String()
		case "format":
			format = r.String()
		default:
			e.warnf(providers.WarnUnknown, path+"."+name, "left out: the platform does not know it")
			continue
		}
		if r.Err() != nil {
			return providers.Invalid(path+"."+name, "must be a string")
		}
	}
	if voice == "" {
		return providers.Invalid(path+".voice", "a voice is required, such as Kore")
	}
	e.audioFormat(path, format)
	for i := range e.extra {
		if m := &e.extra[i]; m.wire == "generationConfig.speechConfig" {
			e.warnf(providers.WarnConflict, path+".voice", "left out: "+m.path+" is given too")
			return nil
		}
	}
	e.w.Key("speechConfig")
	e.w.BeginObject()
	for _, key := range []string{"voiceConfig", "prebuiltVoiceConfig"} {
		e.w.Key(key)
		e.w.BeginObject()
	}
	e.w.Key("voiceName")
	e.w.String(voice)
	for range 3 {
		e.w.EndObject()
	}
	return nil
}

// containers maps the wanted container to what the decoder makes of the
// platform's, which is linear PCM of 16 bits.
//
// Source: https://cloud.google.com/vertex-ai/generative-ai/docs/speech/text-to-speech
var containers = map[string]string{"": "", "pcm16": "", "pcm": "", "wav": "wav"}

func (e *geminiEncoder) audioFormat(path, format string) {
	container, ok := containers[format]
	if !ok {
		container = "wav"
		e.warnf(providers.WarnAdjusted, path+".format", "the platform gives PCM: wav is used")
	}
	e.out.audio = container
}

// maxModalities bounds the kinds of answers, of which there are four.
const maxModalities = 8

// modalities writes the kinds of answers that are wanted. What a model is known
// not to give is left out, since it would refuse the whole request.
func (e *geminiEncoder) modalities(spoken bool) {
	wanted := make([]string, 0, 3)
	for _, m := range e.q.Modalities {
		m = strings.ToUpper(m)
		switch {
		case slices.Contains(wanted, m):
		case e.gives(m) && len(wanted) < maxModalities:
			wanted = append(wanted, m)
		default:
			e.warnf(providers.WarnUnsupported, "modalities", strings.ToLower(clip(m))+" was left out: this model does not answer with it")
		}
	}
	if len(wanted) == 0 && (spoken && e.m.facts.Gives("AUDIO") || e.m.facts.SpeaksOnly()) {
		wanted = append(wanted, "AUDIO")
	}
	if len(wanted) == 0 {
		return
	}
	e.w.Key("responseModalities")
	e.w.BeginArray()
	for _, m := range wanted {
		e.w.String(m)
	}
	e.w.EndArray()
}

// gives reports whether the model answers in a modality, or may do so.
func (e *geminiEncoder) gives(modality string) bool {
	return e.m.facts.Family || e.m.borrowed || e.m.facts.Gives(modality)
}
