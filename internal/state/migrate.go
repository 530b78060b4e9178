package state

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/internal/state/lsm"
	"github.com/millstream-io/millstream/types"
)

// migration says how saved rows become those of another declaration.
type migration struct {
	// old is the declaration that they were saved with.
	old Spec
	// from has, for each value column, the one of old, -1 for NULL.
	from []int
	// Changes are in words; none if the rows can stay as they are.
	changes []string
}

// Migration compares a saved declaration with a new one. It returns what would
// be changed in each row, in words, or why the rows cannot be used.
func (t TableInfo) Migration(now Spec) (changes []string, why string) {
	m, why := t.migration(now)
	if why != "" {
		return nil, why
	}
	return m.changes, ""
}

func (t TableInfo) migration(now Spec) (*migration, string) {
	m := &migration{old: Spec{Name: t.Name, ByTask: t.ByTask, Columns: t.Columns, Merge: now.Merge}}
	if t.TTL {
		m.old.TTL = 1 // which says that there is a time; how long is of no matter
	}
	var err error
	if m.old.Key, err = parseTypes(t.Key); err == nil {
		m.old.Value, err = parseTypes(t.Value)
	}
	switch {
	case err != nil:
		return nil, err.Error()
	case t.ByTask != now.ByTask:
		return nil, fmt.Sprintf("it was saved as %s, and is %s now", t, tableInfo(now, 0))
	case t.Parts > 0 && now.Merge == nil:
		return nil, "it was saved with partial rows, which cannot be merged now"
	case len(m.old.Key) != len(now.Key):
		return nil, fmt.Sprintf("its key was (%s), and is (%s) now", strings.Join(t.Key, ", "), strings.Join(typeNames(now.Key), ", "))
	}
	for i, k := range now.Key {
		if why := m.column("key column "+columnName(now, i), m.old.Key[i], k, true); why != "" {
			return nil, why
		}
	}
	if why := m.values(now); why != "" {
		return nil, why
	}
	if now.TTL > 0 && !t.TTL {
		m.changes = append(m.changes, "rows expire from now on")
	}
	if now.TTL == 0 && t.TTL {
		m.changes = append(m.changes, "rows do not expire any more")
	}
	return m, ""
}

// values finds out where the values of a row come from.
func (m *migration) values(now Spec) (why string) {
	byName := now.ByName && len(m.old.Columns) == len(m.old.Key)+len(m.old.Value)
	if !byName && len(m.old.Value) != len(now.Value) {
		return fmt.Sprintf("its values were (%s), and are (%s) now", strings.Join(typeNames(m.old.Value), ", "), strings.Join(typeNames(now.Value), ", "))
	}
	for i, v := range now.Value {
		at, name := i, columnName(now, len(now.Key)+i)
		if byName {
			at = slices.Index(m.old.Columns[len(m.old.Key):], name)
		}
		m.from = append(m.from, at)
		if at < 0 {
			if !v.Nullable {
				return fmt.Sprintf("column %s is new and NOT NULL", name)
			}
			m.changes = append(m.changes, fmt.Sprintf("column %s is new, and NULL in rows that are there", name))
			continue
		}
		if why := m.column("column "+name, m.old.Value[at], v, false); why != "" {
			return why
		}
		if at != i && byName && len(m.changes) == 0 {
			m.changes = append(m.changes, "its columns come in another order")
		}
	}
	for i := range m.old.Value {
		if byName && !slices.Contains(m.from, i) {
			m.changes = append(m.changes, fmt.Sprintf("column %s is left out", columnName(m.old, len(m.old.Key)+i)))
		}
	}
	return ""
}

// column compares the types of a column.
func (m *migration) column(name string, from, to types.Type, key bool) (why string) {
	if from.String() == to.String() {
		return ""
	}
	if !Widens(from, to) || key && from.Kind == types.Decimal && from.Phys() != to.Phys() {
		return fmt.Sprintf("%s was %s, and is %s now", name, from, to)
	}
	m.changes = append(m.changes, fmt.Sprintf("%s goes from %s to %s", name, from, to))
	return ""
}

// columnName is the name of a key or value column, by its number if it has none.
func columnName(s Spec, i int) string {
	if len(s.Columns) == len(s.Key)+len(s.Value) {
		return s.Columns[i]
	}
	return fmt.Sprint(i + 1)
}

// Widens reports whether each value of a type is one of another, wider type:
// TINYINT to BIGINT, FLOAT to DOUBLE, more digits before the point of a DECIMAL,
// longer texts; and NULL where there was none.
func Widens(from, to types.Type) bool {
	if from.Nullable && !to.Nullable {
		return false
	}
	switch {
	case from.IsInteger() && to.IsInteger():
		return from.Kind <= to.Kind
	case from.Kind == types.Float && to.Kind == types.Double:
		return true
	case from.Kind == types.Decimal && to.Kind == types.Decimal:
		return from.Scale == to.Scale && from.Precision <= to.Precision
	case from.Kind == to.Kind && (to.Kind == types.Varchar || to.Kind == types.Varbinary):
		return from.Length <= to.Length
	}
	return from.Same(to)
}

func parseTypes(names []string) ([]types.Type, error) {
	var out []types.Type
	for _, name := range names {
		t, err := types.Parse(name)
		if err != nil {
			return nil, err
		}
		out = append(out, t)
	}
	return out, nil
}

// migrator rewrites the rows of a restored table.
type migrator struct {
	*migration
	// before reads the saved rows, t takes them.
	before, t *table
}

