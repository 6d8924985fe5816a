package config_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/config"
	"github.com/b650d4bf/gateway/internal/testkit"
)

// page is what the table makes.
const page = "../docs/configs.md"

const pageHead = `# Configs

Generated from the table of members in [` + "`config`" + `](../config); ` + "`go test ./config -update`" + ` writes it anew. Editors can check a config against
[its schema](../config/config.schema.json). [What happens when](routing.md) a target fails is a page of its own.

A config says where a request goes and what happens when that fails. It is a tree of targets: a node without targets is where a request goes, a node with
targets has a strategy. A config without targets is itself the one target, and may hold nothing but settings:

` + "```json" + `
{"cache": {"mode": "simple", "max_age": 3600}}
` + "```" + `

` + "```json" + `
{
  "strategy": {"mode": "fallback", "on_status_codes": [429, 500, 503]},
  "retry": {"attempts": 2},
  "targets": [
    {"provider": "@vertex-eu", "cache": {"mode": "semantic"}},
    {"provider": "@vertex-us", "override_params": {"model": "gemini-2.5-flash"}}
  ]
}
` + "```" + `

Reading is strict: an unknown or repeated member, null, a wrong type and a value that breaks a rule are errors with their path, all of them at once. So are
members that would have no effect, such as a weight below a fallback. A config holds no secrets: credentials live in entries of the catalog.

A config has up to 1 MiB, 256 targets in all, and 8 levels with the config itself.
`

const pageParams = `
## What happens to a request's members

` + "`default_params`" + ` fill in members of the top level that the request lacks; a null counts as given. Then ` + "`drop_params`" + ` take members out, then
` + "`override_params`" + ` put members in place of the request's. Nothing is merged within a member, and what isn't named keeps its bytes and its place.
` + "`max_tokens`" + ` and ` + "`max_completion_tokens`" + ` are names of one setting, and so are ` + "`thinking`, `reasoning_effort`" + ` and ` + "`thinking_config`" + `. An override takes the other names
of its setting out of the request, unless it names them too; a default is left out where the request says the same by another name; and of a setting that
an inner node names, other names of outer nodes don't count. ` + "`drop_params`" + ` take out the very names that they say.
` + "`stream`" + ` can't be named: the caller decides the form of the answer.

## Queries

The keys of a query are fields: ` + "`metadata.KEY`" + `, ` + "`headers.NAME`" + ` in any case, and ` + "`params.NAME`" + ` with dots that lead into objects, such as
` + "`params.thinking.type`" + `. The value of a field is an object of operators, or a value that it equals. All members must hold, operators of one field
included. ` + "`$and` and `$or`" + ` hold lists of queries, up to 8 levels deep; a query has up to 256 tests.

| operator | operand | holds when the value is |
|---|---|---|
| ` + "`$eq`" + `, a bare value | string | a string of the same text |
| | number | a number, or text of metadata or a header written as one, that is equal as a double |
| | boolean | that boolean, or its word as text of metadata or a header |
| | null | a null in the request |
| ` + "`$ne`" + ` | the same | there and not so, or missing |
| ` + "`$in`" + ` | a list of these | equal to one of them |
| ` + "`$nin`" + ` | a list of these | equal to none of them, or missing |
| ` + "`$gt` `$gte` `$lt` `$lte`" + ` | number | a number as for ` + "`$eq`" + `, and so ordered |
| ` + "`$regex`" + ` | a pattern of [RE2](https://github.com/google/re2/wiki/Syntax), up to 512 bytes, and 4 KiB of them in a config | a string with a match anywhere |

Metadata and headers are text, and members of the request have the types of JSON: metadata of ` + "`\"5\"`" + ` equals 5, a member of ` + "`\"5\"`" + ` does not. Lists and
objects equal nothing and match nothing. Fields are looked up in the request as it came, before a config changes it. Headers that hold credentials can't be
asked for.

The request is seen in its OpenAI form, whatever schema the client spoke: a chat in Anthropic's schema, a text completion and a stored prompt are seen as the
chat completion that they were turned into, and embeddings, images, speech and the rest with the members that ` + "`/v1`" + ` has for them. Only a request in Google's
own schema, which goes on as it is, is seen as it is, with its ` + "`model`" + `. ` + "`params.stream`" + ` is true for each streamed chat, that of ` + "`CreateStream`" + ` too, and missing
otherwise.
`

// pageObjects are the sections of the page, in order.
var pageObjects = []struct{ object, title, text string }{
	{"target", "Targets", "A config has the same members but `name` and `weight`."},
	{"strategy", "strategy", ""},
	{"condition", "conditions of a strategy", ""},
	{"sticky", "sticky of a strategy", "The choice is a function of the fields' values and the targets' weights: nothing is remembered, and every process makes the same one."},
	{"cache", "cache", "A target's own cache goes before that of the nodes above. A refresh is asked for by request."},
	{"retry", "retry", ""},
	{"backoff", "backoff of retry", ""},
	{"limits", "limits", ""},
	{"cb_config", "cb_config", ""},
	{"hedge", "hedge", ""},
	{"guard", "guards", ""},
}

func TestThePageIsUpToDate(t *testing.T) {
	var b strings.Builder
	b.WriteString(pageHead)
	all := objects()
	for _, o := range pageObjects {
		b.WriteString("\n## " + o.title + "\n\n")
		if o.text != "" {
			b.WriteString(o.text + "\n\n")
		}
		writeMembers(&b, all[o.object])
		delete(all, o.object)
	}
	if len(all) > 0 {
		t.Errorf("objects without a section: %q", sortedKeys(all))
	}
	b.WriteString(pageParams)
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
	if diff := gocmp.Diff(string(want), b.String()); diff != "" {
		t.Errorf("%s is not what the table says (-page +table, -update rewrites it)\n%s", page, diff)
	}
}

func writeMembers(b *strings.Builder, members []config.Member) {
	inherits := members[0].Inherited != ""
	b.WriteString("| member | type | unit | default |")
	if inherits {
		b.WriteString(" inheritance |")
	}
	b.WriteString(" what it does |\n|---|---|---|---|")
	if inherits {
		b.WriteString("---|")
	}
	b.WriteString("---|\n")
	for _, m := range members {
		names := "`" + strings.Join(append([]string{m.Name}, m.Aliases...), "`, `") + "`"
		def := m.Default
		if m.Required {
			def = "**required**"
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s |", names, typeWords(m), m.Unit, def)
		if inherits {
			fmt.Fprintf(b, " %s |", m.Inherited)
		}
		fmt.Fprintf(b, " %s |\n", m.Does)
	}
}

// typeWords is the type with what bounds it.
func typeWords(m config.Member) string {
	bounds := fmt.Sprintf("%s to %s", plain(m.Min), plain(m.Max))
	switch {
	case m.Values != nil:
		return "`" + strings.Join(m.Values, "`, `") + "`"
	case m.Above:
		return fmt.Sprintf("number above %s, up to %s", plain(m.Min), plain(m.Max))
	case m.Type == "integer" || m.Type == "number":
		return m.Type + ", " + bounds
	case m.Of == "integer":
		return "list of integers, " + bounds
	case m.Of == "string":
		return "list of strings"
	case m.Type == "array":
		return "list of " + m.Of + "s"
	case m.Type == "object" && m.Of != "":
		return "object"
	case m.Type == "object":
		return "object of any members"
	}
	return m.Type
}

func plain(f float64) string { return fmt.Sprintf("%.0f", f) }
