package windowagg

import (
	"testing"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/internal/op"
	"github.com/millstream-io/millstream/internal/op/window"
	"github.com/millstream-io/millstream/internal/state"
	"github.com/millstream-io/millstream/types"
)

// counted counts the rows that come out.
type counted int

func (c *counted) Emit(b *batch.Batch)           { *c += counted(b.Rows()) }
func (c *counted) EmitSide(string, *batch.Batch) {}
func (c *counted) Full() bool                    { return false }

// TestNextDue: what NextDue tells is when the first results come, at the latest;
// it follows the windows that are there, and not those that are gone.
func TestNextDue(t *testing.T) {
	in := types.NewSchema(types.Field{Name: "k", Type: big}, types.Field{Name: "ts", Type: ts})
	out := types.NewSchema(in.Fields[0], types.Field{Name: "window_end", Type: ts})
	for _, c := range []struct {
		name   string
		window window.Assigner
		// due is when results come, for rows at 1, 12 and 35 s; slack is by how much
		// NextDue may tell a later time.
		due   []int64
		slack int64
	}{
		{"tumble", window.Assigner{Kind: window.Tumble, Size: 10_000}, []int64{9_999, 19_999, 39_999}, 0},
		{"offset", window.Assigner{Kind: window.Tumble, Size: 10_000, Offset: 3_000}, []int64{2_999, 12_999, 42_999}, 0},
		{"hop", window.Assigner{Kind: window.Hop, Size: 10_000, Slide: 5_000}, []int64{4_999, 9_999, 14_999, 19_999, 39_999, 44_999}, 0},
		{"cumulate", window.Assigner{Kind: window.Cumulate, Size: 10_000, Slide: 5_000}, []int64{4_999, 9_999, 14_999, 19_999, 39_999}, 0},
		{"session", window.Assigner{Kind: window.Session, Size: 5_000}, []int64{5_999, 16_999, 39_999}, 160},
	} {
		t.Run(c.name, func(t *testing.T) {
			db, err := state.Open(state.Config{Name: c.name, Parallelism: 1})
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := db.Close(); err != nil {
					t.Error(err)
				}
			}()
			o := New(Config{In: in, Out: out, Keys: []int{0}, Time: 1, Window: c.window, Props: []window.Source{window.End}})
			count := func(string, int64) {}
			if err := o.(op.Opener).Open(&op.Context{Parallelism: 1, State: db, Now: func() int64 { return 0 }, Count: count, Sample: func(string, func() string) {}}); err != nil {
				t.Fatal(err)
			}
			w := o.(op.Waiter)
			if wm, ok := w.NextDue(); ok {
				t.Errorf("without rows results come at %d", wm)
			}
			cols := [2]*batch.Fixed[int64]{batch.MakeFixed[int64](big, 3), batch.MakeFixed[int64](ts, 3)}
			copy(cols[1].Values, []int64{35_000, 1_000, 12_000})
			var got counted
			if err := o.OnBatch(0, batch.Of(in, []batch.Vector{cols[0], cols[1]}, 3), &got); err != nil {
				t.Fatal(err)
			}
			for i, due := range c.due {
				wm, ok := w.NextDue()
				if !ok || wm < due || wm > due+c.slack {
					t.Fatalf("result %d comes at %d (%t), not at %d", i, wm, ok, due)
				}
				for n, at := range []int64{due - 1, wm} {
					if _, err := o.(op.WatermarkHandler).OnWatermark(at, &got); err != nil {
						t.Fatal(err)
					}
					if int(got) != i+n {
						t.Fatalf("at %d there are %d results, not %d", at, got, i+n)
					}
				}
			}
			if wm, ok := w.NextDue(); ok {
				t.Errorf("behind all results more come at %d", wm)
			}
		})
	}
}
