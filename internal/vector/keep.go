package vector

const (
	sketchStart = 1024 // rows from which sketches pay
	sketchLeast = 128  // dimensions from which they do: they have 64 themselves
	trainSteps  = 2    // of training, while an Add has no sketch to make
	fillRows    = 3    // old rows that an Add sketches anew
	fillGaps    = 64   // ids without a row that it passes meanwhile

	grown   = 8    // adds per row of the last training that make another one due
	drifted = 1.15 // growth of residuals that does
)

// keeper sees to it that rows have sketches, and that these stay good. All of its
// work is done by Add, a few microseconds at a time: it needs no goroutine, no
// copy of a sample, nothing to wait for at the end, and searches are held up by no
// more than an Add ever holds them up. Sketches are late by as many Adds as that
// takes, about 1500 the first time; until then searches do without, or with those
// of the basis before.
type keeper struct {
	start uint32    // rows to begin with
	now   *sketches // serve searches; nil at first
	next  *sketches // of a better basis, being made
	train *trainer  // of the basis after that

	adds     int     // since the last training began
	rows     int     // at that time
	expected float64 // residual when trained
	residual float64 // of late
	trained  float64 // residual that the next sketches expect
}

// of returns the sketches to search by, or nil. Few rows among many deleted ones
// are faster without.
func (k *keeper) of(r *rows) *sketches {
	if r.live < int(r.n/32) {
		return nil
	}
	return k.now
}

// added takes note of a new row, and works on.
func (k *keeper) added(r *rows, id uint32, v []float32) {
	k.adds++
	if k.now != nil {
		k.residual += (float64(k.now.set(id, v)) - k.residual) / 256
	}
	switch {
	case k.next != nil:
		k.fill(r, id, v)
	case k.train != nil:
		k.step(r)
	case k.due(r):
		var before *basis
		if k.now != nil {
			before = k.now.basis
		}
		k.train = newTrainer(r.dim, r.live, before)
		k.adds, k.rows = 0, r.live
	}
}

// due reports whether it is time to train.
func (k *keeper) due(r *rows) bool {
	if k.now == nil {
		return r.live >= int(k.start) && r.dim >= sketchLeast
	}
	strange := k.residual > drifted*k.expected+0.02 && k.adds >= max(int(k.start), r.live/2)
	return strange || k.adds >= grown*k.rows
}

// step goes on with training.
func (k *keeper) step(r *rows) {
	steps := trainSteps
	if k.now != nil {
		steps = 1
	}
	for range steps {
		if k.train.step(r) {
			k.next, k.trained = &sketches{basis: k.train.basis}, k.train.rest/measured
			k.train = nil
			return
		}
	}
}

// fill sketches rows by the next basis: the new one if it is its turn already,
// and some of the old ones.
func (k *keeper) fill(r *rows, id uint32, v []float32) {
	n := k.next
	if id < n.done {
		n.set(id, v)
	}
	for made, gaps := 0, 0; n.done < r.n && made < fillRows && gaps < fillGaps; n.done++ {
		if row := r.at(n.done); row != nil {
			n.set(n.done, row)
			made++
		} else {
			gaps++
		}
	}
	if n.done == r.n {
		k.now, k.next = n, nil
		k.expected, k.residual = k.trained, k.trained
	}
}

// removed takes note of a deleted row.
func (k *keeper) removed(r *rows, id uint32) {
	if r.live == 0 {
		k.reset()
		return
	}
	if k.now != nil {
		k.now.clear(id)
	}
	if k.next != nil {
		k.next.clear(id)
	}
}

// reset forgets everything.
func (k *keeper) reset() { *k = keeper{start: k.start} }

// bytes returns the memory of the sketches, and of training.
func (k *keeper) bytes() int64 {
	b := k.now.bytes() + k.next.bytes()
	if t := k.train; t != nil {
		b += int64(cap(t.basis.b)+cap(t.next)+cap(t.w)+cap(t.basis.mu)) * 4
	}
	return b
}
