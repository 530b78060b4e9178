package print

import (
	"bytes"
	"testing"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/connector"
	"github.com/millstream-io/millstream/format"
	"github.com/millstream-io/millstream/internal/text"
	"github.com/millstream-io/millstream/types"
)

// TestValues prints values as real Flink prints them.
func TestValues(t *testing.T) {
	f := func(name string, typ types.Type) types.Field { return types.Field{Name: name, Type: typ} }
	for _, c := range []struct {
		typ        types.Type
		cell, want string
	}{
		{types.Of(types.Boolean), "TRUE", "true"},
		{types.Of(types.TinyInt), "127", "127"},
		{types.Of(types.SmallInt), "-5", "-5"},
		{types.Of(types.Int), "7", "7"},
		{types.Of(types.BigInt), "-9223372036854775808", "-9223372036854775808"},
		{types.Of(types.Float), "1.5", "1.5"},
		{types.Of(types.Double), "1.0E7", "1.0E7"},
		{types.DecimalOf(10, 3), "1234567.8", "1234567.800"},
		{types.DecimalOf(10, 3), "0", "0.000"},
		{types.DecimalOf(38, 10), "0", "0E-10"},
		{types.DecimalOf(38, 10), "-0.0000000012", "-1.2E-9"},
		{types.DecimalOf(38, 7), "0.000001", "0.0000010"},
		{types.StringType(), "'te xt'", "te xt"},
		{types.StringType(), "NULL", "null"},
		{types.Of(types.Date), "2024-02-29", "2024-02-29"},
		{types.TimeOf(types.Time, 0), "23:59:00", "23:59"},
		{types.TimeOf(types.Time, 3), "23:59:59.12", "23:59:59.120"},
		{types.TimeOf(types.Timestamp, 3), "2024-01-01 00:00:00", "2024-01-01T00:00"},
		{types.TimeOf(types.Timestamp, 3), "2024-02-29 12:34:56.78", "2024-02-29T12:34:56.780"},
		{types.TimeOf(types.Timestamp, 9), "2024-02-29 12:34:56.123456", "2024-02-29T12:34:56.123456"},
		{types.TimeOf(types.Timestamp, 9), "2024-02-29 12:34:56.000000001", "2024-02-29T12:34:56.000000001"},
		{types.TimeOf(types.TimestampLTZ, 3), "2024-02-29 12:34:00", "2024-02-29T12:34:00Z"},
		{types.ArrayOf(types.Of(types.Int)), "[1, NULL]", "[1, null]"},
		{types.MapOf(types.StringType(), types.Of(types.Int)), "{k=1}", "{k=1}"},
		{types.RowOf(f("x", types.Of(types.Int)), f("y", types.RowOf(f("z", types.StringType())))), "(1, (a))", "+I[1, +I[a]]"},
	} {
		v := batch.New(c.typ, 1)
		if err := text.ParseCell(v, c.cell); err != nil {
			t.Fatalf("%s %s: %v", c.typ, c.cell, err)
		}
		if got := string(appendValue(nil, v, 0)); got != c.want {
			t.Errorf("%s %s: %s, want %s", c.typ, c.cell, got, c.want)
		}
	}
	b := batch.NewBytes(types.BytesType(), 1, 3)
	b.Append([]byte{0, 1, 255})
	if got := string(appendValue(nil, b, 0)); got != "[0, 1, -1]" {
		t.Error(got)
	}
}

func TestPrefixes(t *testing.T) {
	for _, c := range []struct {
		options     map[string]string
		parallelism int
		out, err    string
	}{
		{nil, 1, "-U[1]\n+I[2]\n", ""},
		{nil, 2, "2> -U[1]\n2> +I[2]\n", ""},
		{map[string]string{optIdentifier: "pp"}, 1, "pp> -U[1]\npp> +I[2]\n", ""},
		{map[string]string{optIdentifier: "pp"}, 2, "pp:2> -U[1]\npp:2> +I[2]\n", ""},
		{map[string]string{optIdentifier: "", optStderr: "true"}, 1, "", "-U[1]\n+I[2]\n"},
	} {
		options, err := format.NewOptions(Def.Options, c.options, nil)
		if err != nil {
			t.Fatal(err)
		}
		var out, stderr bytes.Buffer
		s, err := Def.NewSink(&connector.Table{Options: options, Stdout: &out, Stderr: &stderr})
		if err != nil {
			t.Fatal(err)
		}
		w, err := s.Open(&connector.WriterContext{Subtask: c.parallelism - 1, Parallelism: c.parallelism}, nil)
		if err != nil {
			t.Fatal(err)
		}
		b := batch.NewBatch(types.NewSchema(types.Field{Name: "a", Type: types.Of(types.Int)}), 3)
		for i := range 3 {
			b.Cols[0].(*batch.Fixed[int32]).Append(int32(i))
		}
		b.SetSize(3)
		b.Kinds = []types.RowKind{types.Insert, types.UpdateBefore, types.Insert}
		if err := w.Write(b.WithSel([]int32{1, 2})); err != nil {
			t.Fatal(err)
		}
		if out.String() != c.out || stderr.String() != c.err {
			t.Errorf("%v: %q %q", c.options, out.String(), stderr.String())
		}
	}
}
