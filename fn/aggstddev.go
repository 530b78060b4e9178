package fn

import (
	"fmt"
	"math"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/internal/text"
	"github.com/millstream-io/millstream/types"
)

func init() { RegisterAgg(stddevPopDef, stddevSampDef, varPopDef, varSampDef) }

const deviationDoc = " The result has the type of the values: for integers its fraction is cut off; for DECIMAL(p, s) it is a " +
	"DECIMAL(38, s) with 6 digits behind the point at the least."

var stddevPopDef = &AggDef{
	Name: "STDDEV_POP", Syntax: "STDDEV_POP(x)",
	Doc: "Returns the standard deviation of the values that are not NULL, and NULL if there are none." + deviationDoc,
	Examples: []AggExample{
		{Call: "STDDEV_POP(x)", Type: "DOUBLE", Rows: []string{"1", "3", "NULL", "5"}, Want: "1.632993161855452 :: DOUBLE"},
		{Call: "STDDEV_POP(x)", Type: "INT", Rows: []string{"1", "2", "10"}, Want: "4 :: INT"},
		{Call: "STDDEV_POP(x)", Type: "DECIMAL(10, 2)", Rows: []string{"1", "2"}, Want: "0.500000 :: DECIMAL(38, 6)"},
		{Call: "STDDEV_POP(x)", Type: "DOUBLE", Rows: []string{"NaN", "1"}, Want: "NaN :: DOUBLE"},
	},
	Bind: func(c *Call) (*BoundAgg, error) { return bindDeviation(c, false, true) },
}

var stddevSampDef = &AggDef{
	Name: "STDDEV_SAMP", Aliases: []string{"STDDEV"}, Syntax: "STDDEV_SAMP(x)",
	Doc: "Returns the standard deviation of a population of which the values that are not NULL are a sample; NULL if there are " +
		"fewer than two." + deviationDoc,
	Examples: []AggExample{
		{Call: "STDDEV_SAMP(x)", Type: "DOUBLE", Rows: []string{"1", "3"}, Want: "1.4142135623730951 :: DOUBLE"},
		{Call: "STDDEV(x)", Type: "BIGINT", Rows: []string{"7"}, Want: "NULL :: BIGINT"},
	},
	Bind: func(c *Call) (*BoundAgg, error) { return bindDeviation(c, true, true) },
}

var varPopDef = &AggDef{
	Name: "VAR_POP", Syntax: "VAR_POP(x)",
	Doc: "Returns the variance, that is the square of STDDEV_POP." + deviationDoc,
	Examples: []AggExample{
		{Call: "VAR_POP(x)", Type: "FLOAT", Rows: []string{"1", "2", "4"}, Want: "1.5555556 :: FLOAT"},
		{Call: "VAR_POP(x)", Type: "TINYINT", Rows: []string{"-128", "127"}, Want: "error"},
	},
	Bind: func(c *Call) (*BoundAgg, error) { return bindDeviation(c, false, false) },
}

var varSampDef = &AggDef{
	Name: "VAR_SAMP", Aliases: []string{"VARIANCE"}, Syntax: "VAR_SAMP(x)",
	Doc: "Returns the variance of a sample, that is the square of STDDEV_SAMP." + deviationDoc,
	Examples: []AggExample{
		{Call: "VAR_SAMP(x)", Type: "DECIMAL(10, 2)", Rows: []string{"1", "2", "4.5"}, Want: "3.250000 :: DECIMAL(38, 6)"},
		{Call: "VARIANCE(x)", Type: "DOUBLE", Rows: []string{"NULL"}, Want: "NULL :: DOUBLE"},
	},
	Bind: func(c *Call) (*BoundAgg, error) { return bindDeviation(c, true, false) },
}

func bindDeviation(c *Call, sample, root bool) (*BoundAgg, error) {
	t, err := aggArg(c, NumericArg)
	if err != nil {
		return nil, err
	}
	result := meanType(t)
	d := deviation{name: c.Def.Name, arg: t, result: result, sample: sample, root: root, wrap: c.Env.WrapIntegers}
	return &BoundAgg{
		Result: result, State: []types.Type{countState, floatState, floatState, countState},
		Agg: d, Mergeable: true, Retractable: true,
	}, nil
}

