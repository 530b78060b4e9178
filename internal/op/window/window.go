// Package window assigns rows to windows: arithmetic that the window operators
// share.
//
// A window is named by its end, in milliseconds. For TIMESTAMP columns that is
// the wall time itself. For TIMESTAMP_LTZ columns windows are cut along the
// wall clock of a time zone: their bounds are wall times in that zone, and Due
// gives the instant at which a window is over.
package window

import (
	"fmt"
	"time"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/types"
)

// Kind is a way to cut time.
type Kind uint8

// The kinds of windows. Session windows have no grid: they follow the rows.
const (
	Tumble Kind = iota
	Hop
	Cumulate
	Session
)

// Assigner cuts time into windows. All of its times are in ms; ends are wall
// times, as the package says.
//
// Windows that overlap are made of slices: the longest pieces of time that lie
// in the same windows as a whole. A slice is named by its end, too.
type Assigner struct {
	Kind Kind
	// Size is the length of a window, of the longest one of Cumulate, or the
	// gap of Session. It is positive.
	Size int64
	// Slide is the time from one window of Hop to the next, and the step of
	// Cumulate.
	Slide int64
	// Offset moves the grid.
	Offset int64
	// Zone is set for TIMESTAMP_LTZ time columns outside of UTC.
	Zone *time.Location
}

// Wall returns the wall time of a value of the time column.
func (a *Assigner) Wall(ms int64) int64 {
	if a.Zone == nil {
		return ms
	}
	return ToLocal(ms, a.Zone)
}

// Slice returns the length of a slice.
func (a *Assigner) Slice() int64 {
	switch a.Kind {
	case Hop:
		return gcd(a.Size, a.Slide)
	case Cumulate:
		return a.Slide
	}
	return a.Size
}

// Step is the distance between the ends of two windows that follow each other.
func (a *Assigner) Step() int64 {
	if a.Kind == Tumble {
		return a.Size
	}
	return a.Slide
}

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// up returns the smallest number >= x that is origin plus a multiple of step.
func up(x, origin, step int64) int64 {
	r := (x - origin) % step
	if r < 0 {
		r += step
	}
	if r == 0 {
		return x
	}
	return x - r + step
}

// down returns the largest number <= x that is origin plus a multiple of step.
func down(x, origin, step int64) int64 {
	u := up(x, origin, step)
	if u == x {
		return x
	}
	return u - step
}

// SliceOf returns the end of the slice that holds a wall time.
func (a *Assigner) SliceOf(wall int64) int64 { return up(wall+1, a.Offset, a.Slice()) }

// First returns the end of the first window that holds the slice with that end.
func (a *Assigner) First(slice int64) int64 {
	if a.Kind == Hop {
		return up(slice, a.Offset+a.Size, a.Slide)
	}
	return slice
}

// Last returns the end of the last window that holds a slice. It lies before
// First if none does: windows of Hop leave gaps where they are shorter than
// their slide.
func (a *Assigner) Last(slice int64) int64 {
	switch a.Kind {
	case Hop:
		return down(slice-a.Slice()+a.Size, a.Offset+a.Size, a.Slide)
	case Cumulate:
		return up(slice, a.Offset, a.Size)
	}
	return slice
}

// Start returns the start of the window with that end.
func (a *Assigner) Start(end int64) int64 {
	if a.Kind == Cumulate {
		return up(end, a.Offset, a.Size) - a.Size
	}
	return end - a.Size
}

// Passed returns the end of the last window, with rows or without, that a
// watermark has closed.
func (a *Assigner) Passed(wm int64) int64 {
	origin := a.Offset
	if a.Kind == Hop {
		origin += a.Size
	}
	if a.Zone == nil {
		return down(wm+1, origin, a.Step())
	}
	wall := ToLocal(wm, a.Zone) + 1
	if !hasSummerTime(a.Zone) {
		wall += maxSetBack
	}
	end := down(wall, origin, a.Step())
	for a.Due(end) > wm {
		end -= a.Step()
	}
	return end
}

// maxSetBack is more than clocks are set back at once, in ms.
const maxSetBack = 3 * 3600_000

// Due returns the watermark that closes the window with that end: no row of it
// is expected any more when the watermark has reached end - 1 ms. Where clocks
// jump over that time, it is the instant of the jump.
func (a *Assigner) Due(end int64) int64 {
	if a.Zone == nil {
		return end - 1
	}
	last := LastInstant(end-1, a.Zone)
	if ToLocal(last, a.Zone) == end-1 {
		return last
	}
	jump, _ := time.UnixMilli(last).In(a.Zone).ZoneBounds()
	return jump.UnixMilli()
}

// Time returns the window_time of the window with that end.
func (a *Assigner) Time(end int64) int64 {
	if a.Zone == nil {
		return end - 1
	}
	return LastInstant(end-1, a.Zone)
}

// ToLocal returns the wall time in a zone, as ms, of an instant.
func ToLocal(utc int64, zone *time.Location) int64 {
	_, off := time.UnixMilli(utc).In(zone).Zone()
	return utc + int64(off)*1000
}

// LastInstant returns the instant at which the wall clock of a zone has shown
// a time. Where clocks jump over that time, it is as if they had not. Of
// the two instants of an hour that happens twice it is the later one, so that
// both hours' rows are in the window; in zones that have given up summer time
// it is, as in Flink, the earlier one.
func LastInstant(local int64, zone *time.Location) int64 {
	before, after := local-offset(local-maxOffset, zone), local-offset(local+maxOffset, zone)
	if before == after {
		return before
	}
	early, late := min(before, after), max(before, after)
	if ToLocal(early, zone) == local && (ToLocal(late, zone) != local || !hasSummerTime(zone)) {
		return early
	}
	return late
}

// maxOffset is more than clocks are away from UTC, in ms.
const maxOffset = 15 * 3600_000

// offset returns by how many ms the clocks of a zone are ahead of UTC.
func offset(utc int64, zone *time.Location) int64 {
	_, off := time.UnixMilli(utc).In(zone).Zone()
	return int64(off) * 1000
}

// hasSummerTime reports whether the zone's clocks still change.
func hasSummerTime(zone *time.Location) bool {
	_, winter := time.Date(2036, time.January, 1, 0, 0, 0, 0, zone).Zone()
	_, summer := time.Date(2036, time.July, 1, 0, 0, 0, 0, zone).Zone()
	return winter != summer
}

// Times returns the column's times in ms, by position. Columns of a precision
// above 3 are cut to ms.
func Times(v batch.Vector) []int64 {
	switch v := v.(type) {
	case *batch.Fixed[int64]:
		return v.Values
	case *batch.Fixed[types.TS]:
		out := make([]int64, len(v.Values))
		for i, t := range v.Values {
			out[i] = t.Ms
		}
		return out
	}
	panic(fmt.Sprintf("window: time column of type %s", v.Type()))
}

// TimeVector returns a vector of type t from times in ms.
func TimeVector(t types.Type, ms []int64) batch.Vector {
	if t.Phys() == types.PhysI64 {
		return &batch.Fixed[int64]{Typ: t, Values: ms}
	}
	out := batch.MakeFixed[types.TS](t, len(ms))
	for i, m := range ms {
		out.Values[i].Ms = m
	}
	return out
}
