package fn

import (
	"time"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/internal/text"
	"github.com/millstream-io/millstream/types"
)

// The time functions see a moment as milliseconds since the epoch: of wall time
// for DATE, TIME and TIMESTAMP, and of the wall time in the session's zone for
// TIMESTAMP_LTZ.

// zoneOf returns what turns a moment of type t into wall time: nil where it is
// wall time already.
func (c *Call) zoneOf(t types.Type) *text.Zone {
	if t.Kind == types.TimestampLTZ {
		return text.NewZone(c.Env.Zone)
	}
	return nil
}

// wallMillis returns the wall time of the values at rows; other positions mean
// nothing.
func wallMillis(rows Rows, v batch.Vector, t types.Type, zone *text.Zone) []int64 {
	out := make([]int64, rows.N)
	switch v := v.(type) {
	case *batch.Fixed[int64]:
		copy(out, v.Values)
	case *batch.Fixed[types.TS]:
		for i, x := range v.Values {
			out[i] = x.Ms
		}
	case *batch.Fixed[int32]:
		unit := int64(1)
		if t.Kind == types.Date {
			unit = text.MsPerDay
		}
		for i, x := range v.Values {
			out[i] = int64(x) * unit
		}
	}
	if zone != nil {
		for k, n := 0, rows.Len(); k < n; k++ {
			i := rows.At(k)
			out[i] = zone.ToLocal(out[i])
		}
	}
	return out
}

// update replaces the values at rows by f of them.
func update(rows Rows, values []int64, f func(int64) int64) {
	if rows.Sel == nil {
		for i, x := range values {
			values[i] = f(x)
		}
		return
	}
	for _, i := range rows.Sel {
		values[i] = f(values[i])
	}
}

// floorDiv and floorMod divide toward the past.
func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

func floorMod(a, b int64) int64 {
	r := a % b
	if r < 0 {
		r += b
	}
	return r
}

// utc is the zone of functions that do not look at the session's.
var utc = time.UTC

// location is the session's time zone.
func (c *Call) location() *time.Location {
	if c.Env.Zone == nil {
		return utc
	}
	return c.Env.Zone
}
