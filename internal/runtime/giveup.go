package runtime

// A job that is to stop takes a last checkpoint, whose barrier comes behind all that
// time has let go. Where windows give out so much that this takes long, the job
// stops without that checkpoint: it goes on from the one before, and makes the
// output again, of which nothing has been committed.

// stopPatience is how long one output may go on when the job is to stop, in ms.
const stopPatience = 1000

// stopWatch looks, from the moment when a job is to stop, for tasks that are busy
// with one and the same output.
type stopWatch struct {
	// at is when it looks next; 0 before the job is to stop.
	at int64
	// seen are the outputs of the tasks at the last look.
	seen []int64
}

// giving implements tail.
func (t *task) giving(begins bool) {
	k := &t.track
	if !begins {
		k.giving.Store(0)
		return
	}
	k.gave++
	k.giving.Store(k.gave)
}

// givenUp implements tail.
func (t *task) givenUp() bool { return t.job.givenUp.Load() }

// watch begins to look, or looks again: a task that is busy with what it was busy
// with the last time makes the job stop as it is.
func (c *control) watch(now int64) {
	w, j := &c.stopping, c.job
	if !j.concurrent {
		return
	}
	for i, t := range j.tasks {
		output := t.track.giving.Load()
		if output > 0 && w.at > 0 && w.seen[i] == output {
			j.cfg.Log("the job stops without a last checkpoint, since " + t.atWork() + " still gives out the rows of a window: it will do so again from the checkpoint before")
			j.givenUp.Store(true)
			j.cancel()
			return
		}
		if w.at == 0 {
			w.seen = append(w.seen, output)
		} else {
			w.seen[i] = output
		}
	}
	w.at = now + stopPatience
}
