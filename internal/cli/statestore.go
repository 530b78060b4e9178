package cli

import (
	"cmp"
	"container/heap"
	"context"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/connector/statetable"
	"github.com/millstream-io/millstream/internal/blob"
	"github.com/millstream-io/millstream/internal/checkpoint"
	"github.com/millstream-io/millstream/internal/control"
	"github.com/millstream-io/millstream/internal/runtime"
	"github.com/millstream-io/millstream/internal/state"
	"github.com/millstream-io/millstream/internal/text"
	"github.com/millstream-io/millstream/internal/vfs"
	"github.com/millstream-io/millstream/types"
)

// stateStore reads the state of jobs for STATE: what a checkpoint has, and of a
// running job what one has that is taken for it, and is held while it is read.
type stateStore struct{ s *settings }

// shared are the objects that connectors find in this process.
func (s *settings) shared() map[string]any {
	return map[string]any{statetable.Key: &stateStore{s}}
}

// stateView is an operator's state in a checkpoint.
type stateView struct {
	src  *checkpoint.Source
	node *checkpoint.Node
	// tables are those that are shown: one of them in its own columns, several as text.
	tables []state.TableInfo
	// reader names the directory for files while the state is read.
	reader string
	// over is called in the end.
	over func() error
}

// Describe implements statetable.Store.
func (st *stateStore) Describe(ref statetable.Ref) (*types.Schema, error) {
	v, err := st.find(context.Background(), ref, false)
	if err != nil {
		return nil, err
	}
	schema, err := v.schema()
	return schema, errors.Join(err, v.over())
}

// Open implements statetable.Store.
func (st *stateStore) Open(ctx context.Context, ref statetable.Ref) (statetable.Rows, error) {
	v, err := st.find(ctx, ref, true)
	if err != nil {
		return nil, err
	}
	schema, err := v.schema()
	if err != nil {
		return nil, errors.Join(err, v.over())
	}
	r := &stateRows{view: v, schema: schema}
	r.next, r.stop = iter.Pull2(r.batches)
	return r, nil
}

// find looks the state up. live takes it from the running job; otherwise any
// checkpoint will do.
func (st *stateStore) find(ctx context.Context, ref statetable.Ref, live bool) (*stateView, error) {
	v := &stateView{reader: checkpoint.NewReader(), over: func() error { return nil }}
	scratch := ""
	var err error
	if id, bad := strconv.ParseInt(ref.Checkpoint, 10, 64); ref.Checkpoint != "" && bad != nil {
		var storage runtime.Storage
		if storage, err = st.s.storage(""); err == nil {
			v.src, err = checkpoint.FindAt(ref.Checkpoint, st.s.stores(storage))
		}
	} else if err = st.known(ref.Job); err == nil {
		at := &place{settings: st.s, name: ref.Job, dir: st.s.dataDir(&job{name: ref.Job})}
		err = at.look()
		if err == nil && id == 0 && live {
			id, v.over, err = at.takeLive(ctx, v.reader)
		}
		if err == nil {
			v.src, err = checkpoint.Find(at.checkpoints, id)
		}
		scratch = at.dir
		if id == 0 && (vfs.IsNotExist(err) || isEmpty(err)) {
			err = fmt.Errorf("job %s has no checkpoint yet", ref.Job)
		}
	}
	if err == nil {
		v.src.Spread, v.src.Scratch = runtime.Spread, scratch
		err = v.choose(ref)
	}
	if err != nil {
		return nil, errors.Join(err, v.over())
	}
	return v, nil
}

// known makes sure that there is such a job.
func (st *stateStore) known(name string) error {
	dir := st.s.dataDir(&job{name: name})
	if _, err := st.s.disk().Stat(dir); err == nil {
		return nil
	}
	names, err := st.s.jobs(filepath.Dir(dir))
	if err != nil && !vfs.IsNotExist(err) {
		return err
	}
	unknown := &statetable.UnknownError{Name: name, Known: names}
	unknown.Msg = fmt.Sprintf("there is no job %s in %s, which has %s", name, filepath.Dir(dir), listed("jobs ", unknown.Known, "no job"))
	return unknown
}

func listed(what string, names []string, none string) string {
	if len(names) == 0 {
		return none
	}
	return what + strings.Join(names, ", ")
}

