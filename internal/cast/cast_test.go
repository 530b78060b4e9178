package cast

import (
	"errors"
	"testing"
	"time"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/fn"
	"github.com/millstream-io/millstream/internal/text"
	"github.com/millstream-io/millstream/types"
)

// samples has one type of each kind that a column can have.
var samples = []types.Type{
	types.Of(types.Boolean), types.Of(types.TinyInt), types.Of(types.SmallInt), types.Of(types.Int), types.Of(types.BigInt),
	types.Of(types.Float), types.Of(types.Double), types.DecimalOf(10, 2), types.CharOf(types.Char, 5), types.StringType(),
	types.CharOf(types.Binary, 3), types.BytesType(), types.Of(types.Date), types.TimeOf(types.Time, 0), types.TimeOf(types.Timestamp, 3),
	types.TimeOf(types.TimestampLTZ, 3), fn.MonthInterval, fn.SecondInterval, types.ArrayOf(types.Of(types.Int)),
	types.MapOf(types.StringType(), types.Of(types.Int)), types.MultisetOf(types.StringType()),
	types.RowOf(types.Field{Name: "a", Type: types.Of(types.Int)}),
}

// allowed has a line for each sample: a column for each target, x where there is
// a cast.
var allowed = []string{
	"xxxxxxxxxx____________",                                                                               // BOOLEAN
	"xxxxxxxxxx____________", "xxxxxxxxxx____________", "xxxxxxxxxx____________", "xxxxxxxxxx____________", // integers
	"xxxxxxxxxx____________", "xxxxxxxxxx____________", "xxxxxxxxxx____________", // FLOAT, DOUBLE, DECIMAL
	"xxxxxxxxxxxxxxxx______", "xxxxxxxxxxxxxxxx______", // CHAR, STRING
	"________xxxx__________", "________xxxx__________", // BINARY, BYTES
	"________xx__x_xx______", "________xx___xxx______", // DATE, TIME
	"________xx__xxxx______", "________xx__xxxx______", // TIMESTAMP, TIMESTAMP_LTZ
	"________xx______x_____", "________xx_______x____", // intervals
	"________xx________x___", "________xx_________x__", "________xx__________x_", "________xx___________x", // nested
}

func TestWhichCastsThereAre(t *testing.T) {
	for i, from := range samples {
		for j, to := range samples {
			_, err := Bind(from, to, false, nil)
			if got, want := err == nil, allowed[i][j] == 'x'; got != want {
				t.Errorf("CAST(%s AS %s): %v", from, to, err)
			}
			if _, tryErr := Bind(from, to, true, nil); (tryErr == nil) != (err == nil) {
				t.Errorf("TRY_CAST(%s AS %s): %v", from, to, tryErr)
			}
		}
		if _, err := Bind(types.Of(types.Null), from, false, nil); err != nil {
			t.Errorf("CAST(NULL AS %s): %v", from, err)
		}
	}
}

func run(t *testing.T, from types.Type, cells []string, to types.Type, try bool, env *fn.Env) (batch.Vector, error) {
	t.Helper()
	v := batch.New(from, len(cells))
	for _, c := range cells {
		if err := text.NewForm(env.Zone).ParseCell(v, c); err != nil {
			t.Fatal(err)
		}
	}
	k, err := Bind(from, to, try, env)
	if err != nil {
		t.Fatal(err)
	}
	return k(fn.Rows{N: len(cells)}, []batch.Vector{v})
}

