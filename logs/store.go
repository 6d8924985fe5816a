package logs

import (
	"context"
	"errors"
	"time"
)

// Sink takes records. It may keep neither the slice nor what the records point to
// without a copy.
type Sink interface {
	// Write takes the records in the order in which the calls ended. A [Log] calls it
	// from one goroutine.
	Write(ctx context.Context, records []Record) error
}

// Store is a [Sink] whose records can be found again. It is safe for concurrent
// use.
type Store interface {
	Sink
	// Get returns one record, with its content and feedback, or [ErrNotFound]; of several
	// with the id the newest.
	Get(ctx context.Context, id string) (*Record, error)
	// Query returns a page of records, the newest first by their time; those of one time
	// have an order that stays. Pages leave content out.
	Query(ctx context.Context, q Query) (*Page, error)
	// AddFeedback adds to the record that the feedback names, or is [ErrNotFound].
	AddFeedback(ctx context.Context, f Feedback) error
}

// ErrNotFound says that no such record is kept.
var ErrNotFound = errors.New("logs: no such record")

// The bounds of a page.
const (
	DefaultLimit = 50
	MaxLimit     = 1000
)

// Query says which records are meant: those that fulfil everything it says.
type Query struct {
	// From and To bound the time of records, From included and To not; a zero one
	// does not.
	From, To time.Time
	// Filters are about fields.
	Filters []Filter
	// Search is a text that one of the fields of kind word, the error's message or a
	// value of the metadata contains, whatever the case.
	Search string
	// Limit is the size of a page; 0 means [DefaultLimit], at most [MaxLimit].
	Limit int
	// Cursor goes on after a page: its Next.
	Cursor string
}

// Page is a part of what a [Query] means.
type Page struct {
	Records []Record `json:"data"`
	// Next is the cursor of the page that follows; empty after the last one.
	Next string `json:"next_cursor,omitempty"`
}

// Filter is a condition on one field of [Fields].
type Filter struct {
	// Field is a name of [Fields], or "metadata.KEY".
	Field string
	// Op is the comparison.
	Op Op
	// Values are what it compares with: one, or for [In] and [NotIn] any number. A
	// field of kind number takes decimal numbers, a flag "true" and "false".
	Values []string
}

// Op is a comparison. A field without a value, such as the cost where it is not
// known, is equal to nothing: only [NotIn], [Ne] and [Missing] hold of it. Words are
// compared by their bytes, numbers by their value.
type Op string

// The comparisons. In the query string of a URL they stand behind the field's
// name: cost_usd[gte]=0.01; without one it is In, over the values between commas.
const (
	Eq      Op = "eq"
	Ne      Op = "ne"
	Lt      Op = "lt"
	Lte     Op = "lte"
	Gt      Op = "gt"
	Gte     Op = "gte"
	In      Op = "in"
	NotIn   Op = "nin"
	Prefix  Op = "prefix"  // words only
	Missing Op = "missing" // "true" or "false"
)
