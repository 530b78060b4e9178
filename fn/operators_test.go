package fn

import (
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/types"
)

// decimalCases are pairs of types that take each way through the kernels: 18
// digits and less, more, and results that give up digits.
var decimalCases = [][2]types.Type{
	{types.DecimalOf(5, 2), types.DecimalOf(3, 1)}, {types.DecimalOf(10, 2), types.DecimalOf(10, 2)}, {types.DecimalOf(18, 6), types.DecimalOf(18, 0)},
	{types.DecimalOf(20, 0), types.DecimalOf(5, 4)}, {types.DecimalOf(25, 4), types.DecimalOf(10, 0)}, {types.DecimalOf(38, 0), types.DecimalOf(38, 0)},
	{types.DecimalOf(38, 18), types.DecimalOf(38, 18)}, {types.DecimalOf(38, 38), types.DecimalOf(38, 0)}, {types.DecimalOf(1, 0), types.DecimalOf(38, 38)},
	{types.DecimalOf(38, 10), types.DecimalOf(12, 12)}, {types.DecimalOf(30, 20), types.DecimalOf(9, 3)},
}

// TestDecimalsAgainstRationals compares with exact arithmetic.
func TestDecimalsAgainstRationals(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	ops := []struct {
		op  decimalOp
		typ func(a, b types.Type) types.Type
	}{{decAdd, sumType}, {decSub, sumType}, {decMul, productType}, {decDiv, quotientType}, {decRem, remainderType}}
	for _, pair := range decimalCases {
		for _, o := range ops {
			for _, types2 := range [][2]types.Type{pair, {pair[1], pair[0]}} {
				checkDecimals(t, r, o.op, types2[0], types2[1], o.typ(types2[0], types2[1]))
			}
		}
	}
}

func checkDecimals(t *testing.T, r *rand.Rand, op decimalOp, ta, tb, result types.Type) {
	t.Helper()
	const n = 200
	a, b := randomDecimals(r, ta, n), randomDecimals(r, tb, n)
	out, err := decimalKernel(op, ta, tb, result)(Rows{N: n}, []batch.Vector{a, b})
	if err != nil {
		t.Fatal(err)
	}
	x, y, got := decimalsOf(a), decimalsOf(b), decimalsOf(out)
	for i := range n {
		want, ok := exactly(op, x.at(i), y.at(i), ta, tb, result)
		if ok != out.Validity().Get(i) || ok && bigOf(got.at(i)).Cmp(want) != 0 {
			t.Fatalf("%s %s %s as %s: got %s (%t), want %s (%t)", decimalText(x.at(i), ta), decimalNames[op], decimalText(y.at(i), tb), result,
				got.at(i), out.Validity().Get(i), want, ok)
		}
	}
}

func randomDecimals(r *rand.Rand, t types.Type, n int) batch.Vector {
	out := newDecimals(t, n)
	for i := range n {
		_, v := types.Int128{Hi: int64(r.Uint64() >> 1), Lo: r.Uint64()}.QuoRem(types.Pow10(1 + r.IntN(int(t.Precision))))
		if v.Sign() == 0 {
			v = types.Int128{Lo: 1}
		}
		if r.IntN(2) == 0 {
			v = v.Neg()
		}
		out.put(i, v)
	}
	return out.vector()
}

// exactly computes with rationals, and rounds half away from zero.
func exactly(op decimalOp, x, y types.Int128, ta, tb, result types.Type) (unscaled *big.Int, ok bool) {
	u := new(big.Rat).SetFrac(bigOf(x), bigPow10(int(ta.Scale)))
	w := new(big.Rat).SetFrac(bigOf(y), bigPow10(int(tb.Scale)))
	v := new(big.Rat)
	switch op {
	case decAdd:
		v.Add(u, w)
	case decSub:
		v.Sub(u, w)
	case decMul:
		v.Mul(u, w)
	case decDiv:
		v.Quo(u, w)
	default:
		q := new(big.Rat).Quo(u, w)
		whole := new(big.Int).Quo(q.Num(), q.Denom())
		v.Sub(u, new(big.Rat).Mul(w, new(big.Rat).SetInt(whole)))
	}
	v.Mul(v, new(big.Rat).SetInt(bigPow10(int(result.Scale))))
	half := big.NewRat(int64(v.Sign()), 2)
	v.Add(v, half)
	unscaled = new(big.Int).Quo(v.Num(), v.Denom())
	return unscaled, unscaled.CmpAbs(bigPow10(int(result.Precision))) < 0
}

