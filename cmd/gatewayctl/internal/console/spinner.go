package console

import (
	"fmt"
	"sync"
	"time"
)

// spinnerEvery is the time between two pictures.
const spinnerEvery = 100 * time.Millisecond

var spinnerFrames = []string{"⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"}

// Spin shows that something is under way, until the function it returns is
// called, which may be more than once. Where nobody sees it, it does nothing.
func (c *Console) Spin(label string) (stop func()) {
	if !c.moving {
		return func() {}
	}
	end, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		c.spin(Safe(label), end)
	}()
	return sync.OnceFunc(func() {
		close(end)
		<-ended
	})
}

func (c *Console) spin(label string, end <-chan struct{}) {
	c.setSpinning(true)
	defer c.setSpinning(false)
	start := time.Now()
	tick := time.NewTicker(spinnerEvery)
	defer tick.Stop()
	for i := 0; ; i++ {
		text := fmt.Sprintf("%s %s %.1f s", spinnerFrames[i%len(spinnerFrames)], label, time.Since(start).Seconds())
		c.raw("\r" + c.paint(true, Dim, text) + "\x1b[K")
		select {
		case <-end:
			c.raw(eraseLine)
			return
		case <-tick.C:
		}
	}
}

func (c *Console) setSpinning(on bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.spinning = on
}