// takeLive has a running job take a checkpoint, which costs what has changed since
// the one before, and keep it until over is called, or this process ends. If the job
// does not run, the newest checkpoint is what there is: number 0.
func (p *place) takeLive(ctx context.Context, reader string) (id int64, over func() error, err error) {
	over = func() error { return nil }
	c, err := control.Dial(ctx, p.dir)
	if errors.Is(err, control.ErrNotRunning) {
		return 0, over, nil
	}
	if err == nil {
		if id, err = c.Hold(ctx, reader); err != nil {
			err = errors.Join(err, c.Close())
		}
	}
	if err != nil {
		return 0, over, fmt.Errorf("job %s runs and cannot be asked for its state: %w", p.name, err)
	}
	return id, func() error {
		err := c.Release(context.Background(), id, reader)
		if remote := (*control.RemoteError)(nil); !errors.As(err, &remote) {
			err = nil // the job has ended, and its next run removes what is too much
		}
		return errors.Join(err, c.Close())
	}, nil
}

// choose finds the operator and the table.
func (v *stateView) choose(ref statetable.Ref) error {
	var known []string
	for i := range v.src.Manifest.Nodes {
		n := &v.src.Manifest.Nodes[i]
		tables := n.Tables()
		if len(tables) == 0 {
			continue
		}
		known = append(known, n.ID)
		if ref.Operator == n.ID || ref.Operator == n.Name {
			v.node, v.tables = n, tables
			return nil
		}
		table, ok := strings.CutPrefix(ref.Operator, n.ID+"/")
		if !ok {
			continue
		}
		var names []string
		for _, t := range tables {
			names = append(names, n.ID+"/"+t.Name)
			if t.Name == table {
				v.node, v.tables = n, []state.TableInfo{t}
				return nil
			}
		}
		return &statetable.UnknownError{Name: ref.Operator, Known: names,
			Msg: fmt.Sprintf("operator %s has no table %s; it has %s", n.ID, table, listed("", names, "none"))}
	}
	if m := v.src.Manifest; len(known) == 0 && (m.Finished || m.Drained) {
		return &statetable.UnknownError{Name: ref.Operator, Msg: ended(m, v.src.Store)}
	}
	return &statetable.UnknownError{Name: ref.Operator, Known: known,
		Msg: fmt.Sprintf("job %s has no operator %s with state; it has %s", v.src.Manifest.Job, ref.Operator, listed("", known, "none"))}
}

// ended says that a job has come to its end, where its operators have given out all
// that they had, and which checkpoints from before are there.
func ended(m *checkpoint.Manifest, store blob.Store) string {
	s := fmt.Sprintf("job %s has come to the end of its input with checkpoint %d, behind which nothing needs its state, so none is kept", m.Job, m.ID)
	var ids []string
	entries, err := checkpoint.List(store)
	for _, e := range entries {
		if e.Manifest != nil && !e.Manifest.Finished && !e.Manifest.Drained {
			ids = append(ids, strconv.FormatInt(e.Manifest.ID, 10))
		}
	}
	if err != nil || len(ids) == 0 {
		return s + "; a savepoint that is taken while it runs keeps it"
	}
	return s + "; as the third argument you can name a checkpoint from before: " + strings.Join(ids, ", ")
}

// sizeColumn has the bytes that a row takes in the files. BYTES is a reserved word.
const sizeColumn = "size_bytes"

// schema are the columns: those of the one table, or text.
func (v *stateView) schema() (*types.Schema, error) {
	bigint := types.Of(types.BigInt).NotNull()
	if len(v.tables) > 1 {
		return types.NewSchema(types.Field{Name: "table_name", Type: types.StringType().NotNull()}, types.Field{Name: "namespace", Type: bigint},
			types.Field{Name: "key_text", Type: types.StringType().NotNull()}, types.Field{Name: "value_text", Type: types.StringType().NotNull()},
			types.Field{Name: sizeColumn, Type: bigint}), nil
	}
	t := v.tables[0]
	keys, vals, err := t.Types()
	if err != nil {
		return nil, err
	}
	out := types.NewSchema(types.Field{Name: "namespace", Type: bigint})
	for i, typ := range slices.Concat(keys, vals) {
		out.Fields = append(out.Fields, types.Field{Name: unusedName(out, columnOf(t, i)), Type: typ})
	}
	if t.TTL {
		out.Fields = append(out.Fields, types.Field{Name: unusedName(out, "written"), Type: types.TimeOf(types.TimestampLTZ, 3).NotNull()})
	}
	out.Fields = append(out.Fields, types.Field{Name: unusedName(out, sizeColumn), Type: bigint})
	return out, nil
}

