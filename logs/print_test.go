package logs_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/b650d4bf/gateway/logs"
)

// TestLogsPrintTheirNames uses verbs that do not fit too, which go past pointers.
func TestLogsPrintTheirNames(t *testing.T) {
	memory := logs.NewMemory(0)
	log, err := logs.New(logs.Options{Store: memory})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = log.Close(context.Background()) })
	for want, v := range map[string]any{"logs.Log": log, "logs.Memory": memory} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
			if got := fmt.Sprintf(verb, v); got != want {
				t.Errorf("%s prints %.200s, want %s", verb, got, want)
			}
		}
	}
}