// deviation is the family of STDDEV and VAR, in Welford's way, which loses no
// digits where the values are large and near to each other. The state is the
// number of finite values, their mean, the sum of the squares of the distances
// to it, and the number of values that are not finite.
type deviation struct {
	name         string
	arg, result  types.Type
	sample, root bool
	wrap         bool
}

// moments is an accumulator in its columns.
type moments struct {
	n, odd   *i64Slab
	mean, m2 *f64Slab
}

func momentsOf(st []batch.Column) moments {
	return moments{n: st[0].(*i64Slab), mean: st[1].(*f64Slab), m2: st[2].(*f64Slab), odd: st[3].(*i64Slab)}
}

func (m moments) add(s int32, x float64) {
	if x-x != 0 {
		*m.odd.At(s)++
		return
	}
	n, mean := m.n.At(s), m.mean.At(s)
	*n++
	delta := x - *mean
	*mean += delta / float64(*n)
	*m.m2.At(s) += delta * (x - *mean)
}

func (m moments) retract(s int32, x float64) {
	if x-x != 0 {
		*m.odd.At(s)--
		return
	}
	n, mean, m2 := m.n.At(s), m.mean.At(s), m.m2.At(s)
	*n--
	if *n == 0 {
		*mean, *m2 = 0, 0
		return
	}
	delta := x - *mean
	*mean -= delta / float64(*n)
	*m2 -= delta * (x - *mean)
	if *n == 1 {
		*m2 = 0 // whatever was rounded on the way
	}
}

// Add implements Agg.
func (d deviation) Add(st []batch.Column, slots []int32, args []batch.Vector, rows []int32) error {
	m, v := momentsOf(st), d.doubles(args[0], rows)
	valid := args[0].Validity()
	for i, s := range slots {
		if r := int(rows[i]); valid.Get(r) {
			m.add(s, v[r])
		}
	}
	return nil
}

// Retract implements Agg.
func (d deviation) Retract(st []batch.Column, slots []int32, args []batch.Vector, rows []int32) error {
	m, v := momentsOf(st), d.doubles(args[0], rows)
	valid := args[0].Validity()
	for i, s := range slots {
		if r := int(rows[i]); valid.Get(r) {
			m.retract(s, v[r])
		}
	}
	return nil
}

// doubles returns the values of rows as doubles; values of other rows, and of
// nulls, mean nothing.
func (d deviation) doubles(v batch.Vector, rows []int32) []float64 {
	switch v := v.(type) {
	case *batch.Fixed[float64]:
		return v.Values
	case *batch.Fixed[float32]:
		return toDoubles(v.Values, rows)
	case *batch.Fixed[int8]:
		return toDoubles(v.Values, rows)
	case *batch.Fixed[int16]:
		return toDoubles(v.Values, rows)
	case *batch.Fixed[int32]:
		return toDoubles(v.Values, rows)
	case *batch.Fixed[int64]:
		if d.arg.Kind != types.Decimal {
			return toDoubles(v.Values, rows)
		}
		out := make([]float64, len(v.Values))
		for _, r := range rows {
			out[r] = types.Int128FromInt64(v.Values[r]).Float64(int(d.arg.Scale))
		}
		return out
	}
	values := v.(*batch.Fixed[types.Int128]).Values
	out := make([]float64, len(values))
	for _, r := range rows {
		out[r] = values[r].Float64(int(d.arg.Scale))
	}
	return out
}

func toDoubles[T int8 | int16 | int32 | int64 | float32](values []T, rows []int32) []float64 {
	out := make([]float64, len(values))
	for _, r := range rows {
		out[r] = float64(values[r])
	}
	return out
}

