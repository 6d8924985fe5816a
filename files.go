package gateway

import (
	"context"
	"io"
	"iter"

	"github.com/b650d4bf/gateway/catalog"
	"github.com/b650d4bf/gateway/internal/batch"
	"github.com/b650d4bf/gateway/internal/front"
	"github.com/b650d4bf/gateway/internal/pipeline"
	"github.com/b650d4bf/gateway/providers"
)

// FilesService keeps files in the bucket that [WithBucket] names, with the
// credentials of the platform. Nothing of a file is kept in the process: any
// client with the same bucket finds it by its id. It is safe for concurrent use.
type FilesService struct{ client *Client }

// WithBucket names the Cloud Storage bucket that files and batches are kept in,
// as "gs://BUCKET" or "gs://BUCKET/PREFIX". There is no default. The credentials
// must be able to read and write objects there, and so must the platform's
// service agent for batches.
func WithBucket(uri string) Option {
	return option(func(s *pipeline.Settings) error {
		if _, err := batch.ParsePlace(uri); err != nil {
			return err
		}
		s.Bucket = uri
		return nil
	})
}

// WithStorageURL replaces scheme and host of Cloud Storage, as [WithBaseURL] does
// those of the platform. The access token goes there.
func WithStorageURL(url string) Option {
	return option(func(s *pipeline.Settings) error {
		if url == "" {
			return invalidOption("storage_url", "must not be empty")
		}
		if err := (catalog.Entry{StorageURL: url}).CheckPlace(); err != nil {
			return invalidOption("", err.Error())
		}
		s.StorageURL = url
		return nil
	})
}

// Create keeps a file. It is read once and sent as it is read, in bounded memory;
// a chunk that does not arrive is sent again. The reader's error ends the upload,
// and no part of the file stays.
func (s *FilesService) Create(ctx context.Context, req *FileRequest, opts ...RequestOption) (*FileObject, error) {
	call, err := s.prepare(opts)
	switch {
	case err != nil:
		return nil, err
	case req == nil:
		return nil, providers.Invalid("request", "the request is nil")
	}
	return s.client.engine.CreateFile(ctx, s.client.settings, call, req)
}

// Get returns what is known of a file. One that is not there is an
// [ErrFileNotFound].
func (s *FilesService) Get(ctx context.Context, id string, opts ...RequestOption) (*FileObject, error) {
	call, err := s.prepare(opts)
	if err != nil {
		return nil, err
	}
	return s.client.engine.GetFile(ctx, s.client.settings, call, id)
}

// Content returns the bytes of a file, which the caller closes. Those of a
// batch's output and error file are put into the OpenAI schema as they are read.
func (s *FilesService) Content(ctx context.Context, id string, opts ...RequestOption) (io.ReadCloser, error) {
	call, err := s.prepare(opts)
	if err != nil {
		return nil, err
	}
	body, _, err := s.client.engine.FileContent(ctx, s.client.settings, call, id)
	return body, err
}

// Page returns one page of the files that were created, newest first.
func (s *FilesService) Page(ctx context.Context, q ListQuery, opts ...RequestOption) (*FileList, error) {
	call, err := s.prepare(opts)
	if err != nil {
		return nil, err
	}
	return s.client.engine.ListFiles(ctx, s.client.settings, call, &q)
}

// List returns the files that were created for a range loop, newest first, from
// behind the query's After on. Pages are fetched as the loop needs them. An error
// is the last element. Ranging again begins anew.
func (s *FilesService) List(ctx context.Context, q ListQuery, opts ...RequestOption) iter.Seq2[*FileObject, error] {
	return listed(q, func(q ListQuery) (list []*FileObject, more bool, err error) {
		page, err := s.Page(ctx, q, opts...)
		if err != nil {
			return nil, false, err
		}
		return page.Data, page.HasMore, nil
	}, func(one *FileObject) string { return one.ID })
}

// listed returns what pages have for a range loop, each page from behind the last
// one of that before.
func listed[T any](q ListQuery, page func(ListQuery) (list []*T, more bool, err error), id func(*T) string) iter.Seq2[*T, error] {
	return func(yield func(*T, error) bool) {
		for q := q; ; {
			list, more, err := page(q)
			if err != nil {
				yield(nil, err)
				return
			}
			for _, one := range list {
				if !yield(one, nil) {
					return
				}
				q.After = id(one)
			}
			if !more || len(list) == 0 {
				return
			}
		}
	}
}

// Delete removes a file. Of a batch's output it removes what the platform wrote.
func (s *FilesService) Delete(ctx context.Context, id string, opts ...RequestOption) error {
	call, err := s.prepare(opts)
	if err != nil {
		return err
	}
	_, err = s.client.engine.DeleteFile(ctx, s.client.settings, call, id)
	return err
}

func (s *FilesService) prepare(opts []RequestOption) (*pipeline.Settings, error) {
	if s.client == nil {
		return nil, errNoClient()
	}
	return s.client.call(opts)
}

// WithMaxFileBytes bounds the files that HTTP clients upload; the default, also
// for 0, is 1 GiB. [WithMaxBodyBytes] does not count for them.
func WithMaxFileBytes(n int64) HandlerOption {
	return handlerOption(func(c *front.Config) { c.MaxFile = n })
}

func (b backend) CreateFile(ctx context.Context, req *FileRequest, o *front.Overrides) (*FileObject, error) {
	return b.c.engine.CreateFile(ctx, b.c.settings, callSettings(o), req)
}

func (b backend) GetFile(ctx context.Context, id string, o *front.Overrides) (*FileObject, error) {
	return b.c.engine.GetFile(ctx, b.c.settings, callSettings(o), id)
}

func (b backend) FileContent(ctx context.Context, id string, o *front.Overrides) (io.ReadCloser, *FileObject, error) {
	return b.c.engine.FileContent(ctx, b.c.settings, callSettings(o), id)
}

func (b backend) ListFiles(ctx context.Context, q *ListQuery, o *front.Overrides) (*FileList, error) {
	return b.c.engine.ListFiles(ctx, b.c.settings, callSettings(o), q)
}

func (b backend) DeleteFile(ctx context.Context, id string, o *front.Overrides) (*providers.FileDeletion, error) {
	return b.c.engine.DeleteFile(ctx, b.c.settings, callSettings(o), id)
}

// Files, documented in package providers.
type (
	// FileRequest says what to keep.
	FileRequest = providers.FileRequest
	// FileObject is what is known of a file.
	FileObject = providers.FileObject
	// FileList is one page of files.
	FileList = providers.FileList
	// ListQuery asks for one page of files or batches.
	ListQuery = providers.ListQuery
	// ObjectStore is the ability of a [Provider] to keep objects.
	ObjectStore = providers.ObjectStore
)
