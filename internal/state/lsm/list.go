package lsm

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"

	"github.com/millstream-io/millstream/internal/vfs"
)

// The list says which runs there are, newest first: a mark, then
//
//	number of runs (uvarint)
//	for each of them:
//	  number of tables, and for each number, length, entries, removing ones (uvarint),
//	  first and last key
//	  number of spans that it removes of older runs, and for each from and to
//	checksum of all before (4, little endian)
//
// Keys have their length before them. Only a checkpoint has a list; a map that is in
// use does not outlive its process.
const (
	listName = "LIST"
	listMark = "millstream runs 1\n"
)

func writeList(fsys vfs.FS, path string, v *version) error {
	f, err := vfs.Create(fsys, path)
	if err != nil {
		return err
	}
	_, err = f.Write(appendList(nil, v))
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

func appendList(out []byte, v *version) []byte {
	number := func(n uint64) { out = binary.AppendUvarint(out, n) }
	key := func(k []byte) { out = append(binary.AppendUvarint(out, uint64(len(k))), k...) }
	out = append(out, listMark...)
	number(uint64(len(v.runs)))
	for _, r := range v.runs {
		number(uint64(len(r.tables)))
		for _, t := range r.tables {
			number(t.number)
			number(uint64(t.size))
			number(uint64(t.entries))
			number(uint64(t.removes))
			key(t.first)
			key(t.last)
		}
		number(uint64(len(r.dead)))
		for _, s := range r.dead {
			key(s.from)
			key(s.to)
		}
	}
	return binary.LittleEndian.AppendUint32(out, checksum(out))
}

// readList returns the runs that the list of the directory has, none if there is no
// list.
func (db *DB) readList() ([]*run, error) {
	path := db.fs.PathJoin(db.dir, listName)
	data, err := vfs.ReadFile(db.fs, path)
	if vfs.IsNotExist(err) {
		return nil, db.noTables(path)
	}
	if err != nil {
		return nil, err
	}
	corrupt := func(why string) error { return &CorruptError{File: path, Err: errors.New(why)} }
	n := len(data) - 4
	if n < len(listMark) || !strings.HasPrefix(string(data), listMark) {
		return nil, corrupt("it does not begin as a list of runs")
	}
	if checksum(data[:n]) != binary.LittleEndian.Uint32(data[n:]) {
		return nil, corrupt("its checksum is wrong")
	}
	d := decoder{data: data[len(listMark):n]}
	var runs []*run
	for range d.count() {
		r, err := db.readRun(&d)
		if err != nil {
			return nil, err
		}
		runs = append(runs, r)
	}
	if d.bad || len(d.data) > 0 {
		return nil, corrupt("it does not fit its length")
	}
	return runs, nil
}

// noTables is nil if there are no tables in the directory, which has no list.
func (db *DB) noTables(list string) error {
	names, err := db.fs.List(db.dir)
	if err != nil {
		return err
	}
	for _, name := range names {
		if strings.HasSuffix(name, tableSuffix) {
			return &CorruptError{File: list, Err: fmt.Errorf("there is no such file, but %s", name)}
		}
	}
	return nil
}

func (db *DB) readRun(d *decoder) (*run, error) {
	var tables []*table
	for range d.count() {
		t := &table{db: db, number: d.uvarint(), size: int64(d.uvarint()), entries: int64(d.uvarint()), removes: int64(d.uvarint()), first: d.bytes(), last: d.bytes()}
		db.last = max(db.last, t.number)
		switch info, err := db.fs.Stat(t.path()); {
		case vfs.IsNotExist(err):
			return nil, &CorruptError{File: t.path(), Err: errors.New("there is no such file")}
		case err != nil:
			return nil, err
		case info.Size() != t.size:
			return nil, &CorruptError{File: t.path(), Err: fmt.Errorf("it has %d bytes; there were %d", info.Size(), t.size)}
		}
		tables = append(tables, t)
	}
	var dead spans
	for range d.count() {
		dead = append(dead, span{d.bytes(), d.bytes()})
	}
	return newRun(tables, dead), nil
}
