// Logs keeps a record of each call with what it cost, finds records again, says what
// somebody thought of an answer, and writes a table for a spreadsheet.
//
//	go -C examples run ./logs
//
// The platform is an emulator in the same process. With GOOGLE_CLOUD_PROJECT set,
// the calls go to the real one (GOOGLE_CLOUD_LOCATION, default global;
// GATEWAY_MODEL, default gemini-3-flash-preview).
package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/signal"
	"strings"

	"github.com/b650d4bf/gateway"
	"github.com/b650d4bf/gateway/examples/internal/demo"
	"github.com/b650d4bf/gateway/logs"
	"github.com/b650d4bf/gateway/prices"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Stdout, os.Getenv); err != nil {
		fmt.Fprintln(os.Stderr, "logs:", err)
		stop()
		os.Exit(1)
	}
}

// run shows everything on out.
func run(ctx context.Context, out io.Writer, getenv func(string) string) (err error) {
	// A file or a database would outlive the process.
	log, err := logs.New(logs.Options{
		Store:   logs.NewMemory(1000),
		Prices:  prices.Default(), // without them costs are unknown
		Content: true,             // off by default
		Redact: func(r *logs.Record) {
			if r.Content != nil {
				r.Content.Request = bytes.ReplaceAll(r.Content.Request, []byte("4711"), []byte("####"))
			}
		},
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, log.Close(ctx)) }() // writes what is left
	client, err := gateway.New(append(demo.Options(getenv), gateway.WithLog(log))...)
	if err != nil {
		return err
	}
	defer func() { _ = client.Close() }()
	d := &show{client: client, page: demo.NewPage(out, getenv), model: cmp.Or(getenv("GATEWAY_MODEL"), "gemini-3-flash-preview")}
	for _, step := range []func(context.Context) error{d.calls, d.find, d.feedback, d.export} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// show makes calls and looks for them.
type show struct {
	client *gateway.Client
	page   demo.Page
	model  string
	last   string // the id of the last call
}

func (d *show) calls(ctx context.Context) error {
	d.page.Title("1  Calls")
	for _, c := range []struct{ team, question string }{{"search", "Where is parcel 4711?"}, {"ads", "A slogan for tea, please."}} {
		answer, err := d.client.Chat.Completions.Create(ctx, &gateway.ChatCompletionRequest{
			Model: d.model, Messages: []gateway.Message{gateway.UserMessage(c.question)},
		}, gateway.WithMetadata(map[string]string{"team": c.team}))
		if err != nil {
			return err
		}
		if c.team == "search" {
			d.last = answer.Meta.RequestID
		}
	}
	_, err := d.client.Chat.Completions.Create(ctx, &gateway.ChatCompletionRequest{Model: d.model}) // has no message
	d.page.Say("refused", fmt.Sprint(err != nil))
	return d.client.Logs().Flush(ctx)
}

// find looks for records as the query string of a URL says it.
func (d *show) find(ctx context.Context) error {
	d.page.Title("2  Records")
	for _, text := range []string{"metadata.team=search", "failed=true", "total_tokens[gt]=0&limit=1"} {
		values, err := url.ParseQuery(text)
		if err != nil {
			return err
		}
		query, err := logs.ParseQuery(values)
		if err != nil {
			return err
		}
		found, err := d.client.Logs().Store().Query(ctx, query)
		if err != nil {
			return err
		}
		d.page.Say("query", text)
		for i := range found.Records {
			r := &found.Records[i]
			reason := r.FinishReason
			if r.Error != nil {
				reason = r.Error.Code + " at " + r.Error.Param
			}
			d.page.Note("%s of %s by %s: %s, %s", r.Operation, cmp.Or(r.Metadata["team"], "nobody"), cmp.Or(r.Provider, "nobody"), reason, price(r))
		}
		d.page.Note("more: %v", found.Next != "")
	}
	return nil
}

// price is what a call cost. A cost that is not known is not zero.
func price(r *logs.Record) string {
	if r.Cost == nil {
		return "at an unknown cost"
	}
	return "$" + r.Cost.String()
}

func (d *show) feedback(ctx context.Context) error {
	d.page.Title("3  One record, with feedback and content")
	store := d.client.Logs().Store()
	if err := store.AddFeedback(ctx, logs.Feedback{RecordID: d.last, Value: 8, Comment: "quick"}); err != nil {
		return err
	}
	r, err := store.Get(ctx, d.last)
	if err != nil {
		return err
	}
	score, _ := r.Score()
	d.page.Say("feedback", fmt.Sprintf("%v: %s", score, r.Feedback[0].Comment))
	d.page.Say("request", string(r.Content.Request))
	return nil
}

func (d *show) export(ctx context.Context) error {
	d.page.Title("4  A table")
	var table strings.Builder
	query := logs.Query{Filters: []logs.Filter{{Field: "failed", Op: logs.Eq, Values: []string{"false"}}}}
	if err := logs.Export(ctx, d.client.Logs().Store(), query, logs.FormatCSV, &table); err != nil {
		return err
	}
	head, rest, _ := strings.Cut(table.String(), "\n")
	d.page.Say("columns", strings.Join(strings.Split(head, ",")[:6], ", ")+", …")
	d.page.Say("rows", fmt.Sprint(strings.Count(rest, "\n")))
	s := d.client.Logs().Stats()
	d.page.Say("written", fmt.Sprintf("%d, dropped %d, failed %d", s.Written, s.Dropped, s.Failed))
	return nil
}
