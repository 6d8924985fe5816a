package engine

import (
	"strconv"
	"strings"
)

// maxCallID is the length of the longest id of a call, in bytes.
//
// Source: https://platform.claude.com/docs/en/agents-and-tools/tool-use/implement-tool-use
const maxCallID = 64

// callID returns the id as the platform takes it: of letters, digits, _ and -,
// not too long, and given once. It is the same for the same conversation.
func (e *claudeEncoder) callID(i, j int, id string) string {
	own := id
	if !isCallID(id) {
		own = cleanID(id)
		if own == "" {
			own = "call_" + strconv.Itoa(i) + "_" + strconv.Itoa(j)
		}
	}
	if e.used == nil {
		calls := 0
		for k := range e.q.Messages {
			calls += len(e.q.Messages[k].ToolCalls)
		}
		e.used = make(map[string]struct{}, calls)
	}
	for n, base := 2, own; ; n++ {
		if _, taken := e.used[own]; !taken {
			break
		}
		tail := "_" + strconv.Itoa(n)
		own = base[:min(len(base), maxCallID-len(tail))] + tail
	}
	e.used[own] = struct{}{}
	return own
}

// cleanID replaces what no id may have. A long one ends in a digest of the whole.
func cleanID(id string) string {
	own := strings.Map(func(c rune) rune {
		if c < 128 && isIDByte(byte(c)) {
			return c
		}
		return '_'
	}, id)
	if len(own) <= maxCallID {
		return own
	}
	tail := "_" + mistralID(id)
	return own[:maxCallID-len(tail)] + tail
}

func isCallID(s string) bool { return isClaudeName(s, maxCallID) }

// isClaudeName reports whether s has 1 to limit letters, digits, _ and -.
func isClaudeName(s string, limit int) bool {
	for i := range len(s) {
		if !isIDByte(s[i]) {
			return false
		}
	}
	return s != "" && len(s) <= limit
}

func isIDByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-'
}
