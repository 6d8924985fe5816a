package vertex

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/b650d4bf/gateway/internal/engine"
	"github.com/b650d4bf/gateway/internal/jsonx"
	"github.com/b650d4bf/gateway/providers"
)

// endpointPublisher stands for the publisher of self-deployed models: a row of
// the model table with it, and the endpoint's name, says what is known of one.
const endpointPublisher = "endpoints"

// sharedEndpoint is the endpoint that all open models share.
const sharedEndpoint = "openapi"

// endpointModel is the model of a self-deployed endpoint.
func endpointModel(name string) (engine.Model, error) {
	switch {
	case !isSegment(name):
		return engine.Model{}, badModel("an endpoint's name has letters, digits and . _ - @ only; " +
			"a tuned Gemini is addressed as projects/P/locations/L/endpoints/ID")
	case name == sharedEndpoint:
		return engine.Model{}, badModel("that is the endpoint of the open models: name the model by its publisher, such as qwen.MODEL")
	}
	return engine.Model{Publisher: endpointPublisher, Name: name, Family: engine.FamilyEndpoint}, nil
}

// writeEndpoint writes the resource name of the endpoint that the model is
// spoken to at.
func writeEndpoint(b *strings.Builder, t *providers.Target, m *engine.Model) {
	if place, _, ok := strings.Cut(m.Resource, "/publishers/"); ok {
		b.WriteString(place)
	} else if place, _, ok := strings.Cut(m.Resource, "/endpoints/"); ok {
		b.WriteString(place)
	} else {
		b.WriteString("projects/" + t.ProjectID + "/locations/" + t.Region)
	}
	b.WriteString("/endpoints/")
	if m.Family == engine.FamilyEndpoint {
		b.WriteString(m.Name)
	} else {
		b.WriteString(sharedEndpoint)
	}
}

// Locate sends the request to a self-deployed endpoint: to its own host
// when that is known, else to the region's. An endpoint with a host of its own
// is refused at the region's; only then is the host looked up, once, so that
// endpoints without one cost no further request and no further permission.
//
// Source: https://cloud.google.com/vertex-ai/docs/predictions/choose-endpoint-type
func (s *site) Locate(ctx context.Context, t *providers.Target, m *engine.Model, u *url.URL, try func(*url.URL) error) error {
	if t.BaseURL != "" {
		return try(u)
	}
	key := endpointKey(u)
	shared := *u
	if host := s.hosts.get(key); host != "" {
		u.Host = host
		err := try(u)
		if isGone(err) { // deleted, or moved: the next call begins anew
			s.hosts.forget(key, host)
		}
		return err
	}
	err := try(u)
	if !wantsOwnHost(err) {
		return err
	}
	host, lookup := s.hosts.find(ctx, key, func() (string, error) { return s.lookUpHost(ctx, t, m, shared) })
	if host == "" {
		return noHost(err, lookup)
	}
	u.Host = host
	return try(u)
}

// endpointKey names the endpoint that a request is for, whatever its method.
func endpointKey(u *url.URL) string {
	key := u.Host + strings.TrimSuffix(strings.TrimSuffix(u.Path, "/chat/completions"), "/embeddings")
	if verb := strings.LastIndexByte(key, ':'); verb > strings.LastIndexByte(key, '/') {
		key = key[:verb]
	}
	return key
}

// wantsOwnHost recognises the refusal of an endpoint that has a host of its own.
func wantsOwnHost(err error) bool {
	e, ok := errors.AsType[*providers.Error](err)
	return ok && e.StatusCode >= 400 && e.StatusCode < 500 && strings.Contains(strings.ToLower(e.Message), "dedicated")
}

// isGone reports whether there may be nothing at a host any more.
func isGone(err error) bool {
	return errors.Is(err, providers.ErrModelNotFound) || errors.Is(err, providers.ErrConnection)
}

// noHost adds to the platform's refusal what helps.
func noHost(refusal, lookup error) error {
	e, ok := errors.AsType[*providers.Error](refusal)
	if !ok {
		return refusal
	}
	own := *e
	own.Message += " (set the endpoint's own host as base URL, or grant the permission aiplatform.endpoints.get, with which it is looked up)"
	own.Err = lookup
	return &own
}

