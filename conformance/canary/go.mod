module github.com/b650d4bf/gateway/conformance/canary

go 1.26.0

replace (
	github.com/b650d4bf/gateway => ../..
	github.com/b650d4bf/gateway/cache/postgres => ../../cache/postgres
	github.com/b650d4bf/gateway/cache/redis => ../../cache/redis
	github.com/b650d4bf/gateway/cache/sqlite => ../../cache/sqlite
	github.com/b650d4bf/gateway/otel => ../../otel
	github.com/b650d4bf/gateway/prompts => ../../prompts
)

// The module proxy does not serve every revision of pprof and genproto that the
// graph names; these are served. Nothing of them is built.
replace (
	github.com/google/pprof => github.com/google/pprof v0.0.0-20250317173921-a4b03ec1a45e
	google.golang.org/genproto => google.golang.org/genproto v0.0.0-20261019180522-ce908d29299b
)

require (
	cloud.google.com/go/auth v0.24.3
	github.com/b650d4bf/gateway v0.0.0
	github.com/b650d4bf/gateway/prompts v0.0.0
	go.uber.org/zap v1.28.0
	golang.org/x/oauth2 v0.37.0
)

require (
	cloud.google.com/go/compute/metadata v0.10.0 // indirect
	github.com/cespare/xxhash/v2 v2.3.0 // indirect
	github.com/dgraph-io/ristretto/v2 v2.4.2 // indirect
	github.com/dustin/go-humanize v1.1.0 // indirect
	github.com/go-logr/logr v1.4.4 // indirect
	github.com/go-logr/stdr v1.2.2 // indirect
	github.com/google/uuid v1.6.0 // indirect
	github.com/googleapis/enterprise-certificate-proxy v0.3.23 // indirect
	github.com/googleapis/gax-go/v2 v2.27.0 // indirect
	github.com/jackc/pgpassfile v1.0.0 // indirect
	github.com/jackc/pgservicefile v0.0.0-20240606120523-5a60cdf6a761 // indirect
	github.com/jackc/puddle/v2 v2.2.3 // indirect
	github.com/mattn/go-isatty v0.0.24 // indirect
	github.com/ncruces/go-strftime v1.1.0 // indirect
	github.com/remyoudompheng/bigfft v0.0.0-20230129092748-24d4a6f8daec // indirect
	go.opentelemetry.io/auto/sdk v1.2.1 // indirect
	go.opentelemetry.io/otel/log v1.47.0 // indirect
	go.opentelemetry.io/otel/trace v1.47.0 // indirect
	go.uber.org/multierr v1.10.0 // indirect
	golang.org/x/sync v0.24.0 // indirect
	golang.org/x/sys v0.49.0 // indirect
	golang.org/x/text v0.43.0 // indirect
	modernc.org/libc v1.79.0 // indirect
	modernc.org/mathutil v1.7.1 // indirect
	modernc.org/memory v1.12.1 // indirect
	modernc.org/sqlite v1.61.1 // indirect
)

require (
	github.com/b650d4bf/gateway/cache/sqlite v0.0.0
	github.com/b650d4bf/gateway/otel v0.0.0
)

require (
	github.com/b650d4bf/gateway/cache/postgres v0.0.0
	github.com/b650d4bf/gateway/cache/redis v0.0.0
	github.com/jackc/pgx/v5 v5.12.0
	github.com/redis/rueidis v1.0.79
)

require (
	go.opentelemetry.io/otel v1.47.0
	go.opentelemetry.io/otel/metric v1.47.0
	go.opentelemetry.io/otel/sdk v1.47.0
	go.opentelemetry.io/otel/sdk/metric v1.47.0
)
