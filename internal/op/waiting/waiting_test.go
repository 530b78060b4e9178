package waiting

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/internal/op"
	"github.com/millstream-io/millstream/internal/state"
	"github.com/millstream-io/millstream/internal/vfs"
	"github.com/millstream-io/millstream/types"
)

var (
	long   = types.Of(types.BigInt).NotNull()
	ts     = types.TimeOf(types.Timestamp, 3)
	schema = types.NewSchema(types.Field{Name: "k", Type: long}, types.Field{Name: "n", Type: long}, types.Field{Name: "ts", Type: ts})
)

// row is a row of schema.
type row struct{ k, n, ts int64 }

// void drops late rows.
type void struct{ op.Output }

func (void) EmitSide(string, *batch.Batch) {}

// given returns the rows of a chunk.
func given(t *testing.T, c *Chunk) []row {
	t.Helper()
	var out []row
	for i := range c.Rows() {
		at := func(col int) int64 { return c.Cols[col].(*batch.Fixed[int64]).Values[i] }
		if at(2) != c.Times[i] {
			t.Fatalf("row %d has the time %d, its chunk tells %d", i, at(2), c.Times[i])
		}
		out = append(out, row{at(0), at(1), at(2)})
	}
	return out
}

// TestModel lets rows wait at random, beside a list of them. The rows of each key
// must come in order, and NextDue must tell the least time that waits.
func TestModel(t *testing.T) {
	for seed := range uint64(24) {
		chunk, whole := []int{1, 2, 7, 0}[seed%4], seed%8 >= 4
		t.Run(fmt.Sprint("seed=", seed, ",chunk=", chunk, ",whole=", whole), func(t *testing.T) { model(t, seed, chunk, whole) })
	}
}

func model(t *testing.T, seed uint64, chunk int, whole bool) {
	rnd := rand.New(rand.NewPCG(seed, 1))
	cfg := state.Config{Name: "test", Parallelism: 1, FS: vfs.NewMem(), Dir: "state"}
	if seed%3 == 0 {
		cfg.Backend, cfg.MaxRows = state.Disk, 3
	}
	db, err := state.Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	c := &op.Context{State: db, Parallelism: 1, Count: func(string, int64) {}, Sample: func(string, func() string) {}}
	r, err := Open(c, Config{In: schema, Time: 2, Keys: []int{0}, Marked: ts, Chunk: chunk})
	if err != nil {
		t.Fatal(err)
	}
	var waits []row
	wm, n := int64(0), int64(0)
	if err := r.Rise(wm); err != nil {
		t.Fatal(err)
	}
	for range 40 {
		b, more := draw(rnd, wm, &n)
		waits = append(waits, more...)
		if err := r.Add(b, void{}); err != nil {
			t.Fatal(err)
		}
		if err := db.EndEvent(); err != nil {
			t.Fatal(err)
		}
		checkDue(t, r, waits)
		wm += rnd.Int64N(40_000)
		var due, got []row
		waits = slices.DeleteFunc(waits, func(x row) bool {
			if x.ts <= wm {
				due = append(due, x)
			}
			return x.ts <= wm
		})
		if err := r.Rise(wm); err != nil {
			t.Fatal(err)
		}
		for {
			c, err := r.Next(whole)
			if err != nil {
				t.Fatal(err)
			}
			if c == nil {
				break
			}
			if c.More {
				got = append(got, twice(t, r, c)...)
				continue
			}
			got = append(got, given(t, c)...)
		}
		slices.SortFunc(due, inOrder)
		// Keys come in any order, the rows of each in theirs.
		slices.SortStableFunc(got, func(a, b row) int { return int(a.k - b.k) })
		if !slices.Equal(got, due) {
			t.Fatalf("watermark %d gives\n%v\nnot\n%v", wm, got, due)
		}
		if err := db.EndEvent(); err != nil {
			t.Fatal(err)
		}
	}
}

// draw makes a batch of random rows, with numbers behind n, and tells those that
// are in time.
func draw(rnd *rand.Rand, wm int64, n *int64) (b *batch.Batch, inTime []row) {
	b = batch.NewBatch(schema, 0)
	for range rnd.IntN(30) {
		*n++
		x := row{rnd.Int64N(5), *n, wm - 50 + rnd.Int64N(400)*rnd.Int64N(400)/50*50}
		if x.ts > wm {
			inTime = append(inTime, x)
		}
		for i, v := range []int64{x.k, x.n, x.ts} {
			b.Cols[i].(*batch.Fixed[int64]).Append(v)
		}
	}
	b.SetSize(b.Cols[0].Len())
	return b, inTime
}

// inOrder compares rows by key, time and number.
func inOrder(a, b row) int {
	for _, d := range []int64{a.k - b.k, a.ts - b.ts, a.n - b.n} {
		if d != 0 {
			return int(d)
		}
	}
	return 0
}

// twice reads the rows of one time to their end, and then again.
func twice(t *testing.T, r *Rows, c *Chunk) []row {
	t.Helper()
	read := func(c *Chunk) (out []row) {
		for {
			out = append(out, given(t, c)...)
			if !c.More {
				return out
			}
			var err error
			if c, err = r.NextPeers(); err != nil {
				t.Fatal(err)
			}
		}
	}
	first := read(c)
	r.Rewind()
	c, err := r.NextPeers()
	if err != nil {
		t.Fatal(err)
	}
	again := read(c)
	if !slices.Equal(first, again) {
		t.Fatalf("the rows of one time are %v, and then %v", first, again)
	}
	return again
}

func checkDue(t *testing.T, r *Rows, waits []row) {
	t.Helper()
	due, ok := r.NextDue()
	if ok != (len(waits) > 0) {
		t.Fatalf("NextDue tells %v, but %d rows wait", ok, len(waits))
	}
	if !ok {
		return
	}
	if least := slices.MinFunc(waits, func(a, b row) int { return int(a.ts - b.ts) }); due != least.ts {
		t.Fatalf("the next row is due at %d, not at %d", least.ts, due)
	}
}
