//go:build race

package routing_test

// raceEnabled tells that the race detector counts along.
const raceEnabled = true
