package answers

import (
	"strconv"
	"strings"

	"github.com/b650d4bf/gateway/providers"
)

// The number of messages that a request may have to be compared by meaning.
const (
	minMessages = 2
	maxMessages = 4
)

func itoa(n int) string { return strconv.Itoa(n) }

// Text returns what of a request is compared by meaning: the text of all messages
// but the first. why says why there is none.
func Text(q *providers.ChatCompletionRequest) (text, why string) {
	if n := len(q.Messages); n < minMessages || n > maxMessages {
		return "", "a request with " + itoa(n) + " messages is not compared by meaning: 2 to 4 are"
	}
	var b strings.Builder
	for i := range q.Messages {
		m := &q.Messages[i]
		if m.Role == providers.RoleTool || len(m.ToolCalls) > 0 {
			return "", "a conversation with tool calls is not compared by meaning"
		}
		if i == 0 {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(m.Content.Text())
	}
	if strings.TrimSpace(b.String()) == "" {
		return "", "there is no text to compare by meaning"
	}
	return b.String(), ""
}
