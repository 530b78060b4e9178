package expr

import (
	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/fn"
	"github.com/millstream-io/millstream/types"
)

// merger puts the results of the branches of a CASE together.
type merger struct{ parts []part }

// part is the result of one branch; a nil vector stands for NULL.
type part struct {
	rows fn.Rows
	v    batch.Vector
}

// add evaluates a branch for the rows of s, unless there are none.
func (m *merger) add(r *run, n node, s *scope) error {
	if s.rows.Len() == 0 && (len(m.parts) > 0 || s.rows.N > 0) {
		return nil
	}
	p := part{rows: s.rows}
	if n != nil {
		v, err := n.eval(r, s)
		if err != nil {
			return err
		}
		if v.Type().Kind != types.Null {
			p.v = v
		}
	}
	m.parts = append(m.parts, p)
	return nil
}

// merge returns one vector of n values. Positions of no part are unspecified.
func (m *merger) merge(t types.Type, n int) batch.Vector {
	if len(m.parts) == 0 {
		return batch.Nulls(t.WithNull(true), n).WithType(t)
	}
	if len(m.parts) == 1 {
		switch v := m.parts[0].v; {
		case v == nil:
			return batch.Nulls(t, n)
		case v.Type().Equal(t):
			return v
		default:
			return v.WithType(t)
		}
	}
	switch t.Phys() {
	case types.PhysBool:
		return mergeFixed[bool](m.parts, t, n)
	case types.PhysI8:
		return mergeFixed[int8](m.parts, t, n)
	case types.PhysI16:
		return mergeFixed[int16](m.parts, t, n)
	case types.PhysI32:
		return mergeFixed[int32](m.parts, t, n)
	case types.PhysI64:
		return mergeFixed[int64](m.parts, t, n)
	case types.PhysF32:
		return mergeFixed[float32](m.parts, t, n)
	case types.PhysF64:
		return mergeFixed[float64](m.parts, t, n)
	case types.PhysI128:
		return mergeFixed[types.Int128](m.parts, t, n)
	case types.PhysTS:
		return mergeFixed[types.TS](m.parts, t, n)
	}
	return mergeOther(m.parts, t, n)
}

func mergeFixed[T batch.Value](parts []part, t types.Type, n int) batch.Vector {
	out := batch.MakeFixed[T](t, n)
	for _, p := range parts {
		if p.v == nil {
			for k := range p.rows.Len() {
				out.Valid = fn.MarkNull(out.Valid, n, p.rows.At(k))
			}
			continue
		}
		f := p.v.(*batch.Fixed[T])
		if p.rows.Sel == nil { // the only part with rows
			copy(out.Values, f.Values)
		}
		for _, i := range p.rows.Sel {
			out.Values[i] = f.Values[i]
		}
		if f.Valid == nil {
			continue
		}
		for k := range p.rows.Len() {
			if i := p.rows.At(k); f.Valid.IsNull(i) {
				out.Valid = fn.MarkNull(out.Valid, n, i)
			}
		}
	}
	return out
}

// mergeOther copies the values of each part one behind the other, and takes
// them from there in the order of the rows. Positions of no part get a null.
func mergeOther(parts []part, t types.Type, n int) batch.Vector {
	all := batch.New(t.WithNull(true), n+1)
	all.AppendNull()
	at := make([]int32, n)
	for _, p := range parts {
		if p.v == nil {
			continue
		}
		next := int32(all.Len())
		batch.AppendTake(all, p.v, p.rows.Sel)
		for k := range p.rows.Len() {
			at[p.rows.At(k)] = next + int32(k)
		}
	}
	return batch.Take(all, at).WithType(t)
}
