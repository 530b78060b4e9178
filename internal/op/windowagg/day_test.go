package windowagg

import (
	"fmt"
	"os"
	"runtime"
	"testing"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/internal/op"
	"github.com/millstream-io/millstream/internal/op/window"
	"github.com/millstream-io/millstream/internal/state"
	"github.com/millstream-io/millstream/internal/vfs"
	"github.com/millstream-io/millstream/types"
)

// dayMs is a day. Nothing in it is closed before all has come.
const dayMs = 86_400_000

// day is a simulated day: 99 % of its rows have key 0, and half of them come at any other time than their own.
type day struct {
	rows, keys, windows int64
}

// row makes up the i-th row.
func (d *day) row(i int64) row {
	h := uint64(i)*0x9E3779B97F4A7C15 + 1
	h ^= h >> 29
	h *= 0xBF58476D1CE4E5B9
	h ^= h >> 32
	r := row{v: int64(h >> 54), ms: i * dayMs / d.rows}
	if h%100 == 0 {
		r.k = 1 + i/100%d.keys
	}
	if h>>20&1 == 0 {
		r.ms = int64((h >> 22) % dayMs)
	}
	return r
}

// total is what is known of the rows of a key in a window.
type total struct{ n, sum, most int64 }

func (t *total) add(v int64) { t.n, t.sum, t.most = t.n+1, t.sum+v, max(t.most, v) }

// totals are the right answers: of key 0 by window, and of the others.
type totals struct {
	hot    []total
	others map[[2]int64]total // by key and window
}

func (d *day) totals() *totals {
	t := &totals{hot: make([]total, d.windows), others: map[[2]int64]total{}}
	for i := range d.rows {
		r := d.row(i)
		w := r.ms / (dayMs / d.windows)
		if r.k == 0 {
			t.hot[w].add(r.v)
			continue
		}
		x := t.others[[2]int64{r.k, w}]
		x.add(r.v)
		t.others[[2]int64{r.k, w}] = x
	}
	return t
}

// checker is an output that compares rows with the right answers, and takes those away.
type checker struct {
	t     *testing.T
	size  int64
	want  *totals
	asked int
}

// Full is true now and then, but not each time that a window is begun anew.
func (c *checker) Full() bool { c.asked++; return c.asked%7 == 0 }

func (c *checker) EmitSide(string, *batch.Batch) {}

func (c *checker) Emit(b *batch.Batch) {
	at := func(col, i int) int64 { return b.Cols[col].(*batch.Fixed[int64]).Values[b.At(i)] }
	for i := range b.Rows() {
		k, got, w := at(0, i), total{at(1, i), at(2, i), at(3, i)}, at(4, i)/c.size-1
		want := c.want.others[[2]int64{k, w}]
		if k == 0 {
			want, c.want.hot[w] = c.want.hot[w], total{}
		}
		delete(c.want.others, [2]int64{k, w})
		if got != want {
			c.t.Fatalf("key %d, window %d: %v, want %v", k, w, got, want)
		}
	}
}

// left is the number of answers that have not come.
func (t *totals) left() int {
	n := len(t.others)
	for _, x := range t.hot {
		if x.n > 0 {
			n++
		}
	}
	return n
}

// TestDay keeps all windows of a day open until its end. MILLSTREAM_DAY=full has 10^5 windows and 10^6 keys.
func TestDay(t *testing.T) {
	d := day{rows: 1_000_000, keys: 10_000, windows: 2_000}
	switch {
	case os.Getenv("MILLSTREAM_DAY") == "full":
		d = day{rows: 100_000_000, keys: 1_000_000, windows: 100_000}
	case testing.Short():
		d = day{rows: 100_000, keys: 1_000, windows: 200}
	}
	t.Run("in memory", func(t *testing.T) { d.run(t, state.Config{}) })
	limit := state.Config{FS: vfs.NewMem(), Dir: "state", Scratch: true, MaxRows: int(d.keys+d.windows) / 4}
	t.Run(fmt.Sprintf("%d rows in memory", limit.MaxRows), func(t *testing.T) { d.run(t, limit) })
}

func (d *day) run(t *testing.T, cfg state.Config) {
	want := d.totals()
	size := dayMs / d.windows
	in := types.NewSchema(types.Field{Name: "k", Type: big}, types.Field{Name: "v", Type: big}, types.Field{Name: "ts", Type: ts})
	c := Config{
		In: in, Keys: []int{0}, Time: 2, Window: window.Assigner{Size: size}, Props: []window.Source{window.End},
		Aggs: []Agg{
			{Filter: -1, Bound: count(t)},
			{Filter: -1, Bound: bound(t, "SUM", big), Args: []int{1}},
			{Filter: -1, Bound: bound(t, "MAX", big), Args: []int{1}},
		},
	}
	c.Out = types.NewSchema(in.Fields[0], types.Field{Name: "n", Type: c.Aggs[0].Bound.Result}, types.Field{Name: "s", Type: c.Aggs[1].Bound.Result},
		types.Field{Name: "m", Type: c.Aggs[2].Bound.Result}, types.Field{Name: "end", Type: ts})
	cfg.Name, cfg.Parallelism = "day", 1
	db, err := state.Open(cfg)
	must(t, err)
	defer func() { must(t, db.Close()) }()
	before := heap()
	o := New(c).(*windowAgg)
	must(t, o.Open(&op.Context{State: db, Count: func(name string, n int64) { t.Errorf("%s: %d", name, n) }, Sample: func(string, func() string) {}}))
	out := &checker{t: t, size: size, want: want}
	for from := int64(0); from < d.rows; from += batch.DefaultSize {
		must(t, o.OnBatch(0, d.batch(in, from), out))
		must(t, db.EndEvent())
	}
	rows := len(want.others) + int(d.windows)
	used := heap() - before
	t.Logf("%d rows of state in %d windows: %d bytes each", rows, d.windows, used/int64(rows))
	if most := int64(rows)*256 + d.windows*512 + 4<<20; used > most {
		t.Errorf("it takes %d bytes of memory, more than %d", used, most)
	}
	_, err = o.OnWatermark(dayMs, out)
	for more := true; more && err == nil; {
		must(t, db.EndEvent())
		more, err = o.Resume(out)
	}
	must(t, err)
	if n := want.left(); n > 0 {
		t.Errorf("%d rows did not come", n)
	}
}

func (d *day) batch(in *types.Schema, from int64) *batch.Batch {
	n := int(min(batch.DefaultSize, d.rows-from))
	var cols [3]*batch.Fixed[int64]
	for i := range cols {
		cols[i] = batch.MakeFixed[int64](in.Fields[i].Type, n)
	}
	for i := range n {
		r := d.row(from + int64(i))
		cols[0].Values[i], cols[1].Values[i], cols[2].Values[i] = r.k, r.v, r.ms
	}
	return batch.Of(in, []batch.Vector{cols[0], cols[1], cols[2]}, n)
}

// heap is the memory of all that is in use.
func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
