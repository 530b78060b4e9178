package state

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/millstream-io/millstream/internal/vfs"
)

func budgetConfig(b *Budget, fsys vfs.FS, dir string) Config {
	return Config{Name: dir, Parallelism: 1, Backend: Disk, FS: fsys, Dir: dir, Budget: b}
}

// TestBudgetIsShared fills tables of several stores with many times what fits.
// Their sum stays within bounds, each keeps a part, and what was written is
// there.
func TestBudgetIsShared(t *testing.T) {
	const stores, perEvent, events = 4, 1000, 60
	fsys := vfs.NewMem()
	budget := NewBudget(Base+8<<20, false)
	var dbs []*DB
	var tables []*table
	for i := range stores {
		db := mustOpen(t, budgetConfig(budget, fsys, fmt.Sprintf("state-%d", i)))
		dbs, tables = append(dbs, db), append(tables, mustTable(t, db, pairSpec).(*table))
	}
	// The first store begins alone, and takes what there is.
	write := func(store int, event int64) {
		put(t, dbs[store], tables[store], event%3, numbers(event*perEvent, (event+1)*perEvent), int64(store))
		if err := dbs[store].EndEvent(); err != nil {
			t.Fatal(err)
		}
	}
	for e := range int64(events) {
		write(0, e)
	}
	if used := budget.Used(); used > budget.rowBytes()*3/2 {
		t.Errorf("one store takes %d bytes of %d", used, budget.rowBytes())
	}
	alone := tables[0].rows
	for e := range int64(events) {
		for store := 1; store < stores; store++ {
			write(store, e)
		}
		write(0, events+e)
		// A store whose share shrinks gives memory back only once few rows are left.
		if used := budget.Used(); e > events/2 && used > budget.rowBytes()*3/2 {
			t.Fatalf("event %d: the stores take %d bytes of %d", e, used, budget.rowBytes())
		}
	}
	for i, table := range tables {
		if table.rows < 1000 || i == 0 && table.rows > alone*3/4 {
			t.Errorf("store %d has %d rows in memory; the first one alone had %d", i, table.rows, alone)
		}
		want := events * perEvent
		if i == 0 {
			want *= 2
		}
		if n := len(dump(t, table)); n != want {
			t.Errorf("store %d has %d rows, want %d", i, n, want)
		}
		if err := dbs[i].Close(); err != nil {
			t.Fatal(err)
		}
	}
	if budget.Used() != 0 || budget.count.Load() != 0 {
		t.Errorf("closed stores still take %d bytes", budget.Used())
	}
}

