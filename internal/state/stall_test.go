package state

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/internal/vfs"
)

// BenchmarkStall changes random rows of a large table, with a snapshot now and
// then whose files are made beside. It reports how long events take: the median
// without and the highest with a snapshot under way.
func BenchmarkStall(b *testing.B) {
	for _, rows := range []int{100_000, 1_000_000, 10_000_000, 25_000_000} {
		b.Run(fmt.Sprint(rows), func(b *testing.B) { stall(b, rows) })
	}
}

func stall(b *testing.B, rows int) {
	t := filled(b, Config{Name: "bench", Parallelism: 1, Backend: Disk, FS: vfs.OS(), Dir: b.TempDir()}, rows)
	db := t.db
	defer db.Close()
	const n = 1024
	rng := rand.New(rand.NewPCG(1, 2))
	ids, slots := make([]int, n), make([]int32, n)
	event := func() time.Duration {
		for i := range ids {
			ids[i] = 1 + rng.IntN(rows)
		}
		k := keysOf(longs(bigint, ids, false))
		start := time.Now()
		s := t.Space(0)
		if _, err := s.Upsert(k, slots); err != nil {
			b.Fatal(err)
		}
		vals := s.Cols()[0].(*batch.Slab[int64])
		for _, slot := range slots {
			*vals.At(slot)++
		}
		s.Dirty(slots)
		if err := db.EndEvent(); err != nil {
			b.Fatal(err)
		}
		return time.Since(start)
	}
	var begin, calm, busy []time.Duration
	for i := range b.N {
		start := time.Now()
		s, err := db.Begin(int64(i))
		if err != nil {
			b.Fatal(err)
		}
		begin = append(begin, time.Since(start))
		done := make(chan error)
		go func() {
			_, err := s.Files()
			done <- err
		}()
		for waiting := true; waiting; {
			busy = append(busy, event())
			select {
			case err := <-done:
				if err != nil {
					b.Fatal(err)
				}
				waiting = false
			default:
				if !db.freezing() {
					time.Sleep(time.Millisecond) // a task would have waited for input
				}
			}
		}
		if err := s.Release(); err != nil {
			b.Fatal(err)
		}
		for range 200 {
			calm = append(calm, event())
		}
	}
	us := func(list []time.Duration, part float64) float64 {
		slices.Sort(list)
		return float64(list[int(float64(len(list)-1)*part)].Nanoseconds()) / 1000
	}
	b.ReportMetric(us(begin, 1), "begin-max-us")
	b.ReportMetric(us(calm, 0.5), "calm-p50-us")
	b.ReportMetric(us(busy, 0.5), "busy-p50-us")
	b.ReportMetric(us(busy, 0.99), "busy-p99-us")
	b.ReportMetric(us(calm, 0.99), "calm-p99-us")
}
