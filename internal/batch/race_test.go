//go:build race

package batch_test

// raceEnabled says that the race detector is on: it drops pooled buffers at
// random, so that allocations can't be counted.
const raceEnabled = true
