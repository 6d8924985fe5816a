package pipeline

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/b650d4bf/gateway/config"
	"github.com/b650d4bf/gateway/internal/routing"
	"github.com/b650d4bf/gateway/providers"
)

// panel is the guards of one place, which is a client with its call, or a target.
type panel struct {
	list   []providers.Guard
	log    *guardLog
	target string // the target's place in the config
}

// newPanel returns the guards of a client and a call, nil for none.
func newPanel(rec *recorder, client, call *Settings) *panel {
	if len(client.Guards)+len(call.Guards) == 0 {
		return nil
	}
	return &panel{list: slices.Concat(client.Guards, call.Guards), log: rec.guardLog()}
}

// denies reports whether a guard refuses what it finds fault with.
func denies(g *providers.Guard) bool { return g.Mode != providers.GuardObserve }

// answers reports whether a guard judges answers, and whether one of those that
// do denies.
func (p *panel) answers() (some, deny bool) {
	for i := range p.list {
		if g := &p.list[i]; g.Answer != nil {
			some, deny = true, deny || denies(g)
		}
	}
	return some, deny
}

// request has a request judged, and returns the one to send.
func (p *panel) request(ctx context.Context, req *providers.ChatCompletionRequest) (*providers.ChatCompletionRequest, error) {
	for i := range p.list {
		g := &p.list[i]
		if g.Request == nil {
			continue
		}
		other, err := judged(ctx, p, g, providers.GuardRequest, req, func() (*providers.ChatCompletionRequest, error) { return g.Request(ctx, req) })
		if err != nil {
			return nil, err
		}
		if other != req {
			if err := other.Validate(); err != nil {
				return nil, misguided(g, "returned a request that is not valid", err)
			}
			req = other
		}
	}
	return req, nil
}

// answer has an answer judged, and returns the one to show.
func (p *panel) answer(ctx context.Context, req *providers.ChatCompletionRequest, out *providers.ChatCompletion) (*providers.ChatCompletion, error) {
	for i := range p.list {
		g := &p.list[i]
		if g.Answer == nil {
			continue
		}
		var before []saying
		if denies(g) {
			before = sayings(out)
		}
		other, err := judged(ctx, p, g, providers.GuardAnswer, out, func() (*providers.ChatCompletion, error) { return g.Answer(ctx, req, out) })
		if err != nil {
			return nil, err
		}
		if other != out {
			if len(other.Choices) == 0 {
				return nil, misguided(g, "returned an answer without choices", nil)
			}
			out = replaced(out, other, before)
		}
	}
	return out, nil
}

// judged asks one guard. It returns the value that the call goes on with.
func judged[T any](ctx context.Context, p *panel, g *providers.Guard, stage providers.GuardStage, given *T, ask func() (*T, error)) (*T, error) {
	begin := time.Now()
	other, err := ask()
	v := p.verdict(g, stage)
	v.Duration, v.Err = time.Since(begin), err
	v.Denied = err != nil && ctx.Err() == nil
	v.Changed = err == nil && other != nil && other != given
	p.log.add(&v)
	switch {
	case !denies(g):
		return given, nil
	case err != nil:
		return nil, refusal(ctx, g, stage, err)
	case v.Changed:
		return other, nil
	}
	return given, nil
}

func (p *panel) verdict(g *providers.Guard, stage providers.GuardStage) providers.GuardVerdict {
	v := providers.GuardVerdict{Name: g.Name, Stage: stage, Mode: providers.GuardDeny, Target: p.target}
	if !denies(g) {
		v.Mode = providers.GuardObserve
	}
	return v
}

// refusal is the error of a guard that denies. One that was interrupted has not
// judged.
func refusal(ctx context.Context, g *providers.Guard, stage providers.GuardStage, err error) error {
	out := &providers.Error{
		Code: providers.ErrGuardDenied, Sent: stage == providers.GuardAnswer,
		Message: "the guard " + g.Name + " denied the " + string(stage), Err: err,
	}
	if end := ctx.Err(); end != nil {
		out.Code, out.Err = codeOf(end), end
		out.Message = "the call ended while the guard " + g.Name + " judged the " + string(stage)
	}
	return out
}

// misguided is the error of a guard that returned what can't be used.
func misguided(g *providers.Guard, what string, err error) error {
	return &providers.Error{Code: providers.ErrInvalidConfig, Param: "guard", Message: "the guard " + g.Name + " " + what, Err: err}
}

// guardLog collects verdicts. Hedges write to it from goroutines of their own.
type guardLog struct {
	mu    sync.Mutex
	fresh []providers.GuardVerdict
}

func (l *guardLog) add(v *providers.GuardVerdict) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.fresh = append(l.fresh, *v)
}

func (l *guardLog) take() []providers.GuardVerdict {
	l.mu.Lock()
	defer l.mu.Unlock()
	fresh := l.fresh
	l.fresh = nil
	return fresh
}

// guardLog returns the log of the call's guards, which it has from then on.
func (r *recorder) guardLog() *guardLog {
	if r.guards == nil {
		r.guards = new(guardLog)
	}
	return r.guards
}

// verdicts lays what guards have said since the last time into the meta, which
// chunks may share.
func (r *recorder) verdicts() {
	if r.guards == nil {
		return
	}
	m, fresh := &r.record.Meta, r.guards.take()
	m.Guards = slices.Concat(m.Guards, fresh)
	var found []providers.Warning
	for i := range fresh {
		if v := &fresh[i]; v.Denied && v.Mode == providers.GuardObserve {
			found = append(found, providers.Warning{
				Code: providers.WarnGuard, Message: "the guard " + v.Name + ", which observes, found fault with the " + string(v.Stage),
			})
		}
	}
	if len(found) > 0 {
		m.Warnings = slices.Concat(m.Warnings, found)
	}
}

