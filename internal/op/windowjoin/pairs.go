package windowjoin

import (
	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/internal/op"
	"github.com/millstream-io/millstream/internal/op/window"
	"github.com/millstream-io/millstream/internal/state"
	"github.com/millstream-io/millstream/types"
)

// rows are rows of a side: positions of its columns. A column that follows from
// the window may be nil.
type rows struct {
	cols []batch.Vector
	at   []int32
}

// fetch brings rows of a window to memory, those with the given keys and numbers,
// and returns the columns that are kept of them, and which of the keys' rows they
// are: one whose time is over is not there any more.
func (s *side) fetch(end int64, keys *state.Keys, number batch.Vector) (cols []batch.Vector, kept []int32, err error) {
	own := *keys
	own.Cols = append(keys.Cols[:len(keys.Cols):len(keys.Cols)], number)
	own.Hash = batch.Hash(own.Cols, nil, number.Len(), nil)
	slots := make([]int32, len(own.Rows))
	space := s.table.Space(end)
	if err := space.Lookup(&own, slots); err != nil {
		return nil, nil, err
	}
	found := slots[:0]
	for i, slot := range slots {
		if slot >= 0 {
			found, kept = append(found, slot), append(kept, int32(i))
		}
	}
	saved, values := space.Keys(found), space.Cols()
	cols = make([]batch.Vector, len(s.place))
	for c, p := range s.place {
		switch {
		case p < 0:
		case p < len(s.keys):
			cols[c] = saved[p]
		default:
			cols[c] = values[p-len(s.keys)].Vector(found)
		}
	}
	return cols, kept, nil
}

// partners returns those of the pairs l.at[i], r.at[i] that are partners.
func (j *join) partners(end int64, l, r rows) (rows, rows, error) {
	if j.Filter == nil {
		return l, r, nil
	}
	left, right := j.In[0].Schema.Fields, j.In[1].Schema.Fields
	cols := make([]batch.Vector, len(left)+len(right))
	for _, c := range j.FilterCols {
		if c < len(left) {
			cols[c] = j.column(0, c, end, l)
		} else {
			cols[c] = j.column(1, c-len(left), end, r)
		}
	}
	schema := &types.Schema{Fields: append(left[:len(left):len(left)], right...)}
	sel, err := j.Filter(batch.Of(schema, cols, len(l.at)))
	if err != nil {
		return l, r, err
	}
	l.at, r.at = pick(l.at, sel), pick(r.at, sel)
	return l, r, nil
}

func pick(list, sel []int32) []int32 {
	out := make([]int32, len(sel))
	for i, s := range sel {
		out[i] = list[s]
	}
	return out
}

// emit gives rows of the left side beside rows of the right one. A side that is
// nil is NULL.
func (j *join) emit(out op.Output, end int64, l, r *rows) {
	n := 0
	for _, side := range []*rows{l, r} {
		if side != nil {
			n = len(side.at)
		}
	}
	if n == 0 {
		return
	}
	cols := make([]batch.Vector, 0, len(j.Out.Fields))
	for in, side := range []*rows{l, r} {
		for c := range j.In[in].Schema.Fields {
			if len(cols) == len(j.Out.Fields) {
				break // the columns of the left side alone
			}
			typ := j.Out.Fields[len(cols)].Type
			if side == nil {
				cols = append(cols, batch.Nulls(typ, n))
			} else {
				cols = append(cols, j.column(in, c, end, *side).WithType(typ))
			}
		}
	}
	out.Emit(batch.Of(j.Out, cols, n))
}

// column returns a column of rows of a side.
func (j *join) column(in, c int, end int64, r rows) batch.Vector {
	side := &j.In[in]
	if side.Sources[c] == window.Row {
		return batch.Take(r.cols[c], r.at)
	}
	return j.Window.Column(side.Schema.Fields[c].Type, side.Sources[c], end, len(r.at))
}
