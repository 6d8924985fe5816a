package vertextest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// upload is a resumable upload under way.
type upload struct {
	bucket   string
	resource objectResource
	match    string // ifGenerationMatch
	data     []byte
}

// readResource decodes what is said of an object, strictly.
func readResource(body []byte, r *objectResource) error {
	if len(bytes.TrimSpace(body)) == 0 {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(r); err != nil {
		return invalid("The object resource can't be understood: %s", strings.TrimPrefix(err.Error(), "json: "))
	}
	return nil
}

// checkMatch applies ifGenerationMatch.
func (c *storeCall) checkMatch(name, match string) error {
	if match == "" {
		return nil
	}
	have := "0"
	if o, ok := c.server.store.objects[c.bucket+"/"+name]; ok {
		have = strconv.FormatInt(o.generation, 10)
	}
	if have != match {
		return &statusError{Code: http.StatusPreconditionFailed, Message: "At least one of the pre-conditions you specified did not hold."}
	}
	return nil
}

// checkName refuses names that no object can have.
//
// Source: https://cloud.google.com/storage/docs/objects#naming
func checkName(name string) error {
	if name == "" || len(name) > 1024 || strings.ContainsAny(name, "\r\n") || name == "." || name == ".." {
		return invalid("Invalid object name.")
	}
	return nil
}

// serveInsert begins an upload, or takes a small one whole.
func (c *storeCall) serveInsert() (response, error) {
	r := objectResource{Name: c.query.Get("name")}
	data := c.body
	match := c.query.Get("ifGenerationMatch")
	switch c.query.Get("uploadType") {
	case "media":
		r.ContentType = c.header.Get("Content-Type")
	case "multipart":
		var err error
		if data, err = c.readRelated(&r); err != nil {
			return response{}, err
		}
	case "resumable":
		if err := readResource(c.body, &r); err != nil {
			return response{}, err
		}
		if r.ContentType == "" {
			r.ContentType = c.header.Get("X-Upload-Content-Type")
		}
	default:
		return response{}, invalid("The uploadType must be media, multipart or resumable.")
	}
	if err := checkName(r.Name); err != nil {
		return response{}, err
	}
	if err := c.checkMatch(r.Name, match); err != nil {
		return response{}, err
	}
	if c.query.Get("uploadType") != "resumable" {
		return storeJSON(http.StatusOK, c.server.put(c.bucket, r, slices.Clone(data)).told())
	}
	id := fmt.Sprintf("session-%d", len(c.server.store.uploads)+1)
	if c.server.store.uploads == nil {
		c.server.store.uploads = map[string]*upload{}
	}
	c.server.store.uploads[id] = &upload{bucket: c.bucket, resource: r, match: match}
	h := jsonHeader()
	h.Set("Location", "https://"+c.host+"/upload/storage/v1/b/"+url.PathEscape(c.bucket)+"/o?uploadType=resumable&upload_id="+id)
	return response{status: http.StatusOK, header: h}, nil
}

// readRelated reads a body of two parts: what is said of an object, and it.
func (c *storeCall) readRelated(r *objectResource) ([]byte, error) {
	kind, params, err := mime.ParseMediaType(c.header.Get("Content-Type"))
	if err != nil || kind != "multipart/related" || params["boundary"] == "" {
		return nil, invalid("A multipart upload must be of the type multipart/related.")
	}
	parts := multipart.NewReader(bytes.NewReader(c.body), params["boundary"])
	var texts [2][]byte
	for i := range texts {
		part, err := parts.NextRawPart()
		if err != nil {
			return nil, invalid("Malformed multipart body.")
		}
		if texts[i], err = io.ReadAll(part); err != nil {
			return nil, invalid("Malformed multipart body.")
		}
		if i == 1 && r.ContentType == "" {
			r.ContentType = part.Header.Get("Content-Type")
		}
		if i == 0 {
			if err := readResource(texts[0], r); err != nil {
				return nil, err
			}
		}
	}
	return texts[1], nil
}

// contentRange is the header of a chunk.
var contentRange = regexp.MustCompile(`^bytes (?:\*|(\d+)-(\d+))/(?:\*|(\d+))$`)

// chunkUnit is what all chunks but the last one are multiples of.
const chunkUnit = 256 << 10

// serveChunk takes a chunk of an upload, or tells how much it has.
//
// Source: https://cloud.google.com/storage/docs/performing-resumable-uploads
func (c *storeCall) serveChunk() (response, error) {
	id := c.query.Get("upload_id")
	u, ok := c.server.store.uploads[id]
	if !ok || u.bucket != c.bucket {
		return response{}, &statusError{Code: http.StatusNotFound, Message: "No such upload session."}
	}
	if c.method == http.MethodDelete {
		delete(c.server.store.uploads, id)
		return response{status: 499, header: jsonHeader()}, nil
	}
	m := contentRange.FindStringSubmatch(c.header.Get("Content-Range"))
	if m == nil {
		return response{}, invalid("Failed to parse Content-Range header.")
	}
	total := -1
	if m[3] != "" {
		total, _ = strconv.Atoi(m[3])
	}
	if m[1] != "" {
		from, _ := strconv.Atoi(m[1])
		to, _ := strconv.Atoi(m[2])
		switch {
		case to-from+1 != len(c.body):
			return response{}, invalid("The Content-Range does not fit the body.")
		case total < 0 && len(c.body)%chunkUnit != 0:
			return response{}, invalid("The size of a chunk that is not the last must be a multiple of 262144 bytes.")
		case from > len(u.data):
			return response{}, &statusError{Code: http.StatusServiceUnavailable, Message: "Invalid request. There are bytes missing before the chunk."}
		}
		taken := c.body
		if most := c.cfg.chunkMost; most > 0 && int64(len(taken)) > most {
			taken = taken[:most]
		}
		u.data = append(u.data[:from:from], taken...)
	} else if len(c.body) > 0 {
		return response{}, invalid("The Content-Range does not fit the body.")
	}
	if total < 0 || len(u.data) < total {
		return resumeIncomplete(u), nil
	}
	if len(u.data) > total {
		return response{}, invalid("The upload has more bytes than it said.")
	}
	if err := c.checkMatch(u.resource.Name, u.match); err != nil {
		return response{}, err
	}
	delete(c.server.store.uploads, id)
	return storeJSON(http.StatusOK, c.server.put(c.bucket, u.resource, u.data).told())
}

// resumeIncomplete asks for the rest of an upload.
func resumeIncomplete(u *upload) response {
	h := http.Header{"Content-Type": {"text/plain; charset=utf-8"}}
	if n := len(u.data); n > 0 {
		h.Set("Range", fmt.Sprintf("bytes=0-%d", n-1))
	}
	return response{status: http.StatusPermanentRedirect, header: h}
}
