package routing

import (
	"fmt"
	"strings"
	"testing"

	"github.com/b650d4bf/gateway/config"
)

// TestDefaultsOfConfigsAreThese holds what the page about configs tells against
// what a policy that names nothing does.
func TestDefaultsOfConfigsAreThese(t *testing.T) {
	var statuses []string
	for i := range Rules {
		if r := &Rules[i]; r.Status >= 100 && r.Retry == Always {
			statuses = append(statuses, fmt.Sprint(r.Status))
		}
	}
	want := map[string]string{
		"target.retry":          "no retries",
		"retry.on_status_codes": strings.Join(statuses, ", "),
		"backoff.base":          fmt.Sprint(defaultBase.Milliseconds()),
		"backoff.max":           fmt.Sprint(defaultMax.Milliseconds()),
	}
	for _, m := range config.Members() {
		name := m.Object + "." + m.Name
		if w, is := want[name]; is && m.Default != w {
			t.Errorf("%s: the default is told as %q, want %q", name, m.Default, w)
		}
		delete(want, name)
		if most := fmt.Sprintf("up to %v minutes", defaultMaxCooldown.Minutes()); name == "cb_config.cooldown_interval" && !strings.Contains(m.Does, most) {
			t.Errorf("%s: %q does not say %q", name, m.Does, most)
		}
	}
	for name := range want {
		t.Errorf("there is no %s", name)
	}
}
