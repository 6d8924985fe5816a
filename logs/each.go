package logs

import "context"

// Each gives all records that a query means to yield until that returns false, the
// newest first and without content, whatever the query's limit is. It reads the files
// once, where page after page would read them again from their end.
func (f *File) Each(ctx context.Context, q Query, yield func(*Record) bool) error {
	match, err := Compile(q)
	if err != nil {
		return err
	}
	return f.walk(ctx, match, nil, func(r *Record, _ place) bool { return yield(r) })
}
