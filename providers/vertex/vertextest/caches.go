package vertextest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Limits of explicit caches.
//
// Source: https://cloud.google.com/vertex-ai/generative-ai/docs/context-cache/context-cache-overview
const (
	defaultTTL      = time.Hour
	defaultPageSize = 100
	maxPageSize     = 1000
)

// cache is an explicit cache.
type cache struct {
	name, model, displayName string
	created, updated, expire time.Time
	kept                     request
	size                     tally
}

// cacheRequest is the body of a call that makes or changes a cache.
type cacheRequest struct {
	request
	Model       string `json:"model"`
	DisplayName string `json:"displayName"`
	TTL         string `json:"ttl"`
	ExpireTime  string `json:"expireTime"`
}

// cacheResource is a cache as it is told to callers.
type cacheResource struct {
	Name          string     `json:"name"`
	Model         string     `json:"model"`
	CreateTime    string     `json:"createTime"`
	UpdateTime    string     `json:"updateTime"`
	ExpireTime    string     `json:"expireTime"`
	DisplayName   string     `json:"displayName,omitempty"`
	UsageMetadata cacheUsage `json:"usageMetadata"`
}

type cacheUsage struct {
	TotalTokenCount int `json:"totalTokenCount"`
	TextCount       int `json:"textCount,omitempty"`
	ImageCount      int `json:"imageCount,omitempty"`
}

// resource returns what callers are told.
func (c *cache) resource() cacheResource {
	u := cacheUsage{TotalTokenCount: c.size.total()}
	contents := c.kept.Contents
	if c.kept.SystemInstruction != nil {
		contents = append(slices.Clone(contents), *c.kept.SystemInstruction)
	}
	for _, one := range contents {
		for _, p := range one.Parts {
			u.TextCount += utf8.RuneCountInString(p.text())
			if p.InlineData != nil && modalityOf(p.InlineData.MimeType) == "IMAGE" || p.FileData != nil && modalityOf(p.FileData.MimeType) == "IMAGE" {
				u.ImageCount++
			}
		}
	}
	return cacheResource{
		Name: c.name, Model: c.model, DisplayName: c.displayName, UsageMetadata: u,
		CreateTime: stamp(c.created), UpdateTime: stamp(c.updated), ExpireTime: stamp(c.expire),
	}
}

// stamp writes a time the way the platform does.
func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000000Z") }

// cacheModel is the name a cache gives to its model.
var cacheModel = regexp.MustCompile(`^(?:projects/([^/]+)/locations/([^/]+)/)?publishers/google/models/([^/]+)$`)

// checkCreateCache checks the body of a call that makes a cache.
func checkCreateCache(x *exchange) error {
	body, err := x.decodeCache()
	if err != nil {
		return err
	}
	named := cacheModel.FindStringSubmatch(body.Model)
	switch {
	case named == nil:
		return invalid("Invalid model name. Expected projects/{project}/locations/{location}/publishers/google/models/{model}.")
	case named[2] != "" && named[2] != x.target.location:
		return invalid("The location of the model doesn't match the location of the cached content.")
	}
	x.target.publisher, x.target.model = "google", named[3]
	if err := x.findModel(); err != nil {
		return err
	}
	x.req = body.request
	if !x.cfg.withoutChecks {
		if err := x.checkCacheContent(); err != nil {
			return err
		}
	}
	expire, err := body.expiry(time.Now(), defaultTTL)
	if err != nil {
		return err
	}
	x.cached = &cache{
		model:       x.target.numbered() + "/publishers/google/models/" + named[3],
		displayName: body.DisplayName, expire: expire, kept: body.request, size: promptTally(&body.request),
	}
	return nil
}

// decodeCache decodes a body, which has to fit the schema.
func (x *exchange) decodeCache() (cacheRequest, error) {
	var body cacheRequest
	v, err := decodeBody(x.body)
	if err != nil {
		return body, err
	}
	if err := x.checkRefused(v); err != nil {
		return body, err
	}
	if !x.cfg.withoutChecks {
		if err := checkValue("CachedContent", v); err != nil {
			return body, err
		}
	}
	if err := json.Unmarshal(x.body, &body); err != nil && !x.cfg.withoutChecks {
		return body, invalid("Invalid JSON payload received.")
	}
	return body, nil
}

// checkCacheContent applies the rules of requests to what is to be cached.
func (x *exchange) checkCacheContent() error {
	if !x.rules.explicitCache {
		return invalid("Cached content is not supported by this model.")
	}
	rules := []func(*exchange) error{checkSystemInstruction, checkIDs, checkMedia, checkToolKinds, checkFunctions}
	if len(x.req.Contents) > 0 {
		rules = append([]func(*exchange) error{checkContents}, rules...)
	}
	for _, rule := range rules {
		if err := rule(x); err != nil {
			return err
		}
	}
	least := x.rules.cacheMinimum
	if x.cfg.cacheMinimum != nil {
		least = *x.cfg.cacheMinimum
	}
	size := promptTally(&x.req)
	if n := size.total(); n < least {
		return invalid("The cached content is of %d tokens. The minimum token count to start caching is %d.", n, least)
	}
	return nil
}

