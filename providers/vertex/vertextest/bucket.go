package vertextest

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// bucketStore is what the buckets hold.
type bucketStore struct {
	objects     map[string]*object // by bucket/name
	uploads     map[string]*upload // by their session
	generations int64
}

// object is one object.
type object struct {
	bucket, name     string
	data             []byte
	resource         objectResource
	generation       int64
	created, updated time.Time
}

// objectResource is what a caller may say of an object.
type objectResource struct {
	Name        string            `json:"name,omitempty"`
	ContentType string            `json:"contentType,omitempty"`
	Metadata    map[string]string `json:"metadata,omitempty"`
	CustomTime  string            `json:"customTime,omitempty"`
}

// told is an object as callers are told of it.
//
// Source: https://cloud.google.com/storage/docs/json_api/v1/objects
type told struct {
	Kind        string            `json:"kind"`
	ID          string            `json:"id"`
	Name        string            `json:"name"`
	Bucket      string            `json:"bucket"`
	Generation  string            `json:"generation"`
	ContentType string            `json:"contentType,omitempty"`
	Size        string            `json:"size"`
	Metadata    map[string]string `json:"metadata,omitempty"`
	TimeCreated string            `json:"timeCreated"`
	Updated     string            `json:"updated"`
	CustomTime  string            `json:"customTime,omitempty"`
}

func (o *object) told() told {
	generation := strconv.FormatInt(o.generation, 10)
	return told{
		Kind: "storage#object", ID: o.bucket + "/" + o.name + "/" + generation, Name: o.name, Bucket: o.bucket, Generation: generation,
		ContentType: o.resource.ContentType, Size: strconv.Itoa(len(o.data)), Metadata: o.resource.Metadata,
		TimeCreated: stamp(o.created), Updated: stamp(o.updated), CustomTime: o.resource.CustomTime,
	}
}

// Object returns the bytes of an object, and whether it is there. A bucket is
// there once it is named.
func (s *Server) Object(bucket, name string) ([]byte, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.settleJobs(time.Now())
	o, ok := s.store.objects[bucket+"/"+name]
	if !ok {
		return nil, false
	}
	return slices.Clone(o.data), true
}

// Objects returns the names of a bucket's objects, in their order.
func (s *Server) Objects(bucket string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.settleJobs(time.Now())
	var names []string
	for _, o := range s.listed(bucket, "") {
		names = append(names, o.name)
	}
	return names
}

// PutObject keeps an object in a bucket, as somebody else would have.
func (s *Server) PutObject(bucket, name string, data []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.put(bucket, objectResource{Name: name}, slices.Clone(data))
}

// RemoveObject removes an object, as somebody else would have.
func (s *Server) RemoveObject(bucket, name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.store.objects, bucket+"/"+name)
}

// WithChunkLimit makes the store take at most n bytes of each chunk of a
// resumable upload, and ask for the rest. A multiple of 256 KiB is what the
// platform would take.
func WithChunkLimit(n int64) Option { return func(c *config) { c.chunkMost = n } }

// put writes an object. The caller holds the lock.
func (s *Server) put(bucket string, r objectResource, data []byte) *object {
	if s.store.objects == nil {
		s.store.objects = map[string]*object{}
	}
	s.store.generations++
	now := time.Now()
	o := &object{bucket: bucket, name: r.Name, data: data, resource: r, generation: 1_700_000_000_000_000 + s.store.generations, created: now, updated: now}
	s.store.objects[bucket+"/"+r.Name] = o
	return o
}

// listed returns the objects whose names begin so. The caller holds the lock.
func (s *Server) listed(bucket, prefix string) []*object {
	var list []*object
	for _, o := range s.store.objects {
		if o.bucket == bucket && strings.HasPrefix(o.name, prefix) {
			list = append(list, o)
		}
	}
	slices.SortFunc(list, func(a, b *object) int { return strings.Compare(a.name, b.name) })
	return list
}

// noObject is the store's refusal of an object that is not there.
func noObject(bucket, name string) error {
	return &statusError{Code: http.StatusNotFound, Message: fmt.Sprintf("No such object: %s/%s", bucket, name)}
}