// lookUpHost asks the platform for the endpoint's own host, "" when it has none.
func (s *site) lookUpHost(ctx context.Context, t *providers.Target, m *engine.Model, u url.URL) (string, error) {
	var path strings.Builder
	path.WriteString("/v1/")
	writeEndpoint(&path, t, m)
	u.Path, u.RawQuery = path.String(), ""
	enabled, host := false, ""
	err := s.engine.Get(ctx, t, &u, func(r *jsonx.Reader) {
		for r.Object(); r.NextKey(); {
			switch string(r.Key()) {
			case "dedicatedEndpointEnabled":
				enabled = r.Bool()
			case "dedicatedEndpointDns":
				host = r.String()
			default:
				r.Skip()
			}
		}
	})
	if err != nil || !enabled || !isEndpointHost(host, t.UniverseDomain) {
		return "", err
	}
	return host, nil
}

// isEndpointHost reports whether the token may be sent to a host: it is one of
// the platform's.
func isEndpointHost(host, universe string) bool {
	ours := strings.HasSuffix(host, ".vertexai.goog") || strings.HasSuffix(host, "."+publicUniverse) ||
		universe != "" && strings.HasSuffix(host, "."+universe)
	return ours && len(host) <= 253 && host[0] != '.' && onlyFrom(host, "-.")
}

// hosts remembers the endpoints' own hosts, and for a shorter time that none was
// found. One caller at a time looks one up; the others wait for it.
type hosts struct {
	mu      sync.Mutex
	entries map[string]*hostEntry
}

type hostEntry struct {
	host  string
	until time.Time
	done  chan struct{} // nil once it is looked up
}

const (
	maxHosts    = 1024
	hostTTL     = time.Hour
	noHostTTL   = time.Minute
	failHostTTL = 10 * time.Second
)

func newHosts() *hosts { return &hosts{entries: map[string]*hostEntry{}} }

// get returns the host, "" when it is not known.
func (h *hosts) get(key string) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	if e := h.entries[key]; e != nil && e.done == nil && time.Now().Before(e.until) {
		return e.host
	}
	return ""
}

// forget drops the host, unless it has changed.
func (h *hosts) forget(key, host string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if e := h.entries[key]; e != nil && e.done == nil && e.host == host {
		delete(h.entries, key)
	}
}

// find returns what is remembered, or asks lookUp. A caller whose context ends
// stops waiting; what it began for others is begun again by one of them.
func (h *hosts) find(ctx context.Context, key string, lookUp func() (string, error)) (string, error) {
	for {
		h.mu.Lock()
		e := h.entries[key]
		if e == nil || e.done == nil && !time.Now().Before(e.until) {
			e = h.begin(key)
			h.mu.Unlock()
			host, err := lookUp()
			h.end(ctx, key, e, host, err)
			return host, err
		}
		done, host := e.done, e.host
		h.mu.Unlock()
		if done == nil {
			return host, nil
		}
		select {
		case <-done:
		case <-ctx.Done():
			return "", context.Cause(ctx)
		}
	}
}

// begin makes room for an entry that is being looked up.
func (h *hosts) begin(key string) *hostEntry {
	for old, e := range h.entries {
		if len(h.entries) < maxHosts {
			break
		}
		if e.done == nil {
			delete(h.entries, old)
		}
	}
	e := &hostEntry{done: make(chan struct{})}
	h.entries[key] = e
	return e
}

// end keeps what was found and wakes those who wait. A lookup that the caller
// broke off says nothing.
func (h *hosts) end(ctx context.Context, key string, e *hostEntry, host string, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	close(e.done)
	ttl := hostTTL
	switch {
	case ctx.Err() != nil && err != nil:
		delete(h.entries, key)
		return
	case err != nil:
		ttl = failHostTTL
	case host == "":
		ttl = noHostTTL
	}
	h.entries[key] = &hostEntry{host: host, until: time.Now().Add(ttl)}
}
