package providers

import (
	"context"
	"time"
)

// ContextCacher is the ability to keep the beginning of prompts at the platform,
// so that requests can name it in place of sending it again. A [Provider] that
// has it implements this too. It is told the name of a cached content as the
// caller spelled it.
type ContextCacher interface {
	// CreateCachedContent keeps what req holds. The provider must not keep or
	// change req.
	CreateCachedContent(ctx context.Context, t *Target, req *CachedContentRequest) (*CachedContent, error)
	// GetCachedContent returns what is known of a cached content.
	GetCachedContent(ctx context.Context, t *Target, name string) (*CachedContent, error)
	// ListCachedContents returns one page. The token is the former page's, ""
	// for the first one.
	ListCachedContents(ctx context.Context, t *Target, pageToken string) (*CachedContentList, error)
	// UpdateCachedContent sets when a cached content expires.
	UpdateCachedContent(ctx context.Context, t *Target, name string, expiry CachedContentExpiry) (*CachedContent, error)
	// DeleteCachedContent ends a cached content before it expires.
	DeleteCachedContent(ctx context.Context, t *Target, name string) error
}

// CachedContentRequest says what to keep, and for how long.
type CachedContentRequest struct {
	// Model is the model reference; only requests to that model, in the same
	// project and location, can use the cached content.
	Model string
	// Messages are the beginning of the conversation, system messages included.
	Messages []Message
	// Tools and ToolChoice are kept too. A request that uses the cached content
	// can't have any of its own.
	Tools      []Tool
	ToolChoice *ToolChoice
	// DisplayName is for people.
	DisplayName string
	// TTL is how long to keep it, or ExpireTime until when; with neither, the
	// platform's default counts, which is one hour.
	TTL        time.Duration
	ExpireTime time.Time
	// KMSKeyName is the resource name of the key to encrypt it with; empty means
	// the platform's own.
	KMSKeyName string
}

// CachedContentExpiry says when a cached content expires: after TTL from now, or
// at ExpireTime. One of them must be given.
type CachedContentExpiry struct {
	TTL        time.Duration
	ExpireTime time.Time
}

// CachedContent is what the platform tells of a cached content. What it holds
// can't be read back.
type CachedContent struct {
	// Name is the full resource name. It is what a request's cached_content and
	// the other operations take.
	Name string
	// DisplayName is for people.
	DisplayName string
	// Model is the full resource name of the model.
	Model string
	// CreateTime, UpdateTime and ExpireTime are zero when not told.
	CreateTime, UpdateTime, ExpireTime time.Time
	// KMSKeyName is the key it is encrypted with, empty for the platform's own.
	KMSKeyName string
	// Usage is its size.
	Usage CachedContentUsage
	// Meta says what the gateway did.
	Meta Meta
}

// CachedContentUsage is the size of a cached content. Storage is billed by
// TotalTokens and time.
type CachedContentUsage struct {
	// TotalTokens is the size of all of it.
	TotalTokens int64
	// TextCount is the number of text characters, ImageCount of images.
	TextCount, ImageCount int64
	// VideoSeconds and AudioSeconds are the lengths of media.
	VideoSeconds, AudioSeconds int64
}

// CachedContentList is one page of cached contents.
type CachedContentList struct {
	// CachedContents has the page's elements. A page may be empty without being
	// the last one.
	CachedContents []*CachedContent
	// NextPageToken asks for the next page; empty after the last one.
	NextPageToken string
	// Meta says what the gateway did.
	Meta Meta
}

// Validate checks what no provider could keep: the model is there and something
// to keep, the messages and tools are ones that a chat completion takes, and the
// expiry is one. The error is an [ErrInvalidRequest] that names the member.
func (q *CachedContentRequest) Validate() error {
	if q.Model == "" {
		return Invalid("model", `a model is required, such as "gemini-2.5-flash" or "@slug/model"`)
	}
	if len(q.Messages) == 0 && len(q.Tools) == 0 {
		return Invalid("messages", "at least one message or tool is required: there is nothing to keep")
	}
	v := validator{}
	if err := v.messages(q.Messages); err != nil {
		return err
	}
	if err := validateTools(q.Tools); err != nil {
		return err
	}
	if q.TTL == 0 && q.ExpireTime.IsZero() {
		return nil
	}
	return CachedContentExpiry{TTL: q.TTL, ExpireTime: q.ExpireTime}.Validate()
}

// Validate checks that there is one expiry and that it is in the future.
func (x CachedContentExpiry) Validate() error {
	switch {
	case x.TTL != 0 && !x.ExpireTime.IsZero():
		return Invalid("expire_time", "give ttl or expire_time, not both")
	case x.TTL < 0:
		return Invalid("ttl", "must be positive: delete what is not to be kept")
	case x.TTL == 0 && x.ExpireTime.IsZero():
		return Invalid("ttl", "a positive ttl or an expire_time is required")
	case x.TTL == 0 && !x.ExpireTime.After(time.Now()):
		return Invalid("expire_time", "must be in the future: delete what is not to be kept")
	case x.ExpireTime.UTC().Year() > 9999: // which RFC 3339 has no form for
		return Invalid("expire_time", "must be before the year 10000: in numbers it is in Unix seconds, not milliseconds")
	}
	return nil
}
