package pipeline

import (
	"context"
	"io"

	"github.com/b650d4bf/gateway/internal/batch"
	"github.com/b650d4bf/gateway/providers"
)

// The operations on files, as observers and logs name them.
const (
	opFileCreate  = "file.create"
	opFileGet     = "file.get"
	opFileContent = "file.content"
	opFileList    = "file.list"
	opFileDelete  = "file.delete"
)

// keeper is a provider that keeps files.
type keeper interface {
	providers.Provider
	providers.ObjectStore
}

// kept runs a task about files or batches, in the place that the settings say.
func (e *Engine) kept(ctx context.Context, t *task, do func(context.Context, *batch.Service) (*providers.Meta, error)) error {
	return run(ctx, e, t, func(ctx context.Context, p keeper, to *providers.Target) (*providers.Meta, error) {
		s, err := e.keeping(t.client, t.call, p, to)
		if err != nil {
			return nil, err
		}
		return do(ctx, s)
	})
}

// keeping is the service of the settings' place.
func (e *Engine) keeping(client, call *Settings, p providers.ObjectStore, to *providers.Target) (*batch.Service, error) {
	if to.Bucket == "" {
		return nil, &providers.Error{
			Code: providers.ErrInvalidConfig, Param: "bucket", Message: `no bucket is set: use WithBucket("gs://BUCKET/PREFIX"), or the catalog entry's bucket`,
		}
	}
	at, err := batch.ParsePlace(to.Bucket)
	if err != nil {
		return nil, err
	}
	return &batch.Service{
		Store: p, Target: to, Place: at, Project: projectResult(strict(client, call)),
		Resolve: func(ctx context.Context, model string) (providers.BatchRunner, *providers.Target, error) {
			var r route
			if err := e.resolve(ctx, client, call, model, &r); err != nil {
				return nil, nil, err
			}
			runner, err := abilityOf[providers.BatchRunner](&r)
			if err != nil {
				return nil, nil, err
			}
			r.target.Labels = labels(client, call, metadata(client.Metadata, call.Metadata))
			return runner, &r.target, nil
		},
	}, nil
}

// projectResult takes out of results what strictness does not show.
func projectResult(strict bool) func(*providers.BatchResult) {
	if !strict {
		return nil
	}
	return func(x *providers.BatchResult) {
		if x.Chat != nil {
			projectCompletion(x.Chat)
		}
		if x.Embeddings != nil {
			projectEmbeddings(x.Embeddings)
		}
	}
}

// CreateFile keeps what the request's reader has.
func (e *Engine) CreateFile(ctx context.Context, client, call *Settings, req *providers.FileRequest) (out *providers.FileObject, err error) {
	t := task{client: client, call: call, operation: opFileCreate, check: req.Validate}
	err = e.kept(ctx, &t, func(ctx context.Context, s *batch.Service) (*providers.Meta, error) {
		got, err := s.CreateFile(ctx, req)
		if err != nil {
			return nil, err
		}
		out = got
		return &out.Meta, nil
	})
	return out, err
}

// GetFile returns what is known of a file.
func (e *Engine) GetFile(ctx context.Context, client, call *Settings, id string) (out *providers.FileObject, err error) {
	t := task{client: client, call: call, operation: opFileGet}
	err = e.kept(ctx, &t, func(ctx context.Context, s *batch.Service) (*providers.Meta, error) {
		got, err := s.GetFile(ctx, id)
		if err != nil {
			return nil, err
		}
		out = got
		return &out.Meta, nil
	})
	return out, err
}

// FileContent returns the bytes of a file. The call is recorded when they are
// there to be read.
func (e *Engine) FileContent(ctx context.Context, client, call *Settings, id string) (body io.ReadCloser, out *providers.FileObject, err error) {
	t := task{client: client, call: call, operation: opFileContent, lasts: true}
	err = e.kept(ctx, &t, func(ctx context.Context, s *batch.Service) (*providers.Meta, error) {
		r, f, err := s.FileContent(ctx, id)
		if err != nil {
			return nil, err
		}
		body, out = r, f
		return &out.Meta, nil
	})
	return body, out, err
}

// ListFiles returns one page of files.
func (e *Engine) ListFiles(ctx context.Context, client, call *Settings, q *providers.ListQuery) (out *providers.FileList, err error) {
	t := task{client: client, call: call, operation: opFileList}
	err = e.kept(ctx, &t, func(ctx context.Context, s *batch.Service) (*providers.Meta, error) {
		got, err := s.ListFiles(ctx, q)
		if err != nil {
			return nil, err
		}
		out = got
		return &out.Meta, nil
	})
	return out, err
}

// DeleteFile removes a file.
func (e *Engine) DeleteFile(ctx context.Context, client, call *Settings, id string) (out *providers.FileDeletion, err error) {
	t := task{client: client, call: call, operation: opFileDelete}
	err = e.kept(ctx, &t, func(ctx context.Context, s *batch.Service) (*providers.Meta, error) {
		got, err := s.DeleteFile(ctx, id)
		if err != nil {
			return nil, err
		}
		out = got
		return &out.Meta, nil
	})
	return out, err
}
