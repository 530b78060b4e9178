package state

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/internal/vfs"
	"github.com/millstream-io/millstream/types"
)

var pairSpec = Spec{Name: "pairs", Key: []types.Type{bigint}, Value: []types.Type{bigint}}

func mustTable(t testing.TB, db *DB, spec Spec) Table {
	t.Helper()
	table, err := db.Table(spec)
	if err != nil {
		t.Fatal(err)
	}
	checkListed(t, table)
	return table
}

func mustOpen(t testing.TB, cfg Config) *DB {
	t.Helper()
	db, err := Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return db
}

// put stores key -> key+add in namespace ns for the keys that belong to the
// subtask of the DB.
func put(t *testing.T, db *DB, table Table, ns int64, keys []int64, add int64) {
	t.Helper()
	v := batch.NewFixed[int64](bigint, len(keys))
	for _, x := range keys {
		v.Append(x)
	}
	k := keysOf(v)
	lo, hi := db.keyGroups()
	k.Rows = slices.DeleteFunc(k.Rows, func(r int32) bool {
		g := batch.KeyGroup(k.Hash[r])
		return g < lo || g >= hi
	})
	slots := make([]int32, len(k.Rows))
	s := table.Space(ns)
	if _, err := s.Upsert(k, slots); err != nil {
		t.Fatal(err)
	}
	for i, slot := range slots {
		s.Cols()[0].(*batch.Slab[int64]).Put(slot, v.Values[k.Rows[i]]+add)
	}
	s.Dirty(slots)
}

func numbers(from, to int64) []int64 {
	var out []int64
	for x := from; x < to; x++ {
		out = append(out, x)
	}
	return out
}

