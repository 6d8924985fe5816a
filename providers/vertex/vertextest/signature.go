package vertextest

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
)

// sentinel stands in for a signature that was lost or never existed. It is
// documented at https://cloud.google.com/vertex-ai/generative-ai/docs/thought-signatures
const sentinel = "skip_thought_signature_validator"

// signatureKey authenticates the emulator's signatures. It isn't a secret: all
// servers share it, so that a signature is valid at each of them.
const signatureKey = "vertextest thought signatures"

// signatureMark opens each signature. It makes characters appear in which the
// two base64 alphabets differ, so that a careless re-encoding shows.
const signatureMark = "\x12\xfb\xff"

// signedKind says what a signature is bound to.
type signedKind byte

const (
	signedCall signedKind = 'c' // name and arguments of a function call
	signedPart signedKind = 'p' // any other part, whatever its content
)

// verdict is what is known about a signature.
type verdict int

const (
	signatureValid verdict = iota
	signatureSentinel
	signatureForeign // issued for another model family
	signatureCorrupt
)

// Signature returns the thought signature that the emulator gives to a function
// call made by model, for request bodies written by hand. The arguments are
// compared as JSON values: neither key order nor spacing matters.
func Signature(model string, call FunctionCall) (string, error) {
	facts, ok := lookUp(modelTable(), model)
	if !ok {
		return "", fmt.Errorf("vertextest: unknown model %q", model)
	}
	args, err := encodeArgs(call.Args)
	if err != nil {
		return "", err
	}
	return signCall(facts, call.Name, args), nil
}

// signCall signs a function call of the model.
func signCall(m modelFacts, name string, args json.RawMessage) string {
	return sign(signedCall, m.version, name+"\x00"+canonical(args))
}

// signPart signs a part that isn't a function call.
func signPart(m modelFacts) string { return sign(signedPart, m.version, "") }

func sign(kind signedKind, version int, bound string) string {
	head := signatureMark + string([]byte{byte(kind), family(version)})
	mac := hmac.New(sha256.New, []byte(signatureKey))
	mac.Write([]byte(head + bound))
	return base64.StdEncoding.EncodeToString(mac.Sum([]byte(head)))
}

// family is the part of a version that signatures are bound to.
func family(version int) byte { return byte(version / 10) }

// verify judges the signature of a part that was sent back to model m.
func verify(m modelFacts, p part) verdict {
	if isSentinel(p.ThoughtSignature) {
		return signatureSentinel
	}
	raw := decodeBase64(p.ThoughtSignature)
	if len(raw) != len(signatureMark)+2+sha256.Size || !strings.HasPrefix(raw, signatureMark) {
		return signatureCorrupt
	}
	kind, issuer := signedKind(raw[len(signatureMark)]), raw[len(signatureMark)+1]
	var bound string
	if p.FunctionCall != nil {
		bound = p.FunctionCall.Name + "\x00" + canonical(p.FunctionCall.Args)
	}
	if !hmac.Equal([]byte(raw), []byte(decodeBase64(sign(kind, int(issuer)*10, bound)))) {
		return signatureCorrupt
	}
	if issuer != family(m.version) {
		return signatureForeign
	}
	return signatureValid
}

// isSentinel accepts the literal and its base64 form, as SDKs with byte fields
// send it.
func isSentinel(s string) bool { return s == sentinel || decodeBase64(s) == sentinel }

// decodeBase64 decodes in either alphabet, padded or not, as protobuf
// JSON does. It returns nothing for anything else.
func decodeBase64(s string) string {
	s = strings.NewReplacer("-", "+", "_", "/").Replace(strings.TrimRight(s, "="))
	raw, err := base64.RawStdEncoding.DecodeString(s)
	if err != nil {
		return ""
	}
	return string(raw)
}

// canonical returns the JSON value with sorted keys and without spaces; absent
// arguments equal empty ones.
func canonical(raw json.RawMessage) string {
	if len(raw) == 0 {
		return "{}"
	}
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return string(raw)
	}
	b, err := json.Marshal(v)
	if err != nil {
		return string(raw)
	}
	return string(b)
}
