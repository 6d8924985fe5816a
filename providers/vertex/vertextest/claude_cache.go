package vertextest

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"slices"
	"time"
)

// Lives of a cached prefix, and how many blocks before a mark are looked at for
// one that is cached already.
//
// Source: https://docs.claude.com/en/docs/build-with-claude/prompt-caching
const (
	shortCache = 5 * time.Minute
	longCache  = time.Hour
	lookBack   = 20
)

// prefixKey names a cached prefix of a prompt.
type prefixKey struct {
	owner  string // project and model
	digest [sha256.Size]byte
}

// promptPiece is a tool or a block of a prompt.
type promptPiece struct {
	digest [sha256.Size]byte // of all pieces up to this one
	size   int               // tokens of all pieces up to this one
	mark   *claudeCacheControl
}

// addTo counts a block.
func (b claudeBlock) addTo(t *tally) {
	t.bytes += len(b.Text) + len(b.Thinking) + len(b.Name) + len(b.Input)
	switch {
	case b.Source.Type == "base64":
		t.addMedia(modalityOf(b.Source.MediaType), mediaTokens)
	default:
		t.bytes += len(b.Source.Data) + len(b.Source.Content)
	}
	if b.Type != "tool_result" {
		t.bytes += len(b.Content)
		return
	}
	for _, inner := range b.resultContent() {
		inner.addTo(t)
	}
}

// measure counts the prompt.
func (c *claudeCall) measure() *tally {
	var t tally
	for _, one := range c.Tools {
		t.bytes += len(one.Name) + len(one.Description) + len(one.InputSchema) + len(one.Type)
	}
	for _, b := range c.System {
		b.addTo(&t)
	}
	for _, m := range c.Messages {
		for _, b := range m.Content {
			b.addTo(&t)
		}
	}
	return &t
}

// unmarked returns the content of a tool result without marks, and the mark of
// the whole, which one inside stands for too.
func (b claudeBlock) unmarked(mark *claudeCacheControl) (json.RawMessage, *claudeCacheControl) {
	inner := b.resultContent()
	for i := range inner {
		if mark == nil {
			mark = inner[i].CacheControl
		}
		inner[i].CacheControl = nil
	}
	raw, err := json.Marshal(inner)
	if err != nil {
		return b.Content, mark
	}
	return raw, mark
}

// prompt lists the pieces of the prompt in the order in which they are cached.
func (c *claudeCall) prompt() []promptPiece {
	var (
		list []promptPiece
		size tally
		last [sha256.Size]byte
	)
	add := func(kind string, v any, mark *claudeCacheControl) {
		raw, err := json.Marshal(v)
		if err != nil {
			raw = nil // it came from JSON
		}
		last = sha256.Sum256(slices.Concat(last[:], []byte(kind), raw))
		list = append(list, promptPiece{last, size.total(), mark})
	}
	for _, t := range c.Tools {
		size.bytes += len(t.Name) + len(t.Description) + len(t.InputSchema) + len(t.Type)
		mark := t.CacheControl
		t.CacheControl = nil
		add("tool", t, mark)
	}
	blocks := func(role string, content claudeContent) {
		for _, b := range content {
			b.addTo(&size)
			mark := b.CacheControl
			b.CacheControl = nil
			if b.Type == "tool_result" {
				b.Content, mark = b.unmarked(mark)
			}
			add(role, b, mark)
		}
	}
	blocks("system", c.System)
	for _, m := range c.Messages {
		blocks(m.Role, m.Content)
	}
	if n := len(list); n > 0 && c.CacheControl != nil {
		list[n-1].mark = c.CacheControl
	}
	return list
}

// cacheUse is what of a prompt was cached before, and what is from now on.
type cacheUse struct{ read, short, long int }

// useCached looks the prompt up among the cached prefixes and adds those that it
// marks. Short prefixes aren't cached.
func (x *exchange) useCached() cacheUse {
	list := x.claude.prompt()
	minimum := x.claude.facts.minCache
	if own := x.cfg.cacheMinimum; own != nil {
		minimum = *own
	}
	owner := x.target.project + "/" + x.target.model
	s := x.server
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	var use cacheUse
	for i, p := range list {
		if p.mark == nil {
			continue
		}
		for at := i; at >= max(0, i-lookBack+1); at-- {
			if end, ok := s.prefixes[prefixKey{owner, list[at].digest}]; ok && now.Before(end) {
				use.read = max(use.read, list[at].size)
				break
			}
		}
	}
	done := use.read
	for _, p := range list {
		if p.mark == nil || p.size < minimum {
			continue
		}
		life := shortCache
		if p.mark.TTL == "1h" {
			life = longCache
			use.long += max(p.size-done, 0)
		} else {
			use.short += max(p.size-done, 0)
		}
		done = max(done, p.size)
		key := prefixKey{owner, p.digest}
		if end := now.Add(life); s.prefixes[key].Before(end) {
			s.prefixes[key] = end
		}
	}
	return use
}

// claudeUsage counts the request and the answer. The cached part of the prompt
// is beside the rest of it; thoughts are inside of what is put out.
func (x *exchange) claudeUsage(a answer, searches int) claudeUsage {
	use := x.useCached()
	var said tally
	said.addVisible(a.parts)
	u := claudeUsage{
		InputTokens:              max(x.claude.measure().total()-use.read-use.short-use.long, 0),
		CacheCreationInputTokens: use.short + use.long,
		CacheReadInputTokens:     use.read,
		CacheCreation:            &claudeCacheCreation{use.short, use.long},
		OutputTokens:             said.total() + a.thoughts,
	}
	if a.thoughts > 0 {
		u.OutputTokensDetails = &claudeOutputDetails{a.thoughts}
	}
	if searches > 0 {
		u.ServerToolUse = &claudeServerUse{searches}
	}
	return u
}

// claudeID returns an id of the platform's form that depends on the seeds.
func claudeID(prefix string, seed []byte, n uint64) string {
	const digits = "0123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
	sum := sha256.Sum256(binary.BigEndian.AppendUint64(slices.Clone(seed), n))
	id := []byte(prefix + "_vrtx_01")
	for _, b := range sum[:22] {
		id = append(id, digits[int(b)%len(digits)])
	}
	return string(id)
}

// claudeRequestID returns the id of the request, the same each time.
func (x *exchange) claudeRequestID() string {
	if x.requestID == "" {
		x.requestID = x.newID("req", x.server.serial())
	}
	return x.requestID
}
