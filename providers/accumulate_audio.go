package providers

import (
	"encoding/base64"
	"encoding/binary"
	"math"
	"strings"
)

// audioFold joins the pieces of a spoken answer. Each piece is base64 by
// itself, so that it may end within a group of three bytes: such pieces are
// decoded and joined again, all others are joined as text. The last piece is
// held back, since it alone may end so.
type audioFold struct {
	audio      Audio
	data       textFold // whole groups
	last       string
	transcript textFold
}

func (f *audioFold) add(a *Audio) error {
	if a.ID != "" {
		f.audio.ID = a.ID
	}
	if a.ExpiresAt != 0 {
		f.audio.ExpiresAt = a.ExpiresAt
	}
	if a.MimeType != "" && f.audio.MimeType == "" {
		f.audio.MimeType = a.MimeType
	}
	f.transcript.add(a.Transcript)
	if err := f.audio.Extra.merge(a.Extra); err != nil {
		return err
	}
	return f.addData(a.Data)
}

func (f *audioFold) addData(piece string) error {
	if strings.IndexByte(piece, '-') >= 0 || strings.IndexByte(piece, '_') >= 0 {
		piece = standardAlphabet.Replace(piece) // what is joined must be of one
	}
	switch {
	case piece == "":
		return nil
	case f.last == "" || isWholeGroups(f.last):
		f.data.add(f.last)
		f.last = piece
		return nil
	}
	raw, err := decodePiece(f.last)
	if err != nil {
		return err
	}
	more, err := decodePiece(piece)
	if err != nil {
		return err
	}
	joined := base64.StdEncoding.EncodeToString(append(raw, more...))
	whole := max(0, len(joined)-4) // the rest may not be
	f.data.add(joined[:whole])
	f.last = joined[whole:]
	return nil
}

var standardAlphabet = strings.NewReplacer("-", "+", "_", "/")

// isWholeGroups reports whether base64 may follow the text as it is.
func isWholeGroups(s string) bool { return len(s)%4 == 0 && s[len(s)-1] != '=' }

// decodePiece decodes base64 with or without padding.
func decodePiece(s string) ([]byte, error) {
	raw, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(s, "="))
	if err != nil {
		return nil, &Error{Code: ErrBadResponse, Message: "a chunk's audio is not base64", Err: err, Sent: true}
	}
	return raw, nil
}

func (f *audioFold) finish() *Audio {
	a := f.audio
	a.Data = withLength(f.data.String() + f.last)
	a.Transcript = f.transcript.String()
	return &a
}

const (
	// openWAV is how a WAV header of unknown length begins, as base64: "RIFF"
	// and a length of 0xFFFFFFFF, less the bits of the byte behind it.
	openWAV = "UklGRv////"
	// wavHeader is the header's length in bytes, with a fmt chunk of 16 bytes
	// and the head of the data chunk.
	wavHeader = 44
	// headText is the base64 that holds all of the header.
	headText = (wavHeader + 2) / 3 * 4
)

// withLength returns the data with its length in the WAV header, when it has
// one whose length was not known as it was written.
//
// Source: http://soundfile.sapp.org/doc/WaveFormat/
func withLength(data string) string {
	if !strings.HasPrefix(data, openWAV) {
		return data
	}
	cut := min(len(data), headText)
	head, err := decodePiece(data[:cut])
	size := len(strings.TrimRight(data, "=")) * 3 / 4
	if err != nil || len(head) < wavHeader || int64(size) > math.MaxUint32 {
		return data
	}
	binary.LittleEndian.PutUint32(head[4:], uint32(size-8))
	binary.LittleEndian.PutUint32(head[40:], uint32(size-wavHeader))
	return base64.StdEncoding.EncodeToString(head) + data[cut:]
}
