package state

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/internal/vfs"
	"github.com/millstream-io/millstream/types"
)

var bigint = types.Of(types.BigInt).NotNull()

func keysOf(cols ...batch.Vector) *Keys {
	n := cols[0].Len()
	k := &Keys{Cols: cols, Hash: batch.Hash(cols, nil, n, nil), Rows: make([]int32, n)}
	for i := range k.Rows {
		k.Rows[i] = int32(i)
	}
	return k
}

func benchTable(b *testing.B, cfg Config, key ...types.Type) *table {
	db, err := Open(cfg)
	if err != nil {
		b.Fatal(err)
	}
	t, err := db.Table(Spec{Name: "t", Key: key, Value: []types.Type{bigint, bigint}})
	if err != nil {
		b.Fatal(err)
	}
	return t.(*table)
}

// BenchmarkUpsert finds existing rows ("hit") and makes new ones ("new").
func BenchmarkUpsert(b *testing.B) {
	const n = batch.DefaultSize
	rng := rand.New(rand.NewPCG(1, 2))
	kinds := []struct {
		name string
		key  []types.Type
		cols func(k []int) []batch.Vector
	}{
		{"bigint", []types.Type{types.Of(types.BigInt)}, func(k []int) []batch.Vector {
			v := batch.MakeFixed[int64](types.Of(types.BigInt), n)
			for i, x := range k {
				v.Values[i] = int64(x)
			}
			return []batch.Vector{v}
		}},
		{"int+bigint", []types.Type{types.Of(types.Int), types.Of(types.BigInt)}, func(k []int) []batch.Vector {
			v, w := batch.MakeFixed[int32](types.Of(types.Int), n), batch.MakeFixed[int64](types.Of(types.BigInt), n)
			for i, x := range k {
				v.Values[i], w.Values[i] = int32(x%100), int64(x)
			}
			return []batch.Vector{v, w}
		}},
		{"string", []types.Type{types.StringType()}, func(k []int) []batch.Vector {
			v := batch.NewBytes(types.StringType(), n, 0)
			for _, x := range k {
				v.AppendString(fmt.Sprintf("channel-%d", x))
			}
			return []batch.Vector{v}
		}},
	}
	for _, kind := range kinds {
		for _, rows := range []int{100, 10_000, 1_000_000} {
			b.Run(fmt.Sprintf("%s/hit/%d", kind.name, rows), func(b *testing.B) {
				t := benchTable(b, Config{Name: "bench", Parallelism: 1}, kind.key...)
				var keys []*Keys
				slots := make([]int32, n)
				for at := 0; at < rows; at += n {
					k := make([]int, n)
					for i := range k {
						k[i] = min(at+i, rows-1)
					}
					if _, err := t.Space(0).Upsert(keysOf(kind.cols(k)...), slots); err != nil {
						b.Fatal(err)
					}
				}
				for range 64 {
					k := make([]int, n)
					for i := range k {
						k[i] = rng.IntN(rows)
					}
					keys = append(keys, keysOf(kind.cols(k)...))
				}
				i := 0
				for b.Loop() {
					t.Space(0).Upsert(keys[i%len(keys)], slots)
					i++
				}
				perRow(b, n)
			})
		}
		b.Run(kind.name+"/new", func(b *testing.B) {
			const batches = 64
			var keys []*Keys
			for j := range batches {
				k := make([]int, n)
				for i := range k {
					k[i] = j*n + i
				}
				keys = append(keys, keysOf(kind.cols(k)...))
			}
			t := benchTable(b, Config{Name: "bench", Parallelism: 1}, kind.key...)
			slots := make([]int32, n)
			ns := int64(0)
			for b.Loop() {
				for _, k := range keys {
					t.Space(ns).Upsert(k, slots)
				}
				t.Drop(ns)
				ns++
			}
			perRow(b, n*batches)
		})
	}
}

func perRow(b *testing.B, rows int) {
	total := float64(b.N) * float64(rows)
	b.ReportMetric(total/b.Elapsed().Seconds(), "rows/s")
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/total, "ns/row")
}

// filled returns a table of rows bigint keys.
func filled(b *testing.B, cfg Config, rows int) *table {
	t := benchTable(b, cfg, bigint)
	fill(b, t, rows)
	return t
}

