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
	signatureForeign // issued for another model family or project
	signatureCorrupt
)

// Signature returns the thought signature that the emulator gives to a function
// call made by model, for request bodies written by hand. It is valid in every
// project, unlike those the emulator answers with. The arguments are compared as
// JSON values: neither key order nor spacing matters.
func Signature(model string, call FunctionCall) (string, error) {
	facts, ok := lookUp(modelTable(), model)
	if !ok {
		return "", fmt.Errorf("vertextest: unknown model %q", model)
	}
	args, err := encodeArgs(call.Args)
	if err != nil {
		return "", err
	}
	return issuer{family: family(facts.version)}.sign(signedCall, boundTo(call.Name, args)), nil
}

// issuer is who signs: a model family in a project.
type issuer struct {
	family  byte
	project [4]byte // a digest of its number; zeros for any project
}

// issuer returns the signer of the model in the project of the request.
func (x *exchange) issuer() issuer {
	sum := sha256.Sum256([]byte(projectNumber(x.target.project)))
	return issuer{family(x.facts.version), [4]byte(sum[:4])}
}

// signCall signs a function call of the model.
func (x *exchange) signCall(name string, args json.RawMessage) string {
	return x.issuer().sign(signedCall, boundTo(name, args))
}

// signPart signs a part that isn't a function call.
func (x *exchange) signPart() string { return x.issuer().sign(signedPart, "") }

// boundTo is what the signature of a call depends on.
func boundTo(name string, args json.RawMessage) string { return name + "\x00" + canonical(args) }

func (us issuer) sign(kind signedKind, bound string) string {
	head := signatureMark + string([]byte{byte(kind), us.family}) + string(us.project[:])
	mac := hmac.New(sha256.New, []byte(signatureKey))
	mac.Write([]byte(head + bound))
	return base64.StdEncoding.EncodeToString(mac.Sum([]byte(head)))
}

// family is the part of a version that signatures are bound to.
func family(version int) byte { return byte(version / 10) }

// verify judges the signature of a part that was sent back to us.
func (us issuer) verify(p part) verdict {
	if isSentinel(p.ThoughtSignature) {
		return signatureSentinel
	}
	raw := decodeBase64(p.ThoughtSignature)
	at := len(signatureMark)
	if len(raw) != at+2+len(us.project)+sha256.Size || !strings.HasPrefix(raw, signatureMark) {
		return signatureCorrupt
	}
	by := issuer{family: raw[at+1], project: [4]byte([]byte(raw[at+2 : at+2+len(us.project)]))}
	var bound string
	if p.FunctionCall != nil {
		bound = boundTo(p.FunctionCall.Name, p.FunctionCall.Args)
	}
	if !hmac.Equal([]byte(raw), []byte(decodeBase64(by.sign(signedKind(raw[at]), bound)))) {
		return signatureCorrupt
	}
	if by.family != us.family || by.project != us.project && by.project != [4]byte{} {
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
