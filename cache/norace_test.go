//go:build !race

package cache_test

const raced = false
