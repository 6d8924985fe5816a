package batch_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/b650d4bf/gateway/internal/batch"
	"github.com/b650d4bf/gateway/providers"
	"github.com/b650d4bf/gateway/providers/vertex"
)

// memory is a store in memory. What is read of a name can be made up, and what is
// written under one can be counted and thrown away.
type memory struct {
	mu      sync.Mutex
	objects map[string]*stored
	made    func(name string) io.Reader // nil for none
	drop    func(name string) bool
	dropped int64
	writes  int64
}

type stored struct {
	providers.Object
	data []byte
}

func newMemory() *memory { return &memory{objects: map[string]*stored{}} }

func (m *memory) PutObject(_ context.Context, _ *providers.Target, at providers.ObjectName, body io.Reader, o *providers.ObjectOptions) (*providers.Object, error) {
	var data []byte
	var size int64
	var err error
	if m.drop != nil && m.drop(at.Name) {
		size, err = io.Copy(io.Discard, struct{ io.Reader }{body})
	} else {
		data, err = io.ReadAll(body)
		size = int64(len(data))
	}
	if err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	have := int64(0)
	if old := m.objects[at.Name]; old != nil {
		have = old.Generation
	}
	if o != nil && o.IfGeneration != nil && *o.IfGeneration != have {
		return nil, &providers.Error{Code: providers.ErrInvalidRequest, StatusCode: http.StatusPreconditionFailed}
	}
	m.writes++
	m.dropped += size - int64(len(data))
	at.Generation = m.writes
	s := &stored{providers.Object{ObjectName: at, Size: size, Created: time.Now(), Updated: time.Now()}, data}
	if o != nil {
		s.ContentType, s.Metadata = o.ContentType, o.Metadata
	}
	m.objects[at.Name] = s
	return &s.Object, nil
}

func (m *memory) find(at providers.ObjectName) (*stored, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s, ok := m.objects[at.Name]
	if !ok || at.Generation != 0 && at.Generation != s.Generation {
		return nil, &providers.Error{Code: providers.ErrFileNotFound, StatusCode: http.StatusNotFound}
	}
	return s, nil
}

func (m *memory) GetObject(_ context.Context, _ *providers.Target, at providers.ObjectName, offset int64) (io.ReadCloser, error) {
	if m.made != nil && offset == 0 {
		if r := m.made(at.Name); r != nil {
			return io.NopCloser(r), nil
		}
	}
	s, err := m.find(at)
	if err != nil {
		return nil, err
	}
	return io.NopCloser(bytes.NewReader(s.data[offset:])), nil
}

func (m *memory) StatObject(_ context.Context, _ *providers.Target, at providers.ObjectName) (*providers.Object, error) {
	s, err := m.find(at)
	if err != nil {
		return nil, err
	}
	return &s.Object, nil
}

func (m *memory) ListObjects(_ context.Context, _ *providers.Target, q *providers.ObjectQuery) (*providers.ObjectList, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := &providers.ObjectList{}
	for name, s := range m.objects {
		if strings.HasPrefix(name, q.Prefix) && name >= q.From {
			out.Objects = append(out.Objects, &s.Object)
		}
	}
	slices.SortFunc(out.Objects, func(a, b *providers.Object) int { return strings.Compare(a.Name, b.Name) })
	return out, nil
}

func (m *memory) AnnotateObject(_ context.Context, _ *providers.Target, at providers.ObjectName, o *providers.ObjectOptions) (*providers.Object, error) {
	s, err := m.find(at)
	if err != nil {
		return nil, err
	}
	s.ContentType, s.Metadata = o.ContentType, o.Metadata
	return &s.Object, nil
}

func (m *memory) DeleteObject(_ context.Context, _ *providers.Target, at providers.ObjectName) error {
	if _, err := m.find(at); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.objects, at.Name)
	return nil
}

// runner translates as Vertex AI does, and runs nothing.
type runner struct {
	*vertex.Provider
	job    providers.BatchJob
	asked  []providers.BatchJobRequest
	refuse error
}

func (r *runner) StartBatchJob(_ context.Context, _ *providers.Target, q *providers.BatchJobRequest) (*providers.BatchJob, error) {
	r.asked = append(r.asked, *q)
	if r.refuse != nil {
		return nil, r.refuse
	}
	r.job.Name, r.job.Output = "projects/p/locations/l/batchPredictionJobs/1", q.Output+"prediction-model-1"
	return &r.job, nil
}

func (r *runner) GetBatchJob(context.Context, *providers.Target, string) (*providers.BatchJob, error) {
	return &r.job, nil
}

func (r *runner) FindBatchJob(context.Context, *providers.Target, string, string) (*providers.BatchJob, error) {
	return nil, nil //nolint:nilnil // there is none
}

// service keeps files in memory.
func service(t testing.TB) (*batch.Service, *memory, *runner) {
	t.Helper()
	store, run := newMemory(), &runner{Provider: vertex.New(vertex.Config{}), job: providers.BatchJob{State: providers.BatchCompleted}}
	t.Cleanup(func() { _ = run.Close() })
	return &batch.Service{
		Store: store, Target: &providers.Target{}, Place: batch.Place{Bucket: "bucket", Prefix: "team/"},
		Resolve: func(_ context.Context, model string) (providers.BatchRunner, *providers.Target, error) {
			return run, &providers.Target{Model: strings.TrimPrefix(model, "@vx/"), ProjectID: "p", Region: "us-central1", Provider: "vertex-ai"}, nil
		},
	}, store, run
}

// put keeps lines as a file for a batch.
func put(t testing.TB, s *batch.Service, lines string) string {
	t.Helper()
	f, err := s.CreateFile(t.Context(), &providers.FileRequest{File: strings.NewReader(lines), Purpose: providers.PurposeBatch})
	if err != nil {
		t.Fatal(err)
	}
	return f.ID
}
