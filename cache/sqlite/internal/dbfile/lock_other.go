//go:build !unix

package dbfile

// lockFile has nothing to lock with. Where files that are open cannot be renamed,
// as on Windows, two processes cannot put the same one aside.
func lockFile(string) (unlock func(), err error) { return func() {}, nil }
