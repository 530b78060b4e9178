package window

import (
	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/types"
)

// Source says where a column of rows that have their windows is kept, or what it
// tells of the window.
type Source uint8

// The sources: the row itself, or what follows from the window's end.
const (
	Row Source = iota
	Start
	End
	Mark
)

// Column makes a column of n rows of a window from its end.
func (a *Assigner) Column(t types.Type, s Source, end int64, n int) batch.Vector {
	ms := end
	switch s {
	case Start:
		ms = a.Start(end)
	case Mark:
		ms = a.Time(end)
	}
	all := make([]int64, n)
	for i := range all {
		all[i] = ms
	}
	return TimeVector(t, all)
}

// Attached finds the rows of batches that have their windows and are in time.
type Attached struct {
	*Assigner
	// End is the position of the column of the window's end.
	End  int
	Late *Late

	rows []int32
	ends []int64
	// numbers counts from 0.
	numbers []int32
}

// all returns the positions of all rows of a batch.
func (a *Attached) all(b *batch.Batch) []int32 {
	if b.Sel != nil {
		return b.Sel
	}
	for len(a.numbers) < b.Size() {
		a.numbers = append(a.numbers, int32(len(a.numbers)))
	}
	return a.numbers[:b.Size()]
}

// InTime returns the positions of the rows of b whose windows watermark wm has
// not closed, and their windows: one for each, or one for all. Rows that are null in one of the bitmaps are
// left out; those that come too late are noted. The result is good until the
// next call.
func (a *Attached) InTime(b *batch.Batch, wm int64, needed []batch.Bitmap) (rows []int32, ends []int64) {
	rows, ends = a.rows[:0], a.ends[:0]
	times := Times(b.Cols[a.End])
	if least, most, ok := batch.Range(times, b.Cols[a.End].Validity(), b.Sel, b.Size()); ok && len(needed) == 0 && least == most && a.Due(most) > wm {
		return a.all(b), append(ends, most)
	}
	var last int64
	var late, known bool
next:
	for i := range b.Rows() {
		p := b.At(i)
		for _, v := range needed {
			if !v.Get(p) {
				continue next
			}
		}
		end := times[p]
		if !known || end != last {
			last, known, late = end, true, a.Due(end) <= wm
		}
		if late {
			a.Late.Add(int32(p), a.Start(end), end, a.Due(end))
			continue
		}
		rows, ends = append(rows, int32(p)), append(ends, end)
	}
	a.rows, a.ends = rows, ends
	return rows, ends
}
