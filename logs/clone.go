package logs

import (
	"bytes"
	"maps"
	"slices"
)

// Clone returns a copy that shares nothing with the record that can be changed.
func (r *Record) Clone() *Record {
	own := *r
	own.Metadata = maps.Clone(r.Metadata)
	own.Tokens, own.Cost, own.Saved, own.Error = copied(r.Tokens), copied(r.Cost), copied(r.Saved), copied(r.Error)
	own.Warnings, own.Attempts, own.Denied = slices.Clone(r.Warnings), slices.Clone(r.Attempts), slices.Clone(r.Denied)
	own.Feedback = slices.Clone(r.Feedback)
	for i := range own.Feedback {
		own.Feedback[i].Metadata = maps.Clone(own.Feedback[i].Metadata)
	}
	if c := r.Content; c != nil {
		own.Content = &Content{Request: bytes.Clone(c.Request), Response: bytes.Clone(c.Response), Truncated: c.Truncated}
	}
	return &own
}

func copied[T any](p *T) *T {
	if p == nil {
		return nil
	}
	return new(*p)
}

// What parts of a record take beside their texts, in bytes, about.
const (
	recordSize = 1024
	entrySize  = 64
	partSize   = 128
)

// size is about what the record takes, in bytes.
func (r *Record) size() int {
	n := recordSize + len(r.ID) + len(r.RequestedModel) + len(r.Slug) + len(r.Model) + len(r.ResponseModel) + len(r.ResponseID) + len(r.User) +
		len(r.ConfigID) + len(r.PromptID) + len(r.PromptVersion) + len(r.KeyID) + len(r.Provider) + len(r.FinishReason)
	n += mapSize(r.Metadata)
	for i := range r.Warnings {
		w := &r.Warnings[i]
		n += partSize + len(w.Code) + len(w.Param) + len(w.Message)
	}
	for i := range r.Attempts {
		a := &r.Attempts[i]
		n += partSize + len(a.Target) + len(a.Provider) + len(a.Slug) + len(a.Model) + len(a.Code) + len(a.Skipped)
	}
	for _, name := range r.Denied {
		n += entrySize + len(name)
	}
	if e := r.Error; e != nil {
		n += partSize + len(e.Message) + len(e.Param)
	}
	for i := range r.Feedback {
		n += r.Feedback[i].size()
	}
	if c := r.Content; c != nil {
		n += len(c.Request) + len(c.Response)
	}
	return n
}

func (f *Feedback) size() int {
	return partSize + len(f.RecordID) + len(f.Comment) + mapSize(f.Metadata)
}

func mapSize(m map[string]string) (n int) {
	for k, v := range m {
		n += entrySize + len(k) + len(v)
	}
	return n
}
