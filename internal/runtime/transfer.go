package runtime

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"github.com/millstream-io/millstream/internal/state"
)

// filesAtOnce is how many files are fetched, copied or uploaded at the same time,
// of one snapshot, and of a job whose tasks are not more than that: mostly that
// waits for a store. Files are sent as they are read, so each one costs little
// memory.
const filesAtOnce = 4

// add keeps the files of a snapshot among the job's checkpoints, and notes in
// files where they are: all of them, or after an error none. Files that are only
// linked come one after the other.
func (j *Job) add(files []state.FileInfo, path func(state.FileInfo) string) error {
	added := make([]bool, len(files))
	spread := j.spread()
	if spread == nil {
		spread = func(n int, f func(context.Context, int) error) error { return j.each(min(1, n), n, f) }
	}
	err := spread(len(files), func(ctx context.Context, i int) error {
		f, err := j.data.dir.Add(ctx, files[i], j.data.fs, path(files[i]))
		if err == nil {
			files[i], added[i] = f, true
		}
		return err
	})
	for i, f := range files {
		if err != nil && added[i] {
			err = errors.Join(err, j.data.dir.Release(f))
		}
	}
	return err
}

// spread is how the job moves files between its machine and the store of its
// checkpoints; nil if they are on the same one, where they are only linked.
func (j *Job) spread() state.Spread {
	if hasFiles(j.data.root) {
		return nil
	}
	return func(n int, f func(context.Context, int) error) error { return j.each(min(filesAtOnce, n), n, f) }
}

// each is transfer within the job. A panic fails the job.
func (j *Job) each(workers, n int, f func(ctx context.Context, i int) error) error {
	return transfer(j.ctx, j.transfers, workers, n, func(ctx context.Context, i int) (err error) {
		defer func() {
			if v := recover(); v != nil {
				failed := panicked("", v)
				j.fail(failed)
				err = failed
			}
		}()
		return f(ctx, i)
	})
}

// Spread is a state.Spread for processes that copy a checkpoint and run no job.
func Spread(n int, f func(ctx context.Context, i int) error) error {
	return transfer(context.Background(), make(chan struct{}, filesAtOnce), min(filesAtOnce, n), n, func(ctx context.Context, i int) (err error) {
		defer func() {
			if v := recover(); v != nil {
				err = panicked("", v)
			}
		}()
		return f(ctx, i)
	})
}

// transfer calls f with 0 to n-1 on some goroutines, of which the caller's is one,
// and waits for them. Each call takes one of the places meanwhile. The first error
// ends the context of the others, and is the one that is returned. f does not
// panic.
func transfer(ctx context.Context, places chan struct{}, workers, n int, f func(ctx context.Context, i int) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var next atomic.Int64
	work := func() {
		for {
			select {
			case places <- struct{}{}:
			case <-ctx.Done():
				return
			}
			i := int(next.Add(1)) - 1
			var err error
			over := i >= n || ctx.Err() != nil
			if !over {
				err = f(ctx, i)
			}
			<-places
			if err != nil {
				cancel(err)
			}
			if over || err != nil {
				return
			}
		}
	}
	var wg sync.WaitGroup
	for range workers - 1 {
		wg.Go(work)
	}
	if workers > 0 {
		work()
	}
	wg.Wait()
	return context.Cause(ctx)
}
