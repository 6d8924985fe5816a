package pipeline

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/b650d4bf/gateway/config"
	"github.com/b650d4bf/gateway/providers"
)

// What is too large to be kept is given to its caller all the same.
func TestStreamsThatAreTooLargeForTheCache(t *testing.T) {
	half := strings.Repeat("a", maxHeld/2)
	chunk := providers.ChatCompletionChunk{Choices: []providers.ChunkChoice{{Delta: providers.Delta{Content: half}}}}
	last := providers.ChatCompletionChunk{Choices: []providers.ChunkChoice{{FinishReason: "stop"}}}
	from := &script{chunks: []providers.ChatCompletionChunk{chunk, chunk, chunk, last}, err: io.EOF}
	e := New(&fake{name: "fake", stream: func(context.Context) (providers.ChunkReader, error) { return from, nil }})
	defer func() { _ = e.Close() }()
	client := here()
	client.Cache = &config.Cache{Mode: config.CacheSimple}
	s, err := e.ChatStream(t.Context(), client, &Settings{}, ask("m"))
	if err != nil {
		t.Fatal(err)
	}
	size := 0
	for {
		c, err := s.Recv()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		size += len(c.Choices[0].Delta.Content)
	}
	if m := s.Meta(); size != 3*len(half) || m.CacheStatus != providers.CacheMiss || !strings.Contains(m.Cache.Reason, "larger") {
		t.Errorf("%d bytes, %+v", size, m)
	}
	wantEqual(t, int64(0), e.CacheStats().Stored)
}
