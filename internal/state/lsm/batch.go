package lsm

import (
	"bytes"
	"fmt"
	"slices"
)

// maxBatch bounds the bytes of a batch, since places in it have 32 bits, as have those in
// the table that it becomes.
const maxBatch = 1<<31 - 1

// Batch is a set of writes that are made together, in order. Commit ends it. Keys that
// come in ascending order cost least.
type Batch struct {
	db *DB
	// list are the writes whose keys are above those before them, rest the others;
	// bytes has their keys and values, and writes is their number.
	list, rest []write
	bytes      []byte
	writes     int32
	// full is set if there was no room for a write.
	full bool
	// dead are ranges that were removed, and before how many writes each was
	// preceded by.
	dead   []span
	before []int32
}

// write is the at-th write of a batch: the key ends where the value begins.
type write struct {
	from, key, to uint32
	at            int32
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
	if bytes.Compare(from, to) >= 0 {
		return
	}
	b.dead = append(b.dead, span{bytes.Clone(from), bytes.Clone(to)})
	b.before = append(b.before, b.writes)
}

// Add adds n to the count that is stored under key, 0 if there is none.
func (b *Batch) Add(key []byte, n int64) {
	var buf [10]byte
	b.put(key, AppendCount(buf[:0], n), add)
}

func (b *Batch) put(key, value []byte, k kind) {
	if b.full = b.full || !fits(len(b.bytes), len(key)+len(value)); b.full {
		return
	}
	w := write{from: uint32(len(b.bytes)), at: b.writes, kind: k}
	b.bytes = append(b.bytes, key...)
	w.key = uint32(len(b.bytes))
	b.bytes = append(b.bytes, value...)
	w.to = uint32(len(b.bytes))
	b.writes++
	if n := len(b.list); n > 0 && bytes.Compare(b.keyOf(b.list[n-1]), key) >= 0 {
		b.rest = append(b.rest, w)
		return
	}
	b.list = append(b.list, w)
}

// fits reports whether a batch of so many bytes may have so many more.
func fits(bytes, more int) bool { return more <= maxBatch-bytes }

func (b *Batch) keyOf(w write) []byte { return b.bytes[w.from:w.key] }

// Size is the number of bytes in the batch.
func (b *Batch) Size() int {
	n := len(b.bytes)
	for _, s := range b.dead {
		n += len(s.from) + len(s.to)
	}
	return n
}

// Commit makes the writes, if they are not more than 2 GB, and waits if more than two memtables of them are on
// their way to the disk.
func (b *Batch) Commit() error {
	db := b.db
	if err := db.check(); err != nil {
		return err
	}
	if b.full {
		return db.explain("write", fmt.Errorf("what is to be written at a time has more than %d bytes", maxBatch))
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
	dead := normal(b.dead)
	if len(b.list) == 0 && len(b.rest) == 0 {
		if len(dead) == 0 {
			return nil, nil
		}
		r := newRun(nil, dead)
		r.fresh = true
		return r, nil
	}
	// Blocks leave out what keys have in common.
	w := b.db.memWriter(int(b.writes), len(b.bytes)/4*3)
	if err := b.each(w.add); err != nil {
		return nil, err
	}
	t, err := w.inMemory(b.db)
	if err != nil {
		return nil, err
	}
	return newRun([]*table{t}, dead), nil
}

// each calls f with what the writes of each key come to, in order.
func (b *Batch) each(f func(key, value []byte, k kind) error) error {
	// Newest first. What is in rest is newer than what is in list under the same key.
	slices.Reverse(b.rest)
	slices.SortStableFunc(b.rest, func(x, y write) int { return bytes.Compare(b.keyOf(x), b.keyOf(y)) })
	list, rest := b.list, b.rest
	var same []write
	for len(list) > 0 || len(rest) > 0 {
		order := 1
		if len(rest) == 0 {
			order = -1
		} else if len(list) > 0 {
			order = bytes.Compare(b.keyOf(list[0]), b.keyOf(rest[0]))
		}
		same = same[:0]
		for order >= 0 && len(rest) > 0 && (len(same) == 0 || bytes.Equal(b.keyOf(rest[0]), b.keyOf(same[0]))) {
			same, rest = append(same, rest[0]), rest[1:]
		}
		if order <= 0 {
			same, list = append(same, list[0]), list[1:]
		}
		value, k, err := b.foldOf(same)
		if err == nil {
			err = f(b.keyOf(same[0]), value, k)
		}
		if err != nil {
			return err
		}
	}
	return nil
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
	if len(b.dead) == 0 || b.before[len(b.before)-1] == 0 {
		return
	}
	removed := unions(b.dead)
	gone := func(w write) bool {
		i, _ := slices.BinarySearch(b.before, w.at+1)
		return removed.from(i, b.keyOf(w))
	}
	b.list, b.rest = slices.DeleteFunc(b.list, gone), slices.DeleteFunc(b.rest, gone)
}

// unionTree has spans, what each two of them come to, each four, and so on: what all
// from one on come to would take memory with the square of their number.
type unionTree [][]spans

func unions(list []span) unionTree {
	level := make([]spans, len(list))
	for i, s := range list {
		level[i] = spans{s}
	}
	tree := unionTree{level}
	for len(level) > 1 {
		var next []spans
		for two := range slices.Chunk(level, 2) {
			next = append(next, two[0].with(two[len(two)-1]))
		}
		tree, level = append(tree, next), next
	}
	return tree
}

// from reports whether a key is in one of the spans from the i-th on.
func (t unionTree) from(i int, key []byte) bool {
	for _, level := range t {
		if i >= len(level) {
			break
		}
		// What is from an odd one on is that, and what is from the next pair on.
		if i%2 == 1 || len(level) == 1 {
			if level[i].covers(key) {
				return true
			}
			i++
		}
		i /= 2
	}
	return false
}