// expiry returns when the cache ends: after its ttl, at its expireTime or, with
// neither, after the default; a zero default wants one of them.
func (r cacheRequest) expiry(now time.Time, otherwise time.Duration) (time.Time, error) {
	switch {
	case r.TTL != "" && r.ExpireTime != "":
		return time.Time{}, invalid("Invalid value at 'cached_content' (oneof), oneof field 'expiration' is already set. Cannot set 'ttl'")
	case r.ExpireTime != "":
		t, err := time.Parse(time.RFC3339Nano, r.ExpireTime)
		if err != nil {
			return time.Time{}, invalid("Invalid value at 'cached_content.expire_time' (type.googleapis.com/google.protobuf.Timestamp).")
		}
		if !t.After(now) {
			return time.Time{}, invalid("The expire_time of cached content must be in the future.")
		}
		return t, nil
	case r.TTL != "":
		d, err := time.ParseDuration(r.TTL)
		if err != nil || d <= 0 {
			return time.Time{}, invalid("The ttl of cached content must be greater than 0.")
		}
		return now.Add(d), nil
	case otherwise == 0:
		return time.Time{}, invalid("One of ttl and expire_time must be set.")
	}
	return now.Add(otherwise), nil
}

// createCache keeps the cache that was checked.
func createCache(x *exchange) (response, error) {
	c := x.cached
	c.created = time.Now()
	c.updated = c.created
	x.server.keepCache(x.target, c)
	return jsonResponse(c.resource())
}

// checkFindCache finds the cache a path names.
func checkFindCache(x *exchange) error {
	c := x.server.findCache(x.target.cacheName())
	if c == nil {
		return noCache(x.target.cache)
	}
	x.cached = c
	return nil
}

// noCache is the platform's refusal of a cache that isn't there, or not any more.
func noCache(id string) error {
	return &statusError{Code: http.StatusNotFound, Status: "NOT_FOUND", Message: fmt.Sprintf("Not found: cache content metadata %s.", id)}
}

func getCache(x *exchange) (response, error) { return jsonResponse(x.cached.resource()) }

func deleteCache(x *exchange) (response, error) {
	x.server.dropCache(x.cached.name)
	return jsonResponse(struct{}{})
}

// checkUpdateCache checks a change of a cache: only its end can be changed.
func checkUpdateCache(x *exchange) error {
	if err := checkFindCache(x); err != nil {
		return err
	}
	body, err := x.decodeCache()
	if err != nil {
		return err
	}
	for mask := range strings.SplitSeq(x.query.Get("updateMask"), ",") {
		switch {
		case mask == "":
			return invalid("The update_mask must be set.")
		case mask != "ttl" && mask != "expireTime" && mask != "expire_time":
			return invalid("Only ttl and expire_time of cached content can be updated.")
		case (mask == "ttl") != (body.TTL != ""):
			return invalid("The update_mask names a field that isn't set.")
		}
	}
	if body.TTL == "" && body.ExpireTime == "" {
		return invalid("One of ttl and expire_time must be set.")
	}
	x.expire, err = body.expiry(time.Now(), 0)
	return err
}

func updateCache(x *exchange) (response, error) {
	changed := *x.cached
	changed.expire, changed.updated = x.expire, time.Now()
	x.server.replaceCache(&changed)
	return jsonResponse(changed.resource())
}

// listCaches lists the caches of a location, oldest first. A page token is the
// index of the first cache that wasn't listed.
func listCaches(x *exchange) (response, error) {
	size, from, err := page(x.query)
	if err != nil {
		return response{}, err
	}
	all := x.server.cachesIn(x.target.numbered() + "/cachedContents/")
	var out struct {
		CachedContents []cacheResource `json:"cachedContents,omitempty"`
		NextPageToken  string          `json:"nextPageToken,omitempty"`
	}
	for _, c := range all[min(from, len(all)):min(from+size, len(all))] {
		out.CachedContents = append(out.CachedContents, c.resource())
	}
	if from+size < len(all) {
		out.NextPageToken = strconv.Itoa(from + size)
	}
	return jsonResponse(out)
}

// page reads the query of a list.
func page(query url.Values) (size, from int, err error) {
	size = defaultPageSize
	if s := query.Get("pageSize"); s != "" {
		if size, err = strconv.Atoi(s); err != nil || size < 0 {
			return 0, 0, invalid("Invalid value at 'page_size' (TYPE_INT32), %q", s)
		}
		if size == 0 {
			size = defaultPageSize
		}
	}
	if s := query.Get("pageToken"); s != "" {
		if from, err = indexOf(s); err != nil {
			return 0, 0, invalid("The page token is invalid.")
		}
	}
	return min(size, maxPageSize), from, nil
}

// useCache puts the content of the request's cache before its own. As long as no
// cache was made on this server, any name will do and nothing is known of its
// content.
func useCache(x *exchange) error {
	name := x.req.CachedContent
	if name == "" || !x.server.madeCaches() {
		return nil
	}
	named := cacheName.FindStringSubmatch(name) // has been checked
	of := target{project: named[1], location: named[2], cache: named[3]}
	if of.numbered() != x.target.numbered() {
		return invalid("The cached content must be in the same project and location as the request.")
	}
	c := x.server.findCache(of.cacheName())
	switch {
	case c == nil:
		return noCache(of.cache)
	case x.target.publisher != "" && !strings.HasSuffix(c.model, "/models/"+x.target.model):
		return invalid("Cached content model does not match the model in the request.")
	}
	x.cached = c
	x.req.Contents = append(slices.Clone(c.kept.Contents), x.req.Contents...)
	x.req.SystemInstruction, x.req.Tools, x.req.ToolConfig = c.kept.SystemInstruction, c.kept.Tools, c.kept.ToolConfig
	return nil
}
