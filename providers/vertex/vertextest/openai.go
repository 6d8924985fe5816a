package vertextest

import (
	"fmt"
	"net/http"
	"strings"
)

// openaiPath is where OpenAI's own API, and servers like it, have their paths;
// openaiServer stands for the model of a target there, whose name is
// in the body.
const (
	openaiPath   = "/v1/"
	openaiServer = "(openai)"
)

// missingModels begin the names of models that OpenAI's API does not have. It
// has every other.
const missingModels = "no-such-model"

// openaiError is the envelope of OpenAI's API.
//
// Source: https://platform.openai.com/docs/guides/error-codes
type openaiError struct {
	Error openaiFault `json:"error"`
}

type openaiFault struct {
	Message string  `json:"message"`
	Type    string  `json:"type"`
	Param   *string `json:"param"`
	Code    *string `json:"code"`
}

// openaiError puts a fault into OpenAI's words.
func (x *exchange) openaiError(st *statusError) openaiError {
	e := openaiError{openaiFault{Message: st.Message, Type: "invalid_request_error"}}
	switch st.Code {
	case http.StatusUnauthorized:
		e.Error.Code = new("invalid_api_key")
	case http.StatusNotFound:
		e.Error.Code = new("model_not_found")
	case http.StatusTooManyRequests:
		e.Error.Type, e.Error.Code = "requests", new("rate_limit_exceeded")
	}
	if st.Code >= http.StatusInternalServerError {
		e.Error.Type = "server_error"
	}
	return e
}

// checkOpenAIKey wants the API key as a bearer token.
func (x *exchange) checkOpenAIKey(err error) error {
	if err == nil {
		return nil
	}
	message := "Incorrect API key provided. You can find your API key at https://platform.openai.com/account/api-keys."
	if bearer(x.header) == "" {
		message = "You didn't provide an API key. You need to provide your API key in an Authorization header using Bearer auth."
	}
	return &statusError{Code: http.StatusUnauthorized, Status: "invalid_request_error", Message: message, own: true}
}

// findOpenAI looks the model up, which the body names.
func (x *exchange) findOpenAI() error {
	name := x.target.named
	switch {
	case name == "":
		return x.badChat("you must provide a model parameter")
	case strings.HasPrefix(name, missingModels):
		return &statusError{
			Code: http.StatusNotFound, Status: "invalid_request_error", own: true,
			Message: fmt.Sprintf("The model `%s` does not exist or you do not have access to it.", name),
		}
	case reasonsByItself(name) && x.chat.MaxTokens != nil:
		return x.badChat("Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.")
	}
	x.chat.facts, x.chat.served = chatFacts{name: name, sees: true, developer: true}, name
	return nil
}

// reasonsByItself reports whether the model is one of those that reason, which
// know max_tokens by its new name alone.
//
// Source: https://platform.openai.com/docs/guides/reasoning
func reasonsByItself(name string) bool {
	for _, family := range []string{"o1", "o3", "o4", "gpt-5"} {
		if name == family || strings.HasPrefix(name, family+"-") || strings.HasPrefix(name, family+".") {
			return true
		}
	}
	return false
}
