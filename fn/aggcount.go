package fn

import (
	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/types"
)

func init() { RegisterAgg(countDef) }

var countDef = &AggDef{
	Name: "COUNT", Syntax: "COUNT(*), COUNT(x)",
	Doc: "COUNT(*) returns the number of rows, COUNT(x) the number of those where x is not NULL.",
	Examples: []AggExample{
		{Call: "COUNT(x)", Type: "INT", Rows: []string{"7", "NULL", "7"}, Want: "2 :: BIGINT NOT NULL"},
		{Call: "COUNT(*)", Type: "INT", Rows: []string{"7", "NULL", "7"}, Want: "3 :: BIGINT NOT NULL"},
		{Call: "COUNT(x)", Type: "STRING", Rows: nil, Want: "0 :: BIGINT NOT NULL"},
	},
	Bind: bindCount,
}

// bindCount takes no argument for COUNT(*), and one otherwise.
func bindCount(c *Call) (*BoundAgg, error) {
	if err := c.Arity(0, 1); err != nil {
		return nil, err
	}
	if len(c.Args) == 1 && c.Args[0].Type.Kind == types.Null {
		return nil, untyped(c, 0)
	}
	return &BoundAgg{
		Result: countState, State: []types.Type{countState},
		Agg: countAgg{}, Mergeable: true, Exact: true, Retractable: true,
	}, nil
}

// countAgg counts rows, or the values of an argument that are not null.
type countAgg struct{}

// Add implements Agg.
func (countAgg) Add(st []batch.Column, slots []int32, args []batch.Vector, rows []int32) error {
	countRows(st[0].(*i64Slab), slots, args, rows, 1)
	return nil
}

// Retract implements Agg.
func (countAgg) Retract(st []batch.Column, slots []int32, args []batch.Vector, rows []int32) error {
	countRows(st[0].(*i64Slab), slots, args, rows, -1)
	return nil
}

// countRows adds by to the count of a slot for each of its rows that is not
// null.
func countRows(n *i64Slab, slots []int32, args []batch.Vector, rows []int32, by int64) {
	var valid batch.Bitmap
	if len(args) > 0 {
		valid = args[0].Validity()
	}
	if valid != nil {
		for i, s := range slots {
			if valid.Get(int(rows[i])) {
				*n.At(s) += by
			}
		}
		return
	}
	if slot, ok := oneSlot(slots); ok {
		*n.At(slot) += by * int64(len(slots))
		return
	}
	for _, s := range slots {
		*n.At(s) += by
	}
}

// Merge implements Agg.
func (countAgg) Merge(st []batch.Column, slots []int32, src []batch.Column, from []int32) error {
	n, more := st[0].(*i64Slab), src[0].(*i64Slab)
	for i, s := range slots {
		*n.At(s) += *more.At(from[i])
	}
	return nil
}

// Result implements Agg.
func (countAgg) Result(st []batch.Column, slots []int32) (batch.Vector, error) {
	return st[0].Vector(slots), nil
}
