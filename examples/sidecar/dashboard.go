package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/b650d4bf/gateway"
	"github.com/b650d4bf/gateway/logs"
	"github.com/b650d4bf/gateway/prices"
)

// newLog keeps records in the file, or else the last ones in memory. It returns
// what closes it, and no log where none is wanted.
func newLog(f *flags) (*logs.Log, func(context.Context) error, error) {
	var store logs.Store
	closeFile := func() error { return nil }
	switch {
	case f.logFile != "":
		file, err := logs.OpenFile(f.logFile, logs.FileOptions{})
		if err != nil {
			return nil, nil, fmt.Errorf("-log-file: %w", err)
		}
		store, closeFile = file, file.Close
	case f.records > 0:
		store = logs.NewMemory(f.records)
	default:
		return nil, func(context.Context) error { return nil }, nil
	}
	log, err := logs.New(logs.Options{Store: store, Prices: prices.Default(), Content: f.content})
	if err != nil {
		return nil, nil, errors.Join(err, closeFile())
	}
	return log, func(ctx context.Context) error { return errors.Join(log.Close(ctx), closeFile()) }, nil
}

// newClient returns the client, and what ends it and its log.
func newClient(f *flags, opts ...gateway.ClientOption) (*gateway.Client, func() error, error) {
	log, closeLog, err := newLog(f)
	if err != nil {
		return nil, nil, err
	}
	if log != nil {
		opts = append(opts, gateway.WithLog(log))
	}
	client, err := gateway.New(opts...)
	if err != nil {
		return nil, nil, errors.Join(err, closeLog(context.Background()))
	}
	return client, func() error {
		ctx, cancel := context.WithTimeout(context.Background(), shutdownTimeout)
		defer cancel()
		return errors.Join(client.Close(), closeLog(ctx))
	}, nil
}

// addDashboard adds the page at /dashboard/.
func addDashboard(mux *http.ServeMux, client *gateway.Client, opts ...gateway.HandlerOption) {
	mux.Handle("/dashboard/", http.StripPrefix("/dashboard", client.Dashboard(opts...)))
}
