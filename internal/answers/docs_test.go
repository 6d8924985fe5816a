package answers

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/internal/testkit"
)

const page = "../../docs/cache.md"

// ruleTests is where the tests are that the page names.
const ruleTests = "../../responsecache_rules_test.go"

const pageHead = `# The response cache

Written by ` + "`go test ./internal/answers -update`" + ` from the tables in [` + "`internal/answers`" + `](../internal/answers).

An answer is kept, and given again to a request that is the same in all that an answer depends on. Switch it on with ` + "`WithCache`" + ` for a client or a call,
or with the member ` + "`cache`" + ` of a [config](configs.md); a target's setting wins over the config's, that one over the client's, and a call's over all.

` + "```go" + `
client, err := gateway.New(gateway.WithProjectID("my-project"), gateway.WithRegion("global"),
	gateway.WithCache(gateway.Cache{Mode: gateway.CacheSimple, MaxAge: time.Hour}))
` + "```" + `

It has nothing to do with the platform's context caching (` + "`client.Caches`" + `): there the model is asked all the same, and the prompt is cheaper.

Chat completions in every schema, whole and streamed, those with stored prompts, embeddings, images and reranking are kept; token counts and speech are not. A whole
answer and a stream are one entry: a hit is given in the form that is asked for, a stream in pieces of a few words.

## Rules

Each has a test of that name in [` + "`responsecache_rules_test.go`" + `](../responsecache_rules_test.go), driven through a client, and for headers over HTTP.

| rule | test |
|---|---|
`

// rules are those of the cache, with the tests that show them.
var rules = [][2]string{
	{"The status is `disabled` where the cache is not used: no setting, `debug` false, or a request that is kept out.", "TestCacheRule_3_1_DisabledWhereItIsNotUsed"},
	{"The same request within the lifetime is answered without the model: `hit`.", "TestCacheRule_3_2_TheSameRequestIsAnsweredWithoutTheModel"},
	{"In the semantic mode a request that means the same is answered too: `semantic-hit`. An exact hit comes first and needs no embedding.", "TestCacheRule_3_3_SemanticModeAnswersWhatMeansTheSame"},
	{"A forced refresh replaces the entry, and in the semantic mode all that mean the same: `refreshed`.", "TestCacheRule_3_4_RefreshAppliesToAllSemanticMatches"},
	{"A refresh without a cache has no effect and is no error.", "TestCacheRule_7_3_RefreshWithoutACacheHasNoEffect"},
	{"`max_age` is 60 to 7 776 000 seconds, by default 604 800; anything else is an error when the config is loaded. No answer is given once its time is over, nor one that is older than the call's own `max_age`.", "TestCacheRule_8_1_Lifetime"},
	{"The organization's value (`WithOrganizationTTL`, at most 25 923 000 seconds) is the default and the most.", "TestCacheRule_8_2_OrganizationTTL"},
	{"Texts are compared by meaning below 8 191 tokens, and below what the embedding model takes, which is 2 048 by default.", "TestCacheRule_8_3_1_FewerThan8191Tokens"},
	{"Requests of at most four messages are compared by meaning.", "TestCacheRule_8_3_2_AtMostFourMessages"},
	{"At least two messages are needed, and the text of the first does not count, unless `WithStrictContext` says so.", "TestCacheRule_8_3_3_AtLeastTwoMessagesOfWhichTheFirstDoesNotCount"},
	{"Both modes are there for everybody.", "TestCacheRule_8_4_1_BothModesAreAvailable"},
	{"The simple mode matches verbatim, on all models, those for images included; embeddings are matched verbatim in both modes.", "TestCacheRule_8_4_2_SimpleModeMatchesVerbatimOnAllModels"},
	{"`x-gateway-debug: false` keeps a call out.", "TestCacheRule_8_4_3_DebugFalseKeepsACallOut"},
	{"Metadata, compliance, beta features, forwarded headers and the config's id part the cache; a namespace takes their place.", "TestCacheRule_8_4_4_PartitionedAlongTheHeaders"},
	{"API keys and tokens that HTTP clients bring never share answers, whatever the namespace.", "TestCacheRule_8_4_4_KeysAndTokensOfHTTPClientsNeverShare"},
	{"A target's setting wins over the top level's; hits begin with the second request for that target.", "TestCacheRule_8_4_5_TargetOverTopLevel"},
	{"A target with `override_params` hits for that combination.", "TestCacheRule_8_4_6_ATargetWithOverrideParamsHitsForThatCombination"},
	{"A refresh is for a single request, never in a config; one that fails leaves the old answer.", "TestCacheRule_8_4_7_RefreshIsForASingleRequest"},
}

