package state

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/internal/state/lsm"
	"github.com/millstream-io/millstream/internal/state/oldtree"
	"github.com/millstream-io/millstream/internal/vfs"
)

// Part is the snapshot of one subtask, as a checkpoint has it.
type Part struct {
	FS   vfs.FS
	Info *Info
	// Path says where the file is that was listed as f.
	Path func(f FileInfo) string
	// Fetch, where it is not nil, makes a file readable at its Path first; fresh
	// is set if it comes from elsewhere, by default as it is read, so that looking at
	// it would take time. whole says that all of the file will be read soon, so that
	// it is better fetched at once.
	Fetch func(ctx context.Context, f FileInfo, whole bool) (fresh bool, err error)
	// Spread, where it is not nil, is how the files are fetched and looked at;
	// otherwise that is done one after the other.
	Spread Spread
	// Proven, where it is not nil, is told that a file was read as a whole, and is
	// good.
	Proven func(f FileInfo) error
	// Blame, where it is not nil, says it better that a file is damaged.
	Blame func(f FileInfo, err *DamageError) error
}

// Spread calls f with 0 to n-1, several at a time, and returns when all calls
// have. The first error ends the context of the other calls, is the one that is
// returned, and lets no further call begin.
type Spread func(n int, f func(ctx context.Context, i int) error) error

// InOrder is a Spread that makes one call after the other.
func InOrder(n int, f func(ctx context.Context, i int) error) error {
	for i := range n {
		if err := f(context.Background(), i); err != nil {
			return err
		}
	}
	return nil
}

// spread is Spread where there is one.
func (p Part) spread(n int, f func(ctx context.Context, i int) error) error {
	if p.Spread == nil {
		return InOrder(n, f)
	}
	return p.Spread(n, f)
}

// Restore returns a DB with the rows of a checkpoint. parts are the snapshots
// of all subtasks that the operator had then; the DB takes the key groups that
// are its own.
//
// Nothing that takes longer with more rows is done: where the files of a part can
// be used as they are, they are linked, and only looked at (see Taken). Damage
// gives an error that names the file (IsDamage): here, if it is to be seen, and
// otherwise when the block is read that has it. What is read here is checked as a
// whole.
func Restore(cfg Config, parts []Part) (*DB, error) {
	db, err := Open(cfg)
	if err != nil {
		return nil, err
	}
	db.tracking = db.tracking || cfg.Backend == Disk
	if err := db.restore(parts); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: cannot restore: %w", cfg.Name, err), db.Close())
	}
	return db, nil
}

