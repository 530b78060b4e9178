package batch

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/millstream-io/millstream/types"
)

// rowsOf prints the rows that count, with their kinds.
func rowsOf(b *Batch) []string {
	var out []string
	for i := range b.Rows() {
		p := b.At(i)
		row := b.Kind(p).String()
		for _, c := range b.Cols {
			row += " " + show(c, p)
		}
		out = append(out, row)
	}
	return out
}

func randomBatch(rng *rand.Rand, n int, kinds bool) *Batch {
	var fields []types.Field
	for _, typ := range allTypes {
		fields = append(fields, types.Field{Name: typ.String(), Type: typ})
	}
	b := NewBatch(types.NewSchema(fields...), n)
	for _, c := range b.Cols {
		appendRandom(rng, c, n)
	}
	if kinds {
		for range n {
			b.Kinds = append(b.Kinds, types.RowKind(rng.IntN(4)))
		}
	}
	b.SetSize(n)
	return b
}

func pick(rows []string, pos []int32) []string {
	out := []string{}
	for _, p := range pos {
		out = append(out, rows[p])
	}
	return out
}

func TestBatchTakeAndAppend(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	for _, kinds := range []bool{false, true} {
		b := randomBatch(rng, 150, kinds)
		rows := rowsOf(b)
		pos := []int32{149, 0, 7, 7, 64, 63}
		if got := rowsOf(b.Take(pos)); !slices.Equal(got, pick(rows, pos)) {
			t.Errorf("Take gave %v", got)
		}
		sel := []int32{3, 4, 100}
		if got := rowsOf(b.WithSel(sel)); !slices.Equal(got, pick(rows, sel)) {
			t.Errorf("a selection gave %v", got)
		}
		if c := b.WithSel(sel).Compact(); c.Sel != nil || c.Size() != 3 || !slices.Equal(rowsOf(c), pick(rows, sel)) {
			t.Errorf("Compact gave %v", rowsOf(c))
		}
		if b.Compact() != b {
			t.Error("Compact copied a batch without a selection")
		}
		for _, cut := range [][2]int{{0, 150}, {10, 20}, {64, 130}, {150, 150}} {
			if got := rowsOf(b.Slice(cut[0], cut[1])); !slices.Equal(got, rows[cut[0]:cut[1]]) {
				t.Errorf("Slice(%d, %d) gave %v", cut[0], cut[1], got)
			}
		}
		dst := NewBatch(b.Schema, 0)
		dst.AppendRows(b.Slice(70, 80), nil)
		dst.AppendRows(b, pos)
		dst.AppendRows(b.Slice(1, 1), nil)
		dst.AppendRows(b.Slice(5, 9), []int32{3})
		want := slices.Concat(rows[70:80], pick(rows, pos), rows[8:9])
		if got := rowsOf(dst); !slices.Equal(got, want) || dst.Size() != len(want) {
			t.Errorf("AppendRows gave\n%v, want\n%v", got, want)
		}
		if n := b.Bytes(); n < 150*len(b.Cols)/2 || n > 150*len(b.Cols)*200 {
			t.Errorf("150 rows of %d columns take %d bytes", len(b.Cols), n)
		}
	}
}

// TestAppendKinds appends rows without kinds to some that have them, and the
// other way round.
func TestAppendKinds(t *testing.T) {
	schema := types.NewSchema(types.Field{Name: "a", Type: types.Of(types.BigInt)})
	plain := Of(schema, []Vector{ints64(1, 2)}, 2)
	changes := Of(schema, []Vector{ints64(3)}, 1)
	changes.Kinds = []types.RowKind{types.Delete}
	dst := NewBatch(schema, 4)
	for _, b := range []*Batch{plain, changes, plain} {
		dst.AppendRows(b, nil)
	}
	if got, want := rowsOf(dst), []string{"+I 1", "+I 2", "-D 3", "+I 1", "+I 2"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestBitmap(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	const n = 200
	var a, b Bitmap
	var wantA, wantB []bool
	for i := range n {
		x, y := rng.IntN(3) > 0, i < 130 || rng.IntN(2) == 0
		a, b = a.Append(i, x), b.Append(i, y)
		wantA, wantB = append(wantA, x), append(wantB, y)
	}
	both, c := a.And(b, n), a.Clone(n)
	c.Clear(5)
	c.Set(6)
	valid := 0
	for i := range n {
		if a.Get(i) != wantA[i] || a.IsNull(i) == wantA[i] || b.Get(i) != wantB[i] {
			t.Fatalf("bit %d is wrong", i)
		}
		if both.Get(i) != (wantA[i] && wantB[i]) {
			t.Fatalf("And: bit %d is wrong", i)
		}
		if wantA[i] {
			valid++
		}
	}
	if a.CountValid(n) != valid || Bitmap(nil).CountValid(n) != n {
		t.Errorf("CountValid is %d, want %d", a.CountValid(n), valid)
	}
	if c.Get(5) || !c.Get(6) {
		t.Error("Clear or Set did nothing")
	}
	for _, cut := range [][2]int{{0, 10}, {64, 128}, {1, 200}, {63, 65}, {100, 100}} {
		s := a.Slice(cut[0], cut[1])
		for i := cut[0]; i < cut[1]; i++ {
			if s.Get(i-cut[0]) != wantA[i] {
				t.Fatalf("Slice(%d, %d): bit %d is wrong", cut[0], cut[1], i)
			}
		}
	}
}

func TestNullVectors(t *testing.T) {
	for _, typ := range allTypes {
		v := Nulls(typ.WithNull(true), 3)
		if v.Len() != 3 || v.Validity().CountValid(3) != 0 {
			t.Errorf("%s: %d values, %d not null", typ, v.Len(), v.Validity().CountValid(3))
		}
	}
	cast := (&Null{N: 2}).WithType(types.Of(types.BigInt))
	if f, ok := cast.(*Fixed[int64]); !ok || f.Len() != 2 || !f.Valid.IsNull(1) {
		t.Errorf("NULL as BIGINT is %T", cast)
	}
}

func BenchmarkTake(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	const n = DefaultSize
	schema := types.NewSchema(types.Field{Name: "a", Type: types.Of(types.BigInt)}, types.Field{Name: "b", Type: types.StringType()})
	rows := NewBatch(schema, n)
	for _, c := range rows.Cols {
		appendRandom(rng, c, n)
	}
	rows.SetSize(n)
	var pos []int32
	for i := range int32(n) {
		if i%2 == 0 {
			pos = append(pos, i)
		}
	}
	for b.Loop() {
		rows.Take(pos)
	}
	b.ReportMetric(float64(b.N)*float64(len(pos))/b.Elapsed().Seconds(), "rows/s")
}
