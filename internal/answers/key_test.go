package answers

import (
	"encoding/json"
	"net/http"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/cache"
	"github.com/b650d4bf/gateway/internal/testkit"
	"github.com/b650d4bf/gateway/providers"
)

func scope() *Scope {
	return &Scope{
		Operation: "chat",
		Target:    &providers.Target{Provider: "vertex-ai", ProjectID: "p", Region: "global", Model: "gemini-2.5-flash"},
		Strict:    true,
	}
}

func hello() *providers.ChatCompletionRequest {
	return &providers.ChatCompletionRequest{Messages: []providers.Message{providers.SystemMessage("Be brief."), providers.UserMessage("hello")}}
}

func chatKey(q *providers.ChatCompletionRequest) cache.Key { return Key(scope(), q, WriteChat) }

// TestEveryMemberIsInTheKeyOrLeftOut sets each member of the requests, however
// deep, and sees to it that the key changes just when the table says so.
func TestEveryMemberIsInTheKeyOrLeftOut(t *testing.T) {
	rows := map[string]Member{}
	for _, m := range Members() {
		rows[m.Type+"."+m.Field] = m
	}
	used := map[string]bool{}
	check := func(root reflect.Value, key func() cache.Key) {
		vary(t, root, func(name string, set func() (undo func())) {
			m, ok := rows[name]
			if !ok {
				t.Errorf("%s is neither in the key nor left out: add a row to Members, and the writing to key_chat.go", name)
				return
			}
			used[name] = true
			before := key()
			undo := set()
			after := key()
			undo()
			if changed := before != after; changed != (m.Part != "") {
				t.Errorf("%s changes the key: %v; its row says part %q", name, changed, m.Part)
			}
			if key() != before {
				t.Errorf("%s: the test did not restore it", name)
			}
		})
	}
	q := full[providers.ChatCompletionRequest](t)
	check(reflect.ValueOf(q).Elem(), func() cache.Key { return chatKey(q) })
	e := full[providers.EmbeddingRequest](t)
	check(reflect.ValueOf(e).Elem(), func() cache.Key { return Key(scope(), e, WriteEmbedding) })
	for name := range rows {
		if !used[name] {
			t.Errorf("%s has a row and is no member", name)
		}
	}
}

// TestPartsAreThoseOfTheTable sees to it that a member changes the part that its
// row says, and no other.
func TestPartsAreThoseOfTheTable(t *testing.T) {
	rows := map[string]Member{}
	for _, m := range Members() {
		rows[m.Type+"."+m.Field] = m
	}
	q := full[providers.ChatCompletionRequest](t)
	before := Parts(scope(), q, WriteChat)
	vary(t, reflect.ValueOf(q).Elem(), func(name string, set func() func()) {
		undo := set()
		defer undo()
		var differs []string
		for i, p := range Parts(scope(), q, WriteChat) {
			if p != before[i] {
				differs = append(differs, p.Name)
			}
		}
		if got := strings.Join(differs, ","); got != rows[name].Part {
			t.Errorf("%s changes the parts %q, its row says %q", name, got, rows[name].Part)
		}
	})
}

func TestScopeIsInTheKey(t *testing.T) {
	edits := map[string]func(*Scope){
		"operation":        func(s *Scope) { s.Operation = "x" },
		"provider":         func(s *Scope) { s.Target.Provider = "x" },
		"slug":             func(s *Scope) { s.Target.Slug = "x" },
		"model":            func(s *Scope) { s.Target.Model = "x" },
		"region":           func(s *Scope) { s.Target.Region = "x" },
		"project":          func(s *Scope) { s.Target.ProjectID = "x" },
		"base URL":         func(s *Scope) { s.Target.BaseURL = "x" },
		"universe":         func(s *Scope) { s.Target.UniverseDomain = "x" },
		"API version":      func(s *Scope) { s.Target.APIVersion = "x" },
		"visitor":          func(s *Scope) { s.Visitor = "x" },
		"namespace":        func(s *Scope) { s.Namespace = "x" },
		"token":            func(s *Scope) { s.Token = "x" },
		"metadata":         func(s *Scope) { s.Metadata = map[string]string{"x": "y"} },
		"metadata's value": func(s *Scope) { s.Metadata = map[string]string{"x": "z"} },
		"config":           func(s *Scope) { s.ConfigID = "x" },
		"strict":           func(s *Scope) { s.Strict = false },
		"header":           func(s *Scope) { s.Target.Header = http.Header{"X": {"y"}} },
		"header's values":  func(s *Scope) { s.Target.Header = http.Header{"X": {"y", "y"}} },
	}
	seen := map[cache.Key]string{chatKey(hello()): "the request itself"}
	for name, edit := range edits {
		s := scope()
		edit(s)
		k := Key(s, hello(), WriteChat)
		if other, ok := seen[k]; ok {
			t.Errorf("%s has the key of %s", name, other)
		}
		seen[k] = name
	}
	same := map[string]func(*Scope){
		"labels":   func(s *Scope) { s.Target.Labels = map[string]string{"a": "b"} },
		"timeouts": func(s *Scope) { s.Target.Timeouts.Total = 1 },
		"trace":    func(s *Scope) { s.Target.Header = http.Header{"Traceparent": {"00"}, "X-B3-Spanid": {"1"}} },
	}
	for name, edit := range same {
		s := scope()
		if edit(s); Key(s, hello(), WriteChat) != chatKey(hello()) {
			t.Errorf("%s changes the key", name)
		}
	}
	t.Run("a namespace does away with the rest of the partition, and not with the visitor", func(t *testing.T) {
		named := func(edit func(*Scope)) cache.Key {
			s := scope()
			s.Namespace = "n"
			edit(s)
			return Key(s, hello(), WriteChat)
		}
		for _, name := range []string{"token", "metadata", "config", "strict", "header"} {
			if named(edits[name]) != named(func(*Scope) {}) {
				t.Errorf("%s changes the key", name)
			}
		}
		if named(edits["visitor"]) == named(func(*Scope) {}) || named(edits["model"]) == named(func(*Scope) {}) {
			t.Error("the visitor, or the model, does not change the key")
		}
	})
}

