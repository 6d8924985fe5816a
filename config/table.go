package config

import (
	"time"
)

// How a member meets that of the node above.
const (
	inheritsOwn    = "the node's own, else inherited"
	inheritsMerged = "merged by member, the node's winning"
	inheritsUnion  = "the inherited ones, then the node's"
	inheritsNot    = "not inherited"
)

const (
	maxMillis = 24 * 60 * 60 * 1000 // of a request or a cooldown
	maxWait   = 10 * 60 * 1000      // ms of a wait
	maxCount  = 1e9
	maxWeight = 1e9
)

const ms = time.Millisecond

// settingsTable has the members that every node may have.
func settingsTable() []member[Settings] {
	return append(paramsTable(), behaviourTable()...)
}

// paramsTable says where a request goes, and with what.
func paramsTable() []member[Settings] {
	return []member[Settings]{
		text(Member{
			Name: "provider", Pattern: providerPattern, Inherited: inheritsOwn, Default: "the request's or the client's",
			Does: `The entry of the catalog as "@slug", or the id of a provider. A slug in the request's model wins.`,
		}, func(s *Settings) *string { return &s.Provider }, checkProvider),
		text(Member{
			Name: "vertex_region", Pattern: labelPattern, Inherited: inheritsOwn, Default: "the entry's",
			Does: "The location to call, such as europe-west4 or global.",
		}, func(s *Settings) *string { return &s.Region }, checkRegion),
		text(Member{
			Name: "vertex_project_id", Pattern: projectPattern, Inherited: inheritsOwn, Default: "the entry's",
			Does: "The platform's project, by id or number.",
		}, func(s *Settings) *string { return &s.ProjectID }, checkProject),
		text(Member{
			Name: "custom_host", Pattern: hostPattern, Inherited: inheritsOwn, Default: "the provider's address",
			Does: "An absolute https URL in place of the provider's address; http for hosts of this machine only.",
		}, func(s *Settings) *string { return &s.CustomHost }, checkHost),
		raw(Member{
			Name: "default_params", Inherited: inheritsMerged, Default: "none",
			Does: "Request members for those that the request lacks. They come first.",
		}, func(s *Settings) *rawObject { return &s.DefaultParams }),
		texts(Member{
			Name: "drop_params", Pattern: paramPattern, Inherited: inheritsUnion, Default: "none",
			Does: "Request members to take out, those of objects by a path with dots. They come second.",
		}, func(s *Settings) *[]string { return &s.DropParams }, checkDrop),
		raw(Member{
			Name: "override_params", Inherited: inheritsMerged, Default: "none",
			Does: "Request members in place of the request's, each as a whole. They come last.",
		}, func(s *Settings) *rawObject { return &s.OverrideParams }),
		texts(Member{
			Name: "forward_headers", Pattern: tokenPattern, Inherited: inheritsOwn, Default: "none",
			Does: "Headers of the incoming request to send on. Credentials, cookies and headers about the connection or the body can't be named.",
		}, func(s *Settings) *[]string { return &s.ForwardHeaders }, checkHeader),
		flag(Member{
			Name: "strict_compliance", Inherited: inheritsOwn, Default: "the client's",
			Does: "false adds thinking, signatures, grounding and safety ratings to answers. The call's own setting wins.",
		}, func(s *Settings) **bool { return &s.StrictCompliance }),
	}
}

// behaviourTable says how a request is made.
func behaviourTable() []member[Settings] {
	return []member[Settings]{
		object(Member{
			Name: "cache", Of: "cache", Inherited: inheritsOwn, Default: "the client's", Does: "The response cache.",
		}, func(s *Settings) **Cache { return &s.Cache }, cacheTable(), checkCache),
		object(Member{
			Name: "retry", Of: "retry", Inherited: inheritsOwn, Default: "no retries", Does: "Tries at the same target after a failure.",
		}, func(s *Settings) **Retry { return &s.Retry }, retryTable(), nil),
		span(Member{
			Name: "request_timeout", Min: 1, Max: maxMillis, Inherited: inheritsOwn, Default: "the call's and the client's alone",
			Does: "The limit of one try.",
		}, ms, func(s *Settings) *time.Duration { return &s.RequestTimeout }),
		object(Member{
			Name: "limits", Of: "limits", Inherited: inheritsOwn, Default: "no limits", Does: "Limits on the use of the target by this process.",
		}, func(s *Settings) **Limits { return &s.Limits }, limitsTable(), nil),
		object(Member{
			Name: "cb_config", Of: "cb_config", Inherited: inheritsOwn, Default: "no circuit breaker",
			Does: "A circuit breaker that leaves a failing target alone for a while.",
		}, func(s *Settings) **Cooldown { return &s.Cooldown }, cooldownTable(), nil),
		object(Member{
			Name: "hedge", Of: "hedge", Inherited: inheritsOwn, Default: "no second request",
			Does: "A second request while the first has no answer. Both may be charged. A target with guards makes none, since they would judge each.",
		}, func(s *Settings) **Hedge { return &s.Hedge }, hedgeTable(), nil),
		list(Member{
			Name: "guards", Of: "guard", Inherited: inheritsUnion, Default: "none",
			Does: "Checks that the client registered. Of a name that is inherited the node's mode wins.",
		}, func(s *Settings) *[]GuardRef { return &s.Guards },
			tabled(guardTable(), func(a, b *GuardRef) bool { return a.Name == b.Name })),
	}
}

