package runtime

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/millstream-io/millstream/internal/checkpoint"
	"github.com/millstream-io/millstream/internal/state"
)

// A restored job begins before anybody has read all of its state files: each
// block has a sum, which is looked at when the block is read, so what the job
// makes never rests on a damaged one. Meanwhile the files are read as a whole, in
// the background, so that damage in what is seldom read is found soon.

// verifyShare is the part of a processor's time that reading in the background may
// take: one part in so many.
const verifyShare = 4

// verify reads the files that restored tables have taken unread. Damage fails the
// job.
func (j *Job) verify(files []state.Taken) error {
	seen := map[string]bool{}
	p := &pace{ctx: j.ctx, since: time.Now()}
	for _, f := range files {
		if seen[f.Path] {
			continue
		}
		seen[f.Path] = true
		err := f.Verify(j.ctx, p.rest)
		// A file that no checkpoint needs any more may go at any time.
		if err != nil && j.ctx.Err() == nil && j.data.dir.Has(f.FileInfo) {
			return err
		}
	}
	return nil
}

// pace makes work in the background leave time for other things.
type pace struct {
	ctx   context.Context
	since time.Time
}

// rest sleeps in proportion to the time since it slept last.
func (p *pace) rest() {
	const least = 2 * time.Millisecond
	worked := time.Since(p.since)
	if worked < least {
		return
	}
	t := time.NewTimer(worked * (verifyShare - 1))
	defer t.Stop()
	select {
	case <-t.C:
	case <-p.ctx.Done():
	}
	p.since = time.Now()
}

// taken are the files that the tables of the job have taken unread.
func (j *Job) taken() []state.Taken {
	var out []state.Taken
	for _, t := range j.tasks {
		for _, s := range t.chain.stages {
			if s.store != nil && s.store.db != nil {
				out = append(out, s.store.db.Taken()...)
			}
		}
	}
	return out
}

// refuseDamage makes a refusal of an error that says that a file of the checkpoint
// is damaged: another attempt would find it so again.
func refuseDamage(err error) error {
	if !errors.As(err, new(*state.DamageError)) {
		return err
	}
	return &checkpoint.RefusedError{Msg: fmt.Sprintf("%v; restore the file, go back to an older checkpoint with --fresh --from ID, or start anew with --fresh", err)}
}
