//go:build race

package batch_test

// raceEnabled says that the race detector is on.
const raceEnabled = true
