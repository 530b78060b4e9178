package types

import "testing"

func TestParse(t *testing.T) {
	var list []Type
	for k := range kindNames {
		switch kind := Kind(k); kind {
		case Invalid, IntervalYM, IntervalDS, Array, Multiset, Map, Row:
		case Null:
			list = append(list, Type{Kind: Null})
		case Char, Varchar, Binary, Varbinary:
			list = append(list, CharOf(kind, 7), CharOf(kind, 1).NotNull())
		default:
			list = append(list, Of(kind), Of(kind).NotNull())
		}
	}
	list = append(list, StringType(), BytesType().NotNull(), DecimalOf(38, 10), TimeOf(TimestampLTZ, 9).NotNull())
	for u := UnitYear; u <= UnitSecond; u++ {
		kind := IntervalDS
		if u <= UnitMonth {
			kind = IntervalYM
		}
		list = append(list, Type{Kind: kind, Unit: u, Precision: 2, Scale: 6, Nullable: true})
	}
	row := RowOf(Field{Name: "a ` b", Type: Of(Int).NotNull()}, Field{Name: "`", Type: DecimalOf(3, 1)}, Field{Name: "` INT>", Type: StringType()})
	list = append(list, RowOf(), row, ArrayOf(row.NotNull()), MapOf(StringType().NotNull(), ArrayOf(Of(Int))), MultisetOf(Of(Double)).NotNull())
	for _, typ := range list {
		got, err := Parse(typ.String())
		if err != nil || got.String() != typ.String() || !got.Equal(typ) || got.Phys() != typ.Phys() || got.Unit != typ.Unit {
			t.Errorf("%s: %s, %v", typ, got, err)
		}
	}
	for _, text := range []string{"", "INT ", "INTEGER", "int", "VARCHAR", "VARCHAR(x)", "DECIMAL(3)", "ARRAY<INT", "ROW<a INT>", "ROW<`a INT>", "MAP<INT>", "INTERVAL", "INTERVAL CENTURY", "INT NOT", "NULL NOT NULL NOT NULL"} {
		if got, err := Parse(text); err == nil {
			t.Errorf("%q is read as %s", text, got)
		}
	}
}