const pageKept = `
## What is kept

Whole answers alone: each choice ended with ` + "`stop` or `tool_calls`" + `, the stream ended cleanly and was read to its end, no guard denied it. Errors, blocked prompts,
answers that were cut, cancelled or filtered are never kept, nor those whose reason to end the schema has no word for (the platform's own is in ` + "`NativeFinishReason`" + `).
An answer that was asked for before a refresh or a deletion in the same process, and comes after it, is not kept either. Who deletes an answer by its key deletes the copies
of it that semantic hits left too. A stream of more than 64 MiB goes on, and is not kept. ` + "`WithCacheRules`" + ` changes the rest:

| by default | ` + "`CacheRules`" + ` |
|---|---|
| answers cut by the length limit are not kept | ` + "`Truncated`" + ` keeps them |
| requests with tools that the platform runs (web_search, url_context, code_execution, …), and answers that rest on sources, are kept out | ` + "`PlatformTools`" + ` |
| requests with state at the provider (` + "`store`, `previous_response_id`" + `, …) are kept out | ` + "`Stateful`" + ` |
| media by URL is taken for the same as long as its URL is | ` + "`RemoteMediaOff`" + ` keeps such requests out |
| any temperature | ` + "`MaxTemperature`" + ` keeps requests above it, and those with none, out |
| an answer of up to 16 MiB | ` + "`MaxBytes`" + ` |

Guards judge hits as they judge answers of a model: what is kept is what the model said.

Calls that miss with the same key at the same time share one request. It belongs to none of them, and ends when all have left; those who joined have the status
` + "`miss`" + `, ` + "`Meta.Cache.Shared`" + ` and no attempts. The time limits are those of the call that began it; whoever has more time asks again. Streams are shared from their first chunk on, apart
from whole answers. A refresh shares with nobody. ` + "`WithCacheCoalescing(false)`" + ` switches it off. Processes that share a store with locks wait for each other's whole answers, for
up to 10 seconds.

A hit makes no request: it has no attempts, takes no place within limits, and is there while its target cools down. Its usage is that of the answer when it was made.

A store that fails or is slow (250 ms to read, 1 s to write, after 5 faults in a row left alone for 15 s) makes a miss, with ` + "`Meta.Cache.Err`" + `, a ` + "`cache_error`" + ` in the log and a count
in ` + "`client.ResponseCache.Stats()`" + `. An embedding that fails, or takes longer than 2 s, is a miss too, and the answer is kept by its key alone.

## Meaning the same

The texts of all messages but the first are embedded, once for a call, by the model of ` + "`WithCacheEmbedding`" + `. An entry answers when its cosine similarity is at least the threshold (0.95),
[the words of the two texts do not contradict](semantic-cache-quality.md), and everything else is the same: model, parameters, tools, media, roles, partition, target, and how texts are
embedded. Conversations with tool calls are not compared, and answers that call tools are found by their key alone. The answer is then kept by the request's own key too; such a copy lives as
long as the original and is never found by meaning itself.

## Why did it miss?

` + "`client.ResponseCache.Inspect`" + ` says what the cache would do for a request: the key, the nearest entry and the parts that differ, the entries that mean about the same and why each does not answer.

## Stores

Without a store of its own a client has one in memory, of 64 MiB. ` + "`" + `WithCacheStore` + "`" + ` takes any [` + "`" + `cache.Store` + "`" + `](../cache), which [a suite](../cache/cachetest) holds to the contract:

| store | for | searches by meaning |
|---|---|---|
| [` + "`" + `cache.NewMemory` + "`" + `](../cache) | one process; bounded in bytes, reads what was just written | exact, in microseconds |
| [` + "`" + `cache/sqlite` + "`" + `](../cache/sqlite) | the processes of one machine; survives restarts and kills | exact |
| [` + "`" + `cache/redis` + "`" + `](../cache/redis) | processes that share a Redis or Valkey | vector sets of Redis 8; a bounded scan without |
| [` + "`" + `cache/postgres` + "`" + `](../cache/postgres) | processes that share a PostgreSQL | pgvector; a bounded scan without |

` + "`" + `cache.NewTiered` + "`" + ` puts one in memory in front of a shared one, and drops there what another process replaced or deleted. ` + "`" + `cache.NewSealed` + "`" + ` encrypts what a store keeps.
The last three are modules of their own, and are tested against real servers and files that are killed, slow and damaged.

## The key

SHA-256 over the parts, in this order. No access token, trace id, time limit or retry setting is in it. Maps are hashed in the order of their names and JSON without white space; the order of members within
schemas counts, since answers follow it. The version of keys is %d; [golden keys](../internal/answers/testdata/keys.txt) see to it that they are the same in every process and release.

| part | what is in it |
|---|---|
| operation | the version of keys, and what is asked |
| target | provider, slug, project, region, base URL, universe domain, API version |
| model | the target's model, without the slug |
| partition | who the HTTP client is, by a digest of its API key and its token; the namespace, or else: the call's own access token, metadata, the config's id, strict compliance, headers that are sent along |
`

