package lsm

import (
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2"
)

// scheduler lets compactions run once the DB is open, and none before. Pebble
// does not wait for those that it began when opening fails, as on a full disk:
// one would go on in a DB that is half taken down, and end the process.
//
// The usual scheduler looks ten times a second whether it may run more
// compactions at once, in a goroutine that stays if opening fails. This one
// looks when one ends or is asked for.
type scheduler struct {
	*pebble.ConcurrencyLimitScheduler
	db   pebble.DBForCompaction
	open atomic.Bool
}

func newScheduler() *scheduler {
	return &scheduler{ConcurrencyLimitScheduler: pebble.NewConcurrencyLimitSchedulerWithNoPeriodicGrantingForTest()}
}

// Register implements pebble.CompactionScheduler.
func (s *scheduler) Register(goroutines int, db pebble.DBForCompaction) {
	s.db = db
	s.ConcurrencyLimitScheduler.Register(goroutines, db)
}

// TrySchedule implements pebble.CompactionScheduler.
func (s *scheduler) TrySchedule() (bool, pebble.CompactionGrantHandle) {
	if !s.open.Load() {
		return false, nil
	}
	return s.ConcurrencyLimitScheduler.TrySchedule()
}

// start lets compactions run, first the one that was refused while the DB was
// being opened.
func (s *scheduler) start() {
	s.open.Store(true)
	if waiting, _ := s.db.GetWaitingCompaction(); !waiting {
		return
	}
	if ok, grant := s.TrySchedule(); ok && !s.db.Schedule(grant) {
		grant.Done()
	}
}
