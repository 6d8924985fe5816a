//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows)

package logs

import "io"

// lockFile takes no lock, where there is none: only one process may write a file.
func lockFile(string) (io.Closer, error) { return io.NopCloser(nil), nil }