// fill makes rows of a table whose key is a bigint.
func fill(b *testing.B, t *table, rows int) {
	ids := make([]int, batch.DefaultSize)
	slots := make([]int32, len(ids))
	for at := 0; at < rows; at += len(ids) {
		for i := range ids {
			ids[i] = min(at+i, rows-1) + 1
		}
		if _, err := t.Space(0).Upsert(keysOf(longs(bigint, ids, false)), slots); err != nil {
			b.Fatal(err)
		}
		if err := t.db.EndEvent(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkScan(b *testing.B) {
	const rows = 100_000
	t := filled(b, Config{Name: "bench", Parallelism: 1}, rows)
	sum := int64(0)
	for b.Loop() {
		s := t.Space(0)
		vals := s.Cols()[0].(*batch.Slab[int64])
		s.Scan(batch.DefaultSize, func(slots []int32) error {
			for _, slot := range slots {
				sum += *vals.At(slot)
			}
			return nil
		})
	}
	perRow(b, rows)
}

// BenchmarkSnapshot changes a part of a million rows and takes a snapshot: the
// cost goes with the part. Making the files is not counted.
func BenchmarkSnapshot(b *testing.B) {
	for _, dirtyRows := range []int{1000, 10_000, 100_000} {
		b.Run(fmt.Sprint(dirtyRows), func(b *testing.B) {
			t := filled(b, Config{Name: "bench", Parallelism: 1, Backend: Disk, FS: vfs.OS(), Dir: b.TempDir()}, 1_000_000)
			defer t.db.Close()
			take := func() {
				s, err := t.db.Snapshot(int64(b.N))
				if err != nil {
					b.Fatal(err)
				}
				b.StopTimer()
				if _, err := s.Files(); err != nil {
					b.Fatal(err)
				}
				if err := s.Release(); err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
			}
			b.StopTimer()
			take()
			slots := make([]int32, dirtyRows)
			for i := range slots {
				slots[i] = int32(i * 1_000_000 / dirtyRows)
			}
			b.ResetTimer()
			for range b.N {
				t.Space(0).Dirty(slots)
				take()
			}
			perRow(b, dirtyRows)
		})
	}
}

// BenchmarkCold looks rows up that are on disk, which then leave memory again.
func BenchmarkCold(b *testing.B) {
	const n = batch.DefaultSize
	t := filled(b, Config{Name: "bench", Parallelism: 1, Backend: Disk, FS: vfs.OS(), Dir: b.TempDir(), MaxRows: 10_000}, 1)
	defer t.db.Close()
	rng := rand.New(rand.NewPCG(1, 2))
	ids, slots := make([]int, n), make([]int32, n)
	for at := range 100 {
		for i := range ids {
			ids[i] = at*n + i
		}
		if _, err := t.Space(0).Upsert(keysOf(longs(bigint, ids, false)), slots); err != nil {
			b.Fatal(err)
		}
		if err := t.db.EndEvent(); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		for i := range ids {
			ids[i] = rng.IntN(100 * n)
		}
		if err := t.Space(0).Lookup(keysOf(longs(bigint, ids, false)), slots); err != nil {
			b.Fatal(err)
		}
		if err := t.db.EndEvent(); err != nil {
			b.Fatal(err)
		}
	}
	perRow(b, n)
}

// BenchmarkBeyondMemory changes rows of a table that takes 1, 4 and 16 times the
// memory that its rows may have, and without a limit ("0x"); some keys come more
// often than others. miss-% of the rows were not in memory; if it always had the rows
// that come most often, least-miss-% were not.
func BenchmarkBeyondMemory(b *testing.B) {
	for _, skew := range []float64{1.05, 1.2} {
		for _, times := range []int{0, 1, 4, 16} {
			b.Run(fmt.Sprintf("zipf-%g-%dx", skew, times), func(b *testing.B) { beyondMemory(b, skew, times) })
		}
	}
}

func beyondMemory(b *testing.B, skew float64, times int) {
	// The rows take all bytes.
	const n, rows, all = batch.DefaultSize, 2_000_000, 97 << 20
	cfg := Config{Name: "bench", Parallelism: 1, Backend: Disk, FS: vfs.OS(), Dir: b.TempDir()}
	if times > 0 {
		cfg.Budget = NewBudget(Base+int64(all*rowShare/times), false)
	}
	t := filled(b, cfg, rows)
	defer t.db.Close()
	zipf := rand.NewZipf(rand.New(rand.NewPCG(1, 2)), skew, 1, rows-1)
	ids, slots := make([]int, n), make([]int32, n)
	event := func() {
		for i := range ids {
			ids[i] = 1 + int(zipf.Uint64()*2654435761%rows)
		}
		s := t.Space(0)
		if _, err := s.Upsert(keysOf(longs(bigint, ids, false)), slots); err != nil {
			b.Fatal(err)
		}
		vals := s.Cols()[0].(*batch.Slab[int64])
		for _, slot := range slots {
			*vals.At(slot)++
		}
		s.Dirty(slots)
		if err := t.db.EndEvent(); err != nil {
			b.Fatal(err)
		}
	}
	for range 400 {
		event()
	}
	missed, kept := 0, 0
	for b.Loop() {
		event()
		missed += len(t.absent)
		kept = t.rows
	}
	perRow(b, n)
	b.ReportMetric(float64(t.memBytes())/1e6, "MB")
	if times > 0 {
		b.ReportMetric(100*float64(missed)/float64(b.N*n), "miss-%")
		b.ReportMetric(100*(1-zipfShare(skew, kept)/zipfShare(skew, rows)), "least-miss-%")
	}
}

// zipfShare is the part, up to a factor, of the rows of a Zipf distribution that
// have the n keys that come most often.
func zipfShare(skew float64, n int) float64 {
	sum := 0.0
	for k := 1; k <= n; k++ {
		sum += math.Pow(float64(k), -skew)
	}
	return sum
}

// BenchmarkBytesPerKey fills tables of a key and a value of 8 bytes each, and
// reports what a row takes besides these: as the table counts it, and as the heap
// does. It depends on how full the index is.
func BenchmarkBytesPerKey(b *testing.B) {
	for _, rows := range []int{700_000, 1_000_000, 1_400_000, 2_000_000} {
		b.Run(fmt.Sprint(rows), func(b *testing.B) {
			before := heapBytes()
			t := filled(b, Config{Name: "bench", Parallelism: 1, Backend: Disk, FS: vfs.NewMem(), Dir: "state"}, rows)
			grown := heapBytes() - before
			const data = 3 * 8 // benchTable has two values
			b.ReportMetric(float64(t.memBytes())/float64(rows)-data, "counted-B/key")
			b.ReportMetric(float64(grown)/float64(rows)-data, "heap-B/key")
			t.db.Close()
		})
	}
}

func heapBytes() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
