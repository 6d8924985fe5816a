package engine

import (
	"os"
	"strings"
	"testing"

	"github.com/b650d4bf/gateway/internal/wire/batch"
	"github.com/b650d4bf/gateway/providers"
)

// TestStatesAreOnThePage holds the table of states against the page.
func TestStatesAreOnThePage(t *testing.T) {
	page, err := os.ReadFile("../../docs/batches.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range jobStates {
		if !strings.Contains(string(page), "| `"+s.state+"` | `"+s.status+"` |\n") {
			t.Errorf("the page does not say that %s is %s", s.state, s.status)
		}
		job, err := jobOf(&batch.Job{Name: "n", State: s.state})
		if err != nil || job.State != s.status || len(job.Warnings) > 0 {
			t.Errorf("%s: %+v %v", s.state, job, err)
		}
	}
	if job, err := jobOf(&batch.Job{Name: "n", State: "JOB_STATE_NEW"}); err != nil || len(job.Warnings) != 1 {
		t.Errorf("%+v %v", job, err)
	}
}

// FuzzJoin carries any id in labels and in a key, and reads it back.
func FuzzJoin(f *testing.F) {
	f.Add("plain")
	f.Add("Größe")
	f.Add(strings.Repeat("x", maxBatchID+1))
	f.Add("b32-")
	f.Fuzz(func(t *testing.T, id string) {
		if key, err := claudeKey(id); err == nil {
			if back, ok := claudeID(key); !ok && id != "" && strings.ToValidUTF8(id, "") == id || ok && back != id {
				t.Errorf("%q became %q", id, back)
			}
		}
		labels, err := joinLabels(new(providers.ChatCompletionRequest), id)
		if err != nil || id == "" {
			return
		}
		if _, err := checkLabels(labels); err != nil {
			t.Error(err)
		}
		raw := "{"
		for key, value := range labels {
			raw += `"` + key + `":"` + value + `",`
		}
		if back, _, ok := splitLabels([]byte(strings.TrimSuffix(raw, ",") + "}")); strings.ToValidUTF8(id, "") == id && (!ok || back != id) {
			t.Errorf("%q became %q", id, back)
		}
	})
}
