package catalog

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/b650d4bf/gateway/config"
)

// File is a catalog read from a file. It is safe for concurrent use and must not
// be copied.
type File struct {
	path string
	mem  Memory
}

var _ Catalog = (*File)(nil)

// Open reads the catalog file at path. A relative service_account_file is taken
// to be relative to the folder of that file.
func Open(path string) (*File, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("catalog: %w", err)
	}
	f := &File{path: abs}
	if err := f.Reload(); err != nil {
		return nil, err
	}
	return f, nil
}

// Reload reads the file again and swaps the content in one step. If the file
// can't be read or has mistakes, the old content stays and the error says why.
// Reload raises the version even when the file is unchanged, because the key
// files it names may not be.
func (f *File) Reload() error {
	f.mem.swap.Lock() // held while reading: a slower, older read must not win
	defer f.mem.swap.Unlock()
	data, err := readFile(f.path)
	if err != nil {
		return err
	}
	c, err := decode(data)
	if err != nil {
		return fmt.Errorf("catalog: %s: %w", f.path, err)
	}
	for i := range c.entries {
		if p := c.entries[i].ServiceAccountFile; p != "" && !filepath.IsAbs(p) {
			c.entries[i].ServiceAccountFile = filepath.Join(filepath.Dir(f.path), p)
		}
	}
	f.mem.store(c)
	return nil
}

// Lookup returns the entry named slug, with or without one leading '@'. The
// caller owns the entry and its headers.
func (f *File) Lookup(slug string) (Entry, error) { return f.mem.Lookup(slug) }

// Slugs returns every slug in ascending order. The caller owns the slice.
func (f *File) Slugs() []string { return f.mem.Slugs() }

// Config returns the config of that id, as [Memory.Config] does.
func (f *File) Config(id string) (*config.Config, error) { return f.mem.Config(id) }

// Configs returns the ids of all configs, as [Memory.Configs] does.
func (f *File) Configs() []string { return f.mem.Configs() }

// Prompts returns the stored prompts, as [Memory.Prompts] does.
func (f *File) Prompts() map[string]json.RawMessage { return f.mem.Prompts() }

// Partials returns the texts that prompts share, as [Memory.Partials] does.
func (f *File) Partials() map[string]string { return f.mem.Partials() }

// Version counts the loads so far, as [Memory.Version] does.
func (f *File) Version() uint64 { return f.mem.Version() }

// Path returns the absolute path of the file.
func (f *File) Path() string { return f.path }

// readFile reads at most one byte more than a catalog may have, so that a huge
// file is refused without being loaded.
func readFile(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("catalog: %w", err)
	}
	defer func() { _ = file.Close() }()
	data, err := io.ReadAll(io.LimitReader(file, maxSize+1))
	if err != nil {
		return nil, fmt.Errorf("catalog: %w", err)
	}
	return data, nil
}
