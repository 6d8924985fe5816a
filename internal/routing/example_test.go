package routing_test

import (
	"context"
	"fmt"
	"io"

	"github.com/b650d4bf/gateway/internal/routing"
	"github.com/b650d4bf/gateway/providers"
)

// A stream whose first target fails before it has said anything is opened at the
// second one. The place within the limits is taken up to the stream's end.
func Example() {
	tree, err := routing.Compile(&routing.Node{
		Mode: routing.Fallback,
		Children: []*routing.Node{
			{Key: "@eu/gemini", Value: "eu", Retry: routing.Policy{Attempts: 2}, Cooldown: routing.Cooldown{Failures: 3}},
			{Key: "@us/gemini", Value: "us", Limits: routing.Limits{Concurrent: 10}},
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	platform := map[any]*spool{
		"eu": says(thought("hm")).ending(&providers.Error{Code: providers.ErrStreamCut, Sent: true}),
		"us": says(thought("let me see"), providers.Delta{Content: "Hello"}).finished(),
	}
	var lease *routing.Lease
	open := func(_ context.Context, t *routing.Try) (providers.ChunkReader, error) {
		t.Attempt.Provider = "vertex-ai"
		stream, err := routing.Commit(platform[t.Leaf.Value], routing.CommitOptions{})
		if err != nil {
			return nil, err
		}
		lease = t.Keep()
		return stream, nil
	}
	var trail []providers.Attempt
	call := &routing.Call{Tokens: 500, Stream: true}
	stream, err := routing.Run(context.Background(), routing.New(routing.Config{}), tree, call, &trail, open)
	for err == nil {
		var chunk *providers.ChatCompletionChunk
		if chunk, err = stream.Recv(); err == nil {
			fmt.Print(chunk.Choices[0].Delta.Content)
		}
	}
	if err == io.EOF {
		err = nil
	}
	lease.Done(12, err)
	fmt.Println()
	for _, a := range trail {
		fmt.Println(a.Target, a.Provider, a.StatusCode, a.Code)
	}
	// Output:
	// Hello
	// targets[0] vertex-ai 0 stream_interrupted
	// targets[1] vertex-ai 200
}
