package state

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/internal/vfs"
	"github.com/millstream-io/millstream/types"
)

// BenchmarkRange reads rows of an ordered table in the order of time: all that a
// key has, and the last ten; with all rows in memory, and with a tenth of them.
func BenchmarkRange(b *testing.B) {
	const keys, each = 2000, 100
	for _, limit := range []int{0, 10} {
		for _, most := range []int{0, keys * each / 10} {
			b.Run(fmt.Sprintf("limit-%d/memory-%d", limit, most), func(b *testing.B) {
				cfg := Config{Name: "bench", Parallelism: 1, Backend: Disk, FS: vfs.OS(), Dir: b.TempDir(), MaxRows: most}
				t := benchRuns(b, cfg, keys, each)
				defer t.db.Close()
				benchRange(b, t, keys, limit)
			})
		}
	}
}

// benchRuns returns an ordered table with so many keys, and rows of each.
func benchRuns(b *testing.B, cfg Config, keys, each int) *table {
	db, err := Open(cfg)
	if err != nil {
		b.Fatal(err)
	}
	declared, err := db.Table(Spec{Name: "t", Key: []types.Type{bigint, bigint}, Order: 1, Value: []types.Type{bigint}})
	if err != nil {
		b.Fatal(err)
	}
	ids, times, slots := make([]int, keys), make([]int, keys), make([]int32, keys)
	for at := range each {
		for i := range ids {
			ids[i], times[i] = i+1, at+1
		}
		k := keysOf(longs(bigint, ids, false), longs(bigint, times, false))
		k.Group = batch.Hash(k.Cols[:1], nil, keys, nil)
		if _, err := declared.Space(0).Upsert(k, slots); err != nil {
			b.Fatal(err)
		}
		if err := db.EndEvent(); err != nil {
			b.Fatal(err)
		}
	}
	return declared.(*table)
}

func benchRange(b *testing.B, t *table, keys, limit int) {
	rng := rand.New(rand.NewPCG(1, 2))
	ids, rows := make([]int, 64), 0
	for b.Loop() {
		for i := range ids {
			ids[i] = 1 + rng.IntN(keys)
		}
		q := &Ranges{Prefix: keysOf(longs(bigint, ids, false)), Limit: limit, Reverse: limit > 0}
		err := t.Space(0).Range(q, batch.DefaultSize, func(_, slots []int32) error {
			rows += len(slots)
			return nil
		})
		if err == nil {
			err = t.db.EndEvent()
		}
		if err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(rows)/b.Elapsed().Seconds(), "rows/s")
}

// BenchmarkSweep lets all rows of a table expire, in memory and on disk.
func BenchmarkSweep(b *testing.B) {
	const rows, ttl = 100_000, 1000
	for _, most := range []int{0, rows / 10} {
		b.Run(fmt.Sprintf("memory-%d", most), func(b *testing.B) {
			now, swept := int64(1), int64(0)
			for b.Loop() {
				b.StopTimer()
				db, err := Open(Config{
					Name: "bench", Parallelism: 1, Backend: Disk, FS: vfs.OS(), Dir: b.TempDir(), MaxRows: most,
					Now: func() int64 { return now }, Expired: func(n int64) { swept += n },
				})
				if err != nil {
					b.Fatal(err)
				}
				declared, err := db.Table(Spec{Name: "t", Key: []types.Type{bigint}, Value: []types.Type{bigint}, TTL: ttl})
				if err != nil {
					b.Fatal(err)
				}
				t := declared.(*table)
				fill(b, t, rows)
				b.StartTimer()
				for before := swept; swept < before+rows; {
					now += ttl / 100
					if err := db.EndEvent(); err != nil {
						b.Fatal(err)
					}
				}
				b.StopTimer()
				if err := db.Close(); err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
			}
			perRow(b, rows)
		})
	}
}
