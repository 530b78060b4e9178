package fn

import (
	"errors"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/types"
)

func init() {
	Register(elementDef, arrayContainsDef, mapKeysDef, mapValuesDef)
}

var elementDef = &Def{
	Name: "ELEMENT", Family: familyCollection, Syntax: "ELEMENT(array)",
	Doc: "Returns the only element of the array; NULL if the array is empty. More than one element is an error, " +
		"as is an empty array where the elements, and so the result, cannot be NULL.",
	Examples: []Example{
		{"ELEMENT(ARRAY[7])", "7 :: INT NOT NULL"},
		{"ELEMENT(CAST(NULL AS ARRAY<INT>))", "NULL :: INT"},
		{"ELEMENT(ARRAY[1, 2])", "error"},
	},
	Bind: typed(func(c *Call) (*Bound, error) {
		if _, err := c.Check(1, ArrayArg); err != nil {
			return nil, err
		}
		elem := *c.Args[0].Type.Elem
		t := elem.WithNull(elem.Nullable || c.Args[0].Type.Nullable)
		return &Bound{Result: t, Kernel: elementKernel(t)}, nil
	}),
}

var (
	errManyElements = errors.New("ELEMENT takes an array of one element, this one has more; use array[1] for the first")
	errNoElement    = errors.New("ELEMENT of an empty array is NULL, but the elements of this array are NOT NULL; use array[1]")
)

func elementKernel(t types.Type) Kernel {
	return func(rows Rows, args []batch.Vector) (batch.Vector, error) {
		list := args[0].(*batch.List)
		for k, n := 0, rows.Len(); k < n; k++ {
			i := rows.At(k)
			switch size := list.Offsets[i+1] - list.Offsets[i]; {
			case size > 1:
				return nil, rowError(i, errManyElements)
			case size == 0 && !t.Nullable:
				return nil, rowError(i, errNoElement)
			}
		}
		return pickElement(t, list.Elem, rows, func(i int) int32 {
			if list.Offsets[i] == list.Offsets[i+1] {
				return -1
			}
			return list.Offsets[i]
		}), nil
	}
}

var arrayContainsDef = &Def{
	Name: "ARRAY_CONTAINS", Family: familyCollection, Syntax: "ARRAY_CONTAINS(array, value)",
	Doc: "Returns whether the value is among the elements of the array. A NULL is found if there is a NULL element.",
	Examples: []Example{
		{"ARRAY_CONTAINS(ARRAY[1, 2], 2)", "TRUE :: BOOLEAN NOT NULL"},
		{"ARRAY_CONTAINS(ARRAY[1, 2], NULL)", "FALSE :: BOOLEAN NOT NULL"},
		{"ARRAY_CONTAINS(ARRAY[1, CAST(NULL AS INT)], CAST(NULL AS INT))", "TRUE :: BOOLEAN NOT NULL"},
		{"ARRAY_CONTAINS(CAST(NULL AS ARRAY<INT>), 1)", "NULL :: BOOLEAN"},
		{"ARRAY_CONTAINS(ARRAY[1.0, 2.0], 1)", "TRUE :: BOOLEAN NOT NULL"},
		{"ARRAY_CONTAINS(ARRAY[1], 'a')", "error"},
	},
	NullCall: true,
	Bind: func(c *Call) (*Bound, error) {
		params, err := c.Check(2, ArrayArg, AnyArg)
		switch {
		case err != nil:
			return nil, err
		case c.Args[0].Type.Kind != types.Array:
			return nil, c.Misfit(0, "an ARRAY")
		}
		elem, value := c.Args[0].Type.Elem.Plain(), c.Args[1].Type.Plain()
		if bothStrings := elem.IsChar() && value.IsChar() || elem.IsBinary() && value.IsBinary(); !bothStrings {
			wider, ok := common(elem, value, false)
			if numbers := elem.IsNumeric() && value.IsNumeric(); !ok || !numbers && !wider.Same(elem) || numbers && rank(value) > rank(elem) {
				return nil, Argf(1, "the elements of this array are %s, not %s", elem.WithNull(true), value.WithNull(true))
			}
			params[1] = elem.WithNull(true)
		}
		t := types.Of(types.Boolean).WithNull(c.Args[0].Type.Nullable)
		return &Bound{Params: params, Result: t, Kernel: containsKernel(t)}, nil
	},
}

// rank orders the kinds of numbers: each is converted to those of a higher rank
// without a CAST.
func rank(t types.Type) int {
	if t.Kind == types.Decimal { // between BIGINT and FLOAT
		return 2*int(types.BigInt) + 1
	}
	return 2 * int(t.Kind)
}

func containsKernel(t types.Type) Kernel {
	return func(rows Rows, args []batch.Vector) (batch.Vector, error) {
		list := args[0].(*batch.List)
		equal := EqualTo(args[1], list.Elem)
		return Fixed(t, rows, func(i int) (bool, bool, error) {
			if list.Valid.IsNull(i) {
				return false, false, nil
			}
			for e := list.Offsets[i]; e < list.Offsets[i+1]; e++ {
				if equal(i, int(e)) {
					return true, true, nil
				}
			}
			return false, true, nil
		})
	}
}

var mapKeysDef = &Def{
	Name: "MAP_KEYS", Family: familyCollection, Syntax: "MAP_KEYS(map)",
	Doc: "Returns the keys of the map as an array, in the order of MAP_VALUES.",
	Examples: []Example{
		{"MAP_KEYS(MAP[1, 'a', 2, 'b'])", "[1, 2] :: ARRAY<INT NOT NULL> NOT NULL"},
		{"MAP_KEYS(CAST(NULL AS MAP<STRING, INT>))", "NULL :: ARRAY<STRING>"},
	},
	Bind: typed(mapPartBind(
		func(t types.Type) types.Type { return *t.Key },
		func(m *batch.Map) batch.Vector { return m.Keys },
	)),
}

var mapValuesDef = &Def{
	Name: "MAP_VALUES", Family: familyCollection, Syntax: "MAP_VALUES(map)",
	Doc: "Returns the values of the map as an array, in the order of MAP_KEYS.",
	Examples: []Example{
		{"MAP_VALUES(MAP[1, 'a', 2, 'b'])", "[a, b] :: ARRAY<CHAR(1) NOT NULL> NOT NULL"},
		{"MAP_VALUES(MAP['a', CAST(NULL AS INT)])", "[NULL] :: ARRAY<INT> NOT NULL"},
	},
	Bind: typed(mapPartBind(
		func(t types.Type) types.Type { return *t.Elem },
		func(m *batch.Map) batch.Vector { return m.Vals },
	)),
}

// mapPartBind is the Bind of MAP_KEYS and MAP_VALUES: the entries of a map are
// two lists already.
func mapPartBind(elem func(types.Type) types.Type, part func(*batch.Map) batch.Vector) func(*Call) (*Bound, error) {
	return func(c *Call) (*Bound, error) {
		if _, err := c.Check(1, MapArg); err != nil {
			return nil, err
		}
		t := c.Strict(types.ArrayOf(elem(c.Args[0].Type)))
		return &Bound{Result: t, Kernel: func(_ Rows, args []batch.Vector) (batch.Vector, error) {
			m := args[0].(*batch.Map)
			return &batch.List{Typ: t, Offsets: m.Offsets, Elem: part(m)}, nil
		}}, nil
	}
}
