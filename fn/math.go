package fn

import (
	"errors"
	"fmt"
	"math"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/internal/real"
	"github.com/millstream-io/millstream/types"
)

func init() {
	Register(absDef, signDef, modDef, powerDef, logDef, atan2Def,
		constantDef("PI", math.Pi, "3.141592653589793"),
		constantDef("E", math.E, "2.718281828459045"),
		doubleDef("SQRT", "Returns the square root; NaN for a negative number.",
			func(x float64) float64 { return real.Pow(x, 0.5) },
			Example{"SQRT(16)", "4.0 :: DOUBLE NOT NULL"}, Example{"SQRT(-1)", "NaN :: DOUBLE NOT NULL"}),
		doubleDef("EXP", "Returns e to the power of the number.", real.Exp,
			Example{"EXP(0)", "1.0 :: DOUBLE NOT NULL"}, Example{"EXP(1000)", "Infinity :: DOUBLE NOT NULL"}),
		doubleDef("LN", "Returns the natural logarithm; -Infinity for 0, NaN for a negative number.", real.Log,
			Example{"LN(1)", "0.0 :: DOUBLE NOT NULL"}, Example{"LN(0)", "-Infinity :: DOUBLE NOT NULL"}),
		doubleDef("LOG10", "Returns the logarithm to base 10.", real.Log10,
			Example{"LOG10(1000)", "3.0 :: DOUBLE NOT NULL"}, Example{"LOG10(0.001)", "-3.0 :: DOUBLE NOT NULL"}),
		doubleDef("LOG2", "Returns the logarithm to base 2.", func(x float64) float64 { return real.Log(x) / math.Ln2 },
			Example{"LOG2(8)", "3.0 :: DOUBLE NOT NULL"}),
		doubleDef("SIN", "Returns the sine of an angle in radians.", real.Sin, Example{"SIN(0)", "0.0 :: DOUBLE NOT NULL"}),
		doubleDef("COS", "Returns the cosine of an angle in radians.", real.Cos, Example{"COS(0)", "1.0 :: DOUBLE NOT NULL"}),
		doubleDef("TAN", "Returns the tangent of an angle in radians.", real.Tan, Example{"TAN(0)", "0.0 :: DOUBLE NOT NULL"}),
		doubleDef("COT", "Returns the cotangent of an angle in radians.", func(x float64) float64 { return 1 / real.Tan(x) },
			Example{"COT(0)", "Infinity :: DOUBLE NOT NULL"}),
		doubleDef("ASIN", "Returns the arc sine in radians; NaN beyond -1 and 1.", real.Asin,
			Example{"ASIN(0)", "0.0 :: DOUBLE NOT NULL"}, Example{"ASIN(2)", "NaN :: DOUBLE NOT NULL"}),
		doubleDef("ACOS", "Returns the arc cosine in radians; NaN beyond -1 and 1.", real.Acos,
			Example{"ACOS(1)", "0.0 :: DOUBLE NOT NULL"}),
		doubleDef("ATAN", "Returns the arc tangent in radians.", real.Atan, Example{"ATAN(0)", "0.0 :: DOUBLE NOT NULL"}),
		doubleDef("SINH", "Returns the hyperbolic sine.", real.Sinh, Example{"SINH(0)", "0.0 :: DOUBLE NOT NULL"}),
		doubleDef("COSH", "Returns the hyperbolic cosine.", real.Cosh, Example{"COSH(0)", "1.0 :: DOUBLE NOT NULL"}),
		doubleDef("TANH", "Returns the hyperbolic tangent.", real.Tanh, Example{"TANH(1000)", "1.0 :: DOUBLE NOT NULL"}),
		doubleDef("DEGREES", "Returns an angle in radians in degrees.", func(x float64) float64 { return x * degreesPerRadian },
			Example{"DEGREES(0.5)", "28.64788975654116 :: DOUBLE NOT NULL"}),
		doubleDef("RADIANS", "Returns an angle in degrees in radians.", func(x float64) float64 { return x * radiansPerDegree },
			Example{"RADIANS(45)", "0.7853981633974483 :: DOUBLE NOT NULL"}),
	)
}

const (
	degreesPerRadian = 57.29577951308232
	radiansPerDegree = 0.017453292519943295
)

// doubleDef defines a function from a number to a DOUBLE.
func doubleDef(name, doc string, f func(float64) float64, examples ...Example) *Def {
	return &Def{
		Name: name, Family: familyArithmetic, Syntax: name + "(number)", Doc: doc,
		Examples: append(examples, Example{name + "(CAST(NULL AS INT))", "NULL :: DOUBLE"}),
		Bind: typed(Signature(types.Of(types.Double), func(t types.Type) Kernel {
			return Map1(t, f)
		}, DoubleArg)),
	}
}

