//go:build !unix

package growth

import "time"

// worked returns the time on the clock, which is what there is here.
func worked() time.Duration { return time.Duration(time.Now().UnixNano()) }
