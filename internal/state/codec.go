package state

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/types"
)

// On disk a row's key is
//
//	key group (1 byte), table (2), namespace (8, ordered), key columns (batch.AppendKey)
//
// and, where it is one of several partials of its key, its number among them (4,
// from 1). Its value is a bitmap of the columns that are not null, then these columns
// (batch.AppendValue; strings and nested values as their bytes with a length).
// Table 0 is the directory: under key group, 0, table, namespace it has the
// number of rows there. All of it is part of the format of checkpoints.
const (
	rowKeyHead = 1 + 2 + 8
	// taskGroup is the key group of tables that are kept by task.
	taskGroup = batch.KeyGroups
)

func appendPrefix(buf []byte, group int, table uint16, ns int64) []byte {
	buf = append(buf, byte(group))
	buf = binary.BigEndian.AppendUint16(buf, table)
	return binary.BigEndian.AppendUint64(buf, uint64(ns)^1<<63)
}

// appendDirKey appends the key of the directory's entry for the namespace that
// a row's key begins with.
func appendDirKey(buf, rowKey []byte) []byte {
	buf = append(buf, rowKey[0], 0, 0)
	return append(buf, rowKey[1:rowKeyHead]...)
}

// tableOf is the number of the table of a row's key, nsOf the namespace.
func tableOf(rowKey []byte) uint16 { return binary.BigEndian.Uint16(rowKey[1:]) }

func nsOf(rowKey []byte) int64 { return int64(binary.BigEndian.Uint64(rowKey[3:]) ^ 1<<63) }

// after returns the first key behind all that begin with prefix.
func after(prefix []byte) []byte {
	out := slices.Clone(prefix)
	for i := len(out) - 1; ; i-- {
		out[i]++
		if out[i] != 0 {
			return out[:i+1]
		}
	}
}

// rowFormat is what the disk keys of a table's rows depend on.
type rowFormat struct {
	// id names the table on disk, from 1.
	id     uint16
	byTask bool
}

// appendKey adds the disk key of a row to the list.
func (f rowFormat) appendKey(l *keyList, ns int64, group uint8, cols []batch.Vector, row int) {
	g := int(group)
	if f.byTask {
		g = taskGroup
	}
	l.buf = appendPrefix(l.buf, g, f.id, ns)
	for _, c := range cols {
		l.buf = batch.AppendKey(l.buf, c, row)
	}
	l.close()
}

// partSize is the length of a part's number in a key; number 0 takes none.
const partSize = 4

// appendPart adds the disk key of a row that may be a partial.
func (f rowFormat) appendPart(l *keyList, ns int64, group uint8, cols []batch.Vector, row int, part uint32) {
	f.appendKey(l, ns, group, cols, row)
	if part > 0 {
		l.buf = binary.BigEndian.AppendUint32(l.buf, part)
		l.ends[len(l.ends)-1] = uint32(len(l.buf))
	}
}

// setGroup notes in a set that a key group is in it, eachGroup lists them.
func setGroup(set *[2]uint64, g int) { set[g>>6&1] |= 1 << (g & 63) }

func (f rowFormat) eachGroup(set [2]uint64, do func(g int)) {
	if f.byTask {
		if set != [2]uint64{} {
			do(taskGroup)
		}
		return
	}
	for g := range batch.KeyGroups {
		if set[g>>6]&(1<<(g&63)) != 0 {
			do(g)
		}
	}
}

// keyList is a list of byte strings in one piece of memory.
type keyList struct {
	buf  []byte
	ends []uint32
}

func (l *keyList) reset()   { l.buf, l.ends = l.buf[:0], l.ends[:0] }
func (l *keyList) len() int { return len(l.ends) }
func (l *keyList) close()   { l.ends = append(l.ends, uint32(len(l.buf))) }

func (l *keyList) add(b []byte) {
	l.buf = append(l.buf, b...)
	l.close()
}

func (l *keyList) at(i int) []byte {
	if i == 0 {
		return l.buf[:l.ends[0]]
	}
	return l.buf[l.ends[i-1]:l.ends[i]]
}

// keyHead has eight bytes of a key, by which most are told apart: those behind the
// first, which heads sorts by, and what all have in common.
type keyHead struct {
	bytes uint64
	at    int32
}

// heads returns the heads of the keys, which are not empty, by their first byte, in
// the memory of buf. ends are where those of each byte end.
func (l *keyList) heads(buf []keyHead, ends *[1 << 8]int) []keyHead {
	heads := slices.Grow(buf[:0], l.len())[:l.len()]
	for i := range heads {
		ends[l.at(i)[0]]++
	}
	var next [1 << 8]int
	n := 0
	for b := range ends {
		next[b] = n
		n += ends[b]
		ends[b] = n
	}
	skip := l.common()
	for i := range heads {
		key := l.at(i)
		h := &heads[next[key[0]]]
		next[key[0]]++
		var word [8]byte
		copy(word[:], key[skip:])
		*h = keyHead{binary.BigEndian.Uint64(word[:]), int32(i)}
	}
	return heads
}

