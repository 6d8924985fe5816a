package front

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/b650d4bf/gateway/providers"
)

func TestErrors(t *testing.T) {
	tests := []struct {
		name   string
		err    error
		status int
		code   string
		param  string
	}{
		{"of the request", providers.Invalid("messages", "none"), 400, "invalid_request", "messages"},
		{"of the platform", &providers.Error{Code: providers.ErrPermission, Provider: "vertex-ai", StatusCode: 403, Message: "no"}, 403, "permission_denied", ""},
		{"wrapped", fmt.Errorf("x: %w", &providers.Error{Code: providers.ErrModelNotFound, Message: "no"}), 404, "model_not_found", ""},
		{"with a status of its own", &providers.Error{Code: providers.ErrRateLimited, StatusCode: 529, Message: "no"}, 529, "rate_limit_exceeded", ""},
		{"with a status that is none", &providers.Error{Code: providers.ErrServer, StatusCode: 1200, Message: "no"}, 502, "server_error", ""},
		{"with an unknown code", &providers.Error{Code: "odd", Message: "no"}, 500, "odd", ""},
		{"with details that are no JSON", &providers.Error{Code: providers.ErrServer, Message: "no", Details: []byte("{<")}, 500, "server_error", ""},
		{"of an ended deadline", fmt.Errorf("x: %w", context.DeadlineExceeded), 504, "timeout", ""},
		{"of a cancellation", context.Canceled, 499, "canceled", ""},
		{"of unknown make", errors.New("dial tcp 10.0.0.7: secret"), 500, "server_error", ""},
	}
	for _, body := range []string{hello, helloSSE} {
		for _, tt := range tests {
			t.Run(fmt.Sprintf("%s, stream %v", tt.name, body == helloSSE), func(t *testing.T) {
				res := ask(t, Config{}, &fake{err: tt.err}, "POST", chatPath, body)
				e := readEnvelope(t, res)
				if res.StatusCode != tt.status || e.Error.Code != tt.code || e.param() != tt.param {
					t.Errorf("status %d, %+v, want %d, %s", res.StatusCode, e, tt.status, tt.code)
				}
				if strings.Contains(e.Error.Message, "secret") {
					t.Errorf("the text of a foreign error is shown: %q", e.Error.Message)
				}
			})
		}
	}
	t.Run("of the list of models", func(t *testing.T) {
		for _, path := range []string{"/v1/models", "/v1/models/m"} {
			res := ask(t, Config{}, &fake{err: errors.New("secret")}, "GET", path, "")
			if e := readEnvelope(t, res); res.StatusCode != 500 || strings.Contains(e.Error.Message, "secret") {
				t.Errorf("%s: status %d, %+v", path, res.StatusCode, e)
			}
		}
	})
}

func TestErrorHeaders(t *testing.T) {
	tests := []struct {
		name      string
		err       *providers.Error
		id, retry string
	}{
		{"the error's id", &providers.Error{Code: providers.ErrServer, Message: "no", RequestID: "r-1"}, "r-1", ""},
		{"the caller's id", &providers.Error{Code: providers.ErrServer, Message: "no"}, "mine", ""},
		{"whole seconds", &providers.Error{Code: providers.ErrRateLimited, Message: "no", RetryAfter: 3 * time.Second}, "mine", "3"},
		{"rounded up", &providers.Error{Code: providers.ErrRateLimited, Message: "no", RetryAfter: 3*time.Second + 1}, "mine", "4"},
		{"less than one", &providers.Error{Code: providers.ErrRateLimited, Message: "no", RetryAfter: time.Millisecond}, "mine", "1"},
		{"below zero", &providers.Error{Code: providers.ErrRateLimited, Message: "no", RetryAfter: -time.Second}, "mine", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			res := ask(t, Config{}, &fake{err: tt.err}, "POST", chatPath, hello, "x-gateway-trace-id", "mine")
			if id, retry := res.Header.Get("x-gateway-request-id"), res.Header.Get("Retry-After"); id != tt.id || retry != tt.retry {
				t.Errorf("id %q, Retry-After %q, want %q, %q", id, retry, tt.id, tt.retry)
			}
		})
	}
	t.Run("without any id a new one each time", func(t *testing.T) {
		a := ask(t, Config{}, &fake{}, "POST", chatPath, "{").Header.Get("x-gateway-request-id")
		b := ask(t, Config{}, &fake{}, "POST", chatPath, "{").Header.Get("x-gateway-request-id")
		if a == "" || a == b {
			t.Errorf("ids %q and %q", a, b)
		}
	})
}
