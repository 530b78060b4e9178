package fn

import (
	"errors"
	"math"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/types"
)

// CurrentWatermark is the name of the function that tells the watermark.
const CurrentWatermark = "CURRENT_WATERMARK"

func init() {
	Register(&Def{
		Name: CurrentWatermark, Family: familyTime, Syntax: "CURRENT_WATERMARK(rowtime)", Volatile: true, NullCall: true,
		Doc: "Returns the watermark at the place of the query where it stands, of the type of the time attribute rowtime with precision 3; NULL before the first one. " +
			"A row's own time does not count yet. WHERE ts > CURRENT_WATERMARK(ts) OR CURRENT_WATERMARK(ts) IS NULL leaves late rows out.",
		Examples: []Example{
			{"CURRENT_WATERMARK(TIMESTAMP '2024-01-01 00:00:00')", "error"},
			{"CURRENT_WATERMARK(1)", "error"},
		},
		Bind: func(c *Call) (*Bound, error) {
			if err := c.Arity(1, 1); err != nil {
				return nil, err
			}
			t := c.Args[0].Type
			if !t.IsTimestamp() {
				return nil, c.Misfit(0, "a time attribute")
			}
			t = types.TimeOf(t.Kind, 3)
			return &Bound{Result: t, Kernel: func(rows Rows, _ []batch.Vector) (batch.Vector, error) {
				out := batch.MakeFixed[int64](t, rows.N)
				if c.Env.Watermark == nil {
					return nil, errors.New("CURRENT_WATERMARK can stand in SELECT and WHERE only")
				}
				wm := c.Env.Watermark()
				if wm == math.MinInt64 {
					out.Valid = make(batch.Bitmap, (rows.N+63)/64)
					return out, nil
				}
				for i := range out.Values {
					out.Values[i] = wm
				}
				return out, nil
			}}, nil
		},
	})
}