func cacheTable() []member[Cache] {
	return []member[Cache]{
		text(Member{
			Name: "mode", Values: []string{string(CacheSimple), string(CacheSemantic)}, Required: true,
			Does: "When a stored answer is given: simple for the same request, semantic for one that means the same too.",
		}, func(c *Cache) *CacheMode { return &c.Mode }, nil),
		span(Member{
			Name: "max_age", Min: float64(MinMaxAge / time.Second), Max: float64(MaxMaxAge / time.Second), Default: "604800",
			Does: "How long an answer is kept.",
		}, time.Second, func(c *Cache) *time.Duration { return &c.MaxAge }),
		number(Member{
			Name: "threshold", Max: 1, Above: true, Default: "0.95", Does: "The least cosine similarity of a semantic hit, above 0.",
		}, func(c *Cache) *float64 {
			if c.Threshold == 0 {
				return nil
			}
			return &c.Threshold
		}, func(c *Cache, f *float64) { c.Threshold = *f }),
	}
}

func retryTable() []member[Retry] {
	return []member[Retry]{
		whole(Member{
			Name: "attempts", Aliases: []string{"max_attempts"}, Max: MaxAttempts, Required: true,
			Does: "How many tries after the first, 0 to 5.",
		}, func(r *Retry) *int { return &r.Attempts }),
		codes(Member{
			Name: "on_status_codes", Default: "408, 409, 429, 500, 502, 503, 504, 529",
			Does: "The statuses of answers that are tried again. " +
				"A failure without an answer does not go by this list: it is tried again where nothing was sent and another try may help.",
		}, func(r *Retry) *[]int { return &r.OnStatusCodes }),
		flag(Member{
			Name: "use_retry_after_header", Aliases: []string{"use_retry_after_headers"}, Default: "true",
			Does: "Whether to wait as long as the platform asks for.",
		}, func(r *Retry) **bool { return &r.UseRetryAfterHeader }),
		object(Member{
			Name: "backoff", Of: "backoff", Default: "its members' defaults", Does: "The wait before a retry, doubled each time and jittered.",
		}, func(r *Retry) **Backoff { return &r.Backoff }, backoffTable(), checkBackoff),
	}
}

func backoffTable() []member[Backoff] {
	return []member[Backoff]{
		span(Member{
			Name: "base", Min: 1, Max: maxWait, Default: "1000", Does: "The longest wait before the first retry.",
		}, ms, func(b *Backoff) *time.Duration { return &b.Base }),
		span(Member{
			Name: "max", Min: 1, Max: maxWait, Default: "30000", Does: "The longest wait before any.",
		}, ms, func(b *Backoff) *time.Duration { return &b.Max }),
	}
}

func limitsTable() []member[Limits] {
	return []member[Limits]{
		whole(Member{
			Name: "requests_per_minute", Min: 1, Max: maxCount, Default: "no limit", Does: "Requests begun within a minute.",
		}, func(l *Limits) *int { return &l.RequestsPerMinute }),
		whole(Member{
			Name: "tokens_per_minute", Min: 1, Max: maxCount, Default: "no limit",
			Does: "Tokens used within a minute. Until the answer tells, a request counts with one for four bytes of its JSON, and each image or other media that is sent along with 258.",
		}, func(l *Limits) *int { return &l.TokensPerMinute }),
		whole(Member{
			Name: "concurrency", Min: 1, Max: maxCount, Default: "no limit", Does: "Requests under way at once.",
		}, func(l *Limits) *int { return &l.Concurrency }),
		span(Member{
			Name: "queue_timeout", Max: maxWait, Default: "0", Does: "How long a request over a limit waits for its turn; 0 refuses it at once.",
		}, ms, func(l *Limits) *time.Duration { return &l.QueueTimeout }),
	}
}

