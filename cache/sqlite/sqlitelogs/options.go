package sqlitelogs

import (
	"errors"
	"time"
)

// DefaultTimeout is that of [WithTimeout].
const DefaultTimeout = 10 * time.Second

// Option sets one thing of a [Store].
type Option func(*settings) error

type settings struct {
	timeout, maxAge time.Duration
	maxRecords      int64
}

func newSettings(opts []Option) (settings, error) {
	out := settings{timeout: DefaultTimeout}
	var errs []error
	for _, o := range opts {
		errs = append(errs, o(&out))
	}
	return out, errors.Join(errs...)
}

// WithTimeout bounds each operation, in place of [DefaultTimeout]; [Store.Prune] has
// it for each batch. Waiting for another process that writes is part of it.
func WithTimeout(d time.Duration) Option {
	return func(s *settings) error {
		if d < time.Millisecond {
			return errors.New("sqlite: the timeout has to be a millisecond at least")
		}
		s.timeout = d
		return nil
	}
}

// WithMaxAge deletes records whose calls came in longer ago. Without it records are
// kept whatever their age.
func WithMaxAge(d time.Duration) Option {
	return func(s *settings) error {
		if d < time.Second {
			return errors.New("sqlite: the age of records has to be a second at least")
		}
		s.maxAge = d
		return nil
	}
}

// WithMaxRecords deletes the oldest records beyond that number. There are more for
// a while, as many as come within a minute. Without it any number is kept. The file
// does not shrink, but what was deleted makes room in it.
func WithMaxRecords(n int64) Option {
	return func(s *settings) error {
		if n < 1 {
			return errors.New("sqlite: the number of records has to be positive")
		}
		s.maxRecords = n
		return nil
	}
}
