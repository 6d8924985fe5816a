package providers_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/b650d4bf/gateway/providers"
)

// codeRow is what must hold for a code.
type codeRow struct {
	kind   string // the envelope's type
	status int
	retry  bool
}

func codeRows() map[providers.Code]codeRow {
	return map[providers.Code]codeRow{
		providers.ErrInvalidRequest:   {"invalid_request_error", 400, false},
		providers.ErrInvalidConfig:    {"invalid_request_error", 400, false},
		providers.ErrProviderNotFound: {"invalid_request_error", 404, false},
		providers.ErrModelNotFound:    {"invalid_request_error", 404, false},
		providers.ErrPromptNotFound:   {"invalid_request_error", 404, false},
		providers.ErrFileNotFound:     {"invalid_request_error", 404, false},
		providers.ErrBatchNotFound:    {"invalid_request_error", 404, false},
		providers.ErrNotFound:         {"invalid_request_error", 404, false},
		providers.ErrTooLarge:         {"invalid_request_error", 413, false},
		providers.ErrContextLength:    {"invalid_request_error", 400, false},
		providers.ErrCacheNotFound:    {"invalid_request_error", 404, false},
		providers.ErrOneToolOnly:      {"invalid_request_error", 400, false},
		providers.ErrContentFilter:    {"invalid_request_error", 400, false},
		providers.ErrGuardDenied:      {"invalid_request_error", 446, false},
		providers.ErrAuthentication:   {"authentication_error", 401, false},
		providers.ErrPermission:       {"permission_error", 403, false},
		providers.ErrRateLimited:      {"rate_limit_error", 429, true},
		providers.ErrQuotaExceeded:    {"rate_limit_error", 429, false},
		providers.ErrTimeout:          {"timeout_error", 504, true},
		providers.ErrCanceled:         {"canceled_error", 499, false},
		providers.ErrUnavailable:      {"api_error", 503, true},
		providers.ErrServer:           {"api_error", 500, true},
		providers.ErrConnection:       {"api_error", 502, true},
		providers.ErrStreamCut:        {"api_error", 502, true},
		providers.ErrBadResponse:      {"api_error", 502, false},
		providers.ErrEmptyResponse:    {"api_error", 502, true},
		providers.ErrClosed:           {"invalid_request_error", 400, false},
	}
}

func TestCodeFacts(t *testing.T) {
	for code, row := range codeRows() {
		t.Run(string(code), func(t *testing.T) {
			e := &providers.Error{Code: code, Message: "m"}
			wantEqual(t, row.retry, e.Retryable())
			wantEqual(t, row.status, e.HTTPStatus())
			wantEqual(t, fmt.Sprintf(`{"error":{"message":"m","type":%q,"param":null,"code":%q}}`, row.kind, code), encode(t, e))
			wantEqual(t, string(code), code.Error())
		})
	}
}

// A new code fails this test until its row is decided on here.
func TestEveryCodeHasARow(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "error.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var declared []string
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if id, ok := spec.Type.(*ast.Ident); ok && id.Name == "Code" {
			word, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			declared = append(declared, word)
		}
		return true
	})
	var rows []string
	for code := range maps.Keys(codeRows()) {
		rows = append(rows, string(code))
	}
	slices.Sort(declared)
	slices.Sort(rows)
	wantEqual(t, declared, rows)
	if len(slices.Compact(declared)) != len(rows) {
		t.Error("two codes have the same word")
	}
}

func TestUnknownCodeIsAServerFault(t *testing.T) {
	e := &providers.Error{Code: "invented"}
	wantEqual(t, 500, e.HTTPStatus())
	wantEqual(t, false, e.Retryable())
	wantEqual(t, `{"error":{"message":"invented","type":"api_error","param":null,"code":"invented"}}`, encode(t, e))
}

func TestErrorEnvelope(t *testing.T) {
	e := &providers.Error{
		Code: providers.ErrRateLimited, Message: `too "many"`, Param: "messages[2].role", Provider: "vertex-ai",
		StatusCode: 429, NativeStatus: "RESOURCE_EXHAUSTED", Details: []byte(`[{"retryDelay":"2s"}]`),
		RequestID: "not shown", Sent: true, Err: errors.New("cause"),
	}
	const want = `{"error":{"message":"too \"many\"","type":"rate_limit_error","param":"messages[2].role",` +
		`"code":"rate_limit_exceeded","native_status":"RESOURCE_EXHAUSTED","details":[{"retryDelay":"2s"}]},"provider":"vertex-ai"}`
	wantEqual(t, want, encode(t, e))
	viaJSON, err := json.Marshal(error(e))
	if err != nil {
		t.Fatal(err)
	}
	wantEqual(t, want, string(viaJSON))

	broken := *e
	broken.Details = []byte(`{"cut":`)
	if !json.Valid(broken.AppendJSON(nil)) {
		t.Error("details that are not JSON break the envelope")
	}
	cause := &providers.Error{Code: providers.ErrConnection, Err: errors.New("cause")}
	wantEqual(t, `{"error":{"message":"connection error","type":"api_error","param":null,"code":"connection_error"}}`, encode(t, cause))
}

