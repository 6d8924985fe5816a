package logs

import "time"

// maxMoments bounds a generation of [apart].
const maxMoments = 4096

// moment is what stores tell records apart by.
type moment struct {
	id string
	at int64 // in Unix microseconds
}

// apart gives records of one id times of their own, since stores take a record with
// the id and time of another for that one: a call with several prompts has a record
// for each, which may begin in the same microsecond. It knows the last thousands.
type apart struct{ young, old map[moment]struct{} }

func (a *apart) place(r *Record) {
	m := moment{r.ID, r.Time.UnixMicro()}
	for a.has(m) {
		r.Time = r.Time.Add(time.Microsecond)
		m.at = r.Time.UnixMicro()
	}
	if a.young == nil || len(a.young) >= maxMoments {
		a.young, a.old = map[moment]struct{}{}, a.young
	}
	a.young[m] = struct{}{}
}

func (a *apart) has(m moment) bool {
	_, young := a.young[m]
	_, old := a.old[m]
	return young || old
}
