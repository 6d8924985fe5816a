package answers

import (
	"net/http"
	"slices"
	"strings"

	"github.com/b650d4bf/gateway/cache"
	"github.com/b650d4bf/gateway/providers"
)

// Scope is what a key is made of beside the request: where it goes, and who may
// share the answer.
type Scope struct {
	// Operation is what is asked.
	Operation string
	// Target is where it is asked. Its token, labels and time limits don't count.
	Target *providers.Target
	// Visitor is the digest of what an HTTP client identified itself with: answers
	// are never shared with another one.
	Visitor string
	// Namespace takes the place of all members below.
	Namespace string
	// Token is the digest of credentials that are the call's own.
	Token string
	// Metadata, ConfigID and Strict are the call's, and Header what it sends along.
	Metadata map[string]string
	ConfigID string
	Strict   bool
}

// write hashes the scope.
func (s *Scope) write(d *Digest) {
	d.Part("operation")
	d.Int("version", Version)
	d.String("operation", s.Operation)
	t := s.Target
	d.Part("target")
	d.String("provider", t.Provider)
	d.String("slug", t.Slug)
	d.String("project", t.ProjectID)
	d.String("region", t.Region)
	d.String("base_url", t.BaseURL)
	d.String("universe", t.UniverseDomain)
	d.String("api_version", t.APIVersion)
	d.Part("model")
	d.String("model", t.Model)
	d.Part("partition")
	d.String("visitor", s.Visitor)
	if s.Namespace != "" {
		d.String("namespace", s.Namespace)
		return
	}
	d.String("token", s.Token)
	d.Map("metadata", s.Metadata)
	d.String("config", s.ConfigID)
	d.optionalBool("strict", &s.Strict)
	writeHeader(d, t.Header)
}

// writeHeader hashes what is sent along, in the order of the names.
func writeHeader(d *Digest, h http.Header) {
	var room [16]string
	names := room[:0]
	for name := range h {
		if !isTrace(name) {
			names = append(names, name)
		}
	}
	if slices.Sort(names); !d.list("header", len(names)) {
		return
	}
	for _, name := range names {
		d.value(name)
		d.strings("values", h[name])
	}
}

// traceHeaders say which call it is, which no answer depends on.
//
// Source: https://www.w3.org/TR/trace-context/ and
// https://cloud.google.com/trace/docs/trace-context
var traceHeaders = []string{
	"traceparent", "tracestate", "baggage", "b3", "x-cloud-trace-context", "x-request-id", "x-correlation-id", "x-amzn-trace-id", "x-datadog-",
	"x-b3-", "uber-trace-id", "idempotency-key", "x-goog-request-params",
}

func isTrace(name string) bool {
	name = strings.ToLower(name)
	return slices.ContainsFunc(traceHeaders, func(t string) bool {
		return name == t || strings.HasSuffix(t, "-") && strings.HasPrefix(name, t)
	})
}

// Writer hashes the request of an operation.
type Writer[Q any] func(d *Digest, req Q)

// Key returns the key of a request.
func Key[Q any](s *Scope, req Q, write Writer[Q]) cache.Key {
	d := newDigest()
	defer d.free()
	s.write(d)
	write(d, req)
	return d.key()
}

// usualParts is how many parts the key of a chat request has.
const usualParts = 8

// Parts returns the digests of the parts that the key of a request is made of.
func Parts[Q any](s *Scope, req Q, write Writer[Q]) []cache.Part {
	d := newDigest()
	defer d.free()
	d.apart, d.parts = true, make([]cache.Part, 0, usualParts)
	s.write(d)
	write(d, req)
	d.endPart()
	return d.parts
}

// Group returns the digest of everything of a chat request that must be the same
// for an answer to be found by meaning: all but the text of its messages. strict
// keeps the first message's text in. space says how texts become vectors.
func Group(s *Scope, req *providers.ChatCompletionRequest, strict bool, space string) cache.Key {
	d := newDigest()
	defer d.free()
	d.alike, d.whole = true, strict
	d.Part("space")
	d.String("space", space)
	d.optionalBool("strict_context", &strict)
	s.write(d)
	WriteChat(d, req)
	return d.key()
}

// Sum is a digest of a secret that may be part of a key. Unlike the secret it can
// be passed on.
func Sum(secret string) string {
	if secret == "" {
		return ""
	}
	d := newDigest()
	defer d.free()
	d.String("secret", secret)
	k := d.key()
	return k.String()[:32]
}
