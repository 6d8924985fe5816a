package pipeline

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/catalog"
	"github.com/b650d4bf/gateway/config"
	"github.com/b650d4bf/gateway/providers"
)

// reader is an observer that wants content, or says that it does not. Its maps make
// it a value that can't be compared.
type reader struct {
	*watcher
	not    map[string]bool // operations
	asked  map[string]int
	seen   *[]providers.CallContent
	before *[]int // how many ends it had seen by then
}

func newReader(not ...string) reader {
	r := reader{&watcher{}, map[string]bool{}, map[string]int{}, new([]providers.CallContent), new([]int)}
	for _, op := range not {
		r.not[op] = true
	}
	return r
}

func (r reader) WantsContent(ctx context.Context, c providers.Call) bool {
	if ctx.Value(mark("")) == nil {
		panic("the context is not that of the call")
	}
	r.asked[c.Operation]++
	return !r.not[c.Operation]
}

func (r reader) CallContent(_ context.Context, _ providers.Record, c providers.CallContent) {
	*r.seen = append(*r.seen, c)
	*r.before = append(*r.before, r.counts()[1])
}

// members are the request's prompt and what the answer said, out of the JSON.
func members(t *testing.T, c providers.CallContent) (model, prompt, said, thought string) {
	t.Helper()
	var q struct {
		Model    string
		Messages []struct{ Content string }
	}
	var a struct {
		Choices []struct {
			Message struct {
				Content string
				Blocks  []struct{ Thinking string } `json:"content_blocks"`
			}
		}
	}
	if err := json.Unmarshal(c.Request, &q); err != nil {
		t.Fatal(err)
	}
	if c.Response != nil {
		if err := json.Unmarshal(c.Response, &a); err != nil {
			t.Fatal(err)
		}
		said = a.Choices[0].Message.Content
		for _, b := range a.Choices[0].Message.Blocks {
			thought += b.Thinking
		}
	}
	return q.Model, q.Messages[0].Content, said, thought
}

// thoughtful is a stream with a thought and a text.
func thoughtful() []providers.ChatCompletionChunk {
	return []providers.ChatCompletionChunk{
		part(providers.Delta{Role: "assistant", ContentBlocks: []providers.ContentBlockDelta{{Index: 0, Delta: providers.ContentPart{Type: providers.PartThinking, Thinking: "hm"}}}}),
		part(providers.Delta{Content: "yes"}),
		{Choices: []providers.ChunkChoice{{FinishReason: "stop"}}},
	}
}

func TestContentIsShownToThoseWhoWantIt(t *testing.T) {
	whole := answering(func() providers.ChatCompletion {
		m := providers.AssistantMessage("yes")
		m.ContentBlocks = []providers.ContentPart{{Type: providers.PartThinking, Thinking: "hm"}, providers.TextPart("yes")}
		return providers.ChatCompletion{ID: "i", Model: "m", Choices: []providers.Choice{{Message: m, FinishReason: "stop"}}}
	})
	cut := errors.New("cut")
	type seen struct{ Model, Prompt, Said, Thought string }
	all := seen{"m", "the secret prompt", "yes", "hm"}
	for _, tt := range []struct {
		name string
		p    *fake
		run  func(e *Engine, client *Settings) error
		want seen
	}{
		{"a whole answer, with what strictness hides", whole, func(e *Engine, client *Settings) error {
			req := ask("m")
			_, err := e.Chat(t.Context(), client, &Settings{}, req)
			req.Messages[0] = providers.UserMessage("another")
			return err
		}, all},
		{"a stream, folded", streaming(io.EOF, thoughtful()...), func(e *Engine, client *Settings) error {
			req := ask("m")
			s, err := e.ChatStream(t.Context(), client, &Settings{}, req)
			if err != nil {
				return err
			}
			req.Messages[0] = providers.UserMessage("another")
			for c, err := s.Recv(); err == nil; c, err = s.Recv() {
				for i := range c.Choices { // the caller's to change
					c.Choices[i].Delta.Content = "no"
				}
			}
			return nil
		}, all},
		{"a stream that breaks off", streaming(cut, thoughtful()[:2]...), func(e *Engine, client *Settings) error {
			s, err := e.ChatStream(t.Context(), client, &Settings{}, ask("m"))
			if err != nil {
				return err
			}
			if _, err := s.Collect(); !errors.Is(err, cut) {
				return errors.New("the stream is whole")
			}
			return nil
		}, all},
		{"a stream that is closed early", streaming(io.EOF, thoughtful()...), func(e *Engine, client *Settings) error {
			s, err := e.ChatStream(t.Context(), client, &Settings{}, ask("m"))
			if err != nil {
				return err
			}
			_, _ = s.Recv()
			return s.Close()
		}, seen{"m", "the secret prompt", "", "hm"}},
		{"a refusal", refusing(cut), func(e *Engine, client *Settings) error {
			_, _ = e.Chat(t.Context(), client, &Settings{}, ask("m"))
			return nil
		}, seen{"m", "the secret prompt", "", ""}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, no := newReader(), newReader("chat")
			if err := tt.run(New(tt.p), watched(no, r, &watcher{})); err != nil {
				t.Fatal(err)
			}
			if len(*r.seen) != 1 || len(*no.seen) != 0 {
				t.Fatalf("content was shown %d and %d times", len(*r.seen), len(*no.seen))
			}
			wantEqual(t, []int{0}, *r.before)
			model, prompt, said, thought := members(t, (*r.seen)[0])
			wantEqual(t, tt.want, seen{model, prompt, said, thought})
		})
	}
}

