package cli

import (
	"context"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/b650d4bf/gateway/cmd/gatewayctl/internal/console"
	"github.com/b650d4bf/gateway/logs"
)

// looks are what is asked for to find new records: those of calls that began a while
// before the newest one that is known, and took long enough to have ended since. A record
// comes when its call ends, and has the time when that began.
var looks = []struct{ back, took time.Duration }{
	{time.Minute, 0},
	{time.Hour, 30 * time.Second}, // less than a minute, for the log writes in the background
}

// maxPages bounds a look.
const maxPages = 10

// moment is what tells records apart: callers choose ids, and may choose one again.
type moment struct {
	id string
	at int64 // in Unix microseconds
}

// watch is the log of a front that is looked at.
type watch struct {
	app *app
	*tailing
	query  url.Values
	from   time.Time // what the query says of it
	newest time.Time
	// known are the records of this look, and before those of the last one: looks begin
	// ever later, so that none that fell out comes again.
	known, before map[moment]bool
	told          bool
}

// tailFront asks a front, and again for what is newer.
func (a *app) tailFront(ctx context.Context, t *tailing, conditions []string) error {
	w := &watch{app: a, tailing: t, query: url.Values{}, known: map[moment]bool{}}
	for _, c := range conditions {
		name, value, ok := strings.Cut(c, "=")
		if !ok {
			return usage("a condition is FIELD=VALUE or FIELD[OP]=VALUE, not " + c)
		}
		w.query.Add(name, value)
	}
	if q, err := logs.ParseQuery(w.query); err == nil { // or else the front says what is wrong
		w.from = q.From
	}
	if t.follow { // so that what is there already is known, and what comes from now on is not
		if _, err := w.last(ctx); err != nil {
			return err
		}
		if _, err := w.look(ctx); err != nil {
			return err
		}
	}
	records, err := w.last(ctx)
	for err == nil {
		for i := range records {
			if err := a.showRecord(&records[i], t.json); err != nil {
				return err
			}
		}
		if !t.follow {
			return nil
		}
		if err := sleep(ctx, 4*followEvery); err != nil {
			return err
		}
		records, err = w.look(ctx)
	}
	return err
}

// last returns the last records, the newest last.
func (w *watch) last(ctx context.Context) ([]logs.Record, error) {
	query := maps.Clone(w.query)
	query.Set("limit", strconv.Itoa(w.limit))
	page, err := w.page(ctx, query)
	if err != nil {
		return nil, err
	}
	for i := range page.Records {
		w.fresh(&page.Records[i])
	}
	slices.Reverse(page.Records)
	return page.Records, nil
}

// look returns the records that were not known, the newest last.
func (w *watch) look(ctx context.Context) ([]logs.Record, error) {
	w.known, w.before = map[moment]bool{}, w.known
	var fresh []logs.Record
	newest := w.newest
	for _, l := range looks {
		query := maps.Clone(w.query)
		query.Set("limit", strconv.Itoa(logs.MaxLimit))
		if from := newest.Add(-l.back); !newest.IsZero() && from.After(w.from) {
			query.Set("from", from.Format(time.RFC3339Nano))
		}
		if l.took > 0 {
			const least = "duration_ms[gte]"
			query[least] = append(slices.Clip(query[least]), strconv.FormatInt(l.took.Milliseconds(), 10))
		}
		for n := 1; ; n++ {
			page, err := w.page(ctx, query)
			if err != nil {
				return nil, err
			}
			for i := range page.Records {
				if w.fresh(&page.Records[i]) {
					fresh = append(fresh, page.Records[i])
				}
			}
			if page.Next == "" {
				break
			}
			if n == maxPages {
				w.tell()
				break
			}
			query.Set("cursor", page.Next)
		}
	}
	slices.SortStableFunc(fresh, func(a, b logs.Record) int { return a.Time.Compare(b.Time) })
	return fresh, nil
}

// tell says once that there is more than is asked for.
func (w *watch) tell() {
	if !w.told {
		w.told = true
		w.app.console.Say(console.Yellow, "warning: more calls come than can be followed, some are left out: conditions narrow them\n")
	}
}

// fresh notes a record, and reports whether it is new.
func (w *watch) fresh(r *logs.Record) bool {
	m := moment{r.ID, r.Time.UnixMicro()}
	is := !w.known[m] && !w.before[m]
	w.known[m] = true
	if r.Time.After(w.newest) {
		w.newest = r.Time
	}
	return is
}

func (w *watch) page(ctx context.Context, query url.Values) (*logs.Page, error) {
	page := new(logs.Page)
	return page, w.fetch(ctx, "/v1/logs?"+query.Encode(), page)
}
