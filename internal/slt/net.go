package slt

import (
	"sort"

	"github.com/millstream-io/millstream/connector/script"
	"github.com/millstream-io/millstream/types"
)

// table is the current result of a query as a bag of rows; for a sink with a
// primary key, one row a key.
type table struct {
	keyed bool
	rows  map[string]int
	byKey map[string]string
}

func newTable(keyed bool) *table {
	return &table{keyed: keyed, rows: map[string]int{}, byKey: map[string]string{}}
}

func (t *table) add(row string, n int) {
	if t.rows[row] += n; t.rows[row] == 0 {
		delete(t.rows, row)
	}
}

// apply folds changes in and returns the net change as lines "+ row" and
// "- row", sorted, one for each copy.
func (t *table) apply(changes []script.Change) []string {
	net := map[string]int{}
	count := func(row string, n int) {
		t.add(row, n)
		net[row] += n
	}
	for _, c := range changes {
		if !t.keyed {
			n := 1
			if !c.Kind.IsAdd() {
				n = -1
			}
			count(c.Cells, n)
			continue
		}
		if old, ok := t.byKey[c.Key]; ok && c.Kind != types.UpdateBefore {
			count(old, -1)
			delete(t.byKey, c.Key)
		}
		if c.Kind.IsAdd() {
			t.byKey[c.Key] = c.Cells
			count(c.Cells, 1)
		}
	}
	var lines []string
	for row, n := range net {
		for ; n > 0; n-- {
			lines = append(lines, "+ "+row)
		}
		for ; n < 0; n++ {
			lines = append(lines, "- "+row)
		}
	}
	sort.Strings(lines)
	return lines
}

// show returns the rows, sorted.
func (t *table) show() []string {
	var lines []string
	for row, n := range t.rows {
		for ; n > 0; n-- {
			lines = append(lines, row)
		}
	}
	sort.Strings(lines)
	return lines
}
