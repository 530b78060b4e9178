package datagen

import (
	"context"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/connector"
	"github.com/millstream-io/millstream/connector/conformance"
	"github.com/millstream-io/millstream/format"
	"github.com/millstream-io/millstream/types"
)

func field(name string, t types.Type) types.Field { return types.Field{Name: name, Type: t} }

// build makes a source; options are key=value.
func build(parallelism int, fields []types.Field, options ...string) (connector.Source, error) {
	values := map[string]string{"seed": "1"}
	for _, o := range options {
		k, v, _ := strings.Cut(o, "=")
		values[k] = v
	}
	opts, err := format.NewOptions(Def.Options, values, nil)
	if err != nil {
		return nil, err
	}
	t := &connector.Table{Name: "t", Physical: types.NewSchema(fields...), Schema: types.NewSchema(fields...), Options: opts, Parallelism: parallelism}
	for i := range fields {
		t.Wanted = append(t.Wanted, i)
	}
	return newSource(t)
}

// read reads all rows; the clock is far ahead, so that all are due.
func read(t *testing.T, fields []types.Field, options ...string) []string {
	t.Helper()
	s, err := build(1, fields, options...)
	if err != nil {
		t.Fatal(err)
	}
	h := conformance.NewHost()
	defer h.Close()
	h.Clock = func() int64 { return 1 << 50 }
	rows, err := conformance.ReadAll(h, s, 1000)
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

func TestSequence(t *testing.T) {
	fields := []types.Field{field("a", types.Of(types.Int)), field("b", types.StringType()), field("c", types.DecimalOf(10, 2)),
		field("d", types.Of(types.Double)), field("e", types.Of(types.TinyInt)), field("f", types.Of(types.SmallInt)),
		field("g", types.Of(types.BigInt)), field("h", types.Of(types.Float)), field("i", types.DecimalOf(38, 2))}
	var options []string
	for _, f := range fields {
		options = append(options, "fields."+f.Name+".kind=sequence", "fields."+f.Name+".start=3", "fields."+f.Name+".end=9")
	}
	options = append(options, "fields.g.end=4")
	got := read(t, fields, options...)
	want := []string{"3 | 3 | 3.00 | 3.0 | 3 | 3 | 3 | 3.0 | 3.00", "4 | 4 | 4.00 | 4.0 | 4 | 4 | 4 | 4.0 | 4.00"}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	got = read(t, fields[:1], "number-of-rows=2", "fields.a.kind=sequence", "fields.a.start=-1", "fields.a.end=100")
	if !slices.Equal(got, []string{"-1", "0"}) {
		t.Errorf("%q", got)
	}
}

// TestReplay checks that a source makes the same rows again, in chunks that do
// not depend on time, over several splits.
func TestReplay(t *testing.T) {
	row := types.RowOf(field("x", types.Of(types.Int)), field("y", types.ArrayOf(types.StringType())))
	fields := []types.Field{field("a", types.Of(types.BigInt)), field("b", types.StringType()), field("c", types.Of(types.Boolean)),
		field("d", types.TimeOf(types.Timestamp, 3)), field("e", row), field("f", types.MapOf(types.StringType(), types.Of(types.Int))), field("g", types.Of(types.Int))}
	for _, p := range []int{1, 3} {
		s, err := build(p, fields, "number-of-rows=100", "rows-per-second=100000000", "fields.a.null-rate=0.3", "fields.d.max-past=1 d",
			"fields.e.y.element.length=2", "fields.f.key.length=1", "fields.g.kind=sequence", "fields.g.start=1", "fields.g.end=1000")
		if err != nil {
			t.Fatal(err)
		}
		// All splits of one start are read, as a job would that is restored.
		splits, err := s.Discover(context.Background(), map[string]bool{})
		if err != nil || len(splits) != p {
			t.Fatal(err, len(splits))
		}
		rows := conformance.Replay(t, func() connector.Source { return fixed{s, splits} })
		seen := map[string]bool{}
		for _, r := range rows {
			seen[r[strings.LastIndex(r, "|")+2:]] = true
		}
		if len(rows) != 100 || len(seen) != 100 || !seen["1"] || !seen["100"] {
			t.Errorf("%d rows, %d numbers", len(rows), len(seen))
		}
	}
}

// fixed is a source whose splits are known.
type fixed struct {
	connector.Source
	splits []connector.Split
}

func (f fixed) Discover(_ context.Context, seen map[string]bool) ([]connector.Split, error) {
	if len(seen) > 0 {
		return f.Source.Discover(context.Background(), seen)
	}
	return f.splits, nil
}

// TestRate makes rows when they are due, and wakes the runtime then.
func TestRate(t *testing.T) {
	s, err := build(1, []types.Field{field("a", types.Of(types.Int)), field("t", types.TimeOf(types.TimestampLTZ, 3))}, "rows-per-second=100", "number-of-rows=7")
	if err != nil {
		t.Fatal(err)
	}
	splits, _ := s.Discover(context.Background(), nil)
	h := conformance.NewHost()
	defer h.Close()
	var start int64
	now := start
	h.Clock = func() int64 { return now }
	r, err := s.Open(h.Context(), splits[0], nil)
	if err != nil {
		t.Fatal(err)
	}
	start = r.(*reader).data.Start
	var got []string
	for now = start - 1; now < start+200; now++ {
		for {
			c, err := r.Read(100)
			if err != nil {
				t.Fatal(err)
			}
			if c.Batch != nil {
				got = append(got, strconv.FormatInt(now-start, 10)+":"+strconv.Itoa(c.Batch.Size()))
				last := c.Batch.Cols[1].(*batch.Fixed[int64])
				if at := last.Values[last.Len()-1]; at != now {
					t.Errorf("at %d: the row is of %d", now, at)
				}
			}
			if c.Status == connector.End {
				now = start + 200
			}
			if c.Status != connector.More {
				break
			}
		}
	}
	if want := "10:2 30:2 50:2 60:1"; strings.Join(got, " ") != want {
		t.Errorf("%s, want %s", strings.Join(got, " "), want)
	}
}

// TestWake reads in real time.
func TestWake(t *testing.T) {
	s, err := build(2, []types.Field{field("a", types.Of(types.Int))}, "rows-per-second=1000", "number-of-rows=60")
	if err != nil {
		t.Fatal(err)
	}
	h := conformance.NewHost()
	defer h.Close()
	if rows, err := conformance.ReadAll(h, s, 100); len(rows) != 60 || err != nil {
		t.Errorf("%d rows, %v", len(rows), err)
	}
}

func TestRandom(t *testing.T) {
	for _, c := range []struct {
		typ     types.Type
		options []string
		check   func(cells []string) bool
	}{
		{types.Of(types.TinyInt), []string{"min=-1", "max=1"}, within(-1, 1, 3)},
		{types.Of(types.SmallInt), []string{"min=5", "max=5"}, within(5, 5, 1)},
		{types.Of(types.Int), []string{"min=-2147483648", "max=2147483647"}, within(-2147483648, 2147483647, 190)},
		{types.Of(types.BigInt), nil, within(-1e19, 1e19, 190)},
		{types.Of(types.Float), []string{"min=-1", "max=1"}, within(-1, 1, 190)},
		{types.Of(types.Double), []string{"min=10", "max=11"}, within(10, 11, 190)},
		{types.Of(types.Double), nil, within(0, math.MaxFloat64, 190)},
		{types.DecimalOf(5, 2), []string{"min=1", "max=2"}, within(1, 2, 50)},
		{types.DecimalOf(5, 2), nil, within(0, 1000, 150)},
		{types.DecimalOf(38, 2), []string{"min=-1000000000000000000000", "max=1000000000000000000000"}, within(-1e21, 1e21, 190)},
		{types.DecimalOf(30, 10), []string{"min=1", "max=2"}, within(1, 2, 190)},
		{types.Of(types.Boolean), nil, distinctCells(2)},
		{types.StringType(), []string{"length=3"}, lengths(3, 3)},
		{types.StringType(), nil, lengths(100, 100)},
		{types.StringType(), []string{"length=3", "var-len=true"}, lengths(1, 3)},
		{types.CharOf(types.Varchar, 7), nil, lengths(7, 7)},
		{types.CharOf(types.Char, 5), nil, lengths(5, 5)},
		{types.Of(types.Int), []string{"null-rate=1"}, func(c []string) bool { return c[0] == "NULL" && distinctCells(1)(c) }},
		{types.ArrayOf(types.Of(types.Int)), []string{"length=2", "element.min=1", "element.max=2"}, oneOf("[1, 1]", "[1, 2]", "[2, 1]", "[2, 2]")},
		{types.ArrayOf(types.Of(types.Int)), []string{"length=1", "element.null-rate=1"}, oneOf("[NULL]")},
		{types.MapOf(types.Of(types.Int), types.Of(types.Int)), []string{"length=1", "key.min=1", "key.max=1", "value.min=2", "value.max=2"}, oneOf("{1=2}")},
		{types.RowOf(field("x", types.Of(types.Int))), []string{"x.min=1", "x.max=1"}, oneOf("(1)")},
		{types.Of(types.Date), nil, distinctCells(1)},
		{types.TimeOf(types.Timestamp, 3), nil, distinctCells(200)},
		{types.TimeOf(types.TimestampLTZ, 6), []string{"max-past=1 d"}, distinctCells(200)},
	} {
		var options []string
		for _, o := range c.options {
			options = append(options, "fields.v."+o)
		}
		got := read(t, []types.Field{field("v", c.typ)}, append(options, "number-of-rows=200", "rows-per-second=1000")...)
		if len(got) != 200 || !c.check(got) {
			t.Errorf("%s %q: %d rows, %q ...", c.typ, c.options, len(got), got[:3])
		}
	}
	// Bytes are printed as text, so only their length is looked at elsewhere.
	for _, typ := range []types.Type{types.BytesType(), types.CharOf(types.Binary, 3), types.TimeOf(types.Time, 0), types.MultisetOf(types.StringType())} {
		if got := read(t, []types.Field{field("v", typ)}, "number-of-rows=5"); len(got) != 5 {
			t.Errorf("%s: %d rows", typ, len(got))
		}
	}
}

func within(lo, hi float64, different int) func([]string) bool {
	return func(cells []string) bool {
		for _, c := range cells {
			if f, err := strconv.ParseFloat(c, 64); err != nil || f < lo || f > hi {
				return false
			}
		}
		return different > 3 && count(cells) >= different || count(cells) == different
	}
}

func count(cells []string) int {
	seen := map[string]bool{}
	for _, c := range cells {
		seen[c] = true
	}
	return len(seen)
}

// distinctCells wants at least half of n values, and at most n.
func distinctCells(n int) func([]string) bool {
	return func(cells []string) bool { return count(cells) <= n && count(cells) > n/2 }
}

func lengths(lo, hi int) func([]string) bool {
	return func(cells []string) bool {
		seen := map[int]bool{}
		for _, c := range cells {
			seen[len(c)] = true
		}
		return len(seen) == hi-lo+1 && seen[lo] && seen[hi]
	}
}

func oneOf(want ...string) func([]string) bool {
	return func(cells []string) bool {
		for _, c := range cells {
			if !slices.Contains(want, c) {
				return false
			}
		}
		return count(cells) == len(want)
	}
}

func TestRefused(t *testing.T) {
	for _, c := range []struct {
		typ     types.Type
		options []string
		want    string
	}{
		{types.Of(types.Int), []string{"fields.zz.min=3"}, `option "fields.zz.min" is of no field; the options are: fields.v.kind, fields.v.max, fields.v.min, fields.v.null-rate`},
		{types.Of(types.Int), []string{"fields.v.length=3"}, "of no field"},
		{types.Of(types.Int), []string{"fields.v.min=3", "fields.v.max=1"}, "no INT lies between 3 and 1"},
		{types.Of(types.TinyInt), []string{"fields.v.max=1000"}, "no TINYINT lies between"},
		{types.Of(types.Int), []string{"fields.v.min=x"}, `option "fields.v.min" is "x", which is no whole number`},
		{types.Of(types.Double), []string{"fields.v.min=NaN"}, "which is no number"},
		{types.Of(types.Double), []string{"fields.v.min=3", "fields.v.max=1"}, "no DOUBLE lies between 3 and 1"},
		{types.Of(types.Int), []string{"fields.v.kind=zz"}, "must be random or sequence"},
		{types.Of(types.Int), []string{"fields.v.kind=sequence", "fields.v.start=1"}, `option "fields.v.end" is missing`},
		{types.Of(types.Int), []string{"fields.v.kind=sequence", "fields.v.start=4", "fields.v.end=1"}, "lies before the start"},
		{types.Of(types.TinyInt), []string{"fields.v.kind=sequence", "fields.v.start=4", "fields.v.end=1000"}, "does not fit TINYINT"},
		{types.Of(types.Boolean), []string{"fields.v.kind=sequence", "fields.v.start=1", "fields.v.end=4"}, "has no sequence"},
		{types.Of(types.Int), []string{"fields.v.kind=sequence", "fields.v.start=1", "fields.v.end=4", "fields.v.null-rate=1"}, "of no field"},
		{types.Of(types.Int), []string{"fields.v.null-rate=2"}, "between 0 and 1"},
		{types.Of(types.Int).NotNull(), []string{"fields.v.null-rate=0.5"}, "NOT NULL"},
		{types.CharOf(types.Char, 5), []string{"fields.v.length=7"}, "is fixed"},
		{types.CharOf(types.Char, 5), []string{"fields.v.var-len=true"}, "is fixed"},
		{types.CharOf(types.Varchar, 5), []string{"fields.v.length=7"}, "lies between 1 and that of the type"},
		{types.StringType(), []string{"fields.v.var-len=x"}, "neither true nor false"},
		{types.TimeOf(types.Timestamp, 3), []string{"fields.v.max-past=x"}, "fields.v.max-past"},
		{types.ArrayOf(types.Of(types.Int)), []string{"fields.v.length=-1"}, `"fields.v.length" is -1`},
		{types.Of(types.Int), []string{"rows-per-second=0"}, "must be above 0"},
		{types.Of(types.Int), []string{"number-of-rows=-1"}, "is negative"},
	} {
		if _, err := build(1, []types.Field{field("v", c.typ)}, c.options...); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want %s", c.options, err, c.want)
		}
	}
}