func (db *DB) newMigrator(m *migration, saved TableInfo, t *table) *migrator {
	return &migrator{m, newTable(db, m.old, saved.ID), t}
}

// convert returns the rows that were read as rows of the new table.
func (m *migrator) convert(l *loader) *loader {
	out := &loader{t: m.t, groups: l.groups, parts: l.parts, heads: l.heads}
	for i, k := range l.keys {
		out.keys = append(out.keys, widen(k, m.t.spec.Key[i]))
	}
	if m.t.mortal != nil {
		if m.before.mortal != nil {
			out.vals = append(out.vals, l.vals[0])
		} else {
			written := batch.MakeFixed[int64](writtenType, l.len())
			for i := range written.Values {
				written.Values[i] = m.t.now()
			}
			out.vals = append(out.vals, written)
		}
	}
	old := l.vals[len(l.vals)-len(m.old.Value):]
	for i, typ := range m.t.spec.Value {
		if at := m.from[i]; at >= 0 {
			out.vals = append(out.vals, widen(old[at], typ))
			continue
		}
		v := m.t.newLoader().vals[len(out.vals)]
		for range l.len() {
			v.AppendNull()
		}
		out.vals = append(out.vals, v)
	}
	return out
}

// fill puts the restored rows of the memory backend into the table.
func (m *migrator) fill(rows []savedRow) error {
	l := m.before.newLoader()
	for i, row := range rows {
		if err := l.add(row.key, row.value); err != nil {
			return err
		}
		ns := nsOf(row.key)
		if i+1 < len(rows) && nsOf(rows[i+1].key) == ns {
			continue
		}
		if err := m.convert(l).fill(m.t.space(ns)); err != nil {
			return err
		}
		l = m.before.newLoader()
	}
	return nil
}

// rewrite writes the rows on disk anew, under the number of the new table.
func (m *migrator) rewrite() error {
	db := m.t.db
	lo, hi := db.keyGroups()
	if m.t.spec.ByTask {
		lo, hi = taskGroup, taskGroup+1
	}
	for g := lo; g < hi; g++ {
		from := binary.BigEndian.AppendUint16([]byte{byte(g)}, m.before.format.id)
		for to := after(from); from != nil; {
			disk, err := db.reader()
			if err != nil {
				return err
			}
			l, next := m.before.newLoader(), []byte(nil)
			var ns []int64
			err = disk.Range(from, to, func(key, value []byte) (bool, error) {
				ns = append(ns, nsOf(key))
				if len(ns) == flushRows {
					next = append(slices.Clone(key), 0)
				}
				return next == nil, l.add(key, value)
			})
			if err != nil {
				return err
			}
			if err := m.write(m.convert(l), uint8(g), ns); err != nil {
				return err
			}
			from = next
		}
		if err := m.forget(g); err != nil {
			return err
		}
	}
	return nil
}

func (m *migrator) write(l *loader, group uint8, ns []int64) error {
	n := len(ns)
	rows := &frozenRows{keys: l.keys, vals: l.vals, ns: ns, groups: slices.Repeat([]uint8{group}, n), fresh: slices.Repeat([]bool{true}, n)}
	if m.t.mergeable() {
		rows.parts = l.parts
	}
	return m.t.db.writeFrozen(m.t.format, rows)
}

// forget removes what the old table has in a key group.
func (m *migrator) forget(group int) error {
	return m.t.db.write(func(b *lsm.Batch) {
		rows := binary.BigEndian.AppendUint16([]byte{byte(group)}, m.before.format.id)
		b.DeleteRange(rows, after(rows))
		dir := binary.BigEndian.AppendUint16([]byte{byte(group), 0, 0}, m.before.format.id)
		b.DeleteRange(dir, after(dir))
	})
}

// widen returns values under a wider type.
func widen(v batch.Vector, to types.Type) batch.Vector {
	switch to.Phys() {
	case types.PhysI16:
		return widenInts[int16](v, to)
	case types.PhysI32:
		return widenInts[int32](v, to)
	case types.PhysI64:
		return widenInts[int64](v, to)
	case types.PhysF64:
		if f, ok := v.(*batch.Fixed[float32]); ok {
			out := batch.MakeFixed[float64](to, f.Len())
			for i, x := range f.Values {
				out.Values[i] = float64(x)
			}
			out.Valid = f.Valid
			return out
		}
	case types.PhysI128:
		if f, ok := v.(*batch.Fixed[int64]); ok {
			out := batch.MakeFixed[types.Int128](to, f.Len())
			for i, x := range f.Values {
				out.Values[i] = types.Int128FromInt64(x)
			}
			out.Valid = f.Valid
			return out
		}
	}
	return v.WithType(to)
}

func widenInts[T int16 | int32 | int64](v batch.Vector, to types.Type) batch.Vector {
	out := batch.MakeFixed[T](to, v.Len())
	out.Valid = v.Validity()
	switch v := v.(type) {
	case *batch.Fixed[int8]:
		copyInts(out.Values, v.Values)
	case *batch.Fixed[int16]:
		copyInts(out.Values, v.Values)
	case *batch.Fixed[int32]:
		copyInts(out.Values, v.Values)
	default:
		return v.WithType(to)
	}
	return out
}

func copyInts[T, F int8 | int16 | int32 | int64](to []T, from []F) {
	for i, x := range from {
		to[i] = T(x)
	}
}
