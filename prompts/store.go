package prompts

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/b650d4bf/gateway/catalog"
)

// Store keeps prompts. Implementations are safe for concurrent use.
type Store interface {
	// Prompt returns the prompt of that id, made by [Parse]. The error for an
	// unknown one matches [ErrNotFound].
	Prompt(ctx context.Context, id string) (*Prompt, error)
}

// ErrNotFound matches the error of a store for an unknown prompt.
var ErrNotFound = errors.New("prompts: prompt not found")

// NotFoundError says which prompt is unknown and which known ones resemble it.
type NotFoundError struct {
	ID string
	// Near lists similar ids, the most similar first.
	Near []string
}

// Error names the prompt and the similar ones.
func (e *NotFoundError) Error() string { return "prompts: " + e.text() }

// Is reports whether target is [ErrNotFound].
func (e *NotFoundError) Is(target error) bool { return target == ErrNotFound }

func (e *NotFoundError) text() string {
	return fmt.Sprintf("prompt %q not found%s", clip(e.ID), hint(e.Near))
}

// Memory is a store in memory. Its zero value is empty; it is safe for concurrent
// use and must not be copied.
type Memory struct {
	mu      sync.RWMutex
	prompts map[string]*Prompt
}

var _ Store = (*Memory)(nil)

// Add takes a prompt in. One of an id that is there already adds its versions, and
// its labels and default win; a version that is there with other content is an
// error, and changes nothing.
func (m *Memory) Add(p *Prompt) error {
	if p == nil {
		return errors.New("prompts: the prompt is nil")
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if old := m.prompts[p.id]; old != nil {
		merged, err := old.merge(p)
		if err != nil {
			return err
		}
		p = merged
	}
	if m.prompts == nil {
		m.prompts = make(map[string]*Prompt)
	}
	m.prompts[p.id] = p
	return nil
}

// Prompt returns the prompt of that id.
func (m *Memory) Prompt(_ context.Context, id string) (*Prompt, error) {
	m.mu.RLock()
	p := m.prompts[id]
	m.mu.RUnlock()
	if p == nil {
		return nil, &NotFoundError{ID: id, Near: catalog.Near(id, m.IDs())}
	}
	return p, nil
}

// IDs returns the ids of all prompts in ascending order.
func (m *Memory) IDs() []string {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return slices.Sorted(maps.Keys(m.prompts))
}

// FromCatalog reads the prompts and partials of a catalog as they are now. Every
// mistake is reported at once.
func FromCatalog(c Catalog) (*Memory, error) {
	m := new(Memory)
	partials := Partials(c.Partials())
	raw := c.Prompts()
	errs := partials.check()
	for _, id := range slices.Sorted(maps.Keys(raw)) {
		p, err := Parse(id, raw[id], partials)
		if err == nil {
			err = m.Add(p)
		}
		errs = append(errs, err)
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return m, nil
}

// Catalog holds prompts as JSON, by their ids; *catalog.Memory and *catalog.File do.
type Catalog interface {
	// Prompts returns the JSON of each prompt.
	Prompts() map[string]json.RawMessage
	// Partials returns the texts of the partials.
	Partials() map[string]string
}

// FromFS reads a prompt from each file that one of the patterns, in the syntax of
// [path.Match], takes in; without any it is "*.json". The file's name without its
// extension is the id. Files of the same id in several directories make one prompt
// of all their versions. Files whose names begin with a dot are passed over.
//
// The files of a directory called partials beside them are the partials, each by
// its name without the extension. Every mistake is reported at once; a pattern
// that takes nothing in is one.
func FromFS(fsys fs.FS, patterns ...string) (*Memory, error) {
	if len(patterns) == 0 {
		patterns = []string{"*.json"}
	}
	l := loader{fsys: fsys, partials: Partials{}}
	var files []string
	for _, pattern := range patterns {
		found := l.glob(pattern)
		if len(found) == 0 && len(l.errs) == 0 {
			l.errs = append(l.errs, fmt.Errorf("prompts: no file matches %q", pattern))
		}
		files = append(files, found...)
		for _, name := range l.glob(path.Join(path.Dir(pattern), "partials", "*")) {
			l.partial(name)
		}
	}
	l.errs = append(l.errs, l.partials.check()...)
	slices.Sort(files)
	m := new(Memory)
	for _, name := range slices.Compact(files) {
		l.prompt(m, name)
	}
	if err := errors.Join(l.errs...); err != nil {
		return nil, err
	}
	return m, nil
}

// loader reads files.
type loader struct {
	fsys     fs.FS
	partials Partials
	errs     []error
}

func (l *loader) glob(pattern string) []string {
	names, err := fs.Glob(l.fsys, pattern)
	if err != nil {
		l.errs = append(l.errs, fmt.Errorf("prompts: %q: %w", pattern, err))
	}
	return slices.DeleteFunc(names, func(name string) bool { return path.Base(name)[0] == '.' })
}

func (l *loader) partial(file string) {
	data, err := l.read(file)
	if err != nil {
		l.errs = append(l.errs, err)
		return
	}
	name := strings.TrimSuffix(path.Base(file), path.Ext(file))
	text := strings.TrimPrefix(string(data), "\ufeff")
	if old, ok := l.partials[name]; ok && old != text {
		l.errs = append(l.errs, fmt.Errorf("prompts: %s: there is another partial %q", file, name))
	}
	l.partials[name] = text
}

func (l *loader) prompt(m *Memory, file string) {
	data, err := l.read(file)
	if err == nil {
		var p *Prompt
		if p, err = Parse(strings.TrimSuffix(path.Base(file), path.Ext(file)), data, l.partials); err == nil {
			err = m.Add(p)
		}
		if err != nil {
			err = fmt.Errorf("%s: %w", file, err)
		}
	}
	if err != nil {
		l.errs = append(l.errs, err)
	}
}

// read reads at most one byte more than a text may have.
func (l *loader) read(name string) ([]byte, error) {
	f, err := l.fsys.Open(name)
	if err != nil {
		return nil, fmt.Errorf("prompts: %w", err)
	}
	defer func() { _ = f.Close() }()
	data, err := io.ReadAll(io.LimitReader(f, maxText+1))
	if err != nil {
		return nil, fmt.Errorf("prompts: %s: %w", name, err)
	}
	return data, nil
}

// check reports partials that no prompt could take in, whether or not one does.
func (p Partials) check() []error {
	var errs []error
	s := newIncludes(p)
	for _, name := range slices.Sorted(maps.Keys(p)) {
		if !isName(name) {
			errs = append(errs, fmt.Errorf("partial %q: %w", clip(name), badName(name)))
			continue
		}
		if _, err := s.get(name, ""); err != nil {
			errs = append(errs, err)
		}
	}
	return errs
}
