package batch

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/internal/testkit"
	"github.com/b650d4bf/gateway/providers"
)

// page is the page that the table of parameters makes.
const page = "../../docs/batches.md"

// head is what the page says in words.
const head = `# Files and batches

Generated from the table in [` + "`internal/batch`" + `](../internal/batch/params.go); ` + "`go test ./internal/batch -update`" + ` writes it anew.

A batch is a file of requests that the platform answers as one job: for half the price, and when it has time. The shapes are those of OpenAI, in process
(` + "`client.Files`, `client.Batches`" + `) and over HTTP; what runs is a batch prediction job of Vertex AI, over a bucket of Cloud Storage.

` + "```go" + `
client, err := gateway.New(gateway.WithProjectID("p"), gateway.WithRegion("us-central1"), gateway.WithBucket("gs://bucket/prefix"))
file, err := client.Files.Create(ctx, &gateway.FileRequest{File: reader, Filename: "in.jsonl", Purpose: gateway.PurposeBatch})
batch, err := client.Batches.Create(ctx, &gateway.BatchRequest{InputFileID: file.ID, Endpoint: gateway.BatchChat})
batch, err = client.Batches.Wait(ctx, batch.ID, gateway.BatchWait{})
for result, err := range client.Batches.Results(ctx, batch.ID) { … }
` + "```" + `

## What is where

Nothing is kept in the process. Files, records of batches, lines and output are objects below the bucket's prefix, so that any process with the same bucket
can ask for a batch, wait for it and read it. The bucket is that of ` + "`WithBucket`" + ` or of the catalog entry (` + "`bucket`" + `); where it is not at
Cloud Storage's own address, ` + "`WithStorageURL`" + ` or the entry's ` + "`storage_url`" + ` says where. All that is in it can be
read with its ids by every caller of the gateway: give tenants buckets of their own. The credentials need ` + "`roles/storage.objectUser`" + ` there, and so does the
platform's service agent.

An id is made of a time and of chance, with a check that binds it to bucket and prefix; what is no such id is not found, and nothing is asked.

| object | what it is |
|---|---|
| ` + "`files/KEY`" + ` | an uploaded file |
| ` + "`batches/KEY.json`" + ` | the record of a batch; it is written over only by who has read its newest version |
| ` + "`batch-data/KEY/input-*.jsonl`" + ` | the lines as the platform reads them |
| ` + "`batch-data/KEY/errors.jsonl`" + ` | the lines that were not sent |
| ` + "`batch-data/KEY/output/`" + ` | what the platform wrote |

## Lines

Lines are translated as they are read and sent, with memory that does not grow with the file but for 16 bytes of each id. A line has the very body that a request
of its own would have. Models: Gemini and Claude for chat completions, those with the method predict for embeddings (the platform's page leaves
gemini-embedding-001 out; whether it takes it by now, it says itself).

- **A line that is wrong** goes to the error file with its custom_id, its number and what is wrong, and stops no other. So does one that the platform refuses.
- **A file that is wrong as a whole** is an error at once, and nothing is left of the batch: no lines, none that can be sent, more models than one, a custom_id twice,
  more than 10,000 wrong lines, more than 200,000 lines (30,000 of embeddings). A line has 16 MiB at most.
- **Answers** come back by custom_id, over all files that the platform wrote, in no order that says anything. The output and the error file are made from them as they are
  read, with the decoder of single answers and the caller's strict compliance. Garbage in the output is an entry of the error file; if lines are missing, reading
  ends in an error, and over HTTP the connection breaks.
- **Warnings** are told once for each kind, with how often they came.

The custom_id of a line for Gemini is in the request's labels, which the output repeats: ` + "`gateway_id`" + ` where it is a label, else ` + "`gateway_id_0`" + ` and
so on in base 32. Labels show up in the platform's billing. For Claude an id beyond letters, digits, ` + "`_` and `-`" + ` is in base 32, with 37 bytes at most.

## Once, and on from where it stopped

The same file and endpoint with the same idempotency key are the same batch. A second call returns it and starts no second job; it goes on where the first one was
interrupted. OpenAI's clients send a key of their own with each call. A batch that failed or was cancelled is run again with another key. Where the answer to the
job's creation was lost, the job is found by its label; only after two minutes without one is another asked for.

Uploads are resumable: a chunk of 4 MiB is in memory until the store has it, and what breaks off goes on where the store says. Downloads go on by range.

## Statuses

| the platform's state | status |
|---|---|
| (the lines are being translated, or the job is being asked for) | ` + "`validating`" + ` |
| ` + "`JOB_STATE_UNSPECIFIED` | `validating`" + ` |
| ` + "`JOB_STATE_QUEUED` | `validating`" + ` |
| ` + "`JOB_STATE_PENDING` | `validating`" + ` |
| ` + "`JOB_STATE_RUNNING` | `in_progress`" + ` |
| ` + "`JOB_STATE_UPDATING` | `in_progress`" + ` |
| ` + "`JOB_STATE_PAUSED` | `in_progress`" + ` |
| (running, with all lines counted) | ` + "`finalizing`" + ` |
| ` + "`JOB_STATE_SUCCEEDED` | `completed`" + ` |
| ` + "`JOB_STATE_PARTIALLY_SUCCEEDED` | `completed`" + ` |
| ` + "`JOB_STATE_FAILED` | `failed`" + ` |
| ` + "`JOB_STATE_EXPIRED` | `expired`" + ` |
| ` + "`JOB_STATE_CANCELLING` | `cancelling`" + ` |
| ` + "`JOB_STATE_CANCELLED` | `cancelled`" + ` |

What was answered before a batch was cancelled, failed or expired can be read.

## Parameters

| where | parameter | what happens | source |
|---|---|---|---|
`

func TestThePageIsUpToDate(t *testing.T) {
	var b strings.Builder
	b.WriteString(head)
	for _, p := range params() {
		does := p.does
		if p.warned {
			does = "warning: " + does
		}
		fmt.Fprintf(&b, "| %s | `%s` | %s | [page](%s) |\n", p.in, p.name, does, p.link)
	}
	b.WriteString("\nAny other member of a batch, and of a line, is left out with a warning; any other field of a form too.\n")
	if testkit.Updating() {
		if err := os.WriteFile(page, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), b.String()); diff != "" {
		t.Errorf("%s is not what the table says (-page +table, -update rewrites it)\n%s", page, diff)
	}
}

func TestWhatIsLeftOutIsTold(t *testing.T) {
	for name, code := range map[string]string{"output_expires_after": providers.WarnUnsupported, "colour": providers.WarnUnknown} {
		if w := leftOut(inBatch, name); w.Code != code || w.Param != name || w.Message == "" {
			t.Errorf("%s: %+v", name, w)
		}
	}
}
