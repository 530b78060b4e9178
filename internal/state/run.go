package state

import (
	"encoding/binary"
	"errors"
	"slices"

	"github.com/zeebo/xxh3"

	"github.com/millstream-io/millstream/internal/vfs"
)

// A run file has all rows of a DB, in the order of their keys:
//
//	runMagic, then for each row the lengths of key and value (varints) and both,
//	then the number of rows (8 bytes) and the xxh3 hash of all before (8 bytes)
const (
	runMagic = "MSRUN01\n"
	runName  = "rows.run"
	runTail  = 16
)

var errRun = errors.New("its rows cannot be told apart")

// freezeAll copies all rows.
func (db *DB) freezeAll() []tableChanges {
	var out []tableChanges
	for _, t := range db.tables {
		var slots []int32
		for _, s := range t.spaces {
			if s != nil {
				slots = append(slots, s.slots()...)
			}
		}
		c := tableChanges{format: t.format}
		for part := range slices.Chunk(slots, flushRows) {
			c.rows = append(c.rows, t.freeze(part))
		}
		out = append(out, c)
	}
	return out
}

// runFile returns the content of a run file of rows.
func runFile(tables []tableChanges) []byte {
	var e encoding
	for _, t := range tables {
		for _, rows := range t.rows {
			e.add(t.format, rows)
		}
	}
	out := []byte(runMagic)
	e.each(func() {}, func(_ bool, key, value []byte) { out = appendBytes(appendBytes(out, key), value) })
	out = binary.LittleEndian.AppendUint64(out, uint64(e.keys.len()))
	return binary.LittleEndian.AppendUint64(out, xxh3.Hash(out))
}

func appendBytes(out, b []byte) []byte {
	return append(binary.AppendUvarint(out, uint64(len(b))), b...)
}

func writeRun(fsys vfs.FS, dir string, data []byte) error {
	if err := fsys.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return vfs.WriteFile(fsys, fsys.PathJoin(dir, runName), data)
}

// readRun calls f with the rows of a run file, whose name is for errors.
func readRun(name string, data []byte, f func(key, value []byte) error) error {
	body := len(data) - runTail
	if body < len(runMagic) || string(data[:len(runMagic)]) != runMagic {
		return &DamageError{File: name, Expected: "a run of rows", Found: "something else"}
	}
	if found, expected := xxh3.Hash(data[:body+8]), binary.LittleEndian.Uint64(data[body+8:]); found != expected {
		return &DamageError{File: name, Expected: "checksum " + sumString(expected), Found: sumString(found)}
	}
	left := binary.LittleEndian.Uint64(data[body:])
	for data = data[len(runMagic):body]; left > 0; left-- {
		var key, value []byte
		var err error
		if key, data, err = cutBytes(data); err == nil {
			value, data, err = cutBytes(data)
		}
		if err != nil || len(key) < rowKeyHead {
			return &DamageError{File: name, Expected: "rows", Found: errRun.Error()}
		}
		if err := f(key, value); err != nil {
			return err
		}
	}
	if len(data) > 0 {
		return &DamageError{File: name, Expected: "the end of the rows", Found: "more bytes"}
	}
	return nil
}

func cutBytes(data []byte) (b, rest []byte, err error) {
	n, used := binary.Uvarint(data)
	if used <= 0 || n > uint64(len(data)-used) {
		return nil, nil, errRun
	}
	data = data[used:]
	return data[:n:n], data[n:], nil
}
