package lsm_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/millstream-io/millstream/internal/state/lsm"
	"github.com/millstream-io/millstream/internal/vfs"
)

// benchRows is the number of rows of a map of the benchmarks, with a key of 19 bytes and
// a value of 17, as a window with a sum has them.
const benchRows = 1 << 20

func benchKey(buf []byte, i uint64) []byte {
	buf = append(buf, byte(i*0x9e3779b97f4a7c15>>57), 0, 1, 0x80, 0, 0, 0, 0, 0, 0, 0)
	return binary.BigEndian.AppendUint64(buf, i)
}

// benchKeys are the keys of all rows, in order.
var benchKeys = sync.OnceValue(func() [][]byte {
	keys := make([][]byte, benchRows)
	for i := range keys {
		keys[i] = benchKey(nil, uint64(i))
	}
	slices.SortFunc(keys, bytes.Compare)
	return keys
})

// fill writes every step-th row in order, a memtable at a time.
func fill(b *testing.B, db *lsm.DB, step int) {
	value := make([]byte, 17)
	const rows = 1 << 16
	for part := range slices.Chunk(benchKeys(), rows*step) {
		w := db.NewBatchOf(len(part)/step, len(part)/step*36)
		for i := 0; i < len(part); i += step {
			binary.BigEndian.PutUint64(value, uint64(i))
			w.Set(part[i], value)
		}
		if err := w.Commit(); err != nil {
			b.Fatal(err)
		}
	}
}

func benchMap(b *testing.B, o lsm.Options) *lsm.DB {
	db, err := lsm.Open(vfs.OS(), b.TempDir(), o)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := db.Close(); err != nil {
			b.Error(err)
		}
	})
	return db
}

func perSecond(b *testing.B, rows int) {
	b.ReportMetric(float64(rows)/b.Elapsed().Seconds(), "rows/s")
}

// BenchmarkGet looks for rows that are in files, in batches of ascending keys, each of which
// takes its own reader, as the store does it.
func BenchmarkGet(b *testing.B) {
	db := benchMap(b, lsm.Options{Cache: lsm.NewCache(4 << 20)})
	fill(b, db, 1)
	if err := db.Compact(); err != nil {
		b.Fatal(err)
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	const batch = 128
	var key []byte
	b.ResetTimer()
	for range b.N {
		r, err := db.NewReader()
		if err != nil {
			b.Fatal(err)
		}
		for range batch {
			key = benchKey(key[:0], rnd.Uint64N(benchRows))
			if _, ok, err := r.Get(key); !ok || err != nil {
				b.Fatal(ok, err)
			}
		}
		if err := r.Close(); err != nil {
			b.Fatal(err)
		}
	}
	perSecond(b, b.N*batch)
}

// BenchmarkRange reads all rows in order.
func BenchmarkRange(b *testing.B) {
	db := benchMap(b, lsm.Options{InOrder: true})
	fill(b, db, 1)
	r, err := db.NewReader()
	if err != nil {
		b.Fatal(err)
	}
	b.ResetTimer()
	n := 0
	for range b.N {
		if err := r.Range(nil, []byte{0xff}, func(_, _ []byte) (bool, error) { n++; return true, nil }); err != nil {
			b.Fatal(err)
		}
	}
	perSecond(b, n)
	if err := r.Close(); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkWrite writes rows in order, until they are in files. Some are merged meanwhile.
func BenchmarkWrite(b *testing.B) {
	benchKeys()
	b.ResetTimer()
	for range b.N {
		db := benchMap(b, lsm.Options{InOrder: true})
		fill(b, db, 1)
		if err := db.Checkpoint(b.TempDir() + "/checkpoint"); err != nil {
			b.Fatal(err)
		}
	}
	perSecond(b, b.N*benchRows)
}

// BenchmarkMerge merges two runs, a large and a smaller one with other values of the
// same rows.
func BenchmarkMerge(b *testing.B) {
	rows := 0
	for range b.N {
		b.StopTimer()
		db := benchMap(b, lsm.Options{InOrder: true})
		fill(b, db, 1)
		err := db.Compact()
		fill(b, db, 4)
		if err = errors.Join(err, db.Checkpoint(b.TempDir()+"/checkpoint")); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		if err := db.Compact(); err != nil {
			b.Fatal(err)
		}
		rows += benchRows + benchRows/4
	}
	perSecond(b, rows)
}