const pageCosts = `
## What it costs

One run each, 21 November 2026, Go 1.26.8, 2 shared cores; compare the figures of a table, since absolute ones move with the machine. A test sees to it that a hit takes
five allocations at most, and a call without a cache none more than before.

` + "`go test -run '^$' -bench 'CacheHit|CacheMiss|Chat$' -cpu 1 .`" + `, answers and model in memory:

| | time | allocations |
|---|---|---|
| hit, small request | 2.8 µs | 4 |
| hit, 40 messages with 64 KB | 59 µs, most of it the hash of the key | 4 |
| hit, answer of 64 KB | 3.5 µs | 6 |
| small call that misses; without a cache | 26 µs; 9.6 µs | 58; 31 |
| a bare net/http request that is answered from memory | 2.5 µs | 22 |

` + "`GATEWAY_BENCH_MILLION=1 go -C bench test -run '^$' -bench Search -cpu 1 -benchtime 300ms .`" + `, look-ups by meaning, 768 dimensions in clusters, threshold 0.95, all matches found:

| entries | in 1 partition | in 8 | in 1000 | chromem-go v0.7.0 | coder/hnsw v0.6.1 (may miss) |
|---|---|---|---|---|---|
| 1,000 | 104 µs | 14 µs | 1.0 µs | 698 µs | 33 µs |
| 10,000 | 37 µs | 169 µs | 2.0 µs | 8.6 ms | 55 µs |
| 100,000 | 0.62 ms | 67 µs | 26 µs | 148 ms | |
| 1,000,000 | 11.5 ms | 1.3 ms | 0.26 ms | | |

From about 3100 entries a partition has sketches of its vectors, of which a look-up reads 72 bytes each; below, it reads the vectors themselves.

` + "`go test -run '^$' -bench Memory ./cache`" + `: the store in memory finds an entry in 0.25 µs, without an allocation. An entry takes 382 bytes beside its body, and with
a vector 583 beside body and vector.
`

func TestThePageIsUpToDate(t *testing.T) {
	source, err := os.ReadFile(ruleTests)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	b.WriteString(pageHead)
	for _, r := range rules {
		if !strings.Contains(string(source), "func "+r[1]+"(") {
			t.Errorf("there is no test %s", r[1])
		}
		fmt.Fprintf(&b, "| %s | `%s` |\n", r[0], r[1])
	}
	if n := strings.Count(string(source), "\nfunc TestCacheRule_"); n != len(rules) {
		t.Errorf("the page has %d of %d tests", len(rules), n)
	}
	fmt.Fprintf(&b, pageKept, Version)
	parts, left := map[string][]string{}, []string{}
	var names []string
	for _, m := range Members() {
		name := "`" + m.Type + "." + m.Field + "`"
		if m.Part == "" {
			left = append(left, "| "+name+" | "+m.Why+" |")
			continue
		}
		if parts[m.Part] == nil {
			names = append(names, m.Part)
		}
		parts[m.Part] = append(parts[m.Part], name)
	}
	for _, part := range names {
		slices.Sort(parts[part])
		fmt.Fprintf(&b, "| %s | %s |\n", part, strings.Join(parts[part], ", "))
	}
	b.WriteString("\nLeft out:\n\n| member | why |\n|---|---|\n" + strings.Join(left, "\n") + "\n")
	b.WriteString(pageCosts)
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
		t.Errorf("run it with -update (-want +got)\n%s", d)
	}
}
