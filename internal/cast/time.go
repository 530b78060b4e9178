package cast

import (
	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/fn"
	"github.com/millstream-io/millstream/internal/text"
	"github.com/millstream-io/millstream/types"
)

// fromTime converts between dates, times and timestamps. A date is midnight, a
// time is a time of 1970-01-01, TIMESTAMP_LTZ is seen in the session's zone, and
// what a precision cannot hold is cut off, toward the past.
func (c *conversion) fromTime() fn.Kernel {
	from, to := c.from, c.to
	if from.Kind == types.Date && to.Kind == types.Time || from.Kind == types.Time && to.Kind == types.Date {
		return nil
	}
	if from.Kind == types.Time && to.Kind == types.Time {
		return every(to, func(out, in []int32) {
			for i, t := range in {
				out[i] = text.TruncateTime(t, int(to.Precision))
			}
		})
	}
	if from.Kind == to.Kind && from.Phys() == to.Phys() && to.Precision >= from.Precision {
		return c.same
	}
	return func(rows fn.Rows, args []batch.Vector) (batch.Vector, error) {
		read, zone := moments(args[0], from), text.NewZone(c.zone)
		move := func(t types.TS) types.TS { return t }
		switch {
		case from.Kind == to.Kind:
		case from.Kind == types.TimestampLTZ:
			move = func(t types.TS) types.TS { return types.TS{Ms: zone.ToLocal(t.Ms), Ns: t.Ns} }
		case to.Kind == types.TimestampLTZ:
			move = func(t types.TS) types.TS { return types.TS{Ms: zone.ToUTC(t.Ms), Ns: t.Ns} }
		}
		return c.writeMoments(rows, func(i int) types.TS { return move(read(i)) })
	}
}

// moments reads dates, times and timestamps as points in time.
func moments(v batch.Vector, t types.Type) func(i int) types.TS {
	switch v := v.(type) {
	case *batch.Fixed[int32]:
		if t.Kind == types.Date {
			return func(i int) types.TS { return types.TS{Ms: int64(v.Values[i]) * text.MsPerDay} }
		}
		return func(i int) types.TS { return types.TS{Ms: int64(v.Values[i])} }
	case *batch.Fixed[types.TS]:
		return func(i int) types.TS { return v.Values[i] }
	}
	values := v.(*batch.Fixed[int64]).Values
	return func(i int) types.TS { return types.TS{Ms: values[i]} }
}

// writeMoments makes dates, times or timestamps of points in time.
func (c *conversion) writeMoments(rows fn.Rows, at func(i int) types.TS) (batch.Vector, error) {
	precision := int(c.to.Precision)
	switch c.to.Phys() {
	case types.PhysI32:
		return convert(c, rows, func(_ *outcome, i int, to *int32) bool {
			days, ms := text.SplitDay(at(i).Ms)
			*to = int32(days)
			if c.to.Kind == types.Time {
				*to = text.TruncateTime(int32(ms), precision)
			}
			return true
		})
	case types.PhysTS:
		return convert(c, rows, func(_ *outcome, i int, to *types.TS) bool {
			*to = text.Truncate(at(i), precision)
			return true
		})
	}
	return convert(c, rows, func(_ *outcome, i int, to *int64) bool {
		*to = text.TruncateMs(at(i).Ms, precision)
		return true
	})
}
