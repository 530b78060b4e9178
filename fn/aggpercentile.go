package fn

import (
	"math"
	"slices"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/types"
)

func init() { RegisterAgg(percentileDef) }

var percentileDef = &AggDef{
	Name: "PERCENTILE", Syntax: "PERCENTILE(x, percentage [, frequency])",
	Doc: "Returns the value below which a percentage of the values that are not NULL lies, from 0 for the least to 1 for the greatest, " +
		"and NULL if there are no values. Between two values it is interpolated. The percentage is a constant; " +
		"an ARRAY of them gives an ARRAY of results. A value counts as often as its frequency says, and not at all if that is NULL or " +
		"less than 1. NaN comes after all numbers.",
	Examples: []AggExample{
		{Call: "PERCENTILE(x, 0.5)", Type: "INT", Rows: []string{"10", "NULL", "40", "20", "30"}, Want: "25.0 :: DOUBLE"},
		{Call: "PERCENTILE(x, ARRAY[0, 0.25, 1])", Type: "INT", Rows: []string{"10", "20", "40"}, Want: "[10.0, 15.0, 40.0] :: ARRAY<DOUBLE>"},
		{Call: "PERCENTILE(x, 0.5, 3)", Type: "INT", Rows: []string{"10", "20"}, Want: "15.0 :: DOUBLE"},
		{Call: "PERCENTILE(x, 0.5)", Type: "DOUBLE", Rows: nil, Want: "NULL :: DOUBLE"},
	},
	Bind: bindPercentile,
}

func bindPercentile(c *Call) (*BoundAgg, error) {
	if err := c.Arity(2, 3); err != nil {
		return nil, err
	}
	if c.Args[0].Type.Kind != types.Null {
		if _, err := c.Want(0, NumericArg); err != nil {
			return nil, err
		}
	}
	at, err := percentages(c)
	if err != nil {
		return nil, err
	}
	double := types.Of(types.Double)
	p := percentile{changeLog: changeLog{result: double}, at: at, entry: double}
	if c.Args[1].Type.Kind == types.Array {
		p.result = types.ArrayOf(double)
	}
	b := p.bound(p)
	b.Params = []types.Type{double, {}}
	if len(c.Args) == 3 {
		if t := c.Args[2].Type; !t.IsInteger() && t.Kind != types.Null {
			return nil, c.Misfit(2, "an integer")
		}
		bigint := types.Of(types.BigInt)
		p.entry = types.RowOf(types.Field{Name: "value", Type: double}, types.Field{Name: "frequency", Type: bigint})
		b.Params, b.Agg = append(b.Params, bigint), weightedPercentile{p}
	}
	return b, nil
}

// percentages reads the second argument.
func percentages(c *Call) ([]float64, error) {
	v := c.Args[1].Const
	if l, is := v.(*batch.List); is && l.Validity().Get(0) {
		v = l.Elem
	}
	if v == nil || v.Len() == 0 {
		return nil, Argf(1, "the percentage of PERCENTILE must be a constant number, or an ARRAY of them")
	}
	out := make([]float64, v.Len())
	for i := range out {
		x, ok := constNumber(v, i)
		switch {
		case !ok:
			return nil, Argf(1, "the percentage of PERCENTILE must be a constant number, or an ARRAY of them, and not NULL")
		case !(x >= 0 && x <= 1):
			return nil, Argf(1, "the percentage of PERCENTILE must be between 0 and 1, not %v", x)
		}
		out[i] = x
	}
	return out, nil
}

// constNumber returns value i of a constant as a floating-point number; ok is
// false for NULL and for what is no number.
func constNumber(v batch.Vector, i int) (x float64, ok bool) {
	if v.Validity().IsNull(i) {
		return 0, false
	}
	if t := v.Type(); t.Kind == types.Decimal {
		switch v := v.(type) {
		case *batch.Fixed[int64]:
			return types.Int128FromInt64(v.Values[i]).Float64(int(t.Scale)), true
		case *batch.Fixed[types.Int128]:
			return v.Values[i].Float64(int(t.Scale)), true
		}
	} else if !t.IsNumeric() {
		return 0, false
	}
	switch v := v.(type) {
	case *batch.Fixed[int8]:
		return float64(v.Values[i]), true
	case *batch.Fixed[int16]:
		return float64(v.Values[i]), true
	case *batch.Fixed[int32]:
		return float64(v.Values[i]), true
	case *batch.Fixed[int64]:
		return float64(v.Values[i]), true
	case *batch.Fixed[float32]:
		return float64(v.Values[i]), true
	case *batch.Fixed[float64]:
		return v.Values[i], true
	}
	return 0, false
}

