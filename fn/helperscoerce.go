package fn

import "github.com/millstream-io/millstream/types"

// CommonType returns the least type to which values of all given types are
// converted without a CAST: that of CASE, ARRAY, VALUES and UNION. It is
// nullable if one of them is. A bare NULL fits every type. ok is false if there
// is no such type.
func CommonType(ts []types.Type) (t types.Type, ok bool) { return commonOf(ts, false) }

// MergedType is CommonType with the wider rules of functions such as COALESCE
// and GREATEST, which also convert a timestamp to a date or a time, and of a
// FLOAT and a DOUBLE make a DOUBLE.
func MergedType(ts []types.Type) (t types.Type, ok bool) { return commonOf(ts, true) }

func commonOf(ts []types.Type, wide bool) (types.Type, bool) {
	out := types.Of(types.Null)
	for _, t := range ts {
		var ok bool
		if out, ok = common(out, t.Plain(), wide); !ok {
			return types.Type{}, false
		}
	}
	nullable := false
	for _, t := range ts {
		nullable = nullable || t.Nullable || t.Kind == types.Null
	}
	return out.WithNull(nullable), len(ts) > 0
}

// common returns the common type of two types, nullable if one of them is.
func common(a, b types.Type, wide bool) (types.Type, bool) {
	nullable := a.Nullable || b.Nullable
	switch {
	case a.Kind == types.Null:
		return b.WithNull(true), true
	case b.Kind == types.Null:
		return a.WithNull(true), true
	case a.Same(b):
		return a.WithNull(nullable), true
	case a.IsNumeric() && b.IsNumeric():
		return numberOf(a, b, wide).WithNull(nullable), true
	case a.IsChar() && b.IsChar(), a.IsBinary() && b.IsBinary():
		return commonBytes(a, b).WithNull(nullable), true
	case a.IsDatetime() && b.IsDatetime():
		t, ok := commonTime(a, b, wide)
		return t.WithNull(nullable), ok
	case a.Kind != b.Kind:
		return types.Type{}, false
	case a.IsInterval():
		return a.WithNull(nullable), true
	case a.IsNested():
		t, ok := commonNested(a, b, wide)
		return t.WithNull(nullable), ok
	}
	return types.Type{}, false
}

// numberOf returns the common type of two numbers.
func numberOf(a, b types.Type, wide bool) types.Type {
	switch {
	case wide && a.IsApprox() && b.IsApprox():
		return types.Of(max(a.Kind, b.Kind))
	case wide && a.Kind == types.Decimal && b.IsApprox():
		return types.Of(b.Kind)
	}
	return commonNumber(a, b)
}

// commonNumber returns the least type of two numbers; of a FLOAT and a DOUBLE it
// is that of the first.
func commonNumber(a, b types.Type) types.Type {
	switch {
	case a.IsExact() && b.IsExact():
		if a.IsInteger() && b.IsInteger() {
			return types.Of(max(a.Kind, b.Kind))
		}
		pa, sa := DecimalOf(a)
		pb, sb := DecimalOf(b)
		whole := max(pa-sa, pb-sb)
		scale := min(max(sa, sb), types.MaxPrecision-whole)
		return types.DecimalOf(whole+scale, scale)
	case a.IsApprox() && b.IsApprox():
		return types.Of(a.Kind)
	case a.Kind == types.Decimal || b.Kind == types.Decimal:
		return types.Of(types.Double)
	case a.IsApprox():
		return types.Of(a.Kind)
	}
	return types.Of(b.Kind)
}

// DecimalOf returns the precision and the scale of a DECIMAL, or of the DECIMAL
// that holds all values of an integer type.
func DecimalOf(t types.Type) (precision, scale int) {
	switch t.Kind {
	case types.TinyInt:
		return 3, 0
	case types.SmallInt:
		return 5, 0
	case types.Int:
		return 10, 0
	case types.BigInt:
		return 19, 0
	}
	return int(t.Precision), int(t.Scale)
}

func commonBytes(a, b types.Type) types.Type {
	k := types.Varchar
	if a.IsBinary() {
		k = types.Varbinary
	}
	return types.CharOf(k, int(max(a.Length, b.Length)))
}

// commonTime: of TIMESTAMP and TIMESTAMP_LTZ the first wins; under the wide
// rules it is TIMESTAMP_LTZ, and a timestamp gives way to a DATE or a TIME.
func commonTime(a, b types.Type, wide bool) (types.Type, bool) {
	t := types.TimeOf(a.Kind, int(max(a.Precision, b.Precision)))
	switch {
	case a.Kind == b.Kind:
		return t, true
	case a.IsTimestamp() && b.IsTimestamp():
		if wide {
			t.Kind = types.TimestampLTZ
		}
		return t, true
	case wide && b.Kind == types.Timestamp:
		return a, true
	case wide && a.Kind == types.Timestamp:
		return b, true
	}
	return types.Type{}, false
}

func commonNested(a, b types.Type, wide bool) (types.Type, bool) {
	out := a
	if a.Key != nil {
		key, ok := common(*a.Key, *b.Key, wide)
		if !ok {
			return out, false
		}
		out.Key = &key
	}
	if a.Elem != nil {
		elem, ok := common(*a.Elem, *b.Elem, wide)
		if !ok {
			return out, false
		}
		out.Elem = &elem
	}
	if len(a.Fields) != len(b.Fields) {
		return out, false
	}
	out.Fields = make([]types.Field, len(a.Fields))
	for i, f := range a.Fields {
		t, ok := common(f.Type, b.Fields[i].Type, wide)
		if !ok {
			return out, false
		}
		out.Fields[i] = types.Field{Name: f.Name, Type: t, Comment: f.Comment}
	}
	return out, true
}

// Implicit reports whether a value of type from becomes one of type to without
// a CAST, as where a query writes into a column. Numbers widen, CHAR becomes
// VARCHAR of any length, a timestamp becomes one of the other kind, a date or a
// time; nested types do if their parts do.
func Implicit(from, to types.Type) bool {
	switch {
	case from.Kind == types.Null || from.Same(to):
		return true
	case to.IsInteger():
		return from.IsInteger() && from.Kind <= to.Kind
	case to.Kind == types.Float:
		return from.IsExact() || from.Kind == types.Float
	case to.IsNumeric():
		return from.IsNumeric()
	case to.Kind == types.Varchar:
		return from.IsChar()
	case to.Kind == types.Varbinary:
		return from.IsBinary()
	case to.IsTimestamp():
		return from.IsTimestamp()
	case to.Kind == types.Date || to.Kind == types.Time:
		return from.Kind == to.Kind || from.Kind == types.Timestamp
	case from.Kind != to.Kind:
		return false
	case !to.IsNested():
		return true
	}
	return implicitParts(from, to)
}

func implicitParts(from, to types.Type) bool {
	if from.Key != nil && !Implicit(*from.Key, *to.Key) || from.Elem != nil && !Implicit(*from.Elem, *to.Elem) ||
		len(from.Fields) != len(to.Fields) {
		return false
	}
	for i, f := range from.Fields {
		if !Implicit(f.Type, to.Fields[i].Type) {
			return false
		}
	}
	return true
}
