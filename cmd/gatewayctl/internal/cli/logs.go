package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/b650d4bf/gateway/cmd/gatewayctl/internal/console"
	"github.com/b650d4bf/gateway/logs"
)

// followEvery is the time between two looks for new records.
const followEvery = 500 * time.Millisecond

const logsLong = `Shows the records of a running front, or of a JSONL file, the newest last.

Conditions are FIELD=VALUE, with several values between commas, or
FIELD[OP]=VALUE with eq, ne, lt, lte, gt, gte, in, nin, prefix or missing.
Fields are those of the log, such as model, error_code, failed, duration_ms,
cost_usd and metadata.KEY. Of a front, from=, to= and q= count too.`

const logsExample = `  gatewayctl logs --url http://localhost:8080 --follow
  gatewayctl logs failed=true 'duration_ms[gte]=2000'
  gatewayctl logs --file logs.jsonl --json metadata.team=search | jq .tokens`

// tailing is the flags of logs.
type tailing struct {
	source
	limit        int
	follow, json bool
}

func (a *app) logsCommand() *cobra.Command {
	t := &tailing{}
	cmd := &cobra.Command{
		Use: "logs [flags] [CONDITION...]", Short: "Show the calls of a log", Long: logsLong, Example: logsExample,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := a.place(&t.source); err != nil {
				return err
			}
			if t.limit < 1 || t.limit > logs.MaxLimit {
				return usage("--limit is between 1 and " + strconv.Itoa(logs.MaxLimit))
			}
			return interruptible(cmd.Context(), func(ctx context.Context) error {
				switch {
				case t.file != "":
					return a.tailFile(ctx, t, args)
				case t.url != "":
					return a.tailFront(ctx, t, args)
				}
				return usage("name the log: --url of a running front, or --file")
			})
		},
	}
	a.sourceFlags(cmd, &t.source)
	cmd.Flags().IntVarP(&t.limit, "limit", "n", 20, "how many records")
	cmd.Flags().BoolVarP(&t.follow, "follow", "f", false, "go on with those that come")
	cmd.Flags().BoolVar(&t.json, "json", false, "records as JSON, one a line")
	return cmd
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// condition is one condition on a record.
type condition struct {
	field  logs.Field
	op     logs.Op
	values []string
}

// readCondition reads FIELD=VALUE or FIELD[OP]=VALUE.
func readCondition(text string) (condition, error) {
	name, value, ok := strings.Cut(text, "=")
	if !ok {
		return condition{}, usage("a condition is FIELD=VALUE or FIELD[OP]=VALUE, not " + text)
	}
	c := condition{op: logs.In, values: strings.Split(value, ",")}
	if base, rest, ok := strings.Cut(name, "["); ok {
		name, c.op = base, logs.Op(strings.TrimSuffix(rest, "]"))
		if c.op != logs.In && c.op != logs.NotIn {
			c.values = []string{value}
		}
	}
	if c.field, ok = logs.FieldOf(name); !ok {
		return condition{}, usage("there is no field " + name + " in a log")
	}
	if !slices.Contains([]logs.Op{logs.Eq, logs.Ne, logs.Lt, logs.Lte, logs.Gt, logs.Gte, logs.In, logs.NotIn, logs.Prefix, logs.Missing}, c.op) {
		return condition{}, usage("there is no comparison [" + string(c.op) + "]: eq, ne, lt, lte, gt, gte, in, nin, prefix, missing")
	}
	if c.field.Kind == logs.Number && c.op != logs.Missing {
		for _, v := range c.values {
			if _, err := strconv.ParseFloat(v, 64); err != nil {
				return condition{}, usage(name + " is a number")
			}
		}
	}
	return c, nil
}

func matchesAll(r *logs.Record, all []condition) bool {
	return !slices.ContainsFunc(all, func(c condition) bool { return !c.matches(r) })
}

// matches reports whether the condition holds of the record. A field without a
// value is equal to nothing.
func (c *condition) matches(r *logs.Record) bool {
	v, has := c.field.Of(r)
	switch c.op {
	case logs.Missing:
		return (c.values[0] == "true") != has
	case logs.Ne, logs.NotIn:
		return !has || !slices.ContainsFunc(c.values, func(s string) bool { return c.order(v, s) == 0 })
	}
	if !has {
		return false
	}
	first := c.order(v, c.values[0])
	switch c.op {
	case logs.Lt:
		return first < 0
	case logs.Lte:
		return first <= 0
	case logs.Gt:
		return first > 0
	case logs.Gte:
		return first >= 0
	case logs.Prefix:
		return strings.HasPrefix(v.Text, c.values[0])
	}
	return slices.ContainsFunc(c.values, func(s string) bool { return c.order(v, s) == 0 })
}

// order compares a value of the field with a text, which was checked to be one.
func (c *condition) order(v logs.Value, text string) int {
	if c.field.Kind != logs.Number {
		return strings.Compare(v.Text, text)
	}
	f, _ := strconv.ParseFloat(text, 64)
	switch {
	case v.Num < f:
		return -1
	case v.Num > f:
		return 1
	}
	return 0
}

// showRecord writes a record, as JSON or in a line for people.
func (a *app) showRecord(r *logs.Record, asJSON bool) error {
	if asJSON {
		data, err := json.Marshal(r)
		if err != nil {
			return err
		}
		return a.console.Out(string(data) + "\n")
	}
	parts := []string{r.Time.Format("2006-01-02T15:04:05.000Z07:00"), r.ID, r.Operation, r.RequestedModel}
	style := console.Plain
	if r.Tokens != nil {
		parts = append(parts, fmt.Sprintf("%d+%d tokens", r.Tokens.Prompt, r.Tokens.Completion))
	}
	if r.Cost != nil {
		parts = append(parts, "$"+r.Cost.String())
	}
	parts = append(parts, short(time.Duration(r.Duration)))
	if strings.HasPrefix(r.CacheStatus, "Cache Hit") || strings.HasPrefix(r.CacheStatus, "Cache Semantic") {
		parts = append(parts, strings.ToLower(r.CacheStatus))
	}
	if r.Error != nil {
		style = console.Red
		parts = append(parts, r.Error.Code+": "+r.Error.Message)
	}
	return a.console.OutStyled(style, console.Line(strings.Join(parts, "  "))+"\n")
}