func TestValues(t *testing.T) {
	loc, err := time.LoadLocation("America/New_York")
	if err != nil {
		t.Fatal(err)
	}
	env := &fn.Env{Zone: loc}
	ts, lz := types.TimeOf(types.Timestamp, 3), types.TimeOf(types.TimestampLTZ, 3)
	row := types.RowOf(types.Field{Name: "a", Type: types.Of(types.Int)}, types.Field{Name: "b", Type: types.StringType()})
	row2 := types.RowOf(types.Field{Name: "x", Type: types.Of(types.BigInt)}, types.Field{Name: "y", Type: types.CharOf(types.Char, 2)})
	tests := []struct {
		from types.Type
		in   string
		to   types.Type
		want string
	}{
		{ts, "2024-03-10 02:30:00", lz, "2024-03-10 03:30:00.000"}, {lz, "2024-07-01 23:30:00", types.Of(types.Date), "2024-07-01"},
		{lz, "2024-07-01 23:30:00", types.TimeOf(types.Time, 0), "23:30:00"}, {lz, "2024-07-01 23:30:00", types.StringType(), "2024-07-01 23:30:00.000"},
		{types.Of(types.Date), "2024-07-01", lz, "2024-07-01 00:00:00.000"}, {types.StringType(), "2024-07-01 12:00:00", lz, "2024-07-01 12:00:00.000"},
		{types.TimeOf(types.Time, 0), "10:00:00", lz, "1970-01-01 10:00:00.000"}, {ts, "1969-12-31 23:59:59.999", types.TimeOf(types.Timestamp, 1), "1969-12-31 23:59:59.9"},
		{types.Of(types.Double), "1e23", types.DecimalOf(38, 2), "99999999999999990000000.00"}, {types.Of(types.Float), "0.1", types.DecimalOf(38, 20), "0.10000000000000000000"},
		{types.Of(types.Double), "NaN", types.DecimalOf(5, 2), "NULL"}, {types.DecimalOf(10, 2), "1000.00", types.DecimalOf(4, 2), "NULL"}, {types.Of(types.Int), "1000", types.DecimalOf(5, 2), "NULL"},
		{types.StringType(), "999.994", types.DecimalOf(5, 2), "999.99"}, {types.StringType(), "999.995", types.DecimalOf(5, 2), "NULL"}, {types.StringType(), "999.95", types.DecimalOf(4, 1), "NULL"},
		{types.Of(types.Double), "NaN", types.Of(types.Boolean), "TRUE"}, {types.DecimalOf(38, 38), "0.1", types.Of(types.Double), "0.1"},
		{row, "(7, abc)", row2, "(7, ab)"}, {row, "(NULL, NULL)", row2, "(NULL, NULL)"}, {row, "NULL", row2, "NULL"},
		{types.MapOf(types.StringType(), types.Of(types.Int)), "{1=1, 1.0=2}", types.MapOf(types.Of(types.Int), types.StringType()), "{1=2}"},
		{types.MultisetOf(types.StringType()), "{a=2}", types.MultisetOf(types.CharOf(types.Char, 2)), "{a =2}"},
		{types.ArrayOf(types.ArrayOf(types.Of(types.Int))), "[[1], NULL, []]", types.ArrayOf(types.ArrayOf(types.StringType())), "[[1], NULL, []]"},
	}
	for _, tt := range tests {
		v, err := run(t, tt.from, []string{tt.in}, tt.to, false, env)
		if err != nil {
			t.Errorf("CAST(%s %s AS %s): %v", tt.from, tt.in, tt.to, err)
			continue
		}
		if tt.in == "NULL" { // the caller of a kernel does this
			v = fn.WithValid(v, batch.Bitmap{0})
		}
		if got := string(text.NewForm(loc).AppendCell(nil, v, 0)); got != tt.want || !v.Type().Equal(tt.to) {
			t.Errorf("CAST(%s %s AS %s): %s of type %s, want %s", tt.from, tt.in, tt.to, got, v.Type(), tt.want)
		}
	}
}

// TestFailures: an error names the row, also for a value deep inside of it;
// TRY_CAST gives NULL for the whole.
func TestFailures(t *testing.T) {
	row := types.RowOf(types.Field{Name: "a", Type: types.StringType()})
	rowInt := types.RowOf(types.Field{Name: "a", Type: types.Of(types.Int)})
	tests := []struct {
		from  types.Type
		cells []string
		to    types.Type
		row   int
	}{
		{types.StringType(), []string{"1", "2", "x"}, types.Of(types.Int), 2},
		{types.ArrayOf(types.StringType()), []string{"[1, 2]", "[]", "[3, x]", "[4]"}, types.ArrayOf(types.Of(types.Int)), 2},
		{types.MapOf(types.StringType(), types.StringType()), []string{"{a=1}", "{b=x}"}, types.MapOf(types.StringType(), types.Of(types.Int)), 1},
		{row, []string{"(1)", "(x)"}, rowInt, 1},
		{types.ArrayOf(row), []string{"[(1), (2)]", "[(3)]", "[(4), (x)]"}, types.ArrayOf(rowInt), 2},
		{types.Of(types.BigInt), []string{"5", "3000000000"}, types.Of(types.Int), 1},
		{types.Of(types.Double), []string{"NaN"}, types.Of(types.BigInt), 0},
		{types.Of(types.Int), []string{"1000"}, types.DecimalOf(5, 2).NotNull(), 0},
		{types.StringType(), []string{"999.99", "1000.00"}, types.DecimalOf(5, 2), 1},
		{types.StringType(), []string{"999.99", "999.995"}, types.DecimalOf(5, 2).NotNull(), 1},
	}
	for _, tt := range tests {
		var failed *fn.RowError
		if _, err := run(t, tt.from, tt.cells, tt.to, false, &fn.Env{}); !errors.As(err, &failed) || failed.Pos != tt.row {
			t.Errorf("CAST(%s AS %s): %v, want an error at row %d", tt.from, tt.to, err, tt.row)
		}
		v, err := run(t, tt.from, tt.cells, tt.to.WithNull(true), true, &fn.Env{})
		if err != nil {
			t.Errorf("TRY_CAST(%s AS %s): %v", tt.from, tt.to, err)
			continue
		}
		for i := range tt.cells {
			if got := string(text.AppendCell(nil, v, i)); (got == "NULL") != (i == tt.row) {
				t.Errorf("TRY_CAST(%s AS %s), row %d: %s", tt.from, tt.to, i, got)
			}
		}
	}
}

