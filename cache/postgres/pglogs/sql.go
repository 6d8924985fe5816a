package pglogs

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	dbtables "github.com/b650d4bf/gateway/cache/postgres/internal/tables"
	"github.com/b650d4bf/gateway/internal/logsql"
	"github.com/b650d4bf/gateway/logs"
)

// types are those of columns and arguments, by kind.
var types = [...]string{logs.Word: "text", logs.Number: "float8", logs.Flag: "boolean"}

func mark(n int, kind logs.Kind) string { return "$" + strconv.Itoa(n) + "::" + types[kind] }

func column(name string) string { return "r." + pgx.Identifier{name}.Sanitize() }

// likes escapes what has a meaning in a pattern of LIKE.
var likes = strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`)

var dialect = logsql.Dialect{
	Mark:    mark,
	Time:    func(n int) string { return "$" + strconv.Itoa(n) + "::bigint" },
	Column:  column,
	Entry:   func(key string) string { return `((r.metadata ->> ` + key + `) COLLATE "C")` },
	Differs: "IS DISTINCT FROM",
	In: func(expr string, kind logs.Kind, values []any, add func(any) int) string {
		return fmt.Sprintf("%s = ANY($%d::%s[])", expr, add(array(kind, values)), types[kind])
	},
	HasEntry: func(key, value string) string {
		return "r.metadata @> jsonb_build_object(" + key + ", " + value + ")"
	},
	// The first condition is one that an index answers.
	Prefix: func(expr, mark string) string {
		return "(" + expr + " >= " + mark + " AND starts_with(" + expr + ", " + mark + "))"
	},
	MaxArgs: 65535, // https://www.postgresql.org/docs/current/limits.html
	// Of this form an index of pg_trgm answers it, if the database's owner made one.
	Contains: func(column, text string, add func(any) int) string {
		return column + " LIKE " + mark(add("%"+likes.Replace(text)+"%"), logs.Word)
	},
}

// array returns values as one argument.
func array(kind logs.Kind, values []any) any {
	switch kind {
	case logs.Number:
		return typed[float64](values)
	case logs.Flag:
		return typed[bool](values)
	case logs.Word:
	}
	return typed[string](values)
}

func typed[T any](values []any) []T {
	out := make([]T, 0, len(values))
	for _, v := range values {
		if t, ok := v.(T); ok {
			out = append(out, t)
		}
	}
	return out
}

// statements are those of a store, with the names of its tables.
type statements struct {
	insert, get, query, lock, addFeedback, feedback, score, pruneAge, pruneCount string
}

func newStatements(t dbtables.Tables) statements {
	const said = `ARRAY(SELECT f.feedback::text FROM {feedback} f WHERE f.seq = r.seq ORDER BY f.n)`
	// The rows that are locked are being deleted by another, or get feedback.
	const prune = `WITH gone AS (DELETE FROM {records} WHERE seq = ANY(ARRAY(
    SELECT r.seq FROM {records} r WHERE %s ORDER BY r.at, r.id LIMIT $2::int FOR UPDATE SKIP LOCKED)) RETURNING 1)
SELECT count(*) FROM gone`
	return statements{
		insert: t.Fill(insert()),
		get: t.Fill(`SELECT r.record::text, ` + said + `, c.request, c.response, c.truncated