// sort sorts keys that have the same first byte.
func (l *keyList) sort(heads []keyHead) {
	slices.SortFunc(heads, func(a, b keyHead) int {
		if c := cmp.Compare(a.bytes, b.bytes); c != 0 {
			return c
		}
		return bytes.Compare(l.at(int(a.at)), l.at(int(b.at)))
	})
}

// inOrder calls f with the heads of the keys in order, those with the same first byte
// at a time. It works in the memory of buf, and returns it as it has grown.
func (l *keyList) inOrder(buf []keyHead, f func(heads []keyHead)) []keyHead {
	var ends [1 << 8]int
	heads := l.heads(buf, &ends)
	from := 0
	for _, to := range ends {
		if from < to {
			l.sort(heads[from:to])
			f(heads[from:to])
		}
		from = to
	}
	return heads
}

// sorted returns the indexes of the list in the order of the strings, which are not
// empty.
func (l *keyList) sorted() []int32 {
	order := make([]int32, 0, l.len())
	l.inOrder(nil, func(heads []keyHead) {
		for _, h := range heads {
			order = append(order, h.at)
		}
	})
	return order
}

// common is the number of leading bytes, 1 at least, that all strings have in
// common behind the first byte, and no string ends before.
func (l *keyList) common() int {
	if l.len() == 0 || len(l.at(0)) == 0 {
		return 1
	}
	first := l.at(0)
	n := len(first)
	for i := 1; i < l.len() && n > 1; i++ {
		key := l.at(i)
		n = min(n, len(key))
		for j := 1; j < n; j++ {
			if key[j] != first[j] {
				n = j
				break
			}
		}
	}
	return max(n, 1)
}

// frozenRows are copies of rows, to be encoded later and elsewhere.
type frozenRows struct {
	keys, vals []batch.Vector
	ns         []int64
	groups     []uint8
	// parts are the numbers of partials, nil if all are 0.
	parts []uint32
	// fresh is set for rows that the disk does not have.
	fresh []bool
}

// freeze copies rows. Strings and nested values stay in their binary form.
func (t *table) freeze(slots []int32) *frozenRows {
	n := len(slots)
	r := &frozenRows{keys: t.keyVectors(slots), ns: make([]int64, n), groups: make([]uint8, n), fresh: make([]bool, n)}
	for _, c := range t.vals {
		if b, ok := c.(*batch.BytesSlab); ok {
			r.vals = append(r.vals, b.Raw(slots))
			continue
		}
		r.vals = append(r.vals, c.Vector(slots))
	}
	for i, slot := range slots {
		r.ns[i] = t.spaces[t.meta.at(slot).owner].ns
		r.groups[i] = *t.groups.at(slot)
		r.fresh[i] = *t.flags.at(slot)&durable == 0
	}
	if t.parts != nil {
		r.parts = make([]uint32, n)
		for i, slot := range slots {
			r.parts[i] = *t.parts.at(slot)
		}
	}
	return r
}

// bytes is about what the copies take.
func (r *frozenRows) bytes() int64 {
	n := 10 * len(r.ns)
	for _, list := range [][]batch.Vector{r.keys, r.vals} {
		for _, v := range list {
			n += batch.MemSize(v)
		}
	}
	return int64(n)
}

// encoding has the disk keys and values of rows.
type encoding struct {
	keys, values keyList
	// fresh is set for rows that the disk does not have.
	fresh []bool
	// heads is scratch.
	heads []keyHead
}

// size is the number of bytes in it.
func (e *encoding) size() int { return len(e.keys.buf) + len(e.values.buf) }

// memBytes is the memory that it takes.
func (e *encoding) memBytes() int {
	return cap(e.keys.buf) + cap(e.values.buf) + 4*(cap(e.keys.ends)+cap(e.values.ends)) + cap(e.fresh) + 16*cap(e.heads)
}

func (e *encoding) reset() {
	e.keys.reset()
	e.values.reset()
	e.fresh = e.fresh[:0]
}

// add encodes rows of a table.
func (e *encoding) add(format rowFormat, r *frozenRows) {
	for i, ns := range r.ns {
		part := uint32(0)
		if r.parts != nil {
			part = r.parts[i]
		}
		format.appendPart(&e.keys, ns, r.groups[i], r.keys, i, part)
		e.values.buf = appendRow(e.values.buf, r.vals, i)
		e.values.close()
	}
	e.fresh = append(e.fresh, r.fresh...)
}

// each calls f with the rows in the order of their keys, and pause behind each key
// group.
func (e *encoding) each(pause func(), f func(fresh bool, key, value []byte)) {
	e.heads = e.keys.inOrder(e.heads, func(heads []keyHead) {
		for _, h := range heads {
			f(e.fresh[h.at], e.keys.at(int(h.at)), e.values.at(int(h.at)))
		}
		pause()
	})
}

