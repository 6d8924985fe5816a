module github.com/b650d4bf/gateway/cache/postgres

go 1.26.0

require (
	github.com/b650d4bf/gateway v0.0.0
	github.com/jackc/pgx/v5 v5.12.0
)

require (
	cloud.google.com/go/auth v0.24.3 // indirect
	cloud.google.com/go/compute/metadata v0.10.0 // indirect
	github.com/cespare/xxhash/v2 v2.3.0 // indirect
	github.com/dgraph-io/ristretto/v2 v2.4.2 // indirect
	github.com/dustin/go-humanize v1.0.1 // indirect
	github.com/googleapis/gax-go/v2 v2.27.0 // indirect
	github.com/jackc/pgpassfile v1.0.0 // indirect
	github.com/jackc/pgservicefile v0.0.0-20240606120523-5a60cdf6a761 // indirect
	github.com/jackc/puddle/v2 v2.2.3 // indirect
	go.uber.org/multierr v1.10.0 // indirect
	go.uber.org/zap v1.28.0 // indirect
	golang.org/x/sync v0.24.0 // indirect
	golang.org/x/sys v0.49.0 // indirect
	golang.org/x/text v0.43.0 // indirect
)

replace github.com/b650d4bf/gateway => ../../

// The module proxy does not serve every revision of genproto that the graph
// names; this one is served. Nothing of it is built.
replace google.golang.org/genproto => google.golang.org/genproto v0.0.0-20261019180522-ce908d29299b