// TestScanBeyondBudget scans a namespace that is larger than the budget.
func TestScanBeyondBudget(t *testing.T) {
	budget := NewBudget(Base+4<<20, false)
	db := mustOpen(t, budgetConfig(budget, vfs.NewMem(), "state"))
	defer db.Close()
	table := mustTable(t, db, pairSpec).(*table)
	const n = 100_000
	for at := int64(0); at < n; at += 2000 {
		put(t, db, table, 7, numbers(at, at+2000), 0)
		if err := db.EndEvent(); err != nil {
			t.Fatal(err)
		}
	}
	rows, most := 0, 0
	if err := table.Space(7).Scan(1000, func(slots []int32) error {
		rows += len(slots)
		most = max(most, table.rows)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if rows != n || most > n*2/5 {
		t.Errorf("%d rows of %d, up to %d in memory", rows, n, most)
	}
}

// TestIdleStoresGiveBack wakes a store without events that has what another one
// needs.
func TestIdleStoresGiveBack(t *testing.T) {
	budget := NewBudget(Base+4<<20, false)
	fsys := vfs.NewMem()
	woken := false
	cfg := budgetConfig(budget, fsys, "idle")
	cfg.Wake = func() { woken = true }
	idle := mustOpen(t, cfg)
	table := mustTable(t, idle, pairSpec)
	for at := int64(0); at < 30_000; at += 1000 {
		put(t, idle, table, 0, numbers(at, at+1000), 0)
		if err := idle.EndEvent(); err != nil {
			t.Fatal(err)
		}
	}
	busy := mustOpen(t, budgetConfig(budget, fsys, "busy"))
	other := mustTable(t, busy, pairSpec)
	for at := int64(0); at < 60_000; at += 1000 {
		put(t, busy, other, 0, numbers(at, at+1000), 0)
		if err := busy.EndEvent(); err != nil {
			t.Fatal(err)
		}
		if woken {
			woken = false
			if err := idle.EndEvent(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if used := budget.Used(); used > budget.rowBytes()*3/2 {
		t.Errorf("both take %d bytes of %d", used, budget.rowBytes())
	}
	if a, b := len(dump(t, table)), len(dump(t, other)); a != 30_000 || b != 60_000 {
		t.Errorf("%d and %d rows", a, b)
	}
	for _, db := range []*DB{idle, busy} {
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestCopiesWait takes snapshots of a store that has as many rows as it may. Copies
// do not run ahead of the goroutine that writes them; the task is woken when it
// may go on, and does its part where it cannot wait.
func TestCopiesWait(t *testing.T) {
	budget := NewBudget(Base+3<<20, false)
	fsys := vfs.NewMem()
	woken := make(chan struct{}, 1)
	cfg := budgetConfig(budget, fsys, "state")
	cfg.Wake = func() { woken <- struct{}{} }
	db := mustOpen(t, cfg)
	table := mustTable(t, db, pairSpec).(*table)
	for at := int64(0); !budget.over(); at += 1000 {
		put(t, db, table, 0, numbers(at, at+1000), 1)
		budget.charge(db.member, int64(db.MemBytes()))
	}
	rows := dump(t, table)
	most := copiesAhead*int64(budget.memTable()) + 64*maxCopy // one more copy may be made below the bound
	held := 0
	for id := range int64(2) {
		s, err := db.Begin(id)
		if err != nil {
			t.Fatal(err)
		}
		for range 100 {
			db.Advance()
		}
		if n := db.copied(); n > most || !db.freezing() {
			t.Fatalf("snapshot %d: %d bytes are copied and nobody writes them, at most %d should be; freezing: %v", id, n, most, db.freezing())
		}
		if id == 1 { // the task needs the tree
			if err := db.settle(); err != nil {
				t.Fatal(err)
			}
		}
		done := make(chan Part)
		go func() { done <- keep(t, fsys, s, fmt.Sprintf("kept-%d", id)) }()
		for db.freezing() {
			<-woken
			held++
			db.member.asked.Store(false)
			for db.Advance() {
			}
		}
		part := <-done
		for len(woken) > 0 {
			<-woken
		}
		got := restored(t, part)
		if !slices.Equal(got, rows) {
			t.Errorf("snapshot %d has %d rows, and not those that there were, %d", id, len(got), len(rows))
		}
		put(t, db, table, 0, numbers(0, int64(table.rows)), 1)
		rows = dump(t, table)
	}
	if held < 2 {
		t.Errorf("the task was woken %d times", held)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

// restored are the rows of a part, read by a store of its own.
func restored(t *testing.T, part Part) []string {
	t.Helper()
	db, err := Restore(Config{Name: "other", Parallelism: 1, Backend: Disk, FS: vfs.NewMem(), Dir: "other"}, []Part{part})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	return dump(t, mustTable(t, db, pairSpec))
}

func TestBudgetTooSmall(t *testing.T) {
	budget := NewBudget(Base+2<<20, false)
	var err error
	for i := range 3 {
		var db *DB
		if db, err = Open(budgetConfig(budget, vfs.NewMem(), fmt.Sprint(i))); err != nil {
			break
		}
		defer db.Close()
	}
	if err == nil || err.Error() != "memory.limit is 42 MiB, which 3 operator instances with state share; they need at least 43 MiB: raise memory.limit, or lower parallelism.default" {
		t.Errorf("got %v", err)
	}
	db := mustOpen(t, Config{Name: "Join[1]", Parallelism: 1, Budget: NewBudget(Base+2<<20, false)})
	defer db.Close()
	table := mustTable(t, db, pairSpec)
	for at := int64(0); err == nil || !strings.HasPrefix(err.Error(), "Join[1]"); at += 1000 {
		if at > 1_000_000 {
			t.Fatal("tables without a disk grow for ever")
		}
		put(t, db, table, 0, numbers(at, at+1000), 0)
		err = db.EndEvent()
	}
	if !strings.Contains(err.Error(), "memory.limit (42 MiB)") || !strings.Contains(err.Error(), "state.backend.type = auto") {
		t.Error(err)
	}
}