// storeCall is one call of the store's JSON API.
type storeCall struct {
	*jobCall
	bucket, name string
}

// serveStat answers with what is known of an object.
func (c *storeCall) serveStat() (response, error) {
	o, err := c.find()
	if err != nil {
		return response{}, err
	}
	return storeJSON(http.StatusOK, o.told())
}

// find finds the object of the path, in the version asked for.
func (c *storeCall) find() (*object, error) {
	o, ok := c.server.store.objects[c.bucket+"/"+c.name]
	if !ok {
		return nil, noObject(c.bucket, c.name)
	}
	if g := c.query.Get("generation"); g != "" && g != strconv.FormatInt(o.generation, 10) {
		return nil, noObject(c.bucket, c.name)
	}
	return o, nil
}

// serveBytes answers with an object's bytes, from an offset on if asked to.
func (c *storeCall) serveBytes() (response, error) {
	o, err := c.find()
	if err != nil {
		return response{}, err
	}
	h := http.Header{"Content-Type": {o.resource.ContentType}, "X-Goog-Generation": {strconv.FormatInt(o.generation, 10)}}
	data, status := o.data, http.StatusOK
	if spread := c.header.Get("Range"); spread != "" {
		text, ok := strings.CutSuffix(strings.TrimPrefix(spread, "bytes="), "-")
		from, err := strconv.Atoi(text)
		switch {
		case !ok || err != nil:
			return response{}, invalid("The emulator knows ranges of the form bytes=N- only.")
		case from >= len(data):
			return response{}, &statusError{Code: http.StatusRequestedRangeNotSatisfiable, Message: "The requested range cannot be satisfied."}
		}
		h.Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", from, len(data)-1, len(data)))
		data, status = data[from:], http.StatusPartialContent
	}
	res := response{status: status, header: h}
	const piece = 64 << 10
	for len(data) > piece {
		res.events, data = append(res.events, data[:piece]), data[piece:]
	}
	res.events = append(res.events, data)
	return res, nil
}

// serveList answers with one page of objects.
func (c *storeCall) serveList() (response, error) {
	for name := range c.query {
		if !slices.Contains([]string{"prefix", "startOffset", "endOffset", "pageToken", "maxResults", "fields", "prettyPrint", "alt", "projection"}, name) {
			return response{}, invalid("The emulator does not know the parameter %s.", name)
		}
	}
	most := 1000
	if text := c.query.Get("maxResults"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			return response{}, invalid("Invalid value for maxResults: %s.", text)
		}
		most = min(n, most)
	}
	var out struct {
		Kind          string `json:"kind"`
		NextPageToken string `json:"nextPageToken,omitempty"`
		Items         []told `json:"items,omitempty"`
	}
	out.Kind = "storage#objects"
	for _, o := range c.server.listed(c.bucket, c.query.Get("prefix")) {
		end := c.query.Get("endOffset")
		if o.name < c.query.Get("startOffset") || end != "" && o.name >= end || o.name <= c.query.Get("pageToken") {
			continue
		}
		if len(out.Items) == most {
			out.NextPageToken = out.Items[most-1].Name
			break
		}
		out.Items = append(out.Items, o.told())
	}
	return storeJSON(http.StatusOK, out)
}

// servePatch changes what is said of an object.
func (c *storeCall) servePatch() (response, error) {
	o, err := c.find()
	if err != nil {
		return response{}, err
	}
	var r objectResource
	if err := readResource(c.body, &r); err != nil {
		return response{}, err
	}
	changed := *o
	if r.ContentType != "" {
		changed.resource.ContentType = r.ContentType
	}
	if r.Metadata != nil {
		changed.resource.Metadata = r.Metadata
	}
	if r.CustomTime != "" {
		changed.resource.CustomTime = r.CustomTime
	}
	changed.updated = time.Now()
	c.server.store.objects[c.bucket+"/"+c.name] = &changed
	return storeJSON(http.StatusOK, changed.told())
}

// serveDelete removes an object.
func (c *storeCall) serveDelete() (response, error) {
	if _, err := c.find(); err != nil {
		return response{}, err
	}
	delete(c.server.store.objects, c.bucket+"/"+c.name)
	return response{status: http.StatusNoContent, header: http.Header{}}, nil
}
