package batch

import (
	"context"
	"errors"
	"io"
	"path"
	"strconv"
	"strings"

	"github.com/b650d4bf/gateway/internal/jsonx"
	"github.com/b650d4bf/gateway/providers"
)

// Results reads what became of the lines of a batch, one after the other: those
// that were not sent, then what the platform wrote, over all of its files. It
// belongs to one goroutine at a time.
type Results struct {
	s      *Service
	ctx    context.Context //nolint:containedctx // that of the reader's maker
	rec    *record
	format providers.BatchLines
	want   int64 // lines that the platform wrote, as it says; -1 if it does not

	queue   []providers.ObjectName
	local   bool // the file being read has lines of ours
	open    *source
	in      *lines
	line    int64 // of the output, over all files
	out     providers.BatchResult
	without bool // the lines of ours are left out
	err     error
}

// Results returns the results of a batch that has ended.
func (s *Service) Results(ctx context.Context, id string) (*Results, error) {
	_, key, ok := s.Place.parse(id, kindBatch)
	if !ok {
		return nil, noBatch()
	}
	return s.results(ctx, key)
}

func (s *Service) results(ctx context.Context, key string) (*Results, error) {
	rec, err := s.load(ctx, key)
	if err != nil {
		return nil, err
	}
	if rec.job == "" {
		return nil, providers.Invalid("batch_id", "the batch has no results yet")
	}
	runner, target, err := s.Resolve(ctx, rec.model)
	if err != nil {
		return nil, err
	}
	job, err := runner.GetBatchJob(ctx, target, rec.job)
	if err != nil {
		return nil, err
	}
	if b := s.tell(rec, job); !b.Ended() {
		return nil, providers.Invalid("batch_id", "the batch has no results yet: its status is "+b.Status)
	}
	x := &Results{s: s, ctx: ctx, rec: rec, want: -1}
	if x.format, err = runner.BatchLines(target, &providers.BatchFormat{Endpoint: rec.endpoint, Settings: rec.settings}); err != nil {
		return nil, err
	}
	if rec.invalid > 0 {
		x.queue, x.local = append(x.queue, s.Place.object(errorsObject(key))), true
	}
	if job.Output == "" {
		return x, nil
	}
	if job.Counted {
		x.want = job.Succeeded + job.Failed
	}
	shards, err := s.shards(ctx, key, job.Output)
	if err != nil {
		return nil, err
	}
	x.queue = append(x.queue, shards...)
	return x, nil
}

// shards are the files that the platform wrote, in the order of their names. One
// that it says to have written elsewhere is not ours to read.
func (s *Service) shards(ctx context.Context, key, directory string) ([]providers.ObjectName, error) {
	home := s.Place.object(outputPrefix(key))
	if !strings.HasPrefix(strings.TrimSuffix(directory, "/")+"/", home.URI()) {
		return nil, &providers.Error{Code: providers.ErrBadResponse, Sent: true, Message: "the platform has put the output where it was not asked to"}
	}
	prefix := strings.TrimPrefix(strings.TrimSuffix(directory, "/")+"/", "gs://"+home.Bucket+"/")
	var list []providers.ObjectName
	q := &providers.ObjectQuery{Bucket: home.Bucket, Prefix: prefix}
	for {
		page, err := s.Store.ListObjects(ctx, s.Target, q)
		if err != nil {
			return nil, err
		}
		for _, o := range page.Objects {
			if isShard(path.Base(o.Name)) {
				list = append(list, o.ObjectName)
			}
		}
		if q.PageToken = page.NextPageToken; q.PageToken == "" {
			return list, nil
		}
	}
}

// isShard reports whether a file of that name has answers.
func isShard(name string) bool {
	return strings.Contains(name, ".jsonl") && !strings.HasPrefix(name, "incremental_") && !strings.Contains(name, "errors_stats") ||
		strings.HasPrefix(name, "prediction.results-")
}

// Next returns the next result, which is valid until the next call, or io.EOF
// after the last one of all. Lines that are missing are an error at the end.
func (x *Results) Next() (*providers.BatchResult, error) {
	for x.err == nil {
		if x.in == nil {
			x.err = x.advance()
			continue
		}
		line, long, err := x.in.next()
		switch {
		case errors.Is(err, io.EOF):
			x.local, x.in = false, nil
			_ = x.open.Close()
			x.open = nil
			continue
		case err != nil:
			x.err = err
			continue
		}
		x.out = providers.BatchResult{}
		if x.local {
			if err := x.own(line); err != nil {
				x.err = err
				continue
			}
			return &x.out, nil
		}
		x.line++
		x.read(line, long)
		if x.s.Project != nil {
			x.s.Project(&x.out)
		}
		return &x.out, nil
	}
	return nil, x.err
}

