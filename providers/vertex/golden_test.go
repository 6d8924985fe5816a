package vertex_test

import (
	"bytes"
	"errors"
	"io"
	"maps"
	"path/filepath"
	"strings"
	"testing"
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
//	body.json        what goes out, indented
//	warnings.txt     code | member | message
//	completion.json  the rich answer
//	chunks.jsonl     the rich chunks, with their fold left out
//	error.txt        how the call failed, unary.error.txt and stream.error.txt
//	                 when only the answer was at fault
//
// Of models of other families than Gemini's it also writes url.txt, where the
// two forms go, and stream.body.json.
//
// A line of the comment that begins with "emulator:" says that the emulator
// refuses the body, and why; one with "broken:" that the answer is not one of
// the platform's schema. The emulator does not speak for Claude models: there
// "refused:" says that the platform refuses the body.
type scenario struct {
	path    string
	archive *testkit.Archive
	request *providers.ChatCompletionRequest
}

var goldenFiles = []string{
	"url.txt", "body.json", "stream.body.json", "warnings.txt", "completion.json", "chunks.jsonl", "error.txt", "unary.error.txt", "stream.error.txt",
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
		s := &scenario{path: path, archive: a, request: decodeRequest(t, a.Get("request.json"))}
		list[strings.TrimSuffix(filepath.Base(path), ".txtar")] = s
	}
	return list
}

// isGemini reports whether the scenario is of a model on Gemini's wire.
func (s *scenario) isGemini() bool {
	return strings.HasPrefix(s.request.Model, "gemini-") || strings.HasPrefix(s.request.Model, "projects/")
}

// geminiScenarios are those of models on Gemini's wire.
func geminiScenarios(t *testing.T) map[string]*scenario {
	t.Helper()
	list := scenarios(t)
	maps.DeleteFunc(list, func(_ string, s *scenario) bool { return !s.isGemini() })
	return list
}

// says reports whether the comment has a line that begins with the word.
func (s *scenario) says(word string) bool {
	return strings.Contains("\n"+string(s.archive.Comment), "\n"+word+":")
}

func (s *scenario) isClaude() bool { return strings.HasPrefix(s.request.Model, "anthropic.") }

func (s *scenario) okAnswer() string {
	switch {
	case s.isClaude():
		return okMessage
	case s.isGemini():
		return okAnswer
	}
	return okOpenAnswer
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
		rt = plays([]byte(s.okAnswer()))
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
	if !s.isGemini() {
		got["url.txt"] = []byte(rt.url + "\n")
	}
	if text := s.archive.Get("stream.sse"); text != nil {
		s.playStream(t, text, got)
	}
	return got
}

func (s *scenario) playStream(t *testing.T, text []byte, got map[string][]byte) {
	t.Helper()
	rt := plays(text)
	chunks, whole, err := s.streamFrom(t, rt)
	if !s.isGemini() {
		got["url.txt"] = append(got["url.txt"], rt.url+"\n"...)
		got["stream.body.json"] = outcome.Indent(t, rt.sent)
	}
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
func (s *scenario) stream(t *testing.T, body func() io.Reader) ([]*providers.ChatCompletionChunk, *providers.ChatCompletion, error) {
	t.Helper()
	return s.streamFrom(t, &player{body: body})
}

func (s *scenario) streamFrom(t *testing.T, rt *player) ([]*providers.ChatCompletionChunk, *providers.ChatCompletion, error) {
	t.Helper()
	r, err := newProvider(t, rt).ChatCompletionStream(t.Context(), target(s.request.Model), s.request)
	if err != nil {
		return nil, nil, err
	}
	return outcome.Read(r)
}

// TestScenarioBodiesFitThePlatform holds each body to the schema and has the
// emulator accept it.
func TestScenarioBodiesFitThePlatform(t *testing.T) {
	for name, s := range scenarios(t) {
		if !s.isGemini() && !s.isClaude() {
			continue // see the tests of the OpenAI schema
		}
		body := s.archive.Get("body.json")
		if body == nil {
			continue
		}
		t.Run(name, func(t *testing.T) {
			if s.isClaude() {
				if err := testkit.CheckClaudeBody(s.request.Model, body); (err != nil) != s.says("refused") {
					t.Errorf("the body does not fit the platform: %v", err)
				}
				return
			}
			if err := vertextest.Check("GenerateContentRequest", body); err != nil {
				t.Errorf("the body does not fit the schema: %v", err)
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

// TestScenarioAnswersFitThePlatform keeps answers written by hand truthful.
func TestScenarioAnswersFitThePlatform(t *testing.T) {
	for name, s := range scenarios(t) {
		if !s.isGemini() && !s.isClaude() {
			continue // see the tests of the OpenAI schema
		}
		if s.says("broken") {
			continue
		}
		t.Run(name, func(t *testing.T) {
			for _, answer := range s.answers(t) {
				if s.isClaude() {
					if err := testkit.CheckClaudeAnswer(answer); err != nil {
						t.Errorf("%v in %s", err, answer)
					}
					continue
				}
				if err := vertextest.Check("GenerateContentResponse", answer); err != nil {
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
				_, folded, streamErr := s.stream(t, func() io.Reader { return bytes.NewReader(text) })
				if err != nil || streamErr != nil {
					if code(err) != code(streamErr) {
						t.Errorf("whole: %v, streamed: %v", err, streamErr)
					}
					return
				}
				if diff := cmp.Diff(outcome.Stable(t, whole), outcome.Stable(t, folded)); diff != "" {
					t.Errorf("the fold differs (-whole +folded)\n%s", diff)
				}
				if diff := cmp.Diff(whole.Meta.Warnings, folded.Meta.Warnings); diff != "" {
					t.Errorf("warnings (-whole +folded)\n%s", diff)
				}
				compared++
			})
		})
	}
	if compared == 0 {
		t.Error("nothing was compared")
	}
}

func code(err error) providers.Code {
	if e, ok := errors.AsType[*providers.Error](err); ok {
		return e.Code
	}
	return ""
}
