package state

import (
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/internal/vfs"
)

// BenchmarkExpiry lets a table with 300,000 rows on disk go on for one time to live,
// in 500 events: with rows that are all young, and with as many new rows as
// expire, whose keys are ascending, or at random. Some have few events. It reports
// the time of the sweeps, how many rows on disk they look at for each row that the
// table has, how many expired rows the table has for each, on average, and how large its
// files are at the end.
func BenchmarkExpiry(b *testing.B) {
	const n, events = 300_000, 500
	ascending := func(i int) int64 { return int64(i) }
	random := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct {
		name string
		key  func(i int) int64
		news bool
	}{
		{"young", ascending, false},
		{"ascending", ascending, true},
		{"random", func(int) int64 { return random.Int64() }, true},
	} {
		b.Run(c.name, func(b *testing.B) {
			for range b.N {
				m := &mortalDB{now: 1_000_000}
				cfg := m.config(Disk, vfs.NewMem())
				cfg.MaxRows = 5_000
				spec := mortalSpec
				spec.TTL = 1_000_000
				m.DB = mustOpen(b, cfg)
				m.table = mustTable(b, m.DB, spec)
				written := 0
				event := func(rows int) (sweep time.Duration) {
					for rows > 0 {
						k := min(rows, batch.DefaultSize)
						v := batch.MakeFixed[int64](bigint, k)
						for i := range v.Values {
							v.Values[i] = c.key(written + i)
						}
						slots := make([]int32, k)
						if _, err := m.table.Space(0).Upsert(keysOf(v), slots); err != nil {
							b.Fatal(err)
						}
						m.table.Space(0).Dirty(slots)
						written += k
						rows -= k
					}
					start := time.Now()
					if err := m.sweepExpired(); err != nil {
						b.Fatal(err)
					}
					sweep = time.Since(start)
					if err := m.EndEvent(); err != nil {
						b.Fatal(err)
					}
					return sweep
				}
				step := spec.TTL / events
				for range events {
					event(n / events)
					if c.news {
						m.now += step
					}
				}
				mortal := m.table.(*table).mortal
				before, sweeps := mortal.looked, time.Duration(0)
				rows, left := 0, 0
				if c.news {
					rows = n / events
				}
				b.ResetTimer()
				for range events - 1 {
					m.now += step
					sweeps += event(rows)
					k, err := m.table.Space(0).Len()
					if err != nil {
						b.Fatal(err)
					}
					left += k - n
				}
				b.StopTimer()
				names, err := m.cfg.FS.List(m.liveDir())
				size := int64(0)
				for _, name := range names {
					info, serr := m.cfg.FS.Stat(m.cfg.FS.PathJoin(m.liveDir(), name))
					if err = errors.Join(err, serr); err == nil {
						size += info.Size()
					}
				}
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(size)/n, "B/row")
				b.ReportMetric(float64(mortal.looked-before)/n, "looks/row")
				b.ReportMetric(sweeps.Seconds()*1000, "sweep-ms")
				b.ReportMetric(float64(left)/n/(events-1), "expired/row")
				if err := m.Close(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
