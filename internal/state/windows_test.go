package state

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/internal/vfs"
	"github.com/millstream-io/millstream/types"
)

// longTexts makes keys of very different lengths, some larger than a chunk of
// a column.
func longTexts(ids []int) []batch.Vector {
	v := batch.NewBytes(types.StringType(), len(ids), 0)
	for _, id := range ids {
		if id == 0 {
			v.AppendNull()
			continue
		}
		size := id * 7919 % []int{4, 40, 400, 20_000}[id%4]
		v.AppendString(fmt.Sprint(id) + strings.Repeat("x", size))
	}
	return []batch.Vector{v}
}

// TestWindowsOfTexts uses a table as windows do: many namespaces are open, new
// ones come and old ones are scanned and dropped, while other goroutines write
// the files of snapshots, and few rows may stay in memory.
func TestWindowsOfTexts(t *testing.T) {
	steps := 400
	if testing.Short() {
		steps = 100
	}
	for seed := range uint64(9) {
		limit := []int{0, 1, 300}[seed%3]
		t.Run(fmt.Sprintf("seed %d, %d rows", seed, limit), func(t *testing.T) {
			db, err := Open(Config{Name: "test", Parallelism: 1, Backend: Disk, FS: vfs.NewMem(), Dir: "/state", MaxRows: limit})
			m := &model{t: t, rng: newRNG(seed, 17), cols: longTexts, want: map[int64]map[int]modelValue{}}
			m.ids = []int{5, 60, 1500}[m.rng.IntN(3)]
			m.spec = Spec{Name: "windows", Key: []types.Type{types.StringType()}, Value: modelValues}
			m.open(db, err)
			w := windows{model: m, spread: []int64{3, 50, 1000}[m.rng.IntN(3)]}
			for range steps {
				w.step()
			}
			w.settle()
			for ns := range w.want {
				w.scan(ns)
			}
			m.check(m.db.Close())
		})
	}
}

// windows is a model whose time goes on.
type windows struct {
	*model
	spread, now int64
	snapshot    *Snapshot
	written     sync.WaitGroup
}

func (w *windows) step() {
	ns := w.now + w.rng.Int64N(w.spread)
	switch p := w.rng.IntN(100); {
	case p < 55:
		w.write(ns)
	case p < 62:
		w.lookup(ns)
	case p < 68:
		w.remove(ns)
	case p < 90:
		w.fire()
	case p < 95:
		w.check(w.db.EndEvent())
		w.save()
	default:
		w.namespaces()
	}
	if w.rng.IntN(2) == 0 {
		w.check(w.db.EndEvent())
	}
}

// fire scans and drops the oldest window.
func (w *windows) fire() {
	first, ok, err := w.table.First()
	w.check(err)
	if !ok {
		return
	}
	w.scan(first)
	w.check(w.table.Drop(first))
	delete(w.want, first)
	w.now = max(w.now, first+1)
}

// save takes a snapshot, whose files are made while the task goes on.
func (w *windows) save() {
	w.settle()
	s, err := w.db.Snapshot(w.now)
	w.check(err)
	w.snapshot = s
	w.written.Add(1)
	go func() {
		defer w.written.Done()
		if _, err := s.Files(); err != nil {
			w.t.Error(err)
		}
	}()
}

// settle waits for the last snapshot.
func (w *windows) settle() {
	w.written.Wait()
	if w.snapshot != nil {
		w.check(w.snapshot.Release())
	}
	w.snapshot = nil
}
