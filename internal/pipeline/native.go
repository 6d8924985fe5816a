package pipeline

import (
	"context"
	"slices"

	"github.com/b650d4bf/gateway/internal/answers"
	"github.com/b650d4bf/gateway/internal/routing"
	"github.com/b650d4bf/gateway/providers"
)

// opNative stands before the method in the names of operations in Google's own
// schema, such as native.generateContent.
const opNative = "native."

// nativeOperation names a method for observers and logs. That an answer is streamed
// they are told apart from it.
func nativeOperation(method string) string {
	if method == providers.NativeStream {
		method = providers.NativeGenerate
	}
	return opNative + method
}

// nativeKind keeps whole answers in Google's own schema.
var nativeKind = kind[*providers.NativeRequest, *providers.NativeAnswer]{
	write: answers.WriteNative,
	clone: answers.CloneNative,
	encode: func(k *answers.Kept, a *providers.NativeAnswer) ([]byte, error) {
		return answers.EncodeNative(k, &answers.Native{Facts: a.Facts, Events: [][]byte{a.Body}}), nil
	},
	decode: func(body []byte) (*providers.NativeAnswer, answers.Kept, error) {
		a, k, err := answers.DecodeNative(body)
		if err != nil {
			return nil, k, err
		}
		return &providers.NativeAnswer{Facts: a.Facts, Body: a.Events[0]}, k, nil
	},
	meta:    func(a *providers.NativeAnswer) *providers.Meta { return &a.Meta },
	request: (*answers.Rules).Native,
	answer: func(r *answers.Rules, a *providers.NativeAnswer) string {
		return r.NativeAnswer(providers.NativeGenerate, &a.Facts)
	},
}

// plainKind keeps those that have no candidates by their nature.
var plainKind = func() kind[*providers.NativeRequest, *providers.NativeAnswer] {
	k := nativeKind
	k.answer = nil
	return k
}()

// Native asks in Google's own schema for a whole answer.
func (e *Engine) Native(ctx context.Context, client, call *Settings, req *providers.NativeRequest) (*providers.NativeAnswer, error) {
	kept := &plainKind
	if req.Method == providers.NativeGenerate {
		kept = &nativeKind
	}
	rec := newRecorder(client, call, nativeOperation(req.Method), req.Model, nil)
	defer rec.drop() // what a panic has left
	ctx = rec.startNative(ctx, req)
	out, err := asked(ctx, e, rec, client, call, &service[*providers.NativeRequest, *providers.NativeAnswer]{
		operation: nativeOperation(req.Method), what: "answer", req: req, model: req.Model,
		check:  func() error { return checkNative(client, call, req) },
		encode: encodeNative, decode: decodeNative, rename: renameNative, ask: native, before: judgeless,
		meta:  func(a *providers.NativeAnswer) *providers.Meta { return &a.Meta },
		usage: func(a *providers.NativeAnswer) *providers.Usage { return a.Facts.Usage },
		kept:  kept,
	})
	if err != nil {
		rec.drop()
		err = rec.fail(err)
		rec.end()
		return nil, err
	}
	rec.settled()
	rec.warnings(out.Meta.Warnings)
	rec.native(&out.Facts)
	rec.attempt(nil)
	out.Meta = rec.record.Meta
	if rec.content != nil {
		rec.response(slices.Clone(out.Body), nil)
	}
	rec.end()
	return out, nil
}

// startNative begins a call, whose content is in Google's own schema too.
func (r *recorder) startNative(ctx context.Context, req *providers.NativeRequest) context.Context {
	if generates(req) && r.observed() {
		r.record.Parameters = &providers.Parameters{Schema: providers.SchemaGenerateContent}
	}
	if ctx = r.start(ctx); r.shows() {
		r.request(req.AppendJSON(nil))
	}
	return ctx
}

// native notes what was read of an answer.
func (r *recorder) native(f *providers.NativeFacts) {
	r.record.ResponseID, r.record.ResponseModel, r.record.FinishReason = f.ID, first(f.Model, r.route.target.Model), f.FinishReason
	r.record.Billed.Searches, r.record.Billed.Maps = f.Searches, f.Maps
	r.usage(f.Usage)
}

// native asks the provider of a route.
func native(ctx context.Context, at *route, req *providers.NativeRequest) (*providers.NativeAnswer, error) {
	p, err := nativeOf(at)
	if err != nil {
		return nil, err
	}
	return p.Native(ctx, &at.target, req)
}

// nativeOf returns the route's provider, if it speaks Google's own schema.
func nativeOf(at *route) (providers.NativeGenerator, error) {
	p, ok := at.provider.(providers.NativeGenerator)
	if !ok {
		return nil, &providers.Error{
			Code: providers.ErrInvalidConfig, Param: "provider",
			Message: "the provider " + at.target.Provider + " does not speak Google's own schema: name a target of Vertex AI or the Gemini API, or ask by POST /v1/chat/completions",
		}
	}
	return p, nil
}

// checkNative finds what is wrong before a target is looked for.
func checkNative(client, call *Settings, req *providers.NativeRequest) error {
	if err := req.Validate(); err != nil {
		return err
	}
	for _, list := range [][]providers.Guard{client.Guards, call.Guards} {
		for i := range list {
			if generates(req) && denies(&list[i]) {
				return errUnjudged(list[i].Name)
			}
		}
	}
	return nil
}

// generates reports whether the request has a model answer, which guards are for.
func generates(req *providers.NativeRequest) bool {
	return req.Method == providers.NativeGenerate || req.Method == providers.NativeStream
}

// errUnjudged refuses a request that a guard can't judge: letting it pass would
// undo the guard.
func errUnjudged(name string) error {
	return &providers.Error{
		Code: providers.ErrInvalidConfig, Param: "guards",
		Message: "the guard " + name + " judges chat completions and can't judge a request in Google's own schema, which is refused for that: " +
			"ask by POST /v1/chat/completions, or take the guard off",
	}
}

// judgeless refuses a target whose guards could deny.
func judgeless(_ context.Context, t *routing.Try, req *providers.NativeRequest) (*providers.NativeRequest, error) {
	l, ok := t.Leaf.Value.(*leaf)
	if !ok || !generates(req) {
		return req, nil
	}
	for _, ref := range l.settings.Guards {
		if providers.GuardMode(ref.Mode) != providers.GuardObserve {
			return nil, errUnjudged(ref.Name)
		}
	}
	return req, nil
}

// encodeNative is the request as conditions of a config see it: its body, with the
// model reference among its members.
func encodeNative(req *providers.NativeRequest) ([]byte, error) {
	return req.AppendJSON(nil)
}

// decodeNative refuses a body that params of a target have changed.
func decodeNative([]byte) (*providers.NativeRequest, string, error) {
	return nil, "", providers.Invalid("config.override_params", "override_params, default_params and drop_params are in OpenAI's names, and are not applied to a request in Google's own schema, which goes on as it is; "+
		"override_params with the model alone is")
}

func renameNative(req *providers.NativeRequest, model string) *providers.NativeRequest {
	own := *req
	own.Model = model
	return &own
}
