package state

import (
	"encoding/binary"
	"maps"
	"slices"

	"github.com/millstream-io/millstream/internal/state/lsm"
)

// The directory of a table says which namespaces have rows on disk, how many, and
// in which key groups. The tree has it, an entry in each key group, for those who
// take only some of them. Finding these means looking into most files of a large
// tree; so a snapshot also has the whole of it, unless it is long, and a DB that
// takes the snapshot as it is reads nothing of the tree when it starts.

// maxListed is the number of namespaces up to which a snapshot lists them.
const maxListed = 1 << 10

// directory is that of a table as a snapshot has it, by namespace.
type directory map[int64]*listedSpace

type listedSpace struct {
	rows   int64
	groups [2]uint64
}

// listedSize is the size of an entry in bytes: namespace, rows, key groups.
const listedSize = 8 + 8 + 16

// directory returns what is in the table now, but for the key groups of rows that
// are not on disk yet; nil if it is long.
func (t *table) directory() directory {
	if len(t.byNS) > maxListed {
		return nil
	}
	d := make(directory, len(t.byNS))
	for ns, s := range t.byNS {
		if n := int64(s.rows) + s.cold; n > 0 {
			d[ns] = &listedSpace{n, s.groups}
		}
	}
	return d
}

// note adds the key group of an entry that is written.
func (d directory) note(dirKey []byte) {
	if s := d[nsOf(dirKey[2:])]; s != nil {
		setGroup(&s.groups, int(dirKey[0]))
	}
}

// encode gives the bytes in a snapshot's Info.
func (d directory) encode() []byte {
	out := make([]byte, 0, len(d)*listedSize)
	for _, ns := range slices.Sorted(maps.Keys(d)) {
		s := d[ns]
		for _, v := range [...]uint64{uint64(ns), uint64(s.rows), s.groups[0], s.groups[1]} {
			out = binary.BigEndian.AppendUint64(out, v)
		}
	}
	return out
}

// takeDirectory is readDirectory from what a snapshot has listed.
func (t *table) takeDirectory(list []byte) {
	for ; len(list) >= listedSize; list = list[listedSize:] {
		at := func(i int) uint64 { return binary.BigEndian.Uint64(list[8*i:]) }
		s := t.space(int64(at(0)))
		s.cold, s.groups = int64(at(1)), [2]uint64{at(2), at(3)}
		s.listed()
	}
}

// readDirectory learns which namespaces of a restored table are on disk.
func (t *table) readDirectory() (err error) {
	lo, hi := t.db.keyGroups()
	if t.spec.ByTask {
		lo, hi = taskGroup, taskGroup+1
	}
	r, err := t.db.reader()
	if err != nil {
		return err
	}
	for g := lo; g < hi && err == nil; g++ {
		from := append([]byte{byte(g), 0, 0}, byte(t.format.id>>8), byte(t.format.id))
		err = r.Range(from, after(from), func(key, value []byte) (bool, error) {
			n, err := lsm.Count(value)
			if err == nil && n > 0 {
				s := t.space(nsOf(key[2:]))
				s.cold += n
				setGroup(&s.groups, g)
				s.listed()
			}
			return true, err
		})
	}
	return err
}