// constantDef defines a function without arguments that is always the same.
func constantDef(name string, x float64, want string) *Def {
	return &Def{
		Name: name, Family: familyArithmetic, Syntax: name + "()",
		Doc:      "Returns the number " + want[:6] + "...",
		Examples: []Example{{name + "()", want + " :: DOUBLE NOT NULL"}},
		Bind: Signature(types.Of(types.Double), func(t types.Type) Kernel {
			return func(rows Rows, _ []batch.Vector) (batch.Vector, error) {
				out := batch.MakeFixed[float64](t, rows.N)
				for i := range out.Values {
					out.Values[i] = x
				}
				return out, nil
			}
		}),
	}
}

var modDef = &Def{
	Name: "MOD", Family: familyArithmetic, Syntax: "MOD(number, divisor)",
	Doc: "Returns what is left of an integer or DECIMAL when it is divided, with the sign of the number; the same as number % divisor. " +
		"A divisor of zero is an error.",
	Examples: []Example{
		{"MOD(-5, 3)", "-2 :: INT NOT NULL"},
		{"MOD(5.5, 2)", "1.5 :: DECIMAL(2, 1) NOT NULL"},
		{"MOD(5, 0)", "error"},
	},
	Bind: bindRem,
}

var powerDef = &Def{
	Name: "POWER", Family: familyArithmetic, Syntax: "POWER(base, exponent)",
	Doc: "Returns the base to the power of the exponent.",
	Examples: []Example{
		{"POWER(2, 10)", "1024.0 :: DOUBLE NOT NULL"},
		{"POWER(2.5, 2)", "6.25 :: DOUBLE NOT NULL"},
		{"POWER(-8, 0.5)", "NaN :: DOUBLE NOT NULL"},
	},
	Bind: typed(Signature(types.Of(types.Double), func(t types.Type) Kernel {
		return Map2(t, real.Pow)
	}, DoubleArg, DoubleArg)),
}

var atan2Def = &Def{
	Name: "ATAN2", Family: familyArithmetic, Syntax: "ATAN2(y, x)",
	Doc: "Returns the angle, in radians, of the point (x, y).",
	Examples: []Example{
		{"ATAN2(0, 0)", "0.0 :: DOUBLE NOT NULL"},
		{"ATAN2(0.5e0, 0.25e0)", "1.1071487177940904 :: DOUBLE NOT NULL"},
	},
	Bind: typed(Signature(types.Of(types.Double), func(t types.Type) Kernel {
		return Map2(t, real.Atan2)
	}, DoubleArg, DoubleArg)),
}

var logDef = &Def{
	Name: "LOG", Family: familyArithmetic, Syntax: "LOG([base,] number)",
	Doc: "Returns the logarithm to a base; the natural logarithm if there is none.",
	Examples: []Example{
		{"LOG(1)", "0.0 :: DOUBLE NOT NULL"},
		{"LOG(2, 8)", "3.0 :: DOUBLE NOT NULL"},
		{"LOG(2, CAST(NULL AS DOUBLE))", "NULL :: DOUBLE"},
	},
	Bind: typed(func(c *Call) (*Bound, error) {
		params, err := c.Check(1, DoubleArg, DoubleArg)
		if err != nil {
			return nil, err
		}
		t := c.Strict(types.Of(types.Double))
		k := Map1(t, real.Log)
		if len(c.Args) == 2 {
			k = Map2(t, func(base, x float64) float64 { return real.Log(x) / real.Log(base) })
		}
		return &Bound{Params: params, Result: t, Kernel: k}, nil
	}),
}

var absDef = &Def{
	Name: "ABS", Family: familyArithmetic, Syntax: "ABS(number)",
	Doc: "Returns the absolute value; the type stays that of the argument. The smallest integer of a type has none, which is an error.",
	Examples: []Example{
		{"ABS(-5)", "5 :: INT NOT NULL"},
		{"ABS(-5.5)", "5.5 :: DECIMAL(2, 1) NOT NULL"},
		{"ABS(CAST(NULL AS INT))", "NULL :: INT"},
		{"ABS('-5')", "error"},
	},
	Bind: typed(sameNumber(func(c *Call, t types.Type) Kernel {
		wrap := c.wraps(t)
		switch t.Phys() {
		case types.PhysI8:
			return MapErr1(t, absInt[int8](wrap))
		case types.PhysI16:
			return MapErr1(t, absInt[int16](wrap))
		case types.PhysI32:
			return MapErr1(t, absInt[int32](wrap))
		case types.PhysI64:
			return MapErr1(t, absInt[int64](wrap))
		case types.PhysF32:
			return Map1(t, func(x float32) float32 { return float32(math.Abs(float64(x))) })
		case types.PhysF64:
			return Map1(t, math.Abs)
		}
		return Map1(t, func(x types.Int128) types.Int128 {
			if x.Sign() < 0 {
				return x.Neg()
			}
			return x
		})
	})),
}

