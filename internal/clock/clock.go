// Package clock is where processing time comes from: the machine's clock in
// production, a clock that a test or a script moves elsewhere.
package clock

import (
	"sync/atomic"
	"time"
)

// Clock tells the processing time in milliseconds since the epoch. It may be
// read from any goroutine.
type Clock interface{ Now() int64 }

// System is the machine's clock.
type System struct{}

// Now implements Clock.
func (System) Now() int64 { return time.Now().UnixMilli() }

// Manual is a clock that stands still until it is moved.
type Manual struct{ ms atomic.Int64 }

// NewManual returns a clock that shows ms.
func NewManual(ms int64) *Manual {
	m := &Manual{}
	m.ms.Store(ms)
	return m
}

// Now implements Clock.
func (m *Manual) Now() int64 { return m.ms.Load() }

// Set moves the clock to ms; it never goes back.
func (m *Manual) Set(ms int64) {
	for {
		now := m.ms.Load()
		if ms <= now || m.ms.CompareAndSwap(now, ms) {
			return
		}
	}
}

// Advance moves the clock on by d.
func (m *Manual) Advance(d time.Duration) { m.ms.Add(d.Milliseconds()) }
