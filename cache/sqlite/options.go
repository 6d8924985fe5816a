package sqlite

import (
	"errors"
	"time"
)

// The defaults of the options.
const (
	DefaultTimeout       = 2 * time.Second
	DefaultMaxBytes      = 1 << 30
	DefaultMaxEntryBytes = 8 << 20
	DefaultVectorBytes   = 256 << 20
	DefaultPoll          = 200 * time.Millisecond
	DefaultSweep         = 30 * time.Second
)

// Option sets one thing of a [Store].
type Option func(*settings) error

type settings struct {
	timeout                         time.Duration
	poll, sweep                     time.Duration
	maxBytes, maxEntry, vectorBytes int64
}

func newSettings(opts []Option) (settings, error) {
	out := settings{
		timeout: DefaultTimeout, poll: DefaultPoll, sweep: DefaultSweep,
		maxBytes: DefaultMaxBytes, maxEntry: DefaultMaxEntryBytes, vectorBytes: DefaultVectorBytes,
	}
	var errs []error
	for _, o := range opts {
		errs = append(errs, o(&out))
	}
	return out, errors.Join(errs...)
}

// duration returns an option that sets a time, which has to be positive.
func duration(d time.Duration, what string, set func(*settings)) Option {
	return func(s *settings) error {
		if d < time.Millisecond {
			return errors.New("sqlite: the " + what + " has to be a millisecond at least")
		}
		set(s)
		return nil
	}
}

func size(n int64, what string, set func(*settings)) Option {
	return func(s *settings) error {
		if n <= 0 {
			return errors.New("sqlite: the " + what + " has to be positive")
		}
		set(s)
		return nil
	}
}

// WithTimeout bounds each operation, in place of [DefaultTimeout]; lists, and
// deletions of many entries, have it for each batch. Waiting for another process
// that writes is part of it.
func WithTimeout(d time.Duration) Option {
	return duration(d, "timeout", func(s *settings) { s.timeout = d })
}

// WithPoll looks that often for what other processes changed, in place of
// [DefaultPoll], while somebody watches.
func WithPoll(d time.Duration) Option {
	return duration(d, "time between polls", func(s *settings) { s.poll = d })
}

// WithSweep deletes what has expired that often, in place of [DefaultSweep].
func WithSweep(d time.Duration) Option {
	return duration(d, "time between sweeps", func(s *settings) { s.sweep = d })
}

// WithMaxBytes bounds what all entries take together, in place of
// [DefaultMaxBytes]: those that were used least recently make room. The file is
// somewhat larger, and does not shrink.
func WithMaxBytes(n int64) Option {
	return size(n, "size", func(s *settings) { s.maxBytes = n })
}

// WithMaxEntryBytes refuses larger entries, in place of [DefaultMaxEntryBytes].
func WithMaxEntryBytes(n int64) Option {
	return size(n, "size of an entry", func(s *settings) { s.maxEntry = n })
}

// WithVectorBytes bounds the memory for vectors that were searched, in place of
// [DefaultVectorBytes]. Groups that do not fit are read at each search.
func WithVectorBytes(n int64) Option {
	return size(n, "memory for vectors", func(s *settings) { s.vectorBytes = n })
}
