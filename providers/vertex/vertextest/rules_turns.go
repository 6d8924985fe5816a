package vertextest

import (
	"slices"
)

// hasCall reports whether the content holds a function call.
func hasCall(c content) bool {
	return slices.ContainsFunc(c.Parts, func(p part) bool { return p.FunctionCall != nil })
}

// hasResponse reports whether the content holds a function response.
func hasResponse(c content) bool {
	return slices.ContainsFunc(c.Parts, func(p part) bool { return p.FunctionResponse != nil })
}

// checkTurns checks who speaks first and last, and that functions are called by
// the model and answered by the user. Before Gemini 3 turns are free.
func checkTurns(x *exchange) error {
	list := x.req.Contents
	if !x.rules.prefill && list[len(list)-1].isModel() {
		return invalid("Please ensure that multiturn requests end with a user role or a function response.")
	}
	if x.rules.pairing == pairingIgnored {
		return nil
	}
	if list[0].isModel() {
		return invalid("Please ensure that the first turn of a multiturn request is a user turn.")
	}
	for _, c := range list {
		if c.isUser() && hasCall(c) || c.isModel() && hasResponse(c) {
			return invalid("Please ensure that function call parts are in a model turn and function response parts in a user turn.")
		}
	}
	return nil
}

// checkPairs wants each run of function calls followed by one user content with
// its responses: as many, in the same order, with the same names and ids.
//
// Source: https://cloud.google.com/vertex-ai/generative-ai/docs/multimodal/function-calling
func checkPairs(x *exchange) error {
	if x.rules.pairing == pairingIgnored {
		return nil
	}
	var open []functionCall // calls without a response yet
	for i, c := range x.req.Contents {
		responses := c.responses()
		if c.isModel() {
			open = append(open, c.calls()...)
			continue
		}
		if len(open) == 0 && len(responses) == 0 {
			continue
		}
		if len(open) == 0 && !precededByCall(x.req.Contents[:i]) || len(responses) == 0 {
			return invalid("Please ensure that function response turn comes immediately after a function call turn.")
		}
		if err := x.matchPairs(open, responses); err != nil {
			return err
		}
		open = nil
	}
	if len(open) > 0 {
		return x.matchPairs(open, nil)
	}
	return nil
}

// precededByCall reports whether a response may belong to an earlier call, as
// when responses are spread over several contents.
func precededByCall(before []content) bool {
	return len(before) > 0 && (hasResponse(before[len(before)-1]) || hasCall(before[len(before)-1]))
}

// matchPairs compares calls and responses. What a mismatch leads to depends on
// the generation.
func (x *exchange) matchPairs(calls []functionCall, responses []functionResponse) error {
	mismatch := func(format string, args ...any) error {
		if x.rules.pairing == pairingSilent {
			x.silent = true
			return nil
		}
		return invalid(format, args...)
	}
	if len(calls) != len(responses) {
		return mismatch("Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.")
	}
	for i, c := range calls {
		r := responses[i]
		if c.Name != r.Name {
			return mismatch("Please ensure that function response %d has the name of its function call.", i+1)
		}
		if c.ID != "" && c.ID != r.ID {
			return mismatch("Please ensure that function response %d has the id of its function call.", i+1)
		}
	}
	return nil
}

// calls returns the function calls of the content.
func (c content) calls() []functionCall {
	var list []functionCall
	for _, p := range c.Parts {
		if p.FunctionCall != nil {
			list = append(list, *p.FunctionCall)
		}
	}
	return list
}

// responses returns the function responses of the content.
func (c content) responses() []functionResponse {
	var list []functionResponse
	for _, p := range c.Parts {
		if p.FunctionResponse != nil {
			list = append(list, *p.FunctionResponse)
		}
	}
	return list
}

// checkSignatures applies the rules of thought signatures to the current turn,
// which starts at the latest user content that isn't a function response: the
// first call of each step is signed, and from 3.6 on no signature is forged.
//
// Source: https://cloud.google.com/vertex-ai/generative-ai/docs/thought-signatures
func checkSignatures(x *exchange) error {
	first := currentTurn(x.req.Contents)
	for i := first; i < len(x.req.Contents); i++ {
		c := x.req.Contents[i]
		if !c.isModel() {
			continue
		}
		stepGoesOn := i > first && x.req.Contents[i-1].isModel() && hasCall(x.req.Contents[i-1])
		if err := x.checkStep(c, i, stepGoesOn); err != nil {
			return err
		}
	}
	return nil
}

// checkStep checks the signatures of one model content.
func (x *exchange) checkStep(c content, at int, goesOn bool) error {
	called := goesOn
	for _, p := range c.Parts {
		if p.FunctionCall != nil {
			if !called && p.ThoughtSignature == "" && x.rules.signatures && !x.facts.imageOut {
				return invalid("Unable to submit request because function call `default_api:%s` in the %d. content block is missing a `thought_signature`. Learn more: https://docs.cloud.google.com/vertex-ai/generative-ai/docs/thought-signatures",
					p.FunctionCall.Name, at+1)
			}
			called = true
		}
		if p.ThoughtSignature == "" || !x.rules.checksForgery {
			continue
		}
		switch x.issuer().verify(p) {
		case signatureCorrupt:
			return invalid("Corrupted thought signature.")
		case signatureForeign:
			return invalid("Invalid thought signature.")
		}
	}
	return nil
}

// currentTurn returns the index at which the current turn starts.
func currentTurn(list []content) int {
	for i, c := range slices.Backward(list) {
		if c.isUser() && !hasResponse(c) {
			return i
		}
	}
	return 0
}

// countSentinels counts stand-ins for signatures.
func countSentinels(list []content) int {
	n := 0
	for _, c := range list {
		for _, p := range c.Parts {
			if p.ThoughtSignature != "" && isSentinel(p.ThoughtSignature) {
				n++
			}
		}
	}
	return n
}
