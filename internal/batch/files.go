package batch

import (
	"context"
	"errors"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/b650d4bf/gateway/providers"
)

// Service keeps files and runs batches in one place.
type Service struct {
	Store  providers.ObjectStore
	Target *providers.Target // of the store
	Place  Place
	// Resolve finds who runs the batches of a model.
	Resolve func(ctx context.Context, model string) (providers.BatchRunner, *providers.Target, error)
	// Project takes out of an answer what its caller is not shown; nil for
	// nothing.
	Project func(*providers.BatchResult)
}

// The notes that stay with a file.
const (
	noteFilename = "gateway-filename"
	notePurpose  = "gateway-purpose"
	noteExpires  = "gateway-expires-at"
)

const jsonLines = "application/jsonl"

func fileObject(key string) string { return "files/" + key }

// CreateFile keeps what the request's reader has.
func (s *Service) CreateFile(ctx context.Context, q *providers.FileRequest) (*providers.FileObject, error) {
	if err := q.Validate(); err != nil {
		return nil, err
	}
	now := time.Now()
	key := newKey(now)
	o := options(q, now)
	o.IfGeneration = new(int64)
	most := q.MaxBytes
	if most == 0 {
		most = providers.DefaultMaxFile
	}
	object, err := s.Store.PutObject(ctx, s.Target, s.Place.object(fileObject(key)), &bounded{q.File, most, most}, o)
	if err != nil {
		return nil, asError(err, "the file could not be read")
	}
	if q.Trailer != nil {
		if object, err = s.complete(ctx, q, object, now); err != nil {
			return nil, err
		}
	}
	return s.file(key, object), nil
}

// complete notes what came behind a file. A file that is wrong by it is removed.
func (s *Service) complete(ctx context.Context, q *providers.FileRequest, o *providers.Object, now time.Time) (*providers.Object, error) {
	own := *q
	err := q.Trailer(&own)
	own.Trailer = nil
	if err == nil {
		err = own.Validate()
	}
	var done *providers.Object
	if err == nil {
		done, err = s.Store.AnnotateObject(ctx, s.Target, o.ObjectName, options(&own, now))
	}
	if err != nil {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
		defer cancel()
		_ = s.Store.DeleteObject(ctx, s.Target, o.ObjectName)
		return nil, asError(err, "the file could not be read")
	}
	return done, nil
}

// options are what is noted beside a file.
func options(q *providers.FileRequest, now time.Time) *providers.ObjectOptions {
	o := &providers.ObjectOptions{ContentType: q.ContentType, Metadata: map[string]string{noteFilename: q.Filename, notePurpose: q.Purpose}}
	if o.ContentType == "" {
		o.ContentType = "application/octet-stream"
		if q.Purpose == providers.PurposeBatch {
			o.ContentType = jsonLines
		}
	}
	if q.ExpiresAfter > 0 {
		o.CustomTime = now.Add(q.ExpiresAfter)
		o.Metadata[noteExpires] = strconv.FormatInt(o.CustomTime.Unix(), 10)
	}
	return o
}

// bounded is a reader that fails where it has more than it may.
type bounded struct {
	r          io.Reader
	left, most int64
}

func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.r.Read(p[:min(int64(len(p)), b.left+1)])
	if b.left -= int64(n); b.left < 0 {
		return 0, &providers.Error{
			Code: providers.ErrTooLarge, Param: "file", Message: "the file is over the limit of " + strconv.FormatInt(b.most, 10) + " bytes",
		}
	}
	return n, err
}

// asError makes an error of a caller's reader one of ours.
func asError(err error, message string) error {
	if _, ok := errors.AsType[*providers.Error](err); ok {
		return err
	}
	return &providers.Error{Code: providers.ErrInvalidRequest, Param: "file", Message: message, Err: err}
}

// file tells of an object as a file.
func (s *Service) file(key string, o *providers.Object) *providers.FileObject {
	f := &providers.FileObject{
		ID: s.Place.id(kindFile, key), Bytes: o.Size, CreatedAt: unix(o.Created),
		Filename: o.Metadata[noteFilename], Purpose: o.Metadata[notePurpose],
	}
	f.ExpiresAt, _ = strconv.ParseInt(o.Metadata[noteExpires], 10, 64)
	return f
}

func unix(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.Unix()
}

func expired(f *providers.FileObject) bool {
	return f.ExpiresAt != 0 && time.Now().Unix() >= f.ExpiresAt
}

func noFile(param string) error {
	return &providers.Error{Code: providers.ErrFileNotFound, Param: param, Message: "there is no such file in the bucket that is configured: it was deleted, has expired, or is elsewhere"}
}

// missing says what an object is that is not there.
func missing(err error, as error) error {
	if errors.Is(err, providers.ErrFileNotFound) {
		return as
	}
	return err
}

// GetFile returns what is known of a file, also of one that a batch made.
func (s *Service) GetFile(ctx context.Context, id string) (*providers.FileObject, error) {
	kind, key, ok := s.Place.parse(id, kindOutput, kindErrors, kindFile)
	switch {
	case !ok:
		return nil, noFile("file_id")
	case kind != kindFile:
		return s.outputFile(ctx, kind, key)
	}
	f, _, err := s.stat(ctx, key, "file_id")
	return f, err
}

