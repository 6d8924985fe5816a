package sqlitelogs

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/b650d4bf/gateway/internal/logsql"
	"github.com/b650d4bf/gateway/logs"
)

func mark(n int, _ logs.Kind) string { return "?" + strconv.Itoa(n) }

func quote(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

var dialect = logsql.Dialect{
	Mark:   mark,
	Time:   func(n int) string { return mark(n, logs.Number) },
	Column: func(name string) string { return "r." + quote(name) },
	Entry: func(key string) string {
		return "(SELECT e.value FROM json_each(r.metadata) e WHERE e.key = " + key + ")"
	},
	Differs: "IS NOT",
	// A mark without a number is that of the next argument, and numbers are looked up one
	// by one: with thousands of them that takes minutes.
	In: func(expr string, _ logs.Kind, values []any, add func(any) int) string {
		for _, v := range values {
			add(v)
		}
		return expr + " IN (" + strings.TrimSuffix(strings.Repeat("?, ", len(values)), ", ") + ")"
	},
	MaxArgs: 32766, // https://sqlite.org/limits.html
	// The first condition is one that an index answers.
	Prefix: func(expr, mark string) string {
		return fmt.Sprintf("(%[1]s >= %[2]s AND substr(%[1]s, 1, length(%[2]s)) = %[2]s)", expr, mark)
	},
	Contains: func(column, text string, add func(any) int) string {
		return "instr(" + column + ", " + mark(add(text), logs.Word) + ") > 0"
	},
}

// insert writes a record, unless it is there.
var insert = func() string {
	names := []string{"at", "metadata", "search", "record"}
	for _, f := range logs.Fields() {
		names = append(names, quote(f.Name))
	}
	marks := strings.TrimSuffix(strings.Repeat("?, ", len(names)), ", ")
	return `INSERT INTO records (` + strings.Join(names, ", ") + `) VALUES (` + marks + `) ON CONFLICT (id, at) DO NOTHING`
}()

// arguments returns those of insert.
func arguments(r *logsql.Row) []any {
	args := make([]any, 0, 4+len(r.Values))
	var metadata any
	if r.Metadata != nil {
		metadata = string(r.Metadata)
	}
	args = append(args, r.At, metadata, r.Search, string(r.Record))
	return append(args, r.Values...)
}
