package lsm

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/sstable"
	pebblevfs "github.com/cockroachdb/pebble/v2/vfs"
)

// The tests below hold what design 24 rests on: compactions of Pebble cannot leave out
// what has expired. If a new version fails them, it may be able to.

// expiring is a merger of times of which the newest counts, and none up to deadline.
type expiring struct {
	deadline atomic.Int64
	// seen are the values that it was given.
	seen atomic.Int64
}

func (e *expiring) merge(_, value []byte) (pebble.ValueMerger, error) {
	e.seen.Add(1)
	n, err := Count(value)
	return &newest{e, n}, err
}

type newest struct {
	e *expiring
	n int64
}

func (m *newest) MergeNewer(value []byte) (err error) {
	m.n, err = Count(value)
	return err
}

func (m *newest) MergeOlder([]byte) error { return nil }

func (m *newest) Finish(bool) ([]byte, io.Closer, error) { return AppendCount(nil, m.n), nil, nil }

func (m *newest) DeletableFinish(bool) ([]byte, bool, io.Closer, error) {
	return AppendCount(nil, m.n), m.n <= m.e.deadline.Load(), nil, nil
}

// blind is a collector that counts the values that it is given.
type blind struct{ keys, values *atomic.Int64 }

func (blind) Name() string { return "blind" }

func (b blind) AddPointKey(_ pebble.InternalKey, value []byte) error {
	b.keys.Add(1)
	if len(value) > 0 {
		b.values.Add(1)
	}
	return nil
}

func (blind) AddRangeKeys(sstable.Span) error { return nil }

func (blind) AddCollectedWithSuffixReplacement(_, _, _ []byte) error {
	return errors.New("there are no suffixes")
}

func (blind) SupportsSuffixReplacement() bool               { return false }
func (blind) FinishDataBlock(buf []byte) ([]byte, error)    { return buf, nil }
func (blind) AddPrevDataBlockToIndexBlock()                 {}
func (blind) FinishIndexBlock(buf []byte) ([]byte, error)   { return buf, nil }
func (blind) FinishTable(buf []byte) (prop []byte, e error) { return buf, nil }

// rawMap opens Pebble with the format of the store.
func rawMap(t *testing.T, o *pebble.Options) *pebble.DB {
	t.Helper()
	o.FS, o.DisableWAL, o.FormatMajorVersion, o.Logger = pebblevfs.NewMem(), true, pebble.FormatTableFormatV6, quiet{}
	p, err := pebble.Open("db", o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

func rawCompact(t *testing.T, p *pebble.DB) {
	t.Helper()
	if err := errors.Join(p.Flush(), p.Compact(context.Background(), []byte("a"), []byte("z"), false)); err != nil {
		t.Fatal(err)
	}
}

// TestMergedValuesDoNotExpire: a merger is asked when a compaction writes a value to the
// last level, and may drop it there. A value that was written there is a plain one from
// then on, which no later compaction asks about.
func TestMergedValuesDoNotExpire(t *testing.T) {
	const n = 100
	e := &expiring{}
	p := rawMap(t, &pebble.Options{Merger: &pebble.Merger{Name: "test", Merge: e.merge}})
	fill := func(prefix string, at int64) {
		for i := range n {
			if err := p.Merge(fmt.Appendf(nil, "%s%03d", prefix, i), AppendCount(nil, at), pebble.NoSync); err != nil {
				t.Fatal(err)
			}
		}
	}
	left := func() (keys int) {
		it, err := p.NewIter(nil)
		if err != nil {
			t.Fatal(err)
		}
		for ok := it.First(); ok; ok = it.Next() {
			keys++
		}
		if err := errors.Join(it.Error(), it.Close()); err != nil {
			t.Fatal(err)
		}
		return keys
	}
	e.deadline.Store(5)
	fill("early", 5)
	rawCompact(t, p)
	if got := left(); got != 0 {
		t.Errorf("%d values are left that had expired before they came to the last level", got)
	}
	fill("late", 10)
	rawCompact(t, p)
	// A key among the others makes their file be written anew, and not only be moved.
	again := func(key string) {
		if err := p.Set([]byte(key), nil, pebble.NoSync); err != nil {
			t.Fatal(err)
		}
		rawCompact(t, p)
	}
	again("late0505")
	e.deadline.Store(10)
	before := e.seen.Load()
	again("late0506")
	if got := left(); got != n+2 || e.seen.Load() != before {
		t.Errorf("%d of %d values are left that expired in the last level, and the merger was asked about %d",
			got-2, n, e.seen.Load()-before)
	}
}

// TestCollectorsSeeNoValues: what is noted of a block cannot depend on plain values,
// such as on the time in them.
func TestCollectorsSeeNoValues(t *testing.T) {
	b := blind{new(atomic.Int64), new(atomic.Int64)}
	p := rawMap(t, &pebble.Options{BlockPropertyCollectors: []func() pebble.BlockPropertyCollector{
		func() pebble.BlockPropertyCollector { return b },
	}})
	for i := range 100 {
		if err := p.Set(fmt.Appendf(nil, "k%03d", i), AppendCount(nil, int64(i+1)), pebble.NoSync); err != nil {
			t.Fatal(err)
		}
	}
	rawCompact(t, p)
	if b.keys.Load() == 0 || b.values.Load() != 0 {
		t.Errorf("a collector was given %d keys and %d values", b.keys.Load(), b.values.Load())
	}
}
