package postgres

import (
	"errors"
	"time"

	dbtables "github.com/b650d4bf/gateway/cache/postgres/internal/tables"
)

// The defaults of the options.
const (
	DefaultPrefix        = "gateway_cache_"
	DefaultTimeout       = 2 * time.Second
	DefaultSweep         = time.Minute
	DefaultMaxEntryBytes = 8 << 20
	DefaultScanLimit     = 2000
)

// Option sets one thing of a [Store].
type Option func(*settings) error

type settings struct {
	schema, prefix string
	timeout        time.Duration
	sweep          time.Duration
	maxEntry       int
	scanLimit      int
	extension      bool
}

func newSettings(opts []Option) (settings, error) {
	out := settings{prefix: DefaultPrefix, timeout: DefaultTimeout, sweep: DefaultSweep, maxEntry: DefaultMaxEntryBytes, scanLimit: DefaultScanLimit, extension: true}
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
		s.schema = name
		return dbtables.CheckName("schema", name)
	}
}

// WithPrefix begins the names of tables with another prefix than [DefaultPrefix].
// Stores of one schema and prefix share their entries. It has at most 40 lower case
// letters, digits and underscores.
func WithPrefix(prefix string) Option {
	return func(s *settings) error {
		s.prefix = prefix
		return dbtables.CheckName("prefix", prefix)
	}
}

// WithTimeout bounds each operation, in place of [DefaultTimeout]; lists, and
// deletions of many entries, have it for each batch.
func WithTimeout(d time.Duration) Option {
	return func(s *settings) error {
		if d < time.Millisecond {
			return errors.New("postgres: the timeout has to be a millisecond at least")
		}
		s.timeout = d
		return nil
	}
}

// WithSweep deletes what has expired that often, in place of [DefaultSweep]; 0
// leaves it to others. Any number of processes may do so at once.
func WithSweep(every time.Duration) Option {
	return func(s *settings) error {
		if every < 0 {
			return errors.New("postgres: the time between sweeps cannot be negative")
		}
		s.sweep = every
		return nil
	}
}

// WithMaxEntryBytes refuses larger entries, in place of [DefaultMaxEntryBytes].
func WithMaxEntryBytes(n int) Option {
	return func(s *settings) error {
		if n <= 0 {
			return errors.New("postgres: the size of an entry has to be positive")
		}
		s.maxEntry = n
		return nil
	}
}

// WithScanLimit bounds the vectors that a search reads and compares itself where
// pgvector is not used, in place of [DefaultScanLimit]: those of a group that
// expire last.
func WithScanLimit(n int) Option {
	return func(s *settings) error {
		if n <= 0 {
			return errors.New("postgres: the limit of scans has to be positive")
		}
		s.scanLimit = n
		return nil
	}
}

// WithoutExtension does not use pgvector though the database has it.
func WithoutExtension() Option {
	return func(s *settings) error {
		s.extension = false
		return nil
	}
}
