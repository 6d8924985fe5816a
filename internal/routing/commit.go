package routing

import (
	"errors"
	"io"
	"sync/atomic"

	"github.com/b650d4bf/gateway/providers"
)

// What [Commit] holds back at most when its options say nothing.
const (
	DefaultCommitChunks = 4096
	DefaultCommitBytes  = 1 << 20
)

// CommitOptions say when a stream has begun.
type CommitOptions struct {
	// Thinking lets thoughts begin it. Without, a model that thinks for minutes
	// shows nothing for as long, and its time to the first chunk is that of the
	// first output; with it, a failure after the first thought can't be mended by
	// another try.
	Thinking bool
	// MaxChunks and MaxBytes bound what is held back; at the bound the stream has
	// begun. 0 is [DefaultCommitChunks] and [DefaultCommitBytes].
	MaxChunks, MaxBytes int
	// NoPartial leaves Error.Partial empty, for a caller that folds the chunks
	// itself.
	NoPartial bool
}

// Commit reads a stream up to its first output: text, a tool call, an image,
// audio, or a finish reason, but not a role, a thought or usage. A failure before
// that is an error of Commit, with the stream closed, so that the request can be
// tried elsewhere without anything being said twice. The reader that it returns
// gives what was held back first, unchanged and in order. Its errors are
// *[providers.Error] with Sent set and, unless told otherwise, Partial.
func Commit(r providers.ChunkReader, o CommitOptions) (providers.ChunkReader, error) {
	c := &committed{reader: r, fold: !o.NoPartial}
	chunks, size := o.MaxChunks, o.MaxBytes
	if chunks <= 0 {
		chunks = DefaultCommitChunks
	}
	if size <= 0 {
		size = DefaultCommitBytes
	}
	for {
		chunk, err := r.Recv()
		if err != nil {
			_ = r.Close()
			return nil, unbegun(err)
		}
		c.held = append(c.held, chunk)
		if size -= sizeOf(chunk); commits(chunk, o.Thinking) || len(c.held) >= chunks || size <= 0 {
			return c, nil
		}
	}
}

// unbegun is the error of a stream that ended before its first output.
func unbegun(err error) error {
	if !isEnd(err) {
		return err
	}
	return &providers.Error{Code: providers.ErrEmptyResponse, Message: "the stream ended without any output", Sent: true}
}

// isEnd reports whether err is the end of a whole stream. An Error is not, even
// when a connection that ended is its cause.
func isEnd(err error) bool {
	var e *providers.Error
	return errors.Is(err, io.EOF) && !errors.As(err, &e)
}

// committed is a stream that has begun.
type committed struct {
	reader providers.ChunkReader
	held   []*providers.ChatCompletionChunk
	fold   bool
	answer providers.Accumulator
	closed atomic.Bool
	err    error
}

// Recv returns the next chunk.
func (c *committed) Recv() (*providers.ChatCompletionChunk, error) {
	if c.err != nil {
		return nil, c.err
	}
	if len(c.held) > 0 && !c.closed.Load() {
		chunk := c.held[0]
		c.held[0] = nil
		c.held = c.held[1:]
		c.keep(chunk)
		return chunk, nil
	}
	chunk, err := c.reader.Recv()
	if err != nil {
		c.err = c.broken(err)
		return nil, c.err
	}
	c.keep(chunk)
	return chunk, nil
}

// keep folds a chunk into the partial answer. One that does not fit is left out:
// whoever folds the chunks is told.
func (c *committed) keep(chunk *providers.ChatCompletionChunk) {
	if c.fold {
		_ = c.answer.Add(chunk)
	}
}

// broken is the error of a stream that broke after its first output.
func (c *committed) broken(err error) error {
	if isEnd(err) {
		return io.EOF
	}
	own := *known(err)
	if _, ok := errors.AsType[*providers.Error](err); !ok && own.Code == providers.ErrServer {
		own.Code = providers.ErrStreamCut
	}
	own.Sent = true
	if c.fold {
		own.Partial = c.answer.Completion()
	}
	return &own
}

// Close ends the stream. It may be called from another goroutine.
func (c *committed) Close() error {
	c.closed.Store(true)
	return c.reader.Close()
}

// commits reports whether a chunk has output in it.
func commits(chunk *providers.ChatCompletionChunk, thinking bool) bool {
	for i := range chunk.Choices {
		choice := &chunk.Choices[i]
		if choice.FinishReason != "" || hasOutput(&choice.Delta, thinking) {
			return true
		}
	}
	return false
}

func hasOutput(d *providers.Delta, thinking bool) bool {
	if len(d.ToolCalls) > 0 || d.Audio != nil || len(d.Annotations) > 0 {
		return true
	}
	thoughts := 0
	for i := range d.ContentBlocks {
		switch p := &d.ContentBlocks[i].Delta; p.Type {
		case "": // a signature alone
		case providers.PartThinking, providers.PartRedactedThinking:
			if thoughts += len(p.Thinking); thinking {
				return true
			}
		case providers.PartText:
			if p.Text != "" {
				return true
			}
		default:
			return true
		}
	}
	// Some models give their thoughts as text.
	if len(d.Content) > thoughts {
		return true
	}
	for _, name := range outputMembers {
		if value, ok := d.Extra.Get(name); ok && string(value) != "null" {
			return true
		}
	}
	return false
}

// outputMembers are the members of a delta that the types keep in Extra and that
// are output.
var outputMembers = []string{"refusal", "function_call"}

// sizeOf is about what a chunk holds, in bytes.
func sizeOf(chunk *providers.ChatCompletionChunk) int {
	n := len(chunk.Extra)
	for i := range chunk.Choices {
		d := &chunk.Choices[i].Delta
		n += len(d.Content) + len(d.Extra) + len(chunk.Choices[i].Extra)
		for j := range d.ContentBlocks {
			p := &d.ContentBlocks[j].Delta
			n += len(p.Text) + len(p.Thinking) + len(p.Signature) + len(p.Data) + len(p.Extra)
		}
	}
	return n
}