// Merge implements Agg.
func (d deviation) Merge(st []batch.Column, slots []int32, src []batch.Column, from []int32) error {
	m, more := momentsOf(st), momentsOf(src)
	for i, s := range slots {
		f := from[i]
		*m.odd.At(s) += *more.odd.At(f)
		n, k := *m.n.At(s), *more.n.At(f)
		switch {
		case k == 0:
		case n == 0:
			*m.n.At(s), *m.mean.At(s), *m.m2.At(s) = k, *more.mean.At(f), *more.m2.At(f)
		default:
			delta := *more.mean.At(f) - *m.mean.At(s)
			sum := float64(n + k)
			*m.n.At(s) = n + k
			*m.mean.At(s) += delta * float64(k) / sum
			*m.m2.At(s) += *more.m2.At(f) + delta*delta*float64(n)*float64(k)/sum
		}
	}
	return nil
}

// Result implements Agg.
func (d deviation) Result(st []batch.Column, slots []int32) (batch.Vector, error) {
	m := momentsOf(st)
	out := batch.MakeFixed[float64](types.Of(types.Double), len(slots))
	for i, s := range slots {
		odd := *m.odd.At(s)
		n := *m.n.At(s) + odd
		if d.sample {
			n--
		}
		if n <= 0 {
			setNull(out, i)
			continue
		}
		x := max(*m.m2.At(s), 0) / float64(n)
		if odd > 0 {
			x = math.NaN()
		}
		if d.root {
			x = math.Sqrt(x)
		}
		out.Values[i] = x
	}
	return d.typed(out)
}

// typed turns the results into values of the result type.
func (d deviation) typed(v *batch.Fixed[float64]) (batch.Vector, error) {
	switch d.result.Kind {
	case types.Float:
		out := &batch.Fixed[float32]{Typ: d.result, Values: make([]float32, len(v.Values)), Valid: v.Valid}
		for i, x := range v.Values {
			out.Values[i] = float32(x)
		}
		return out, nil
	case types.TinyInt:
		return cutDoubles[int8](d, v)
	case types.SmallInt:
		return cutDoubles[int16](d, v)
	case types.Int:
		return cutDoubles[int32](d, v)
	case types.BigInt:
		return cutDoubles[int64](d, v)
	case types.Decimal:
		return d.decimals(v)
	}
	return v.WithType(d.result), nil
}

// cutDoubles cuts off fractions.
func cutDoubles[T int8 | int16 | int32 | int64](d deviation, v *batch.Fixed[float64]) (batch.Vector, error) {
	out := &batch.Fixed[T]{Typ: d.result, Values: make([]T, len(v.Values)), Valid: v.Valid}
	limit := math.Ldexp(1, 8*integerBytes(d.result)-1)
	for i, x := range v.Values {
		switch {
		case x < limit:
			out.Values[i] = T(x)
		case d.wrap:
			out.Values[i] = T(saturate(x, d.result))
		default:
			return nil, fmt.Errorf("%s(x) is %v, which does not fit in its type %s; write %s(CAST(x AS DOUBLE)), or "+
				"SET 'arithmetic.overflow' = 'wrap' to let integers be cut as Flink does", d.name, x, d.result.WithNull(true), d.name)
		}
	}
	return out, nil
}

// saturate is what Java makes of a number that is too large for an integer:
// the largest INT, of which smaller types take the low bits, or BIGINT.
func saturate(x float64, t types.Type) int64 {
	switch {
	case t.Kind == types.BigInt:
		return math.MaxInt64
	case x > math.MaxInt32:
		return math.MaxInt32
	}
	return int64(x)
}

// decimals rounds to the digits of a DECIMAL.
func (d deviation) decimals(v *batch.Fixed[float64]) (batch.Vector, error) {
	out := &batch.Fixed[types.Int128]{Typ: d.result, Values: make([]types.Int128, len(v.Values)), Valid: v.Valid}
	var buf [32]byte
	for i, x := range v.Values {
		var ok bool
		out.Values[i], ok = text.ParseDecimal(text.AppendDouble(buf[:0], x), int(d.result.Precision), int(d.result.Scale))
		if !ok {
			return nil, tooManyDigits(d.name, d.result)
		}
	}
	return out, nil
}
