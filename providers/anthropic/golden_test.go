package anthropic_test

import (
	"bytes"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/internal/sse"
	"github.com/b650d4bf/gateway/internal/testkit"
	"github.com/b650d4bf/gateway/internal/testkit/outcome"
	"github.com/b650d4bf/gateway/providers"
	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

// scenario is one archive of testdata. request.json, unary.json and stream.sse
// are written by hand; -update rewrites the other files:
//
//	url.txt           where the two forms go
//	header.txt        who asks for what
//	body.json         what goes out, indented
//	stream.body.json  the same of the streamed form
//	warnings.txt      code | member | message
//	completion.json   the rich answer
//	chunks.jsonl      the rich chunks, with their fold left out
//	error.txt         how the call failed, unary.error.txt and stream.error.txt
//	                  when only the answer was at fault
//
// A line of the comment that begins with "emulator:" says that the emulator
// refuses the body, and why.
type scenario struct {
	path    string
	archive *testkit.Archive
	request *providers.ChatCompletionRequest
}

var goldenFiles = []string{
	"url.txt", "header.txt", "body.json", "stream.body.json", "warnings.txt", "completion.json", "chunks.jsonl", "error.txt", "unary.error.txt", "stream.error.txt",
}

func scenarios(t *testing.T) map[string]*scenario {
	t.Helper()
	paths, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no scenarios: %v", err)
	}
	list := map[string]*scenario{}
	for _, path := range paths {
		a := testkit.ReadArchive(t, path)
		list[strings.TrimSuffix(filepath.Base(path), ".txtar")] = &scenario{path: path, archive: a, request: decodeRequest(t, a.Get("request.json"))}
	}
	return list
}

// says reports whether the comment has a line that begins with the word.
func (s *scenario) says(word string) bool {
	return strings.Contains("\n"+string(s.archive.Comment), "\n"+word+":")
}

func TestScenarios(t *testing.T) {
	for name, s := range scenarios(t) {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { // time stands still, so created does
				testkit.Golden(t, s.path, s.archive, goldenFiles, s.play(t))
			})
		})
	}
}

// play runs the scenario and returns what came out, by file.
func (s *scenario) play(t *testing.T) map[string][]byte {
	t.Helper()
	got := map[string][]byte{}
	unary := s.archive.Get("unary.json")
	rt := plays(unary)
	if unary == nil {
		rt = plays([]byte(okMessage))
	}
	answer, err := newProvider(t, rt).ChatCompletion(t.Context(), target(s.request.Model), s.request)
	switch {
	case err != nil && rt.calls == 0:
		got["error.txt"] = []byte(outcome.Describe(err))
		return got
	case err != nil:
		got["unary.error.txt"] = []byte(outcome.Describe(err))
	default:
		got["warnings.txt"] = []byte(outcome.WarningLines(answer.Meta.Warnings))
		if unary != nil {
			got["completion.json"] = outcome.Indent(t, []byte(outcome.Stable(t, answer)))
		}
	}
	got["body.json"] = outcome.Indent(t, rt.sent)
	got["url.txt"] = []byte(rt.url + "\n")
	got["header.txt"] = []byte(headerLines(rt.head))
	if text := s.archive.Get("stream.sse"); text != nil {
		s.playStream(t, text, got)
	}
	return got
}

func (s *scenario) playStream(t *testing.T, text []byte, got map[string][]byte) {
	t.Helper()
	rt := plays(text)
	chunks, whole, err := s.streamFrom(t, rt)
	got["url.txt"] = append(got["url.txt"], rt.url+"\n"...)
	got["stream.body.json"] = outcome.Indent(t, rt.sent)
	if err != nil {
		got["stream.error.txt"] = []byte(outcome.Describe(err))
	}
	if len(chunks) > 0 {
		lines := strings.ReplaceAll(strings.Trim(outcome.Stable(t, chunks), "[]"), `},{"id":`, "}\n{\"id\":")
		got["chunks.jsonl"] = []byte(lines)
	}
	if whole != nil && s.archive.Get("unary.json") == nil {
		got["completion.json"] = outcome.Indent(t, []byte(outcome.Stable(t, whole)))
	}
}

// stream plays the scenario with the given body as the answer.
func (s *scenario) stream(t *testing.T, body io.Reader) ([]*providers.ChatCompletionChunk, *providers.ChatCompletion, error) {
	t.Helper()
	return s.streamFrom(t, &player{body: func() io.Reader { return body }})
}

func (s *scenario) streamFrom(t *testing.T, rt *player) ([]*providers.ChatCompletionChunk, *providers.ChatCompletion, error) {
	t.Helper()
	r, err := newProvider(t, rt).ChatCompletionStream(t.Context(), target(s.request.Model), s.request)
	if err != nil {
		return nil, nil, err
	}
	return outcome.Read(r)
}

