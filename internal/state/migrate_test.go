package state

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/internal/text"
	"github.com/millstream-io/millstream/internal/vfs"
	"github.com/millstream-io/millstream/types"
)

func specOf(key, value string, change func(*Spec)) Spec {
	s := Spec{Name: "rows"}
	for i, list := range []string{key, value} {
		for _, col := range strings.Split(list, "; ") {
			if col == "" {
				continue
			}
			name, typ, _ := strings.Cut(col, " ")
			t, err := types.Parse(typ)
			if err != nil {
				panic(err)
			}
			s.Columns = append(s.Columns, name)
			if i == 0 {
				s.Key = append(s.Key, t)
			} else {
				s.Value = append(s.Value, t)
			}
		}
	}
	if change != nil {
		change(&s)
	}
	return s
}

func byName(s *Spec) { s.ByName = true }

// TestMigrationWords: what a changed declaration makes of saved rows.
func TestMigrationWords(t *testing.T) {
	old := specOf("k INT NOT NULL", "a VARCHAR(5); b FLOAT NOT NULL; c DECIMAL(10, 2)", nil)
	for _, c := range []struct {
		now  Spec
		want string
	}{
		{old, ""},
		{specOf("k BIGINT", "a STRING; b DOUBLE; c DECIMAL(30, 2)", nil),
			"key column k goes from INT NOT NULL to BIGINT, column a goes from VARCHAR(5) to STRING, column b goes from FLOAT NOT NULL to DOUBLE, column c goes from DECIMAL(10, 2) to DECIMAL(30, 2)"},
		{specOf("k INT NOT NULL", "b FLOAT NOT NULL; d INT; a VARCHAR(5)", byName),
			"its columns come in another order, column d is new, and NULL in rows that are there, column c is left out"},
		{specOf("k INT NOT NULL", "a VARCHAR(5); b FLOAT NOT NULL; c DECIMAL(10, 2)", func(s *Spec) { s.TTL = 5 }), "rows expire from now on"},
		{specOf("k INT NOT NULL", "a VARCHAR(5); b FLOAT NOT NULL; c DECIMAL(10, 2); d INT", nil),
			"no: its values were (VARCHAR(5), FLOAT NOT NULL, DECIMAL(10, 2)), and are (VARCHAR(5), FLOAT NOT NULL, DECIMAL(10, 2), INT) now"},
		{specOf("k INT NOT NULL", "a VARCHAR(5); b FLOAT NOT NULL; c DECIMAL(10, 2); d INT NOT NULL", byName), "no: column d is new and NOT NULL"},
		{specOf("k INT NOT NULL; l INT", "a VARCHAR(5)", byName), "no: its key was (INT NOT NULL), and is (INT NOT NULL, INT) now"},
		{specOf("k SMALLINT", "a VARCHAR(5)", byName), "no: key column k was INT NOT NULL, and is SMALLINT now"},
		{specOf("k INT NOT NULL", "a VARCHAR(4)", byName), "no: column a was VARCHAR(5), and is VARCHAR(4) now"},
		{specOf("k INT NOT NULL", "a VARCHAR(5) NOT NULL", byName), "no: column a was VARCHAR(5), and is VARCHAR(5) NOT NULL now"},
		{specOf("k INT NOT NULL", "c DECIMAL(10, 3)", byName), "no: column c was DECIMAL(10, 2), and is DECIMAL(10, 3) now"},
		{specOf("k INT NOT NULL", "a VARCHAR(5)", func(s *Spec) { s.ByName, s.ByTask = true, true }),
			"no: it was saved as (INT NOT NULL) -> (VARCHAR(5), FLOAT NOT NULL, DECIMAL(10, 2)), and is (INT NOT NULL) -> (VARCHAR(5)) by task now"},
	} {
		changes, why := tableInfo(old, 1).Migration(c.now)
		got := strings.Join(changes, ", ")
		if why != "" {
			got = "no: " + why
		}
		if got != c.want {
			t.Errorf("%s: got\n%s\nwant\n%s", tableInfo(c.now, 1), got, c.want)
		}
	}
}

// TestMigrate restores saved rows with another declaration, over both backends
// and another parallelism, and goes on with them.
func TestMigrate(t *testing.T) {
	old := specOf("k INT NOT NULL; l TINYINT", "a VARCHAR(5); b FLOAT NOT NULL; c DECIMAL(10, 2); n SMALLINT; list ARRAY<INT>", nil)
	now := specOf("k BIGINT; l SMALLINT", "n BIGINT; list ARRAY<INT>; x STRING; b DOUBLE; c DECIMAL(30, 2); a STRING", byName)
	for _, backends := range [][2]Backend{{Memory, Memory}, {Disk, Disk}, {Memory, Disk}, {Disk, Memory}} {
		for _, par := range []int{1, 3} {
			for _, ttl := range []bool{false, true} {
				next := now
				if ttl {
					next.TTL = 1000
				}
				checkMigrate(t, backends, par, old, next)
			}
		}
	}
}

