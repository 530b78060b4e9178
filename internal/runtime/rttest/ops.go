package rttest

import (
	"fmt"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/internal/op"
	"github.com/millstream-io/millstream/internal/state"
	"github.com/millstream-io/millstream/types"
)

// Func is an operator that is a function of a batch.
type Func func(in int, b *batch.Batch, out op.Output) error

// OnBatch implements op.Operator.
func (f Func) OnBatch(in int, b *batch.Batch, out op.Output) error { return f(in, b, out) }

// Pass emits what it gets.
func Pass() (op.Operator, error) {
	return Func(func(_ int, b *batch.Batch, out op.Output) error { out.Emit(b); return nil }), nil
}

// Tally adds up the values by key and window of Size ms. When the watermark
// passes a window it emits, for each key, a row with the window's end as time.
// Late rows are counted as late_rows and go to the side output "late".
type Tally struct {
	Size int64

	ctx   *op.Context
	table state.Table
	wm    int64
	hash  []uint64
}

// NewTally returns a Tally.
func NewTally(size int64) func() (op.Operator, error) {
	return func() (op.Operator, error) { return &Tally{Size: size, wm: op.MinWatermark}, nil }
}

// Open implements op.Opener.
func (t *Tally) Open(c *op.Context) (err error) {
	t.ctx = c
	big := types.Of(types.BigInt).NotNull()
	t.table, err = c.State.Table(state.Spec{Name: "sums", Key: []types.Type{big}, Value: []types.Type{big}})
	return err
}

// OnBatch implements op.Operator.
func (t *Tally) OnBatch(_ int, b *batch.Batch, out op.Output) error {
	t.hash = batch.Hash(b.Cols[:1], b.Sel, b.Size(), t.hash)
	values, times := Column(b, 1), Column(b, 2)
	slots := make([]int32, 1)
	var late []int32
	for i := range b.Rows() {
		p := b.At(i)
		end := times[p] - times[p]%t.Size + t.Size
		if end-1 <= t.wm {
			late = append(late, int32(p))
			continue
		}
		space := t.table.Space(end)
		if _, err := space.Upsert(&state.Keys{Cols: b.Cols[:1], Hash: t.hash, Rows: []int32{int32(p)}}, slots); err != nil {
			return err
		}
		*space.Cols()[0].(*batch.Slab[int64]).At(slots[0]) += values[p]
		space.Dirty(slots)
	}
	if len(late) > 0 {
		t.ctx.Count("late_rows", int64(len(late)))
		t.ctx.Sample("late_rows", func() string { return fmt.Sprintf("row %d behind %d", times[late[0]], t.wm) })
		out.EmitSide("late", b.WithSel(late))
	}
	return nil
}

// OnWatermark implements op.WatermarkHandler.
func (t *Tally) OnWatermark(wm int64, out op.Output) (int64, error) {
	t.wm = wm
	upTo := wm
	if wm < op.MaxWatermark {
		upTo = wm + 1
	}
	ends, err := t.table.Namespaces(upTo)
	if err != nil {
		return 0, err
	}
	for _, end := range ends {
		if err := t.fire(end, out); err != nil {
			return 0, err
		}
	}
	return wm, nil
}

// NextDue implements op.Waiter.
func (t *Tally) NextDue() (wm int64, ok bool) {
	end, ok, err := t.table.First()
	return end - 1, ok && err == nil
}

func (t *Tally) fire(end int64, out op.Output) error {
	space := t.table.Space(end)
	err := space.Scan(batch.DefaultSize, func(slots []int32) error {
		var rows []Row
		keys := space.Keys(slots)[0].(*batch.Fixed[int64])
		sums := space.Cols()[0].(*batch.Slab[int64])
		for i, s := range slots {
			rows = append(rows, Row{keys.Values[i], *sums.At(s), end})
		}
		out.Emit(Batch(rows...))
		return nil
	})
	if err != nil {
		return err
	}
	return t.table.Drop(end)
}

// Explode emits each row N times, one batch a copy, and pauses while the output
// is full.
type Explode struct {
	N int

	left  int
	batch *batch.Batch
}

// OnBatch implements op.Operator.
func (e *Explode) OnBatch(_ int, b *batch.Batch, out op.Output) error {
	if e.left > 0 {
		return fmt.Errorf("a batch came while the last one was half done")
	}
	e.left, e.batch = e.N, b
	_, err := e.Resume(out)
	return err
}

// Resume implements op.Resumer.
func (e *Explode) Resume(out op.Output) (more bool, err error) {
	for e.left > 0 {
		if out.Full() {
			return true, nil
		}
		e.left--
		out.Emit(e.batch)
	}
	return false, nil
}

// OnWatermark implements op.WatermarkHandler.
func (e *Explode) OnWatermark(wm int64, _ op.Output) (int64, error) {
	if e.left > 0 {
		return 0, fmt.Errorf("a watermark came while a batch was half done")
	}
	return wm, nil
}

// OnBarrier implements op.BarrierHandler.
func (e *Explode) OnBarrier(int64, op.Output) error {
	if e.left > 0 {
		return fmt.Errorf("a barrier came while a batch was half done")
	}
	return nil
}
