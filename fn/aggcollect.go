package fn

import (
	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/types"
)

func init() { RegisterAgg(listAggDef, arrayAggDef, collectDef) }

var listAggDef = &AggDef{
	Name: "LISTAGG", Syntax: "LISTAGG(x [, separator])",
	Doc: "Returns the strings that are not NULL in one, in the order in which they came, and NULL if there are none. " +
		"The separator is a constant, by default a comma.",
	Examples: []AggExample{
		{Call: "LISTAGG(x)", Type: "STRING", Rows: []string{"b", "NULL", "a", "b"}, Want: "b,a,b :: STRING"},
		{Call: "LISTAGG(x)", Type: "STRING", Rows: []string{"NULL"}, Want: "NULL :: STRING"},
	},
	Bind: bindListAgg,
}

func bindListAgg(c *Call) (*BoundAgg, error) {
	if err := c.Arity(1, 2); err != nil {
		return nil, err
	}
	if c.Args[0].Type.Kind == types.Null {
		return nil, untyped(c, 0)
	}
	for i := range c.Args {
		if _, err := c.Want(i, TextArg); err != nil {
			return nil, err
		}
	}
	separator := ","
	if len(c.Args) == 2 {
		var ok bool
		if separator, ok = c.ConstText(1); !ok {
			return nil, Argf(1, "the separator of LISTAGG must be a constant")
		}
	}
	l := changeLog{result: c.Args[0].Type.Plain()}
	return l.bound(listAgg{l, separator}), nil
}

// listAgg is LISTAGG.
type listAgg struct {
	changeLog
	separator string
}

// Result implements Agg.
func (l listAgg) Result(st []batch.Column, slots []int32) (batch.Vector, error) {
	out := batch.NewBytes(l.result, len(slots), 0)
	for _, s := range slots {
		values := batch.NewBytes(l.result, 0, 0)
		if err := l.left(values, st[0].(*batch.BytesSlab).Get(s)); err != nil {
			return nil, err
		}
		if values.Len() == 0 {
			out.AppendNull()
			continue
		}
		for i := range values.Len() {
			if i > 0 {
				out.Data = append(out.Data, l.separator...)
			}
			out.Data = append(out.Data, values.At(i)...)
		}
		out.Close()
	}
	return out, nil
}

var arrayAggDef = &AggDef{
	Name: "ARRAY_AGG", Syntax: "ARRAY_AGG(x) [IGNORE NULLS | RESPECT NULLS]",
	Doc: "Returns the values as an ARRAY in the order in which they came, and NULL if there are none. NULL is a value, unless IGNORE NULLS is said. " +
		"ORDER BY within the parentheses has no effect, as in Flink; the script is warned.",
	Examples: []AggExample{
		{Call: "ARRAY_AGG(x)", Type: "INT", Rows: []string{"2", "NULL", "1"}, Want: "[2, NULL, 1] :: ARRAY<INT>"},
		{Call: "ARRAY_AGG(x)", Type: "INT", Rows: nil, Want: "NULL :: ARRAY<INT>"},
	},
	Bind: func(c *Call) (*BoundAgg, error) {
		t, err := aggArg(c, AnyArg)
		if err != nil {
			return nil, err
		}
		l := changeLog{result: types.ArrayOf(t).WithNull(t.Nullable), nulls: c.Nulls != SkipNulls}
		return l.bound(arrayAgg{l}), nil
	},
}

// arrayAgg is ARRAY_AGG.
type arrayAgg struct{ changeLog }

// Result implements Agg.
func (a arrayAgg) Result(st []batch.Column, slots []int32) (batch.Vector, error) {
	out := batch.New(a.result, len(slots)).(*batch.List)
	for _, s := range slots {
		before := out.Elem.Len()
		if err := a.left(out.Elem, st[0].(*batch.BytesSlab).Get(s)); err != nil {
			return nil, err
		}
		if out.Elem.Len() == before {
			out.AppendNull()
			continue
		}
		out.Close()
	}
	return out, nil
}

var collectDef = &AggDef{
	Name: "COLLECT", Syntax: "COLLECT(x)",
	Doc: "Returns the values that are not NULL as a MULTISET, which tells how often each one is there; it is empty if there are none.",
	Examples: []AggExample{
		{Call: "COLLECT(x)", Type: "STRING", Rows: []string{"a", "NULL", "a"}, Want: "{a=2} :: MULTISET<STRING> NOT NULL"},
		{Call: "COLLECT(x)", Type: "INT", Rows: nil, Want: "{} :: MULTISET<INT> NOT NULL"},
	},
	Bind: func(c *Call) (*BoundAgg, error) {
		t, err := aggArg(c, AnyArg)
		if err != nil {
			return nil, err
		}
		l := changeLog{result: types.MultisetOf(t).NotNull()}
		return l.bound(collect{l}), nil
	},
}

// collect is COLLECT.
type collect struct{ changeLog }

// Result implements Agg.
func (c collect) Result(st []batch.Column, slots []int32) (batch.Vector, error) {
	out := batch.New(c.result, len(slots)).(*batch.Map)
	counts := out.Vals.(*batch.Fixed[int32])
	for _, s := range slots {
		values := batch.New(*c.result.Elem, 0)
		if err := c.left(values, st[0].(*batch.BytesSlab).Get(s)); err != nil {
			return nil, err
		}
		var first []int32
		at := make(map[string]int)
		var key []byte
		for i := range values.Len() {
			key = batch.AppendValue(key[:0], values, i)
			if p, ok := at[string(key)]; ok {
				counts.Values[p]++
				continue
			}
			at[string(key)] = counts.Len()
			first = append(first, int32(i))
			counts.Append(1)
		}
		batch.AppendTake(out.Keys, values, first)
		out.Close()
	}
	return out, nil
}
