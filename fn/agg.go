package fn

import (
	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/types"
)

// AggDef defines an aggregate function. DISTINCT, FILTER and the grouping are
// the operator's business: an aggregate sees only the rows that count for it.
type AggDef struct {
	Name     string
	Aliases  []string
	Syntax   string
	Doc      string
	Examples []AggExample
	// Bind settles the types of one call.
	Bind func(c *Call) (*BoundAgg, error)
}

// AggExample shows an aggregate over a column of values, written as the cells
// of a test script, and its result.
type AggExample struct {
	Call string   // SUM(x), with constants behind x
	Type string   // type of x
	Rows []string // values of x
	Want string   // value :: TYPE
}

// BoundAgg is a call of an aggregate whose types are settled.
type BoundAgg struct {
	// Params are the types to which the arguments are cast, as in Bound.
	Params []types.Type
	Result types.Type
	// State lists the columns of the accumulator. A fresh accumulator is all
	// nulls for nullable types and zeros for the others.
	State []types.Type
	// Agg is the code.
	Agg Agg
	// Mergeable: Merge works, so that partial aggregates can be combined.
	Mergeable bool
	// Exact: Merge gives to the bit what one accumulator of all rows would hold,
	// however they were split up. Sums of floating-point numbers do not.
	Exact bool
	// Retractable: Retract works, so that updating input can be aggregated.
	Retractable bool
	// Updating is the form for updating input of an aggregate that is not
	// Retractable.
	Updating *BoundAgg
}

// Over returns the form of the aggregate for input that is updating, or not.
func (b *BoundAgg) Over(updating bool) *BoundAgg {
	if !updating || b.Retractable {
		return b
	}
	return b.Updating
}

// Agg folds rows into accumulators. Accumulators are columns of a state table,
// addressed by slot: st[i] is column i of State. Each method handles a batch:
// row rows[i] of the argument vectors belongs to slot slots[i]; slots may
// repeat. Methods are called on one goroutine at a time, and keep nothing
// between calls: all they know is in the columns.
type Agg interface {
	// Add folds rows in.
	Add(st []batch.Column, slots []int32, args []batch.Vector, rows []int32) error
	// Retract takes rows out that were added before.
	Retract(st []batch.Column, slots []int32, args []batch.Vector, rows []int32) error
	// Merge folds the accumulators src[from[i]] into st[slots[i]].
	Merge(st []batch.Column, slots []int32, src []batch.Column, from []int32) error
	// Result returns the values of the accumulators at slots, as a vector of
	// BoundAgg.Result.
	Result(st []batch.Column, slots []int32) (batch.Vector, error)
}
