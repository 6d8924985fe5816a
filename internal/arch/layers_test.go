package arch

import (
	"slices"
	"strconv"
	"strings"
)

const (
	authTypes = "cloud.google.com/go/auth"
	oauth2    = "golang.org/x/oauth2"
	zap       = "go.uber.org/zap"
	ristretto = "github.com/dgraph-io/ristretto/v2"
)

// layer says what the packages of a directory may import besides the standard
// library. Names that end in /... take everything below in; ... alone is all.
type layer struct {
	dir   string
	own   []string // directories of this repository
	other []string // packages of others
}

// layers is the direction of imports, from the bottom to the top. Tests are
// free: what they import never reaches a user.
var layers = []layer{
	{"internal/jsonx", nil, nil},
	{"internal/sse", nil, nil},
	{"internal/near", nil, nil},
	{"internal/place", nil, nil},
	{"internal/vector", nil, nil},
	{"internal/alike", nil, nil},
	{"internal/wire/...", []string{"internal/jsonx"}, nil},
	{"internal/vault", []string{"internal/jsonx"}, nil},
	{"internal/weigh", []string{"internal/jsonx"}, nil},
	{"internal/schema", []string{"internal/jsonx"}, nil},
	{"internal/fetch", nil, nil},
	{"internal/gcpauth", []string{"internal/place"}, []string{authTypes + "/...", oauth2}},
	{"cache", []string{"internal/vector"}, []string{ristretto}},
	{"cache/cachetest", []string{"cache"}, nil},
	{"config", []string{"internal/jsonx", "internal/near", "internal/place"}, nil},
	{"catalog", []string{"config", "internal/jsonx", "internal/near", "internal/place"}, nil},
	{"providers", []string{"internal/jsonx"}, []string{authTypes}},
	{"internal/served", nil, nil},
	{"internal/transport", []string{"providers", "internal/jsonx", "internal/served"}, nil},
	{"internal/engine", []string{
		"providers", "catalog", "internal/wire/...", "internal/schema", "internal/sse", "internal/transport", "internal/vault",
		"internal/fetch", "internal/jsonx", "internal/near",
	}, []string{authTypes}},
	{"providers/vertex", []string{"providers", "catalog", "internal/engine", "internal/jsonx", "internal/place"}, nil},
	{"providers/openai", []string{"providers", "catalog", "internal/engine"}, nil},
	{"providers/anthropic", []string{"providers", "catalog", "internal/engine"}, nil},
	{"providers/google", []string{"providers", "catalog", "internal/engine"}, nil},
	{"providers/vertex/vertextest", nil, nil},
	{"providers/providertest", []string{"providers"}, []string{authTypes}},
	{"internal/batch", []string{"providers", "internal/jsonx"}, nil},
	{"internal/pipeline", []string{"providers", "catalog", "config", "internal/batch", "internal/gcpauth", "internal/routing", "internal/served", "cache", "internal/alike", "internal/answers", "internal/inflight", "internal/weigh"}, []string{authTypes, zap}},
	{"internal/answers", []string{"providers", "cache", "internal/jsonx"}, nil},
	{"internal/inflight", nil, nil},
	{"internal/routing", []string{"providers"}, nil},
	{"internal/messages", []string{"providers", "internal/jsonx"}, nil},
	{"internal/completions", []string{"providers", "internal/jsonx"}, nil},
	{"internal/front", []string{"providers", "catalog", "config", "internal/jsonx", "internal/messages", "internal/near", "internal/place", "internal/sse"}, nil},
	{"internal/dashboard", []string{"catalog", "providers"}, nil},
	{".", []string{
		"internal/dashboard",
		"cache", "catalog", "config", "providers", "providers/anthropic", "providers/google", "providers/openai", "providers/vertex", "internal/answers", "internal/batch", "internal/completions", "internal/front", "internal/gcpauth", "internal/messages", "internal/pipeline", "logs",
		"analytics", "internal/logsapi",
	}, []string{authTypes, oauth2, zap}},
	{"internal/cosine", nil, nil},
	{"prices", []string{"providers", "internal/near"}, nil},
	{"logs", []string{"providers", "prices", "internal/near"}, []string{zap}},
	{"logs/logstest", []string{"logs", "prices", "providers"}, nil},
	{"analytics", []string{"logs", "prices", "providers", "internal/near"}, nil},
	{"internal/logsapi", []string{"analytics", "logs", "providers", "internal/near"}, nil},
	{"cache/redis", []string{"cache", "internal/cosine"}, []string{"github.com/redis/rueidis"}},
	{"cache/postgres", []string{"cache", "internal/cosine", "cache/postgres/internal/tables"}, []string{"github.com/jackc/pgx/v5/..."}},
	{"cache/sqlite", []string{"cache", "internal/cosine", "internal/vector", "cache/sqlite/internal/dbfile"}, []string{"modernc.org/sqlite/..."}},
	{"otel", []string{"providers"}, []string{"go.opentelemetry.io/otel", "go.opentelemetry.io/otel/attribute", "go.opentelemetry.io/otel/codes", "go.opentelemetry.io/otel/metric", "go.opentelemetry.io/otel/trace"}},
	{"cache/postgres/internal/tables", nil, []string{"github.com/jackc/pgx/v5/..."}},
	{"cache/sqlite/internal/dbfile", nil, []string{"modernc.org/sqlite/..."}},
	{"internal/logsql", []string{"logs", "providers"}, nil},
	{"cache/postgres/pglogs", []string{"cache/postgres/internal/tables", "internal/logsql", "logs"}, []string{"github.com/jackc/pgx/v5/..."}},
	{"cache/sqlite/sqlitelogs", []string{"cache/sqlite/internal/dbfile", "internal/logsql", "logs"}, []string{"modernc.org/sqlite/..."}},
	{"structured", []string{".", "providers"}, []string{"github.com/google/jsonschema-go/jsonschema"}},
	{"prompts", []string{"catalog", "providers"}, nil},
	{"internal/arch", nil, nil},
	{"internal/testkit", []string{"internal/jsonx"}, []string{"github.com/google/go-cmp/cmp"}},
	{"internal/testkit/outcome", []string{"providers"}, nil},
	{"internal/testkit/faultproxy", nil, nil},
	{"examples/...", []string{".", "catalog", "prompts", "providers/...", "structured", "examples/...", "cache", "logs", "prices"}, []string{"..."}},
	{"bench/...", []string{".", "cache", "bench/..."}, []string{"golang.org/x/perf/..."}},
	{"conformance/soak", []string{".", "analytics", "cache", "catalog", "logs", "otel", "prices"}, []string{"go.opentelemetry.io/otel/..."}},
	{"cmd/gatewayctl/...", []string{".", "catalog", "config", "logs", "prices", "prompts", "providers/...", "cmd/gatewayctl/..."}, []string{
		"github.com/aymanbagabas/go-udiff", "github.com/spf13/cobra", "golang.org/x/term",
	}},
}

