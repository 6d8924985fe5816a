package gateway

import (
	"slices"

	"github.com/b650d4bf/gateway/logs"
)

// WithLog has a record of each call written to the log, in the background. Whoever made
// the log closes it, after the last call: [Client.Close] does not. Content is kept if
// the log's options ask for that, but for calls with [WithDebug] false.
func WithLog(l *logs.Log) ClientOption {
	return clientOption(func(cfg *clientConfig) error {
		if l == nil {
			return invalidOption("log", "must not be nil")
		}
		if !slices.Contains(cfg.settings.Observers, Observer(l)) {
			cfg.settings.Observers = append(cfg.settings.Observers, l)
		}
		return nil
	})
}

// Logs returns the log of [WithLog], nil without one.
func (c *Client) Logs() *logs.Log {
	for _, o := range c.settings.Observers {
		if l, ok := o.(*logs.Log); ok {
			return l
		}
	}
	return nil
}