func TestKeysDoNotDependOnHowARequestIsWritten(t *testing.T) {
	decode := func(text string) *providers.ChatCompletionRequest {
		q := new(providers.ChatCompletionRequest)
		if err := json.Unmarshal([]byte(text), q); err != nil {
			t.Fatal(err)
		}
		return q
	}
	one := decode(`{"messages":[{"role":"user","content":"hi"}],"temperature":1,"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object","properties":{"a":{},"b":{}}}}}],"stop":["x"]}`)
	two := decode(`{ "stop": "x", "temperature": 1.0,
		"tools": [ { "function": { "parameters": { "type": "object", "properties": { "a": {}, "b": {} } }, "name": "f" }, "type": "function" } ],
		"messages": [ { "content": "hi", "role": "user" } ], "stream": true, "stream_options": {"include_usage": true} }`)
	if chatKey(one) != chatKey(two) {
		t.Error("the keys differ")
	}
	other := decode(`{"messages":[{"role":"user","content":"hi"}],"temperature":1,"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object","properties":{"b":{},"a":{}}}}}],"stop":["x"]}`)
	if chatKey(one) == chatKey(other) {
		t.Error("the order within a schema does not count")
	}
	for range 1000 {
		s := scope()
		s.Metadata = map[string]string{"a": "1", "b": "2", "c": "3", "d": "4"}
		again := scope()
		again.Metadata = map[string]string{"d": "4", "c": "3", "b": "2", "a": "1"}
		if Key(s, one, WriteChat) != Key(again, one, WriteChat) {
			t.Fatal("the order of a map counts")
		}
	}
}

// TestNoTwoRequestsAreWrittenAlike has pairs that a careless writing would mix up.
func TestNoTwoRequestsAreWrittenAlike(t *testing.T) {
	list := []*providers.ChatCompletionRequest{
		{Messages: []providers.Message{{Role: "user", Content: providers.TextContent("ab")}}},
		{Messages: []providers.Message{{Role: "user", Content: providers.TextContent("a")}, {Role: "user", Content: providers.TextContent("b")}}},
		{Messages: []providers.Message{{Role: "user", Content: providers.PartsContent(providers.TextPart("ab"))}}},
		{Messages: []providers.Message{{Role: "user", Content: providers.PartsContent(providers.TextPart("a"), providers.TextPart("b"))}}},
		{Messages: []providers.Message{{Role: "user", Content: providers.TextContent("")}}},
		{Messages: []providers.Message{{Role: "user"}}},
		{Messages: []providers.Message{{Role: "user", Content: providers.PartsContent(providers.ContentPart{ImageURL: &providers.ImageURL{MimeType: "x"}})}}},
		{Messages: []providers.Message{{Role: "user", Content: providers.PartsContent(providers.ContentPart{File: &providers.File{MimeType: "x"}})}}},
		{Stop: []string{"a", "b"}}, {Stop: []string{"ab"}}, {Modalities: []string{"a", "b"}},
		{MaxTokens: new(1)}, {MaxCompletionTokens: new(1)}, {Seed: new(int64(1))}, {N: new(1)}, {TopK: new(1)},
		{Temperature: new(0.0)}, {TopP: new(0.0)}, {}, {Logprobs: new(false)}, {Logprobs: new(true)}, {ParallelToolCalls: new(true)},
		{ToolChoice: &providers.ToolChoice{Mode: "auto"}}, {ResponseFormat: &providers.ResponseFormat{Type: "auto"}},
		{Extra: providers.Extra(`{"a":"b"}`)}, {Extra: providers.Extra(`{"a":"b "}`)},
		{Tools: []providers.Tool{{Type: "function", Function: providers.FunctionDefinition{Name: "a"}}}},
		{Tools: []providers.Tool{{Type: "function", Function: providers.FunctionDefinition{Description: "a"}}}},
	}
	seen := map[cache.Key]int{}
	for i, q := range list {
		k := chatKey(q)
		if j, ok := seen[k]; ok {
			t.Errorf("requests %d and %d have one key", i, j)
		}
		seen[k] = i
	}
}

