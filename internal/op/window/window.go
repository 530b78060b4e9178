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

// Tumble cuts time into windows of one size that do not overlap.
type Tumble struct {
	// Size and Offset in ms; Size is positive.
	Size, Offset int64
	// Zone is set for TIMESTAMP_LTZ time columns outside of UTC.
	Zone *time.Location
}

// End returns the end of the window of a time: wall ms, or UTC ms if Zone is set.
func (t *Tumble) End(ms int64) int64 {
	if t.Zone != nil {
		ms = ToLocal(ms, t.Zone)
	}
	r := (ms - t.Offset) % t.Size
	if r < 0 {
		r += t.Size
	}
	return ms - r + t.Size
}

// Due returns the watermark that closes the window with that end: no row of it
// is expected any more when the watermark has reached end - 1 ms.
func (t *Tumble) Due(end int64) int64 {
	if t.Zone == nil {
		return end - 1
	}
	return LastInstant(end-1, t.Zone)
}

// ToLocal returns the wall time in a zone, as ms, of an instant.
func ToLocal(utc int64, zone *time.Location) int64 {
	_, off := time.UnixMilli(utc).In(zone).Zone()
	return utc + int64(off)*1000
}

// LastInstant returns the instant at which the wall clock of a zone has shown
// a time. Where clocks jump over that time, it is the instant of the jump. Of
// the two instants of an hour that happens twice it is the later one, so that
// both hours' rows are in the window; in zones that have given up summer time
// it is, as in Flink, the earlier one.
func LastInstant(local int64, zone *time.Location) int64 {
	t := time.UnixMilli(local).UTC()
	u := time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), zone).UnixMilli()
	for _, probe := range []int64{u + 3*3600_000, u - 3*3600_000} {
		_, off := time.UnixMilli(probe).In(zone).Zone()
		v := local - int64(off)*1000
		if v != u && ToLocal(v, zone) == local && (v > u) == hasSummerTime(zone) {
			u = v
		}
	}
	return u
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
