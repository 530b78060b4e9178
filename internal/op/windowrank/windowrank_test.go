package windowrank_test

import (
	"testing"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/internal/op"
	"github.com/millstream-io/millstream/internal/op/optest"
	"github.com/millstream-io/millstream/internal/op/window"
	"github.com/millstream-io/millstream/internal/op/windowrank"
	"github.com/millstream-io/millstream/types"
)

var (
	ts = types.TimeOf(types.Timestamp, 3)
	in = types.NewSchema(
		types.Field{Name: "k", Type: types.StringType()}, types.Field{Name: "v", Type: types.Of(types.Int)},
		types.Field{Name: "s", Type: types.StringType()}, types.Field{Name: "window_start", Type: ts}, types.Field{Name: "window_end", Type: ts})
)

// config ranks by v in windows of 10 s, and gives ranks from to to with their
// numbers.
func config(from, to int64) windowrank.Config {
	return windowrank.Config{
		In: in, Keys: []int{0}, End: 4, From: from, To: to, Numbered: true, Marked: ts, Window: window.Assigner{Size: 10_000},
		Sources: []window.Source{window.Row, window.Row, window.Row, window.Start, window.End},
		Order:   []windowrank.Sort{{Col: 1, Direction: batch.Direction{Descending: true, NullsLast: true}}},
		Out:     &types.Schema{Fields: append(in.Fields[:5:5], types.Field{Name: "rn", Type: types.Of(types.BigInt).NotNull()})},
	}
}

func unnumbered(c windowrank.Config) windowrank.Config {
	c.Numbered, c.Out = false, in
	return c
}

func TestRanks(t *testing.T) {
	schemas := []*types.Schema{in}
	optest.Run(t, "best", optest.Case{In: schemas, Keys: [][]int{{0}}, New: func() op.Operator { return windowrank.New(config(1, 2)) }})
	optest.Run(t, "between", optest.Case{In: schemas, Keys: [][]int{{4}}, New: func() op.Operator {
		// Without keys all rows of a window are ranked together.
		c := config(2, 4)
		c.Keys = nil
		c.Order = append(c.Order, windowrank.Sort{Col: 2})
		return windowrank.New(c)
	}})
	optest.Run(t, "first", optest.Case{In: schemas, Keys: [][]int{{0}}, New: func() op.Operator { return windowrank.New(unnumbered(config(1, 1))) }})
	optest.Run(t, "last", optest.Case{In: schemas, Keys: [][]int{{0}}, New: func() op.Operator {
		c := unnumbered(config(1, 1))
		c.LastWins = true
		return windowrank.New(c)
	}})
}

func TestTies(t *testing.T) {
	schemas := []*types.Schema{in}
	optest.Run(t, "ties", optest.Case{In: schemas, Keys: [][]int{{4}}, New: func() op.Operator {
		c := unnumbered(config(1, 1))
		c.Keys, c.Ties, c.TakesLate = nil, true, true
		return windowrank.New(c)
	}})
	optest.Run(t, "ties-of-keys", optest.Case{In: schemas, Keys: [][]int{{0}}, New: func() op.Operator {
		c := unnumbered(config(1, 1))
		c.Ties = true
		c.Order[0].Direction.Descending = false
		return windowrank.New(c)
	}})
}

// windows gives rows their windows of 8 s.
type windows struct{ op.Operator }

func (o windows) Open(c *op.Context) error { return o.Operator.(op.Opener).Open(c) }

func (o windows) OnWatermark(wm int64, out op.Output) (int64, error) {
	return o.Operator.(op.WatermarkHandler).OnWatermark(wm, out)
}

func (o windows) OnBatch(i int, b *batch.Batch, out op.Output) error {
	ends := batch.MakeFixed[int64](ts, b.Size())
	for i, ms := range b.Cols[2].(*batch.Fixed[int64]).Values {
		ends.Values[i] = ms - ms%8192 + 8192
	}
	return o.Operator.OnBatch(i, b.WithCols(b.Schema, []batch.Vector{b.Cols[0], b.Cols[1], ends}), out)
}

// bench ranks 8,192 rows of 1,000 keys a window; the order is by the time, so that
// the first rows stay, or each row is better than all before.
func bench(b *testing.B, to int64, descending bool) {
	long := types.Of(types.BigInt)
	in := types.NewSchema(types.Field{Name: "k", Type: long}, types.Field{Name: "ts", Type: ts}, types.Field{Name: "window_end", Type: ts})
	optest.Bench(b, in, windows{windowrank.New(windowrank.Config{
		In: in, Out: in, Keys: []int{0}, End: 2, From: 1, To: to, Marked: ts, Window: window.Assigner{Size: 8192},
		Sources: []window.Source{window.Row, window.Row, window.End},
		Order:   []windowrank.Sort{{Col: 1, Direction: batch.Direction{Descending: descending}}},
	})})
}

// BenchmarkTies keeps the greatest time of each window.
func BenchmarkTies(b *testing.B) {
	in := types.NewSchema(types.Field{Name: "k", Type: types.Of(types.BigInt)}, types.Field{Name: "ts", Type: ts}, types.Field{Name: "window_end", Type: ts})
	optest.Bench(b, in, windows{windowrank.New(windowrank.Config{
		In: in, Out: in, End: 2, Ties: true, Marked: ts, Window: window.Assigner{Size: 8192},
		Sources: []window.Source{window.Row, window.Row, window.End},
		Order:   []windowrank.Sort{{Col: 1, Direction: batch.Direction{Descending: true}}},
	})})
}

func BenchmarkFirst(b *testing.B)      { bench(b, 1, false) }
func BenchmarkLast(b *testing.B)       { bench(b, 1, true) }
func BenchmarkBest(b *testing.B)       { bench(b, 3, false) }
func BenchmarkBestOfLast(b *testing.B) { bench(b, 3, true) }
