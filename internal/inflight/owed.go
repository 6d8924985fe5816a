package inflight

// The work of a flight is owed for by one of its callers: by the one who began it,
// until that leaves others behind. Then it is owed for by the first of them who
// takes that on, or by the last who leaves.

// Take takes over what a caller who left owed. One of all callers can.
func (f *Flight[K, V]) Take() bool {
	f.group.mu.Lock()
	defer f.group.mu.Unlock()
	taken := f.due
	f.due = false
	return taken
}

// Quit is [Flight.Leave] for a caller who can't wait for the result. When that has
// come all the same, it says so, and the caller has not left. Else it reports
// whether the caller owes, since nobody is left who could.
func (f *Flight[K, V]) Quit(owes bool) (still, ended bool) {
	f.group.mu.Lock()
	defer f.group.mu.Unlock()
	if f.begun {
		return owes, true
	}
	return f.leaveOwing(owes), false
}

// HandOn is [Flight.Leave] for a caller who does not stay for all of the work. It
// reports whether the caller owes, since nobody is left who could.
func (f *Flight[K, V]) HandOn(owes bool) bool {
	f.group.mu.Lock()
	defer f.group.mu.Unlock()
	return f.leaveOwing(owes)
}

// leaveOwing leaves, and lets those who stay owe. The caller holds the group's lock.
func (f *Flight[K, V]) leaveOwing(owes bool) bool {
	owes = owes || f.due
	f.due = owes && f.refs > 1
	f.leave()
	return owes && !f.due
}
