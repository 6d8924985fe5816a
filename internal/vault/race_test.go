//go:build race

package vault

// raceEnabled tells that sync.Pool drops what it is given at random.
const raceEnabled = true
