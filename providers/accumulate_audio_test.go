package providers_test

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/b650d4bf/gateway/providers"
)

// spoken folds pieces of audio.
func spoken(pieces ...providers.Audio) (*providers.Audio, error) {
	var acc providers.Accumulator
	for i := range pieces {
		c := chunk{Choices: []providers.ChunkChoice{{Delta: providers.Delta{Audio: &pieces[i]}}}}
		if err := acc.Add(&c); err != nil {
			return nil, err
		}
	}
	first := acc.Completion().Choices[0].Message.Audio
	second := acc.Completion().Choices[0].Message.Audio
	if first.Data != second.Data {
		return nil, errors.New("the second completion differs")
	}
	return first, nil
}

func TestAccumulatorFoldsAudio(t *testing.T) {
	got, err := spoken(
		providers.Audio{ID: "a", MimeType: "audio/L16"},
		providers.Audio{ID: "a", Data: "YQ==", Transcript: "o"},
		providers.Audio{Data: "YmM", Transcript: "ne", Extra: providers.Extra(`{"x":1}`)},
		providers.Audio{ID: "a", Data: "_-8=", ExpiresAt: 7},
	)
	if err != nil {
		t.Fatal(err)
	}
	wantEqual(t, providers.Audio{
		ID: "a", Data: "YWJj/+8=", ExpiresAt: 7, Transcript: "one", MimeType: "audio/L16", Extra: providers.Extra(`{"x":1}`),
	}, *got)
}

func TestAccumulatorJoinsAnyCutOfAudio(t *testing.T) {
	want := make([]byte, 200)
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 2))
		for i := range want {
			want[i] = byte(rng.Uint32())
		}
		var pieces []providers.Audio
		for rest := want; len(rest) > 0; {
			n := min(len(rest), rng.IntN(9))
			enc := []*base64.Encoding{base64.StdEncoding, base64.RawStdEncoding, base64.URLEncoding, base64.RawURLEncoding}[rng.IntN(4)]
			if seed%2 == 0 {
				enc = base64.StdEncoding
			}
			pieces = append(pieces, providers.Audio{Data: enc.EncodeToString(rest[:n])})
			rest = rest[n:]
		}
		got, err := spoken(pieces...)
		if err != nil {
			t.Fatal(err)
		}
		text := strings.NewReplacer("-", "+", "_", "/").Replace(got.Data)
		raw, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(text, "="))
		if err != nil || !bytes.Equal(raw, want) {
			t.Fatalf("seed %d: %v in %s", seed, err, got.Data)
		}
	}
}

func TestAccumulatorKeepsASinglePieceAsItIs(t *testing.T) {
	for _, data := range []string{"YQ==", "YQ", "no base64"} {
		got, err := spoken(providers.Audio{Data: data})
		if err != nil || got.Data != data {
			t.Errorf("%v %v, want %s", got, err, data)
		}
	}
}

func TestAccumulatorRefusesAudioThatIsNoBase64(t *testing.T) {
	for _, pieces := range [][]providers.Audio{{{Data: "YQ=="}, {Data: "#"}}, {{Data: "#"}, {Data: "YQ=="}}} {
		if _, err := spoken(pieces...); !errors.Is(err, providers.ErrBadResponse) {
			t.Errorf("%v", err)
		}
	}
}

func TestAccumulatorGivesAWAVFileItsLength(t *testing.T) {
	header := func(n uint32) []byte {
		b := append([]byte("RIFF----WAVEfmt "), make([]byte, 20)...)
		b = append(b, "data----"...)
		size := n
		if n != math.MaxUint32 {
			size += 36
		}
		binary.LittleEndian.PutUint32(b[4:], size)
		binary.LittleEndian.PutUint32(b[40:], n)
		return b
	}
	for n := range 9 {
		sound := []byte("abcdefghi")[:n]
		for cut := range n + 1 {
			enc := base64.StdEncoding.EncodeToString
			pieces := []providers.Audio{{Data: enc(slices.Concat(header(math.MaxUint32), sound[:cut]))}, {Data: enc(sound[cut:])}}
			got, err := spoken(pieces...)
			if err != nil {
				t.Fatal(err)
			}
			wantEqual(t, enc(slices.Concat(header(uint32(n)), sound)), got.Data)
		}
	}
	for _, other := range []string{"UklGRv////8=", "UklGRv////9XQVZF"} { // cut within the header
		got, err := spoken(providers.Audio{Data: other})
		if err != nil || got.Data != other {
			t.Errorf("%v %v, want %s", got, err, other)
		}
	}
}
