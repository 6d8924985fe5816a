package vertextest

import (
	"fmt"
	"regexp"
	"strings"
)

// applyRules applies what the schema can't say, in a fixed order; the first
// refusal counts.
func (x *exchange) applyRules() error {
	for _, rule := range []func(*exchange) error{
		checkTraffic,
		checkSize,
		checkContents,
		checkSystemInstruction,
		checkIDs,
		checkMedia,
		checkTopLevel,
		checkLabels,
		useCache,
		checkThinking,
		checkSampling,
		checkOutput,
		checkSpeech,
		checkImage,
		checkResponseShape,
		checkToolKinds,
		checkFunctions,
		checkCalling,
		checkTurns,
		checkPairs,
		checkSignatures,
	} {
		if err := rule(x); err != nil {
			return err
		}
	}
	return nil
}

// isUser reports whether the content is the user's, which is the default role.
func (c content) isUser() bool { return c.Role == "" || strings.EqualFold(c.Role, "user") }

// isModel reports whether the content is the model's.
func (c content) isModel() bool { return strings.EqualFold(c.Role, "model") }

// checkSize bounds the body.
//
// Source: https://cloud.google.com/vertex-ai/generative-ai/docs/models
func checkSize(x *exchange) error {
	if len(x.body) > x.rules.maxRequest {
		return invalid("Request payload size exceeds the limit: %d bytes.", x.rules.maxRequest)
	}
	return nil
}

// eachPart visits the parts of all contents with their path, until an error.
func (x *exchange) eachPart(visit func(path string, p part) error) error {
	for i, c := range x.req.Contents {
		for j, p := range c.Parts {
			if err := visit(fmt.Sprintf("contents[%d].parts[%d]", i, j), p); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkContents wants contents, roles, parts, and data in each part. A lone
// signature is data: SDKs leave out the empty text it came with.
func checkContents(x *exchange) error {
	if len(x.req.Contents) == 0 {
		return invalid("Unable to submit request because at least one contents field is required.")
	}
	for _, c := range x.req.Contents {
		if !c.isUser() && !c.isModel() {
			return invalid("Please use a valid role: user, model.")
		}
		if len(c.Parts) == 0 {
			return invalid("Unable to submit request because it must include at least one parts field, which describes the prompt input.")
		}
	}
	return x.eachPart(func(path string, p part) error {
		if !p.hasData() && p.ThoughtSignature == "" {
			return invalid("Unable to submit request because %s: required oneof field 'data' must have one initialized field.", path)
		}
		if p.Text != nil && *p.Text == "" && p.ThoughtSignature == "" {
			return invalid("Unable to submit request because it has an empty text parameter at %s. Add a value to the parameter and try again.", path)
		}
		return nil
	})
}

// checkSystemInstruction takes texts alone.
func checkSystemInstruction(x *exchange) error {
	if x.req.SystemInstruction == nil {
		return nil
	}
	if len(x.req.SystemInstruction.Parts) == 0 {
		return invalid("Unable to submit request because system_instruction must include at least one parts field.")
	}
	for _, p := range x.req.SystemInstruction.Parts {
		if p.Text == nil {
			return invalid("Unable to submit request because system_instruction only supports text parts.")
		}
	}
	return nil
}

// checkIDs refuses call ids before Gemini 3, which doesn't know the field.
func checkIDs(x *exchange) error {
	if x.rules.callIDs {
		return nil
	}
	return x.eachPart(func(path string, p part) error {
		switch {
		case p.FunctionCall != nil && p.FunctionCall.ID != "":
			return unknownName("id", path+".function_call")
		case p.FunctionResponse != nil && p.FunctionResponse.ID != "":
			return unknownName("id", path+".function_response")
		}
		return nil
	})
}

var (
	cacheName  = regexp.MustCompile(`^projects/([^/]+)/locations/([^/]+)/cachedContents/([^/]+)$`)
	labelKey   = regexp.MustCompile(`^[a-z][a-z0-9_-]{0,62}$`)
	labelValue = regexp.MustCompile(`^[a-z0-9_-]{0,63}$`)
)

// checkTopLevel knows which members exclude each other.
func checkTopLevel(x *exchange) error {
	r := &x.req
	if len(r.ModelArmorConfig) > 0 && len(r.SafetySettings) > 0 {
		return invalid("Unable to submit request because safety_settings and model_armor_config can't be set together.")
	}
	if r.CachedContent == "" {
		return nil
	}
	calling := r.ToolConfig.FunctionCallingConfig
	configured := calling.Mode != "" || len(calling.AllowedFunctionNames) > 0 || len(r.ToolConfig.RetrievalConfig) > 0
	switch {
	case !x.rules.explicitCache:
		return invalid("Cached content is not supported by this model.")
	case !cacheName.MatchString(r.CachedContent):
		return invalid("Invalid cached content name. Expected projects/{project}/locations/{location}/cachedContents/{id}.")
	case r.SystemInstruction != nil, len(r.Tools) > 0, configured:
		return invalid("Tool config, tools and system instruction should not be set in the request when using cached content.")
	}
	return nil
}

// checkLabels applies the grammar of billing labels.
//
// Source: https://cloud.google.com/resource-manager/docs/labels-overview
func checkLabels(x *exchange) error {
	for k, v := range x.req.Labels {
		if !labelKey.MatchString(k) {
			return invalid("Invalid label key. It must start with a lowercase letter and hold at most 63 lowercase letters, digits, underscores and dashes.")
		}
		if !labelValue.MatchString(v) {
			return invalid("Invalid value of label %q. It must hold at most 63 lowercase letters, digits, underscores and dashes.", k)
		}
	}
	return nil
}
