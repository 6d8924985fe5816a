//go:build unix

package growth

import (
	"syscall"
	"time"
)

// worked returns the time that the processors have worked for this process, in its
// own code and in the system's, on all threads. What other processes do does not
// count, and what is done beside the reader does.
func worked() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