// stat finds an uploaded file.
func (s *Service) stat(ctx context.Context, key, param string) (*providers.FileObject, providers.ObjectName, error) {
	o, err := s.Store.StatObject(ctx, s.Target, s.Place.object(fileObject(key)))
	if err != nil {
		return nil, providers.ObjectName{}, missing(err, noFile(param))
	}
	f := s.file(key, o)
	if expired(f) {
		return nil, providers.ObjectName{}, noFile(param)
	}
	return f, o.ObjectName, nil
}

// FileContent returns the bytes of a file. Those of a batch's output are made
// from the platform's as they are read.
func (s *Service) FileContent(ctx context.Context, id string) (io.ReadCloser, *providers.FileObject, error) {
	kind, key, ok := s.Place.parse(id, kindOutput, kindErrors, kindFile)
	if !ok {
		return nil, nil, noFile("file_id")
	}
	if kind != kindFile {
		return s.outputContent(ctx, kind, key)
	}
	f, at, err := s.stat(ctx, key, "file_id")
	if err != nil {
		return nil, nil, err
	}
	r, err := s.open(ctx, at)
	if err != nil {
		return nil, nil, missing(err, noFile("file_id"))
	}
	return r, f, nil
}

// DeleteFile removes a file. Of a batch's output it removes what the platform
// wrote.
func (s *Service) DeleteFile(ctx context.Context, id string) (*providers.FileDeletion, error) {
	kind, key, ok := s.Place.parse(id, kindOutput, kindErrors, kindFile)
	var err error
	switch {
	case !ok:
		err = noFile("file_id")
	case kind == kindFile:
		err = s.Store.DeleteObject(ctx, s.Target, s.Place.object(fileObject(key)))
	case kind == kindErrors:
		err = s.Store.DeleteObject(ctx, s.Target, s.Place.object(errorsObject(key)))
	default:
		err = s.deleteAll(ctx, s.Place.Prefix+outputPrefix(key))
	}
	if err != nil {
		return nil, missing(err, noFile("file_id"))
	}
	return &providers.FileDeletion{ID: id}, nil
}

// deleteAll removes the objects whose names begin so.
func (s *Service) deleteAll(ctx context.Context, prefix string) error {
	q := &providers.ObjectQuery{Bucket: s.Place.Bucket, Prefix: prefix}
	for found := false; ; {
		page, err := s.Store.ListObjects(ctx, s.Target, q)
		if err != nil {
			return err
		}
		for _, o := range page.Objects {
			found = true
			if err := s.Store.DeleteObject(ctx, s.Target, o.ObjectName); err != nil && !errors.Is(err, providers.ErrFileNotFound) {
				return err
			}
		}
		if q.PageToken = page.NextPageToken; q.PageToken == "" {
			if !found {
				return noFile("file_id")
			}
			return nil
		}
	}
}

// The most elements of a page, and those of one that nothing is said of.
const (
	maxFiles, defaultFiles     = 10_000, 100
	maxBatches, defaultBatches = 100, 20
)

// ListFiles returns one page of the uploaded files, newest first.
func (s *Service) ListFiles(ctx context.Context, q *providers.ListQuery) (*providers.FileList, error) {
	limit, err := pageLimit(q.Limit, defaultFiles, maxFiles)
	if err != nil {
		return nil, err
	}
	after, err := s.after(q.After, kindFile)
	if err != nil {
		return nil, err
	}
	out := &providers.FileList{Data: []*providers.FileObject{}}
	err = s.walk(ctx, "files/", after, limit, func(key string, o *providers.Object) bool {
		f := s.file(key, o)
		if expired(f) || q.Purpose != "" && q.Purpose != f.Purpose {
			return true
		}
		if out.HasMore = len(out.Data) == limit; out.HasMore {
			return false
		}
		out.Data = append(out.Data, f)
		return true
	})
	return out, err
}

func pageLimit(limit, usual, most int) (int, error) {
	if limit == 0 {
		return usual, nil
	}
	if limit < 0 || limit > most {
		return 0, providers.Invalid("limit", "must be from 1 to "+strconv.Itoa(most))
	}
	return limit, nil
}

// after is the key that a page goes on behind.
func (s *Service) after(id, kind string) (string, error) {
	if id == "" {
		return "", nil
	}
	_, key, ok := s.Place.parse(id, kind)
	if !ok {
		return "", providers.Invalid("after", "must be the id of the last element of the page before")
	}
	return key, nil
}

// walk visits objects in the order of their keys, until visit has enough.
func (s *Service) walk(ctx context.Context, folder, after string, limit int, visit func(key string, o *providers.Object) bool) error {
	q := &providers.ObjectQuery{Bucket: s.Place.Bucket, Prefix: s.Place.Prefix + folder, Limit: min(limit+2, 1000)}
	if after != "" {
		q.From = q.Prefix + after
	}
	for {
		page, err := s.Store.ListObjects(ctx, s.Target, q)
		if err != nil {
			return err
		}
		for _, o := range page.Objects {
			key, _ := strings.CutPrefix(o.Name, q.Prefix)
			key = strings.TrimSuffix(key, ".json")
			if len(key) == keyLength && key != after && !visit(key, o) {
				return nil
			}
		}
		if q.PageToken = page.NextPageToken; q.PageToken == "" {
			return nil
		}
	}
}
