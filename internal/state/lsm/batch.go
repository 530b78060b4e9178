package lsm

import (
	"bytes"
	"slices"
)

// Batch is a set of writes that are made together, in order. Commit ends it. Keys that
// come in ascending order cost least.
type Batch struct {
	db *DB
	// list are the writes in their order, bytes has their keys and values.
	list  []write
	bytes []byte
	// unsorted is set if a key is not above the one before.
	unsorted bool
	// dead are ranges that were removed, and before how many writes each was
	// preceded by.
	dead   []span
	before []int32
}

// write is one write of a batch: the key ends where the value begins.
type write struct {
	from, key, to uint32
	kind          kind
}

// NewBatch starts a batch.
func (db *DB) NewBatch() *Batch { return &Batch{db: db} }

// NewBatchOf starts a batch of so many entries, whose keys and values have some bytes
// in all.
func (db *DB) NewBatchOf(entries, bytes int) *Batch {
	return &Batch{db: db, list: make([]write, 0, entries), bytes: make([]byte, 0, bytes)}
}

// Set stores a value.
func (b *Batch) Set(key, value []byte) { b.put(key, value, set) }

// Delete removes a key.
func (b *Batch) Delete(key []byte) { b.put(key, nil, remove) }

// DeleteRange removes the keys in [from, to).
func (b *Batch) DeleteRange(from, to []byte) {
	b.dead = append(b.dead, span{bytes.Clone(from), bytes.Clone(to)})
	b.before = append(b.before, int32(len(b.list)))
}

// Add adds n to the count that is stored under key, 0 if there is none.
func (b *Batch) Add(key []byte, n int64) {
	var buf [10]byte
	b.put(key, AppendCount(buf[:0], n), add)
}

func (b *Batch) put(key, value []byte, k kind) {
	w := write{from: uint32(len(b.bytes)), kind: k}
	b.bytes = append(b.bytes, key...)
	w.key = uint32(len(b.bytes))
	b.bytes = append(b.bytes, value...)
	w.to = uint32(len(b.bytes))
	if n := len(b.list); n > 0 && !b.unsorted {
		b.unsorted = bytes.Compare(b.keyOf(b.list[n-1]), key) >= 0
	}
	b.list = append(b.list, w)
}

func (b *Batch) keyOf(w write) []byte { return b.bytes[w.from:w.key] }

// Size is the number of bytes in the batch.
func (b *Batch) Size() int {
	n := len(b.bytes)
	for _, s := range b.dead {
		n += len(s.from) + len(s.to)
	}
	return n
}

// Commit makes the writes, and waits if more than two memtables of them are on
// their way to the disk.
func (b *Batch) Commit() error {
	db := b.db
	if err := db.check(); err != nil {
		return err
	}
	r, err := b.run()
	if err != nil {
		return db.explain("write", err)
	}
	if r == nil {
		return nil
	}
	return db.push(r)
}

// run makes a sorted run of the writes, nil if there are none.
func (b *Batch) run() (*run, error) {
	b.bury()
	if b.unsorted {
		b.sort()
	}
	dead := normal(b.dead)
	if len(b.list) == 0 {
		if len(dead) == 0 {
			return nil, nil
		}
		r := newRun(nil, dead)
		r.fresh = true
		return r, nil
	}
	w := b.db.memWriter()
	for i := 0; i < len(b.list); {
		first := b.list[i]
		n := 1
		for i+n < len(b.list) && b.unsorted && bytes.Equal(b.keyOf(b.list[i+n]), b.keyOf(first)) {
			n++
		}
		value, k, err := b.foldOf(b.list[i : i+n])
		if err != nil {
			return nil, err
		}
		if err := w.add(b.keyOf(first), value, k); err != nil {
			return nil, err
		}
		i += n
	}
	t, err := w.inMemory(b.db)
	if err != nil {
		return nil, err
	}
	return newRun([]*table{t}, dead), nil
}

// foldOf is what writes of one key come to, which are newest first.
func (b *Batch) foldOf(list []write) (value []byte, k kind, err error) {
	if len(list) == 1 {
		w := list[0]
		return b.bytes[w.key:w.to], w.kind, nil
	}
	var f fold
	for _, w := range list {
		if more, err := f.take(b.bytes[w.key:w.to], w.kind); err != nil || !more {
			return f.value, f.kind, err
		}
	}
	f.end(false)
	return f.value, f.kind, nil
}

// bury drops the writes that a range has removed after them.
func (b *Batch) bury() {
	if len(b.dead) == 0 || len(b.list) == 0 || b.before[len(b.before)-1] == 0 {
		return
	}
	kept := b.list[:0]
	at := 0
	later := make([]spans, 0, len(b.dead)) // what is removed from the i-th range on
	var all spans
	for i := range slices.Backward(b.dead) {
		all = all.with(spans{b.dead[i]})
		later = append(later, all)
	}
	for i, w := range b.list {
		for at < len(b.before) && int(b.before[at]) <= i {
			at++
		}
		if at < len(b.before) && later[len(later)-1-at].covers(b.keyOf(w)) {
			continue
		}
		kept = append(kept, w)
	}
	b.list = kept
}

// sort sorts the writes by key, newest first.
func (b *Batch) sort() {
	slices.Reverse(b.list)
	slices.SortStableFunc(b.list, func(x, y write) int { return bytes.Compare(b.keyOf(x), b.keyOf(y)) })
}