// columnOf names a key or value column.
func columnOf(t state.TableInfo, i int) string {
	switch {
	case len(t.Columns) == len(t.Key)+len(t.Value):
		return t.Columns[i]
	case i < len(t.Key):
		return fmt.Sprintf("key%d", i+1)
	}
	return fmt.Sprintf("value%d", i-len(t.Key)+1)
}

func unusedName(s *types.Schema, name string) string {
	out := name
	for i := 2; s.Index(out) >= 0; i++ {
		out = fmt.Sprintf("%s_%d", name, i)
	}
	return out
}

// rawRow is a row as it is in the files. seq is its number in their order.
type rawRow struct {
	table      int
	seq        int64
	key, value []byte
}

func (r *rawRow) bytes() int { return len(r.key) + len(r.value) }

// larger orders rows: the largest ones first.
func larger(a, b *rawRow) int {
	return cmp.Or(cmp.Compare(b.bytes(), a.bytes()), cmp.Compare(a.seq, b.seq))
}

// largest keeps the largest rows, within bounds: a heap with the smallest one on top.
type largest struct {
	rows  []*rawRow
	bytes int
}

const (
	// largestRows and largestBytes bound what is sorted; the rest comes in the
	// order of the files.
	largestRows  = 10_000
	largestBytes = 32 << 20
	viewRows     = 1024
)

// Len implements heap.Interface.
func (l *largest) Len() int { return len(l.rows) }

// Less implements heap.Interface.
func (l *largest) Less(i, j int) bool { return larger(l.rows[i], l.rows[j]) > 0 }

// Swap implements heap.Interface.
func (l *largest) Swap(i, j int) { l.rows[i], l.rows[j] = l.rows[j], l.rows[i] }

// Push implements heap.Interface.
func (l *largest) Push(x any) { l.rows = append(l.rows, x.(*rawRow)) }

// Pop implements heap.Interface.
func (l *largest) Pop() any {
	last := l.rows[len(l.rows)-1]
	l.rows = l.rows[:len(l.rows)-1]
	return last
}

// offer takes a row if it is among the largest.
func (l *largest) offer(table int, seq int64, key, value []byte) {
	full := len(l.rows) >= largestRows || l.bytes >= largestBytes
	if full && len(key)+len(value) <= l.rows[0].bytes() {
		return
	}
	r := &rawRow{table, seq, slices.Clone(key), slices.Clone(value)}
	heap.Push(l, r)
	for l.bytes += r.bytes(); len(l.rows) > largestRows || l.bytes > largestBytes && len(l.rows) > 1; {
		l.bytes -= heap.Pop(l).(*rawRow).bytes()
	}
}

// stateRows are the rows of a view.
type stateRows struct {
	view   *stateView
	schema *types.Schema
	next   func() (*batch.Batch, error, bool)
	stop   func()
}

// Next implements statetable.Rows.
func (r *stateRows) Next() (*batch.Batch, error) {
	b, err, ok := r.next()
	if !ok {
		return nil, nil
	}
	return b, err
}

// Close implements statetable.Rows.
func (r *stateRows) Close() error {
	r.stop()
	return r.view.over()
}

// errEnough ends a scan whose rows nobody wants any more.
var errEnough = errors.New("enough")

// batches gives the rows: first the largest ones in order, then the others.
func (r *stateRows) batches(yield func(*batch.Batch, error) bool) {
	var top largest
	total := int64(0)
	err := r.view.each(func(table int, key, value []byte) error {
		top.offer(table, total, key, value)
		total++
		return nil
	})
	given := make(map[int64]bool, len(top.rows))
	slices.SortFunc(top.rows, larger)
	for part := range slices.Chunk(top.rows, viewRows) {
		if err == nil {
			err = r.give(part, yield)
		}
		for _, row := range part {
			given[row.seq] = true
		}
	}
	if err == nil && int64(len(given)) < total {
		err = r.giveOthers(given, yield)
	}
	if err != nil && err != errEnough {
		yield(nil, err)
	}
}

