package windowagg

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/millstream-io/millstream/internal/op"
	"github.com/millstream-io/millstream/internal/op/optest"
	"github.com/millstream-io/millstream/internal/op/window"
	"github.com/millstream-io/millstream/internal/state"
	"github.com/millstream-io/millstream/internal/vfs"
	"github.com/millstream-io/millstream/types"
)

func TestSession(t *testing.T) {
	c := slidingConfig(t, window.Assigner{Kind: window.Session, Size: 5000}, true)
	optest.Run(t, "session", optest.Case{In: []*types.Schema{c.In}, Keys: [][]int{{0}}, New: func() op.Operator { return New(c) }})
	c.Rows, c.Aggs, c.Props = true, nil, []window.Source{window.Start, window.End, window.Mark}
	c.Out = types.NewSchema(append(slices.Clone(c.In.Fields), types.Field{Name: "window_start", Type: ts},
		types.Field{Name: "window_end", Type: ts}, types.Field{Name: "window_time", Type: ts})...)
	optest.Run(t, "session-rows", optest.Case{In: []*types.Schema{c.In}, Keys: [][]int{{0}}, New: func() op.Operator { return New(c) }})
}

// sessionModel has the rows of each open session.
type sessionModel struct {
	gap, wm int64
	open    [][]row
}

func extent(rows []row, gap int64) (start, end int64) {
	start, end = rows[0].ms, rows[0].ms+gap
	for _, r := range rows {
		start, end = min(start, r.ms), max(end, r.ms+gap)
	}
	return start, end
}

func (m *sessionModel) add(r row) {
	all, rest, met := []row{r}, [][]row(nil), false
	for _, s := range m.open {
		start, end := extent(s, m.gap)
		if s[0].k == r.k && r.ms <= end && r.ms+m.gap >= start {
			all, met = append(all, s...), true
		} else {
			rest = append(rest, s)
		}
	}
	if met || r.ms+m.gap-1 > m.wm {
		m.open = append(rest, all)
	}
}

func (m *sessionModel) fire(wm int64) []string {
	m.wm = wm
	var out []string
	m.open = slices.DeleteFunc(m.open, func(s []row) bool {
		start, end := extent(s, m.gap)
		if end-1 > wm {
			return false
		}
		var sum int64
		var vs []int64
		for _, r := range s {
			sum += r.v
			vs = append(vs, r.v)
		}
		slices.Sort(vs)
		n := len(vs)
		vs = slices.Compact(vs)
		out = append(out, fmt.Sprint(s[0].k, n, sum, len(vs), vs[len(vs)-1], vs[0], start, end))
		return true
	})
	slices.Sort(out)
	return out
}

// TestSessionAgainstModel feeds random rows, far out of order.
func TestSessionAgainstModel(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for i := range 150 {
		gap := 1 + r.Int64N(40)*r.Int64N(30)
		t.Run(fmt.Sprintf("%d: gap %d", i, gap), func(t *testing.T) { sessionsRandomly(t, r, gap) })
	}
}

func sessionsRandomly(t *testing.T, r *rand.Rand, gap int64) {
	c := state.Config{Name: "test", Parallelism: 1}
	if r.IntN(3) == 0 {
		c.FS, c.Dir, c.Backend, c.MaxRows = vfs.NewMem(), "state", state.Disk, 3
	}
	db, err := state.Open(c)
	must(t, err)
	o := New(slidingConfig(t, window.Assigner{Kind: window.Session, Size: gap}, true)).(*sessions)
	must(t, o.Open(&op.Context{State: db, Count: func(string, int64) {}, Sample: func(string, func() string) {}}))
	m := &sessionModel{gap: gap, wm: op.MinWatermark}
	at := r.Int64N(100) - 50
	most := []int{12, 120}[r.IntN(2)]
	for range 40 {
		var rows []row
		for range r.IntN(most) {
			rows = append(rows, row{r.Int64N(4), r.Int64N(6), at + r.Int64N(10*gap) - 6*gap})
		}
		must(t, o.OnBatch(0, rowBatch(o.In, rows), &lines{}))
		for _, x := range rows {
			m.add(x)
		}
		at += r.Int64N(3 * gap)
		out := &lines{}
		_, err := o.OnWatermark(at-gap, out)
		for more := true; more && err == nil; {
			out.full = false
			more, err = o.Resume(out)
		}
		must(t, err)
		slices.Sort(out.got)
		if want := m.fire(at - gap); !slices.Equal(out.got, want) {
			t.Fatalf("watermark %d: got %q\nwant %q", at-gap, out.got, want)
		}
		must(t, db.EndEvent())
	}
}

// BenchmarkSession counts rows by key, of which each comes once a second, in
// sessions that do not end, that end with each row, and in between: with gaps a
// little above and below that.
func BenchmarkSession(b *testing.B) {
	in := types.NewSchema(types.Field{Name: "k", Type: big}, types.Field{Name: "ts", Type: ts})
	out := types.NewSchema(in.Fields[0], types.Field{Name: "n", Type: big.NotNull()}, types.Field{Name: "window_end", Type: ts})
	for _, gap := range []int64{10_000, 1010, 990, 500, 50, 5} {
		b.Run(fmt.Sprintf("gap=%d", gap), func(b *testing.B) {
			optest.Bench(b, in, New(Config{
				In: in, Out: out, Keys: []int{0}, Time: 1, Window: window.Assigner{Kind: window.Session, Size: gap}, Props: []window.Source{window.End},
				Aggs: []Agg{{Filter: -1, Bound: count(b)}},
			}))
		})
	}
}