func TestDecimalResultTypes(t *testing.T) {
	tests := []struct {
		f         func(a, b types.Type) types.Type
		a, b, out types.Type
	}{
		{sumType, types.DecimalOf(38, 18), types.Of(types.TinyInt), types.DecimalOf(38, 17)},
		{productType, types.DecimalOf(20, 10), types.DecimalOf(20, 10), types.DecimalOf(38, 17)},
		{quotientType, types.Of(types.BigInt), types.DecimalOf(20, 0), types.DecimalOf(38, 19)},
		{quotientType, types.DecimalOf(10, 2), types.DecimalOf(10, 2), types.DecimalOf(23, 13)},
		{remainderType, types.Of(types.Int), types.DecimalOf(38, 18), types.DecimalOf(28, 18)},
	}
	for _, tt := range tests {
		if got := tt.f(tt.a, tt.b); !got.Equal(tt.out) {
			t.Errorf("%s with %s: %s, want %s", tt.a, tt.b, got, tt.out)
		}
	}
}

func TestCommonTypes(t *testing.T) {
	ts, lz := types.TimeOf(types.Timestamp, 3), types.TimeOf(types.TimestampLTZ, 6)
	tests := []struct {
		a, b           types.Type
		common, merged string // empty: none
	}{
		{types.Of(types.TinyInt), types.Of(types.Int), "INT", "INT"},
		{types.Of(types.Int), types.DecimalOf(5, 2), "DECIMAL(12, 2)", "DECIMAL(12, 2)"},
		{types.DecimalOf(38, 10), types.DecimalOf(38, 20), "DECIMAL(38, 10)", "DECIMAL(38, 10)"},
		{types.Of(types.Float), types.Of(types.BigInt), "FLOAT", "FLOAT"},
		{types.Of(types.Float), types.DecimalOf(5, 2), "DOUBLE", "DOUBLE"}, {types.DecimalOf(5, 2), types.Of(types.Float), "DOUBLE", "FLOAT"},
		{types.Of(types.Float), types.Of(types.Double), "FLOAT", "DOUBLE"}, {types.Of(types.Double), types.Of(types.Float), "DOUBLE", "DOUBLE"},
		{types.CharOf(types.Char, 2), types.CharOf(types.Char, 3), "VARCHAR(3)", "VARCHAR(3)"},
		{types.CharOf(types.Binary, 2), types.BytesType(), "BYTES", "BYTES"},
		{types.Of(types.Int), types.StringType(), "", ""},
		{ts, lz, "TIMESTAMP(6)", "TIMESTAMP_LTZ(6)"},
		{types.Of(types.Date), ts, "", "DATE"}, {ts, types.TimeOf(types.Time, 0), "", "TIME(0)"}, {types.Of(types.Date), lz, "", ""},
		{types.ArrayOf(types.Of(types.Int)), types.ArrayOf(types.Of(types.BigInt).NotNull()), "ARRAY<BIGINT>", "ARRAY<BIGINT>"},
		{types.Of(types.Null), types.Of(types.Int).NotNull(), "INT", "INT"},
		{SecondInterval, MonthInterval, "", ""},
	}
	name := func(t types.Type, ok bool) string {
		if !ok {
			return ""
		}
		return t.String()
	}
	for _, tt := range tests {
		pair := []types.Type{tt.a, tt.b}
		if got := name(CommonType(pair)); got != tt.common {
			t.Errorf("common type of %s and %s: %q, want %q", tt.a, tt.b, got, tt.common)
		}
		if got := name(MergedType(pair)); got != tt.merged {
			t.Errorf("merged type of %s and %s: %q, want %q", tt.a, tt.b, got, tt.merged)
		}
	}
}

