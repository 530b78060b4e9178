package runtime

import (
	"context"
	"errors"
	"fmt"

	"github.com/millstream-io/millstream/internal/checkpoint"
	"github.com/millstream-io/millstream/internal/graph"
	"github.com/millstream-io/millstream/internal/state"
)

// store is the state of one operator instance. The DB behind it is opened when
// the operator declares its first table, which most never do.
type store struct {
	cfg state.Config
	// parts are what a checkpoint holds for the instance's node.
	parts []state.Part
	db    *state.DB
}

// Table implements state.Store.
func (s *store) Table(spec state.Spec) (state.Table, error) {
	if s.db == nil {
		if err := s.open(); err != nil {
			return nil, err
		}
	}
	return s.db.Table(spec)
}

func (s *store) open() (err error) {
	if len(s.parts) == 0 {
		s.db, err = state.Open(s.cfg)
		return err
	}
	s.db, err = state.Restore(s.cfg, s.parts)
	return refuseDamage(err)
}

// endEvent tells the tables that the operator's event is over.
func (s *store) endEvent() error {
	if s.db == nil {
		return nil
	}
	return s.db.EndEvent()
}

// snapshot returns the content of the tables; nil if there are none, or if
// nothing is kept of the job. gradually leaves the copying of rows for later,
// while the files are written on another goroutine.
func (s *store) snapshot(id int64, gradually bool) (*state.Snapshot, error) {
	switch {
	case s.db == nil || s.cfg.FS == nil || s.cfg.Scratch:
		return nil, nil
	case gradually:
		return s.db.Begin(id)
	}
	return s.db.Snapshot(id)
}

func (s *store) close() error {
	if s.db == nil {
		return nil
	}
	return s.db.Close()
}

// nodeSnapshot is a snapshot of one node of a part.
type nodeSnapshot struct {
	*state.Snapshot
	node int
}

// writeAside is write on a goroutine beside the task: the rows come while the
// task goes on, or not at all if the job ends.
func (j *Job) writeAside(n notice) notice {
	defer context.AfterFunc(j.ctx, func() {
		for _, s := range n.snaps {
			s.GiveUp()
		}
	})()
	return j.write(n)
}

// write makes files of the snapshots of a part, and adds them to the job's
// checkpoints.
func (j *Job) write(n notice) notice {
	n.kind = noticeWritten
	for _, s := range n.snaps {
		node := &n.part.Nodes[s.node]
		phase := func(p checkpoint.Phase) {
			j.tasks[n.task].track.writing.Store(&writing{checkpoint: n.id, operator: node.Node, phase: p})
		}
		info, err := j.keep(s.Snapshot, phase)
		switch {
		case err == nil:
			node.State = info
		case n.err == nil:
			w := j.tasks[n.task].track.writing.Load()
			n.err = &checkpoint.Failure{Blame: checkpoint.Blame{Phase: w.phase, Operator: w.operator}, Err: err}
		default:
			n.err.Err = errors.Join(n.err.Err, fmt.Errorf("operator %s: %w", node.Node, err))
		}
	}
	return n
}

// keep makes the files of a snapshot durable. It says which phase begins.
func (j *Job) keep(s *state.Snapshot, phase func(checkpoint.Phase)) (info *state.Info, err error) {
	defer func() { err = errors.Join(err, s.Release()) }()
	phase(checkpoint.PhaseWrite)
	if info, err = s.Files(); err != nil {
		return nil, err
	}
	if !hasFiles(j.data.root) {
		phase(checkpoint.PhaseUpload)
	}
	if err := j.add(info.Files, s.Path); err != nil {
		return nil, err
	}
	return info, nil
}

// parts returns what the checkpoint holds of a node's tables.
func (b *builder) parts(n *graph.Node) []state.Part {
	if b.from == nil {
		return nil
	}
	old := b.from.Node(n.ID)
	if old == nil {
		return nil
	}
	var parts []state.Part
	for _, s := range old.Subtasks {
		if s.State != nil {
			parts = append(parts, b.job.data.dir.Part(s.State, b.job.spread()))
		}
	}
	return parts
}

// noTables is the store of operators inside of a source.
type noTables struct{ name string }

// Table implements state.Store.
func (n noTables) Table(spec state.Spec) (state.Table, error) {
	return nil, fmt.Errorf("%s: an operator inside of a source keeps no table (%s)", n.name, spec.Name)
}
