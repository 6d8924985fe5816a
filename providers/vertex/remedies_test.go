package vertex_test

import (
	"testing"
)

// TestRemediesAreForThePlatformsOwnRefusals holds what helps to refusals that the
// platform has a name for: what a front end or a model says is told as it is.
func TestRemediesAreForThePlatformsOwnRefusals(t *testing.T) {
	const (
		permission = "no (the credentials need the permission aiplatform.endpoints.predict, as in roles/aiplatform.user)"
		model      = "no (check the model's name and region: some models are in global, us or eu only, and a publisher whose models the table does not know goes before the name, as in anthropic.MODEL)"
		disabled   = `{"reason":"SERVICE_DISABLED"}`
	)
	claude := func(kind string) string {
		return `{"type":"error","error":{"type":"` + kind + `","message":"no"}}`
	}
	for _, tt := range []struct {
		name   string
		status int
		body   string
		want   string
	}{
		{"a permission", 403, rpcError(403, "PERMISSION_DENIED", "no"), permission},
		{"a service that is off", 403, rpcError(403, "PERMISSION_DENIED", "no", disabled), "no"},
		{"a permission of a Claude model", 403, claude("permission_error"), "no"},
		{"a model", 404, rpcError(404, "NOT_FOUND", "no"), model},
		{"a Claude model", 404, claude("not_found_error"), model},
		{"a cache", 404, rpcError(404, "NOT_FOUND", "cached content no"),
			"cached content no (it may have expired, or be in another project or location: create it again)"},
		{"a page", 404, "<html>", "the answer is HTML, not JSON: the host, region or base URL may be wrong"},
		{"a server's own words", 404, `{"detail":"no"}`, "no"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if e := refused(t, tt.status, nil, tt.body); e.Message != tt.want {
				t.Errorf("%q, want %q", e.Message, tt.want)
			}
		})
	}
}
