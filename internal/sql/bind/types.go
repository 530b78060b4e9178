package bind

import (
	"github.com/millstream-io/millstream/internal/sql/ast"
	"github.com/millstream-io/millstream/types"
)

// simpleKinds are the types without parameters.
var simpleKinds = map[string]types.Kind{
	"BOOLEAN": types.Boolean, "TINYINT": types.TinyInt, "SMALLINT": types.SmallInt, "INT": types.Int, "BIGINT": types.BigInt,
	"FLOAT": types.Float, "DOUBLE": types.Double, "DATE": types.Date, "NULL": types.Null, "VARIANT": types.Variant,
	"BITMAP": types.Bitmap,
}

var sizedKinds = map[string]types.Kind{
	"CHAR": types.Char, "VARCHAR": types.Varchar, "BINARY": types.Binary, "VARBINARY": types.Varbinary,
}

// timeKinds are the types with a precision, and its default.
var timeKinds = map[string]struct {
	kind      types.Kind
	precision int
}{"TIME": {types.Time, 0}, "TIMESTAMP": {types.Timestamp, 6}, "TIMESTAMP_LTZ": {types.TimestampLTZ, 6}}

// Type returns the type that is written; an invalid one after an error was reported.
func (b *Binder) Type(t *ast.TypeName) types.Type {
	return b.baseType(t).WithNull(t.Null != ast.NotNull)
}

func (b *Binder) baseType(t *ast.TypeName) types.Type {
	if k, ok := simpleKinds[t.Name]; ok {
		return types.Of(k)
	}
	if k, ok := sizedKinds[t.Name]; ok {
		return b.sized(t, k)
	}
	if k, ok := timeKinds[t.Name]; ok {
		return b.temporal(t, k.kind, k.precision)
	}
	switch t.Name {
	case "STRING":
		return types.StringType()
	case "BYTES":
		return types.BytesType()
	case "DECIMAL":
		return b.decimal(t)
	case "INTERVAL":
		return b.interval(t.Interval)
	case "ARRAY", "MULTISET":
		elem := b.Type(t.Elems[0])
		if !elem.IsValid() {
			return types.Type{}
		}
		if t.Name == "ARRAY" {
			return types.ArrayOf(elem)
		}
		return types.MultisetOf(elem)
	case "MAP":
		key, val := b.Type(t.Elems[0]), b.Type(t.Elems[1])
		if !key.IsValid() || !val.IsValid() {
			return types.Type{}
		}
		return types.MapOf(key, val)
	case "ROW":
		return b.rowType(t)
	case "":
		names := append([]string{"INTEGER", "STRING", "ROW", "ARRAY", "MAP", "TIMESTAMP", "TIMESTAMP_LTZ", "DECIMAL"}, kindNames()...)
		b.unknown(t.Pos(), t.User.Last(), names, "unknown type %q", t.User.Last())
		return types.Type{}
	}
	b.unsupported(t.Pos(), "the type "+t.Name)
	return types.Type{}
}

func kindNames() []string {
	var out []string
	for n := range simpleKinds {
		out = append(out, n)
	}
	for n := range sizedKinds {
		out = append(out, n)
	}
	return out
}

// sized returns a character or a binary type. Without a length, VARCHAR and
// VARBINARY have the longest, as in Flink, and the others one.
func (b *Binder) sized(t *ast.TypeName, k types.Kind) types.Type {
	n := 1
	switch {
	case len(t.Args) > 0:
		n = t.Args[0]
	case k == types.Varchar || k == types.Varbinary:
		n = types.MaxLength
	}
	if n < 0 || n > types.MaxLength {
		b.errorf(t.Pos(), "the length of %s must be from 1 to %d", t.Name, types.MaxLength)
		return types.Type{}
	}
	return types.CharOf(k, n)
}

func (b *Binder) temporal(t *ast.TypeName, k types.Kind, precision int) types.Type {
	if len(t.Args) > 0 {
		precision = t.Args[0]
	}
	if precision < 0 || precision > 9 {
		b.errorf(t.Pos(), "the precision of %s must be from 0 to 9, not %d", t.Name, precision)
		return types.Type{}
	}
	return types.TimeOf(k, precision)
}

func (b *Binder) decimal(t *ast.TypeName) types.Type {
	p, s := 10, 0
	if len(t.Args) > 0 {
		p = t.Args[0]
	}
	if len(t.Args) > 1 {
		s = t.Args[1]
	}
	// Flink takes a larger precision for the largest.
	p = min(p, types.MaxPrecision)
	if p < 1 {
		b.errorf(t.Pos(), "the precision of DECIMAL must be from 1 to %d, not %d", types.MaxPrecision, p)
		return types.Type{}
	}
	if s < 0 || s > p {
		b.errorf(t.Pos(), "the scale of DECIMAL(%d, %d) must be from 0 to its precision", p, s)
		return types.Type{}
	}
	return types.DecimalOf(p, s)
}

func (b *Binder) rowType(t *ast.TypeName) types.Type {
	fields := make([]types.Field, len(t.Fields))
	ok := true
	for i, f := range t.Fields {
		fields[i] = types.Field{Name: f.Name.Name, Type: b.Type(f.Type)}
		if f.Comment != nil {
			fields[i].Comment = f.Comment.Value
		}
		ok = ok && fields[i].Type.IsValid()
		for _, g := range fields[:i] {
			if g.Name == f.Name.Name {
				b.errorf(f.Name.Pos(), "the ROW has two fields named %q", g.Name)
				ok = false
			}
		}
	}
	if !ok {
		return types.Type{}
	}
	return types.RowOf(fields...)
}

// intervalUnits gives the range of a qualifier by its first and last unit.
var intervalUnits = map[[2]string]types.IntervalUnit{
	{"YEAR", ""}: types.UnitYear, {"YEAR", "MONTH"}: types.UnitYearToMonth, {"MONTH", ""}: types.UnitMonth,
	{"DAY", ""}: types.UnitDay, {"DAY", "HOUR"}: types.UnitDayToHour, {"DAY", "MINUTE"}: types.UnitDayToMinute,
	{"DAY", "SECOND"}: types.UnitDayToSecond, {"HOUR", ""}: types.UnitHour, {"HOUR", "MINUTE"}: types.UnitHourToMinute,
	{"HOUR", "SECOND"}: types.UnitHourToSecond, {"MINUTE", ""}: types.UnitMinute,
	{"MINUTE", "SECOND"}: types.UnitMinuteToSecond, {"SECOND", ""}: types.UnitSecond,
	{"QUARTER", ""}: types.UnitMonth, {"WEEK", ""}: types.UnitDay,
}

// interval returns the type of a qualifier.
func (b *Binder) interval(q *ast.IntervalQualifier) types.Type {
	unit, ok := intervalUnits[[2]string{q.From, q.To}]
	if !ok {
		text := q.From
		if q.To != "" {
			text += " TO " + q.To
		}
		b.errorf(q.Pos(), "%s is no range of an INTERVAL", text)
		return types.Type{}
	}
	t := types.Type{Kind: types.IntervalDS, Nullable: true, Unit: unit, Precision: 2, Scale: 6}
	if unit <= types.UnitMonth {
		t.Kind, t.Scale = types.IntervalYM, 0
	}
	if q.FromPrec >= 0 {
		t.Precision = uint8(q.FromPrec)
	}
	if q.Frac >= 0 {
		t.Scale = uint8(q.Frac)
	}
	return t
}
