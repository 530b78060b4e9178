package checksum

import (
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/cespare/xxhash/v2"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/types"
)

// writer sums up the rows of one subtask.
type writer struct {
	sink                 *sink
	subtask, parallelism int
	totals               totals
	last                 map[string]uint64 // hash of the last row of each key; nil if the sink has no key
	ended, told          bool

	view  rowView
	text  []byte
	lines []byte // in mode print
	key   []byte
}

// Write implements connector.Writer.
func (w *writer) Write(b *batch.Batch) error {
	if !w.sink.hashes() {
		w.count(b)
		if w.sink.mode == modeLatency {
			w.latency(b)
		}
		return nil
	}
	w.view.set(w.sink.cells, b)
	w.lines = w.lines[:0]
	for row := range b.Rows() {
		i := b.At(row)
		var err error
		if w.text, err = w.view.appendRow(w.text[:0], i); err != nil {
			return fmt.Errorf("table %s: %w", w.sink.table, err)
		}
		kind := b.Kind(i)
		w.row(kind, b, i, xxhash.Sum64(w.text))
		if w.sink.mode == modePrint {
			w.lines = append(append(w.lines, kind.String()...), '|')
			w.lines = append(append(w.lines, w.text...), '\n')
		}
	}
	if len(w.lines) > 0 {
		return w.sink.print(w.lines)
	}
	return nil
}

func (w *writer) count(b *batch.Batch) {
	if b.Kinds == nil {
		w.totals.kinds[types.Insert] += int64(b.Rows())
		w.totals.net += int64(b.Rows())
		return
	}
	for row := range b.Rows() {
		kind := b.Kinds[b.At(row)]
		w.totals.kinds[kind]++
		if kind.IsAdd() {
			w.totals.net++
		} else {
			w.totals.net--
		}
	}
}

func (w *writer) row(kind types.RowKind, b *batch.Batch, i int, hash uint64) {
	t := &w.totals
	t.kinds[kind]++
	if w.last != nil {
		w.keyed(kind, b, i, hash)
		return
	}
	if kind.IsAdd() {
		t.net, t.sum = t.net+1, t.sum+hash
	} else {
		t.net, t.sum = t.net-1, t.sum-hash
	}
}

// keyed lets a row take the place of the last one of its key, whether or not that one was taken back.
func (w *writer) keyed(kind types.RowKind, b *batch.Batch, i int, hash uint64) {
	w.key = w.key[:0]
	for _, k := range w.sink.keys {
		v := b.Cols[k].(*batch.Fixed[int64])
		if v.Valid.IsNull(i) {
			w.key = append(w.key, 0)
			continue
		}
		w.key = binary.LittleEndian.AppendUint64(append(w.key, 1), uint64(v.Values[i]))
	}
	t := &w.totals
	if old, ok := w.last[string(w.key)]; ok {
		t.net, t.sum = t.net-1, t.sum-old
	}
	if kind.IsAdd() {
		w.last[string(w.key)] = hash
		t.net, t.sum = t.net+1, t.sum+hash
	} else {
		delete(w.last, string(w.key))
	}
}

// Barrier implements connector.Writer.
func (w *writer) Barrier(_ int64, last bool) ([]byte, error) {
	w.ended = w.ended || last
	return w.snapshot(), nil
}

// Committed implements connector.Writer. The line is printed when the end is durable: a job that crashes before goes
// on from an earlier checkpoint.
func (w *writer) Committed(int64) error {
	if !w.ended || w.told {
		return nil
	}
	w.told = true
	return w.sink.finish(w.subtask, w.parallelism, w.totals)
}

// Close implements connector.Writer.
func (w *writer) Close() error { return nil }

const snapshotVersion = 1

// snapshot is the version, the parallelism, the totals, and the last rows: their number, then key and hash of each.
// All numbers are uvarints, but for hashes.
func (w *writer) snapshot() []byte {
	s := binary.AppendUvarint([]byte{snapshotVersion}, uint64(w.parallelism))
	for _, n := range w.totals.kinds {
		s = binary.AppendUvarint(s, uint64(n))
	}
	s = binary.AppendVarint(s, w.totals.net)
	s = binary.LittleEndian.AppendUint64(s, w.totals.sum)
	s = binary.AppendUvarint(s, uint64(len(w.last)))
	for _, key := range slices.Sorted(maps.Keys(w.last)) {
		s = append(binary.AppendUvarint(s, uint64(len(key))), key...)
		s = binary.LittleEndian.AppendUint64(s, w.last[key])
	}
	return s
}

var errDamaged = errors.New("the saved state of the connector checksum is damaged, or from another version")

// restore adds a snapshot to what the writer has.
func (w *writer) restore(state []byte) error {
	r := stateReader{left: state}
	if r.byte() != snapshotVersion {
		return errDamaged
	}
	parallelism := r.uvarint()
	var t totals
	for k := range t.kinds {
		t.kinds[k] = int64(r.uvarint())
	}
	t.net = r.varint()
	t.sum = r.fixed()
	entries := r.uvarint()
	if w.last != nil && parallelism != uint64(w.parallelism) {
		return fmt.Errorf("a checksum with a 'key' cannot go on at parallelism %d after a checkpoint at %d, as it knows the rows of its keys; "+
			"restore at parallelism %d, or start anew", w.parallelism, parallelism, parallelism)
	}
	if entries > 0 && w.last == nil {
		return errors.New("the table had a 'key' when the checkpoint was taken, and has none now; set it again, or start anew")
	}
	for range entries {
		key := r.bytes(r.uvarint())
		hash := r.fixed()
		if r.failed {
			break
		}
		w.last[string(key)] = hash
	}
	if r.failed || len(r.left) > 0 {
		return errDamaged
	}
	w.totals.add(t)
	return nil
}

// stateReader takes a snapshot apart. Once it has failed it gives zeros.
type stateReader struct {
	left   []byte
	failed bool
}

func (r *stateReader) bytes(n uint64) []byte {
	if n > uint64(len(r.left)) {
		r.failed, r.left = true, nil
		return nil
	}
	b := r.left[:n]
	r.left = r.left[n:]
	return b
}

func (r *stateReader) byte() byte {
	if b := r.bytes(1); b != nil {
		return b[0]
	}
	return 0
}

func (r *stateReader) fixed() uint64 {
	if b := r.bytes(8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

func (r *stateReader) uvarint() uint64 {
	v, n := binary.Uvarint(r.left)
	r.bytes(width(n))
	return v
}

func (r *stateReader) varint() int64 {
	v, n := binary.Varint(r.left)
	r.bytes(width(n))
	return v
}

// width is the number of bytes of a varint, or more than there are if binary could not read it.
func width(n int) uint64 {
	if n <= 0 {
		return 1 << 62
	}
	return uint64(n)
}