// TestScenarioBodiesFitTheService holds each body to the documentation, and has
// the emulator accept it.
func TestScenarioBodiesFitTheService(t *testing.T) {
	for name, s := range scenarios(t) {
		body := s.archive.Get("body.json")
		if body == nil {
			continue
		}
		t.Run(name, func(t *testing.T) {
			if err := testkit.CheckOwnClaudeBody(body); err != nil {
				t.Errorf("the body does not fit the service: %v", err)
			}
			srv := vertextest.New()
			defer srv.Close()
			_, err := newProvider(t, srv.Transport()).ChatCompletion(t.Context(), target(s.request.Model), s.request)
			if refused := err != nil && len(srv.Requests()) > 0; refused != s.says("emulator") {
				t.Errorf("the emulator says %v", err)
			}
		})
	}
}

// TestScenarioAnswersFitTheService keeps answers written by hand truthful.
func TestScenarioAnswersFitTheService(t *testing.T) {
	for name, s := range scenarios(t) {
		t.Run(name, func(t *testing.T) {
			for _, answer := range s.answers(t) {
				if err := testkit.CheckClaudeAnswer(answer); err != nil {
					t.Errorf("%v in %s", err, answer)
				}
			}
		})
	}
}

// answers returns the whole answer and the stream's events.
func (s *scenario) answers(t *testing.T) [][]byte {
	t.Helper()
	var list [][]byte
	if unary := s.archive.Get("unary.json"); unary != nil {
		list = append(list, unary)
	}
	events := sse.NewDecoder(bytes.NewReader(s.archive.Get("stream.sse")), 0)
	for {
		e, err := events.Next()
		if errors.Is(err, io.EOF) {
			return list
		}
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, bytes.Clone(e.Data))
	}
}

// TestScenarioStreamsFoldToTheWholeAnswer compares the two forms of one answer.
func TestScenarioStreamsFoldToTheWholeAnswer(t *testing.T) {
	compared := 0
	for name, s := range scenarios(t) {
		unary, text := s.archive.Get("unary.json"), s.archive.Get("stream.sse")
		if unary == nil || text == nil {
			continue
		}
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				whole, err := newProvider(t, plays(unary)).ChatCompletion(t.Context(), target(s.request.Model), s.request)
				_, folded, streamErr := s.stream(t, bytes.NewReader(text))
				if err != nil || streamErr != nil {
					t.Fatalf("whole: %v, streamed: %v", err, streamErr)
				}
				if diff := cmp.Diff(outcome.Stable(t, whole), outcome.Stable(t, folded)); diff != "" {
					t.Errorf("the fold differs (-whole +folded)\n%s", diff)
				}
				if diff := cmp.Diff(whole.Meta.Warnings, folded.Meta.Warnings); diff != "" {
					t.Errorf("warnings (-whole +folded)\n%s", diff)
				}
			})
		})
		compared++
	}
	if compared == 0 {
		t.Error("nothing was compared")
	}
}

// TestCutsOfAStreamChangeNothing cuts each stream at many places, and ends it
// there: what is not whole is never a success.
func TestCutsOfAStreamChangeNothing(t *testing.T) {
	for name, s := range scenarios(t) {
		text := s.archive.Get("stream.sse")
		if text == nil {
			continue
		}
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				outcome := func(r io.Reader) string {
					chunks, whole, err := s.stream(t, r)
					if err != nil {
						return outcome.Stable(t, chunks) + "\n" + outcome.Describe(err)
					}
					return outcome.Stable(t, chunks) + "\n" + outcome.Stable(t, whole)
				}
				want := outcome(bytes.NewReader(text))
				for i := 0; i < len(text); i += 1 + len(text)/300 {
					if diff := cmp.Diff(want, outcome(io.MultiReader(bytes.NewReader(text[:i]), bytes.NewReader(text[i:])))); diff != "" {
						t.Fatalf("cut at %d (-whole +cut)\n%s", i, diff)
					}
				}
				if diff := cmp.Diff(want, outcome(iotest.OneByteReader(bytes.NewReader(text)))); diff != "" {
					t.Errorf("one byte at a time (-whole +cut)\n%s", diff)
				}
				s.checkEnds(t, text)
			})
		})
	}
}

// checkEnds ends the stream before its stop reason has come.
func (s *scenario) checkEnds(t *testing.T, text []byte) {
	t.Helper()
	end := bytes.LastIndex(text, []byte(`"stop_reason":"`))
	if end < 0 || s.archive.Get("stream.error.txt") != nil {
		return
	}
	for i := 0; i < end; i += 1 + end/200 {
		if _, _, err := s.stream(t, bytes.NewReader(text[:i])); !errors.Is(err, providers.ErrStreamCut) {
			t.Fatalf("ended at %d of %d: %v, want %s", i, len(text), err, providers.ErrStreamCut)
		}
	}
}