// dump returns all rows as "ns/key=value".
func dump(t *testing.T, table Table) []string {
	t.Helper()
	rows, err := readAll(table)
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

func readAll(table Table) ([]string, error) {
	var out []string
	list, err := table.Namespaces(1<<63 - 1)
	if err != nil {
		return nil, err
	}
	for _, ns := range list {
		s := table.Space(ns)
		n, err := s.Len()
		if err != nil {
			return nil, err
		}
		before := len(out)
		err = s.Scan(100, func(slots []int32) error {
			keys := s.Keys(slots)
			for i, slot := range slots {
				key := ""
				if len(keys) > 0 {
					key = fmt.Sprint(keys[0].(*batch.Fixed[int64]).Values[i])
				}
				out = append(out, fmt.Sprintf("%d/%s=%d", ns, key, *s.Cols()[0].(*batch.Slab[int64]).At(slot)))
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		if len(out)-before != n {
			return nil, fmt.Errorf("namespace %d: %d rows, Len is %d", ns, len(out)-before, n)
		}
	}
	slices.Sort(out)
	return out, nil
}

// TestRescale saves at one parallelism and restores at others, in all
// combinations of backends, and again from there.
func TestRescale(t *testing.T) {
	for _, path := range [][]int{{1, 3, 1}, {4, 2, 7}, {3, 3, 128}} {
		for mix := range 4 {
			t.Run(fmt.Sprintf("%v/%d", path, mix), func(t *testing.T) {
				fsys := vfs.NewMem()
				var want []string
				var parts []Part
				for round, par := range path {
					backend := Backend(mix >> (round % 2) & 1)
					var next []Part
					var got []string
					for sub := range par {
						cfg := Config{Name: "test", Subtask: sub, Parallelism: par, Backend: backend, FS: fsys, Dir: fmt.Sprintf("state-%d-%d", round, sub)}
						db, err := Restore(cfg, parts)
						if err != nil {
							t.Fatal(err)
						}
						table := mustTable(t, db, pairSpec)
						got = append(got, dump(t, table)...)
						put(t, db, table, int64(round), numbers(0, 500), 7)
						put(t, db, table, 0, numbers(0, 50), int64(round))
						s, err := db.Snapshot(int64(round))
						if err != nil {
							t.Fatal(err)
						}
						next = append(next, keep(t, fsys, s, fmt.Sprintf("checkpoint-%d-%d", round, sub)))
						if err := db.Close(); err != nil {
							t.Fatal(err)
						}
					}
					slices.Sort(got)
					if !slices.Equal(got, want) {
						t.Fatalf("parallelism %d: %d rows came back, want %d", par, len(got), len(want))
					}
					want = expected(want, round)
					parts = next
				}
			})
		}
	}
}

// expected applies what TestRescale writes in a round.
func expected(rows []string, round int) []string {
	all := make(map[string]int64)
	for _, r := range rows {
		key, value, _ := strings.Cut(r, "=")
		var v int64
		fmt.Sscan(value, &v)
		all[key] = v
	}
	for _, x := range numbers(0, 500) {
		all[fmt.Sprintf("%d/%d", round, x)] = x + 7
	}
	for _, x := range numbers(0, 50) {
		all[fmt.Sprintf("0/%d", x)] = x + int64(round)
	}
	var out []string
	for k, v := range all {
		out = append(out, fmt.Sprintf("%s=%d", k, v))
	}
	slices.Sort(out)
	return out
}

// byTask makes a snapshot of a table by task with the given keys on each of the
// subtasks.
func byTask(t *testing.T, fsys vfs.FS, backend Backend, keys ...[]int64) []Part {
	t.Helper()
	var parts []Part
	for sub, list := range keys {
		db := mustOpen(t, Config{Name: "test", Subtask: sub, Parallelism: len(keys), Backend: backend, FS: fsys, Dir: fmt.Sprintf("task-%d", sub)})
		table := mustTable(t, db, Spec{Name: "own", Key: []types.Type{bigint}, Value: []types.Type{bigint}, ByTask: true})
		v := batch.NewFixed[int64](bigint, len(list))
		for _, x := range list {
			v.Append(x)
		}
		if _, err := table.Space(-3).Upsert(keysOf(v), make([]int32, len(list))); err != nil {
			t.Fatal(err)
		}
		s, err := db.Snapshot(1)
		if err != nil {
			t.Fatal(err)
		}
		parts = append(parts, keep(t, fsys, s, fmt.Sprintf("%s-%d-%d", backend, len(keys[0])+len(keys[1])*10, sub)))
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return parts
}

func TestTablesByTask(t *testing.T) {
	spec := Spec{Name: "own", Key: []types.Type{bigint}, Value: []types.Type{bigint}, ByTask: true}
	for _, backend := range []Backend{Memory, Disk} {
		fsys := vfs.NewMem()
		parts := byTask(t, fsys, backend, numbers(0, 3), numbers(3, 5))
		for _, c := range []struct {
			sub, par int
			want     []string
		}{
			{0, 2, []string{"-3/0=0", "-3/1=0", "-3/2=0"}}, {1, 2, []string{"-3/3=0", "-3/4=0"}},
			{0, 3, []string{"-3/0=0", "-3/1=0", "-3/2=0", "-3/3=0", "-3/4=0"}}, {1, 3, nil}, {2, 3, nil},
		} {
			db, err := Restore(Config{Name: "test", Subtask: c.sub, Parallelism: c.par, Backend: backend, FS: fsys, Dir: "restored"}, parts)
			if err != nil {
				t.Fatal(err)
			}
			table := mustTable(t, db, spec)
			if got := dump(t, table); !slices.Equal(got, c.want) {
				t.Errorf("%s, subtask %d of %d: %v, want %v", backend, c.sub, c.par, got, c.want)
			}
			if err := table.Drop(-3); err != nil {
				t.Error(err)
			}
			if err := db.Close(); err != nil {
				t.Error(err)
			}
		}
		_, err := Restore(Config{Name: "test", Parallelism: 1, Backend: backend, FS: fsys, Dir: "restored"},
			byTask(t, fsys, backend, numbers(0, 3), numbers(2, 6)))
		if err == nil || !strings.Contains(err.Error(), `table "own"`) || !strings.Contains(err.Error(), "same key") {
			t.Errorf("%s: two subtasks with the same key: %v", backend, err)
		}
	}
}

func TestDeclarations(t *testing.T) {
	fsys := vfs.NewMem()
	for _, backend := range []Backend{Memory, Disk} {
		cfg := Config{Name: "Aggregate[2]", Parallelism: 1, Backend: backend, FS: fsys, Dir: "state"}
		db := mustOpen(t, cfg)
		table := mustTable(t, db, pairSpec)
		put(t, db, table, 0, numbers(0, 10), 0)
		if _, err := db.Table(pairSpec); err == nil || !strings.Contains(err.Error(), `"pairs" is declared twice`) {
			t.Errorf("a second declaration: %v", err)
		}
		if _, err := db.Table(Spec{Name: "x", Key: []types.Type{types.Of(types.Symbol)}}); err == nil || !strings.Contains(err.Error(), "SYMBOL") {
			t.Errorf("a table of symbols: %v", err)
		}
		s, err := db.Snapshot(1)
		if err != nil {
			t.Fatal(err)
		}
		part := keep(t, fsys, s, "checkpoint-"+backend.String())
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		restore := func() *DB {
			db, err := Restore(cfg, []Part{part})
			if err != nil {
				t.Fatal(err)
			}
			return db
		}
		db = restore()
		changed := pairSpec
		changed.Value = []types.Type{types.StringType()}
		_, err = db.Table(changed)
		want := `Aggregate[2]: table "pairs" cannot go on with its saved rows: column 2 was BIGINT NOT NULL, and is STRING now`
		if err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
		if _, err := db.Snapshot(2); err == nil || !strings.Contains(err.Error(), `a table "pairs"`) {
			t.Errorf("a snapshot without a restored table: %v", err)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
		// A table that is new gets a number of its own.
		db = restore()
		other := mustTable(t, db, Spec{Name: "other", Key: pairSpec.Key, Value: pairSpec.Value})
		put(t, db, other, 0, numbers(0, 5), 100)
		if got := dump(t, mustTable(t, db, pairSpec)); len(got) != 10 || got[0] != "0/0=0" {
			t.Errorf("%s: restored rows %v", backend, got)
		}
		if got := dump(t, other); len(got) != 5 || got[0] != "0/0=100" {
			t.Errorf("%s: rows of the new table %v", backend, got)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := Open(Config{Name: "x", Subtask: 2, Parallelism: 2}); err == nil {
		t.Error("subtask 2 of 2 was opened")
	}
}

// TestDamage damages each file of a checkpoint in each of its parts: that is
// refused, with the name of the file, and nothing is left behind; or, where the
// file is only looked at, the same is said when it is read, or by Verify, and no
// answer is wrong.
func TestDamage(t *testing.T) {
	for _, backend := range []Backend{Memory, Disk} {
		fsys := vfs.NewMem()
		cfg := Config{Name: "test", Parallelism: 1, Backend: backend, FS: fsys, Dir: "state"}
		db := mustOpen(t, cfg)
		table := mustTable(t, db, pairSpec)
		var part Part
		for i := range int64(3) {
			put(t, db, table, i, numbers(0, 300), i)
			s, err := db.Snapshot(i)
			if err != nil {
				t.Fatal(err)
			}
			part = keep(t, fsys, s, fmt.Sprintf("checkpoint-%d", i))
		}
		want := dump(t, table)
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		for _, f := range part.Info.Files {
			path := part.Path(f)
			good, err := vfs.ReadFile(fsys, path)
			if err != nil {
				t.Fatal(err)
			}
			for name, bad := range damages(good) {
				if err := fsys.Remove(path); err != nil && !vfs.IsNotExist(err) {
					t.Fatal(err)
				}
				if bad != nil {
					if err := vfs.WriteFile(fsys, path, bad); err != nil {
						t.Fatal(err)
					}
				}
				for _, c := range []Config{
					cfg,
					{Name: "test", Subtask: 1, Parallelism: 2, Backend: Memory, FS: fsys, Dir: "state"},
					{Name: "test", Subtask: 1, Parallelism: 2, Backend: Disk, FS: fsys, Dir: "state"},
				} {
					t.Run(fmt.Sprintf("%s %s %s %d", backend, f.Name, name, c.Parallelism), func(t *testing.T) {
						tryDamaged(t, c, part, path, want)
					})
				}
			}
			if err := vfs.WriteFile(fsys, path, good); err != nil {
				t.Fatal(err)
			}
		}
		db, err := Restore(cfg, []Part{part})
		if err != nil {
			t.Fatal(err)
		}
		if got := dump(t, mustTable(t, db, pairSpec)); len(got) != 900 {
			t.Errorf("%s: %d rows came back from the mended files", backend, len(got))
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}
}

// tryDamaged restores a part with a damaged file at path; want are the rows that
// it has undamaged.
func tryDamaged(t *testing.T, c Config, part Part, path string, want []string) {
	exact := func(err error) {
		t.Helper()
		var damage *DamageError
		if !errors.As(err, &damage) || !IsDamage(err) || damage.File != path || !strings.Contains(err.Error(), path) ||
			!strings.Contains(err.Error(), "expected ") || !strings.Contains(err.Error(), "found ") {
			t.Errorf("the error is %v", err)
		}
	}
	db, err := Restore(c, []Part{part})
	if err != nil {
		exact(err)
		if _, err := c.FS.Stat(c.Dir); !vfs.IsNotExist(err) {
			t.Errorf("the state directory is left (%v)", err)
		}
		return
	}
	found := error(nil)
	for _, f := range db.Taken() {
		if f.Path == path {
			found = f.Verify(context.Background(), func() {})
		}
	}
	exact(found)
	table, err := db.Table(pairSpec)
	if err == nil {
		var got []string
		if got, err = readAll(table); err == nil {
			for _, row := range got {
				if !slices.Contains(want, row) || c.Parallelism == 1 && len(got) != len(want) {
					t.Fatalf("there are %d rows, among them %s", len(got), row)
				}
			}
		}
	}
	if err != nil {
		exact(err)
	}
	_ = db.Close() // which may find the damage as well
}

// damages returns damaged copies of a file; nil means no file.
func damages(good []byte) map[string][]byte {
	out := map[string][]byte{"deleted": nil, "longer": append(slices.Clone(good), 0)}
	if len(good) == 0 {
		return out
	}
	out["empty"] = []byte{}
	out["shorter"] = good[:len(good)-1]
	out["half"] = good[:len(good)/2]
	for i := range 16 {
		bad := slices.Clone(good)
		bad[i*(len(bad)-1)/15] ^= 1 << (i % 8)
		out[fmt.Sprintf("flipped in part %d", i)] = bad
	}
	return out
}

func TestBadInfo(t *testing.T) {
	good := Info{Version: 1, Backend: "memory", Parallelism: 1}
	for want, change := range map[string]func(i *Info){
		"format version 4":      func(i *Info) { i.Version = 4 },
		`unknown backend "lsm"`: func(i *Info) { i.Backend = "lsm" },
		"subtask 1 of 1":        func(i *Info) { i.Subtask = 1 },
		`named "../x"`:          func(i *Info) { i.Files = []FileInfo{{Name: "../x"}} },
		`named ".."`:            func(i *Info) { i.Files = []FileInfo{{Name: ".."}} },
	} {
		info := good
		change(&info)
		_, err := Restore(Config{Name: "test", Parallelism: 1, FS: vfs.NewMem(), Dir: "state"}, []Part{partIn(vfs.NewMem(), "x", &info)})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// TestRunFileDamage damages what the checksums of the list would not tell.
func TestRunFileDamage(t *testing.T) {
	db := mustOpen(t, Config{Name: "test", Parallelism: 1})
	put(t, db, mustTable(t, db, pairSpec), 5, numbers(0, 20), 1)
	good := runFile(db.freezeAll())
	read := func(data []byte) (n int, err error) {
		err = readRun("x/rows.run", data, func(key, value []byte) error { n++; return nil })
		return n, err
	}
	if n, err := read(good); n != 20 || err != nil {
		t.Errorf("%d rows, %v", n, err)
	}
	for name, bad := range damages(good) {
		if _, err := read(bad); !IsDamage(err) || !strings.Contains(err.Error(), "x/rows.run") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestGroupOfAPart keeps rows by (a, b) in a stream that is keyed by a: they
// stay with the task that has a, through eviction and rescaling.
func TestGroupOfAPart(t *testing.T) {
	spec := Spec{Name: "pairs", Key: []types.Type{bigint, bigint}, Value: []types.Type{bigint}}
	keysFor := func(db *DB) *Keys {
		a, b := batch.NewFixed[int64](bigint, 0), batch.NewFixed[int64](bigint, 0)
		for i := range int64(900) {
			a.Append(i / 3)
			b.Append(i % 3)
		}
		k := keysOf(a, b)
		k.Group = batch.Hash([]batch.Vector{a}, nil, 900, nil)
		lo, hi := db.keyGroups()
		k.Rows = slices.DeleteFunc(k.Rows, func(r int32) bool {
			g := batch.KeyGroup(k.Group[r])
			return g < lo || g >= hi
		})
		return k
	}
	fsys := vfs.NewMem()
	var parts []Part
	for round, par := range []int{2, 1, 5} {
		var next []Part
		rows := 0
		for sub := range par {
			cfg := Config{Name: "test", Subtask: sub, Parallelism: par, Backend: Backend(round+1) & 1, FS: fsys, Dir: fmt.Sprintf("state-%d", sub), MaxRows: 50}
			db, err := Restore(cfg, parts)
			if err != nil {
				t.Fatal(err)
			}
			table := mustTable(t, db, spec)
			for range 2 {
				k := keysFor(db)
				slots := make([]int32, len(k.Rows))
				fresh, err := table.Space(3).Upsert(k, slots)
				if err != nil {
					t.Fatal(err)
				}
				rows += len(fresh)
				if err := db.EndEvent(); err != nil {
					t.Fatal(err)
				}
			}
			next = append(next, keep(t, fsys, snapshot(t, db, 1), fmt.Sprintf("checkpoint-%d-%d", round, sub)))
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if want := []int{900, 0, 0}[round]; rows != want {
			t.Errorf("parallelism %d: %d rows are new, want %d", par, rows, want)
		}
		parts = next
	}
}

// TestForeignKeys hands over rows with wrong hashes, and of another task.
func TestForeignKeys(t *testing.T) {
	db := mustOpen(t, Config{Name: "Join[1]", Subtask: 1, Parallelism: 2})
	table := mustTable(t, db, pairSpec)
	slots := make([]int32, 1)
	for want, change := range map[string]func(k *Keys){
		`Join[1]: table "pairs": a row has hash 0x1, its key columns have `:             func(k *Keys) { k.Hash[0] = 1 },
		`Join[1]: table "pairs": a row is of key group 0, subtask 1 of 2 has 64 to 127`: func(k *Keys) { k.Group = []uint64{5} },
	} {
		k := keysOf(longs(bigint, []int{7}, false))
		change(k)
		if _, err := table.Space(0).Upsert(k, slots); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
		if err := table.Drop(0); err != nil {
			t.Error(err)
		}
	}
}