// appendRow appends the disk value of a row.
func appendRow(buf []byte, cols []batch.Vector, row int) []byte {
	at := len(buf)
	for range (len(cols) + 7) / 8 {
		buf = append(buf, 0)
	}
	for i, c := range cols {
		if c.Validity().Get(row) {
			buf[at+i/8] |= 1 << (i % 8)
			buf = batch.AppendValue(buf, c, row)
		}
	}
	return buf
}

// loader collects rows of one table from disk.
type loader struct {
	t          *table
	keys, vals []batch.Vector
	groups     []uint64
	// Of a mergeable table: parts are the numbers of the rows, heads the indexes
	// of the first partial of each key, and last is the key of the last row.
	parts []uint32
	heads []int32
	last  []byte
	// spans are the ranges of keys that were read, by key group; see eachBatch.
	spans []keyRange
}

func (t *table) newLoader() *loader { return t.loaderOf(0) }

// loaderOf returns a loader with room for so many rows.
func (t *table) loaderOf(rows int) *loader {
	l := &loader{t: t, groups: make([]uint64, 0, rows)}
	for _, k := range t.spec.Key {
		l.keys = append(l.keys, batch.New(k, rows))
	}
	for i, v := range t.types {
		if _, ok := t.vals[i].(*batch.BytesSlab); ok {
			l.vals = append(l.vals, batch.NewBytes(v, rows, 0))
			continue
		}
		l.vals = append(l.vals, batch.New(v, rows))
	}
	if t.mergeable() {
		l.parts, l.heads = make([]uint32, 0, rows), make([]int32, 0, rows)
	}
	return l
}

// add decodes a row.
func (l *loader) add(key, value []byte) error {
	if err := l.decode(key[rowKeyHead:], value); err != nil {
		return fmt.Errorf("%s: a saved row of table %q cannot be read (key %x, value %x): %w",
			l.t.db.cfg.Name, l.t.spec.Name, key, value, err)
	}
	l.groups = append(l.groups, batch.GroupHash(int(key[0])))
	return nil
}

func (l *loader) len() int { return len(l.groups) }

func (l *loader) decode(key, value []byte) (err error) {
	row := key
	for _, c := range l.keys {
		if key, err = batch.DecodeKey(c, key); err != nil {
			return err
		}
	}
	if err := l.number(row, key); err != nil {
		return err
	}
	size := (len(l.vals) + 7) / 8
	if len(value) < size {
		return batch.ErrEncoding
	}
	valid, value := value[:size], value[size:]
	for i, c := range l.vals {
		if valid[i/8]&(1<<(i%8)) == 0 {
			c.AppendNull()
			continue
		}
		if value, err = batch.DecodeValue(c, value); err != nil {
			return err
		}
		if typ := c.Type(); typ.Phys() != types.PhysBytes {
			if err := checkNested(typ, c); err != nil {
				return err
			}
		}
	}
	if len(value) > 0 {
		return batch.ErrEncoding
	}
	return nil
}

// checkNested makes sure that the bytes of a nested value, the last of c, can
// be decoded later, when there is no way to report an error.
func checkNested(typ types.Type, c batch.Vector) error {
	b, ok := c.(*batch.Bytes)
	if !ok || len(b.At(b.Len()-1)) == 0 {
		return nil
	}
	rest, err := batch.DecodeValue(batch.New(typ, 1), b.At(b.Len()-1))
	if err == nil && len(rest) > 0 {
		err = batch.ErrEncoding
	}
	return err
}

// store puts the rows that are not in memory yet into a space and returns their
// slots.
func (l *loader) store(s *space) []int32 {
	_, fresh := l.place(s)
	return fresh
}

// place is store that returns the slots of all rows, too.
func (l *loader) place(s *space) (all, fresh []int32) {
	k := l.rowKeys()
	all = make([]int32, l.len())
	s.lookup(k, all)
	absent := make([]int32, 0, len(all))
	for i, slot := range all {
		if slot < 0 {
			absent = append(absent, int32(i))
		}
	}
	slots, fresh := l.insert(s, k, absent)
	for i, at := range absent {
		all[at] = slots[i]
	}
	return all, fresh
}

// rowKeys are the keys of all rows that were read.
func (l *loader) rowKeys() *Keys {
	n := l.len()
	return &Keys{Cols: l.keys, Hash: batch.Hash(l.keys, nil, n, nil), Group: l.groups, Rows: batch.All(n)}
}

// insert puts the rows at the given indexes, which are not in memory, into a
// space, and returns their slots. A row may have been read twice: fresh has each
// once.
func (l *loader) insert(s *space, k *Keys, at []int32) (slots, fresh []int32) {
	t := l.t
	k.Rows = at
	slots = make([]int32, len(at))
	t.newFlags = live | durable
	for _, i := range s.upsert(k, slots) {
		fresh = append(fresh, slots[i])
	}
	t.newFlags = t.db.newFlags()
	for i, c := range t.vals {
		c.Set(slots, l.vals[i], at)
	}
	t.touch(fresh)
	return slots, fresh
}
