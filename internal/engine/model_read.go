package engine

import (
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/b650d4bf/gateway/providers"
)

// readModels remembers what model references mean, since a service asks the same few
// again and again. Neither a site nor its table of models changes.
type readModels struct {
	byRef sync.Map // of *readModel
	n     atomic.Int32
}

// readModel is a model with its facts, and what the caller is told of it whatever is
// asked.
type readModel struct {
	model Model
	known []providers.Warning
}

// maxReadModels bounds what is remembered, since callers choose the references. Those
// beyond it are read each time.
const maxReadModels = 1000

// readModel reads a model reference and finds the facts of the model. The warnings are
// shared: they are not to be changed.
func (p *Engine) readModel(ref string) (Model, []providers.Warning, error) {
	if v, ok := p.read.byRef.Load(ref); ok {
		if r, ok := v.(*readModel); ok {
			return r.model, r.known, nil
		}
	}
	ref = strings.Clone(ref) // it may be a part of a request, which is not to be kept
	m, err := p.site.Model(ref)
	if err != nil {
		return m, nil, err
	}
	known := slices.Clip(m.lookup(p.models))
	p.read.keep(ref, &readModel{m, known})
	return m, known, nil
}

func (r *readModels) keep(ref string, m *readModel) {
	if r.n.Add(1) <= maxReadModels {
		if _, there := r.byRef.LoadOrStore(ref, m); !there {
			return
		}
	}
	r.n.Add(-1)
}
