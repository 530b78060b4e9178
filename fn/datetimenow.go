package fn

import (
	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/internal/text"
	"github.com/millstream-io/millstream/types"
)

func init() {
	var (
		instant = types.TimeOf(types.TimestampLTZ, 3)
		clock   = types.TimeOf(types.Time, 0)
		wall    = types.TimeOf(types.Timestamp, 3)
		process = instant
	)
	process.Attr = types.Proctime
	Register(
		nowDef("CURRENT_TIMESTAMP", "", instant, "the current time"),
		nowDef("NOW", "()", instant, "the current time"),
		nowDef("CURRENT_ROW_TIMESTAMP", "()", instant, "the current time"),
		nowDef("PROCTIME", "()", process, "the current time, as a time attribute"),
		nowDef("CURRENT_DATE", "", types.Of(types.Date), "the current date in the session's time zone"),
		nowDef("CURRENT_TIME", "", clock, "the current time of day in the session's time zone, without fractions"),
		nowDef("LOCALTIME", "", clock, "the current time of day in the session's time zone, without fractions"),
		nowDef("LOCALTIMESTAMP", "", wall, "the current date and time of day in the session's time zone"),
	)
}

// nowDef makes a function that reads the clock. All calls in one batch of rows
// see the same time.
func nowDef(name, parens string, t types.Type, doc string) *Def {
	t = t.NotNull()
	call := name + parens
	return &Def{
		Name: name, Family: familyTime, Syntax: call, Volatile: true,
		Doc: "Returns " + doc + ". Calls in one row agree.",
		Examples: []Example{
			{call + " = " + call, "TRUE :: BOOLEAN NOT NULL"},
			{name + "(3)", "error"},
		},
		Bind: func(c *Call) (*Bound, error) {
			if err := c.Arity(0, 0); err != nil {
				return nil, err
			}
			zone := text.NewZone(c.Env.Zone)
			var now moment
			return &Bound{Result: t, Kernel: func(rows Rows, _ []batch.Vector) (batch.Vector, error) {
				ms := c.Env.Now().UnixMilli()
				if t.Kind != types.TimestampLTZ {
					ms = zone.ToLocal(ms)
				}
				return now.repeat(ms, t, rows.N), nil
			}}, nil
		},
	}
}

// moment is a time that was repeated last. Under load, many batches come within
// one ms.
type moment struct {
	ms     int64
	values batch.Vector
}

// repeat is repeatMillis for a time that may be that of the last call.
func (m *moment) repeat(ms int64, t types.Type, n int) batch.Vector {
	if m.values == nil || m.ms != ms || m.values.Len() < n {
		m.ms, m.values = ms, repeatMillis(ms, t, max(n, 1))
	}
	return m.values.Slice(0, n)
}

// repeatMillis repeats a moment as a value of a type.
func repeatMillis(ms int64, t types.Type, n int) batch.Vector {
	if t.Kind == types.Time {
		ms = text.TruncateMs(ms, int(t.Precision))
	}
	all := make([]int64, n)
	for i := range all {
		all[i] = ms
	}
	return fromMillis(all, t)
}
