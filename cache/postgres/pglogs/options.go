package pglogs

import (
	"errors"
	"time"

	dbtables "github.com/b650d4bf/gateway/cache/postgres/internal/tables"
)

// The defaults of the options.
const (
	DefaultPrefix  = "gateway_logs_"
	DefaultTimeout = 10 * time.Second
)

// Option sets one thing of a [Store].
type Option func(*settings) error

type settings struct {
	tables     dbtables.Tables
	timeout    time.Duration
	maxAge     time.Duration
	maxRecords int64
}

func newSettings(opts []Option) (settings, error) {
	out := settings{tables: dbtables.Tables{Prefix: DefaultPrefix}, timeout: DefaultTimeout}
	var errs []error
	for _, o := range opts {
		errs = append(errs, o(&out))
	}
	return out, errors.Join(errs...)
}

// WithSchema puts the tables into a schema, which is created if it is missing, in
// place of the first one in the connections' search_path. It has at most 40 lower
// case letters, digits and underscores.
func WithSchema(name string) Option {
	return func(s *settings) error {
		s.tables.Schema = name
		return dbtables.CheckName("schema", name)
	}
}

// WithPrefix begins the names of tables with another prefix than [DefaultPrefix].
// Stores of one schema and prefix share their records. It has at most 40 lower case
// letters, digits and underscores.
func WithPrefix(prefix string) Option {
	return func(s *settings) error {
		s.tables.Prefix = prefix
		return dbtables.CheckName("prefix", prefix)
	}
}

// WithTimeout bounds each operation, in place of [DefaultTimeout]; [Store.Prune] has
// it for each batch.
func WithTimeout(d time.Duration) Option {
	return func(s *settings) error {
		if d < time.Millisecond {
			return errors.New("postgres: the timeout has to be a millisecond at least")
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
			return errors.New("postgres: the age of records has to be a second at least")
		}
		s.maxAge = d
		return nil
	}
}

// WithMaxRecords deletes the oldest records beyond that number. There are more for
// a while, as many as come within a minute. Without it any number is kept.
func WithMaxRecords(n int64) Option {
	return func(s *settings) error {
		if n < 1 {
			return errors.New("postgres: the number of records has to be positive")
		}
		s.maxRecords = n
		return nil
	}
}
