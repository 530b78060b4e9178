package fn

import (
	"bytes"
	"cmp"
	"math"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/types"
)

func init() {
	Register(greatestDef, leastDef, typeofDef, currentDatabaseDef,
		caseDef("COALESCE", "COALESCE(value, ...)",
			"Returns the first of the values that is not NULL, as their common type. Those behind it are not evaluated.",
			Example{"COALESCE(CAST(NULL AS INT), 2)", "2 :: INT NOT NULL"},
			Example{"COALESCE(CAST(NULL AS INT), CAST(NULL AS INT))", "NULL :: INT"},
			Example{"COALESCE('a', 1)", "error"}),
		caseDef("IFNULL", "IFNULL(value, otherwise)",
			"Returns the value, or, if it is NULL, the other one, as their common type.",
			Example{"IFNULL(CAST(NULL AS INT), 2.5)", "2.5 :: DECIMAL(11, 1) NOT NULL"},
			Example{"IFNULL(1, 2)", "1 :: INT NOT NULL"}),
		caseDef("NULLIF", "NULLIF(value, other)",
			"Returns NULL if the two are equal, otherwise the value.",
			Example{"NULLIF(1, 1)", "NULL :: INT"},
			Example{"NULLIF('a', 'A')", "a :: CHAR(1)"}),
		caseDef("IF", "IF(condition, value, otherwise)",
			"Returns the value if the condition is true, and the other one if it is false or NULL, as their common type. Only that one is evaluated.",
			Example{"IF(TRUE, 1, 2)", "1 :: INT NOT NULL"},
			Example{"IF(1 = 2, 'a', 'bcd')", "bcd :: VARCHAR(3) NOT NULL"},
			Example{"IF(1, 2, 3)", "error"}),
	)
}

// caseDef documents a function that the binder turns into a CASE, so that only
// the branch that is taken is evaluated.
func caseDef(name, syntax, doc string, examples ...Example) *Def {
	return &Def{
		Name: name, Family: familyConditional, Syntax: syntax, Doc: doc, Examples: examples, NullCall: true,
		Bind: func(c *Call) (*Bound, error) {
			return nil, Argf(-1, "%s is bound as a CASE, it has no code of its own", c.Def.Name)
		},
	}
}

var greatestDef = &Def{
	Name: "GREATEST", Family: familyConditional, Syntax: "GREATEST(value, ...)",
	Doc: "Returns the greatest of the values, as their common type. NULL if one of them is NULL. NaN is greater than all other numbers, " +
		"and zero greater than minus zero.",
	Examples: []Example{
		{"GREATEST(1, 2.5)", "2.5 :: DECIMAL(11, 1) NOT NULL"},
		{"GREATEST('a', 'b', 'B')", "b :: CHAR(1) NOT NULL"},
		{"GREATEST(1, CAST(NULL AS INT), 3)", "NULL :: INT"},
		{"GREATEST(CAST('NaN' AS DOUBLE), 1e0)", "NaN :: DOUBLE NOT NULL"},
		{"GREATEST(1, 'a')", "error"},
	},
	Bind: typed(extremeBind(1)),
}

var leastDef = &Def{
	Name: "LEAST", Family: familyConditional, Syntax: "LEAST(value, ...)",
	Doc: "Returns the least of the values, as their common type. NULL if one of them is NULL. NaN is greater than all other numbers, " +
		"and zero greater than minus zero.",
	Examples: []Example{
		{"LEAST(1, 2, 3)", "1 :: INT NOT NULL"},
		{"LEAST(DATE '2024-01-01', DATE '2023-01-01')", "2023-01-01 :: DATE NOT NULL"},
		{"LEAST(CAST('NaN' AS DOUBLE), 1e0)", "1.0 :: DOUBLE NOT NULL"},
	},
	Bind: typed(extremeBind(-1)),
}

// extremeBind is the Bind of GREATEST (sign 1) and LEAST (sign -1).
func extremeBind(sign int) func(*Call) (*Bound, error) {
	return func(c *Call) (*Bound, error) {
		if err := c.Arity(1, -1); err != nil {
			return nil, err
		}
		ts := make([]types.Type, len(c.Args))
		for i, a := range c.Args {
			ts[i] = a.Type
			t := a.Type
			if !t.IsNumeric() && !t.IsChar() && !t.IsDatetime() && !t.IsInterval() && t.Kind != types.Boolean {
				return nil, c.Misfit(i, "a number, a string, a BOOLEAN, a date, a time or an interval")
			}
		}
		t, ok := MergedType(ts)
		for _, other := range ts {
			ok = ok && (!t.IsDatetime() || t.Kind == other.Kind || t.IsTimestamp() && other.IsTimestamp())
		}
		if !ok {
			return nil, Argf(-1, "the arguments of %s have no common type", c.Def.Name)
		}
		params := make([]types.Type, len(c.Args))
		for i := range params {
			params[i] = t
		}
		t = c.Strict(t)
		return &Bound{Params: params, Result: t, Kernel: pickKernel(t, sign)}, nil
	}
}

