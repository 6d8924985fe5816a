//go:build !race

package vertex_test

// raceEnabled says that the race detector is off.
const raceEnabled = false