func TestContentIsNotAskedForWithoutDebug(t *testing.T) {
	r := newReader()
	e := New(answering(rich))
	for _, on := range []string{"client", "call"} {
		client, call := watched(r), &Settings{}
		if on == "client" {
			client.Debug = new(false)
		} else {
			call.Debug = new(false)
		}
		if _, err := e.Chat(t.Context(), client, call, ask("m")); err != nil {
			t.Fatal(err)
		}
	}
	wantEqual(t, map[string]int{}, r.asked)
	wantEqual(t, 0, len(*r.seen))
}

func TestImagesAreShownWithoutTheFiles(t *testing.T) {
	a := &providers.ImageResponse{Data: []providers.Image{
		{B64JSON: "QUJD", RevisedPrompt: "a cat"}, {URL: "data:image/png;base64,QUJD"}, {URL: "gs://b/o"},
	}}
	got, err := showImages(a)
	if err != nil || strings.Contains(string(got), "QUJD") || !strings.Contains(string(got), "a cat") || !strings.Contains(string(got), "gs://b/o") {
		t.Errorf("%s, %v", got, err)
	}
	wantEqual(t, "QUJD", a.Data[0].B64JSON)
}

func TestCallsSayWhereTheyCameInAndWhichConfigTheyFollow(t *testing.T) {
	one := func() *config.Config {
		c, err := config.Parse([]byte(`{"retry":{"attempts":1}}`))
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	list, err := catalog.Parse([]byte(`{"providers":{},"configs":{"mine":{"retry":{"attempts":1}},"theirs":{"retry":{"attempts":1}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name         string
		client, call Settings
		want         [3]string // surface, config, key
	}{
		{"nothing", Settings{}, Settings{}, [3]string{"go", "", ""}},
		{"the client's config", Settings{ConfigID: "mine"}, Settings{Surface: "http", KeyID: "k"}, [3]string{"http", "mine", "k"}},
		{"the call's config", Settings{ConfigID: "mine"}, Settings{ConfigID: "theirs", Surface: "transport"}, [3]string{"transport", "theirs", ""}},
		{"a config that came along", Settings{ConfigID: "mine"}, Settings{Config: one()}, [3]string{"go", "", ""}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := &watcher{}
			client := watched(w)
			client.Catalog, client.ConfigID = list, tt.client.ConfigID
			if _, err := New(answering(rich)).Chat(t.Context(), client, &tt.call, ask("m")); err != nil {
				t.Fatal(err)
			}
			r := w.last()
			if diff := cmp.Diff(tt.want, [3]string{r.Surface, r.ConfigID, r.KeyID}); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}
