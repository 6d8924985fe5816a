//go:build !race

package batch_test

// raceEnabled says that the race detector is off.
const raceEnabled = false
