package vertextest

import (
	"encoding/base64"
	"encoding/binary"
	"hash/fnv"
	"math"
	"strings"
)

// What speech is made of: 16-bit samples, low byte first, of one channel.
//
// Source: https://cloud.google.com/text-to-speech/docs/gemini-tts
const (
	speechType      = "audio/L16;codec=pcm;rate=24000"
	speechRate      = 24000
	wordMillis      = 100 // how long a word is
	maxSpokenWords  = 50
	audioPerSecond  = 25 // tokens
	speechChunkSize = speechRate * 2 * wordMillis / 1000
)

// voices are the prebuilt voices, in lower case; case doesn't matter.
//
// Source: https://cloud.google.com/text-to-speech/docs/gemini-tts#voice_options
const voices = " achernar achird algenib algieba alnilam aoede autonoe callirrhoe charon despina enceladus erinome fenrir gacrux" +
	" iapetus kore laomedeia leda orus puck pulcherrima rasalgethi sadachbia sadaltager schedar sulafat umbriel vindemiatrix" +
	" zephyr zubenelgenubi "

// speech returns a part with the text as sound: one beep per word, whose pitch
// depends on the voice.
func (x *exchange) speech(text string) part {
	n := min(max(len(strings.Fields(text)), 1), maxSpokenWords)
	h := fnv.New32a()
	_, _ = h.Write([]byte(strings.ToLower(x.voice())))
	pitch := 220 + float64(h.Sum32()%440)
	pcm := make([]byte, 0, n*speechChunkSize)
	perWord := speechChunkSize / 2
	for range n {
		for i := range perWord {
			t := float64(i) / speechRate
			fade := math.Sin(math.Pi * float64(i) / float64(perWord)) // so that no word starts with a click
			sample := int16(8000 * fade * math.Sin(2*math.Pi*pitch*t))
			pcm = binary.LittleEndian.AppendUint16(pcm, uint16(sample))
		}
	}
	return part{InlineData: &blob{MimeType: speechType, Data: base64.StdEncoding.EncodeToString(pcm)}}
}

// voice returns the name of the voice asked for, or none.
func (x *exchange) voice() string {
	c := x.req.GenerationConfig.SpeechConfig
	switch {
	case c == nil:
		return ""
	case c.VoiceConfig != nil:
		return c.VoiceConfig.PrebuiltVoiceConfig.VoiceName
	case c.MultiSpeakerVoiceConfig != nil:
		for _, s := range c.MultiSpeakerVoiceConfig.SpeakerVoiceConfigs {
			if s.VoiceConfig != nil {
				return s.VoiceConfig.PrebuiltVoiceConfig.VoiceName
			}
		}
	}
	return ""
}

// isSpeech reports whether the part is sound the model made.
func (p part) isSpeech() bool { return p.InlineData != nil && p.InlineData.MimeType == speechType }

// speechTokens is what a spoken part costs.
func (p part) speechTokens() int {
	bytes := base64.StdEncoding.DecodedLen(len(p.InlineData.Data))
	return max(1, bytes*audioPerSecond/(2*speechRate))
}

// splitSpeech cuts a spoken part into parts of one word.
func splitSpeech(p part) []part {
	pcm, err := base64.StdEncoding.DecodeString(p.InlineData.Data)
	if err != nil {
		return []part{p}
	}
	var out []part
	for len(pcm) > 0 {
		n := min(len(pcm), speechChunkSize)
		out = append(out, part{InlineData: &blob{MimeType: speechType, Data: base64.StdEncoding.EncodeToString(pcm[:n])}})
		pcm = pcm[n:]
	}
	return out
}

// checkSpeech applies the rules of models that speak, and refuses sound from
// all others.
//
// Sources: https://cloud.google.com/text-to-speech/docs/gemini-tts and, for the
// wordings, https://github.com/BerriAI/litellm/issues/11118 and
// https://github.com/TheKentuckian/robot_comic/issues/122
func checkSpeech(x *exchange) error {
	c := x.req.GenerationConfig
	if !x.facts.audioOut {
		return nil // checkOutput refuses the modality
	}
	if len(c.ResponseModalities) != 1 || c.ResponseModalities[0] != "AUDIO" {
		return x.refuseModalities()
	}
	switch {
	case x.req.SystemInstruction != nil:
		return invalid("Developer instruction is not enabled for this model")
	case len(x.req.Tools) > 0:
		return invalid("Unable to submit request because tools are not supported by this model.")
	}
	return checkVoices(c.SpeechConfig)
}

// checkVoices wants known voices, and two speakers where there are several.
func checkVoices(c *speechConfig) error {
	if c == nil {
		return nil
	}
	list := []*voiceConfig{c.VoiceConfig}
	if m := c.MultiSpeakerVoiceConfig; m != nil {
		if c.VoiceConfig != nil {
			return invalid("Unable to submit request because voice_config and multi_speaker_voice_config can't be set together.")
		}
		if n := len(m.SpeakerVoiceConfigs); n != 2 {
			return invalid("Unable to submit request because multi_speaker_voice_config must have exactly 2 speaker_voice_configs, but it has %d.", n)
		}
		for _, s := range m.SpeakerVoiceConfigs {
			list = append(list, s.VoiceConfig)
		}
	}
	for _, v := range list {
		if v == nil || v.PrebuiltVoiceConfig.VoiceName == "" {
			continue
		}
		if name := v.PrebuiltVoiceConfig.VoiceName; !strings.Contains(voices, " "+strings.ToLower(name)+" ") {
			return invalid("Voice name %s is not supported. Allowed voice names are: %s", name, strings.Join(strings.Fields(voices), ", "))
		}
	}
	return nil
}