func TestImplicit(t *testing.T) {
	tests := []struct {
		from, to types.Type
		want     bool
	}{
		{types.Of(types.Int), types.Of(types.BigInt), true}, {types.Of(types.BigInt), types.Of(types.Int), false}, {types.Of(types.BigInt), types.DecimalOf(5, 0), true},
		{types.Of(types.Double), types.Of(types.Float), false}, {types.CharOf(types.Char, 5), types.StringType(), true}, {types.StringType(), types.CharOf(types.Char, 5), false},
		{types.Of(types.Int), types.StringType(), false}, {types.Of(types.Date), types.TimeOf(types.Timestamp, 3), false}, {types.TimeOf(types.Timestamp, 3), types.Of(types.Date), true},
		{types.ArrayOf(types.Of(types.Int)), types.ArrayOf(types.Of(types.BigInt)), true}, {types.ArrayOf(types.Of(types.Int)), types.ArrayOf(types.StringType()), false},
		{types.Of(types.Null), types.Of(types.Int), true},
	}
	for _, tt := range tests {
		if got := Implicit(tt.from, tt.to); got != tt.want {
			t.Errorf("%s to %s: %t", tt.from, tt.to, got)
		}
	}
}

func TestRegistry(t *testing.T) {
	if Lookup("cardinality") == nil || Lookup("no such function") != nil || !Lookup("+").Internal {
		t.Error("Lookup is wrong")
	}
	for _, n := range Names() {
		if d := Lookup(n); d != nil && d.Internal {
			t.Errorf("Names has the operator %s", n)
		}
	}
	bind := func(*Call) (*Bound, error) { return nil, nil }
	for _, d := range []*Def{{Name: "CARDINALITY", Bind: bind}, {Name: "lower", Bind: bind}, {Name: "", Bind: bind}, {Name: "NO_BIND"}} {
		if !panics(func() { Register(d) }) {
			t.Errorf("Register took %q", d.Name)
		}
	}
	defs := All()
	for i := 1; i < len(defs); i++ {
		if strings.Compare(defs[i-1].Name, defs[i].Name) >= 0 {
			t.Errorf("All is not in order at %s", defs[i].Name)
		}
	}
}

func panics(f func()) (did bool) {
	defer func() { did = recover() != nil }()
	f()
	return false
}

func TestArgumentChecks(t *testing.T) {
	call := func(ts ...types.Type) *Call {
		c := &Call{Def: &Def{Name: "F"}}
		for _, t := range ts {
			c.Args = append(c.Args, Arg{Type: t})
		}
		return c
	}
	tests := []struct {
		err  error
		want string
	}{
		{call().Arity(1, 1), "F takes 1 argument, not 0"}, {call().Arity(1, 2), "F takes 1 or 2 arguments, not 0"}, {call().Arity(2, -1), "F takes at least 2 arguments, not 0"},
		{call().Arity(1, 3), "F takes 1 to 3 arguments, not 0"},
		{second(call(types.Of(types.Int)).Want(0, TextArg)), "argument 1 of F must be a string, not INT"},
		{second(call(types.Of(types.Int)).WantSymbol(0, "DAY")), "argument 1 of F must be one of [DAY], not a value of type INT"},
	}
	for _, tt := range tests {
		if tt.err == nil || tt.err.Error() != tt.want {
			t.Errorf("got %v, want %s", tt.err, tt.want)
		}
	}
	c := call(types.Of(types.Null), types.Of(types.SmallInt).NotNull())
	params, err := c.Check(2, TextArg, DoubleArg)
	if err != nil || params[0].String() != "STRING" || params[1].String() != "DOUBLE NOT NULL" {
		t.Errorf("params %v, %v", params, err)
	}
}

func second[T any](_ T, err error) error { return err }

func TestWithValidReachesFields(t *testing.T) {
	inner := batch.MakeFixed[int32](types.Of(types.Int), 2)
	row := &batch.Row{Typ: types.RowOf(types.Field{Name: "a", Type: types.Of(types.Int)}), Cols: []batch.Vector{inner}, N: 2}
	valid := batch.NewBitmap(2)
	valid.Clear(1)
	out := WithValid(row, valid).(*batch.Row)
	if out.Cols[0].Validity().Get(1) || !out.Cols[0].Validity().Get(0) || inner.Valid != nil {
		t.Error("a field of a null row is not null")
	}
}
