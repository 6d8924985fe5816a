package vertex_test

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"testing"
	"testing/iotest"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/internal/testkit/outcome"
	"github.com/b650d4bf/gateway/providers"
)

// everyCut is the size of a stream up to which each single cut is tried.
const everyCut = 2 << 10

// pieces reads the text in pieces that end at the cuts.
func pieces(text []byte, cuts ...int) io.Reader {
	var list []io.Reader
	from := 0
	for _, cut := range append(cuts, len(text)) {
		list = append(list, bytes.NewReader(text[from:cut]))
		from = cut
	}
	return io.MultiReader(list...)
}

// sortedCuts returns n places to cut at.
func sortedCuts(rnd *rand.Rand, n, size int) []int {
	marks := make([]bool, size+1)
	for range n {
		marks[rnd.IntN(size+1)] = true
	}
	var cuts []int
	for i, mark := range marks {
		if mark {
			cuts = append(cuts, i)
		}
	}
	return cuts
}

// stride is the distance of cuts: a short stream is cut at every byte, a long one
// less often, since it repeats itself.
func stride(text []byte) int { return 1 + len(text)/400 }

// seenAs is what a caller sees of a stream, as text.
func seenAs(t *testing.T, chunks []*providers.ChatCompletionChunk, whole *providers.ChatCompletion, err error) string {
	t.Helper()
	if err != nil {
		return outcome.Stable(t, chunks) + "\n" + outcome.Describe(err)
	}
	return outcome.Stable(t, chunks) + "\n" + outcome.Stable(t, whole)
}

// checkCuts reads the text cut at many places and wants the same each time.
func checkCuts(t *testing.T, text []byte, play func(io.Reader) string) {
	t.Helper()
	want := play(bytes.NewReader(text))
	check := func(name string, r io.Reader) {
		t.Helper()
		if diff := cmp.Diff(want, play(r)); diff != "" {
			t.Fatalf("%s (-whole +cut)\n%s", name, diff)
		}
	}
	check("one byte at a time", iotest.OneByteReader(bytes.NewReader(text)))
	check("the end together with the data", iotest.DataErrReader(bytes.NewReader(text)))
	if len(text) <= everyCut {
		for i := 0; i < len(text); i += stride(text) {
			check("a single cut", pieces(text, i))
		}
	}
	rnd := rand.New(rand.NewPCG(1, uint64(len(text)))) // a test wants the same numbers again
	for range 20 {
		check("random cuts", pieces(text, sortedCuts(rnd, 1+rnd.IntN(9), len(text))...))
	}
}

func TestCutsOfAStreamChangeNothing(t *testing.T) {
	for name, s := range scenarios(t) {
		text := s.archive.Get("stream.sse")
		if text == nil {
			continue
		}
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				checkCuts(t, text, func(r io.Reader) string {
					chunks, whole, err := s.stream(t, func() io.Reader { return r })
					return seenAs(t, chunks, whole, err)
				})
			})
		})
	}
}

// finishedAt returns the end of the last event with a finish reason: before
// it, the answer is not whole.
func finishedAt(text []byte) int {
	i := max(bytes.LastIndex(text, []byte(`"finishReason"`)), bytes.LastIndex(text, []byte(`"finish_reason":"`)))
	if i < 0 {
		i = bytes.LastIndex(text, []byte(`"stop_reason":"`))
	}
	if i < 0 {
		if i = bytes.Index(text, []byte("[DONE]")); i >= 0 { // it stands in for one
			return i + len("[DONE]")
		}
		return len(text) + 1
	}
	return i + len(bytes.TrimRight(text[i:i+bytes.IndexByte(text[i:], '\n')], "\r"))
}

func TestATruncatedStreamIsNeverASuccess(t *testing.T) {
	reset := errors.New("connection reset")
	for name, s := range scenarios(t) {
		text := s.archive.Get("stream.sse")
		if text == nil || s.archive.Get("stream.error.txt") != nil {
			continue
		}
		t.Run(name, func(t *testing.T) {
			whole := finishedAt(text)
			for i := 0; i < len(text); i += stride(text) {
				for k, end := range []error{io.EOF, io.ErrUnexpectedEOF, reset} {
					if k > 0 && i%7 != k {
						continue // they differ little from a proper end
					}
					_, _, err := s.stream(t, func() io.Reader {
						return io.MultiReader(bytes.NewReader(text[:i]), iotest.ErrReader(end))
					})
					// A broken connection is an error wherever it breaks; a
					// proper end is one as long as the answer is not whole. After
					// the mark of the end it does not matter.
					if (i < whole || !errors.Is(end, io.EOF) && !bytes.Contains(text[:i], []byte("[DONE]\n"))) && !errors.Is(err, providers.ErrStreamCut) {
						t.Fatalf("cut at %d of %d with %v: %v, want %s\n%s", i, len(text), end, err, providers.ErrStreamCut, text[max(0, i-60):i])
					}
				}
			}
		})
	}
}
