package vertextest

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

// executableCode is code the model wrote and had run.
type executableCode struct {
	Language string `json:"language"`
	Code     string `json:"code"`
	ID       string `json:"id,omitempty"`
}

// codeResult is what the code printed.
type codeResult struct {
	Outcome string `json:"outcome"`
	Output  string `json:"output"`
	ID      string `json:"id,omitempty"`
}

// runCode returns the parts of a run of code that adds up the numbers of the
// user's text, and the tokens it fed back. There are none without the tool,
// without numbers and after a function response.
func (x *exchange) runCode() ([]part, int, error) {
	if _, ok := x.req.tool("codeExecution"); !ok || !x.endsInUserText() {
		return nil, 0, nil
	}
	said, _ := x.lastUserText()
	numbers := readWords(said).numbers
	if len(numbers) == 0 {
		return nil, 0, nil
	}
	var id string
	if x.rules.callIDs {
		id = callID(x.body, -1)
	}
	sum := 0.0
	terms := make([]string, 0, len(numbers))
	for _, n := range numbers {
		sum += n
		terms = append(terms, decimal(n))
	}
	code, err := json.Marshal(executableCode{Language: "PYTHON", Code: "print(sum([" + strings.Join(terms, ", ") + "]))\n", ID: id})
	if err != nil {
		return nil, 0, err
	}
	result, err := json.Marshal(codeResult{Outcome: "OUTCOME_OK", Output: decimal(sum) + "\n", ID: id})
	if err != nil {
		return nil, 0, err
	}
	parts := []part{{ExecutableCode: code}, {CodeExecutionResult: result}}
	if x.rules.signatures {
		parts[0].ThoughtSignature = x.signPart()
	}
	return parts, tokens(len(code) + len(result)), nil
}

func decimal(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// useComputer returns the predefined call a computer use model starts with; ok
// is false without the tool. It goes to the address the text names.
func (x *exchange) useComputer() (call plannedCall, ok bool) {
	raw, ok := x.req.tool("computerUse")
	if !ok || !x.endsInUserText() {
		return plannedCall{}, false
	}
	var options struct {
		Excluded []string `json:"excludedPredefinedFunctions"`
	}
	_ = json.Unmarshal(raw, &options) // the schema has been checked
	said, _ := x.lastUserText()
	calls := []plannedCall{
		{"navigate", map[string]any{"url": webAddress.FindString(said)}},
		{"open_web_browser", map[string]any{}},
		{"wait_5_seconds", map[string]any{}},
	}
	if !webAddress.MatchString(said) {
		calls = calls[1:]
	}
	for _, c := range calls {
		if !slices.Contains(options.Excluded, c.name) {
			return c, true
		}
	}
	return plannedCall{}, false
}
