package main

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/internal/testkit"
)

// page is written from the help of the commands.
const page = "../../docs/gatewayctl.md"

const pageHead = `# gatewayctl

The command line of the gateway: try a chat, see what goes on the wire, check catalogs, configs and prompts, count tokens, list models,
replay logged calls. It is a module of its own, and the help below is what the program prints; ` + "`go -C cmd/gatewayctl test . -update`" + ` writes
this page anew.

` + "```sh" + `
go -C cmd/gatewayctl install .       # in a checkout
gatewayctl chat --emulator "Say hello."
gatewayctl explain "Say hello."      # what would be sent, with no credentials
gatewayctl chat                      # a conversation
` + "```" + `

In a conversation a line that begins with / is a command:

| command | what it does |
|---|---|
| ` + "`/reset`" + ` | forgets the conversation, but for the system message |
| ` + "`/model NAME`" + ` | asks another model from now on |
| ` + "`/system TEXT`" + ` | replaces the system message |
| ` + "`/save FILE`" + ` | writes the conversation, signatures included, as a request for ` + "`chat --request`" + ` |
| ` + "`/help`, `/quit`" + ` | tell, and end |

Ctrl-C ends the answer, not the program; Ctrl-D ends the program. The arrow keys edit the line and bring earlier ones back. Where the model calls a
tool of ` + "`--tool`" + `, the conversation asks what it gives.

No output has a token, an API key or the value of a header that is not known to be harmless; an answer's control characters do not reach the
terminal. ` + "`gatewayctl completion bash`" + ` and its like write completions for shells.
`

var commandLine = regexp.MustCompile(`(?m)^  ([a-z]+) `)

// TestPage holds the page against the help of every command.
func TestPage(t *testing.T) {
	dir := t.TempDir()
	help := func(args ...string) string {
		got := run(t, command(t, dir, nil, append(args, "--help")...), "")
		if got.code != 0 || got.err != "" {
			t.Fatalf("%v: %+v", args, got)
		}
		return got.out
	}
	root := help()
	var b strings.Builder
	b.WriteString(pageHead + "\n## gatewayctl\n\n```text\n" + root + "```\n")
	_, list, _ := strings.Cut(root, "Available Commands:\n")
	list, _, _ = strings.Cut(list, "\n\n")
	commands := commandLine.FindAllStringSubmatch(list, -1)
	if len(commands) < 10 {
		t.Fatalf("%d commands in\n%s", len(commands), list)
	}
	for _, m := range commands {
		if m[1] == "help" || m[1] == "completion" {
			continue
		}
		text := help(m[1])
		if !strings.Contains(text, "Examples:\n") {
			t.Errorf("%s has no example", m[1])
		}
		b.WriteString("\n## gatewayctl " + m[1] + "\n\n```text\n" + text + "```\n")
	}
	if testkit.Updating() {
		if err := os.WriteFile(page, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(b.String(), string(got)); diff != "" {
		t.Errorf("%s (-want +got, -update writes it)\n%s", page, diff)
	}
}

// TestCompletions checks that shells are offered models, files and words.
func TestCompletions(t *testing.T) {
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"chat", "--model", "gemini-2.5-f"}, "gemini-2.5-flash\n"}, {[]string{"chat", "--explain="}, "full\n"}, {[]string{"val"}, "validate"},
	} {
		got := run(t, command(t, t.TempDir(), nil, append([]string{"__complete"}, tt.args...)...), "")
		if got.code != 0 || !strings.Contains(got.out, tt.want) {
			t.Errorf("%v: %+v, want %q", tt.args, got, tt.want)
		}
	}
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		if got := run(t, command(t, t.TempDir(), nil, "completion", shell), ""); got.code != 0 || len(got.out) < 1000 {
			t.Errorf("%s: %d bytes, exit code %d", shell, len(got.out), got.code)
		}
	}
}

// TestCommandLinesOfExamples runs the examples of the help that need nothing.
func TestCommandLinesOfExamples(t *testing.T) {
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "gatewayctl ") || strings.ContainsAny(line, "|<>") || strings.Contains(line, "cat.png") || strings.Contains(line, "[flags]") {
			continue
		}
		if !strings.Contains(line, "--emulator") && !strings.HasPrefix(line, `gatewayctl explain "Say`) && !strings.HasPrefix(line, `gatewayctl explain -m`) {
			continue
		}
		line, _, _ = strings.Cut(line, "  #")
		n++
		words := strings.Fields(line)[1:]
		if got := run(t, command(t, t.TempDir(), nil, words...), ""); got.code != 0 {
			t.Errorf("%s: %+v", line, got)
		}
	}
	if n < 4 {
		t.Errorf("%d examples were run", n)
	}
}
