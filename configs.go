package gateway

import (
	"github.com/b650d4bf/gateway/config"
	"github.com/b650d4bf/gateway/internal/pipeline"
)

// Config decides where a call goes and what happens when that fails: fallback,
// load balancing, conditions, retries, time limits and parameters, by target. Its
// members are documented in package [config].
type Config = config.Config

// ParseConfig reads a config from JSON. The error lists every mistake with its
// path.
func ParseConfig(data []byte) (*Config, error) { return config.Parse(data) }

// WithConfig sends calls where the config says: chat completions, counts of their
// tokens, prompts and embeddings. A call's config takes the place of the client's.
// What it needs is made here, so that a client, or a view of one with
// [Client.With], is the place for a config that serves many calls.
//
// A provider and a place that a call itself names win over the config's, and
// [WithStrictCompliance] of a call over strict_compliance. The limit of
// [WithTimeouts] for the whole call bounds all targets together: tries, pauses and
// queues.
//
// The calls of [CacheService] take no notice of configs, since a cached content is
// where it was made: they go where the other options say. For its
// cache member see [WithCache].
func WithConfig(c *Config) Option {
	return option(func(s *pipeline.Settings) error {
		if c == nil {
			return invalidOption("config", "must not be nil")
		}
		plan, err := pipeline.NewPlan(c)
		if err != nil {
			return invalidOption("config", err.Error())
		}
		s.Plan, s.ConfigID = plan, ""
		return nil
	})
}

// WithConfigID sends calls where the catalog's config of that id says; see
// [WithConfig]. A catalog that is read again has effect at once.
func WithConfigID(id string) Option {
	return option(func(s *pipeline.Settings) error {
		if id == "" {
			return invalidOption("config", "must not be empty")
		}
		s.Plan, s.ConfigID = nil, id
		return nil
	})
}