func TestSeed(t *testing.T) {
	fields := []types.Field{field("a", types.Of(types.BigInt))}
	if a, b := read(t, fields, "number-of-rows=5"), read(t, fields, "number-of-rows=5"); !slices.Equal(a, b) {
		t.Errorf("%q %q", a, b)
	}
	if a, b := read(t, fields, "number-of-rows=5"), read(t, fields, "number-of-rows=5", "seed=2"); slices.Equal(a, b) {
		t.Errorf("%q", a)
	}
	s, err := build(1, fields)
	if err != nil || s.Bounded() {
		t.Errorf("bounded without an end: %v", err)
	}
}

func BenchmarkRead(b *testing.B) {
	for _, c := range []struct {
		name string
		typ  types.Type
	}{{"bigint", types.Of(types.BigInt)}, {"string", types.CharOf(types.Varchar, 20)}, {"double", types.Of(types.Double)}} {
		b.Run(c.name, func(b *testing.B) {
			s, err := build(1, []types.Field{field("v", c.typ)}, "rows-per-second=1000000000000")
			if err != nil {
				b.Fatal(err)
			}
			splits, _ := s.Discover(context.Background(), nil)
			h := conformance.NewHost()
			defer h.Close()
			h.Clock = func() int64 { return 1 << 50 }
			r, err := s.Open(h.Context(), splits[0], nil)
			if err != nil {
				b.Fatal(err)
			}
			n := 0
			for b.Loop() {
				c, err := r.Read(4096)
				if err != nil {
					b.Fatal(err)
				}
				n += c.Batch.Size()
			}
			b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "rows/s")
		})
	}
}
