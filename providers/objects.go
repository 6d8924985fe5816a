package providers

import (
	"context"
	"io"
	"time"
)

// ObjectStore is the ability to keep objects in buckets. A [Provider] that has
// it implements this too. An object that is not there is an [ErrFileNotFound].
// It is safe for concurrent use.
type ObjectStore interface {
	// PutObject writes what body has as one object, in bounded memory. A body
	// that fails leaves no object behind.
	PutObject(ctx context.Context, t *Target, at ObjectName, body io.Reader, o *ObjectOptions) (*Object, error)
	// GetObject returns the bytes of an object from an offset on. The reader's
	// errors are *[Error].
	GetObject(ctx context.Context, t *Target, at ObjectName, offset int64) (io.ReadCloser, error)
	// StatObject returns what is known of an object.
	StatObject(ctx context.Context, t *Target, at ObjectName) (*Object, error)
	// ListObjects returns one page of objects, in the order of their names.
	ListObjects(ctx context.Context, t *Target, q *ObjectQuery) (*ObjectList, error)
	// AnnotateObject replaces what is noted beside an object: its content type,
	// metadata and custom time.
	AnnotateObject(ctx context.Context, t *Target, at ObjectName, o *ObjectOptions) (*Object, error)
	// DeleteObject removes an object.
	DeleteObject(ctx context.Context, t *Target, at ObjectName) error
}

// ObjectName says where an object is.
type ObjectName struct {
	// Bucket is the bucket's name, without a scheme.
	Bucket string
	// Name is the object's name, which may have slashes.
	Name string
	// Generation, when it is not 0, is the one version of the object meant.
	Generation int64
}

// URI returns the object's address, gs://bucket/name.
func (n ObjectName) URI() string { return "gs://" + n.Bucket + "/" + n.Name }

// Object is what a store knows of an object.
type Object struct {
	ObjectName
	// Size is in bytes.
	Size int64
	// ContentType is the media type it was written with.
	ContentType string
	// Metadata are the caller's own notes.
	Metadata map[string]string
	// Created and Updated are zero when not told.
	Created, Updated time.Time
}

// ObjectOptions say how an object is written.
type ObjectOptions struct {
	// ContentType is its media type.
	ContentType string
	// Metadata are notes that stay with the object.
	Metadata map[string]string
	// CustomTime is a time of the caller's, for the rules of the bucket that
	// delete by it; zero for none.
	CustomTime time.Time
	// IfGeneration writes only over this version of the object, 0 only where
	// there is none; nil writes in any case. What does not hold is an error with
	// status 412.
	IfGeneration *int64
}

// ObjectQuery asks for objects.
type ObjectQuery struct {
	// Bucket is where, and Prefix what the names begin with.
	Bucket, Prefix string
	// From is the first name that may be listed; empty for all.
	From string
	// PageToken asks for a further page, Limit bounds it; 0 leaves that to the
	// store.
	PageToken string
	Limit     int
}

// ObjectList is one page of objects.
type ObjectList struct {
	Objects       []*Object
	NextPageToken string
}
