package gateway_test

import (
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/b650d4bf/gateway"
)

// sameAnswer compares two answers in all but what the gateway says of them.
func sameAnswer(t *testing.T, want, got *gateway.ChatCompletion) {
	t.Helper()
	if d := gocmp.Diff(want, got, cmpopts.IgnoreFields(gateway.ChatCompletion{}, "Meta"), cmpopts.EquateEmpty()); d != "" {
		t.Errorf("the answers differ (-want +got)\n%s", d)
	}
}