func (r *stateRows) giveOthers(given map[int64]bool, yield func(*batch.Batch, error) bool) error {
	var rows []*rawRow
	seq := int64(0)
	err := r.view.each(func(table int, key, value []byte) error {
		if seq++; given[seq-1] {
			return nil
		}
		if rows = append(rows, &rawRow{table, seq, slices.Clone(key), slices.Clone(value)}); len(rows) < viewRows {
			return nil
		}
		err := r.give(rows, yield)
		rows = rows[:0]
		return err
	})
	if err != nil || len(rows) == 0 {
		return err
	}
	return r.give(rows, yield)
}

// each calls f with all rows of the view, always in the same order.
func (v *stateView) each(f func(table int, key, value []byte) error) error {
	for _, s := range v.node.Subtasks {
		if s.State == nil {
			continue
		}
		err := v.src.Inspect(s.State, v.reader, func(id uint16, key, value []byte) error {
			at := slices.IndexFunc(v.tables, func(t state.TableInfo) bool { return t.ID == id })
			if at < 0 {
				return nil
			}
			return f(at, key, value)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// give hands rows over as a batch.
func (r *stateRows) give(rows []*rawRow, yield func(*batch.Batch, error) bool) error {
	decode, whole := r.typed, batch.NewBatch(r.schema, len(rows))
	if len(r.view.tables) > 1 {
		decode = r.asText
	}
	// Rows of one table after the other, as they come.
	for len(rows) > 0 {
		n := 1
		for n < len(rows) && rows[n].table == rows[0].table {
			n++
		}
		t := r.view.tables[rows[0].table]
		keys, values := make([][]byte, n), make([][]byte, n)
		sizes := batch.NewFixed[int64](types.Of(types.BigInt).NotNull(), n)
		for i, row := range rows[:n] {
			keys[i], values[i] = row.key, row.value
			sizes.Append(int64(row.bytes()))
		}
		decoded, err := t.Decode(keys, values)
		if err != nil {
			return err
		}
		cols := append(decode(t, decoded), sizes)
		for i, f := range r.schema.Fields {
			cols[i] = cols[i].WithType(f.Type)
		}
		whole.AppendRows(batch.Of(r.schema, cols, n), nil)
		rows = rows[n:]
	}
	if !yield(whole, nil) {
		return errEnough
	}
	return nil
}

func longs(values []int64) *batch.Fixed[int64] {
	v := batch.MakeFixed[int64](types.Of(types.BigInt).NotNull(), len(values))
	copy(v.Values, values)
	return v
}

// typed are the columns of one table.
func (r *stateRows) typed(_ state.TableInfo, rows *state.Rows) []batch.Vector {
	out := append([]batch.Vector{longs(rows.Namespaces)}, rows.Keys...)
	out = append(out, rows.Vals...)
	if rows.Written != nil {
		out = append(out, longs(rows.Written))
	}
	return out
}

// asText are the columns where several tables have their rows in one.
func (r *stateRows) asText(t state.TableInfo, rows *state.Rows) []batch.Vector {
	n := len(rows.Namespaces)
	name, key, value := batch.NewBytes(types.StringType(), n, 0), batch.NewBytes(types.StringType(), n, 0), batch.NewBytes(types.StringType(), n, 0)
	var buf []byte
	for i := range n {
		name.AppendString(t.Name)
		buf = appendNamed(buf[:0], t, 0, rows.Keys, i)
		key.Append(buf)
		buf = appendNamed(buf[:0], t, len(rows.Keys), rows.Vals, i)
		value.Append(buf)
	}
	return []batch.Vector{name, longs(rows.Namespaces), key, value}
}

func appendNamed(buf []byte, t state.TableInfo, first int, cols []batch.Vector, row int) []byte {
	for i, c := range cols {
		if i > 0 {
			buf = append(buf, ", "...)
		}
		buf = append(append(buf, columnOf(t, first+i)...), '=')
		buf = text.AppendCell(buf, c, row)
	}
	return buf
}
