package runtime

import (
	"errors"
	"sync"
)

// holds are the checkpoints that somebody reads. They stay, also when newer ones
// have pushed them out, until their readers are done with them. They outlast a
// failure of the job, and are given up with the process: what is too many then is
// pushed out in its next run.
type holds struct {
	mu sync.Mutex
	// readers counts those of each checkpoint.
	readers map[int64]int
	// kept are checkpoints that are to be removed as soon as nobody reads them.
	kept map[int64]bool
	// over are the directories of readers that are done.
	over []string
}

func (h *holds) hold(id int64, readers int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.readers == nil {
		h.readers, h.kept = map[int64]int{}, map[int64]bool{}
	}
	h.readers[id] += readers
}

// release notes that a reader is done. clearHolds does the rest.
func (h *holds) release(id int64, reader string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.readers[id]--; h.readers[id] <= 0 {
		delete(h.readers, id)
	}
	if reader != "" {
		h.over = append(h.over, reader)
	}
}

// has reports whether somebody reads a checkpoint.
func (h *holds) has(id int64) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.readers[id] > 0
}

// keep is has for a checkpoint that is to be removed when nobody reads it.
func (h *holds) keep(id int64) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.readers[id] == 0 {
		return false
	}
	h.kept[id] = true
	return true
}

// done takes out what can be removed.
func (h *holds) done() (ids []int64, readers []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for id := range h.kept {
		if h.readers[id] == 0 {
			ids = append(ids, id)
			delete(h.kept, id)
		}
	}
	readers, h.over = h.over, nil
	return ids, readers
}

// clearHolds removes what readers have left that are done, and the checkpoints that
// only they have kept; forget is told of these.
func (d *Data) clearHolds(forget func(id int64)) error {
	ids, readers := d.holds.done()
	var errs []error
	for _, name := range readers {
		errs = append(errs, d.dir.RemoveReader(name), d.fs.RemoveAll(d.file(name)))
	}
	for _, id := range ids {
		errs = append(errs, d.dir.Discard(id))
		forget(id)
	}
	return errors.Join(errs...)
}