FROM {records} r LEFT JOIN {contents} c USING (seq) WHERE r.id = $1::text ORDER BY r.at DESC LIMIT 1`),
		query:       t.Fill(`SELECT r.at, r.id, r.record::text, ` + said + ` FROM {records} r WHERE %s ORDER BY r.at DESC, r.id DESC LIMIT %d`),
		lock:        t.Fill(`SELECT seq FROM {records} WHERE id = $1::text ORDER BY at DESC LIMIT 1 FOR UPDATE`),
		addFeedback: t.Fill(`INSERT INTO {feedback} (seq, feedback) VALUES ($1::bigint, $2::text::json)`),
		feedback:    t.Fill(`SELECT feedback::text FROM {feedback} WHERE seq = $1::bigint ORDER BY n`),
		score:       t.Fill(`UPDATE {records} SET feedback = $2::float8 WHERE seq = $1::bigint`),
		pruneAge:    t.Fill(fmt.Sprintf(prune, `r.at < $1::bigint`)),
		pruneCount:  t.Fill(fmt.Sprintf(prune, `(r.at, r.id) <= (SELECT l.at, l.id FROM {records} l ORDER BY l.at DESC, l.id DESC OFFSET $1::bigint LIMIT 1)`)),
	}
}

// The arguments of insert behind those of the fields.
var further = []string{"bigint", "text", "text", "text"} // at, metadata, search, record

// insert returns the statement that writes rows. Each argument is a column of all of
// them, so that its text does not depend on their number, and content and feedback
// are those of the rows that were not there.
func insert() string {
	var names, marks, values []string
	for i, f := range logs.Fields() {
		name := pgx.Identifier{f.Name}.Sanitize()
		names = append(names, name)
		marks = append(marks, fmt.Sprintf("$%d::%s[]", i+1, types[f.Kind]))
		values = append(values, "i."+name)
	}
	n := len(names)
	for i, typ := range further {
		marks = append(marks, fmt.Sprintf("$%d::%s[]", n+i+1, typ))
	}
	names = append(names, "at", "metadata", "search", "record")
	values = append(values, "i.at", "i.metadata::jsonb", "i.search", "i.record::json")
	n = len(marks)
	return fmt.Sprintf(`WITH kept AS (
    INSERT INTO {records} (%[1]s) SELECT %[2]s FROM unnest(%[3]s) AS i(%[1]s)
    ON CONFLICT (id, at) DO NOTHING RETURNING seq, id, at
), content AS (
    INSERT INTO {contents} (seq, request, response, truncated) SELECT k.seq, c.request, c.response, c.truncated
    FROM unnest($%[4]d::text[], $%[5]d::bigint[], $%[6]d::bytea[], $%[7]d::bytea[], $%[8]d::boolean[]) AS c(id, at, request, response, truncated)
    JOIN kept k USING (id, at)
), said AS (
    INSERT INTO {feedback} (seq, feedback) SELECT k.seq, f.feedback::json
    FROM unnest($%[9]d::text[], $%[10]d::bigint[], $%[11]d::text[]) WITH ORDINALITY AS f(id, at, feedback, n)
    JOIN kept k USING (id, at) ORDER BY f.n
)
SELECT count(*) FROM kept`,
		strings.Join(names, ", "), strings.Join(values, ", "), strings.Join(marks, ", "), n+1, n+2, n+3, n+4, n+5, n+6, n+7, n+8)
}

// arguments returns those of insert for rows.
func arguments(rows []logsql.Row) []any {
	fields := logs.Fields()
	args := make([]any, 0, len(fields)+len(further)+8)
	for i, f := range fields {
		switch f.Kind {
		case logs.Number:
			args = append(args, values[float64](rows, i))
		case logs.Flag:
			args = append(args, values[bool](rows, i))
		case logs.Word:
			args = append(args, values[string](rows, i))
		}
	}
	at, metadata := make([]int64, len(rows)), make([]*string, len(rows))
	search, records := make([]string, len(rows)), make([]string, len(rows))
	ids, times, requests, responses, truncated := []string{}, []int64{}, [][]byte{}, [][]byte{}, []bool{}
	of, when, said := []string{}, []int64{}, []string{}
	for i := range rows {
		r := &rows[i]
		at[i], search[i], records[i] = r.At, r.Search, string(r.Record)
		if r.Metadata != nil {
			text := string(r.Metadata)
			metadata[i] = &text
		}
		if c := r.Content; c != nil {
			ids, times = append(ids, r.ID), append(times, r.At)
			requests, responses, truncated = append(requests, c.Request), append(responses, c.Response), append(truncated, c.Truncated)
		}
		for _, f := range r.Feedback {
			of, when, said = append(of, r.ID), append(when, r.At), append(said, f)
		}
	}
	return append(args, at, metadata, search, records, ids, times, requests, responses, truncated, of, when, said)
}

// values returns a column of rows, nil where there is no value.
func values[T any](rows []logsql.Row, column int) []*T {
	out := make([]*T, len(rows))
	for i := range rows {
		if v, ok := rows[i].Values[column].(T); ok {
			out[i] = &v
		}
	}
	return out
}
