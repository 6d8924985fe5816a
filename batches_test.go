package gateway_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/b650d4bf/gateway"
	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

// batchClient is a client with a bucket, and the emulator that has both.
func batchClient(t *testing.T, opts ...vertextest.Option) (*gateway.Client, *vertextest.Server) {
	t.Helper()
	platform := vertextest.New(opts...)
	t.Cleanup(platform.Close)
	return batchClientOf(t, platform), platform
}

func batchClientOf(t *testing.T, platform *vertextest.Server, more ...gateway.ClientOption) *gateway.Client {
	t.Helper()
	client, err := gateway.New(append([]gateway.ClientOption{
		gateway.WithProjectID("p"), gateway.WithRegion("global"), gateway.WithAccessToken("t"), gateway.WithBucket("gs://bucket/team"),
		gateway.WithHTTPClient(&http.Client{Transport: platform.Transport()}),
	}, more...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// chatLine is one line of a batch.
func chatLine(id, model, text string) string {
	return fmt.Sprintf(`{"custom_id":%q,"method":"POST","url":"/v1/chat/completions","body":{"model":%q,"messages":[{"role":"user","content":%q}]}}`+"\n", id, model, text)
}

// upload keeps the lines and returns the file's id.
func upload(t *testing.T, client *gateway.Client, lines string) string {
	t.Helper()
	f, err := client.Files.Create(t.Context(), &gateway.FileRequest{File: strings.NewReader(lines), Filename: "in.jsonl", Purpose: gateway.PurposeBatch})
	if err != nil {
		t.Fatal(err)
	}
	return f.ID
}

func contentOf(t *testing.T, client *gateway.Client, id string) string {
	t.Helper()
	r, err := client.Files.Content(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	data, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestABatchIsAnswered(t *testing.T) {
	client, platform := batchClient(t)
	for _, model := range []string{"gemini-2.5-flash", "anthropic.claude-sonnet-4-5"} {
		id := upload(t, client, chatLine("one", model, "Hello there")+chatLine("Zwei!", model, "Tell me")+"garbage\n")
		b, err := client.Batches.Create(t.Context(), &gateway.BatchRequest{InputFileID: id, Endpoint: gateway.BatchChat})
		if err != nil {
			t.Fatal(err)
		}
		if b, err = client.Batches.Wait(t.Context(), b.ID, gateway.BatchWait{Interval: 1}); err != nil {
			t.Fatal(err)
		}
		data, _ := b.MarshalJSON()
		t.Logf("%s %v", data, platform.Objects("bucket"))
		t.Log(contentOf(t, client, b.OutputFileID))
		t.Log(contentOf(t, client, b.ErrorFileID))
		for r, err := range client.Batches.Results(t.Context(), b.ID) {
			if err != nil {
				t.Fatal(err)
			}
			t.Log(r.CustomID, r.Chat, r.Err)
		}
	}
}
