package vertex

import (
	"sync/atomic"
	"time"

	"github.com/b650d4bf/gateway/internal/vault"
	"github.com/b650d4bf/gateway/providers"
)

// sentinelSignature stands in for a thought signature that the client lost.
//
// Source: https://cloud.google.com/vertex-ai/generative-ai/docs/thought-signatures
const sentinelSignature = "skip_thought_signature_validator"

// SignatureMemory bounds what a [Provider] remembers of the thought signatures
// of tool calls, so that a call which comes back without its signature gets it
// again. Arguments are remembered as digests only. A zero member has its
// default.
type SignatureMemory struct {
	// Off remembers nothing.
	Off bool
	// Entries is the most signatures; default 50,000.
	Entries int
	// Bytes is the most memory; default 64 MiB.
	Bytes int64
	// TTL is how long a signature is remembered after its last use; default
	// 24 hours.
	TTL time.Duration
}

// SignatureStats counts what became of thought signatures. All members but
// Entries and Bytes only grow.
type SignatureStats struct {
	// Entries and Bytes are what is remembered now.
	Entries int
	Bytes   int64
	// Stored counts signatures of answers; Evicted and Expired those forgotten
	// for want of room or by age.
	Stored, Evicted, Expired int64
	// Restored counts calls that came back without a signature and got it again,
	// Missed those whose signature is not remembered.
	Restored, Missed int64
	// Sentinels counts calls that were sent with the sentinel in place of a
	// signature, which costs quality.
	Sentinels int64
}

// signatures is the memory of one provider.
type signatures struct {
	vault     *vault.Vault // nil when it is off
	sentinels atomic.Int64
}

func newSignatures(m SignatureMemory) *signatures {
	if m.Off {
		return &signatures{}
	}
	return &signatures{vault: vault.New(vault.Limits{Entries: m.Entries, Bytes: m.Bytes, TTL: m.TTL})}
}

// SignatureStats returns the counts so far.
func (p *Provider) SignatureStats() SignatureStats {
	s := p.signatures.vault.Stats()
	return SignatureStats{
		Entries: s.Entries, Bytes: s.Bytes, Stored: s.Stored, Evicted: s.Evicted, Expired: s.Expired,
		Restored: s.Restored, Missed: s.Missed, Sentinels: p.signatures.sentinels.Load(),
	}
}

// issuer names who can read a signature that the model gives: a family of
// models, for one project at one platform. Signatures of others are never looked
// at.
func (in *request) issuer() string {
	project := in.target.ProjectID
	if in.model.resource != "" {
		project = in.model.resource // of a tuned model, which is the project's own
	}
	return providerName + " gemini " + in.target.UniverseDomain + " " + in.target.BaseURL + " " + project
}

func (in *request) signatureKey(c *providers.ToolCall) vault.Key {
	return vault.Key{Issuer: in.issuer(), ID: c.ID, Name: c.Function.Name, Arguments: c.Function.Arguments}
}

// remember keeps the signature of a call that was answered.
func (in *request) remember(c *providers.ToolCall) {
	if in.signatures != nil && in.signatures.vault != nil {
		in.signatures.vault.Put(in.signatureKey(c), c.Function.ThoughtSignature)
	}
}

// recall returns the signature of a call that came back without it.
func (in *request) recall(c *providers.ToolCall) string {
	if in.signatures == nil || in.signatures.vault == nil || in.distrust {
		return ""
	}
	signature, _ := in.signatures.vault.Get(in.signatureKey(c))
	return signature
}
