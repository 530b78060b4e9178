package checksum

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/big"
	"strings"
	"testing"

	"github.com/cespare/xxhash/v2"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/connector"
	"github.com/millstream-io/millstream/format"
	"github.com/millstream-io/millstream/types"
)

// The vectors were computed with another implementation of XXH64.
func TestHash(t *testing.T) {
	long := strings.Repeat("0123456789abcdef", 7)
	for _, c := range []struct {
		text string
		want uint64
	}{
		{"", 0xef46db3751d8e999},
		{"a", 0xd24ec4f1a98c6e5b},
		{"abc", 0x44bc2cf5ad770999},
		{"Nobody inspects the spammish repetition", 0xfbcea83c8a378bf1},
		{long[:31], 0x1fdfc63febacfde7},
		{long[:32], 0x642a94958e71e6c5},
		{long[:101], 0x22214d41d12d3edd},
	} {
		if got := xxhash.Sum64String(c.text); got != c.want {
			t.Errorf("%q has %016x, want %016x", c.text, got, c.want)
		}
	}
}

func sinkOf(t testing.TB, schema *types.Schema, values map[string]string) (connector.Sink, *bytes.Buffer, error) {
	t.Helper()
	o, err := format.NewOptions(Def.Options, values, nil)
	if err != nil {
		t.Fatal(err)
	}
	out := &bytes.Buffer{}
	s, err := Def.NewSink(&connector.Table{Name: "t", Schema: schema, Physical: schema, Options: o, Stdout: out})
	return s, out, err
}

