package logs

import (
	"bytes"
	"container/heap"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"slices"
	"time"
)

// disorder is by how much the lines of a file may be out of the order in which the calls
// ended: calls that end at once reach the log in any order, and clocks are set.
const disorder = 10 * time.Second

// feedbackLine begins the lines that are feedback. Those of records begin with their
// id.
var feedbackLine = []byte(`{"record_id":`)

// Get reads the files from their end until it finds the record, and on until no earlier
// line can be of a newer one with the id.
func (f *File) Get(ctx context.Context, id string) (*Record, error) {
	quotedID, err := json.Marshal(id)
	if err != nil {
		return nil, err
	}
	record, about := append([]byte(`{"id":`), quotedID...), slices.Concat(feedbackLine, quotedID)
	var found *Record
	var feedback []Feedback // the newest first
	own := 0                // as many of it are about the one that was found
	err = f.lines(ctx, func(line []byte) bool {
		if bytes.HasPrefix(line, feedbackLine) {
			var b Feedback
			if bytes.HasPrefix(line, about) && f.decode(line, &b) && b.RecordID == id {
				feedback = append(feedback, b)
			}
			return true
		}
		mine := bytes.HasPrefix(line, record)
		if !mine && found == nil {
			return true
		}
		r := f.record(line)
		if r == nil {
			return true
		}
		if mine && r.ID == id && (found == nil || r.Time.After(found.Time)) {
			found, own = r, len(feedback)
		}
		return found == nil || !r.end().Add(disorder).Before(found.Time)
	})
	if err != nil {
		return nil, err
	}
	if found == nil {
		return nil, ErrNotFound
	}
	slices.Reverse(feedback[:own])
	found.Feedback = append(found.Feedback, feedback[:own]...)
	return found, nil
}

// record reads the line of a record, nil if it is none.
func (f *File) record(line []byte) *Record {
	r := new(Record)
	if len(line) == 0 || !f.decode(line, r) {
		return nil
	}
	if !r.named() { // it is JSON of somebody else
		f.skipped.Add(1)
		return nil
	}
	return r
}

// named reports whether the record has what tells its line from other JSON.
func (r *Record) named() bool { return r.ID != "" && !r.Time.IsZero() }

// end is when the call ended.
func (r *Record) end() time.Time { return r.Time.Add(time.Duration(r.Duration)) }

func (f *File) decode(line []byte, v any) bool {
	if err := json.Unmarshal(line, v); err != nil {
		f.skipped.Add(1)
		return false
	}
	return true
}

// Query reads the files from their end until it has a page.
func (f *File) Query(ctx context.Context, q Query) (*Page, error) {
	match, err := Compile(q)
	if err != nil {
		return nil, err
	}
	before, err := parsePlace(q.Cursor)
	if err != nil {
		return nil, err
	}
	page := &Page{Records: []Record{}}
	limit := q.PageSize()
	var last place
	err = f.walk(ctx, match, before, func(r *Record, at place) bool {
		if len(page.Records) == limit {
			page.Next = last.String()
			return false
		}
		page.Records = append(page.Records, *r)
		last = at
		return true
	})
	if err != nil {
		return nil, err
	}
	return page, nil
}

// walk gives out what is meant and lies before a place, the newest first and without
// content. The lines are in the order in which the calls ended, so that a record waits
// until no earlier line can be of a call that began later.
func (f *File) walk(ctx context.Context, match *Matcher, before *place, yield func(*Record, place) bool) error {
	w := walker{file: f, match: match, before: before, feedback: map[string][]Feedback{}, claims: map[string][]*claim{}}
	more := true
	err := f.lines(ctx, func(line []byte) bool {
		end, ok := w.take(line)
		if !ok {
			return true
		}
		limit := end.Add(disorder)
		for more && len(w.waiting) > 0 && w.waiting[0].record.Time.After(limit) {
			more = w.give(yield)
		}
		return more && (match.from.IsZero() || !limit.Before(match.from))
	})
	for err == nil && more && len(w.waiting) > 0 {
		more = w.give(yield)
	}
	return err
}

// walker is a walk under way.
type walker struct {
	file     *File
	match    *Matcher
	before   *place
	feedback map[string][]Feedback // of records that are yet to come, the newest first
	claims   map[string][]*claim   // of records that wait, by their id
	waiting  waiting
}

// claim is the feedback that a record that waits got from later lines, the newest first.
// A newer record with its id, on an earlier line, is the one that it is about.
type claim struct {
	record   *Record
	own      int // as much of the record's feedback is on its own line
	feedback []Feedback
}

