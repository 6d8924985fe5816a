package logs

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
)

// sharingViolation is the error of a file that another handle keeps to itself.
//
// Source: https://learn.microsoft.com/windows/win32/debug/system-error-codes--0-499-
const sharingViolation = syscall.Errno(32)

// lockFile takes the lock that a file stands for: it is opened for nobody else. The
// lock ends with the process at the latest.
func lockFile(path string) (io.Closer, error) {
	name, err := syscall.UTF16PtrFromString(path)
	if err != nil {
		return nil, fmt.Errorf("logs: %w", err)
	}
	h, err := syscall.CreateFile(name, syscall.GENERIC_READ|syscall.GENERIC_WRITE, 0, nil, syscall.OPEN_ALWAYS, syscall.FILE_ATTRIBUTE_NORMAL, 0)
	if err != nil {
		if errors.Is(err, sharingViolation) {
			return nil, ErrLocked
		}
		return nil, fmt.Errorf("logs: the file can't be locked: %w", err)
	}
	return os.NewFile(uintptr(h), path), nil
}
