package fn

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/internal/text/jsontext"
	"github.com/millstream-io/millstream/types"
)

func init() { RegisterAgg(jsonArrayAggDef, jsonObjectAggDef) }

// jsonOptions write values as Flink's JSON functions do.
var jsonOptions = jsontext.Options{ISO: true, Function: true}

// jsonResult is the type of what JSON functions return. Longer texts are not cut.
var jsonResult = types.CharOf(types.Varchar, 2000).NotNull()

var jsonArrayAggDef = &AggDef{
	Name: "JSON_ARRAYAGG", Syntax: "JSON_ARRAYAGG(x [{NULL | ABSENT} ON NULL])",
	Doc: "Returns the values as a JSON array, in the order in which they came. NULL is left out, or kept with NULL ON NULL. " +
		"A ROW and a MAP become objects, in the order of their keys, which must be strings; DATE, TIME and intervals have no form in JSON.",
	Examples: []AggExample{
		{Call: "JSON_ARRAYAGG(x)", Type: "STRING", Rows: []string{"b", "NULL", `say "hi"`}, Want: `["b","say \"hi\""] :: VARCHAR(2000) NOT NULL`},
		{Call: "JSON_ARRAYAGG(x NULL ON NULL)", Type: "DECIMAL(10, 2)", Rows: []string{"2.5", "NULL"}, Want: "[2.50,null] :: VARCHAR(2000) NOT NULL"},
		{Call: "JSON_ARRAYAGG(x)", Type: "INT", Rows: nil, Want: "[] :: VARCHAR(2000) NOT NULL"},
	},
	Bind: func(c *Call) (*BoundAgg, error) {
		t, err := aggArg(c, AnyArg)
		if err != nil {
			return nil, err
		}
		if err := inJSON(c, 0, t); err != nil {
			return nil, err
		}
		l := changeLog{result: jsonResult, nulls: c.Nulls == KeepNulls}
		return l.bound(jsonArrayAgg{l, t.WithNull(true)}), nil
	},
}

// inJSON checks that JSON has a form for values of a type.
func inJSON(c *Call, arg int, t types.Type) error {
	switch t.Kind {
	case types.Array:
		return inJSON(c, arg, *t.Elem)
	case types.Map:
		if !t.Key.IsChar() {
			return Argf(arg, "the keys of a MAP must be strings in %s, not %s", c.Def.Name, t.Key.WithNull(true))
		}
		return inJSON(c, arg, *t.Elem)
	case types.Row:
		for _, f := range t.Fields {
			if err := inJSON(c, arg, f.Type); err != nil {
				return err
			}
		}
		return nil
	}
	if t.IsNumeric() || t.IsChar() || t.IsBinary() || t.IsTimestamp() || t.Kind == types.Boolean {
		return nil
	}
	return Argf(arg, "%s has no form for the type %s; CAST it to STRING", c.Def.Name, t.WithNull(true))
}

// jsonArrayAgg is JSON_ARRAYAGG.
type jsonArrayAgg struct {
	changeLog
	arg types.Type
}

// Result implements Agg.
func (a jsonArrayAgg) Result(st []batch.Column, slots []int32) (batch.Vector, error) {
	out := batch.NewBytes(a.result, len(slots), 0)
	w := jsontext.NewValues(a.arg, jsonOptions)
	for _, s := range slots {
		values := batch.New(a.arg, 0)
		if err := a.left(values, st[0].(*batch.BytesSlab).Get(s)); err != nil {
			return nil, err
		}
		w.Read(values)
		out.Data = append(out.Data, '[')
		for i := range values.Len() {
			if i > 0 {
				out.Data = append(out.Data, ',')
			}
			var err error
			if out.Data, err = w.Append(out.Data, i); err != nil {
				return nil, fmt.Errorf("JSON_ARRAYAGG: %w", err)
			}
		}
		out.Data = append(out.Data, ']')
		out.Close()
	}
	return out, nil
}

var jsonObjectAggDef = &AggDef{
	Name: "JSON_OBJECTAGG", Syntax: "JSON_OBJECTAGG([KEY] key VALUE value [{NULL | ABSENT} ON NULL])",
	Doc: "Returns the values as a JSON object, in the order of their keys. A value that is NULL is null, or left out with " +
		"ABSENT ON NULL. A key that is NULL or comes twice is an error. Values are written as in JSON_ARRAYAGG.",
	Examples: []AggExample{
		{Call: "JSON_OBJECTAGG(x VALUE 1)", Type: "STRING", Rows: []string{"b", "a"}, Want: `{"a":1,"b":1} :: VARCHAR(2000) NOT NULL`},
		{Call: "JSON_OBJECTAGG(x VALUE 1)", Type: "STRING", Rows: []string{"b", "b"}, Want: "error"},
		{Call: "JSON_OBJECTAGG(x VALUE 1)", Type: "STRING", Rows: []string{"NULL"}, Want: "error"},
		{Call: "JSON_OBJECTAGG(x VALUE 1)", Type: "STRING", Rows: nil, Want: "{} :: VARCHAR(2000) NOT NULL"},
	},
	Bind: bindJSONObjectAgg,
}