func (db *DB) restore(parts []Part) error {
	var mine []Part
	for _, p := range parts {
		if err := p.check(); err != nil {
			return err
		}
		if db.wants(p.Info) {
			mine = append(mine, p)
		}
	}
	seen := make(map[string]bool)
	if i := db.base(mine); i >= 0 {
		base := mine[i]
		mine = slices.Delete(mine, i, i+1)
		if err := db.takeOver(base, len(mine) > 0, seen); err != nil {
			return err
		}
	}
	for i, p := range mine {
		ids, err := db.adopt(p.Info.Tables)
		if err == nil {
			err = db.merge(p, db.cfg.FS.PathJoin(db.cfg.Dir, fmt.Sprintf("part-%d", i)), ids, seen)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// base chooses the part whose files become those of the DB, the largest one; -1
// if there is none. The rows of the others are copied.
func (db *DB) base(parts []Part) int {
	best, most := -1, int64(-1)
	for i, p := range parts {
		if db.cfg.Backend != Disk || p.Info.Backend != Disk.String() || p.Info.Version < treeVersion || len(p.Info.Files) == 0 {
			continue
		}
		size := int64(0)
		for _, f := range p.Info.Files {
			size += f.Length
		}
		if size > most {
			best, most = i, size
		}
	}
	return best
}

// takeOver makes the files of a part those of the DB, without the key groups that
// are not its own. If there are other parts, it notes in seen the keys that these
// must not have.
func (db *DB) takeOver(p Part, others bool, seen map[string]bool) error {
	db.restored = slices.Clone(p.Info.Tables)
	if p.Info.Parallelism != db.cfg.Parallelism {
		for i := range db.restored {
			db.restored[i].Listed = false
		}
	}
	if err := db.fetch(p, db.liveDir(), false); err != nil {
		return err
	}
	if err := db.remember(p); err != nil {
		return err
	}
	if p.Info.Parallelism == db.cfg.Parallelism {
		return nil
	}
	if err := db.openDisk(); err != nil {
		return err
	}
	lo, hi := db.keyGroups()
	for _, g := range db.strangers(lo, hi) {
		if err := db.disk.lsm.Excise([]byte{byte(g[0])}, []byte{byte(g[1])}); err != nil {
			return err
		}
	}
	if !others || db.cfg.Subtask != 0 {
		return nil
	}
	r, err := db.disk.lsm.NewReader()
	if err != nil {
		return err
	}
	err = r.Range([]byte{taskGroup}, []byte{taskGroup + 1}, func(key, _ []byte) (bool, error) {
		if tableOf(key) != 0 {
			seen[string(key)] = true
		}
		return true, nil
	})
	return errors.Join(err, r.Close())
}

// strangers are the ranges of key groups that belong to other subtasks.
func (db *DB) strangers(lo, hi int) [][2]int {
	var out [][2]int
	if lo > 0 {
		out = append(out, [2]int{0, lo})
	}
	switch end := taskGroup + 1; {
	case db.cfg.Subtask != 0:
		out = append(out, [2]int{hi, end})
	case hi < taskGroup:
		out = append(out, [2]int{hi, taskGroup})
	}
	return out
}

// check refuses what this version cannot read, and names that lead elsewhere.
func (p Part) check() error {
	if v := p.Info.Version; v < infoVersion || v > treeVersion {
		return fmt.Errorf("the snapshot has format version %d; this program reads versions %d to %d", v, infoVersion, treeVersion)
	}
	if b := p.Info.Backend; b != Disk.String() && b != Memory.String() {
		return fmt.Errorf("the snapshot was taken by an unknown backend %q", b)
	}
	if p.Info.Parallelism < 1 || p.Info.Subtask < 0 || p.Info.Subtask >= p.Info.Parallelism {
		return fmt.Errorf("the snapshot is that of subtask %d of %d", p.Info.Subtask, p.Info.Parallelism)
	}
	for _, f := range p.Info.Files {
		if f.Name == "" || f.Name == "." || f.Name == ".." || strings.ContainsAny(f.Name, `/\`) {
			return fmt.Errorf("the snapshot lists a file named %q", f.Name)
		}
	}
	return nil
}

// wants reports whether a part has rows for this DB.
func (db *DB) wants(info *Info) bool {
	if info.Parallelism == db.cfg.Parallelism {
		return info.Subtask == db.cfg.Subtask
	}
	if db.cfg.Subtask == 0 && slices.ContainsFunc(info.Tables, func(t TableInfo) bool { return t.ByTask }) {
		return true
	}
	lo, hi := db.keyGroups()
	plo, phi := batch.KeyGroupRange(info.Subtask, info.Parallelism)
	return plo < hi && lo < phi
}

// adopt adds the tables of a part to those restored, and returns their ids here
// by their ids there.
func (db *DB) adopt(tables []TableInfo) (map[uint16]TableInfo, error) {
	ids := make(map[uint16]TableInfo)
	last := uint16(0)
	for _, t := range db.restored {
		last = max(last, t.ID)
	}
	for _, there := range tables {
		i := slices.IndexFunc(db.restored, func(t TableInfo) bool { return t.Name == there.Name })
		if i < 0 {
			i = len(db.restored)
			here := there
			last++
			here.ID, here.Listed = last, false
			db.restored = append(db.restored, here)
		}
		db.restored[i].Parts = max(db.restored[i].Parts, there.Parts)
		here := db.restored[i]
		if !here.same(there) {
			return nil, fmt.Errorf("two subtasks have different tables %q: %s and %s", here.Name, here, there)
		}
		ids[there.ID] = here
	}
	return ids, nil
}

// merge copies the rows of a part that belong here. tmp is for its files.
func (db *DB) merge(p Part, tmp string, ids map[uint16]TableInfo, seen map[string]bool) error {
	lo, hi := db.keyGroups()
	sameTask := p.Info.Parallelism == db.cfg.Parallelism
	sink := db.newSink()
	err := p.each(db, tmp, func(key, value []byte) error {
		table := tableOf(key)
		if table == 0 {
			return nil // the directory is made anew
		}
		info, ok := ids[table]
		if !ok {
			return fmt.Errorf("the snapshot has rows of a table %d that it does not list", table)
		}
		g := int(key[0])
		if g < batch.KeyGroups && (g < lo || g >= hi) || g == taskGroup && !sameTask && db.cfg.Subtask != 0 {
			return nil
		}
		key = slices.Clone(key)
		binary.BigEndian.PutUint16(key[1:], info.ID)
		if info.ByTask {
			if seen[string(key)] {
				return fmt.Errorf("table %q, which each subtask has for itself, has a row with the same key in two of them; the parallelism of this operator cannot change", info.Name)
			}
			seen[string(key)] = true
		}
		return sink.add(key, slices.Clone(value))
	})
	if err != nil {
		return err
	}
	return sink.close()
}

// each calls f with all entries of a part.
func (p Part) each(db *DB, tmp string, f func(key, value []byte) error) (err error) {
	if len(p.Info.Files) == 0 {
		return nil
	}
	if p.Info.Backend == Memory.String() {
		return p.eachRun(f)
	}
	defer func() {
		if cerr := db.cfg.FS.RemoveAll(tmp); err == nil {
			err = cerr
		}
	}()
	// Who does not spread calls may stop before the end.
	if err := db.fetch(p, tmp, p.Spread != nil); err != nil {
		return err
	}
	end := []byte{taskGroup + 1}
	if p.Info.Version < treeVersion {
		return db.blame(oldtree.Each(db.cfg.FS, tmp, end, f))
	}
	tree, err := lsm.Open(db.cfg.FS, tmp, db.treeOptions())
	if err != nil {
		return err
	}
	defer func() {
		if cerr := tree.Close(); err == nil {
			err = cerr
		}
	}()
	r, err := tree.NewReader()
	if err != nil {
		return err
	}
	err = r.Range(nil, end, func(key, value []byte) (bool, error) {
		return true, f(key, value)
	})
	if cerr := r.Close(); err == nil {
		err = cerr
	}
	return err
}

// eachRun is each for the files of the memory backend.
func (p Part) eachRun(f func(key, value []byte) error) error {
	files := p.Info.Files
	if p.Fetch != nil {
		err := p.spread(len(files), func(ctx context.Context, i int) error {
			_, err := p.Fetch(ctx, files[i], true)
			return err
		})
		if err != nil {
			return err
		}
	}
	for _, file := range files {
		var data bytes.Buffer
		if err := p.read(context.Background(), file, &data); err != nil {
			return err
		}
		if err := readRun(p.Path(file), data.Bytes(), f); err != nil {
			return err
		}
	}
	return nil
}

// sink takes restored rows: to disk, or to the lists from which the memory
// backend fills its tables when they are declared.
type sink struct {
	db     *DB
	keys   keyList
	values keyList
}

func (db *DB) newSink() *sink { return &sink{db: db} }

func (s *sink) add(key, value []byte) error {
	if s.db.cfg.Backend == Memory {
		id := tableOf(key)
		s.db.waiting[id] = append(s.db.waiting[id], savedRow{key, value})
		return nil
	}
	s.keys.add(key)
	s.values.add(value)
	if s.keys.len() < flushRows {
		return nil
	}
	return s.close()
}

// close writes the rows that were added last.
func (s *sink) close() error {
	if s.keys.len() == 0 {
		return nil
	}
	err := s.db.write(func(b *lsm.Batch) {
		count := tally{b: b}
		for _, i := range s.keys.sorted() {
			b.Set(s.keys.at(int(i)), s.values.at(int(i)))
			count.add(s.keys.at(int(i)), 1)
		}
		count.close()
	})
	s.keys.reset()
	s.values.reset()
	return err
}

// savedRow is a row as it is in a run file.
type savedRow struct{ key, value []byte }

// fill puts the restored rows that wait for a table into it.
func (t *table) fill(rows []savedRow) error {
	l := t.newLoader()
	for i, row := range rows {
		if err := l.add(row.key, row.value); err != nil {
			return err
		}
		ns := nsOf(row.key)
		if i+1 < len(rows) && nsOf(rows[i+1].key) == ns {
			continue
		}
		s := t.space(ns)
		if err := l.fill(s); err != nil {
			return err
		}
		l = t.newLoader()
	}
	return nil
}

// fill makes rows of a space of what was read.
func (l *loader) fill(s *space) error {
	if !l.t.mergeable() {
		l.store(s)
		s.listed()
		return nil
	}
	s.cold += int64(l.len())
	g, err := l.gather(s)
	if err != nil {
		g.release(s)
		return err
	}
	g.adopt(s)
	return nil
}
