package routing_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/internal/routing"
	"github.com/b650d4bf/gateway/internal/testkit"
	"github.com/b650d4bf/gateway/providers"
)

// page is what the rules make.
const page = "../../docs/routing.md"

const pageHead = `# What happens when

The tables are generated from the rules in [` + "`internal/routing`" + `](../internal/routing/rules.go); ` + "`go test ./internal/routing -update`" + ` writes them anew.
The members of a config have [a page of their own](configs.md).

## After a failure

The first row that fits says what happens. *Retried* is for a target with ` + "`retry`" + `, *next target* for one below a fallback. *Failure of the target* is what
` + "`cb_config`" + ` counts. What a caller does to a request of its own is not the
target's fault: a time-out within a limit of time that the call has shortened does not count, and neither does
anything that becomes of a call with a provider, a region, a project or a base URL of its own, or with another slug in its model.

`

const pageEnd = `
Some of it can be said otherwise:

- ` + "`on_status_codes`" + ` of ` + "`retry`" + ` replaces the second column for rows with a status. Blocked prompts, quotas that are used up and failures without a status stay.
- ` + "`on_status_codes`" + ` of a fallback replaces the third column but for the rows that end the call. An error without a status is found by the one that an HTTP client
  would get: 502 for a broken connection, 504 for a time-out of ours, which 408 finds too, 400 for a mistake that was found here.
- A limit of a target's own (` + "`limits`" + `) that can't be met in time is not retried; the next target is asked.
- Nothing is repeated that may have been answered, and billed, unless the platform refused it. ` + "`Error.Sent`" + ` tells.

## When a retry is made

- After the wait that the platform asks for: ` + "`retry-after-ms`, `retry-after`" + ` in seconds or as a date, or a ` + "`RetryInfo`" + ` in the error, unless ` + "`use_retry_after_header`" + ` is
  false. A wait of more than 60 s ends the tries at the target.
- Else after a random part of 1 s, doubled each time up to 30 s; ` + "`backoff`" + ` sets both.
- Not when the wait would go beyond the limit of the whole call: the error comes at once.
- A call makes %d requests at most over all its targets, and retries are a fifth of the traffic at most, with room for 50 at a time.

## Streams

A stream has begun with its first output: text, a tool call, an image, audio or a finish reason. Up to then, thoughts and all else are held back where the
config has another try to make, so that a failure is mended as that of a whole answer, and nothing is said twice. From then on a failure is the
stream's: a typed error, and no retry and no fallback. ` + "`Error.Partial`" + ` has what had come, unless the config has one try to make and the caller takes the
chunks itself; such a config holds nothing back.

` + "`request_timeout`" + ` bounds a stream up to its first byte, and a whole answer up to its end. The limit of the whole call bounds both up to their end. A stream
holds its place within ` + "`concurrency`" + ` until it has ended or was closed.

## Whose word counts

| of | the first of these that says it |
|---|---|
| the provider | the slug in the model (of ` + "`override_params`" + `, if it names one), the call, the target, the client |
| project and region | the call, the target, the catalog's entry, the client |
| the address | the call, ` + "`custom_host`" + ` of the target, the entry, the client |
| compliance | the call, the target that answers, the client |
| the config | the call's, the client's; the two are never merged |
| time limits | the call's over the client's for the whole call; the shorter of it and ` + "`request_timeout`" + ` for a try |
| request members | ` + "`override_params`, the request, `default_params`" + ` |

Each target gets a translation of its own: the facts of its model, its own warnings, and no signature of another family.

## The trail

` + "`Meta.Attempts` and `Error.Attempts`" + ` have an entry for each request, in order, and for each target that was passed over: its place in the config or its name, where it went, the
status or the code, the number of the retry, how long it waited and took. ` + "`Meta.Retry`, `Meta.Fallback` and `Meta.LoadBalance`" + ` sum it up, in logs as words:

| | words |
|---|---|
| ` + "`retry_status`" + ` | %s |
| ` + "`fallback_status`, `loadbalance_status`" + ` | %s |

A target is passed over when it %s. Over HTTP, ` + "`x-gateway-attempts`" + ` counts the requests and ` + "`x-gateway-target`" + ` names the target that answered.

## Not in this version

The calls about cached contents take no notice of configs.
`

// words are for the columns of the table.
var (
	repeatWords = map[routing.Repeat]string{routing.Never: "no", routing.IfUnsent: "if it was not sent", routing.Always: "yes"}
	nextWords   = map[routing.Next]string{routing.Stop: "no, the call has ended", routing.IfNamed: "if its status is named", routing.Ask: "yes"}
	boolWords   = map[bool]string{true: "yes", false: "no"}
	skipWords   = []struct {
		reason providers.SkipReason
		does   string
	}{
		{providers.SkipCooldown, "cools down"}, {providers.SkipLimit, "is over a limit of its own"},
		{providers.SkipRetryBudget, "would be asked again while too much of the traffic is retries"},
		{providers.SkipMaxAttempts, "would be asked after the call's last request"},
	}
)

func TestThePageIsUpToDate(t *testing.T) {
	var b strings.Builder
	b.WriteString(pageHead)
	b.WriteString("| failure | retried | next target | failure of the target |\n|---|---|---|---|\n")
	for i := range routing.Rules {
		r := &routing.Rules[i]
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", failureWords(r), repeatWords[r.Retry], nextWords[r.Next], boolWords[r.Counts])
	}
	var skips []string
	for _, s := range skipWords {
		skips = append(skips, s.does+" (`"+string(s.reason)+"`)")
	}
	fmt.Fprintf(&b, pageEnd, routing.DefaultMaxAttempts,
		fmt.Sprintf("%s, %s, %s", providers.RetryNotTriggered, strings.Replace(providers.RetryStatus(3).String(), "3", "N", 1), providers.RetryFailed),
		fmt.Sprintf("%s, %s", providers.FeatureDisabled, providers.FeatureActive),
		strings.Join(skips, ", "))
	if testkit.Updating() {
		if err := os.WriteFile(page, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), b.String()); diff != "" {
		t.Errorf("%s is not what the rules say (-page +rules, -update rewrites it)\n%s", page, diff)
	}
}

// failureWords says which failures a rule is for.
func failureWords(r *routing.Rule) string {
	var out string
	switch r.Status {
	case 0:
		out = "any other"
	case routing.None:
		out = "without a status"
	case 4, 5:
		out = fmt.Sprintf("any other status from %d00 to %d99", r.Status, r.Status)
	default:
		out = fmt.Sprintf("status %d", r.Status)
	}
	switch {
	case r.Code == "":
		return out
	case r.Status == 0:
		return "`" + string(r.Code) + "`"
	}
	return "`" + string(r.Code) + "` " + out
}
