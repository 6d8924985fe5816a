package gateway

import (
	"slices"

	"github.com/b650d4bf/gateway/internal/pipeline"
	"github.com/b650d4bf/gateway/providers"
)

// Checks of requests and answers, documented in package providers.
type (
	// Guard is a check of chat completions, such as a moderation service.
	Guard = providers.Guard
	// GuardMode says what becomes of what a guard finds fault with.
	GuardMode = providers.GuardMode
	// GuardStage is what a guard judged.
	GuardStage = providers.GuardStage
	// GuardVerdict is what a guard made of a request or an answer.
	GuardVerdict = providers.GuardVerdict
)

// The modes and the stages of guards.
const (
	GuardDeny    = providers.GuardDeny
	GuardObserve = providers.GuardObserve
	GuardRequest = providers.GuardRequest
	GuardAnswer  = providers.GuardAnswer
)

// WithGuards has the guards judge chat completions, in every schema, and those
// with stored prompts: each request once, before a config decides where it goes,
// and each answer once, before it is shown. Guards of a call are asked after the
// client's. Embeddings, token counts and cached contents are not judged.
//
// [WithTimeouts] is not about the time that these guards take; the context of the
// call is.
func WithGuards(guards ...Guard) Option {
	return option(func(s *pipeline.Settings) error {
		for i := range guards {
			if err := guards[i].Validate(); err != nil {
				return err
			}
		}
		s.Guards = append(s.Guards, guards...)
		return nil
	})
}

// WithNamedGuards registers guards for configs, which ask them by their names
// about the targets that they say: about the target's own request, with the
// config's params, once before it is sent, and about each answer of the target
// before it is used. They can't change the model. Several of these options add up.
//
// The mode is the config's to say, so that a guard with one is refused, and so are
// two of the same name. A config that names another guard is an error.
func WithNamedGuards(guards ...Guard) ClientOption {
	return clientOption(func(cfg *clientConfig) error {
		for i := range guards {
			g := &guards[i]
			if err := g.Validate(); err != nil {
				return err
			}
			if g.Mode != "" {
				return invalidOption("guard.mode", "the config that names the guard "+g.Name+" says its mode: leave it empty")
			}
			if slices.ContainsFunc(cfg.guards, func(o Guard) bool { return o.Name == g.Name }) {
				return invalidOption("guard.name", "there are two guards named "+g.Name)
			}
			cfg.guards = append(cfg.guards, *g)
		}
		return nil
	})
}