func TestHTTPStatusIsThePlatformsWhereItRefused(t *testing.T) {
	for status, want := range map[int]int{0: 502, 200: 502, 302: 502, 400: 400, 403: 403, 429: 429, 503: 503} {
		e := &providers.Error{Code: providers.ErrBadResponse, StatusCode: status}
		wantEqual(t, want, e.HTTPStatus())
	}
}

func TestErrorText(t *testing.T) {
	for want, e := range map[string]*providers.Error{
		"timeout":                             {Code: providers.ErrTimeout},
		"invalid_request: messages: needed":   providers.Invalid("messages", "needed"),
		"server_error: vertex-ai: it failed":  {Code: providers.ErrServer, Provider: "vertex-ai", Message: "it failed"},
		"rate_limit_exceeded: x answered 429": {Code: providers.ErrRateLimited, Provider: "x", StatusCode: 429},
		"connection_error: down: refused":     {Code: providers.ErrConnection, Message: "down", Err: errors.New("refused")},
		"connection_error: dial: refused":     {Code: providers.ErrConnection, Message: "dial: refused", Err: errors.New("refused")}, // not twice
		"canceled: stop: context canceled": {Code: providers.ErrCanceled, Message: "stop", StatusCode: 499, Err: context.Canceled,
			RequestID: "hidden", NativeStatus: "hidden", Details: []byte(`"hidden"`)},
	} {
		wantEqual(t, want, e.Error())
	}
}

func TestErrorsIsAndAsReachThroughWrapping(t *testing.T) {
	inner := &providers.Error{Code: providers.ErrConnection, Err: context.DeadlineExceeded}
	for name, err := range map[string]error{
		"itself":  inner,
		"wrapped": fmt.Errorf("call: %w", inner),
		"twice":   fmt.Errorf("a: %w", fmt.Errorf("b: %w", inner)),
		"joined":  errors.Join(errors.New("other"), inner),
		"inside another": &providers.Error{
			Code: providers.ErrStreamCut, Err: fmt.Errorf("x: %w", inner),
		},
	} {
		t.Run(name, func(t *testing.T) {
			if !errors.Is(err, providers.ErrConnection) || !errors.Is(err, context.DeadlineExceeded) {
				t.Error("errors.Is does not find the code or the cause")
			}
			if errors.Is(err, providers.ErrServer) || errors.Is(err, context.Canceled) {
				t.Error("errors.Is finds what is not there")
			}
			if _, ok := errors.AsType[*providers.Error](err); !ok {
				t.Error("errors.As does not find the error")
			}
		})
	}
	if errors.Is(inner, providers.Code("")) {
		t.Error("an empty code matches")
	}
}

func TestThePartialAnswerIsInNoText(t *testing.T) {
	const secret = "the answer"
	part := &providers.ChatCompletion{Choices: []providers.Choice{{Message: providers.AssistantMessage(secret)}}}
	e := &providers.Error{Code: providers.ErrStreamCut, Message: "cut", Partial: part}
	texts := []string{e.Error(), encode(t, e)}
	for _, format := range []string{"%v", "%+v", "%#v"} {
		texts = append(texts, fmt.Sprintf(format, e), fmt.Sprintf(format, *e), fmt.Sprintf(format, fmt.Errorf("w: %w", e)))
	}
	for _, value := range []any{e, *e, []any{*e}} {
		text, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, string(text))
	}
	for _, text := range texts {
		if strings.Contains(text, secret) {
			t.Errorf("the answer is in %s", text)
		}
	}
}

func TestAQuotaThatIsUsedUpIsARateLimit(t *testing.T) {
	used := &providers.Error{Code: providers.ErrQuotaExceeded}
	wantEqual(t, true, errors.Is(used, providers.ErrRateLimited))
	wantEqual(t, true, errors.Is(used, providers.ErrQuotaExceeded))
	wantEqual(t, false, errors.Is(&providers.Error{Code: providers.ErrRateLimited}, providers.ErrQuotaExceeded))
}
