// Package expand gives each row once for each set of GROUPING SETS.
package expand

import (
	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/internal/op"
	"github.com/millstream-io/millstream/types"
)

type expand struct {
	out    *types.Schema
	copies []int
	sets   [][]bool
	// b is the batch that is under way, next the set that it is passed on for.
	b    *batch.Batch
	next int
}

// New returns the operator. out has the input's columns, then those at copies,
// which are NULL for sets that do not have them, then the number of the set.
// sets[s][i] tells that set s has copies[i].
func New(out *types.Schema, copies []int, sets [][]bool) op.Operator {
	return &expand{out: out, copies: copies, sets: sets}
}

// OnBatch implements op.Operator.
func (e *expand) OnBatch(_ int, b *batch.Batch, out op.Output) error {
	e.b, e.next = b, 0
	_, err := e.Resume(out)
	return err
}

// Resume implements op.Resumer.
func (e *expand) Resume(out op.Output) (bool, error) {
	for ; e.b != nil && e.next < len(e.sets); e.next++ {
		if out.Full() {
			return true, nil
		}
		out.Emit(e.forSet(e.b, e.next))
	}
	e.b = nil
	return false, nil
}

func (e *expand) forSet(b *batch.Batch, set int) *batch.Batch {
	cols := append(make([]batch.Vector, 0, len(e.out.Fields)), b.Cols...)
	for i, c := range e.copies {
		t := e.out.Fields[len(cols)].Type
		if e.sets[set][i] {
			cols = append(cols, b.Cols[c].WithType(t))
		} else {
			cols = append(cols, batch.Nulls(t, b.Size()))
		}
	}
	number := batch.MakeFixed[int64](e.out.Fields[len(cols)].Type, b.Size())
	for i := range number.Values {
		number.Values[i] = int64(set)
	}
	return b.WithCols(e.out, append(cols, number))
}