// doors are packages of the standard library that only some directories may
// import: with a second user, what they are kept for would be done twice.
var doors = map[string][]string{
	"encoding/json": {"logs", "logs/logstest", "analytics", "prices", "internal/logsapi", "internal/dashboard", "catalog", "config", "internal/gcpauth", "internal/testkit/...", "providers", "providers/vertex/vertextest", "prompts", "structured", "examples/...", "otel", "internal/logsql", "cmd/gatewayctl/...", "conformance/soak"},
	"unsafe":        {"internal/jsonx"},
	"testing":       {"internal/testkit/...", "providers/providertest", "cache/cachetest", "logs/logstest"},
	"flag":          {"internal/testkit", "examples/...", "bench/...", "conformance/soak"},
	"log":           {"examples/..."},
	"os/exec":       {"examples/...", "bench/...", "conformance/soak"},
	"reflect":       {"structured"},
	"plugin":        nil,
}

// matches reports whether one of the patterns takes the name in.
func matches(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		if p == "..." || p == name {
			return true
		}
		below, ok := strings.CutSuffix(p, "/...")
		return ok && (name == below || strings.HasPrefix(name, below+"/"))
	})
}

// checkImports holds the imports of all files but tests against the tables.
func checkImports(all []*source) []finding {
	var out []finding
	for _, s := range all {
		if s.test {
			continue
		}
		i := slices.IndexFunc(layers, func(l layer) bool { return matches([]string{l.dir}, s.dir) })
		if i < 0 {
			out = append(out, finding{"direction", s.dir, s.path, s.dir + " has no row in the table of layers"})
			continue
		}
		for _, spec := range s.file.Imports {
			if name, err := strconv.Unquote(spec.Path.Value); err != nil || !mayImport(&layers[i], s.dir, name) {
				out = append(out, finding{"direction", s.dir, s.at(spec), s.dir + " must not import " + spec.Path.Value})
			}
		}
	}
	return out
}

// mayImport reports whether a package in dir, to which l applies, may import
// the package of that name.
func mayImport(l *layer, dir, name string) bool {
	if name == module {
		return matches(l.own, ".")
	}
	if own, ok := strings.CutPrefix(name, module+"/"); ok {
		return matches(l.own, own)
	}
	if first, _, _ := strings.Cut(name, "/"); strings.Contains(first, ".") {
		return matches(l.other, name)
	}
	dirs, guarded := doors[name]
	return !guarded || matches(dirs, dir)
}