// sameNumber is a Bind for functions of one number whose result has the type of
// the argument.
func sameNumber(kernel func(*Call, types.Type) Kernel) func(*Call) (*Bound, error) {
	return func(c *Call) (*Bound, error) {
		params, err := c.Check(1, NumericArg)
		if err != nil {
			return nil, err
		}
		t := c.Args[0].Type
		return &Bound{Params: params, Result: t, Kernel: kernel(c, t)}, nil
	}
}

func absInt[T int8 | int16 | int32 | int64](wrap bool) func(T) (T, error) {
	return func(x T) (T, error) {
		if x >= 0 {
			return x, nil
		}
		if x == -x && !wrap {
			return 0, overflow("ABS(%d)", x)
		}
		return -x, nil
	}
}

// overflow is the error of integer arithmetic that leaves the range of its type.
func overflow(format string, args ...any) error {
	return fmt.Errorf(format+" is out of the range of its type; cast the argument to a wider one", args...)
}

var signDef = &Def{
	Name: "SIGN", Family: familyArithmetic, Syntax: "SIGN(number)",
	Doc: "Returns 1, 0 or -1 for a positive number, zero and a negative one; the type stays that of the argument.",
	Examples: []Example{
		{"SIGN(-5)", "-1 :: INT NOT NULL"},
		{"SIGN(5.5)", "1.0 :: DECIMAL(2, 1) NOT NULL"},
		{"SIGN(-5.5e0)", "-1.0 :: DOUBLE NOT NULL"},
	},
	Bind: typed(sameNumber(func(_ *Call, t types.Type) Kernel {
		if t.Kind == types.Decimal {
			return signDecimal(t)
		}
		switch t.Phys() {
		case types.PhysI8:
			return Map1(t, signOf[int8])
		case types.PhysI16:
			return Map1(t, signOf[int16])
		case types.PhysI32:
			return Map1(t, signOf[int32])
		case types.PhysI64:
			return Map1(t, signOf[int64])
		case types.PhysF32:
			return Map1(t, signOf[float32])
		}
		return Map1(t, signOf[float64])
	})),
}

// signOf keeps the sign of zero, and NaN.
func signOf[T int8 | int16 | int32 | int64 | float32 | float64](x T) T {
	switch {
	case x > 0:
		return 1
	case x < 0:
		return -1
	}
	return x
}

var errSign = errors.New("the result of SIGN does not fit: a DECIMAL with as many digits behind the point as it has in all cannot hold 1")

func signDecimal(t types.Type) Kernel {
	one := types.Pow10(int(t.Scale))
	fits := t.Precision > t.Scale
	return mapDecimal(t, func(x types.Int128) (types.Int128, bool, error) {
		switch s := x.Sign(); {
		case s != 0 && !fits:
			return x, false, errSign
		case s > 0:
			return one, true, nil
		case s < 0:
			return one.Neg(), true, nil
		}
		return x, true, nil
	})
}

// mapDecimal is a kernel from a DECIMAL to a DECIMAL, on unscaled values.
func mapDecimal(t types.Type, f func(types.Int128) (types.Int128, bool, error)) Kernel {
	return func(rows Rows, args []batch.Vector) (batch.Vector, error) {
		return decimalRows(t, rows, args[0], func(x types.Int128, _ int) (types.Int128, bool, error) { return f(x) })
	}
}

// decimalRows makes the values of a DECIMAL result from the unscaled values of
// a DECIMAL; f also gets the position.
func decimalRows(t types.Type, rows Rows, arg batch.Vector, f func(types.Int128, int) (types.Int128, bool, error)) (batch.Vector, error) {
	at := decimalReader(arg)
	if t.Phys() == types.PhysI64 {
		return Fixed(t, rows, func(i int) (int64, bool, error) {
			v, ok, err := f(at(i), i)
			return v.Int64(), ok, err
		})
	}
	return Fixed(t, rows, func(i int) (types.Int128, bool, error) { return f(at(i), i) })
}

// decimalReader returns the accessor of the unscaled values of a DECIMAL.
func decimalReader(v batch.Vector) func(int) types.Int128 {
	if s, ok := v.(*batch.Fixed[int64]); ok {
		return func(i int) types.Int128 { return types.Int128FromInt64(s.Values[i]) }
	}
	return reader[types.Int128](v)
}
