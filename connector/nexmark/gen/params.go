// Package gen makes the events of the Nexmark workload: people, auctions and bids at 1:3:46, with hot keys and a
// window of auctions in flight.
//
// Events are a pure function of their number and of [Params], so a reader can start at any position at once, and
// several readers can share a stream. They are made a column at a time: a reader that does not ask for a column does
// not pay for it. No floating point is involved, so every implementation of the workload gives the same bytes.
package gen

import (
	"fmt"
	"math"
)

// What the parameters are when nothing is said.
const (
	DefaultRate   = 100_000
	DefaultSeed   = 1
	DefaultBase   = 1_767_254_395_000 // 2026-01-01 07:59:55 UTC: minute, hour and window borders fall inside a run
	DefaultLateMs = 3000
)

const (
	maxDisorder = 1 << 16
	// TIMESTAMP covers the years 1 to 9999.
	minTime = -62_135_596_800_000
	maxTime = 253_402_300_799_999
)

// Params determine a stream: equal parameters give the same events in the same order.
type Params struct {
	Events   int64 // how many events the stream has
	Rate     int64 // events per second of event time
	Seed     int64
	Base     int64 // time of the first event in ms since 1970-01-01 UTC
	Disorder int64 // events are shuffled within groups of so many positions; a power of two, 1 keeps them in order
	Late     int64 // so many events of a thousand carry an earlier time than their place says
	LateMs   int64 // by how much at most
}

// Defaults returns the parameters of a stream of so many events in order.
func Defaults(events int64) Params {
	return Params{Events: events, Rate: DefaultRate, Seed: DefaultSeed, Base: DefaultBase, Disorder: 1, LateMs: DefaultLateMs}
}

// Validate tells which parameter is out of its range, naming it as the connector's option is named.
func (p Params) Validate() error {
	switch {
	case p.Events < 0 || p.Events > math.MaxInt64/1000:
		return fmt.Errorf("'events' = '%d': must be from 0 to %d", p.Events, int64(math.MaxInt64/1000))
	case p.Rate < 1:
		return fmt.Errorf("'rate' = '%d': must be at least 1 event per second", p.Rate)
	case p.Disorder < 1 || p.Disorder > maxDisorder || p.Disorder&(p.Disorder-1) != 0:
		return fmt.Errorf("'disorder' = '%d': must be a power of two from 1 to %d", p.Disorder, maxDisorder)
	case p.Late < 0 || p.Late > 1000:
		return fmt.Errorf("'late' = '%d': is a number of events per thousand, 0 to 1000", p.Late)
	case p.LateMs < 1 || p.LateMs > math.MaxInt32:
		return fmt.Errorf("'late-ms' = '%d': must be from 1 to %d", p.LateMs, math.MaxInt32)
	}
	// expires is the latest time of an event, and lies less than 2^32 ms behind its dateTime
	last := p.Events * 1000 / p.Rate
	if p.Base < minTime+p.LateMs || p.Base > maxTime || last > maxTime-math.MaxUint32-p.Base {
		return fmt.Errorf("'base-ms' = '%d': with %d events at %d per second the times leave the years 1 to 9999", p.Base, p.Events, p.Rate)
	}
	return nil
}

// blockLen is how many positions in a row one of several readers takes.
const blockLen = 1000

// A Split is the share of one of several readers: every Of-th block of 1000 positions, beginning with block Index.
type Split struct {
	Index, Of int64
}

// Whole is the split of an only reader.
var Whole = Split{Index: 0, Of: 1}

// Position is that of the split's row i in the stream.
func (s Split) Position(i int64) int64 {
	return (i/blockLen*s.Of+s.Index)*blockLen + i%blockLen
}

// Len is how many rows of a stream of so many events the split has.
func (s Split) Len(events int64) int64 {
	full, rest := events/blockLen, events%blockLen
	blocks := full / s.Of
	turn := full % s.Of // whose turn it is after the last full round
	if s.Index < turn {
		blocks++
	}
	n := blocks * blockLen
	if s.Index == turn {
		n += rest
	}
	return n
}
