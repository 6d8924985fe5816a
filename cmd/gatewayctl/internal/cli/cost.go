package cli

import (
	"context"
	"sync"

	"github.com/b650d4bf/gateway"
	"github.com/b650d4bf/gateway/prices"
)

// meter keeps the record of the call that ended last.
type meter struct {
	mu     sync.Mutex
	record *gateway.Record
}

// CallStart forgets the call before.
func (m *meter) CallStart(ctx context.Context, _ gateway.Call) context.Context {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.record = nil
	return ctx
}

// CallEnd keeps the record.
func (m *meter) CallEnd(_ context.Context, r gateway.Record) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.record = &r
}

// cost is what the last call cost at list prices; empty where that is not known,
// and for the emulator, which costs nothing.
func (a *app) cost(l *link) string {
	l.meter.mu.Lock()
	defer l.meter.mu.Unlock()
	if l.meter.record == nil || a.conn.emulator {
		return ""
	}
	c := prices.Default().Cost(l.meter.record)
	switch {
	case !c.Known:
		return ""
	case c.AtLeast, c.Uncounted > 0:
		return "at least $" + c.Total.String()
	}
	return "$" + c.Total.String()
}
