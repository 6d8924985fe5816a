package engine

import (
	"sync/atomic"

	"github.com/b650d4bf/gateway/internal/vault"
	"github.com/b650d4bf/gateway/providers"
)

// sentinelSignature stands in for a thought signature that the client lost.
//
// Source: https://cloud.google.com/vertex-ai/generative-ai/docs/thought-signatures and
// https://ai.google.dev/gemini-api/docs/thought-signatures
const sentinelSignature = "skip_thought_signature_validator"

// signatures is the memory of one provider.
type signatures struct {
	vault     *vault.Vault // nil when it is off
	sentinels atomic.Int64
}

func newSignatures(m providers.SignatureMemory) *signatures {
	if m.Off {
		return &signatures{}
	}
	return &signatures{vault: vault.New(vault.Limits{Entries: m.Entries, Bytes: m.Bytes, TTL: m.TTL})}
}

// SignatureStats returns the counts so far.
func (p *Engine) SignatureStats() providers.SignatureStats {
	s := p.signatures.vault.Stats()
	return providers.SignatureStats{
		Entries: s.Entries, Bytes: s.Bytes, Stored: s.Stored, Evicted: s.Evicted, Expired: s.Expired,
		Restored: s.Restored, Missed: s.Missed, Sentinels: p.signatures.sentinels.Load(),
	}
}

// issuer names who can read a signature that the model gives: a family of
// models, for one project at one platform, or with the key of one catalog entry
// at the vendor's own service. Signatures of others are never looked at.
func (in *request) issuer() string {
	if in.issuedBy != "" {
		return in.issuedBy
	}
	project := in.target.ProjectID
	if in.model.Own {
		project = in.target.Slug
	}
	if in.model.Resource != "" {
		project = in.model.Resource // of a tuned model, which is the project's own
	}
	in.issuedBy = in.site.Name() + " gemini " + in.target.UniverseDomain + " " + in.target.BaseURL + " " + project
	return in.issuedBy
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
