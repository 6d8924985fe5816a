package completions

import (
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/internal/jsonx"
	"github.com/b650d4bf/gateway/internal/testkit"
	"github.com/b650d4bf/gateway/providers"
)

// page is what the table makes.
const page = "../../docs/completions.md"

const head = `# What becomes of a text completion

Generated from the table in [` + "`internal/completions`" + `](../internal/completions); ` + "`go test ./internal/completions -update`" + ` writes it anew.

` + "`POST /v1/completions` and `client.Completions`" + ` speak the schema that is older than chat completions (see [its page](` + Page + `)). Every model can be asked in it: each
prompt is a chat completion with one user message, under the same configs, guards and limits, and observers are told of one call for each. The text of the
answer is that of the message; thoughts are not part of it. A streamed answer has pieces of the same form, those of several prompts in the order they come.

Members that the table does not name are those of a chat completion, such as ` + "`thinking`, `labels` or `response_format`" + `; what becomes of them depends on the model:
see [Gemini](gemini.md), [Claude](claude.md) and the [others](open-models.md).

| member | what becomes of it | in the chat completion | note |
|---|---|---|---|
`

func TestThePageIsUpToDate(t *testing.T) {
	var b strings.Builder
	b.WriteString(head)
	for _, p := range Params() {
		chat := ""
		if p.Chat != "" {
			chat = "`" + strings.ReplaceAll(p.Chat, ", ", "`, `") + "`"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", strings.ReplaceAll(p.Name, ", ", "`, `"), p.Action, chat, p.Note)
	}
	if testkit.Updating() {
		if err := os.WriteFile(page, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(have), b.String()); d != "" {
		t.Errorf("%s is not what the table says (-page +table, -update rewrites it)\n%s", page, d)
	}
}

func TestEveryMemberHasARow(t *testing.T) {
	q := providers.CompletionRequest{
		Model: "m", Prompt: providers.PromptText("a"), Suffix: "s", MaxTokens: new(1), Temperature: new(1.0), TopP: new(1.0), N: new(1), BestOf: new(1),
		Stop: providers.Stop{"x"}, Seed: new(int64(1)), PresencePenalty: new(1.0), FrequencyPenalty: new(1.0), Logprobs: new(1), Echo: true, Stream: true,
		StreamOptions: &providers.StreamOptions{}, User: "u",
	}
	data, err := q.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]int{}
	for _, p := range Params() {
		rows[p.Name]++
	}
	members := 0
	for name := range jsonx.Members(data) {
		members++
		if rows[name] != 1 {
			t.Errorf("%s has %d rows, want 1", name, rows[name])
		}
	}
	if fields := reflect.TypeFor[providers.CompletionRequest]().NumField() - 1; members != fields { // Extra is no member
		t.Errorf("%d members were encoded, and there are %d fields", members, fields)
	}
}
