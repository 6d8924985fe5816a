package providers

import (
	"io"
	"strings"
	"time"

	"github.com/b650d4bf/gateway/internal/jsonx"
)

// The purposes of files that mean something to the gateway. Others are kept as
// they are given.
const (
	// PurposeBatch is a file of requests for a batch.
	PurposeBatch = "batch"
	// PurposeBatchOutput is a file of answers, which a batch made.
	PurposeBatchOutput = "batch_output"
)

// FileRequest says what to keep.
type FileRequest struct {
	// File is read once, to its end, as it is sent.
	File io.Reader
	// Filename is for people.
	Filename string
	// Purpose is what the file is for, such as "batch".
	Purpose string
	// ContentType is the media type; empty means application/octet-stream, for a
	// batch application/jsonl.
	ContentType string
	// ExpiresAfter is how long the file can be read, from one hour to 30 days; 0
	// for good.
	ExpiresAfter time.Duration
	// MaxBytes bounds the file; 0 means [DefaultMaxFile].
	MaxBytes int64
	// Trailer, where it is given, is called once the file has been read, and fills
	// in what came behind it, as in the forms of some clients.
	Trailer func(*FileRequest) error
}

// DefaultMaxFile is the most bytes of a file where nothing else is said: as much
// as the platform reads for one batch.
//
// Source: https://cloud.google.com/vertex-ai/generative-ai/docs/multimodal/batch-prediction-from-cloud-storage
const DefaultMaxFile = 1 << 30

// The limits of [FileRequest.ExpiresAfter].
//
// Source: https://platform.openai.com/docs/api-reference/files/create
const (
	minExpiry = time.Hour
	maxExpiry = 30 * 24 * time.Hour
)

// Validate checks what can be known before anything is sent.
func (q *FileRequest) Validate() error {
	switch {
	case q.File == nil:
		return Invalid("file", "a file is required")
	case q.Purpose == "" && q.Trailer == nil:
		return Invalid("purpose", `a purpose is required, such as "batch"`)
	case !isNote(q.Purpose, 64):
		return Invalid("purpose", "must have at most 64 printable characters")
	case !isNote(q.Filename, 512):
		return Invalid("file", "the file's name must have at most 512 printable characters")
	case !isNote(q.ContentType, 128):
		return Invalid("file", "the file's content type must have at most 128 printable characters")
	case q.ExpiresAfter != 0 && (q.ExpiresAfter < minExpiry || q.ExpiresAfter > maxExpiry):
		return Invalid("expires_after.seconds", "must be from 3600 to 2592000 seconds")
	case q.MaxBytes < 0:
		return Invalid("max_bytes", "must not be negative")
	}
	return nil
}

// isNote reports whether s can be kept beside an object.
func isNote(s string, most int) bool {
	return len(s) <= most && !strings.ContainsFunc(s, func(c rune) bool { return c < ' ' || c == 0x7f || c == 0xfffd })
}

// FileObject is a file as the OpenAI schema shows it. Times are Unix seconds, 0
// for none.
type FileObject struct {
	ID string
	// Bytes is the size. That of a batch's output is the platform's, before it is
	// put into the OpenAI schema.
	Bytes                int64
	CreatedAt, ExpiresAt int64
	Filename, Purpose    string
	// Meta says what the gateway did.
	Meta Meta
}

// AppendJSON appends the file as the OpenAI schema has it.
func (f *FileObject) AppendJSON(dst []byte) ([]byte, error) {
	w := writer(dst)
	f.put(&w)
	return append(dst, w.Bytes()...), w.Err()
}

// MarshalJSON encodes the file.
func (f FileObject) MarshalJSON() ([]byte, error) { return encode(f.put) }

func (f *FileObject) put(w *jsonx.Writer) {
	w.BeginObject()
	w.Key("id")
	w.String(f.ID)
	w.Key("object")
	w.String("file")
	w.Key("bytes")
	w.Int(f.Bytes)
	w.Key("created_at")
	w.Int(f.CreatedAt)
	putTime(w, "expires_at", f.ExpiresAt, false)
	w.Key("filename")
	w.String(f.Filename)
	w.Key("purpose")
	w.String(f.Purpose)
	w.Key("status")
	w.String("processed")
	w.EndObject()
}

// putTime writes a time, or null if it is none and wanted.
func putTime(w *jsonx.Writer, key string, at int64, always bool) {
	switch {
	case at != 0:
		w.Key(key)
		w.Int(at)
	case always:
		w.Key(key)
		w.Null()
	}
}

// ListQuery asks for one page of files or batches, newest first.
type ListQuery struct {
	// After is the id of the last element of the page before.
	After string
	// Limit is the most elements of a page; 0 means 20 batches, or 100 files.
	Limit int
	// Purpose is that of the files wanted; empty for all.
	Purpose string
}

// FileList is one page of files.
type FileList struct {
	Data    []*FileObject
	HasMore bool
	// Meta says what the gateway did.
	Meta Meta
}

// AppendJSON appends the page as the OpenAI schema has it.
func (l *FileList) AppendJSON(dst []byte) ([]byte, error) {
	return appendPage(dst, l.Data, l.HasMore, func(f *FileObject) string { return f.ID }, (*FileObject).put)
}

// appendPage appends a page of a list.
func appendPage[T any](dst []byte, data []T, more bool, id func(T) string, enc func(T, *jsonx.Writer)) ([]byte, error) {
	w := writer(dst)
	w.BeginObject()
	w.Key("object")
	w.String("list")
	w.Key("data")
	w.BeginArray()
	for _, one := range data {
		enc(one, &w)
	}
	w.EndArray()
	for _, end := range []struct {
		key string
		at  int
	}{{"first_id", 0}, {"last_id", len(data) - 1}} {
		w.Key(end.key)
		if len(data) == 0 {
			w.Null()
		} else {
			w.String(id(data[end.at]))
		}
	}
	w.Key("has_more")
	w.Bool(more)
	w.EndObject()
	return append(dst, w.Bytes()...), w.Err()
}

// FileDeletion is what a deletion answers.
type FileDeletion struct {
	ID   string
	Meta Meta
}

// AppendJSON appends the deletion as the OpenAI schema has it.
func (d *FileDeletion) AppendJSON(dst []byte) ([]byte, error) {
	w := writer(dst)
	w.BeginObject()
	w.Key("id")
	w.String(d.ID)
	w.Key("object")
	w.String("file")
	w.Key("deleted")
	w.Bool(true)
	w.EndObject()
	return append(dst, w.Bytes()...), w.Err()
}
