package windowagg

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/fn"
	"github.com/millstream-io/millstream/internal/op"
	"github.com/millstream-io/millstream/internal/op/optest"
	"github.com/millstream-io/millstream/internal/op/window"
	"github.com/millstream-io/millstream/internal/state"
	"github.com/millstream-io/millstream/internal/vfs"
	"github.com/millstream-io/millstream/types"
)

func bound(t testing.TB, name string, arg types.Type) *fn.BoundAgg {
	t.Helper()
	def := fn.LookupAgg(name)
	b, err := def.Bind(&fn.Call{Def: &fn.Def{Name: name}, Env: &fn.Env{}, Args: []fn.Arg{{Type: arg}}})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// slidingConfig counts, sums up, finds the greatest and counts the different
// values of v by k. Without greatest nothing needs a border.
func slidingConfig(t testing.TB, a window.Assigner, greatest bool) Config {
	in := types.NewSchema(types.Field{Name: "k", Type: big}, types.Field{Name: "v", Type: big}, types.Field{Name: "ts", Type: ts})
	c := Config{
		In: in, Keys: []int{0}, Time: 2, Window: a, Props: []window.Source{window.Start, window.End},
		Aggs: []Agg{
			{Filter: -1, Bound: count(t)},
			{Filter: -1, Bound: bound(t, "SUM", big), Args: []int{1}},
			{Filter: -1, Bound: count(t, big), Args: []int{1}, Distinct: true},
		},
	}
	if greatest {
		c.Aggs = append(c.Aggs, Agg{Filter: -1, Bound: bound(t, "MAX", big), Args: []int{1}},
			Agg{Filter: -1, Bound: bound(t, "MIN", big), Args: []int{1}, Distinct: true})
	}
	c.Out = types.NewSchema(in.Fields[0])
	for i, x := range c.Aggs {
		c.Out.Fields = append(c.Out.Fields, types.Field{Name: fmt.Sprintf("a%d", i), Type: x.Bound.Result})
	}
	c.Out.Fields = append(c.Out.Fields, types.Field{Name: "window_start", Type: ts}, types.Field{Name: "window_end", Type: ts})
	return c
}

func TestSliding(t *testing.T) {
	for name, a := range map[string]window.Assigner{
		"hop":      {Kind: window.Hop, Size: 15_000, Slide: 5000},
		"cumulate": {Kind: window.Cumulate, Size: 15_000, Slide: 5000},
	} {
		c := slidingConfig(t, a, true)
		newOp := func() op.Operator { return New(c) }
		switch name {
		case "hop":
			optest.Run(t, "hop", optest.Case{In: []*types.Schema{c.In}, Keys: [][]int{{0}}, New: newOp})
		default:
			optest.Run(t, "cumulate", optest.Case{In: []*types.Schema{c.In}, Keys: [][]int{{0}}, New: newOp})
		}
	}
}

// row is a row of the model.
type row struct{ k, v, ms int64 }

// model answers slowly: it has all rows, and looks through them for each window.
type model struct {
	a    window.Assigner
	rows []row
	wm   int64
}

// late reports whether all windows of a time are closed.
func (m *model) late(ms int64) bool {
	return m.a.Last(m.a.SliceOf(ms))-1 <= m.wm
}

// fire returns the rows of the windows that a watermark closes.
func (m *model) fire(wm int64, greatest bool) []string {
	var out []string
	for end := m.a.Passed(max(m.wm, -1000)) + m.a.Step(); end-1 <= wm && end < 3000; end += m.a.Step() {
		groups := map[int64][]int64{}
		for _, r := range m.rows {
			if r.ms >= m.a.Start(end) && r.ms < end {
				groups[r.k] = append(groups[r.k], r.v)
			}
		}
		for k, vs := range groups {
			sum := int64(0)
			for _, v := range vs {
				sum += v
			}
			slices.Sort(vs)
			line := fmt.Sprint(k, len(vs), sum, len(slices.Compact(slices.Clone(vs))))
			if greatest {
				line += fmt.Sprint(" ", vs[len(vs)-1], " ", vs[0])
			}
			out = append(out, fmt.Sprint(line, " ", m.a.Start(end), " ", end))
		}
	}
	m.wm = wm
	slices.Sort(out)
	return out
}

// lines collects what an operator emits.
type lines struct {
	got  []string
	full bool
}

func (l *lines) EmitSide(string, *batch.Batch) {}
func (l *lines) Full() bool                    { return l.full }
func (l *lines) Emit(b *batch.Batch) {
	for i := range b.Rows() {
		line := ""
		for c, v := range b.Cols {
			if c > 0 {
				line += " "
			}
			line += fmt.Sprint(v.(*batch.Fixed[int64]).Values[b.At(i)])
		}
		l.got = append(l.got, line)
	}
	l.full = true
}

// TestSlidingAgainstModel feeds random rows, out of order and late, with and
// without room in the output and in memory.
func TestSlidingAgainstModel(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 150 {
		a := window.Assigner{Kind: window.Hop, Slide: 1 + r.Int64N(12), Offset: r.Int64N(20) - 10}
		a.Size = a.Slide * (1 + r.Int64N(9))
		switch r.IntN(3) {
		case 0:
			a.Kind = window.Cumulate
		case 1:
			a.Size += r.Int64N(a.Slide)
		}
		greatest := i%2 == 0
		t.Run(fmt.Sprintf("%d: %+v", i, a), func(t *testing.T) { slideRandomly(t, r, a, greatest) })
	}
}

func slideRandomly(t *testing.T, r *rand.Rand, a window.Assigner, greatest bool) {
	c := state.Config{Name: "test", Parallelism: 1}
	if r.IntN(3) == 0 {
		c.FS, c.Dir, c.Backend, c.MaxRows = vfs.NewMem(), "state", state.Disk, 3
	}
	db, err := state.Open(c)
	must(t, err)
	o := New(slidingConfig(t, a, greatest)).(*windowAgg)
	must(t, o.Open(&op.Context{State: db, Count: func(string, int64) {}, Sample: func(string, func() string) {}}))
	m := &model{a: a, wm: -1 << 40}
	at := r.Int64N(100) - 50
	for range 40 {
		var rows []row
		for range r.IntN(12) {
			rows = append(rows, row{r.Int64N(4), r.Int64N(6), at + r.Int64N(30) - 20})
		}
		must(t, o.OnBatch(0, rowBatch(o.In, rows), &lines{}))
		for _, x := range rows {
			if !m.late(x.ms) {
				m.rows = append(m.rows, x)
			}
		}
		at += r.Int64N(15)
		if r.IntN(12) == 0 {
			at += 200
		}
		out := &lines{}
		_, err := o.OnWatermark(at-5, out)
		for more := true; more && err == nil; {
			out.full = false
			more, err = o.Resume(out)
		}
		must(t, err)
		slices.Sort(out.got)
		if want := m.fire(at-5, greatest); !slices.Equal(out.got, want) {
			t.Fatalf("watermark %d: got %q\nwant %q", at-5, out.got, want)
		}
		must(t, db.EndEvent())
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func rowBatch(s *types.Schema, rows []row) *batch.Batch {
	cols := make([]batch.Vector, 3)
	for c := range cols {
		v := batch.MakeFixed[int64](s.Fields[c].Type, len(rows))
		for i, r := range rows {
			v.Values[i] = []int64{r.k, r.v, r.ms}[c]
		}
		cols[c] = v
	}
	return batch.Of(s, cols, len(rows))
}

// BenchmarkHop slides by 10 s, which is 10,000 rows of 1,000 keys, over windows
// of 1, 10, 100 and 1,000 slides.
func BenchmarkHop(b *testing.B) {
	in := types.NewSchema(types.Field{Name: "k", Type: big}, types.Field{Name: "v", Type: big}, types.Field{Name: "ts", Type: ts})
	bench := func(b *testing.B, agg string, each, n int64) {
		f := bound(b, agg, big)
		slide := each * 1000 // there is a row each ms, and 1000 keys
		out := types.NewSchema(in.Fields[0], types.Field{Name: "a", Type: f.Result}, types.Field{Name: "window_end", Type: ts})
		optest.Bench(b, in, New(Config{
			In: in, Out: out, Keys: []int{0}, Time: 2, Window: window.Assigner{Kind: window.Hop, Size: n * slide, Slide: slide},
			Props: []window.Source{window.End}, Aggs: []Agg{{Filter: -1, Bound: f, Args: []int{1}}},
		}))
	}
	for _, each := range []int64{10, 100, 1000} {
		for _, agg := range []string{"COUNT", "SUM", "AVG", "MAX"} {
			for _, n := range []int64{1, 10, 100, 1000} {
				b.Run(fmt.Sprintf("%s/%d_rows/%d", agg, each, n), func(b *testing.B) { bench(b, agg, each, n) })
			}
		}
	}
}
