module github.com/b650d4bf/gateway/cmd/gatewayctl

go 1.26.0

require (
	github.com/aymanbagabas/go-udiff v0.4.1
	github.com/b650d4bf/gateway v0.0.0
	github.com/b650d4bf/gateway/prompts v0.0.0
	github.com/creack/pty v1.1.24
	github.com/google/go-cmp v0.7.0
	github.com/spf13/cobra v1.10.2
	golang.org/x/term v0.47.0
)

require (
	cloud.google.com/go/auth v0.24.3 // indirect
	cloud.google.com/go/compute/metadata v0.10.0 // indirect
	github.com/cespare/xxhash/v2 v2.3.0 // indirect
	github.com/dgraph-io/ristretto/v2 v2.4.2 // indirect
	github.com/dustin/go-humanize v1.0.1 // indirect
	github.com/googleapis/enterprise-certificate-proxy v0.3.23 // indirect
	github.com/googleapis/gax-go/v2 v2.27.0 // indirect
	github.com/inconshreveable/mousetrap v1.1.0 // indirect
	github.com/spf13/pflag v1.0.9 // indirect
	go.uber.org/multierr v1.10.0 // indirect
	go.uber.org/zap v1.28.0 // indirect
	golang.org/x/oauth2 v0.37.0 // indirect
	golang.org/x/sys v0.49.0 // indirect
)

replace (
	github.com/b650d4bf/gateway => ../../
	github.com/b650d4bf/gateway/prompts => ../../prompts
)

// The module proxy does not serve every revision of genproto that the graph
// names; this one is served. Nothing of it is built.
replace google.golang.org/genproto => google.golang.org/genproto v0.0.0-20261019180522-ce908d29299b
