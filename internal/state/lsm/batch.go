package lsm

import (
	"github.com/cockroachdb/pebble/v2"
)

// Batch is a set of writes that are made together, in order. Commit ends it.
type Batch struct {
	db *DB
	b  *pebble.Batch
	// err is the first error; Pebble's batches only fail if they are misused.
	err error
}

// NewBatch starts a batch.
func (db *DB) NewBatch() *Batch { return &Batch{db: db, b: db.p.NewBatch()} }

// NewBatchOf starts a batch of so many entries, whose keys and values have some bytes
// in all.
func (db *DB) NewBatchOf(entries, bytes int) *Batch {
	const head, each = 12, 1 + 2 + 2 // the kind of an entry, and mostly the lengths of key and value
	return &Batch{db: db, b: db.p.NewBatchWithSize(head + bytes + each*entries)}
}

// Set stores a value.
func (b *Batch) Set(key, value []byte) { b.note(b.b.Set(key, value, nil)) }

// Delete removes a key.
func (b *Batch) Delete(key []byte) { b.note(b.b.Delete(key, nil)) }

// DeleteRange removes the keys in [from, to).
func (b *Batch) DeleteRange(from, to []byte) { b.note(b.b.DeleteRange(from, to, nil)) }

// Add adds n to the count that is stored under key, 0 if there is none.
func (b *Batch) Add(key []byte, n int64) { b.note(b.b.Merge(key, AppendCount(nil, n), nil)) }

func (b *Batch) note(err error) {
	if b.err == nil {
		b.err = err
	}
}

// Size is the number of bytes in the batch.
func (b *Batch) Size() int { return b.b.Len() }

// Commit makes the writes, and waits if more than two memtables of them are on
// their way to the disk.
func (b *Batch) Commit() error {
	db := b.db
	err := db.get()
	if err == nil {
		err = b.err
	}
	size := b.b.Len()
	if err == nil {
		err = b.b.Commit(pebble.NoSync)
	}
	if cerr := b.b.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return db.explain("write", err)
	}
	if db.unflushed += size; db.unflushed < db.memTable {
		return nil
	}
	if db.flushing != nil {
		if err := db.wait(db.flushing); err != nil {
			return err
		}
	}
	db.unflushed = 0
	if db.flushing, err = db.p.AsyncFlush(); err != nil {
		return db.explain("flush", err)
	}
	return nil
}
