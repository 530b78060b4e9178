package batch

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/millstream-io/millstream/types"
)

func ints64(vals ...int64) *Fixed[int64] {
	v := NewFixed[int64](types.Of(types.BigInt), len(vals))
	for _, x := range vals {
		v.Append(x)
	}
	return v
}

func stringsOf(vals ...string) *Bytes {
	v := NewBytes(types.StringType(), len(vals), 0)
	for _, x := range vals {
		v.AppendString(x)
	}
	return v
}

func floats(vals ...float64) *Fixed[float64] {
	v := NewFixed[float64](types.Of(types.Double), len(vals))
	for _, x := range vals {
		v.Append(x)
	}
	return v
}

// TestHashIsForever pins hashes: checkpoints depend on them.
func TestHashIsForever(t *testing.T) {
	withNull := ints64(7)
	withNull.AppendNull()
	nested := New(types.ArrayOf(types.Of(types.Int)), 1).(*List)
	nested.Elem.(*Fixed[int32]).Append(3)
	nested.Close()
	cases := []struct {
		name string
		cols []Vector
		want []uint64
	}{
		{"no column", nil, []uint64{0x9e3779b97f4a7c15}},
		{"bigint", []Vector{ints64(0, 1, -1, math.MaxInt64)},
			[]uint64{0xf90c84607bca1e0, 0x69da2c8ce2111cea, 0x15a0eae3ea9997d5, 0x5e592a9078cdc5e8}},
		{"null", []Vector{withNull}, []uint64{0x6303e391ae1ee1e3, 0x5a0ff7daa1bf20a5}},
		{"string", []Vector{stringsOf("", "a", "flink")}, []uint64{0x3107e562371d73a0, 0xd19683df0d6103b2, 0x65e22e5649dbe9d4}},
		{"double", []Vector{floats(0, 1.5, math.Inf(-1))}, []uint64{0xf90c84607bca1e0, 0xe2dee958402724fd, 0x100479c9e22a272e}},
		{"two columns", []Vector{ints64(1, 2), stringsOf("a", "b")}, []uint64{0xf7142241d7cda164, 0x50e3fe58a695e5e}},
		{"array", []Vector{nested}, []uint64{0xbd097232a7fd8859}},
	}
	for _, c := range cases {
		if got := Hash(c.cols, nil, len(c.want), nil); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %#x, want %#x", c.name, got, c.want)
		}
	}
}

func TestHashEquals(t *testing.T) {
	f32 := NewFixed[float32](types.Of(types.Float), 4)
	for _, x := range []float32{0, float32(math.Copysign(0, -1)), float32(math.NaN()), -float32(math.NaN())} {
		f32.Append(x)
	}
	for _, v := range []Vector{floats(0, math.Copysign(0, -1), math.NaN(), math.Float64frombits(0xfff8000000000001)), f32} {
		h := Hash([]Vector{v}, nil, 4, nil)
		if h[0] != h[1] || h[2] != h[3] || h[0] == h[2] {
			t.Errorf("%s: zeros %#x %#x, NaNs %#x %#x", v.Type(), h[0], h[1], h[2], h[3])
		}
	}
	i32 := NewFixed[int32](types.Of(types.Int), 2)
	i32.Append(-5)
	i32.AppendNull()
	a, b := Hash([]Vector{i32}, nil, 2, nil), Hash([]Vector{ints64(-5)}, nil, 1, nil)
	if a[0] != b[0] {
		t.Errorf("INT -5 hashes to %#x, BIGINT -5 to %#x", a[0], b[0])
	}
	if c := Hash([]Vector{Nulls(types.Of(types.Double), 1)}, nil, 1, nil); c[0] != a[1] {
		t.Errorf("nulls of two types hash to %#x and %#x", a[1], c[0])
	}
}

func TestHashSelection(t *testing.T) {
	cols := []Vector{ints64(1, 2, 3, 4), stringsOf("a", "b", "c", "d")}
	all := Hash(cols, nil, 4, nil)
	out := make([]uint64, 0, 8)
	some := Hash(cols, []int32{1, 3}, 4, out)
	if some[1] != all[1] || some[3] != all[3] || &some[0] != &out[:1][0] {
		t.Errorf("got %#x, want positions 1 and 3 of %#x in the memory given", some, all)
	}
}

func TestPartition(t *testing.T) {
	const n = 10_000
	v := NewFixed[int64](types.Of(types.BigInt), n)
	var sel []int32
	for i := range n {
		v.Append(int64(i))
		if i%3 != 0 {
			sel = append(sel, int32(i))
		}
	}
	b := Of(types.NewSchema(types.Field{Name: "k", Type: v.Typ}), []Vector{v}, n)
	hashes := Hash(b.Cols, nil, n, nil)
	for _, b := range []*Batch{b, b.WithSel(sel)} {
		for _, par := range []int{1, 2, 3, 7, 128} {
			seen := 0
			for s, pos := range Partition(b, hashes, par) {
				lo, hi := KeyGroupRange(s, par)
				if !slices.IsSorted(pos) {
					t.Fatalf("parallelism %d: positions of subtask %d are not ascending", par, s)
				}
				for _, p := range pos {
					if g := KeyGroup(hashes[p]); g < lo || g >= hi || SubtaskOf(g, par) != s {
						t.Fatalf("parallelism %d: row of key group %d at subtask %d [%d,%d)", par, g, s, lo, hi)
					}
				}
				seen += len(pos)
				if par <= 7 && (len(pos) < b.Rows()/par*8/10 || len(pos) > b.Rows()/par*13/10) {
					t.Errorf("parallelism %d: subtask %d has %d of %d rows", par, s, len(pos), b.Rows())
				}
			}
			if seen != b.Rows() {
				t.Errorf("parallelism %d: %d of %d rows", par, seen, b.Rows())
			}
		}
	}
}

func BenchmarkHash(b *testing.B) {
	const n = DefaultSize
	i64, i32, str := NewFixed[int64](types.Of(types.BigInt), n), NewFixed[int32](types.Of(types.Int), n), NewBytes(types.StringType(), n, 0)
	for i := range n {
		i64.Append(int64(i))
		i32.Append(int32(i))
		str.AppendString(fmt.Sprintf("channel-%d", i%1000))
	}
	for _, c := range []struct {
		name string
		cols []Vector
	}{{"int64", []Vector{i64}}, {"int32+int64", []Vector{i32, i64}}, {"string", []Vector{str}}} {
		b.Run(c.name, func(b *testing.B) {
			var out []uint64
			for b.Loop() {
				out = Hash(c.cols, nil, n, out)
			}
			b.ReportMetric(float64(b.N)*n/b.Elapsed().Seconds(), "rows/s")
		})
	}
}

func BenchmarkPartition(b *testing.B) {
	const n = DefaultSize
	v := NewFixed[int64](types.Of(types.BigInt), n)
	for i := range n {
		v.Append(int64(i))
	}
	rows := Of(types.NewSchema(types.Field{Name: "k", Type: v.Typ}), []Vector{v}, n)
	hashes := Hash(rows.Cols, nil, n, nil)
	for b.Loop() {
		Partition(rows, hashes, 4)
	}
	b.ReportMetric(float64(b.N)*n/b.Elapsed().Seconds(), "rows/s")
}
