package fn

import (
	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/types"
)

// The operators are functions with names that no query can write as a call.
func init() {
	Register(
		operator("+", bindAdd),
		operator("-", bindSub),
		operator("*", bindMul),
		operator("/", bindDiv),
		operator("%", bindRem),
		operator("NEGATE", bindNegate),
		operator("MINUS DATE", bindMinusDate),
		operator("=", bindCompare(opEq)),
		operator("<>", bindCompare(opNe)),
		operator("<", bindCompare(opLt)),
		operator("<=", bindCompare(opLe)),
		operator(">", bindCompare(opGt)),
		operator(">=", bindCompare(opGe)),
		nullOperator("IS DISTINCT FROM", bindDistinct(true)),
		nullOperator("IS NOT DISTINCT FROM", bindDistinct(false)),
		nullOperator("IS NULL", bindIsNull(true)),
		nullOperator("IS NOT NULL", bindIsNull(false)),
		nullOperator("IS TRUE", bindIsBool(true, true)),
		nullOperator("IS NOT TRUE", bindIsBool(true, false)),
		nullOperator("IS FALSE", bindIsBool(false, true)),
		nullOperator("IS NOT FALSE", bindIsBool(false, false)),
		operator("NOT", bindNot),
		nullOperator("IN", bindIn(false)),
		nullOperator("NOT IN", bindIn(true)),
		operator("||", bindConcat),
		operator("ITEM", bindItem),
		nullOperator("ARRAY", bindArray),
		nullOperator("MAP", bindMap),
		nullOperator("ROW", bindRow),
		&Def{
			Name: "CARDINALITY", Family: "collection", Syntax: "CARDINALITY(collection)",
			Doc:  "The number of elements of an ARRAY, or of entries of a MAP or a MULTISET.",
			Bind: bindCardinality,
			Examples: []Example{
				{"CARDINALITY(ARRAY[1, 2])", "2 :: INT NOT NULL"},
				{"CARDINALITY(MAP['a', 1, 'a', 2])", "1 :: INT NOT NULL"},
				{"CARDINALITY(CAST(NULL AS ARRAY<INT>))", "NULL :: INT"},
				{"CARDINALITY(1)", "error"},
			},
		},
	)
}

func operator(name string, bind func(*Call) (*Bound, error)) *Def {
	return &Def{Name: name, Family: "operator", Bind: bind, Internal: true}
}

// nullOperator is an operator that handles nulls itself.
func nullOperator(name string, bind func(*Call) (*Bound, error)) *Def {
	d := operator(name, bind)
	d.NullCall = true
	return d
}

// noBareNull refuses a NULL without a type, as Flink does for most operators.
func (c *Call) noBareNull() error {
	for i, a := range c.Args {
		if a.Type.Kind == types.Null {
			return Argf(i, "%s cannot tell the type of NULL here; write CAST(NULL AS type)", c.Def.Name)
		}
	}
	return nil
}

// mismatch is the error that two operands do not go together.
func (c *Call) mismatch() error {
	return Argf(-1, "cannot apply %s to %s and %s", c.Def.Name,
		c.Args[0].Type.WithNull(true), c.Args[1].Type.WithNull(true))
}

// identity is a kernel that gives its argument under another type.
func identity(t types.Type) Kernel {
	return func(_ Rows, args []batch.Vector) (batch.Vector, error) { return args[0].WithType(t), nil }
}
