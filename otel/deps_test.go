package gatewayotel_test

import (
	"os/exec"
	"strings"
	"testing"
)

// TestWhatIsLinked shows that the gateway does without OpenTelemetry, and this
// package without its SDK and exporters.
func TestWhatIsLinked(t *testing.T) {
	tests := []struct {
		name, dir, pkg string
		never          []string
	}{
		{"the gateway", "..", ".", []string{"go.opentelemetry.io/", "google.golang.org/grpc", "google.golang.org/protobuf"}},
		{"this package", ".", ".", []string{"go.opentelemetry.io/otel/sdk", "go.opentelemetry.io/otel/exporters", "google.golang.org/grpc", "google.golang.org/protobuf"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			list := exec.CommandContext(t.Context(), "go", "list", "-deps", tt.pkg)
			list.Dir = tt.dir
			out, err := list.Output()
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(string(out), "github.com/b650d4bf/gateway") {
				t.Fatalf("%q lists nothing", out)
			}
			for name := range strings.FieldsSeq(string(out)) {
				for _, no := range tt.never {
					if strings.HasPrefix(name, no) {
						t.Errorf("%s is linked", name)
					}
				}
			}
		})
	}
}
