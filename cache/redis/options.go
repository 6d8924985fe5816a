package redis

import (
	"errors"
	"fmt"
	"regexp"
	"time"
)

// The defaults of the options.
const (
	DefaultPrefix        = "gateway:cache:"
	DefaultTimeout       = time.Second
	DefaultClientCaching = time.Minute
	DefaultMaxEntryBytes = 8 << 20
	DefaultScanLimit     = 1000
)

// Option sets one thing of a [Store].
type Option func(*settings) error

type settings struct {
	prefix        string
	timeout       time.Duration
	clientCaching time.Duration
	maxEntry      int
	scanLimit     int
	vectorSets    bool
}

func newSettings(opts []Option) (settings, error) {
	out := settings{
		prefix: DefaultPrefix, timeout: DefaultTimeout, clientCaching: DefaultClientCaching,
		maxEntry: DefaultMaxEntryBytes, scanLimit: DefaultScanLimit, vectorSets: true,
	}
	var errs []error
	for _, o := range opts {
		errs = append(errs, o(&out))
	}
	return out, errors.Join(errs...)
}

var prefixes = regexp.MustCompile(`^[A-Za-z0-9:._{}-]{1,100}$`)

// WithPrefix begins all keys of the server that the store writes, and the name of
// its channel, with another prefix than [DefaultPrefix]. Stores of one prefix share
// their entries. It has letters, digits and any of : . _ - { }.
func WithPrefix(prefix string) Option {
	return func(s *settings) error {
		if !prefixes.MatchString(prefix) {
			return fmt.Errorf("redis: the prefix %q has to be 1 to 100 letters, digits and any of : . _ - { }", prefix)
		}
		s.prefix = prefix
		return nil
	}
}

// WithTimeout bounds each operation, in place of [DefaultTimeout]; lists and
// deletions of many entries have it for each batch.
func WithTimeout(d time.Duration) Option {
	return func(s *settings) error {
		if d <= 0 {
			return errors.New("redis: the timeout has to be positive")
		}
		s.timeout = d
		return nil
	}
}

// WithClientCaching keeps what was read in the memory of this process for that
// long, in place of [DefaultClientCaching]; the server says when it changed. 0 turns
// this off, which is right behind a store in memory. How much memory it takes is
// CacheSizeEachConn of the client's options.
func WithClientCaching(d time.Duration) Option {
	return func(s *settings) error {
		if d < 0 {
			return errors.New("redis: the time of client-side caching cannot be negative")
		}
		s.clientCaching = d
		return nil
	}
}

// WithMaxEntryBytes refuses larger entries, in place of [DefaultMaxEntryBytes].
func WithMaxEntryBytes(n int) Option {
	return func(s *settings) error {
		if n <= 0 {
			return errors.New("redis: the size of an entry has to be positive")
		}
		s.maxEntry = n
		return nil
	}
}

// WithScanLimit bounds the vectors of a group on servers without vector sets, in
// place of [DefaultScanLimit]. Each search reads them all.
func WithScanLimit(n int) Option {
	return func(s *settings) error {
		if n <= 0 {
			return errors.New("redis: the limit of scans has to be positive")
		}
		s.scanLimit = n
		return nil
	}
}

// WithoutVectorSets keeps vectors as on servers that have no vector sets. It is for
// fleets in which some servers have none, since the two do not find each other's.
func WithoutVectorSets() Option {
	return func(s *settings) error {
		s.vectorSets = false
		return nil
	}
}
