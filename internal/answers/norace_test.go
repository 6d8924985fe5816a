//go:build !race

package answers

// raceEnabled says that the race detector is off.
const raceEnabled = false