func checkMigrate(t *testing.T, backends [2]Backend, par int, old, now Spec) {
	t.Helper()
	fsys := vfs.NewMem()
	clock := func() int64 { return 5000 }
	db := mustOpen(t, Config{Name: "test", Parallelism: 1, Backend: backends[0], FS: fsys, Dir: "old"})
	fillRows(t, db, mustTable(t, db, old), 300)
	other := mustTable(t, db, pairSpec)
	put(t, db, other, 3, numbers(0, 50), 0)
	parts := []Part{keep(t, fsys, snapshot(t, db, 1), "one")}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	for round := range 2 {
		var got []string
		var next []Part
		for sub := range par {
			cfg := Config{Name: "test", Subtask: sub, Parallelism: par, Backend: backends[1], FS: fsys, Dir: fmt.Sprintf("new-%d-%d", round, sub), Now: clock}
			db, err := Restore(cfg, parts)
			if err != nil {
				t.Fatal(err)
			}
			table := mustTable(t, db, now)
			got = append(got, allRows(t, table)...)
			pairs := mustTable(t, db, pairSpec)
			put(t, db, pairs, 3, numbers(0, 50), 0)
			if n := len(dump(t, pairs)); par == 1 && n != 50 {
				t.Errorf("%v: %d rows in the other table", backends, n)
			}
			next = append(next, keep(t, fsys, snapshot(t, db, 2), fmt.Sprintf("two-%d-%d", round, sub)))
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
		}
		parts = next
		now.TTL = 0 // and so each form of rows is migrated to the other
		slices.Sort(got)
		if len(got) != 300 || got[0] != "0 | 0 | NULL | NULL | [0, NULL] | NULL | 0.5 | 0.00 | t0" || got[299] != "99 | 0 | -1 | 198 | [99, NULL] | NULL | 99.5 | 0.99 | t99" {
			t.Errorf("%v, parallelism %d, round %d: %d rows: %q ... %q", backends, par, round, len(got), got[0], got[len(got)-1])
		}
	}
}

// fillRows writes rows of the old declaration of TestMigrate.
func fillRows(t *testing.T, db *DB, table Table, n int) {
	t.Helper()
	for i := range n {
		k, l := batch.NewFixed[int32](types.Of(types.Int).NotNull(), 1), batch.NewFixed[int8](types.Of(types.TinyInt), 1)
		k.Append(int32(i))
		if i%2 == 0 {
			l.AppendNull()
		} else {
			l.Append(-1)
		}
		s := table.Space(0)
		slots := make([]int32, 1)
		if _, err := s.Upsert(keysOf(k, l), slots); err != nil {
			t.Fatal(err)
		}
		cols := s.Cols()
		for c, cell := range []string{fmt.Sprintf("t%d", i), fmt.Sprintf("%d.5", i), fmt.Sprintf("%d.%02d", i/100, i%100), fmt.Sprint(2 * i), fmt.Sprintf("[%d, NULL]", i)} {
			v := batch.New(cols[c].Type(), 1)
			if c == 3 && i == 0 {
				cell = "NULL"
			}
			if err := text.ParseCell(v, cell); err != nil {
				t.Fatal(err)
			}
			cols[c].Set(slots, v, []int32{0})
		}
		s.Dirty(slots)
		if err := db.EndEvent(); err != nil {
			t.Fatal(err)
		}
	}
}

// allRows prints namespace, keys and values of all rows.
func allRows(t *testing.T, table Table) []string {
	t.Helper()
	var out []string
	list, err := table.Namespaces(1 << 62)
	if err != nil {
		t.Fatal(err)
	}
	for _, ns := range list {
		s := table.Space(ns)
		err := s.Scan(100, func(slots []int32) error {
			cols := s.Keys(slots)
			for _, c := range s.Cols() {
				cols = append(cols, c.Vector(slots))
			}
			for i := range slots {
				line := ""
				for j, c := range cols {
					if j == 1 {
						line += fmt.Sprint(" | ", ns)
					}
					if j > 0 {
						line += " | "
					}
					line += string(text.AppendCell(nil, c, i))
				}
				out = append(out, line)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return out
}
