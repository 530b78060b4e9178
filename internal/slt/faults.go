package slt

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/millstream-io/millstream/internal/blob"
	"github.com/millstream-io/millstream/internal/checkpoint"
	"github.com/millstream-io/millstream/internal/runtime"
	"github.com/millstream-io/millstream/internal/sql/parse"
	"github.com/millstream-io/millstream/internal/state"
	"github.com/millstream-io/millstream/internal/vfs"
)

// crashAmid begins a checkpoint, crashes the machine at some step of it, and
// goes on with another parallelism.
func (q *query) crashAmid() error {
	out, fed, now := q.out.Len(), q.hub.Fed(), q.clock.Now()
	id := q.job.TriggerCheckpoint()
	for range q.rand.IntN(12 * q.job.Tasks()) {
		if i := q.rand.IntN(q.job.Tasks() + 1); i < q.job.Tasks() {
			q.job.StepTask(i)
		} else {
			q.job.StepControl()
		}
	}
	if err := q.job.Err(); err != nil {
		return err
	}
	after := q.disk.Crash(q.rand.IntN(3)*50, q.rand)
	q.job.Close()
	if err := q.data.Close(); err != nil {
		return err
	}
	q.disk = after
	if m, err := newest(after); err != nil {
		return err
	} else if m == id {
		q.kept, q.keptFed, q.keptClock, q.moves = out, fed, now, nil
	}
	if err := q.spread(1 + q.rand.IntN(4)); err != nil {
		return err
	}
	return q.again()
}

// newest is the number of the newest checkpoint on a disk; 0 if there is none.
func newest(disk vfs.CrashFS) (id int64, err error) {
	entries, err := checkpoint.List(blob.NewDir(disk, "data/checkpoints"))
	if err != nil || len(entries) == 0 {
		return 0, err
	}
	last := entries[len(entries)-1]
	if last.Err != nil {
		return 0, last.Err
	}
	return last.Manifest.ID, nil
}

// spread sets the parallelism of the next start.
func (q *query) spread(parallelism int) error {
	stmts, errs := parse.Script(fmt.Sprintf("SET 'parallelism.default' = '%d';", parallelism))
	if len(errs) > 0 {
		return errs
	}
	_, err := q.session.Execute(stmts[0])
	return err
}

// damage takes a checkpoint, damages a file of it, and goes on from there.
func (q *query) damage() error {
	if q.whole != nil {
		q.runner.result.Harmless++
	}
	if err := q.checkpoint(); err != nil {
		return q.mend(err)
	}
	q.job.Close()
	if err := q.data.Close(); err != nil {
		return err
	}
	whole := q.disk.Crash(100, q.rand)
	q.whole = &whole
	if err := q.harmFile(); err != nil {
		return err
	}
	if err := q.again(); err != nil {
		return q.mend(err)
	}
	return nil
}

// harmFile damages one file of the checkpoint.
func (q *query) harmFile() error {
	dir := "data/checkpoints"
	if q.rand.IntN(3) > 0 {
		dir += "/data"
	}
	names, err := q.disk.List(dir)
	if err != nil || len(names) == 0 {
		return err
	}
	path := q.disk.PathJoin(dir, names[q.rand.IntN(len(names))])
	info, err := q.disk.Stat(path)
	if err != nil || info.IsDir() || info.Size() == 0 {
		return err
	}
	data, err := vfs.ReadFile(q.disk, path)
	if err != nil {
		return err
	}
	if err := q.disk.Remove(path); err != nil {
		return err
	}
	q.harm = path
	switch q.rand.IntN(4) {
	case 0:
		return nil
	case 1:
		return vfs.WriteFile(q.disk, path, data[:q.rand.IntN(len(data))])
	case 2:
		clear(data[q.rand.IntN(len(data)):])
	default:
		flip(q.rand, data)
	}
	return vfs.WriteFile(q.disk, path, data)
}

func flip(rnd *rand.Rand, data []byte) { data[rnd.IntN(len(data))] ^= 1 << rnd.IntN(8) }

// mend goes on from whole files if an error is that of the file that was
// damaged, and returns it otherwise.
func (q *query) mend(err error) error {
	var refused *checkpoint.RefusedError
	var failed *runtime.Error
	if q.whole == nil || errors.As(err, &failed) && failed.Stack != nil || !errors.As(err, &refused) && !state.IsDamage(err) {
		return err
	}
	if !strings.Contains(err.Error(), q.disk.PathBase(q.harm)) {
		return fmt.Errorf("%s was damaged, and the error does not name it: %w", q.harm, err)
	}
	q.runner.result.Found++
	q.close()
	q.disk, q.whole = *q.whole, nil
	return q.again()
}
