package engine

import (
	"encoding/base64"
	"encoding/binary"
	"math"
	"mime"
	"strconv"
	"strings"

	"github.com/b650d4bf/gateway/providers"
)

// speak gives out the pieces of a spoken answer that an event had, as one.
func (s *geminiChoice) speak(delta *providers.Delta) {
	p := s.speech
	if p == nil || len(p.pieces) == 0 {
		return
	}
	audio := &providers.Audio{ID: p.id, MimeType: p.mime}
	var header []byte
	if s.d.audioFormat == "wav" {
		if h, ok := wavHeader(p.mime); ok {
			audio.MimeType = "audio/wav"
			if !p.begun {
				header = h
			}
		}
	}
	p.begun = true
	data, err := joinAudio(header, p.pieces)
	if err != nil {
		s.fault = err
		return
	}
	audio.Data, p.pieces = data, p.pieces[:0]
	delta.Audio = audio
}

// joinAudio returns the pieces, which are base64, as one text of base64, behind
// the header. A single one stays as it is.
func joinAudio(header []byte, pieces [][]byte) (string, error) {
	if len(header) == 0 && len(pieces) == 1 {
		return string(pieces[0]), nil
	}
	raw := header
	for _, piece := range pieces {
		var err error
		if raw, err = base64.RawStdEncoding.AppendDecode(raw, []byte(strings.TrimRight(string(piece), "="))); err != nil {
			return "", answerError(providers.ErrBadResponse, "the audio is not base64")
		}
	}
	return base64.StdEncoding.EncodeToString(raw), nil
}

// sampleBytes is the size of a sample of the platform's audio: 16 bits, the
// low byte first.
const sampleBytes = 2

// wavHeader returns the header that makes samples of the type a WAV file, and
// false for audio that has a container of its own. Its lengths are unknown,
// 0xFFFFFFFF, as streams write them: a [providers.Accumulator] knows the length
// in the end and puts it in, so that a whole answer has the real one.
//
// Source: http://soundfile.sapp.org/doc/WaveFormat/
func wavHeader(mimeType string) ([]byte, bool) {
	kind, params, err := mime.ParseMediaType(mimeType)
	if err != nil || kind != "audio/l16" && kind != "audio/pcm" {
		return nil, false
	}
	rate, channels := numberOr(params["rate"], 20, 24_000), numberOr(params["channels"], 8, 1)
	le := binary.LittleEndian
	h := make([]byte, 0, 44)
	h = append(h, "RIFF"...)
	h = le.AppendUint32(h, math.MaxUint32)
	h = append(h, "WAVEfmt "...)
	h = le.AppendUint32(h, 16) // bytes of this chunk
	h = le.AppendUint16(h, 1)  // plain samples
	h = le.AppendUint16(h, uint16(channels))
	h = le.AppendUint32(h, rate)
	h = le.AppendUint32(h, rate*channels*sampleBytes)
	h = le.AppendUint16(h, uint16(channels*sampleBytes))
	h = le.AppendUint16(h, 8*sampleBytes)
	h = append(h, "data"...)
	return le.AppendUint32(h, math.MaxUint32), true
}

// numberOr returns the number in s, or fallback when it is none or has more
// bits than that.
func numberOr(s string, bits int, fallback uint32) uint32 {
	n, err := strconv.ParseUint(s, 10, bits)
	if err != nil || n == 0 {
		return fallback
	}
	return uint32(n)
}
