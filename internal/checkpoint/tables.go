package checkpoint

import (
	"errors"
	"fmt"
	"slices"

	"github.com/millstream-io/millstream/internal/graph"
	"github.com/millstream-io/millstream/internal/op"
	"github.com/millstream-io/millstream/internal/state"
)

// Tables returns the tables that the operator of a node declares, by opening one
// over an empty store; none for nodes that are no operators. An operator that
// cannot be opened here says so when it is to run; its tables are unknown.
func Tables(n *graph.Node) (specs []state.Spec, err error) {
	if n.New == nil {
		return nil, nil
	}
	o, err := n.New()
	if err != nil {
		return nil, err
	}
	if c, ok := o.(op.Closer); ok {
		defer func() { err = errors.Join(err, c.Close()) }()
	}
	opener, ok := o.(op.Opener)
	if !ok {
		return nil, nil
	}
	now := func() int64 { return 0 }
	db, err := state.Open(state.Config{Name: n.Name, Parallelism: 1, Now: now})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	r := &recorder{db: db}
	err = opener.Open(&op.Context{
		Name: n.Name, ID: n.ID, Parallelism: 1, State: r, Now: now, TimerAt: func(int64) {},
		Count: func(string, int64) {}, Sample: func(string, func() string) {},
	})
	return r.specs, err
}

// recorder notes the tables that are declared.
type recorder struct {
	db    *state.DB
	specs []state.Spec
}

// Table implements state.Store.
func (r *recorder) Table(spec state.Spec) (state.Table, error) {
	r.specs = append(r.specs, spec)
	return r.db.Table(spec)
}

// Tables returns the declarations of the tables that the checkpoint has of a
// node: those of its first subtask with state, of which all have the same.
func (n *Node) Tables() []state.TableInfo {
	for _, s := range n.Subtasks {
		if s.State != nil {
			return s.State.Tables
		}
	}
	return nil
}

// migrate tells what becomes of saved tables under new declarations: what is
// changed in their rows, or why they are of no use.
func migrate(saved []state.TableInfo, now []state.Spec) (changes []string, why string) {
	for _, t := range saved {
		i := slices.IndexFunc(now, func(s state.Spec) bool { return s.Name == t.Name })
		if i < 0 {
			return nil, fmt.Sprintf("it has no table %s any more", t.Name)
		}
		more, why := t.Migration(now[i])
		if why != "" {
			return nil, fmt.Sprintf("table %s: %s", t.Name, why)
		}
		for _, c := range more {
			if !slices.Contains(changes, c) {
				changes = append(changes, c)
			}
		}
	}
	return changes, ""
}
