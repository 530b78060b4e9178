package lsm

import (
	"bytes"

	"github.com/cockroachdb/pebble/v2"
)

// Reader sees the map as it was when the reader was made.
type Reader struct {
	db *DB
	it *pebble.Iterator
}

// NewReader returns a reader; it must be closed before the DB is.
func (db *DB) NewReader() (*Reader, error) {
	if err := db.get(); err != nil {
		return nil, db.explain("read", err)
	}
	it, err := db.p.NewIter(nil)
	if err != nil {
		return nil, db.explain("read", err)
	}
	return &Reader{db, it}, nil
}

// Get returns the value of a key, which is good until the next call. Ascending
// keys are found fastest.
func (r *Reader) Get(key []byte) (value []byte, ok bool, err error) {
	if !r.it.SeekPrefixGE(key) || !bytes.Equal(r.it.Key(), key) {
		return nil, false, r.error()
	}
	value, err = r.it.ValueAndErr()
	if err != nil {
		return nil, false, r.db.explain("read", err)
	}
	return value, true, nil
}

// Range calls f with the entries in [from, to), in order, until it returns
// false. The bytes are good during the call only.
func (r *Reader) Range(from, to []byte, f func(key, value []byte) (more bool, err error)) error {
	for ok := r.it.SeekGE(from); ok && bytes.Compare(r.it.Key(), to) < 0; ok = r.it.Next() {
		value, err := r.it.ValueAndErr()
		if err != nil {
			return r.db.explain("read", err)
		}
		if more, err := f(r.it.Key(), value); err != nil || !more {
			return err
		}
	}
	return r.error()
}

// RangeBack is Range in the opposite order.
func (r *Reader) RangeBack(from, to []byte, f func(key, value []byte) (more bool, err error)) error {
	for ok := r.it.SeekLT(to); ok && bytes.Compare(r.it.Key(), from) >= 0; ok = r.it.Prev() {
		value, err := r.it.ValueAndErr()
		if err != nil {
			return r.db.explain("read", err)
		}
		if more, err := f(r.it.Key(), value); err != nil || !more {
			return err
		}
	}
	return r.error()
}

func (r *Reader) error() error {
	if err := r.it.Error(); err != nil {
		return r.db.explain("read", err)
	}
	return nil
}

// Close ends the reader.
func (r *Reader) Close() error {
	if err := r.it.Close(); err != nil {
		return r.db.explain("read", err)
	}
	return nil
}