func TestWrappingIntegers(t *testing.T) {
	env := &fn.Env{WrapIntegers: true}
	tests := []struct {
		from types.Type
		in   string
		to   types.Type
		want string
	}{
		{types.Of(types.Int), "70000", types.Of(types.SmallInt), "4464"}, {types.Of(types.BigInt), "9223372036854775807", types.Of(types.TinyInt), "-1"},
		{types.Of(types.Double), "1e300", types.Of(types.Int), "2147483647"}, {types.Of(types.Double), "1e300", types.Of(types.TinyInt), "-1"},
		{types.Of(types.Double), "-1e300", types.Of(types.BigInt), "-9223372036854775808"}, {types.Of(types.Double), "NaN", types.Of(types.Int), "0"},
		{types.Of(types.Float), "-300.7", types.Of(types.TinyInt), "-44"}, {types.DecimalOf(38, 0), "99999999999999999999999999999999999999", types.Of(types.BigInt), "687399551400673279"},
	}
	for _, tt := range tests {
		v, err := run(t, tt.from, []string{tt.in}, tt.to, false, env)
		if err != nil {
			t.Errorf("CAST(%s AS %s): %v", tt.in, tt.to, err)
			continue
		}
		if got := string(text.AppendCell(nil, v, 0)); got != tt.want {
			t.Errorf("CAST(%s AS %s) wraps to %s, want %s", tt.in, tt.to, got, tt.want)
		}
	}
}

func TestLegacyCasts(t *testing.T) {
	env := &fn.Env{LegacyCast: true}
	row := types.RowOf(types.Field{Name: "a", Type: types.Of(types.Int)}, types.Field{Name: "b", Type: types.StringType()})
	tests := []struct {
		from types.Type
		in   string
		to   types.Type
		want string // empty: an error
	}{
		{types.StringType(), "x", types.Of(types.Int), "NULL"}, {types.StringType(), "xy", types.DecimalOf(5, 2), "NULL"},
		{types.StringType(), "x", types.Of(types.Date), "NULL"}, {types.StringType(), "x", types.Of(types.Int).NotNull(), ""},
		{types.Of(types.BigInt), "3000000000", types.Of(types.Int), ""},
		{types.StringType(), "abcdef", types.CharOf(types.Varchar, 3), "abcdef"}, {types.StringType(), "ab", types.CharOf(types.Char, 3), "ab"},
		{types.BytesType(), "abc", types.CharOf(types.Binary, 2), "abc"}, {types.Of(types.Int), "12345", types.CharOf(types.Char, 2), "12345"},
		{types.Of(types.Boolean), "TRUE", types.StringType(), "true"}, {row, "(1, a)", types.StringType(), "(1,a)"},
	}
	for _, tt := range tests {
		v, err := run(t, tt.from, []string{tt.in}, tt.to, false, env)
		got := ""
		if err == nil {
			got = string(text.AppendCell(nil, v, 0))
		}
		if got != tt.want {
			t.Errorf("CAST(%s %s AS %s): %q, want %q (%v)", tt.from, tt.in, tt.to, got, tt.want, err)
		}
	}
}
