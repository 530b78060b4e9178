package lsm

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"runtime"
	"testing"

	"github.com/millstream-io/millstream/internal/vfs"
)

// TestEmptyKey has an entry whose key is empty, alone in its block, in a table of which
// all else is removed.
func TestEmptyKey(t *testing.T) {
	for _, value := range [][]byte{nil, bytes.Repeat([]byte("value"), 2000)} {
		db := open(t, vfs.NewMem(), "live")
		b := db.NewBatch()
		b.Set(nil, value)
		for i := range 100 {
			b.Set(fmt.Appendf(nil, "k%04d", i), bytes.Repeat([]byte{byte(i)}, 100))
		}
		if err := errors.Join(b.Commit(), db.flush()); err != nil {
			t.Fatal(err)
		}
		has := func(when string) {
			r, err := db.NewReader()
			if err != nil {
				t.Fatal(err)
			}
			got, ok, err := r.Get(nil)
			if err != nil || !ok || !bytes.Equal(got, value) {
				t.Errorf("%s there are %d bytes, %t, %v, want %d", when, len(got), ok, err, len(value))
			}
			if err := r.Close(); err != nil {
				t.Fatal(err)
			}
		}
		has("behind writing")
		b = db.NewBatch()
		b.DeleteRange([]byte("k"), []byte("l"))
		if err := errors.Join(b.Commit(), db.flush()); err != nil {
			t.Fatal(err)
		}
		db.mu.Lock()
		for db.merging > 0 {
			db.changed.Wait()
		}
		db.mu.Unlock()
		has("behind a purge")
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestSpans compares the union of two lists of spans with that of numbers.
func TestSpans(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 1))
	const numbers = 40
	random := func() (l spans, in [numbers]bool) {
		var list []span
		for range rnd.IntN(8) {
			from := rnd.IntN(numbers - 1)
			to := from + 1 + rnd.IntN(min(6, numbers-1-from))
			list = append(list, span{[]byte{byte(from)}, []byte{byte(to)}})
			for i := from; i < to; i++ {
				in[i] = true
			}
		}
		return normal(list), in
	}
	for range 20_000 {
		a, inA := random()
		b, inB := random()
		before := fmt.Sprint(a, b)
		var want spans
		for i := range byte(numbers) {
			if !inA[i] && !inB[i] {
				continue
			}
			if n := len(want); n > 0 && want[n-1].to[0] == i {
				want[n-1].to = []byte{i + 1}
			} else {
				want = append(want, span{[]byte{i}, []byte{i + 1}})
			}
		}
		if got := a.with(b); !reflect.DeepEqual(got, want) {
			t.Fatalf("%v with %v is %v, want %v", a, b, got, want)
		}
		if after := fmt.Sprint(a, b); after != before {
			t.Fatalf("lists have become %s, and were %s", after, before)
		}
	}
}

// TestTooLarge: what has no room in a batch is an error, and nothing is written.
func TestTooLarge(t *testing.T) {
	for _, c := range []struct {
		bytes, more int
		want        bool
	}{{0, 0, true}, {0, maxBatch, true}, {1, maxBatch, false}, {maxBatch, 0, true}, {maxBatch, 1, false}, {5, maxBatch - 5, true}} {
		if got := fits(c.bytes, c.more); got != c.want {
			t.Errorf("%d bytes fit behind %d: %t", c.more, c.bytes, got)
		}
	}
	db := open(t, vfs.NewMem(), "live")
	b := db.NewBatch()
	b.Set([]byte("a"), nil)
	b.full = true
	b.Set([]byte("b"), nil)
	if err := b.Commit(); err == nil {
		t.Error("the batch is written")
	}
	if got := contents(t, db); got != "" {
		t.Errorf("there is %q", got)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestUnions compares what spans from one on have with a look at each.
func TestUnions(t *testing.T) {
	rnd := rand.New(rand.NewPCG(2, 2))
	for range 2000 {
		list := make([]span, rnd.IntN(20))
		for i := range list {
			from := byte(rnd.IntN(40))
			list[i] = span{[]byte{from}, []byte{from + 1 + byte(rnd.IntN(5))}}
		}
		tree := unions(list)
		for i := range len(list) + 1 {
			for n := range byte(46) {
				want := false
				for _, s := range list[i:] {
					want = want || spans{s}.covers([]byte{n})
				}
				if got := tree.from(i, []byte{n}); got != want {
					t.Fatalf("%v from %d on have %d: %t, want %t", list, i, n, got, want)
				}
			}
		}
	}
}

// TestManyRanges removes many ranges in one batch, with writes between them, in memory
// that does not grow with the square of their number.
func TestManyRanges(t *testing.T) {
	db := open(t, vfs.NewMem(), "live")
	const n = 4000
	write := func(n int) uint64 {
		b := db.NewBatch()
		for i := range n {
			key := fmt.Appendf(nil, "%06d", i)
			b.DeleteRange(key, append(key, 0))
			b.Delete(append(key, 1))
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		b.bury()
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	if few, many := write(n/8), write(n); many > 16*few {
		t.Errorf("%d ranges take %d bytes, %d take %d", n/8, few, n, many)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestOpenFiles reads more tables than may have an open file.
func TestOpenFiles(t *testing.T) {
	const most = 50
	const n = 10 * most // two in each table
	cache := NewCache(1 << 30)
	cache.maxIn = most
	db, err := Open(vfs.NewMem(), "live", Options{MemTable: 1, Cache: cache})
	if err != nil {
		t.Fatal(err)
	}
	value := make([]byte, 2100)
	rnd := rand.New(rand.NewPCG(3, 3))
	for i := range value {
		value[i] = byte(rnd.Uint32())
	}
	b := db.NewBatch()
	for i := range n {
		b.Set(fmt.Appendf(nil, "%06d", i), value)
	}
	if err := errors.Join(b.Commit(), db.Compact()); err != nil {
		t.Fatal(err)
	}
	tables := db.now.runs[0].tables
	if len(tables) <= most {
		t.Fatalf("%d tables, want more than %d", len(tables), most)
	}
	r, err := db.NewReader()
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		count := 0
		err := r.Range(nil, []byte{0xff}, func(_, _ []byte) (bool, error) { count++; return true, nil })
		if err != nil || count != n {
			t.Fatalf("%d entries, %v, want %d", count, err, n)
		}
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	open := 0
	for _, table := range tables {
		if table.file != nil {
			open++
		}
	}
	if open > most {
		t.Errorf("%d files are open, want %d at most", open, most)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}
