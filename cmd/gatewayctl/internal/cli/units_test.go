package cli

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway"
	"github.com/b650d4bf/gateway/config"
	"github.com/b650d4bf/gateway/logs"
	"github.com/b650d4bf/gateway/prices"
)

func TestConditions(t *testing.T) {
	cost := prices.Amount(10 * 1e6)
	r := &logs.Record{
		ID: "r1", Model: "gemini-2.5-flash", Stream: true, Cost: &cost, Duration: logs.Milliseconds(2500e6),
		Metadata: map[string]string{"team": "search"}, Tokens: &logs.Tokens{Prompt: 5},
	}
	tests := []struct {
		text  string
		holds bool
	}{
		{"id=r1", true}, {"id=r2", false}, {"id=r2,r1", true}, {"id[eq]=r1", true}, {"id[ne]=r1", false}, {"id[ne]=r2", true},
		{"id[nin]=r1,r2", false}, {"id[nin]=r2", true}, {"model[prefix]=gemini", true}, {"model[prefix]=claude", false},
		{"stream=true", true}, {"stream=false", false}, {"failed=false", true},
		{"duration_ms[gt]=2499.5", true}, {"duration_ms[gt]=2500", false}, {"duration_ms[gte]=2500", true},
		{"duration_ms[lt]=2500", false}, {"duration_ms[lte]=2500", true}, {"cost_usd[gte]=0.01", true}, {"cost_usd[gt]=0.01", false},
		{"prompt_tokens=5", true}, {"prompt_tokens=5.0", true}, {"metadata.team=search", true}, {"metadata.team=ads", false},
		{"metadata.none[missing]=true", true}, {"metadata.team[missing]=true", false}, {"metadata.team[missing]=false", true},
		{"saved_usd[lt]=5", false}, {"saved_usd[ne]=5", true}, {"saved_usd[nin]=5", true}, {"saved_usd=0", false},
	}
	for _, tt := range tests {
		c, err := readCondition(tt.text)
		if err != nil {
			t.Errorf("%s: %v", tt.text, err)
			continue
		}
		if got := c.matches(r); got != tt.holds {
			t.Errorf("%s: %v, want %v", tt.text, got, tt.holds)
		}
	}
	for _, wrong := range []string{"id", "nope=1", "id[about]=1", "duration_ms=long", "=x"} {
		if _, err := readCondition(wrong); err == nil {
			t.Errorf("%s: no error", wrong)
		}
	}
}

func TestKindsOfFiles(t *testing.T) {
	tests := []struct{ text, want string }{
		{`{"providers":{}}`, kindCatalog}, {`{"provider":"@a"}`, kindConfig}, {`{"versions":{}}`, kindPrompt},
		{`{"strategy":{},"targets":[]}`, kindConfig}, {`{"versoins":{}}`, kindPrompt}, {`{"configs":{},"prompts":{}}`, kindCatalog},
		{`{"description":"x","versions":{}}`, kindPrompt}, {"\ufeff{\"retry\":{}}", kindConfig}, {`{"x":1}`, ""}, {`[]`, ""}, {`{`, ""}, {``, ""},
	}
	for _, tt := range tests {
		got, err := kindOf([]byte(tt.text))
		if got != tt.want || (err == nil) != (tt.want != "") {
			t.Errorf("%s: %q, error %v, want %q", tt.text, got, err, tt.want)
		}
	}
}

func TestToolsOfFiles(t *testing.T) {
	tests := []struct {
		text  string
		names string
	}{
		{`{"name":"f"}`, "function/f"},
		{`{"type":"function","function":{"name":"f"}}`, "function/f"},
		{`[{"name":"f"},{"type":"web_search"}]`, "function/f web_search/"},
		{` [ ] `, ""}, {`{}`, "!"}, {`[1]`, "!"}, {`{"name":`, "!"}, {``, "!"},
	}
	for _, tt := range tests {
		tools, err := readTools([]byte(tt.text))
		var got []string
		for i := range tools {
			got = append(got, tools[i].Type+"/"+tools[i].Function.Name)
		}
		if (err != nil) != (tt.names == "!") || err == nil && strings.Join(got, " ") != tt.names {
			t.Errorf("%s: %v, error %v, want %s", tt.text, got, err, tt.names)
		}
	}
}

func TestModelsOfTargets(t *testing.T) {
	tests := []struct{ text, want string }{
		{`{"override_params":{"model":"m"}}`, "m"}, {`{"default_params":{"model":"m"}}`, ""}, {`{"provider":"@a"}`, ""},
	}
	for _, tt := range tests {
		c, err := config.Parse([]byte(tt.text))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := modelOf(&c.Settings); got != tt.want || err != nil {
			t.Errorf("%s: %q, error %v, want %q", tt.text, got, err, tt.want)
		}
	}
}

func TestThinking(t *testing.T) {
	thousand := 1000
	tests := []struct {
		text     string
		thinking *gateway.Thinking
		effort   string
		wrong    bool
	}{
		{"", nil, "", false}, {"1000", &gateway.Thinking{Type: "enabled", BudgetTokens: &thousand}, "", false},
		{"off", &gateway.Thinking{Type: "disabled"}, "", false}, {"auto", &gateway.Thinking{Type: "enabled"}, "", false},
		{"high", nil, "high", false}, {"-1", nil, "", true}, {"much", nil, "", true},
	}
	for _, tt := range tests {
		req := &gateway.ChatCompletionRequest{}
		if err := applyThinking(req, tt.text); (err != nil) != tt.wrong {
			t.Errorf("%s: error %v", tt.text, err)
		}
		if diff := cmp.Diff(tt.thinking, req.Thinking); diff != "" || req.ReasoningEffort != tt.effort {
			t.Errorf("%s: effort %q, %s", tt.text, req.ReasoningEffort, diff)
		}
	}
}

func FuzzTools(f *testing.F) {
	f.Add([]byte(`[{"name":"f"},{"type":"web_search"}]`))
	f.Add([]byte("[\n{"))
	f.Fuzz(func(_ *testing.T, data []byte) {
		_, _ = readTools(data)
		_, _ = kindOf(data)
	})
}

// FuzzRecords checks that what can be read as a record can be judged, and that what
// may be replayed has messages in its request.
func FuzzRecords(f *testing.F) {
	f.Add([]byte(`{"id":"r","operation":"chat","content":{"request":{"model":"m","messages":[]},"response":{"choices":[]}}}`))
	f.Add([]byte(`{"content":{"request":"{\"mo","truncated":true}}`))
	f.Add([]byte(`{}{}`))
	f.Add([]byte("{\"id\":\n{}\n null\n{\"record_id\":\"r\"}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		_, _ = eachRecord(strings.NewReader(string(data)), func(r *logs.Record) error {
			old, err := readRecorded(r)
			if err == nil && len(r.Content.Request) == 0 {
				t.Error("a record without a request is replayed")
			}
			if err == nil {
				_ = transcript(old.answer)
				_ = numbers(old, &turn{answer: &gateway.ChatCompletion{}})
			}
			return nil
		})
	})
}

func FuzzConditions(f *testing.F) {
	f.Add("duration_ms[gte]=5")
	f.Add("metadata.a[b]=c")
	f.Fuzz(func(_ *testing.T, text string) {
		if c, err := readCondition(text); err == nil {
			c.matches(&logs.Record{})
		}
	})
}
