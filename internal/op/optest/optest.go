// Package optest runs an operator through its script. A script is a file of
// blocks in the form of test scripts (internal/sltfile):
//
//	step
//	0 | a | 1 | 2024-01-01 00:00:01       a row of input 0
//	0 -U | a | 1 | 2024-01-01 00:00:01    a row of another kind
//	watermark 5000                        the watermark in ms, or end
//	clock 5000                            the processing time in ms, 0 at first
//	----
//	+I | a | 1                            what the operator emitted, sorted
//
// Each script runs over a matrix: batches of 1, 3 and all rows; with a
// selection over rows that do not count; an output that is full after each
// batch, and state on disk but for two rows; and with a restore from a snapshot
// after every event. An operator that declares tables is also crashed at every
// step, which is done again from the snapshot before it; restored after every
// step with another parallelism; and restored, at every step, from snapshots
// with a damaged file, where it must give its answers or find the damage.
package optest

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/millstream-io/millstream/internal/op"
	"github.com/millstream-io/millstream/internal/sltfile"
	"github.com/millstream-io/millstream/types"
)

// Case is an operator to test.
type Case struct {
	In  []*types.Schema
	New func() op.Operator
	// Keys are the columns of each input by which its rows are dealt out to the
	// subtasks of the operator; no columns where it has but one. Nil is for an
	// operator without keyed tables.
	Keys [][]int
}

// config is one row of the matrix.
type config struct {
	rows     int
	selected bool
	// full is for an output that takes one batch an event, and for state that is
	// on disk but for a few rows.
	full bool
	// restore is for a restore after every event, again for a crash at every
	// step, spread for another parallelism behind every step.
	restore, again, spread bool
	// damage is for damage to a file of the snapshot behind each step.
	damage *harm
}

func (c config) String() string {
	damage := "none"
	if c.damage != nil {
		damage = c.damage.name
	}
	return fmt.Sprintf("rows=%d,selected=%t,full=%t,restore=%t,again=%t,spread=%t,damage=%s",
		c.rows, c.selected, c.full, c.restore, c.again, c.spread, damage)
}

// Run runs testdata/NAME for a case over the whole matrix.
func Run(t *testing.T, name string, c Case) {
	t.Helper()
	path := filepath.Join("testdata", name)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	f, err := sltfile.Parse(path, string(text))
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Blocks) == 0 {
		t.Fatalf("%s has no steps", path)
	}
	keyed := 0
	one := func(cfg config) {
		t.Run(name+"/"+cfg.String(), func(t *testing.T) { keyed += run(t, f, c, cfg).tables })
	}
	for _, rows := range []int{1, 3, 1 << 20} {
		for i := range 8 {
			one(config{rows: rows, selected: i&1 != 0, full: i&2 != 0, restore: i&4 != 0})
		}
	}
	if keyed == 0 {
		return
	}
	for i := range 2 {
		full := i > 0
		one(config{rows: 3, full: full, again: true})
		if slices.ContainsFunc(c.Keys, func(cols []int) bool { return len(cols) > 0 }) {
			one(config{rows: 3, full: full, spread: true})
		}
		for k := range harms {
			one(config{rows: 3, full: full, damage: &harms[k]})
		}
	}
}

// run runs a script in one configuration.
func run(t *testing.T, f *sltfile.File, c Case, cfg config) *machine {
	m := newMachine(t, c, cfg)
	for i, b := range f.Blocks {
		if b.Cmd != "step" {
			t.Fatalf("%s:%d: unknown command %q", f.Path, b.Line, b.Cmd)
		}
		if cfg.again {
			before := m.snapshot()
			m.expect(f, b)
			m.goBack(before)
		}
		m.expect(f, b)
		switch {
		case cfg.spread:
			m.tasks = []int{2, 3, 1, 5}[i%4]
			m.restore()
		case cfg.damage != nil:
			m.withDamage(f, i+1)
		}
	}
	m.close()
	return m
}

// expect does a step and compares what comes out.
func (m *machine) expect(f *sltfile.File, b *sltfile.Block) {
	if got := m.do(b); !slices.Equal(got, b.Want) {
		m.t.Errorf("%s:%d: got\n%s\nwant\n%s", f.Path, b.Line, strings.Join(got, "\n"), strings.Join(b.Want, "\n"))
	}
}

// do does a step and returns what comes out.
func (m *machine) do(b *sltfile.Block) []string {
	m.got, m.failed = nil, nil
	if m.failed = m.step(b.Input); m.failed != nil {
		m.got = append(m.got, "error: "+m.failed.Error())
	}
	slices.Sort(m.got)
	return m.got
}
