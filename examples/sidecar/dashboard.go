package main

import (
	"context"
	"errors"
	"net/http"

	"github.com/b650d4bf/gateway"
	"github.com/b650d4bf/gateway/logs"
)

// newLog keeps the last records in memory, for the dashboard; none keeps nothing.
func newLog(f *flags) (*logs.Log, error) {
	if f.records <= 0 {
		return nil, nil //nolint:nilnil // no log
	}
	return logs.New(logs.Options{Store: logs.NewMemory(f.records), Content: f.content})
}

// newClient returns the client, and what ends it and its log.
func newClient(f *flags, opts ...gateway.ClientOption) (*gateway.Client, func() error, error) {
	log, err := newLog(f)
	if err != nil {
		return nil, nil, err
	}
	if log != nil {
		opts = append(opts, gateway.WithLog(log))
	}
	client, err := gateway.New(opts...)
	end := func() error {
		if log == nil {
			return client.Close()
		}
		ctx, cancel := context.WithTimeout(context.Background(), shutdownTimeout)
		defer cancel()
		return errors.Join(client.Close(), log.Close(ctx))
	}
	if err != nil {
		if log != nil {
			err = errors.Join(err, log.Close(context.Background()))
		}
		return nil, nil, err
	}
	return client, end, nil
}

// addDashboard adds the page at /dashboard/.
func addDashboard(mux *http.ServeMux, client *gateway.Client, opts ...gateway.HandlerOption) {
	mux.Handle("/dashboard/", http.StripPrefix("/dashboard", client.Dashboard(opts...)))
}
