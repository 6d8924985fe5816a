//go:build race

package answers

// raceEnabled says that the race detector is on.
const raceEnabled = true
