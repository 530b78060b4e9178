package batch

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/millstream-io/millstream/types"
)

// TestColumns sets, resets and nulls random slots of a column of each type and
// compares it with a map.
func TestColumns(t *testing.T) {
	for _, typ := range allTypes {
		t.Run(typ.String(), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(5, 5))
			c := NewColumn(typ)
			if !c.Type().Equal(typ) {
				t.Fatalf("type %s", c.Type())
			}
			var want []string
			fresh := "null"
			if !typ.Nullable {
				v := New(typ, 1)
				NewColumn(typ).Set(nil, v, nil)
				fresh = map[types.Phys]string{types.PhysI64: "0", types.PhysBytes: `""`, types.PhysList: "[]"}[typ.Phys()]
			}
			grow := func(n int) {
				c.Grow(n)
				for len(want) < n {
					want = append(want, fresh)
				}
			}
			grow(3)
			for step := range 500 {
				if rng.IntN(20) == 0 {
					grow(len(want) + rng.IntN(300))
				}
				slot := rng.Int32N(int32(len(want)))
				switch rng.IntN(8) {
				case 0:
					c.Reset(slot)
					want[slot] = fresh
				case 1:
					if typ.Nullable {
						c.SetNull(slot)
						want[slot] = "null"
					}
				default:
					v := New(typ, 4)
					appendRandom(rng, v, 4)
					slots, rows := []int32{slot, rng.Int32N(int32(len(want)))}, []int32{3, 1}
					c.Set(slots, v, rows)
					for i, s := range slots {
						want[s] = show(v, int(rows[i]))
					}
				}
				if step%50 == 49 {
					compareColumn(t, c, want)
				}
			}
			if m := c.MemBytes(); m < len(want)/8 || m > 200*len(want)+100_000 {
				t.Errorf("%d slots take %d bytes", len(want), m)
			}
		})
	}
}

func compareColumn(t *testing.T, c Column, want []string) {
	t.Helper()
	got := c.Vector(All(len(want)))
	for i, w := range want {
		if g := show(got, i); g != w && !(w == "[]" && g == "[]") {
			t.Fatalf("slot %d holds %s, want %s", i, g, w)
		}
		if c.Null(int32(i)) != (w == "null") {
			t.Fatalf("slot %d: Null is %v, the value %s", i, c.Null(int32(i)), w)
		}
	}
}

// TestBytesSlabMemory rewrites values over and over: the arena must not grow
// with the number of writes, and large values must go when they are replaced.
func TestBytesSlabMemory(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	const n = 2000
	s := NewBytesSlab(types.StringType())
	s.Grow(n)
	want := make([]string, n)
	live := 0
	for step := range 200_000 {
		slot := rng.Int32N(n)
		size := rng.IntN(60)
		if step%5000 == 0 {
			size = 100_000
		}
		live += size - len(want[slot])
		want[slot] = fmt.Sprintf("%0*d", size, slot)[:size]
		s.Put(slot, []byte(want[slot]))
		if step%1000 == 0 {
			if m := s.MemBytes(); m > 4*live+n*64+400_000 {
				t.Fatalf("step %d: %d bytes are live, the column takes %d", step, live, m)
			}
		}
	}
	for i, w := range want {
		if got := string(s.Get(int32(i))); got != w {
			t.Fatalf("slot %d holds %q, want %q", i, got, w)
		}
	}
	for i := range int32(n) {
		s.Reset(i)
	}
	if s.size > 2*fullBytesChunk {
		t.Errorf("an emptied column keeps %d bytes", s.size)
	}
}

// TestBytesSlabAppend appends to values, now and then one of the column to
// another or to itself: the memory must stay in proportion to what is there.
func TestBytesSlabAppend(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	const n = 50
	s := NewBytesSlab(types.StringType())
	s.Grow(n)
	var want [n]string
	for range 20_000 {
		slot, from := rng.Int32N(n), rng.Int32N(n)
		switch {
		case len(want[slot]) > 5000:
			want[slot] = ""
			s.Reset(slot)
		case rng.IntN(100) == 0:
			s.Append(slot, s.Get(from))
			want[slot] += want[from]
		default:
			add := fmt.Sprint(rng.IntN(1 << rng.IntN(30)))
			s.Append(slot, []byte(add))
			want[slot] += add
		}
	}
	live := 0
	for i, w := range want {
		live += len(w)
		if got := string(s.Get(int32(i))); got != w {
			t.Fatalf("slot %d holds %d bytes, want %d", i, len(got), len(w))
		}
	}
	if m := s.MemBytes(); m > 5*live+200_000 {
		t.Errorf("%d bytes are live, the column takes %d", live, m)
	}
}

// TestBytesSlabOfItself puts values of a column into the same column.
func TestBytesSlabOfItself(t *testing.T) {
	s := NewBytesSlab(types.BytesType())
	s.Grow(100)
	s.Put(0, []byte("0123456789"))
	for i := int32(1); i < 100; i++ {
		s.Put(i, s.Get(i-1))
		s.Put(i-1, s.Get(i)[:5])
	}
	s.Put(99, s.Get(99)[5:])
	if got := string(s.Get(99)); got != "56789" {
		t.Errorf("got %q", got)
	}
	if got := string(s.Get(42)); got != "01234" {
		t.Errorf("got %q", got)
	}
}

func BenchmarkBytesSlabPut(b *testing.B) {
	const n = 4096
	s := NewBytesSlab(types.StringType())
	s.Grow(n)
	values := make([][]byte, n)
	for i := range values {
		values[i] = fmt.Appendf(nil, "value %0*d", i%20, i)
	}
	for b.Loop() {
		for i := range int32(n) {
			s.Put(i, values[(i*7+int32(b.N))&(n-1)])
		}
	}
	b.ReportMetric(float64(b.N)*n/b.Elapsed().Seconds(), "rows/s")
}

func BenchmarkColumnSetAndVector(b *testing.B) {
	const n = 4096
	rng := rand.New(rand.NewPCG(1, 1))
	for _, typ := range []types.Type{types.Of(types.BigInt), types.StringType()} {
		b.Run(typ.String(), func(b *testing.B) {
			v := New(typ, n)
			appendRandom(rng, v, n)
			c := NewColumn(typ)
			c.Grow(n)
			slots := All(n)
			for b.Loop() {
				c.Set(slots, v, slots)
				c.Vector(slots)
			}
			b.ReportMetric(float64(b.N)*n/b.Elapsed().Seconds(), "rows/s")
		})
	}
}
