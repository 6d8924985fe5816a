package jsonx

import "unsafe"

// bytesView returns the bytes of s without copying. They must not be changed.
func bytesView(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }

// stringView returns b as a string without copying. It must not be kept.
func stringView(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