// percentile is PERCENTILE without frequencies: it needs all values.
type percentile struct {
	changeLog
	at []float64
	// entry is the type of an entry of the log.
	entry types.Type
}

// Result implements Agg.
func (p percentile) Result(st []batch.Column, slots []int32) (batch.Vector, error) {
	return p.results(st, slots, func(entries batch.Vector) ([]weighted, error) {
		values := entries.(*batch.Fixed[float64]).Values
		out := make([]weighted, len(values))
		for i, x := range values {
			out[i] = weighted{x, 1}
		}
		return out, nil
	})
}

// results computes the percentiles of each slot from what is left in its log.
func (p percentile) results(st []batch.Column, slots []int32, read func(entries batch.Vector) ([]weighted, error)) (batch.Vector, error) {
	out := batch.New(p.result, len(slots))
	list, _ := out.(*batch.List)
	numbers, _ := out.(*batch.Fixed[float64])
	if list != nil {
		numbers = list.Elem.(*batch.Fixed[float64])
	}
	for _, s := range slots {
		entries := batch.New(p.entry, 0)
		if err := p.left(entries, st[0].(*batch.BytesSlab).Get(s)); err != nil {
			return nil, err
		}
		values, err := read(entries)
		if err != nil {
			return nil, err
		}
		if len(values) == 0 {
			out.AppendNull()
			continue
		}
		slices.SortFunc(values, func(a, b weighted) int { return compareFloats(a.x, b.x) })
		for _, at := range p.at {
			numbers.Append(percentileOf(values, at))
		}
		if list != nil {
			list.Close()
		}
	}
	return out, nil
}

// weighted is a value that counts n times.
type weighted struct {
	x float64
	n int64
}

// percentileOf returns the percentile of sorted values.
func percentileOf(values []weighted, at float64) float64 {
	total := int64(0)
	for _, v := range values {
		total += v.n
	}
	// Counted from 1, the percentile has a place among the values, or lies between two of them.
	place := at*float64(total-1) + 1
	below, above := math.Floor(place), math.Ceil(place)
	i, before := 0, values[0].n
	for float64(before) < below {
		i++
		before += values[i].n
	}
	if float64(before) >= above {
		return values[i].x
	}
	return (above-place)*values[i].x + (place-below)*values[i+1].x
}

// weightedPercentile is PERCENTILE with frequencies: an entry of its log is a
// value with its frequency.
type weightedPercentile struct{ percentile }

// Add implements Agg.
func (w weightedPercentile) Add(st []batch.Column, slots []int32, args []batch.Vector, rows []int32) error {
	return w.changeLog.Add(st, slots, w.entries(args, rows), rows)
}

// Retract implements Agg.
func (w weightedPercentile) Retract(st []batch.Column, slots []int32, args []batch.Vector, rows []int32) error {
	return w.changeLog.Retract(st, slots, w.entries(args, rows), rows)
}

// entries makes entries of the arguments; NULL for rows that do not count.
func (w weightedPercentile) entries(args []batch.Vector, rows []int32) []batch.Vector {
	x, n := args[0], args[2].(*batch.Fixed[int64])
	out := &batch.Row{Typ: w.entry, Cols: []batch.Vector{x, n}, N: x.Len()}
	valid := x.Validity()
	for _, r := range rows {
		if i := int(r); valid.IsNull(i) || n.Valid.IsNull(i) || n.Values[i] < 1 {
			out.Valid = MarkNull(out.Valid, out.N, i)
		}
	}
	return []batch.Vector{out}
}

// Result implements Agg.
func (w weightedPercentile) Result(st []batch.Column, slots []int32) (batch.Vector, error) {
	return w.results(st, slots, func(entries batch.Vector) ([]weighted, error) {
		row := entries.(*batch.Row)
		x, n := row.Cols[0].(*batch.Fixed[float64]).Values, row.Cols[1].(*batch.Fixed[int64]).Values
		out, total := make([]weighted, row.N), int64(0)
		for i := range out {
			out[i] = weighted{x[i], n[i]}
			if total += n[i]; total < 0 {
				return nil, Argf(2, "the sum of the frequencies of PERCENTILE does not fit in a BIGINT")
			}
		}
		return out, nil
	})
}