// denied returns the names of the guards that refused the call or a target.
func (r *recorder) denied() []string {
	var names []string
	for i := range r.record.Meta.Guards {
		if v := &r.record.Meta.Guards[i]; v.Denied && v.Mode == providers.GuardDeny {
			names = append(names, v.Name)
		}
	}
	return names
}

// guardedChat is chat between the guards of the client and the call.
func (e *Engine) guardedChat(ctx context.Context, rec *recorder, client, call *Settings, req *providers.ChatCompletionRequest) (*providers.ChatCompletion, error) {
	if err := e.allowed(rec); err != nil {
		return nil, err
	}
	p := newPanel(rec, client, call)
	if p == nil {
		return e.chat(ctx, rec, client, call, req)
	}
	req, err := e.judgedRequest(ctx, p, req)
	if err != nil {
		return nil, err
	}
	out, err := e.chat(ctx, rec, client, call, req)
	if err != nil {
		return nil, err
	}
	shown, err := p.answer(ctx, req, out)
	if err != nil {
		rec.answer(out) // it was billed
		return nil, err
	}
	return shown, nil
}

// guardedStream is openStream between the guards of the client and the call.
func (e *Engine) guardedStream(ctx context.Context, rec *recorder, client, call *Settings, req *providers.ChatCompletionRequest) (opened, error) {
	if err := e.allowed(rec); err != nil {
		return opened{}, err
	}
	p := newPanel(rec, client, call)
	if p == nil {
		return e.openStream(ctx, rec, client, call, req)
	}
	req, err := e.judgedRequest(ctx, p, req)
	if err != nil {
		return opened{}, err
	}
	o, err := e.openStream(ctx, rec, client, call, req)
	if err != nil {
		return opened{}, err
	}
	o, whole, err := p.stream(ctx, req, o)
	if err != nil && whole != nil {
		rec.answer(whole)
	} else if err != nil {
		rec.broken(err)
	}
	return o, err
}

// broken notes in a plan's trail that the stream of its last request broke while
// it was held back.
func (r *recorder) broken(err error) {
	if trail := r.record.Meta.Attempts; r.planned && len(trail) > 0 {
		trail[len(trail)-1].Code = r.known(err).Code
	}
}

// judgedRequest has a request judged by the guards of the client and the call. One
// that is wrong anyway is not shown to them.
func (e *Engine) judgedRequest(ctx context.Context, p *panel, req *providers.ChatCompletionRequest) (*providers.ChatCompletionRequest, error) {
	if err := e.check(req); err != nil {
		return nil, err
	}
	return p.request(ctx, req)
}

// targetGuards are the guards that a plan's targets name, for one call. A target
// that is asked again has had its request judged.
type targetGuards struct {
	engine *Engine
	log    *guardLog

	mu   sync.Mutex // guards what follows: hedges come from elsewhere
	sent map[*leaf]*providers.ChatCompletionRequest
}

func (e *Engine) targetGuards(rec *recorder) *targetGuards {
	return &targetGuards{engine: e, log: rec.guardLog(), sent: map[*leaf]*providers.ChatCompletionRequest{}}
}

// panel returns the guards of the target that a try is about.
func (g *targetGuards) panel(t *routing.Try) *panel {
	l, _ := t.Leaf.Value.(*leaf) // every leaf has one
	p := &panel{log: g.log, target: t.Attempt.Target}
	for _, ref := range l.settings.Guards {
		one := *g.engine.guards[ref.Name] // the plan was checked
		one.Mode = providers.GuardMode(ref.Mode)
		p.list = append(p.list, one)
	}
	return p
}

// request has the target's own request judged.
func (g *targetGuards) request(ctx context.Context, t *routing.Try, req *providers.ChatCompletionRequest) (*providers.ChatCompletionRequest, error) {
	l, _ := t.Leaf.Value.(*leaf)
	g.mu.Lock()
	sent := g.sent[l]
	g.mu.Unlock()
	if sent != nil {
		return sent, nil
	}
	out, err := g.panel(t).request(ctx, req)
	if err != nil {
		return nil, err
	}
	if out.Model != req.Model {
		return nil, &providers.Error{Code: providers.ErrInvalidConfig, Param: "guard", Message: "a guard that a config names changed the model, which the target has already: use override_params"}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.sent[l] = out
	return out, nil
}

// AddGuards adds guards that configs name, before the engine is used.
func (e *Engine) AddGuards(list []providers.Guard) {
	for i := range list {
		e.guards[list[i].Name] = &list[i]
	}
}

// CheckPlan reports the guards of a plan that the engine does not have. A nil
// plan has none.
func (e *Engine) CheckPlan(p *Plan) error {
	if p == nil || !slices.ContainsFunc(p.guards, func(name string) bool { return e.guards[name] == nil }) {
		return nil
	}
	return e.checkGuards("config", p.made)
}

// checkGuards reports the guards of a config that the engine does not have.
func (e *Engine) checkGuards(path string, c *config.Config) error {
	names := make([]string, 0, len(e.guards))
	for name := range e.guards {
		names = append(names, name)
	}
	slices.Sort(names)
	if err := c.CheckGuards(names); err != nil {
		return &providers.Error{Code: providers.ErrInvalidConfig, Param: path, Message: err.Error() + ": see WithNamedGuards", Err: err}
	}
	return nil
}

// plan returns the plan of a call, nil for none, whose guards are all there.
func (e *Engine) plan(client, call *Settings) (*Plan, error) {
	p, err := e.choose(client, call)
	if err == nil {
		err = e.CheckPlan(p)
	}
	return p, err
}