// pickKernel returns the greatest (sign 1) or the least (sign -1) argument.
func pickKernel(t types.Type, sign int) Kernel {
	switch t.Phys() {
	case types.PhysBool:
		return pickRows(t, sign, compareBools)
	case types.PhysI8:
		return pickRows(t, sign, cmp.Compare[int8])
	case types.PhysI16:
		return pickRows(t, sign, cmp.Compare[int16])
	case types.PhysI32:
		return pickRows(t, sign, cmp.Compare[int32])
	case types.PhysI64:
		return pickRows(t, sign, cmp.Compare[int64])
	case types.PhysF32:
		return pickRows(t, sign, func(a, b float32) int { return compareFloats(float64(a), float64(b)) })
	case types.PhysF64:
		return pickRows(t, sign, compareFloats)
	case types.PhysI128:
		return pickRows(t, sign, types.Int128.Compare)
	case types.PhysTS:
		return pickRows(t, sign, types.TS.Compare)
	}
	return func(rows Rows, args []batch.Vector) (batch.Vector, error) {
		in := make([]*batch.Bytes, len(args))
		for i, a := range args {
			in[i] = a.(*batch.Bytes)
		}
		return Bytes(t, rows, sizeOf(args[:1]), func(dst []byte, i int) ([]byte, bool, error) {
			best := in[0].At(i)
			for _, v := range in[1:] {
				if x := v.At(i); bytes.Compare(x, best)*sign > 0 {
					best = x
				}
			}
			return append(dst, best...), true, nil
		})
	}
}

func pickRows[T batch.Value](t types.Type, sign int, compare func(a, b T) int) Kernel {
	return func(rows Rows, args []batch.Vector) (batch.Vector, error) {
		out := batch.MakeFixed[T](t, rows.N)
		copy(out.Values, args[0].(*batch.Fixed[T]).Values)
		for _, a := range args[1:] {
			values := a.(*batch.Fixed[T]).Values
			for k, n := 0, rows.Len(); k < n; k++ {
				if i := rows.At(k); compare(values[i], out.Values[i])*sign > 0 {
					out.Values[i] = values[i]
				}
			}
		}
		return out, nil
	}
}

// compareFloats orders NaN behind all numbers and minus zero before zero.
func compareFloats(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	case a != a || b != b:
		return compareBools(a != a, b != b)
	}
	return compareBools(!math.Signbit(a), !math.Signbit(b))
}

var typeofDef = &Def{
	Name: "TYPEOF", Family: familyConditional, Syntax: "TYPEOF(value [, serializable])",
	Doc: "Returns the type of the value, as DESCRIBE prints it. The second argument, a BOOLEAN, is taken for the sake of Flink and changes nothing.",
	Examples: []Example{
		{"TYPEOF(SUBSTRING('abc', 1))", "VARCHAR(3) :: STRING"},
		{"TYPEOF(1)", "INT NOT NULL :: STRING"},
		{"TYPEOF(NULL)", "'NULL' :: STRING"},
	},
	NullCall: true,
	Bind: func(c *Call) (*Bound, error) {
		if _, err := c.Check(1, AnyArg, BoolArg); err != nil {
			return nil, err
		}
		t, name := types.StringType(), c.Args[0].Type.String()
		return &Bound{Result: t, Kernel: func(rows Rows, _ []batch.Vector) (batch.Vector, error) {
			return Bytes(t, rows, len(name)*rows.Len(), func(dst []byte, _ int) ([]byte, bool, error) {
				return append(dst, name...), true, nil
			})
		}}, nil
	},
}

var currentDatabaseDef = &Def{
	Name: "CURRENT_DATABASE", Family: familyConditional, Syntax: "CURRENT_DATABASE()",
	Doc: "Returns the name of the current database: that of USE, or default_database.",
	Examples: []Example{
		{"CURRENT_DATABASE() = CURRENT_DATABASE()", "TRUE :: BOOLEAN NOT NULL"},
		{"CURRENT_DATABASE(1)", "error"},
	},
	Bind: func(c *Call) (*Bound, error) {
		if err := c.Arity(0, 0); err != nil {
			return nil, err
		}
		t, name := types.StringType().NotNull(), c.Env.Database
		return &Bound{Result: t, Kernel: func(rows Rows, _ []batch.Vector) (batch.Vector, error) {
			return Bytes(t, rows, len(name)*rows.Len(), func(dst []byte, _ int) ([]byte, bool, error) {
				return append(dst, name...), true, nil
			})
		}}, nil
	},
}