func bindJSONObjectAgg(c *Call) (*BoundAgg, error) {
	if err := c.Arity(2, 2); err != nil {
		return nil, err
	}
	for i := range c.Args {
		if c.Args[i].Type.Kind == types.Null {
			return nil, untyped(c, i)
		}
	}
	if _, err := c.Want(0, TextArg); err != nil {
		return nil, err
	}
	value := c.Args[1].Type.Plain()
	if err := inJSON(c, 1, value); err != nil {
		return nil, err
	}
	l := changeLog{result: jsonResult}
	entry := types.RowOf(types.Field{Name: "key", Type: types.StringType()}, types.Field{Name: "value", Type: value.WithNull(true)})
	return l.bound(jsonObjectAgg{l, entry, c.Nulls == SkipNulls}), nil
}

// jsonObjectAgg is JSON_OBJECTAGG. An entry of its log is a key with its value.
type jsonObjectAgg struct {
	changeLog
	entry  types.Type
	absent bool
}

// Add implements Agg.
func (a jsonObjectAgg) Add(st []batch.Column, slots []int32, args []batch.Vector, rows []int32) error {
	entries, err := a.entries(args, rows)
	if err != nil {
		return err
	}
	return a.changeLog.Add(st, slots, entries, rows)
}

// Retract implements Agg.
func (a jsonObjectAgg) Retract(st []batch.Column, slots []int32, args []batch.Vector, rows []int32) error {
	entries, err := a.entries(args, rows)
	if err != nil {
		return err
	}
	return a.changeLog.Retract(st, slots, entries, rows)
}

// entries makes entries of the arguments.
func (a jsonObjectAgg) entries(args []batch.Vector, rows []int32) ([]batch.Vector, error) {
	if keys := args[0].Validity(); keys != nil {
		for _, r := range rows {
			if keys.IsNull(int(r)) {
				return nil, Failf(int(r), "the key of JSON_OBJECTAGG is NULL; leave such rows out with WHERE, or use COALESCE")
			}
		}
	}
	return []batch.Vector{&batch.Row{Typ: a.entry, Cols: args, N: args[0].Len()}}, nil
}

// Result implements Agg.
func (a jsonObjectAgg) Result(st []batch.Column, slots []int32) (batch.Vector, error) {
	out := batch.NewBytes(a.result, len(slots), 0)
	w := jsontext.NewValues(a.entry.Fields[1].Type, jsonOptions)
	for _, s := range slots {
		entries := batch.New(a.entry, 0).(*batch.Row)
		err := a.left(entries, st[0].(*batch.BytesSlab).Get(s))
		if err == nil {
			out.Data, err = a.object(out.Data, entries.Cols[0].(*batch.Bytes), entries.Cols[1], w)
		}
		if err != nil {
			return nil, err
		}
		out.Close()
	}
	return out, nil
}

var errKeyTwice = errors.New("a key of JSON_OBJECTAGG comes twice in a group, which an object cannot hold")

// object appends the object of keys and values.
func (a jsonObjectAgg) object(buf []byte, keys *batch.Bytes, values batch.Vector, w *jsontext.Values) (_ []byte, err error) {
	order, err := a.order(keys, values.Validity())
	if err != nil {
		return nil, err
	}
	w.Read(values)
	buf = append(buf, '{')
	for n, i := range order {
		if n > 0 {
			buf = append(buf, ',')
		}
		buf = append(jsontext.Plain(buf, keys.At(i)), ':')
		if buf, err = w.Append(buf, i); err != nil {
			return nil, fmt.Errorf("JSON_OBJECTAGG: %w", err)
		}
	}
	return append(buf, '}'), nil
}

// order returns the places of the entries that are written, by their keys. A
// value that is absent takes no room for its key, but finds it taken.
func (a jsonObjectAgg) order(keys *batch.Bytes, values batch.Bitmap) (order []int, err error) {
	seen := make(map[string]bool, keys.Len())
	for i := range keys.Len() {
		key := string(keys.At(i))
		if seen[key] {
			return nil, fmt.Errorf("%w: %q", errKeyTwice, key)
		}
		if a.absent && values.IsNull(i) {
			continue
		}
		seen[key] = true
		order = append(order, i)
	}
	slices.SortFunc(order, func(x, y int) int { return bytes.Compare(keys.At(x), keys.At(y)) })
	return order, nil
}
