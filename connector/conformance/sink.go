package conformance

import (
	"context"
	"fmt"
	"slices"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/connector"
)

// Sink is a sink under test.
type Sink struct {
	// New makes the sink as a new process would.
	New func() connector.Sink
	// Reset empties the target.
	Reset func()
	// Crash, if set, is called when the process dies: it drops what was not
	// made durable.
	Crash func()
	// Batch makes the rows from (inclusive) to (exclusive) as the sink gets
	// them, Row what Published says of one.
	Batch func(from, to int) *batch.Batch
	Row   func(i int) string
	// Published returns the rows that readers of the target see.
	Published func() ([]string, error)
	// Leftovers returns what is there beyond the published rows, such as
	// temporary files.
	Leftovers func() ([]string, error)
}

const (
	epochs        = 3
	batchesEach   = 2
	rowsEach      = 5
	rowsPerEpoch  = batchesEach * rowsEach
	conformingJob = "conformance"
)

// ExactlyOnce runs the sink with a crash after each of its steps, goes on from
// the last checkpoint, also with another parallelism and with a second crash
// while going on, and checks that each row is there once and nothing else.
func (s *Sink) ExactlyOnce(t T) {
	t.Helper()
	for _, p := range [][2]int{{1, 1}, {3, 3}, {3, 2}, {2, 5}} {
		for step := 0; ; step++ {
			s.Reset()
			done, err := s.interrupted(p[0], p[1], step)
			if err != nil {
				t.Fatalf("parallelism %d, then %d, crash after step %d: %v", p[0], p[1], step, err)
			}
			s.check(t, fmt.Sprintf("parallelism %d, then %d, crash after step %d", p[0], p[1], step))
			if done {
				break
			}
		}
	}
}

func (s *Sink) check(t T, what string) {
	t.Helper()
	got, err := s.Published()
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	var want []string
	for i := range epochs * rowsPerEpoch {
		want = append(want, s.Row(i))
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("%s: %d rows, want %d\n%q", what, len(got), len(want), got)
	}
	if s.Leftovers == nil {
		return
	}
	if left, err := s.Leftovers(); err != nil || len(left) > 0 {
		t.Errorf("%s: left over: %q %v", what, left, err)
	}
}

// run is one life of the job.
type run struct {
	sink        *Sink
	writers     []connector.Writer
	incarnation int64
	// steps is how many steps are left before the crash; below zero there is
	// none.
	steps int
	// states are those of the last durable checkpoint, epoch its number.
	states [][]byte
	epoch  int
}

// interrupted runs the job with a crash after some steps, and then to its end.
// done says that there was no crash, as the job has fewer steps.
func (s *Sink) interrupted(p, after, step int) (done bool, err error) {
	r := &run{sink: s, steps: step, epoch: -1}
	if err := r.live(p); err != errCrash {
		return err == nil, err
	}
	// A crash in the middle of going on, and then a good end.
	if s.Crash != nil {
		s.Crash()
	}
	r.steps = 0
	if err := r.open(after); err != nil && err != errCrash {
		return false, fmt.Errorf("going on: %w", err)
	}
	if s.Crash != nil {
		s.Crash()
	}
	r.steps = -1
	if err := r.live(after); err != nil {
		return false, fmt.Errorf("going on: %w", err)
	}
	return false, nil
}

var errCrash = fmt.Errorf("crash")

// step counts a step, and says whether the process dies after it.
func (r *run) step() error {
	if r.steps == 0 {
		return errCrash
	}
	if r.steps > 0 {
		r.steps--
	}
	return nil
}

func (r *run) open(p int) error {
	r.incarnation++
	sink := r.sink.New()
	r.writers = nil
	for i := range p {
		var restored [][]byte
		if r.epoch >= 0 {
			restored = [][]byte{}
			for j := i; j < len(r.states); j += p {
				restored = append(restored, r.states[j])
			}
		}
		w, err := sink.Open(&connector.WriterContext{
			Context: context.Background(), Subtask: i, Parallelism: p, Job: conformingJob, ID: "sink",
			Incarnation: r.incarnation, Now: func() int64 { return 0 }, Count: func(string, int64) {},
		}, restored)
		if err != nil {
			return err
		}
		r.writers = append(r.writers, w)
		if err := r.step(); err != nil {
			return err
		}
	}
	return nil
}

// live runs the job from its last checkpoint.
func (r *run) live(p int) error {
	if err := r.open(p); err != nil {
		return err
	}
	for e := r.epoch + 1; e < epochs; e++ {
		if err := r.round(e); err != nil {
			return err
		}
	}
	for _, w := range r.writers {
		if err := w.Close(); err != nil {
			return err
		}
	}
	return nil
}

// round writes the rows of one epoch and takes the checkpoint behind them.
func (r *run) round(e int) error {
	at := e * rowsPerEpoch
	for k := range batchesEach {
		w := r.writers[(e*batchesEach+k)%len(r.writers)]
		if err := w.Write(r.sink.Batch(at, at+rowsEach)); err != nil {
			return err
		}
		at += rowsEach
		if err := r.step(); err != nil {
			return err
		}
	}
	states := make([][]byte, len(r.writers))
	for i, w := range r.writers {
		var err error
		if states[i], err = w.Barrier(int64(e), e == epochs-1); err != nil {
			return err
		}
		if err := r.step(); err != nil {
			return err
		}
	}
	r.states, r.epoch = states, e
	if err := r.step(); err != nil {
		return err
	}
	// The job may die, or be slow, before a checkpoint is announced; the next
	// one stands for it.
	if e == 1 && len(r.writers) == 2 {
		return nil
	}
	for _, w := range r.writers {
		if err := w.Committed(int64(e)); err != nil {
			return err
		}
		if err := r.step(); err != nil {
			return err
		}
	}
	return nil
}
