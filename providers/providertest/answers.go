package providertest

import (
	"errors"
	"io"
	"slices"

	"github.com/b650d4bf/gateway/providers"
)

// finishReasons are the words that an answer may end with.
func finishReasons() []string {
	return []string{providers.FinishStop, providers.FinishLength, providers.FinishToolCalls, providers.FinishContentFilter}
}

func (s *subject) text() {
	out := s.whole(s.question())
	s.envelope(out)
	if out.Text() == "" {
		s.Error("the answer has no text")
	}
	if got := out.Choices[0].FinishReason; got != providers.FinishStop {
		s.Errorf("finish reason %q, want stop", got)
	}
}

// envelope checks what every whole answer has.
func (s *subject) envelope(out *providers.ChatCompletion) {
	s.Helper()
	if out.ID == "" || out.Model == "" || out.Created == 0 {
		s.Errorf("id %q, model %q or created %d is missing", out.ID, out.Model, out.Created)
	}
	if out.Provider != s.provider.Name() {
		s.Errorf("provider %q, want %q", out.Provider, s.provider.Name())
	}
	if len(out.Choices) == 0 {
		s.Fatal("the answer has no choice")
	}
	for i := range out.Choices {
		c := &out.Choices[i]
		if c.Message.Role != providers.RoleAssistant {
			s.Errorf("choice %d has the role %q", i, c.Message.Role)
		}
		if !slices.Contains(finishReasons(), c.FinishReason) {
			s.Errorf("choice %d has the finish reason %q", i, c.FinishReason)
		}
	}
	if u := out.Usage; u != nil && u.TotalTokens < u.PromptTokens+u.CompletionTokens {
		s.Errorf("usage adds up to more than its total: %+v", *u)
	}
}

// read reads a stream to its end, which must come and stay.
func (s *subject) read(r providers.ChunkReader) []*providers.ChatCompletionChunk {
	s.Helper()
	var out []*providers.ChatCompletionChunk
	for {
		c, err := r.Recv()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			s.Fatalf("Recv after %d chunks: %v", len(out), err)
		}
		if c == nil {
			s.Fatal("Recv returned neither a chunk nor an error")
		}
		out = append(out, c)
	}
	for range 2 {
		if _, err := r.Recv(); !errors.Is(err, io.EOF) {
			s.Errorf("Recv after the end: %v, want io.EOF again", err)
		}
	}
	return out
}

func (s *subject) stream() {
	chunks := s.read(s.open(s.Context(), s.question()))
	if len(chunks) == 0 {
		s.Fatal("the stream has no chunk")
	}
	begun, finished := map[int]bool{}, map[int]bool{}
	for i, c := range chunks {
		if c.ID == "" || c.ID != chunks[0].ID || c.Provider != s.provider.Name() {
			s.Errorf("chunk %d has the id %q and the provider %q", i, c.ID, c.Provider)
		}
		if c.Usage != nil && i != len(chunks)-1 {
			s.Errorf("chunk %d of %d has the usage, which belongs at the end", i, len(chunks))
		}
		for j := range c.Choices {
			s.piece(&c.Choices[j], begun, finished)
		}
	}
	if len(begun) == 0 || len(begun) != len(finished) {
		s.Errorf("%d choices began and %d finished", len(begun), len(finished))
	}
}

// piece checks one choice's piece: a role first and once, one finish reason and
// nothing after it.
func (s *subject) piece(c *providers.ChunkChoice, begun, finished map[int]bool) {
	s.Helper()
	if first := !begun[c.Index]; first != (c.Delta.Role != "") {
		s.Errorf("choice %d: first piece is %v, with the role %q", c.Index, first, c.Delta.Role)
	}
	if finished[c.Index] {
		s.Errorf("choice %d goes on after its finish reason", c.Index)
	}
	begun[c.Index] = true
	if c.FinishReason != "" {
		finished[c.Index] = true
		if !slices.Contains(finishReasons(), c.FinishReason) {
			s.Errorf("choice %d has the finish reason %q", c.Index, c.FinishReason)
		}
	}
}

// shape is what two answers to the same request have in common.
type shape struct {
	choices, calls                      int
	finish                              string
	text, blocks, usage, created, model bool
}

func shapeOf(c *providers.ChatCompletion) shape {
	m := &c.Choices[0].Message
	return shape{
		choices: len(c.Choices), calls: len(m.ToolCalls), finish: c.Choices[0].FinishReason,
		text: m.Content.Text() != "", blocks: len(m.ContentBlocks) > 0,
		usage: c.Usage != nil, created: c.Created != 0, model: c.Model != "",
	}
}

func (s *subject) sameShape() {
	for name, req := range map[string]*providers.ChatCompletionRequest{"question": s.question(), "errand": s.errand()} {
		whole, folded := s.whole(req), s.folded(req)
		s.envelope(folded)
		if a, b := shapeOf(whole), shapeOf(folded); a != b {
			s.Errorf("%s: the whole answer is %+v and the streamed one %+v", name, a, b)
		}
	}
}
