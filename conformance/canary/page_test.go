package canary_test

import (
	"flag"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the table of docs/secrets.md")

// outlets are the ways out of the process, with what they hold and the test, by its file.
var outlets = []struct{ name, holds, never, test, file string }{
	{"errors in Go: text, `%+v`, `%#v`, JSON, slog, zap, each cause below", "code, member, the platform's own sentence", "credentials; content, unless the platform quotes it", "TestErrorsOfEveryFailure", "errors_test.go"},
	{"errors of callers' hooks", "the hook's name", "credentials, content; the hook's own error is below, for its owner", "TestErrorsOfCallersHooks", "errors_test.go"},
	{"errors over HTTP, response headers", "the same without causes", "credentials; content, unless the platform quotes it", "TestErrorsOfEveryFailure", "errors_test.go"},
	{"errors about credentials and their files", "kind, host, status, code", "keys, tokens, secrets, what an endpoint says", "TestCredentialsOfEveryKind", "auth_test.go"},
	{"errors of Redis, PostgreSQL and proxies", "address, cause", "passwords, content", "TestPasswordsOfStores", "stores_test.go"},
	{"errors of calls through a proxy", "address, cause", "passwords, content", "TestPasswordsOfProxies", "stores_test.go"},
	{"values that are printed: clients, options, handlers, catalogs, entries, stores, logs", "names, places, `[redacted]`", "credentials", "TestValuesThatCallersPrint", "values_test.go"},
	{"`WithLogger`, `logs.ZapSink`, `logs.SlogSink`", "ids, users, metadata, codes", "credentials, content", "TestLogsOfEveryFailure", "logs_test.go"},
	{"records in memory, JSON Lines and SQLite, with the files beside it", "the same, content if `Content` is set", "credentials; content by default", "TestLogsOfEveryFailure", "logs_test.go"},
	{"exports as JSON Lines and CSV", "records without content", "credentials, content", "TestLogsOfEveryFailure", "logs_test.go"},
	{"`/v1/logs`, `/v1/analytics`, `/v1/models`, the dashboard", "records; content of one record if it is kept; texts of stored prompts", "credentials, and anything for a wrong key", "TestWhatTheFrontShows", "logs_test.go"},
	{"spans, their events, metrics", "names, codes, chosen metadata; content in spans if `Content` is set", "credentials; content by default, and in metrics always", "TestTelemetry", "otel_test.go"},
	{"errors of files, batches and context caching", "code, member, the platform's own sentence", "credentials; content, unless the platform quotes it", "TestErrorsOfServices", "services_test.go"},
	{"errors with tokens of every kind", "code, kind", "credentials", "TestErrorsWithTokensOfEveryKind", "tokens_test.go"},
	{"errors of broken catalogs, configs, prompts, requests and credential files", "place, member", "credentials, values next to the fault", "TestErrorsOfBrokenFiles", "broken_test.go"},
	{"output of `gatewayctl`", "what it is asked to show", "credentials", "TestOutputOfGatewayctl", "programs_test.go"},
	{"output and log file of `examples/sidecar`", "ids, codes, the platform's own sentence in the output", "credentials; content, unless the platform quotes it", "TestOutputOfTheSidecar", "programs_test.go"},
	{"the file of the response cache", "answers", "credentials, prompts", "TestFilesOfTheResponseCache", "stores_test.go"},
	{"the same, sealed", "nothing to read", "credentials, content, the sealing key", "TestFilesOfTheResponseCache", "stores_test.go"},
	{"standard output and error, the `log` package", "nothing", "anything", "TestProcessPrintsNothing", "child_test.go"},
	{"crash dumps, `GOTRACEBACK=all` and `system`", "functions, addresses, the panic's own value", "credentials, content", "TestCrashDumps", "child_test.go"},
	{"profiles, labels, `expvar`, execution traces", "functions, what the caller sets", "credentials, content", "TestProfiles", "child_test.go"},
}

// TestPageOfOutlets compares the table of the page with the one above.
func TestPageOfOutlets(t *testing.T) {
	const path, begin, end = "../../docs/secrets.md", "<!-- outlets -->\n", "<!-- outlets end -->"
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	table := "| what comes out | what it holds | what it never holds | test |\n|---|---|---|---|\n"
	for _, o := range outlets {
		source, err := os.ReadFile(o.file)
		if err != nil || !strings.Contains(string(source), "\nfunc "+o.test+"(t *testing.T)") {
			t.Errorf("%s is not in %s: %v", o.test, o.file, err)
		}
		table += "| " + o.name + " | " + o.holds + " | " + o.never + " | [`" + o.test + "`](../conformance/canary/" + o.file + ") |\n"
	}
	before, rest, ok := strings.Cut(string(page), begin)
	_, after, closed := strings.Cut(rest, end)
	if !ok || !closed {
		t.Fatal("the page has no place for the table")
	}
	want := before + begin + table + end + after
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if want != string(page) {
		t.Error("docs/secrets.md is out of date: go -C conformance/canary test -run TestPageOfOutlets -update .")
	}
}
