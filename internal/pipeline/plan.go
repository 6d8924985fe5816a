package pipeline

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/b650d4bf/gateway/config"
	"github.com/b650d4bf/gateway/internal/routing"
	"github.com/b650d4bf/gateway/providers"
)

// Plan is a config that was readied for calls. It does not change and is safe
// for concurrent use.
type Plan struct {
	made *config.Config // what it is made of
	tree *routing.Tree
	// again says that a call may ask more than once, so that a stream is held
	// back until it has begun.
	again bool
	// counts says that a target has a limit on tokens, so that calls are weighed.
	counts bool
	// caches says that a target has a cache.
	caches bool
	// scope parts the health and the use of the targets from those of other plans.
	scope string
	// guards are the names of the guards that targets name.
	guards []string
}

// leaf is a target of a plan, with the settings it inherits.
type leaf struct {
	settings config.Settings
	model    string // of override_params, where that is all that changes the request
	changes  bool   // the params change more than the model
	warnings []providers.Warning
}

// NewPlan readies a config. A mistake in it is the config's own error.
func NewPlan(c *config.Config) (*Plan, error) { return newPlan(c, "") }

// visitors is the scope of configs that HTTP clients bring along: what they make
// of a target, by a short request_timeout say, must not cool it down for others.
const visitors = "visitors "

func newPlan(c *config.Config, scope string) (*Plan, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	p := &Plan{made: c, scope: scope, guards: c.GuardNames()}
	root := c.Root()
	tree, err := routing.Compile(p.node(&root, config.Settings{}))
	if err != nil {
		return nil, err
	}
	p.tree = tree
	return p, nil
}

func (p *Plan) node(t *config.Target, above config.Settings) *routing.Node {
	settings := t.Settings.Under(above)
	if len(t.Targets) == 0 {
		return p.leaf(t, settings)
	}
	n := &routing.Node{Name: t.Name, Mode: routing.Single}
	for i := range t.Targets {
		n.Children = append(n.Children, p.node(&t.Targets[i], settings))
	}
	s := t.Strategy
	if s == nil {
		return n
	}
	switch s.Mode {
	case config.ModeFallback:
		n.Mode, n.OnStatus = routing.Fallback, s.OnStatusCodes
		p.again = p.again || len(t.Targets) > 1
	case config.ModeLoadbalance:
		n.Mode = routing.LoadBalance
		for i := range t.Targets {
			n.Weights = append(n.Weights, t.Targets[i].Share())
		}
		n.Sticky = stickyOf(s.Sticky)
	case config.ModeConditional:
		n.Mode = routing.Conditional
		conditions(n, t)
	}
	return n
}

func (p *Plan) leaf(t *config.Target, s config.Settings) *routing.Node {
	l := &leaf{settings: s}
	l.model, l.changes = paramsOf(&s)
	p.caches = p.caches || s.Cache != nil
	n := &routing.Node{Name: t.Name, Key: p.scope + identity(&s), Value: l}
	if r := s.Retry; r != nil {
		n.Retry = routing.Policy{Attempts: r.Attempts, OnStatus: r.OnStatusCodes, IgnoreRetryAfter: !r.HonorsRetryAfter()}
		if r.Backoff != nil {
			n.Retry.Base, n.Retry.Max = r.Backoff.Base, r.Backoff.Max
		}
		p.again = p.again || r.Attempts > 0
	}
	if c := s.Cooldown; c != nil {
		n.Cooldown = routing.Cooldown{Failures: c.Failures, Duration: c.Duration}
	}
	switch {
	case s.Hedge == nil:
	case len(s.Guards) > 0: // each request would be judged, and slow guards hedged
		l.warnings = []providers.Warning{{
			Code: providers.WarnConflict, Param: "config.hedge",
			Message: "a target with guards makes no second request: take hedge or the guards out of it",
		}}
	default:
		n.Hedge = routing.Hedge{After: s.Hedge.After}
	}
	if m := s.Limits; m != nil {
		p.counts = p.counts || m.TokensPerMinute > 0
		n.Limits = routing.Limits{
			Requests: m.RequestsPerMinute, Tokens: int64(m.TokensPerMinute), Concurrent: m.Concurrency, QueueTimeout: m.QueueTimeout,
		}
		if m.QueueTimeout == 0 {
			n.Limits.QueueTimeout = -time.Nanosecond // nobody waits
		}
	}
	return n
}

// identity is what a target's health and limits are kept by: where it is, and
// the model that it is always asked for.
func identity(s *config.Settings) string {
	model, _ := paramsOf(s)
	var b strings.Builder
	for _, part := range []string{s.Provider, s.Region, s.ProjectID, s.CustomHost, model} {
		b.WriteString(strconv.Quote(part))
	}
	return b.String()
}

// paramsOf returns the model that override_params names, and reports whether the
// params change anything else.
func paramsOf(s *config.Settings) (model string, more bool) {
	more = len(s.DefaultParams) > 0 || len(s.DropParams) > 0
	if len(s.OverrideParams) == 0 {
		return "", more
	}
	raw, ok := config.Param(s.OverrideParams, []string{"model"})
	if !ok {
		return "", true
	}
	model, err := strconv.Unquote(string(raw))
	if err != nil { // escapes that Go does not have
		return "", true
	}
	only := string(slices.Concat([]byte(`{"model":`), raw, []byte(`}`)))
	return model, more || strings.Join(strings.Fields(string(s.OverrideParams)), "") != only
}

func stickyOf(s *config.Sticky) func(any) string {
	if s == nil || !s.Enabled {
		return nil
	}
	return func(v any) string {
		view, ok := v.(config.View)
		if !ok {
			return ""
		}
		var room [128]byte
		key, ok := s.AppendKey(room[:0], view)
		if !ok {
			return ""
		}
		return string(key)
	}
}

// conditions readies a conditional group.
func conditions(n *routing.Node, t *config.Target) {
	named := func(name string) int {
		return slices.IndexFunc(t.Targets, func(c config.Target) bool { return c.Name == name })
	}
	for _, c := range t.Strategy.Conditions {
		n.Cases = append(n.Cases, routing.Case{
			Then: named(c.Then),
			When: func(v any) bool {
				view, ok := v.(config.View)
				return ok && c.Query.Match(view)
			},
		})
	}
	if t.Strategy.Default != "" {
		n.Default = new(named(t.Strategy.Default))
	}
}
