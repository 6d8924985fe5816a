//go:build race

package cache_test

// raced says that the race detector slows everything down.
const raced = true
