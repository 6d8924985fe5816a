//go:build race

package jsonx

// raceEnabled tells that sync.Pool drops what it is given at random.
const raceEnabled = true
