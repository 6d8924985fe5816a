package gemini

import "github.com/b650d4bf/gateway/internal/jsonx"

// TokenCount is the answer of countTokens.
//
// Source: https://cloud.google.com/vertex-ai/generative-ai/docs/model-reference/count-tokens
type TokenCount struct {
	Total, BillableCharacters int64
	// HasTotal says that the total was there at all.
	HasTotal   bool
	Modalities []ModalityCount
}

// ModalityCount is a ModalityTokenCount: the tokens of one kind of content.
type ModalityCount struct {
	Modality string
	Tokens   int64
}

// Decode reads one object. A member that is null counts as not given.
func (c *TokenCount) Decode(r *jsonx.Reader) {
	*c = TokenCount{}
	for r.Object(); r.NextKey(); {
		if r.Null() {
			continue
		}
		switch string(r.Key()) {
		case "totalTokens":
			c.Total, c.HasTotal = r.LooseInt(), true
		case "totalBillableCharacters":
			c.BillableCharacters = r.LooseInt()
		case "promptTokensDetails":
			for r.Array(); r.NextElem(); {
				c.Modalities = append(c.Modalities, modalityCount(r))
			}
		default:
			r.Skip()
		}
	}
}

func modalityCount(r *jsonx.Reader) ModalityCount {
	var m ModalityCount
	for r.Object(); r.NextKey(); {
		switch string(r.Key()) {
		case "modality":
			m.Modality = enum(r, modalityNumbers, "TEXT")
		case "tokenCount":
			m.Tokens = r.LooseInt()
		default:
			r.Skip()
		}
	}
	return m
}

// CachedContent is one cached content, without what it holds, which the platform
// does not give back. Times are RFC 3339 text.
//
// Source: https://cloud.google.com/vertex-ai/generative-ai/docs/context-cache/context-cache-getinfo
type CachedContent struct {
	Name, DisplayName, Model, KMSKeyName string

	CreateTime, UpdateTime, ExpireTime string

	TotalTokens, TextCount, ImageCount, VideoSeconds, AudioSeconds int64
}

// Decode reads one object. A member that is null counts as not given.
func (c *CachedContent) Decode(r *jsonx.Reader) {
	*c = CachedContent{}
	for r.Object(); r.NextKey(); {
		if r.Null() {
			continue
		}
		switch string(r.Key()) {
		case "name":
			c.Name = r.String()
		case "displayName":
			c.DisplayName = r.String()
		case "model":
			c.Model = r.String()
		case "createTime":
			c.CreateTime = r.String()
		case "updateTime":
			c.UpdateTime = r.String()
		case "expireTime":
			c.ExpireTime = r.String()
		case "encryptionSpec":
			c.decodeEncryption(r)
		case "usageMetadata":
			c.decodeUsage(r)
		default:
			r.Skip()
		}
	}
}

func (c *CachedContent) decodeEncryption(r *jsonx.Reader) {
	for r.Object(); r.NextKey(); {
		if string(r.Key()) == "kmsKeyName" {
			c.KMSKeyName = r.String()
		} else {
			r.Skip()
		}
	}
}

func (c *CachedContent) decodeUsage(r *jsonx.Reader) {
	for r.Object(); r.NextKey(); {
		switch string(r.Key()) {
		case "totalTokenCount":
			c.TotalTokens = r.LooseInt()
		case "textCount":
			c.TextCount = r.LooseInt()
		case "imageCount":
			c.ImageCount = r.LooseInt()
		case "videoDurationSeconds":
			c.VideoSeconds = r.LooseInt()
		case "audioDurationSeconds":
			c.AudioSeconds = r.LooseInt()
		default:
			r.Skip()
		}
	}
}

// CachedContentList is one page of a list.
type CachedContentList struct {
	CachedContents []CachedContent
	NextPageToken  string
}

// Decode reads one object.
func (l *CachedContentList) Decode(r *jsonx.Reader) {
	*l = CachedContentList{}
	for r.Object(); r.NextKey(); {
		switch string(r.Key()) {
		case "cachedContents":
			for r.Array(); r.NextElem(); {
				var c CachedContent
				c.Decode(r)
				l.CachedContents = append(l.CachedContents, c)
			}
		case "nextPageToken":
			l.NextPageToken = r.String()
		default:
			r.Skip()
		}
	}
}
