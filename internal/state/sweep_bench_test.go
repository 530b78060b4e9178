package state

import (
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/internal/vfs"
)

// expiry is a table to whose rows time goes by.
type expiry struct {
	mortalDB
	b   *testing.B
	key func(i int) int64
	// written is the number of rows that were made, sweeps the time of the sweeps, and
	// left the sum of the rows that were there behind each event.
	written, left int
	sweeps        time.Duration
}

// event makes new rows.
func (e *expiry) event(rows int) {
	for rows > 0 {
		k := min(rows, batch.DefaultSize)
		v := batch.MakeFixed[int64](bigint, k)
		for i := range v.Values {
			v.Values[i] = e.key(e.written + i)
		}
		slots := make([]int32, k)
		if _, err := e.table.Space(0).Upsert(keysOf(v), slots); err != nil {
			e.b.Fatal(err)
		}
		e.table.Space(0).Dirty(slots)
		e.written += k
		rows -= k
	}
	start := time.Now()
	if err := e.sweepExpired(); err != nil {
		e.b.Fatal(err)
	}
	e.sweeps += time.Since(start)
	n, err := e.table.Space(0).Len()
	if err := errors.Join(err, e.EndEvent()); err != nil {
		e.b.Fatal(err)
	}
	e.left += n
}

// fileBytes is the size of the files on disk.
func (e *expiry) fileBytes() (size int64) {
	fsys := e.cfg.FS
	names, err := fsys.List(e.liveDir())
	for _, name := range names {
		info, serr := fsys.Stat(fsys.PathJoin(e.liveDir(), name))
		if err = errors.Join(err, serr); err == nil {
			size += info.Size()
		}
	}
	if err != nil {
		e.b.Fatal(err)
	}
	return size
}

// BenchmarkExpiry lets a table with 300,000 rows on disk go on for one time to live,
// in 500 events: with rows that are all young, and with as many new rows as
// expire, whose keys are ascending, or at random. It reports the time of the sweeps, how
// many rows on disk they look at for each row that the table has, how many expired
// rows the table has for each, on average, and how large its files are at the end.
func BenchmarkExpiry(b *testing.B) {
	const n, events = 300_000, 500
	ascending := func(i int) int64 { return int64(i) }
	random := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct {
		name string
		key  func(i int) int64
		rows int
	}{
		{"young", ascending, 0},
		{"ascending", ascending, n / events},
		{"random", func(int) int64 { return random.Int64() }, n / events},
	} {
		b.Run(c.name, func(b *testing.B) {
			for range b.N {
				e := &expiry{mortalDB: mortalDB{now: 1_000_000}, b: b, key: c.key}
				cfg := e.config(Disk, vfs.NewMem())
				cfg.MaxRows = 5_000
				spec := mortalSpec
				spec.TTL = 1_000_000
				e.DB = mustOpen(b, cfg)
				e.table = mustTable(b, e.DB, spec)
				for range events {
					e.event(n / events)
					if c.rows > 0 {
						e.now += spec.TTL / events
					}
				}
				mortal := e.table.(*table).mortal
				before := mortal.looked
				e.sweeps, e.left = 0, 0
				b.ResetTimer()
				for range events - 1 {
					e.now += spec.TTL / events
					e.event(c.rows)
				}
				b.StopTimer()
				b.ReportMetric(float64(e.fileBytes())/n, "B/row")
				b.ReportMetric(float64(mortal.looked-before)/n, "looks/row")
				b.ReportMetric(e.sweeps.Seconds()*1000, "sweep-ms")
				b.ReportMetric(float64(e.left)/n/(events-1)-1, "expired/row")
				if err := e.Close(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
