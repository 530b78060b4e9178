package runtime

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"github.com/millstream-io/millstream/internal/state"
)

// uploadsAtOnce is how many files are uploaded at the same time, of one snapshot,
// and of a job whose tasks are not more than that: an upload mostly waits for the
// store. Files are read as they are sent, so each one costs little memory.
const uploadsAtOnce = 4

// add keeps the files of a snapshot among the job's checkpoints, and notes in
// files where they are: all of them, or after an error none. Files that are only
// linked come one after the other.
func (j *Job) add(files []state.FileInfo, path func(state.FileInfo) string) error {
	added := make([]bool, len(files))
	workers := min(uploadsAtOnce, len(files))
	if hasFiles(j.data.root) {
		workers = min(1, len(files))
	}
	err := j.each(workers, len(files), func(ctx context.Context, i int) error {
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

// each calls f with 0 to n-1 on some goroutines, and waits for them. The first
// error ends the context of the others, and is the one that is returned. A panic
// fails the job.
func (j *Job) each(workers, n int, f func(ctx context.Context, i int) error) error {
	ctx, cancel := context.WithCancelCause(j.ctx)
	defer cancel(nil)
	var next atomic.Int64
	work := func() {
		defer func() {
			if v := recover(); v != nil {
				err := panicked("", v)
				j.fail(err)
				cancel(err)
			}
		}()
		for {
			select {
			case j.uploads <- struct{}{}:
			case <-ctx.Done():
				return
			}
			i := int(next.Add(1)) - 1
			if i >= n || ctx.Err() != nil {
				<-j.uploads
				return
			}
			err := func() error {
				defer func() { <-j.uploads }()
				return f(ctx, i)
			}()
			if err != nil {
				cancel(err)
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