// advance opens the next file.
func (x *Results) advance() error {
	if x.local && x.without {
		x.queue, x.local = x.queue[1:], false
	}
	if len(x.queue) == 0 {
		if x.line < x.want {
			return &providers.Error{
				Code: providers.ErrStreamCut, Sent: true,
				Message: "the platform's output has " + strconv.FormatInt(x.line, 10) + " of " + strconv.FormatInt(x.want, 10) + " lines: a file of it is missing, or not whole",
			}
		}
		return io.EOF
	}
	next := x.queue[0]
	x.queue = x.queue[1:]
	var err error
	if x.open, err = x.s.open(x.ctx, next); err != nil {
		return err
	}
	x.in = newLines(x.open, maxOutputLine)
	return nil
}

// read decodes a line of the platform's. One that is none is a result too, so
// that it is not lost.
func (x *Results) read(line []byte, long bool) {
	err := error(&providers.Error{Code: providers.ErrBadResponse, Sent: true, Message: "a line of the platform's output is too long"})
	if !long {
		err = x.format.Read(line, &x.out)
	}
	if err != nil {
		x.out = providers.BatchResult{Err: lineError(err)}
	}
}

// own decodes a line of the error file that was written before the job.
func (x *Results) own(line []byte) error {
	r := jsonx.NewReader(line)
	e := &providers.Error{}
	for r.Object(); r.NextKey(); {
		switch string(r.Key()) {
		case "custom_id":
			x.out.CustomID = r.String()
		case "error":
			x.out.Line = ownError(&r, e)
		default:
			r.Skip()
		}
	}
	if r.End() != nil || e.Code == "" {
		return &providers.Error{Code: providers.ErrBadResponse, Message: "the error file of the batch in the bucket can't be understood"}
	}
	x.out.Err = e
	return nil
}

func ownError(r *jsonx.Reader, e *providers.Error) (line int64) {
	for r.Object(); r.NextKey(); {
		switch string(r.Key()) {
		case "code":
			e.Code = providers.Code(r.String())
		case "message":
			e.Message = r.String()
		case "param":
			e.Param = r.String()
		case "line":
			line = r.Int()
		default:
			r.Skip()
		}
	}
	return line
}

// Close ends the reading.
func (x *Results) Close() error {
	if x.err == nil {
		x.err = io.EOF
	}
	if x.open != nil {
		return x.open.Close()
	}
	return nil
}

// outputFile tells of a file that a batch makes.
func (s *Service) outputFile(ctx context.Context, kind, key string) (*providers.FileObject, error) {
	x, err := s.results(ctx, key)
	if err != nil {
		return nil, gone(err)
	}
	return s.describe(ctx, kind, key, x)
}

// gone says of a file that its batch is not there.
func gone(err error) error {
	if errors.Is(err, providers.ErrBatchNotFound) {
		return noFile("file_id")
	}
	return err
}

func (s *Service) describe(ctx context.Context, kind, key string, x *Results) (*providers.FileObject, error) {
	f := &providers.FileObject{
		ID: s.Place.id(kind, key), Purpose: providers.PurposeBatchOutput, Filename: s.Place.id(kindBatch, key) + "_output.jsonl", CreatedAt: x.rec.created,
	}
	if kind == kindErrors {
		f.Filename = s.Place.id(kindBatch, key) + "_error.jsonl"
	}
	if kind == kindOutput && (len(x.queue) == 0 || len(x.queue) == 1 && x.local) {
		return nil, noFile("file_id") // it was deleted
	}
	for i, at := range x.queue {
		if own := i == 0 && x.local; own && kind == kindOutput {
			continue
		}
		o, err := s.Store.StatObject(ctx, s.Target, at)
		if err != nil {
			return nil, err
		}
		f.Bytes += o.Size
		f.CreatedAt = max(f.CreatedAt, unix(o.Created))
	}
	return f, nil
}

// outputContent returns a file that a batch makes, as it is read.
func (s *Service) outputContent(ctx context.Context, kind, key string) (io.ReadCloser, *providers.FileObject, error) {
	x, err := s.results(ctx, key)
	if err != nil {
		return nil, nil, gone(err)
	}
	f, err := s.describe(ctx, kind, key, x)
	if err != nil {
		return nil, nil, err
	}
	x.without = kind == kindOutput
	return &content{x: x, errors: kind == kindErrors}, f, nil
}

// content is an output or an error file of the OpenAI schema, made from the
// results as they are read.
type content struct {
	x      *Results
	errors bool
	buf    []byte
	pos    int
}

// Read makes the next lines.
func (c *content) Read(p []byte) (int, error) {
	for c.pos == len(c.buf) {
		one, err := c.x.Next()
		if err != nil {
			return 0, err
		}
		c.buf, c.pos = c.buf[:0], 0
		if (one.Err != nil) != c.errors {
			continue
		}
		id := "batch_req_" + c.x.rec.key + "_o" + strconv.FormatInt(c.x.line, 10)
		if one.Line > 0 {
			id = requestID(c.x.rec.key, one.Line)
		}
		if c.buf, err = one.AppendJSON(c.buf, id); err != nil {
			return 0, err
		}
		c.buf = append(c.buf, '\n')
	}
	n := copy(p, c.buf[c.pos:])
	c.pos += n
	return n, nil
}

// Close ends the reading.
func (c *content) Close() error { return c.x.Close() }
