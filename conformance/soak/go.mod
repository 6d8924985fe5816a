module github.com/b650d4bf/gateway/conformance/soak

go 1.26.0

require (
	github.com/b650d4bf/gateway v0.0.0
	github.com/b650d4bf/gateway/otel v0.0.0
	go.opentelemetry.io/otel/sdk/metric v1.47.0
)

require (
	cloud.google.com/go/auth v0.24.3 // indirect
	cloud.google.com/go/compute/metadata v0.10.0 // indirect
	github.com/cespare/xxhash/v2 v2.3.0 // indirect
	github.com/dgraph-io/ristretto/v2 v2.4.2 // indirect
	github.com/dustin/go-humanize v1.0.1 // indirect
	github.com/go-logr/logr v1.4.4 // indirect
	github.com/go-logr/stdr v1.2.2 // indirect
	github.com/google/uuid v1.6.0 // indirect
	github.com/googleapis/enterprise-certificate-proxy v0.3.23 // indirect
	github.com/googleapis/gax-go/v2 v2.27.0 // indirect
	go.opentelemetry.io/auto/sdk v1.2.1 // indirect
	go.opentelemetry.io/otel v1.47.0 // indirect
	go.opentelemetry.io/otel/log v1.47.0 // indirect
	go.opentelemetry.io/otel/metric v1.47.0 // indirect
	go.opentelemetry.io/otel/sdk v1.47.0 // indirect
	go.opentelemetry.io/otel/trace v1.47.0 // indirect
	go.uber.org/multierr v1.10.0 // indirect
	go.uber.org/zap v1.28.0 // indirect
	golang.org/x/oauth2 v0.37.0 // indirect
	golang.org/x/sys v0.49.0 // indirect
)

replace (
	github.com/b650d4bf/gateway => ../../
	github.com/b650d4bf/gateway/otel => ../../otel
)

// The module proxy does not serve every revision of genproto that the graph
// names; this one is served. Nothing of it is built.
replace google.golang.org/genproto => google.golang.org/genproto v0.0.0-20261019180522-ce908d29299b
