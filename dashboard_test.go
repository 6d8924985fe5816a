package gateway_test

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/b650d4bf/gateway"
	"github.com/b650d4bf/gateway/internal/front"
)

func TestDashboardDoesNotWaitForBodies(t *testing.T) {
	client, err := gateway.New(gateway.WithProjectID("p"), gateway.WithRegion("global"), gateway.WithAccessToken("t"))
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(front.WithBodyIdle(client.Dashboard(), 50*time.Millisecond))
	defer server.Close()
	conn, err := net.Dial("tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
	if _, err := io.WriteString(conn, "GET /api/catalog HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\n\r\na"); err != nil {
		t.Fatal(err)
	}
	answer, err := io.ReadAll(conn)
	if err != nil || !strings.HasPrefix(string(answer), "HTTP/1.1 408 ") || !strings.Contains(string(answer), `"code":"timeout"`) {
		t.Errorf("%v\n%s", err, answer)
	}
	res, err := http.Get(server.URL + "/api/catalog")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode != http.StatusOK {
		t.Errorf("status %d without a body", res.StatusCode)
	}
}
