package pipeline

import (
	"context"
	"testing"

	"github.com/b650d4bf/gateway/providers"
)

// targetKeeper is a provider that keeps the targets it was given.
type targetKeeper struct {
	*fake
	targets []*providers.Target
}

func (k *targetKeeper) ChatCompletion(ctx context.Context, t *providers.Target, req *providers.ChatCompletionRequest) (*providers.ChatCompletion, error) {
	k.targets = append(k.targets, t)
	return k.fake.ChatCompletion(ctx, t, req)
}

// Recorders are used again, but no provider sees the target of another call.
func TestATargetIsOneCallsAlone(t *testing.T) {
	k := &targetKeeper{fake: answering(rich)}
	e := New(k)
	var want, got []string
	for _, project := range []string{"a", "b", "c", "d"} {
		if _, err := e.Chat(t.Context(), here(), &Settings{ProjectID: project}, ask("m")); err != nil {
			t.Fatal(err)
		}
		want = append(want, project)
	}
	for _, target := range k.targets {
		got = append(got, target.ProjectID)
	}
	wantEqual(t, want, got)
}
