package state

import (
	"errors"
	"fmt"
	"slices"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/internal/vfs"
	"github.com/millstream-io/millstream/types"
)

// Inspect calls f with the rows of a part, of all tables, by key group: the
// number of the table, and the row as TableInfo.Decode takes it. dir is for files
// while it runs: links, if it is on the file system of the part.
func Inspect(fsys vfs.FS, dir string, p Part, f func(table uint16, key, value []byte) error) (err error) {
	if err := p.check(); err != nil {
		return err
	}
	db, err := Open(Config{Name: "the inspection", Parallelism: 1, Backend: Disk, FS: fsys, Dir: dir, Scratch: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	return p.each(db, fsys.PathJoin(dir, "part"), func(key, value []byte) error {
		if len(key) < rowKeyHead {
			return fmt.Errorf("the snapshot has a row with a key of %d bytes", len(key))
		}
		if table := tableOf(key); table != 0 {
			return f(table, key, value)
		}
		return nil
	})
}

// Rows are rows of a saved table in columns.
type Rows struct {
	// Namespaces are those of the rows; Written is when they were last written, in
	// ms since the epoch, nil for tables without a time to live.
	Namespaces []int64
	Written    []int64
	Keys, Vals []batch.Vector
}

// Types are the types of the keys and values.
func (t TableInfo) Types() (keys, vals []types.Type, err error) {
	if keys, err = parseTypes(t.Key); err == nil {
		vals, err = parseTypes(t.Value)
	}
	return keys, vals, err
}

// Decode decodes rows of the table. A row that was written in parts, which are
// merged when they are used, is as many rows.
func (t TableInfo) Decode(keys, values [][]byte) (*Rows, error) {
	spec := Spec{Name: t.Name, ByTask: t.ByTask}
	var err error
	if spec.Key, spec.Value, err = t.Types(); err != nil {
		return nil, err
	}
	if t.TTL {
		spec.TTL = 1
	}
	if t.Parts > 0 {
		spec.Merge = func([]batch.Column, []int32, []int32) error { return nil }
	}
	table := newTable(&DB{cfg: Config{Name: "the inspection", Parallelism: 1}}, spec, t.ID)
	l := table.newLoader()
	out := &Rows{}
	for i, key := range keys {
		if err := l.add(slices.Clone(key), values[i]); err != nil {
			return nil, err
		}
		out.Namespaces = append(out.Namespaces, nsOf(key))
	}
	out.Keys = l.keys
	vals := l.vals
	if t.TTL {
		out.Written, vals = vals[0].(*batch.Fixed[int64]).Values, vals[1:]
	}
	for i, v := range vals {
		if typ := spec.Value[i]; typ.IsNested() {
			if v, err = unpack(v.(*batch.Bytes), typ); err != nil {
				return nil, err
			}
		}
		out.Vals = append(out.Vals, v)
	}
	return out, nil
}

// unpack makes a vector of nested values in their binary form.
func unpack(raw *batch.Bytes, typ types.Type) (batch.Vector, error) {
	out := batch.New(typ, raw.Len())
	for i := range raw.Len() {
		if raw.Valid.IsNull(i) {
			out.AppendNull()
			continue
		}
		if rest, err := batch.DecodeValue(out, raw.At(i)); err != nil || len(rest) > 0 {
			return nil, batch.ErrEncoding
		}
	}
	return out, nil
}
