package lsm

import "bytes"

// Reader sees the map as it was when the reader was made. It is used by one goroutine
// at a time.
type Reader struct {
	db *DB
	v  *version
	// point are the cursors for Get, of the runs of v; all are those for ranges.
	point []*cursor
	all   *merged
}

// NewReader returns a reader; it must be closed before the DB is.
func (db *DB) NewReader() (*Reader, error) {
	if err := db.get(); err != nil {
		return nil, db.explain("read", err)
	}
	return &Reader{db: db, v: db.acquire()}, nil
}

// Get returns the value of a key, which is good until the next call. Ascending
// keys are found fastest.
func (r *Reader) Get(key []byte) (value []byte, ok bool, err error) {
	if value, ok, err = r.get(key); err != nil {
		err = r.db.explain("read", err)
	}
	return value, ok, err
}

func (r *Reader) get(key []byte) (value []byte, ok bool, err error) {
	if r.point == nil {
		r.point = r.db.cursors(r.v, 0)
	}
	var f fold
	var hash uint32
	hashed := false
	for i, run := range r.v.runs {
		if r.v.killed[i].covers(key) {
			break
		}
		at := run.find(key)
		if at == len(run.tables) || bytes.Compare(run.tables[at].first, key) > 0 {
			continue
		}
		t := run.tables[at]
		m, err := t.index()
		if err != nil {
			return nil, false, err
		}
		if len(m.filter) > 0 {
			if !hashed {
				hash, hashed = keyHash(key), true
			}
			if !m.filter.mayHave(hash) {
				continue
			}
		}
		value, k, found, err := r.point[i].get(t, m, key)
		if err != nil {
			return nil, false, err
		}
		if !found {
			continue
		}
		if more, err := f.take(value, k); err != nil || !more {
			return f.value, f.kind == set, err
		}
	}
	if f.adding {
		f.end(true)
	}
	return f.value, f.adding, nil
}

// get looks for a key in a table of the cursor's run.
func (c *cursor) get(t *table, m *meta, key []byte) (value []byte, k kind, found bool, err error) {
	if err := c.load(t, m, m.find(key)); err != nil {
		return nil, 0, false, err
	}
	rest, begins := bytes.CutPrefix(key, c.block.prefix)
	at := c.block.search(key)
	if !begins || at == c.block.n {
		return nil, 0, false, nil
	}
	own, value, k := c.block.entry(at)
	return value, k, bytes.Equal(own, rest), nil
}

// Range calls f with the entries in [from, to), in order, until it returns
// false. The bytes are good during the call only.
func (r *Reader) Range(from, to []byte, f func(key, value []byte) (more bool, err error)) error {
	m := r.ranges()
	for m.seek(from); m.ok && bytes.Compare(m.key, to) < 0; m.next() {
		if more, err := f(m.key, m.fold.value); err != nil || !more {
			return err
		}
	}
	return r.error()
}

// RangeBack is Range in the opposite order.
func (r *Reader) RangeBack(from, to []byte, f func(key, value []byte) (more bool, err error)) error {
	m := r.ranges()
	for m.seekBelow(to); m.ok && bytes.Compare(m.key, from) >= 0; m.next() {
		if more, err := f(m.key, m.fold.value); err != nil || !more {
			return err
		}
	}
	return r.error()
}

func (r *Reader) ranges() *merged {
	if r.all == nil {
		r.all = &merged{cursors: r.db.cursors(r.v, r.db.ahead(len(r.v.runs))), known: true}
	}
	return r.all
}

func (r *Reader) error() error {
	if r.all.err != nil {
		return r.db.explain("read", r.all.err)
	}
	return nil
}

// Close ends the reader.
func (r *Reader) Close() error {
	r.db.release(r.point)
	if r.all != nil {
		r.db.release(r.all.cursors)
	}
	r.v.drop()
	return r.db.check()
}