func cooldownTable() []member[Cooldown] {
	return []member[Cooldown]{
		whole(Member{
			Name: "failure_threshold", Min: 1, Max: maxCount, Required: true, Does: "How many failures in a row open the circuit.",
		}, func(c *Cooldown) *int { return &c.Failures }),
		span(Member{
			Name: "cooldown_interval", Min: 1, Max: maxMillis, Required: true,
			Does: "How long the target is left out; one request may then try it again. Each further time without a success in between is twice as long, " +
				"and a platform that asks for a longer wait gets it, both up to 5 minutes, or this interval where it is longer.",
		}, ms, func(c *Cooldown) *time.Duration { return &c.Duration }),
	}
}

func hedgeTable() []member[Hedge] {
	return []member[Hedge]{
		span(Member{
			Name: "after", Min: 1, Max: maxWait, Required: true, Does: "How long the first request is waited for.",
		}, ms, func(h *Hedge) *time.Duration { return &h.After }),
	}
}

func guardTable() []member[GuardRef] {
	return []member[GuardRef]{
		text(Member{
			Name: "name", Pattern: slugPattern, Required: true, Does: "The name that the client registered the guard by.",
		}, func(g *GuardRef) *string { return &g.Name }, checkGuard),
		text(Member{
			Name: "mode", Values: []string{string(GuardDeny), string(GuardObserve)}, Default: "deny",
			Does: "deny refuses what fails the guard, observe records it.",
		}, func(g *GuardRef) *GuardMode { return &g.Mode }, nil),
	}
}

func strategyTable() []member[Strategy] {
	return []member[Strategy]{
		text(Member{
			Name: "mode", Required: true,
			Values: []string{string(ModeSingle), string(ModeFallback), string(ModeLoadbalance), string(ModeConditional)},
			Does:   "How the targets are used: the only one, in order until one does not fail, by weight, or by condition.",
		}, func(s *Strategy) *Mode { return &s.Mode }, nil),
		codes(Member{
			Name: "on_status_codes", Default: "any but 200 to 299",
			Does: "With fallback, the statuses that lead to the next target. A failure without an answer counts by the status of its error.",
		}, func(s *Strategy) *[]int { return &s.OnStatusCodes }),
		list(Member{
			Name: "conditions", Of: "condition", Filled: true, Does: "With conditional, where it is required: the first condition that holds picks the target.",
		}, func(s *Strategy) *[]Condition { return &s.Conditions }, tabled(conditionTable(), nil)),
		text(Member{
			Name: "default", Pattern: namePattern, Default: "such a request is an error",
			Does: "With conditional: the name of the target where no condition holds.",
		}, func(s *Strategy) *string { return &s.Default }, checkName),
		object(Member{
			Name: "sticky", Of: "sticky", Default: "each request is on its own",
			Does: "With loadbalance: requests with the same values of some fields go to the same target.",
		}, func(s *Strategy) **Sticky { return &s.Sticky }, stickyTable(), checkSticky),
	}
}

func conditionTable() []member[Condition] {
	query := member[Condition]{
		Member: Member{Name: "query", Type: "object", Of: "query", Required: true, Does: "What must hold of the request."},
		read:   func(d *decoder, path string, raw []byte, c *Condition) { c.Query = parseQuery(&d.problems, path, raw) },
		write: func(w *encoder, c *Condition) {
			w.Key("query")
			w.Raw(c.Query.raw)
		},
	}
	query.check = func(p *problems, path string, c *Condition) {
		if c.Query == nil || c.Query.raw == nil {
			p.add(path, "%s", missing(&query.Member))
			return
		}
		p.patterns(path, c.Query.patterns)
	}
	return []member[Condition]{query, text(Member{
		Name: "then", Pattern: namePattern, Required: true, Does: "The name of the target, one beside the strategy.",
	}, func(c *Condition) *string { return &c.Then }, checkName)}
}

func stickyTable() []member[Sticky] {
	return []member[Sticky]{
		toggle(Member{Name: "enabled", Does: "Whether the choice is sticky, true or false."}, func(s *Sticky) *bool { return &s.Enabled }),
		list(Member{
			Name: "hash_fields", Of: "field", Pattern: fieldPattern, Max: maxFields,
			Does: "What to choose by: metadata.KEY, params.NAME or headers.NAME, at most 16. At least one when enabled.",
		}, func(s *Sticky) *[]Field { return &s.HashFields }, listed[Field]{
			read: func(d *decoder, path string, raw []byte, f *Field) {
				if s, ok := d.text(path, raw); ok {
					*f = parseField(&d.problems, path, s)
				}
			},
			write: func(w *encoder, f *Field) { w.String(f.String()) },
			check: func(p *problems, path string, f *Field) { p.rule(path, f.problem()) },
			same:  (*Field).same,
		}),
	}
}

// maxFields bounds the fields of a sticky choice.
const maxFields = 16