func open(t testing.TB, s connector.Sink, subtask, parallelism int, restored ...[]byte) connector.Writer {
	t.Helper()
	w, err := s.Open(&connector.WriterContext{Subtask: subtask, Parallelism: parallelism}, restored)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func write(t testing.TB, w connector.Writer, b *batch.Batch) {
	t.Helper()
	if err := w.Write(b); err != nil {
		t.Fatal(err)
	}
}

// end is what the runtime does at the end of input.
func end(t testing.TB, w connector.Writer) {
	t.Helper()
	if _, err := w.Barrier(9, true); err != nil {
		t.Fatal(err)
	}
	for range 2 { // a second call must not print again
		if err := w.Committed(9); err != nil {
			t.Fatal(err)
		}
	}
}

func barrier(t testing.TB, w connector.Writer) []byte {
	t.Helper()
	state, err := w.Barrier(1, false)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Committed(1); err != nil {
		t.Fatal(err)
	}
	return state
}

var pairs = types.NewSchema(types.Field{Name: "k", Type: types.Of(types.BigInt)}, types.Field{Name: "v", Type: types.StringType()})

// change is a row of pairs; a k of -1 is null.
type change struct {
	kind types.RowKind
	k    int64
	v    string
}

func changes(rows ...change) *batch.Batch {
	b := batch.NewBatch(pairs, len(rows))
	for _, r := range rows {
		k := b.Cols[0].(*batch.Fixed[int64])
		if r.k < 0 {
			k.AppendNull()
		} else {
			k.Append(r.k)
		}
		b.Cols[1].(*batch.Bytes).AppendString(r.v)
		b.Kinds = append(b.Kinds, r.kind)
	}
	b.SetSize(len(rows))
	return b
}

// line is the expected line: counts by kind, then the texts of the rows that are left.
func line(counts [4]int, left ...string) string {
	var sum uint64
	for _, text := range left {
		sum += xxhash.Sum64String(text)
	}
	return fmt.Sprintf("checksum t +I=%d -U=%d +U=%d -D=%d net=%d sum=%016x\n", counts[0], counts[1], counts[2], counts[3], len(left), sum)
}

func TestModes(t *testing.T) {
	rows := changes(
		change{types.Insert, 1, "a"}, change{types.Insert, 2, "b|c"}, change{types.UpdateBefore, 1, "a"},
		change{types.UpdateAfter, 1, "d"}, change{types.Delete, 2, "b|c"}, change{types.Insert, -1, "e"})
	for _, c := range []struct {
		name, mode, key string
		b               *batch.Batch
		want            string
	}{
		{"hash", "hash", "", rows, line([4]int{3, 1, 1, 1}, "1|d", `\N|e`)},
		{"default", "", "", rows, line([4]int{3, 1, 1, 1}, "1|d", `\N|e`)},
		{"print", "print", "", rows, "+I|1|a\n+I|2|b\\|c\n-U|1|a\n+U|1|d\n-D|2|b\\|c\n+I|\\N|e\n" + line([4]int{3, 1, 1, 1}, "1|d", `\N|e`)},
		{"count", "count", "", rows, "checksum t +I=3 -U=1 +U=1 -D=1 net=2 sum=-\n"},
		{"count of inserts", "count", "", batch.Of(pairs, rows.Cols, 6), "checksum t +I=6 -U=0 +U=0 -D=0 net=6 sum=-\n"},
		{"selection", "hash", "", rows.WithSel([]int32{1, 3, 5}), line([4]int{2, 0, 1, 0}, `2|b\|c`, "1|d", `\N|e`)},
		{"count of a selection", "count", "", rows.WithSel([]int32{1, 4}), "checksum t +I=1 -U=0 +U=0 -D=1 net=0 sum=-\n"},
		{"nothing", "hash", "", changes(), line([4]int{})},
		{"key", "hash", "k", changes(
			change{types.Insert, 1, "a"}, change{types.UpdateAfter, 1, "b"}, change{types.Insert, 2, "c"}, change{types.Delete, 2, "other"},
			change{types.Delete, 3, "none"}, change{types.Insert, -1, "n"}, change{types.Insert, 0, "z"}),
			line([4]int{4, 0, 1, 2}, "1|b", `\N|n`, "0|z")},
	} {
		t.Run(c.name, func(t *testing.T) {
			values := map[string]string{}
			if c.mode != "" {
				values["mode"] = c.mode
			}
			if c.key != "" {
				values["key"] = c.key
			}
			s, out, err := sinkOf(t, pairs, values)
			if err != nil {
				t.Fatal(err)
			}
			w := open(t, s, 0, 1)
			write(t, w, c.b)
			end(t, w)
			if out.String() != c.want {
				t.Errorf("printed\n%swant\n%s", out, c.want)
			}
		})
	}
}

func TestOneLineForAllWriters(t *testing.T) {
	s, out, err := sinkOf(t, pairs, nil)
	if err != nil {
		t.Fatal(err)
	}
	a, b := open(t, s, 0, 2), open(t, s, 1, 2)
	write(t, a, changes(change{types.Insert, 1, "a"}))
	write(t, b, changes(change{types.Insert, 2, "b"}))
	end(t, a)
	if out.Len() > 0 {
		t.Errorf("printed %q before all writers had ended", out)
	}
	b = open(t, s, 1, 2, barrier(t, b)) // fails and starts again
	end(t, b)
	if want := line([4]int{2}, "1|a", "2|b"); out.String() != want {
		t.Errorf("printed %q, want %q", out, want)
	}
}

func TestRestore(t *testing.T) {
	for _, key := range []string{"", "k"} {
		s, out, err := sinkOf(t, pairs, map[string]string{"key": key})
		if err != nil {
			t.Fatal(err)
		}
		w := open(t, s, 0, 1)
		write(t, w, changes(change{types.Insert, 1, "a"}, change{types.Insert, 2, "b"}))
		state := barrier(t, w)
		write(t, w, changes(change{types.Insert, 3, "lost in the crash"}))
		w = open(t, s, 0, 1, state)
		write(t, w, changes(change{types.UpdateBefore, 1, "a"}, change{types.UpdateAfter, 1, "c"}))
		end(t, w)
		if want := line([4]int{2, 1, 1, 0}, "2|b", "1|c"); out.String() != want {
			t.Errorf("key %q: printed %q, want %q", key, out, want)
		}
	}
}

func TestRestoreAtAnotherParallelism(t *testing.T) {
	for _, key := range []string{"", "k"} {
		s, out, err := sinkOf(t, pairs, map[string]string{"key": key})
		if err != nil {
			t.Fatal(err)
		}
		var states [][]byte
		for i := range 2 {
			w := open(t, s, i, 2)
			write(t, w, changes(change{types.Insert, int64(i), "a"}))
			states = append(states, barrier(t, w))
		}
		w, err := s.Open(&connector.WriterContext{Parallelism: 1}, states)
		if key != "" {
			want := "table t: a checksum with a 'key' cannot go on at parallelism 1 after a checkpoint at 2, as it knows the rows of its keys; " +
				"restore at parallelism 2, or start anew"
			if err == nil || err.Error() != want {
				t.Errorf("%v, want %s", err, want)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		end(t, w)
		if want := line([4]int{2}, "0|a", "1|a"); out.String() != want {
			t.Errorf("printed %q, want %q", out, want)
		}
	}
}

func TestDamagedState(t *testing.T) {
	s, _, err := sinkOf(t, pairs, map[string]string{"key": "k"})
	if err != nil {
		t.Fatal(err)
	}
	w := open(t, s, 0, 1)
	write(t, w, changes(change{types.Insert, 1, "a"}, change{types.Insert, 2, "b"}))
	state := barrier(t, w)
	for n := range state {
		if _, err := s.Open(&connector.WriterContext{Parallelism: 1}, [][]byte{state[:n]}); err == nil {
			t.Errorf("the first %d of %d bytes were taken for a state", n, len(state))
		}
	}
	if _, err := s.Open(&connector.WriterContext{Parallelism: 1}, [][]byte{append(state, 0)}); !errors.Is(err, errDamaged) {
		t.Errorf("a state with a byte too many gives %v", err)
	}
}

func TestBadTables(t *testing.T) {
	field := func(t types.Type) *types.Schema { return types.NewSchema(types.Field{Name: "c", Type: t}) }
	for _, c := range []struct {
		schema *types.Schema
		key    string
		want   string
	}{
		{field(types.BytesType()), "", `column "c": the connector checksum takes no BYTES; cast it to STRING or leave it out`},
		{field(types.ArrayOf(types.Of(types.Int))), "", `column "c": the connector checksum takes no ARRAY<INT>; cast it to STRING or leave it out`},
		{field(types.Of(types.Int)), "c", `'key' takes BIGINT columns of the table, and "c" is none`},
		{pairs, "k, x", `'key' takes BIGINT columns of the table, and "x" is none`},
	} {
		if _, _, err := sinkOf(t, c.schema, map[string]string{"key": c.key}); err == nil || err.Error() != c.want {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}

type closedPipe struct{}

func (closedPipe) Write([]byte) (int, error) { return 0, errors.New("broken pipe") }

func TestPrintFails(t *testing.T) {
	s, _, err := sinkOf(t, pairs, map[string]string{"mode": "print"})
	if err != nil {
		t.Fatal(err)
	}
	s.(*sink).out = closedPipe{}
	err = open(t, s, 0, 1).Write(changes(change{types.Insert, 1, "a"}))
	if want := "table t: cannot print to the standard output: broken pipe"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

func fixed[T batch.Value](t types.Type, values ...T) batch.Vector {
	return &batch.Fixed[T]{Typ: t, Values: values}
}

func texts(values ...string) batch.Vector {
	v := batch.NewBytes(types.StringType(), len(values), 0)
	for _, s := range values {
		v.AppendString(s)
	}
	return v
}

// int128 reads an unscaled decimal.
func int128(s string) types.Int128 {
	v, ok := new(big.Int).SetString(s, 10)
	if !ok {
		panic(s)
	}
	mod := new(big.Int).And(v, new(big.Int).SetUint64(math.MaxUint64))
	return types.Int128{Hi: new(big.Int).Rsh(v, 64).Int64(), Lo: mod.Uint64()}
}

func TestText(t *testing.T) {
	nines := strings.Repeat("9", 38)
	for _, c := range []struct {
		v    batch.Vector
		want []string
	}{
		{fixed(types.Of(types.Boolean), true, false), []string{"true", "false"}},
		{fixed[int8](types.Of(types.TinyInt), -128, 5), []string{"-128", "5"}},
		{fixed[int16](types.Of(types.SmallInt), -32768), []string{"-32768"}},
		{fixed[int32](types.Of(types.Int), math.MinInt32, 7), []string{"-2147483648", "7"}},
		{fixed[int64](types.Of(types.BigInt), math.MinInt64), []string{"-9223372036854775808"}},
		{fixed[int32](types.Of(types.Date), -1), []string{"-1"}},
		{fixed[int32](types.TimeOf(types.Time, 3), 86_399_999), []string{"86399999"}},
		{fixed[int64](types.TimeOf(types.Timestamp, 3), -5), []string{"-5"}},
		{fixed[int64](types.TimeOf(types.TimestampLTZ, 0), 1000), []string{"1000"}},
		{fixed(types.TimeOf(types.Timestamp, 6), types.TS{Ms: -1, Ns: 1000}, types.TS{Ms: 3, Ns: 999_999}), []string{"-999000", "3999999"}},
		{fixed[int64](types.DecimalOf(5, 2), 12345, -5, 0, 100), []string{"123.45", "-0.05", "0.00", "1.00"}},
		{fixed[int64](types.DecimalOf(18, 0), -999_999_999_999_999_999, 0), []string{"-999999999999999999", "0"}},
		{fixed(types.DecimalOf(38, 0), int128(nines), int128("-"+nines), int128("10000000000000000000")),
			[]string{nines, "-" + nines, "10000000000000000000"}},
		{fixed(types.DecimalOf(38, 38), int128(nines), int128("-1"), int128("0")),
			[]string{"0." + nines, "-0." + strings.Repeat("0", 37) + "1", "0." + strings.Repeat("0", 38)}},
		{fixed(types.DecimalOf(23, 3), int128("90800"), int128("-18446744073709551616")), []string{"90.800", "-18446744073709551.616"}},
		{fixed[float32](types.Of(types.Float), 1, float32(math.NaN())), []string{"3f800000", "7fc00000"}},
		{fixed(types.Of(types.Double), -0.5, math.Float64frombits(0xfff8000000000001)), []string{"bfe0000000000000", "7ff8000000000000"}},
		{texts("plain", "", "a|b", `c\d`, "e\nf", "ä|"), []string{"plain", "", `a\|b`, `c\\d`, `e\nf`, `ä\|`}},
		{batch.Nulls(types.Of(types.BigInt), 1), []string{`\N`}},
	} {
		form, ok := cellOf(c.v.Type())
		if !ok {
			t.Fatalf("no text for %s", c.v.Type())
		}
		var view rowView
		view.set([]cell{form}, batch.Of(types.NewSchema(types.Field{Name: "c", Type: c.v.Type()}), []batch.Vector{c.v}, c.v.Len()))
		for i, want := range c.want {
			got, err := view.appendRow(nil, i)
			if err != nil || string(got) != want {
				t.Errorf("%s: %q, %v, want %q", c.v.Type(), got, err, want)
			}
		}
	}
}

func TestNanosOutOfRange(t *testing.T) {
	for _, ms := range []int64{1 << 53, -1 << 53, math.MinInt64} {
		if got, err := appendNanos(nil, types.TS{Ms: ms}); err == nil {
			t.Errorf("%d ms gave %s ns", ms, got)
		}
	}
}

func BenchmarkWrite(b *testing.B) {
	schema := types.NewSchema(
		types.Field{Name: "auction", Type: types.Of(types.BigInt)}, types.Field{Name: "price", Type: types.DecimalOf(23, 3)},
		types.Field{Name: "time", Type: types.TimeOf(types.Timestamp, 3)}, types.Field{Name: "extra", Type: types.StringType()})
	rows := batch.NewBatch(schema, batch.DefaultSize)
	for i := range batch.DefaultSize {
		rows.Cols[0].(*batch.Fixed[int64]).Append(int64(i))
		rows.Cols[1].(*batch.Fixed[types.Int128]).Append(types.Int128{Lo: uint64(i) * 908})
		rows.Cols[2].(*batch.Fixed[int64]).Append(1_767_254_395_000 + int64(i))
		rows.Cols[3].(*batch.Bytes).AppendString(strings.Repeat("extra", 13))
	}
	rows.SetSize(batch.DefaultSize)
	for _, mode := range []string{"hash", "count"} {
		b.Run(mode, func(b *testing.B) {
			s, _, err := sinkOf(b, schema, map[string]string{"mode": mode})
			if err != nil {
				b.Fatal(err)
			}
			w := open(b, s, 0, 1)
			for b.Loop() {
				write(b, w, rows)
			}
			b.ReportMetric(float64(b.N)*batch.DefaultSize/b.Elapsed().Seconds(), "rows/s")
		})
	}
}
