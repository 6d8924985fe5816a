package vertex

import "strings"

// claudeNames are the names that follow no rule, by those of the vendor's own
// platform.
//
// Source: https://cloud.google.com/vertex-ai/generative-ai/docs/partner-models/claude
var claudeNames = map[string]string{
	"claude-3-5-sonnet-20241022":    "claude-3-5-sonnet-v2@20241022",
	"claude-3-5-sonnet@20241022":    "claude-3-5-sonnet-v2@20241022",
	"claude-3-5-sonnet-v2-20241022": "claude-3-5-sonnet-v2@20241022",
}

// claudeName turns the vendor's own spelling of a model with its date into the
// platform's: claude-sonnet-4-5-20250929 is claude-sonnet-4-5@20250929.
func claudeName(name string) string {
	if own, ok := claudeNames[name]; ok {
		return own
	}
	const date = len("-20250929")
	n := len(name) - date
	if n <= 0 || !strings.HasPrefix(name[n:], "-20") {
		return name
	}
	for _, c := range name[n+1:] {
		if c < '0' || c > '9' {
			return name
		}
	}
	return name[:n] + "@" + name[n+1:]
}
