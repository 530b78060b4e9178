package state

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/internal/vfs"
	"github.com/millstream-io/millstream/types"
)

// BenchmarkWindow adds rows to the partials of a window and drains it, as a
// tumbling window does. The state is 1, 4 and 16 times the memory that rows may
// take, and has no limit ("0x"); keys come evenly, or some more often than others.
func BenchmarkWindow(b *testing.B) {
	for _, skew := range []float64{0, 1.05, 1.2} {
		for _, times := range []int{0, 1, 4, 16} {
			b.Run(fmt.Sprintf("zipf-%g-%dx", skew, times), func(b *testing.B) { benchWindow(b, skew, times) })
		}
	}
}

func benchWindow(b *testing.B, skew float64, times int) {
	// The rows take all bytes.
	const n, rows, events, all = batch.DefaultSize, 1_000_000, 1000, 80 << 20
	cfg := Config{Name: "bench", Parallelism: 1, Backend: Disk, FS: vfs.OS(), Dir: b.TempDir()}
	if times > 0 {
		cfg.Budget = NewBudget(Base+int64(all*rowShare/times), false)
	}
	db, err := Open(cfg)
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	table, err := db.Table(Spec{Name: "t", Key: []types.Type{bigint}, Value: []types.Type{bigint}, Merge: addUp})
	if err != nil {
		b.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	next := func() int { return rng.IntN(rows) }
	if skew > 0 {
		zipf := rand.NewZipf(rng, skew, 1, rows-1)
		next = func() int { return int(zipf.Uint64() * 2654435761 % rows) }
	}
	keys := make([]*Keys, 64)
	for i := range keys {
		ids := make([]int, n)
		for j := range ids {
			ids[j] = next()
		}
		keys[i] = keysOf(longs(bigint, ids, false))
	}
	slots := make([]int32, n)
	window := func(ns int64) {
		for e := range events {
			// Which keys come with which changes from event to event.
			k := keys[e%len(keys)]
			if e >= len(keys) {
				k = shifted(k, e/len(keys), rows)
			}
			s := table.Space(ns)
			if _, err := s.Upsert(k, slots); err != nil {
				b.Fatal(err)
			}
			sums := s.Cols()[0].(*batch.Slab[int64])
			for _, slot := range slots {
				*sums.At(slot)++
			}
			s.Dirty(slots)
			if err := db.EndEvent(); err != nil {
				b.Fatal(err)
			}
		}
		s, sum := table.Space(ns), int64(0)
		err := s.Drain(2048, func(slots []int32) error {
			sums := s.Cols()[0].(*batch.Slab[int64])
			for _, slot := range slots {
				sum += *sums.At(slot)
			}
			return nil
		})
		if err == nil {
			err = db.EndEvent()
		}
		if err != nil || sum != events*n {
			b.Fatalf("the sum is %d (%v)", sum, err)
		}
	}
	ns := int64(0)
	for b.Loop() {
		window(ns)
		ns++
	}
	perRow(b, n*events)
}

// shifted returns other keys that come as often: some are the same.
func shifted(k *Keys, by, rows int) *Keys {
	v := k.Cols[0].(*batch.Fixed[int64])
	out := batch.MakeFixed[int64](bigint, len(v.Values))
	for i, x := range v.Values {
		out.Values[i] = x
		if i%8 != 0 {
			out.Values[i] += int64(by) * 1_000_003
		}
	}
	return keysOf(out)
}