// take reads a line, and returns when the call of its record ended.
func (w *walker) take(line []byte) (end time.Time, ok bool) {
	if bytes.HasPrefix(line, feedbackLine) {
		var b Feedback
		if w.file.decode(line, &b) {
			w.feedback[b.RecordID] = append(w.feedback[b.RecordID], b)
		}
		return time.Time{}, false
	}
	r := w.file.record(line)
	if r == nil {
		return time.Time{}, false
	}
	h := fnv.New64a()
	_, _ = h.Write(line) // can't fail
	at := place{r.Time.UnixNano(), h.Sum64()}
	c := w.claim(r)
	if w.before == nil || at.less(w.before) {
		r.Content = nil
		heap.Push(&w.waiting, found{r, at})
		if c != nil {
			w.claims[r.ID] = append(w.claims[r.ID], c)
		}
	}
	return r.end(), true
}

// claim gives a record the feedback that is about it, nil without any.
func (w *walker) claim(r *Record) *claim {
	c := &claim{record: r, own: len(r.Feedback)}
	for _, other := range w.claims[r.ID] {
		if r.Time.After(other.record.Time) {
			c.feedback = append(c.feedback, other.feedback...)
			other.feedback, other.record.Feedback = nil, other.record.Feedback[:other.own:other.own]
		}
	}
	c.feedback = append(c.feedback, w.feedback[r.ID]...)
	delete(w.feedback, r.ID)
	for _, b := range slices.Backward(c.feedback) {
		r.Feedback = append(r.Feedback, b)
	}
	if len(c.feedback) == 0 {
		return nil
	}
	return c
}

// give gives the newest record out that waits, if it is meant.
func (w *walker) give(yield func(*Record, place) bool) bool {
	next, _ := heap.Pop(&w.waiting).(found)
	if list := w.claims[next.record.ID]; list != nil { // nothing that is newer will come
		list = slices.DeleteFunc(list, func(c *claim) bool { return c.record == next.record })
		if w.claims[next.record.ID] = list; len(list) == 0 {
			delete(w.claims, next.record.ID)
		}
	}
	return !w.match.Match(next.record) || yield(next.record, next.at)
}

type found struct {
	record *Record
	at     place
}

// waiting is a heap whose first is the newest.
type waiting []found

func (w waiting) Len() int           { return len(w) }
func (w waiting) Less(i, j int) bool { return w[j].at.less(&w[i].at) }
func (w waiting) Swap(i, j int)      { w[i], w[j] = w[j], w[i] }

// Push is for package heap.
func (w *waiting) Push(v any) {
	if f, ok := v.(found); ok {
		*w = append(*w, f)
	}
}

// Pop is for package heap.
func (w *waiting) Pop() any {
	last := len(*w) - 1
	f := (*w)[last]
	(*w)[last] = found{}
	*w = (*w)[:last]
	return f
}

// lines reads the lines of all files, the last first, until one is enough. Lines that
// are written meanwhile are left out.
func (f *File) lines(ctx context.Context, each func(line []byte) bool) error {
	f.mu.Lock()
	if f.closed {
		f.mu.Unlock()
		return errFileClosed
	}
	size, old := f.size, f.old()
	current, err := os.Open(f.path)
	f.mu.Unlock()
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("logs: %w", err)
	}
	more := true
	if err == nil {
		more, err = readBack(ctx, current, size, each)
		_ = current.Close()
		if err != nil {
			return err
		}
	}
	for _, name := range old {
		if !more {
			break
		}
		if more, err = readOld(ctx, name, each); err != nil {
			return err
		}
	}
	return nil
}

// readOld reads a file that was put aside, unless it was deleted meanwhile.
func readOld(ctx context.Context, name string, each func([]byte) bool) (more bool, err error) {
	file, err := os.Open(name)
	if errors.Is(err, os.ErrNotExist) {
		return true, nil
	}
	if err != nil {
		return false, fmt.Errorf("logs: %w", err)
	}
	defer func() { _ = file.Close() }()
	info, err := file.Stat()
	if err != nil {
		return false, fmt.Errorf("logs: %w", err)
	}
	return readBack(ctx, file, info.Size(), each)
}

func readBack(ctx context.Context, file io.ReaderAt, size int64, each func([]byte) bool) (more bool, err error) {
	lines := newReverse(file, size)
	for n := 0; ; n++ {
		if n%256 == 0 && ctx.Err() != nil {
			return false, ctx.Err()
		}
		line, err := lines.next()
		if errors.Is(err, io.EOF) {
			return true, nil
		}
		if err != nil {
			return false, fmt.Errorf("logs: %w", err)
		}
		if !each(line) {
			return false, nil
		}
	}
}
