package vertextest

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"strings"
)

// Kinds of what a Claude signs.
const (
	signedThinking signedKind = 't' // a thinking block
	signedRedacted signedKind = 'r' // the data of a redacted one
)

// claudeKey authenticates the signatures of the emulator's Claudes. Like
// signatureKey it isn't a secret. It is another one: no model takes the
// signature of the other family.
const claudeKey = "vertextest Claude signatures"

// ClaudeSignature returns the signature that the emulator's Claudes give to a
// thinking block, for request bodies written by hand. It is bound to the text
// and to nothing else: it is valid for each Claude, in every project.
func ClaudeSignature(thinking string) string { return signClaude(signedThinking, thinking) }

// ClaudeRedacted returns the data of a redacted_thinking block whose thoughts
// were the given ones, for request bodies written by hand.
func ClaudeRedacted(thinking string) string { return signClaude(signedRedacted, thinking) }

// signClaude returns what stands for a text that was thought: a digest of it,
// authenticated.
func signClaude(kind signedKind, thinking string) string {
	digest := sha256.Sum256([]byte(thinking))
	head := signatureMark + string([]byte{byte(kind)}) + string(digest[:])
	mac := hmac.New(sha256.New, []byte(claudeKey))
	mac.Write([]byte(head))
	return base64.StdEncoding.EncodeToString(mac.Sum([]byte(head)))
}

// readClaudeSignature returns the digest of what was signed; false for anything
// that no Claude of the emulator has made.
func readClaudeSignature(kind signedKind, signature string) (digest string, ok bool) {
	raw, err := base64.StdEncoding.DecodeString(signature)
	head := len(signatureMark) + 1 + sha256.Size
	if err != nil || len(raw) != head+sha256.Size || !strings.HasPrefix(string(raw), signatureMark+string([]byte{byte(kind)})) {
		return "", false
	}
	mac := hmac.New(sha256.New, []byte(claudeKey))
	mac.Write(raw[:head])
	return string(raw[len(signatureMark)+1 : head]), hmac.Equal(raw[head:], mac.Sum(nil))
}

// genuine reports whether a block of thoughts is as a Claude made it. Thoughts
// that were kept from the caller have no text to compare.
func (b claudeBlock) genuine() bool {
	if b.Type == "redacted_thinking" {
		_, ok := readClaudeSignature(signedRedacted, b.Data)
		return ok
	}
	digest, ok := readClaudeSignature(signedThinking, b.Signature)
	own := sha256.Sum256([]byte(b.Thinking))
	return ok && (b.Thinking == "" || digest == string(own[:]))
}
