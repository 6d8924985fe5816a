package gateway

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/b650d4bf/gateway/analytics"
	"github.com/b650d4bf/gateway/internal/front"
	"github.com/b650d4bf/gateway/internal/logsapi"
	"github.com/b650d4bf/gateway/logs"
)

// flushTime bounds the wait for records that are on their way to the store.
const flushTime = 2 * time.Second

// WithAnalytics has reports made by the source, such as an [analytics.Live] that is a
// sink of the log. Without it they are made of the records in the log's store.
func WithAnalytics(source analytics.Source) ClientOption {
	return clientOption(func(cfg *clientConfig) error {
		if source == nil {
			return invalidOption("analytics", "must not be nil")
		}
		cfg.reports = source
		return nil
	})
}

// Analytics sums up the calls that the log has seen: those of this client, and of
// every other one that writes to the same store. docs/analytics.md defines each
// number. Records that the log has not written yet are not in it: [logs.Log.Flush]
// waits for them. Without [WithLog] or [WithAnalytics] it is an [ErrNotFound].
func (c *Client) Analytics(ctx context.Context, q analytics.Query) (*analytics.Report, error) {
	store := c.logStore()
	source := c.reportSource(store)
	if source == nil {
		return nil, logsapi.ErrNoLog()
	}
	r, err := source.Report(ctx, q)
	return r, logError(err)
}

// Feedback adds what somebody said of an answer to the record of its call, which
// RecordID names: it is the RequestID of the answer's Meta. A zero Time is now. A
// record that is on its way to the store is waited for; without one it is an
// [ErrNotFound].
func (c *Client) Feedback(ctx context.Context, f logs.Feedback) error {
	store := c.logStore()
	if store == nil {
		return logsapi.ErrNoLog()
	}
	if err := f.Validate(); err != nil {
		return err
	}
	if f.Time.IsZero() {
		f.Time = time.Now()
	}
	f.Time = f.Time.UTC()
	r, err := store.Get(ctx, f.RecordID)
	if errors.Is(err, logs.ErrNotFound) {
		_ = c.flush(ctx) // the store may have it, whatever another sink has not
		r, err = store.Get(ctx, f.RecordID)
	}
	if err == nil {
		err = store.AddFeedback(ctx, f)
	}
	if err != nil {
		return logError(err)
	}
	if taker, ok := c.reports.(logsapi.FeedbackTaker); ok {
		taker.AddFeedback(r, f)
	}
	return nil
}

// flush waits a little for records that are on their way to the store.
func (c *Client) flush(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, flushTime)
	defer cancel()
	return c.Logs().Flush(ctx)
}

// logError puts what a store says into the gateway's words.
func logError(err error) error {
	if errors.Is(err, logs.ErrNotFound) {
		return &Error{Code: ErrNotFound, Param: "record_id", Message: "the log has no such record", Err: err}
	}
	return err
}

// logStore returns the store of the log, nil without one.
func (c *Client) logStore() logs.Store {
	l := c.Logs()
	if l == nil || l.Store() == nil {
		return nil
	}
	return l.Store()
}

// reportSource returns what makes reports, nil without anything.
func (c *Client) reportSource(store logs.Store) analytics.Source {
	if c.reports == nil && store != nil {
		return analytics.Over(store)
	}
	return c.reports
}

// WithAdminKeys keeps the log, its reports and feedback for those who show one of
// these keys, as [WithAPIKeys] has it; they are good for everything else too.
// Without this option every API key sees the records of the calls that came with it
// and no others, and where there are no API keys everybody sees all. With it and no
// key nobody does. It has no meaning for [Client.RoundTripper], whose user is in the
// process.
func WithAdminKeys(keys ...string) HandlerOption {
	return handlerOption(func(c *front.Config) {
		c.AdminKeys = append(c.AdminKeys, keys...)
		if len(keys) == 0 {
			c.AdminKeys = append(c.AdminKeys, "") // fits nobody
		}
	})
}

// Logs answers for the log over HTTP.
func (b backend) Logs(r *http.Request, path string, keyID *string) (*front.LogsAnswer, error) {
	store := b.c.logStore()
	h := logsapi.New(store, b.c.reportSource(store))
	h.Flush = b.c.flush
	a, err := h.Answer(r, path, keyID)
	return (*front.LogsAnswer)(a), err
}
