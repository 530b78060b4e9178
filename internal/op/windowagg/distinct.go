package windowagg

import (
	"fmt"
	"slices"

	"github.com/millstream-io/millstream/internal/op"
	"github.com/millstream-io/millstream/internal/op/fold"
	"github.com/millstream-io/millstream/internal/state"
	"github.com/millstream-io/millstream/types"
)

// distinctSet knows which values of some columns were seen in each group and
// window, and how often. Aggregates over the same columns under the same
// filter share one.
type distinctSet struct {
	fold.Distinct
	// table counts the values of each window, or of each slice; slide those of
	// the window that is under way, where windows overlap.
	table, slide state.Table
}

// distinctSet finds or makes the set that an aggregate needs.
func (w *windowAgg) distinctSet(c *op.Context, a Agg) (*distinctSet, error) {
	for _, s := range w.distinct {
		if slices.Equal(s.Args, a.Args) && s.Filter == a.Filter {
			return s, nil
		}
	}
	spec := state.Spec{
		Name:  fmt.Sprintf("distinct%d", len(w.distinct)),
		Key:   w.keyTypes(),
		Value: []types.Type{types.Of(types.BigInt).NotNull()},
	}
	spec.Columns = w.keyNames()
	for _, k := range a.Args {
		spec.Key = append(spec.Key, w.In.Fields[k].Type)
		spec.Columns = append(spec.Columns, w.In.Fields[k].Name)
	}
	spec.Columns = append(spec.Columns, "copies")
	t, err := c.State.Table(spec)
	if err != nil {
		return nil, err
	}
	s := &distinctSet{Distinct: fold.Distinct{Args: a.Args, Filter: a.Filter}, table: t}
	if w.overlapping() {
		spec.Name += "-slide"
		if s.slide, err = c.State.Table(spec); err != nil {
			return nil, err
		}
	}
	w.distinct = append(w.distinct, s)
	return s, nil
}
