package gateway_test

import (
	"fmt"
	"testing"

	"github.com/b650d4bf/gateway"
)

// TestClientPrintsNothing prints a client with every verb: fmt goes below a pointer for
// those that are not for pointers.
func TestClientPrintsNothing(t *testing.T) {
	client, err := gateway.New(gateway.WithAccessToken("canary-client-token"), gateway.WithHeader("X-Own", "canary-client-header"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	for _, v := range []any{client, *client, []*gateway.Client{client}, struct{ C gateway.Client }{*client}} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%d", "%x", "%t", "%c", "%U", "%f"} {
			clean(t, verb, "", fmt.Sprintf(verb, v))
		}
	}
	if got := fmt.Sprintf("%s %+v", client, *client); got != "gateway.Client gateway.Client" {
		t.Error(got)
	}
}
