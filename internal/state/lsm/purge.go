package lsm

import (
	"errors"
	"slices"
)

// Ranges that are removed, such as windows that are over, leave bytes behind in older
// runs, which are not merged for it. So tables are looked for of which nothing is left,
// which go as they are, and those of which half is gone, which are written anew. Spans
// that no older run has anything in go as well.

// startPurge begins to look for such tables. db.mu is held.
func (db *DB) startPurge() {
	db.purging, db.purgeDue = true, false
	db.merging++
	v := db.held()
	db.background(func() error {
		defer v.drop()
		return db.purge(v)
	}, func() {
		db.purging = false
		db.merging--
	})
}

func (db *DB) purge(v *version) error {
	for i, r := range v.runs {
		if r.fresh || len(v.killed[i]) == 0 && len(r.dead) == 0 {
			continue
		}
		if db.closing.Load() {
			return errClosing
		}
		plan, err := planPurge(r, v.killed[i])
		if err != nil {
			return err
		}
		dead, err := v.needed(r.dead, r)
		if err != nil {
			return err
		}
		if plan == nil && len(dead) == len(r.dead) || !db.claim(r) {
			continue
		}
		out, err := db.purgeRun(v, i, plan, dead)
		if err == nil {
			db.install([]*run{r}, out)
		}
		db.mu.Lock()
		r.busy = false
		db.mu.Unlock()
		if err != nil {
			return err
		}
	}
	return nil
}

// claim makes a run busy, if it is not and still there.
func (db *DB) claim(r *run) bool {
	db.mu.Lock()
	defer db.mu.Unlock()
	if r.busy || !slices.Contains(db.now.runs, r) {
		return false
	}
	r.busy = true
	return true
}

// What is to be done with a table.
type fate uint8

const (
	keep fate = iota
	rewrite
	discard
)

// planPurge says what to do with the tables of a run; nil if there is nothing to do.
func planPurge(r *run, killed spans) ([]fate, error) {
	var plan []fate
	for i, t := range r.tables {
		covered, total, err := t.weigh(killed)
		if err != nil {
			return nil, err
		}
		if 2*covered < total {
			continue
		}
		if plan == nil {
			plan = make([]fate, len(r.tables))
		}
		if plan[i] = rewrite; covered == total {
			plan[i] = discard
		}
	}
	return plan, nil
}

// purgeRun returns what is left of the i-th run of a version, with the spans that are.
func (db *DB) purgeRun(v *version, i int, plan []fate, dead spans) (*run, error) {
	r := v.runs[i]
	bottom := v.oldest(r)
	o := &output{db: db, format: db.format(!bottom), most: db.tableSize()}
	var tables []*table
	if plan == nil {
		plan = make([]fate, len(r.tables))
	}
	made := 0
	for j, t := range r.tables {
		switch plan[j] {
		case keep:
			tables = append(tables, t)
		case rewrite:
			err := db.mergeCursors([]*cursor{{run: &run{tables: []*table{t}}, killed: v.killed[i], ahead: maxAhead, eager: true}}, bottom, o.add)
			if err == nil {
				err = o.close()
			}
			if err != nil {
				return nil, errors.Join(err, o.undo())
			}
			tables = append(tables, o.tables[made:]...)
			made = len(o.tables)
		}
	}
	return runOf(tables, dead), nil
}