// TestKeysAreGolden sees to it that keys are the same in every process and release.
// When it fails, raise Version.
func TestKeysAreGolden(t *testing.T) {
	got := strings.Join([]string{
		"hello " + chatKey(hello()).String(),
		"full chat " + chatKey(full[providers.ChatCompletionRequest](t)).String(),
		"full embedding " + Key(scope(), full[providers.EmbeddingRequest](t), WriteEmbedding).String(),
		"group " + Group(scope(), hello(), false, "space").String(),
		"",
	}, "\n")
	const path = "testdata/keys.txt"
	if testkit.Updating() {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Errorf("the keys have changed: raise Version (-want +got)\n%s", d)
	}
}

func TestGroupLeavesTheComparedTextsOut(t *testing.T) {
	group := func(strict bool, edit func(*providers.ChatCompletionRequest)) cache.Key {
		q := hello()
		edit(q)
		return Group(scope(), q, strict, "space")
	}
	same := func(*providers.ChatCompletionRequest) {}
	question := func(q *providers.ChatCompletionRequest) { q.Messages[1] = providers.UserMessage("other") }
	system := func(q *providers.ChatCompletionRequest) { q.Messages[0] = providers.SystemMessage("other") }
	role := func(q *providers.ChatCompletionRequest) { q.Messages[0].Role = "user" }
	media := func(q *providers.ChatCompletionRequest) {
		q.Messages[1] = providers.UserMessage([]providers.ContentPart{providers.TextPart("hello"), providers.ImagePart("gs://a/b.png")})
	}
	heat := func(q *providers.ChatCompletionRequest) { q.Temperature = new(1.0) }
	for name, tt := range map[string]struct {
		edit         func(*providers.ChatCompletionRequest)
		same, strict bool
	}{
		"the question": {question, true, true}, "the system message": {system, true, false}, "a role": {role, false, false},
		"an image": {media, false, false}, "a parameter": {heat, false, false},
	} {
		if got := group(false, tt.edit) == group(false, same); got != tt.same {
			t.Errorf("%s: same group %v", name, got)
		}
		if got := group(true, tt.edit) == group(true, same); got != tt.strict {
			t.Errorf("%s, strict context: same group %v", name, got)
		}
	}
	if Group(scope(), hello(), false, "a") == Group(scope(), hello(), false, "b") {
		t.Error("vectors of two spaces share a group")
	}
}

func TestKeyDoesNotAllocate(t *testing.T) {
	if raceEnabled {
		t.Skip("the pool is not reliable under the race detector")
	}
	s, q := scope(), hello()
	if n := testing.AllocsPerRun(100, func() { Key(s, q, WriteChat) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestClonesShareNothing(t *testing.T) {
	q := full[providers.ChatCompletionRequest](t)
	own := CloneChat(q)
	if d := cmp.Diff(q, own); d != "" {
		t.Fatal(d)
	}
	before := chatKey(own)
	vary(t, reflect.ValueOf(q).Elem(), func(name string, set func() func()) {
		undo := set()
		if chatKey(own) != before {
			t.Errorf("%s is shared", name)
		}
		undo()
	})
	e := full[providers.EmbeddingRequest](t)
	other := CloneEmbedding(e)
	if d := cmp.Diff(e, other); d != "" {
		t.Fatal(d)
	}
	was := Key(scope(), other, WriteEmbedding)
	vary(t, reflect.ValueOf(e).Elem(), func(name string, set func() func()) {
		undo := set()
		if Key(scope(), other, WriteEmbedding) != was {
			t.Errorf("%s is shared", name)
		}
		undo()
	})
}

func BenchmarkKey(b *testing.B) {
	s := scope()
	long := hello()
	for range 40 {
		long.Messages = append(long.Messages, providers.UserMessage(strings.Repeat("some words ", 150)))
	}
	for name, q := range map[string]*providers.ChatCompletionRequest{"small": hello(), "64KB": long} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Key(s, q, WriteChat)
			}
		})
	}
}

// TestJSONHasAllOfTheOtherRequests sees to it that the JSON by which images and
// documents are kept has every member.
func TestJSONHasAllOfTheOtherRequests(t *testing.T) {
	images := full[providers.ImageRequest](t)
	checkJSON(t, images, func() cache.Key { return Key(scope(), images, WriteJSON((*providers.ImageRequest).MarshalJSON)) })
	rerank := full[providers.RerankRequest](t)
	checkJSON(t, rerank, func() cache.Key { return Key(scope(), rerank, WriteJSON((*providers.RerankRequest).MarshalJSON)) })
}

func checkJSON[T any](t *testing.T, q *T, key func() cache.Key) {
	t.Helper()
	vary(t, reflect.ValueOf(q).Elem(), func(name string, set func() func()) {
		before := key()
		undo := set()
		after := key()
		undo()
		_, field, _ := strings.Cut(name, ".")
		if out := slices.Contains([]string{"Model", "User", "Labels", "Metadata", "Stream"}, field); (before == after) != out {
			t.Errorf("%s changes the key: %v", name, before != after)
		}
	})
}
